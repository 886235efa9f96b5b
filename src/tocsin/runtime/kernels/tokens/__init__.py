"""Kernels of the token family: single partial matches, groups of them, counts of them, the first or last of them."""
