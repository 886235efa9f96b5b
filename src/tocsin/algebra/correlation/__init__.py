"""Filters that take events under labels, and transformers that send events in response (KSU/Cadena)."""
