"""The meaning of patterns, in simple, slow Python; everything faster must agree with it.

A detector is a list of tokens, each waiting at one place of the pattern with the events it has taken (the paper's triples
of state, timestamp and event list). There is no automaton here: what a token can take next is computed from the syntax
tree on demand, as a list of *alternatives*. The rules, with their numbers in the project's list of decisions:

- an alternation forks the token, one alternative for each option (C.3.5);
- the start of an iteration and what follows it are one place with the union of both domains (C.3.4);
- a path between two events is strong if any link on it is (C.3.10);
- every event of the right side of `;` follows the end of the left side strongly (C.3.8);
- an event that only weakly follows is ignored where only strong paths continue (C.3.9);
- `[!E in S]` looks at the events of S alone (C.3.18).

Which matches are wanted (`selection`) is decided moment by moment: a moment is an event, or all timers that run out at one
time. `syntax_places` and `next_events` say where a token can wait, `partial_match` what a token is, `token_list` what an
event makes of it, `completed` which matches are reported, and `whole_trace` feeds the detectors of a subscription.

Paper: 003, "Composite Event Detectors", "Core Composite Event Language", Appendix B.
"""

from tocsin.algebra.tokens.semantics.partial_match import FOREVER
from tocsin.algebra.tokens.semantics.whole_trace import Detection, detect

__all__ = ["FOREVER", "Detection", "detect"]
