"""The correlation family has no kernel of its own: its acceptors are tables with registers, which completion's kernel runs.

`automata.correlation` writes them as `program.Walk`, and so `kernels.completion` serves both families.
"""
