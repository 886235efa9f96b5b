"""Arguments that several commands share: a pattern, a file of events."""
