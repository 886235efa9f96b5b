"""Test cases of languages of the blocks family."""
