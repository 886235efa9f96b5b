"""Table 22, recomputed: a setting goes into another if its matches are always among those of the other."""

from __future__ import annotations

from itertools import product

import pytest

from support.pairs_strategies import observe
from tocsin.algebra.pairs.expression import Expression, Primitive, Sequence
from tocsin.algebra.pairs.groups import Duplicates, Traits
from tocsin.algebra.pairs.observation import Instance, Observation
from tocsin.algebra.pairs.operators import disjunction, sequence
from tocsin.algebra.pairs.parameters import ALL, FIRST, LAST, Consumption, Pairing, Pick, Views, nth
from tocsin.algebra.pairs.semantics import instances
from tocsin.translate.kinds import Kind
from tocsin.translate.parameters import ADDED, SETTINGS, Setting, choose, printed, transferred

A, B = Primitive("a"), Primitive("b")
MOST = 6
TRACES = [
    observe(" ".join(f"{name}@{time}" for time, name in enumerate(names)))
    for length in range(MOST + 1)
    for names in product("ab", repeat=length)
]
PICKS: dict[Duplicates, tuple[Pick, ...]] = {
    Duplicates.FIRST: (FIRST,),
    Duplicates.LAST: (LAST,),
    Duplicates.ALL: (ALL,),
    Duplicates.ITH: (nth(1), nth(2), nth(3)),  # the language offers any
}


def found(pick: Pick, pairing: Pairing) -> list[set[Instance]]:
    expression = Sequence((A, B), None, Views(pick, pick, pairing))
    return [set(instances(expression, trace)) for trace in TRACES]


MATCHES = {
    (duplicates, pairing): [found(pick, pairing) for pick in PICKS[duplicates]]
    for duplicates, pairing in SETTINGS
}


def goes_into(source: Setting, target: Setting) -> bool:
    """Whether for each choice of the source there is one of the target that has all its matches."""
    return all(
        any(all(map(set.issubset, one, other)) for other in MATCHES[target]) for one in MATCHES[source]
    )


@pytest.mark.parametrize("row", SETTINGS)
@pytest.mark.parametrize("column", SETTINGS)
def test_the_table_is_set_inclusion(row: Setting, column: Setting) -> None:
    sign = printed(row, column)
    into_column = sign in "=<" or (column, row) in ADDED
    into_row = sign in "=>" or (row, column) in ADDED
    assert (goes_into(row, column), goes_into(column, row)) == (into_column, into_row)


def test_what_the_table_leaves_out_is_two_cells() -> None:
    assert len(ADDED) == 2
    assert all(printed(*cell) == "." for cell in ADDED)


def test_a_setting_becomes_another() -> None:
    first, every = (Duplicates.FIRST, Pairing.UNIQUE), (Duplicates.ALL, Pairing.ALL)
    assert transferred(first, every) is Kind.POSITIVE
    assert transferred(every, first) is Kind.NEGATIVE
    assert transferred(first, first) is Kind.EQUIVALENT
    assert transferred(first, (Duplicates.LAST, Pairing.UNIQUE)) is None
    assert transferred(first, (Duplicates.ALL, Pairing.UNIQUE)) is Kind.POSITIVE


COUNTEREXAMPLE: Observation = observe("a@1 a@2 b@3 a@4 b@5")


def test_consuming_is_not_unique_pairs() -> None:
    """The paper's rules for Samos say they are: jh-194 to jh-197 are equivalent by its claim (C.5.1)."""
    chronicle = Traits.of("sequence", consumption=["delete_reapply"], duplicates=["first"])
    views: Expression = sequence("a", "b", first="first", second="first", pairs="unique")
    assert isinstance(views, Sequence)
    chosen = choose(views, chronicle)
    assert (chosen.kind, bool(chosen.claimed)) == (Kind.EQUIVALENT, True)
    consuming = Sequence((A, B), None, chosen.how)
    assert set(instances(views, COUNTEREXAMPLE)) != set(instances(consuming, COUNTEREXAMPLE))


def test_keep_with_all_is_every_pair() -> None:
    keeping = Traits.of("sequence", consumption=["keep"], duplicates=["all"])
    chosen = choose(sequence("a", "b"), keeping)
    assert (chosen.kind, chosen.claimed, chosen.lost) == (Kind.EQUIVALENT, "", ())


def test_a_disjunction_consumes_nothing_by_itself() -> None:
    traits = Traits.of("disjunction", consumption=list(Consumption)[1:], duplicates=["first"])
    assert choose(disjunction("a", "b"), traits).kind is Kind.EQUIVALENT
    assert choose(disjunction("a", "b"), traits, alone=False).kind is Kind.NEGATIVE
