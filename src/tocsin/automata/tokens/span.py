"""How long a match can last, and whether a stream can be cut into pieces that are processed independently.

Partial matches do not influence each other. So a match that ends in a piece of the stream is found from the events of that
piece and those that ended at most the longest match earlier, if a first event is a first event wherever the stream begins.
"""

from __future__ import annotations

from tocsin.algebra.tokens.domain import domain_of
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.tokens.automaton import Automaton
from tocsin.automata.tokens.compile import CompiledTokens
from tocsin.automata.tokens.needs import ending_timers
from tocsin.automata.tokens.plan import Detector


def overlap(compiled: Compiled, *, chains: bool = False) -> int | None:
    """The microseconds by which pieces of a stream must overlap so that each finds the matches that end in it.

    None if the stream must stay whole: a match may last forever, or what is found depends on everything found before.

    >>> from tocsin.automata.tokens.compile import compile
    >>> from tocsin.languages.core import parse
    >>> texts = ["[A]", "([A], [B])_{T1=5s}", "[A];[B] within 5s", "[A];[B]", "[A in {A, B}]"]
    >>> [overlap(compile([parse(text)])) for text in texts]
    [0, 5000000, 5000000, None, None]

    Args:
        chains: whether a piece that looks for leftmost matches can look further back (see `runtime.batch.leftmost_chain`).
    """
    if not isinstance(compiled, CompiledTokens):
        return None
    detectors, automata = compiled.graph.detectors, compiled.automata
    if not automata or any(map(_needs_the_past, detectors, automata)):
        return None
    read = {number for detector in detectors for number in detector.inputs}
    for number, (detector, automaton) in enumerate(zip(detectors, automata, strict=True)):
        # A chain consists of primitive events and begins with one, and no detector reads its matches.
        apart = chains and number not in read and not detector.inputs
        begun = all(timer.after is not None for timer in automaton.timers)
        if detector.selection.matches == "leftmost" and not (apart and begun):
            return None
    return longest_match(compiled)


def _needs_the_past(detector: Detector, automaton: Automaton) -> bool:
    """Whether events that begin no match make a difference to later ones."""
    return detector.selection.matches != "adjacent" and _can_end_for_good(detector, automaton)


def _can_end_for_good(detector: Detector, automaton: Automaton) -> bool:
    """Whether an event in place of a first one can end a detection (C.3.3)."""
    if detector.interpretation.restart == "always":
        return False
    atoms = [move.place.atom for start in automaton.starts for move in automaton.states[start].moves]
    return any(domain_of(atom).failing for atom in atoms)


def longest_match(compiled: CompiledTokens) -> int | None:
    """The most microseconds from the end of a match's first event to its own end, composites expanded; None if unbounded.

    The start of an event does not count, because a match takes events in the order in which they end.
    """
    spans: list[int] = []
    for detector, automaton in zip(compiled.graph.detectors, compiled.automata, strict=True):
        span = _longest(automaton)
        if span is None:
            return None
        # The first event may be a composite, which has a first event of its own.
        spans.append(span + max((spans[read] for read in detector.inputs), default=0))
    return max(spans) if spans else None


def _longest(automaton: Automaton) -> int | None:
    """The latest moment, counted from the first event, at which a partial match can leave a state it waits in.

    A wait ends at the latest when a timer runs out that was started when another wait ended. Each round of the
    computation follows one more timer; if after as many rounds as there are timers one still gives later moments, it starts
    itself again without end.
    """
    ending = ending_timers(automaton)
    if not all(ending.values()):
        return None
    leave = dict.fromkeys(range(len(automaton.states)), 0)
    for _ in range(len(automaton.timers) + 1):
        started: dict[int, int] = {}
        for number, state in enumerate(automaton.states):
            # A start state is left by the first event itself; it may also be one that later events lead to.
            for step in (step for move in state.moves for step in move.steps):
                for timer in step.arms:
                    started[timer] = max(started.get(timer, 0), leave[number])
        later = {
            number: min(started[timer] + _length(automaton, timer) for timer in timers)
            for number, timers in ending.items()
        }
        if all(leave[number] == moment for number, moment in later.items()):
            return max(leave.values())
        leave.update(later)
    return None


def _length(automaton: Automaton, timer: int) -> int:
    after = automaton.timers[timer].after
    assert after is not None  # only such timers are sure to end a wait
    return after
