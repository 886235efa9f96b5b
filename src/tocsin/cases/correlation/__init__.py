"""Kinds of test cases of the correlation family."""
