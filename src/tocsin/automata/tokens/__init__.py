"""Automata with timers and variables, from patterns to programs of the token family."""

DOORS = (
    "active_states",
    "automaton",
    "compile",
    "needs",
    "never",
    "plan",
    "show",
    "span",
)
