"""The model behind the Active Office simulator: who is where, and what the sensors say about it."""
