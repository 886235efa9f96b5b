"""The queries of the paper's transformer, which was written in Prolog: `event/1` and `transformation/2` (section 6.2)."""
