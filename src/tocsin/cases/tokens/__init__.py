"""Kinds of test cases of the token family."""
