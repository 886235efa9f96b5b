"""Blocks of many queries in one index, and queries as trees that take one event at a time."""
