"""Filters that take events under labels and transformers that answer them (KSU/Cadena)."""
