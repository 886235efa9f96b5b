"""Blocks of XML patterns, composed in time, and what is constructed from them: as data, and what it means."""
