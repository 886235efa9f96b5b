"""Automata: from patterns to the programs that detect them; each family has its own."""
