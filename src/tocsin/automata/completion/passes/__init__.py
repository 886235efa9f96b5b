"""Passes over machines, one per file; all but `compose` and `decompose` preserve the behaviour."""
