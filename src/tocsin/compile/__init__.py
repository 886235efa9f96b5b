"""From texts to one plan, for every language: each family has a module that compiles its texts."""
