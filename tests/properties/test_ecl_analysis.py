"""Every answer of the analyses, confirmed by running its witness and by trying all short traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from support.ecl_strategies import constants, readings
from support.ecl_strategies import expressions as any_expressions
from tocsin import analysis
from tocsin.algebra.completion import semantics as tree
from tocsin.algebra.completion.expression import Expression, Interpretation, Parallel, Push, Repeat
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.run import Run, Status
from tocsin.analysis import subjects

LETTERS = "ab"
ALPHABET: list[Fields] = [{"type": name} for name in LETTERS]
LENGTH = 4
WORDS = [list(word) for n in range(LENGTH + 1) for word in product(ALPHABET, repeat=n)]

# Half of them never complete and are judged by their outputs.
expressions = st.one_of(
    any_expressions(2),
    st.builds(Repeat, st.builds(Push, constants, any_expressions(1))),
    st.lists(st.builds(Push, constants, any_expressions(1)), min_size=1, max_size=2).map(
        lambda parts: Parallel(tuple(parts))
    ),
)


class Tried:
    """All short traces of an expression, on the tree."""

    def __init__(self, expression: Expression, interpretation: Interpretation) -> None:
        self.expression, self.interpretation = expression, interpretation
        (self.subject,) = subjects(expression, alphabet=ALPHABET, interpretation=interpretation)
        self.by_output = not self._completes()

    def _completes(self) -> bool:
        """Whether a final state can be reached, found by following every letter from every state."""
        seen = {tree.start(self.expression)}
        queue = list(seen)
        for state in queue:
            new = {
                tree.feed(self.expression, state, letter, self.interpretation)[0] for letter in ALPHABET
            } - seen
            seen |= new
            queue += new
        return any(isinstance(state, Status) for state in seen)

    def run(self, word: list[Fields]) -> Run:
        return tree.run(self.expression, word, self.interpretation)

    def accepts(self, word: list[Fields]) -> bool:
        run = self.run(word)
        return bool(run.outputs) if self.by_output else run.status is Status.SUCCESS


def shorter(witness: tuple[Fields, ...]) -> Iterator[list[Fields]]:
    return (word for word in WORDS if len(word) < len(witness))


@settings(max_examples=80)
@given(expressions, readings)
def test_trivial_and_vacuous(expression: Expression, interpretation: Interpretation) -> None:
    tried = Tried(expression, interpretation)
    trivial = analysis.trivial(tried.subject)
    assert trivial.holds == all(tried.accepts([letter]) for letter in ALPHABET)
    assert trivial.witness is None or not tried.accepts(list(trivial.witness))
    vacuous = analysis.vacuous(tried.subject)
    if vacuous.witness is None:
        assert not any(tried.accepts(word) for word in WORDS)
    else:
        assert tried.accepts(list(vacuous.witness))
        assert not any(tried.accepts(word) for word in shorter(vacuous.witness))


@settings(max_examples=60)
@given(expressions, readings)
def test_live(expression: Expression, interpretation: Interpretation) -> None:
    tried = Tried(expression, interpretation)
    answer = analysis.live(tried.subject)
    if answer.witness is not None:
        assert not any(tried.accepts([*answer.witness, *word]) for word in WORDS)
        assert all(can_go_on(tried, word) for word in shorter(answer.witness))
    else:
        assert all(can_go_on(tried, word) for word in WORDS if len(word) <= 3)


def can_go_on(tried: Tried, word: list[Fields]) -> bool:
    """Whether the tree can still accept, however long that takes."""
    if tried.accepts(word):
        return True
    state = tree.start(tried.expression)
    for event in word:
        state, _ = tree.feed(tried.expression, state, event, tried.interpretation)
    seen, queue = {state}, [state]
    for state in queue:
        for letter in ALPHABET:
            after, outputs = tree.feed(tried.expression, state, letter, tried.interpretation)
            if (tried.by_output and outputs) or (not tried.by_output and after is Status.SUCCESS):
                return True
            if after not in seen:
                seen.add(after)
                queue.append(after)
    return False


@settings(max_examples=60)
@given(expressions, expressions, readings)
def test_contained_and_equal(first: Expression, second: Expression, interpretation: Interpretation) -> None:
    one, other = Tried(first, interpretation), Tried(second, interpretation)

    @cache
    def differ(index: int) -> bool:
        a, b = one.run(WORDS[index]), other.run(WORDS[index])
        completed = (a.status, a.completed_at) != (b.status, b.completed_at)
        return completed or Counter(a.outputs) != Counter(b.outputs)

    contained = analysis.contained(one.subject, other.subject)
    beyond = [word for word in WORDS if one.accepts(word) and not other.accepts(word)]
    if contained.witness is None:
        assert not beyond
    else:
        assert one.accepts(list(contained.witness))
        assert not other.accepts(list(contained.witness))
        assert not beyond or len(contained.witness) == len(beyond[0])
    equal = analysis.equal(one.subject, other.subject)
    different = [word for i, word in enumerate(WORDS) if differ(i)]
    if equal.witness is None:
        assert not different
    elif len(equal.witness) <= LENGTH:
        assert len(different[0]) == len(equal.witness)


@settings(max_examples=40)
@given(expressions)
def test_an_expression_is_equal_to_itself_and_its_witnesses_are_of_the_alphabet(
    expression: Expression,
) -> None:
    one, other = subjects(expression, Parallel((expression,)), alphabet=ALPHABET)
    assert analysis.equal(one, one)
    assert analysis.contained(one, one)
    for witness in (analysis.live(one).witness, analysis.equal(one, other).witness):
        assert witness is None or all(event in ALPHABET for event in witness)


@settings(max_examples=40)
@given(expressions)
def test_influence(expression: Expression) -> None:
    (subject,) = subjects(expression, alphabet=ALPHABET)
    found = {(one.event["type"], one.output): one for one in analysis.influence(subject)}
    for one in found.values():
        with_it = pushed(expression, [*one.before, one.event, *one.after], one.output)
        without = pushed(expression, [*one.before, *one.after], one.output)
        # Positions after the event are counted as if it had come.
        n = len(one.before)
        assert with_it != Counter({p + (p > n): k for p, k in without.items()})
    for output in {emit.output for row in subject.emits for cell in row for emit in cell}:
        for letter in ALPHABET:
            if (letter["type"], output) not in found:
                assert not influences(expression, letter, output)


def pushed(expression: Expression, trace: list[Fields], output: object) -> Counter[int]:
    """How often an output was pushed at each position."""
    state, found = tree.start(expression), Counter[int]()
    for position, event in enumerate(trace, 1):
        state, outputs = tree.feed(expression, state, event)
        found[position] += outputs.count(output)
    return +found


def influences(expression: Expression, letter: Fields, output: object) -> bool:
    """Whether the letter makes a difference to the output in short traces."""
    short = [word for word in WORDS if len(word) <= 2]
    for before in short:
        for after in short:
            n = len(before)
            without = pushed(expression, [*before, *after], output)
            moved = Counter({p + (p > n): k for p, k in without.items()})
            if pushed(expression, [*before, letter, *after], output) != moved:
                return True
    return False


@settings(max_examples=40)
@given(expressions)
def test_without_an_alphabet_every_event_counts(expression: Expression) -> None:
    (all_events,) = subjects(expression)
    (some_events,) = subjects(expression, alphabet=ALPHABET)
    if analysis.vacuous(all_events) and all_events.by_output == some_events.by_output:
        assert analysis.vacuous(some_events)
