"""Kinds of test cases of the pairs family."""
