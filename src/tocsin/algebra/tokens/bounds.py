"""Limits on the cost of a pattern. Texts are untrusted, so every limit is enforced while a pattern is parsed and built.

Together they keep any single pattern, accepted or refused, below two seconds of CPU time and half a gigabyte from its text to
its program. docs/reference/core-language.md lists them for users.
"""

from __future__ import annotations

# Text
MAX_LENGTH = 200_000  # characters; ten thousand comparisons have room
MAX_NESTING = (
    50  # brackets; the parsers use up to eleven Python calls a level, and Python stops at a thousand
)
MAX_ERRORS = 100  # mistakes that are reported
# Patterns
MAX_DEPTH = 100  # operators inside each other
MAX_DEFINITIONS = 500  # of one subscription
MAX_COMPOSITE_DEPTH = 100  # composites made of composites
MAX_WRITTEN_OUT = 20_000  # parts of a pattern with the composites that it names expanded, each once
# Automata, of one pattern with the composites that it names
MAX_STATES = 10_000
MAX_MOVES = 100_000  # moves between states, counted once for each state that they lead to
MAX_WORK = 250_000  # moves that are copied or merged while empty moves are removed
# Of one detector
MAX_OF_A_KIND = 64  # start states, timers, strong links: each is a bit of a word
