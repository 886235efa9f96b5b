"""The aircraft of the example: its components, a simulation of them, and figures about its correlations."""
