"""The parameterised event algebra: operators over instances, with duplicates, consumption and modes (Jung/Hinze)."""
