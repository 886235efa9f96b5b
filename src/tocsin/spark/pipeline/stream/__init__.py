"""A pipeline as a stream: micro-batches, ledger, rules."""

DOORS = ("run",)
