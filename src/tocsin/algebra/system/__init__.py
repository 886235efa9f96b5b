"""Systems of components as data: what they are, how they move, and what is specified of them."""
