"""Kinds of test cases of the completion family."""
