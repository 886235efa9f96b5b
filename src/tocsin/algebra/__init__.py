"""Patterns as data, and what they mean."""
