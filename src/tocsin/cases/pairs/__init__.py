"""The kinds of cases of the event algebra and of the languages that are written in it (paper 004)."""
