"""Automata: from patterns to what runs them; each family of meaning has its own."""
