"""Matches: from the arrays that kernels return to the rows that a user reads."""

DOORS = ("match_rows", "quiet_rows", "where")
