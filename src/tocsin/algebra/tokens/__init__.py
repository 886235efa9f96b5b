"""Patterns of the token family: their structure, their meaning, and the selection of their matches."""
