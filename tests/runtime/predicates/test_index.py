"""Predicates answered by class: the same as asking them one by one, whatever the filters and the values."""

from __future__ import annotations

import math
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.strategies import ATTRIBUTES, VALUES, subscriptions
from tocsin.algebra.predicate import evaluate
from tocsin.automata.detection_plan import BitTest, condition
from tocsin.automata.tokens.compile import compile
from tocsin.runtime.predicates import index as rq
from tocsin.runtime.predicates import value_classes as axes
from tocsin.runtime.predicates.build import TooManyTypesError, build
from tocsin.values import Relation, Value, compare, kind, like

EXACT = 2**53  # larger whole numbers are not all floating point numbers
TYPE = ("type",)
KINDS = {"k": axes.WHOLE, "v": axes.FLOAT, "s": axes.TEXT, "f": axes.BOOL}
ARROW = {axes.WHOLE: pa.int64(), axes.FLOAT: pa.float64(), axes.TEXT: pa.string(), axes.BOOL: pa.bool_()}
TYPES = (None, "A", "B", "C", "", "Other")


def bit(answers: np.ndarray, number: int) -> np.ndarray:
    return (answers[:, number >> 6] >> np.uint64(number & 63)) & np.uint64(1) != 0


def answered(index: rq.Index, table: pa.Table) -> np.ndarray:
    numbers, distinct = rq.numbered(index, table)
    return rq.answers(index, distinct)[numbers]


def everything(words: int) -> np.ndarray:
    return np.full(words, 2**64 - 1, np.uint64)


def literals(tests: list[BitTest]) -> list[Value]:
    found: list[Value] = []

    def walk(node: tuple) -> None:
        for part in node:
            if isinstance(part, tuple):
                found.append(part[1]) if part[:1] == ("literal",) else walk(part)

    for test in tests:
        walk(condition(test.filter))
    return found


def pool(own: str, known: list[Value]) -> list[Value]:
    """Values of a column: those that filters name, those beside them, and none."""
    found: list[Value] = [None, *(v for values in VALUES.values() for v in values), *known]
    if own == axes.BOOL:
        return [None, True, False]
    if own == axes.TEXT:
        texts = [v for v in found if isinstance(v, str)]
        return [None, *texts, *(text + "\0" for text in texts), "￿", "\U0001f600"]
    numbers = [v for v in found if kind(v) == "number" and abs(v) < EXACT]
    if own == axes.WHOLE:
        return [None, *(int(v) + d for v in numbers for d in (-1, 0, 1))]
    return [None, *(math.nextafter(v, d) for v in numbers for d in (-math.inf, v, math.inf)), math.inf]


def looked_up(asked: tuple) -> tuple:
    """The condition, where LIKE and the comparison of two attributes ask for a column of their truth values."""
    match asked:
        case ("like", _, _) | ("compare", _, ("attribute", _), ("attribute", _)):
            return ("compare", "=", asked, ("literal", True))
        case ("and" | "or" | "not" as word, *parts):
            return (word, *map(looked_up, parts))
        case _:
            return asked


def derived(asked: tuple) -> set[tuple]:
    """The truth values that a condition asks for as a column."""
    match asked:
        case ("compare", _, ("like" | "compare", *_) as own, _):
            return {own}
        case ("and" | "or" | "not", *parts):
            return set().union(*map(derived, parts))
        case _:
            return set()


def truth_of(asked: tuple, own: dict[str, Value]) -> bool | None:
    match asked:
        case ("like", (_, name), pattern):
            return like(own[name], pattern)
        case (_, relation, (_, left), (_, right)):
            return compare(own[left], Relation(relation), own[right])


@pytest.mark.slow
@settings(max_examples=60)
@given(
    subscription=subscriptions(depth=2, wild=True),
    mixed=st.sampled_from([axes.WHOLE, axes.FLOAT, axes.TEXT, axes.BOOL]),
    seed=st.integers(0, 2**32),
)
def test_answers_are_those_of_the_reference(subscription: object, mixed: str, seed: int) -> None:
    """`m` is compared with values of every kind, and has those of one."""
    compiled = compile([subscription])
    tests = [(number, test) for number, test in compiled.tests if isinstance(test, BitTest)]
    kinds = {**KINDS, "m": mixed}
    predicates, columns = [], {TYPE: axes.Column("type", axes.TEXT)}
    for number, test in tests:
        asked = looked_up(condition(test.filter))
        columns |= {own: axes.Column(str(own), axes.BOOL) for own in derived(asked)}
        of_type = () if test.type is None else ("among", TYPE, (test.type,))
        predicates.append((number, ("and", of_type, asked if test.truth else ("not", asked))))
    columns |= {("attribute", name): axes.Column(name, kinds[name]) for name in ATTRIBUTES}
    index = build(predicates, columns, compiled.plan.words, everything(compiled.plan.words))
    chance = random.Random(seed)
    known = literals([test for _, test in tests])
    rows = 60
    drawn = {name: chance.choices(pool(kinds[name], known), k=rows) for name in ATTRIBUTES}
    types = chance.choices(TYPES, k=rows)
    table = pa.table(
        {"type": pa.array(types, pa.string()).dictionary_encode()}
        | {name: pa.array(values, ARROW[kinds[name]]) for name, values in drawn.items()}
    )
    own_values = [{name: values[row] for name, values in drawn.items()} for row in range(rows)]
    for operand, column in columns.items():
        if column.name not in table.column_names:
            truths = [truth_of(operand, own) for own in own_values]
            table = table.append_column(column.name, pa.array(truths, pa.bool_()))
    found = answered(index, table)
    for row, own in enumerate(own_values):
        for number, test in tests:
            truth = True if test.filter is None else evaluate(test.filter, own, {})
            wanted = (test.type is None or types[row] == test.type) and truth is test.truth
            assert bit(found, number)[row] == wanted, (test, own)


def threshold(number: int, type: str, relation: str, value: float) -> tuple[int, tuple]:
    compared = ("compare", relation, ("attribute", "v"), ("literal", value))
    return number, ("and", ("among", TYPE, (type,)), compared)


COLUMNS = {TYPE: axes.Column("type", axes.TEXT), ("attribute", "v"): axes.Column("v", axes.FLOAT)}


@pytest.mark.slow
def test_twenty_thousand_thresholds_on_one_column() -> None:
    count = 20_000
    predicates = [threshold(n, "ABC"[n % 3], ">=", n / 7) for n in range(count)]
    words = -(-count // 64)
    index = build(predicates, COLUMNS, words, everything(words))
    values = np.random.default_rng(5).uniform(-10, 3000, 3000).round(2)
    types = np.array(list("ABCD"))[np.arange(3000) % 4]
    found = answered(index, pa.table({"type": types, "v": values}))
    for number in range(0, count, 97):
        wanted = (types == "ABC"[number % 3]) & (values >= number / 7)
        assert (bit(found, number) == wanted).all()
    codes = rq.codes(index, pa.table({"type": types, "v": values}))
    least = np.array([0, 1 / 7, 2 / 7, np.inf])[np.arange(3000) % 4]
    assert (rq.relevant(index, codes) == (values >= least)).all()


def test_codes_do_not_depend_on_the_values_of_a_task() -> None:
    index = build([threshold(0, "A", ">", 5.0), threshold(1, "B", "<", 2.0)], COLUMNS, 1, everything(1))
    table = pa.table({"type": ["B", "A", None, "C"], "v": [1.0, 5.0, 7.0, None]})
    alone = [rq.codes(index, table.slice(row, 1))[0].tolist() for row in range(4)]
    assert rq.codes(index, table).tolist() == alone
    coded = table.set_column(0, "type", table.column(0).dictionary_encode())
    assert rq.codes(index, coded).tolist() == alone
    chunks = pa.concat_tables([coded.slice(2), coded.slice(0, 2)])
    assert rq.codes(index, chunks).tolist() == alone[2:] + alone[:2]


@pytest.mark.parametrize(
    "texts", [["B", "A", "D", "A"], ["B", None, "A"], [f"t{n}" for n in range(2000)] + ["A"], []]
)
def test_types_that_are_numbered_already_keep_their_numbers(texts: list[str | None]) -> None:
    among: list[tuple[int, rq.Condition]] = [(0, ("among", TYPE, ("A",))), (1, ("among", TYPE, ("B", "C")))]
    index = build(among, {TYPE: COLUMNS[TYPE]}, 1, everything(1))
    plain = pa.table({"type": pa.array(texts, pa.string())})
    coded = pa.table({"type": pa.array(texts, pa.string()).dictionary_encode()})
    expected = [[(text == "A") | (text == "B") << 1] for text in texts]
    for table in (plain, coded, coded.slice(1), pa.concat_tables([coded, coded])):
        rows = (
            expected[1:] if table.num_rows < len(texts) else expected * (table.num_rows // max(1, len(texts)))
        )
        assert answered(index, table).tolist() == rows


def test_travelling_codes_lead_to_the_same_answers() -> None:
    predicates = [threshold(n, "AB"[n % 2], "<", n / 3) for n in range(500)]
    index = build(predicates, COLUMNS, 8, everything(8))
    table = pa.table({"type": ["A", "B", "A", "C"], "v": [1.0, 5.0, 70.0, None]})
    codes = rq.codes(index, table)
    columns = rq.code_columns(index, codes)
    assert [column.type for column in columns.values()] == [pa.int16()]
    numbers, bits = rq.signatures(index, pa.table(columns))
    assert (bits[numbers] == answered(index, table)).all()
    assert numbers.dtype == np.int32


@pytest.mark.slow
def test_more_columns_than_one_code_has_room_for() -> None:
    """Each column has a thousand classes; a code has room for six of them."""
    names = [f"c{n}" for n in range(9)]
    columns = {("attribute", name): axes.Column(name, axes.WHOLE) for name in names}
    predicates = [
        (number, ("compare", "<", ("attribute", names[number % 9]), ("literal", number * 2)))
        for number in range(4500)
    ]
    index = build(predicates, columns, 71, everything(71))
    assert len(index.sizes) == 2
    values = np.random.default_rng(3).integers(0, 9000, (9, 200))
    found = answered(index, pa.table(dict(zip(names, values, strict=True))))
    for number in range(0, 4500, 31):
        assert (bit(found, number) == (values[number % 9] < number * 2)).all()


@pytest.mark.slow
def test_whole_numbers_meet_fractions_by_their_exact_values() -> None:
    """2**53 + 1 is not 2.0**53, although there is no such floating point number."""
    column = {("attribute", "k"): axes.Column("k", axes.WHOLE)}
    constants: list[int | float] = [2.0**53, 2**53, 0.5, -0.5, 1e300, -1e300, 2.0**63, 2**60, float(2**60)]
    constants += [math.inf, -math.inf, math.nan, 2**70, -(2**70)]
    predicates = [
        (number * 6 + place, ("compare", str(relation), ("attribute", "k"), ("literal", constant)))
        for number, constant in enumerate(constants)
        for place, relation in enumerate(Relation)
    ]
    index = build(predicates, column, 1 + len(predicates) // 64, everything(1))
    ends = [-(2**63), 2**63 - 1, 0, 1, -1]
    values = [*ends, *(2**e + d for e in (53, 60) for d in range(-130, 131))]
    found = answered(index, pa.table({"k": pa.array(values, pa.int64())}))
    for number, predicate in predicates:
        _, relation, _, (_, constant) = predicate
        for row, value in enumerate(values):
            assert bit(found, number)[row] == compare(value, Relation(relation), constant), (value, predicate)


def test_many_constants_far_apart_and_close_together() -> None:
    """The grid that values are looked up in is no help where all constants are in one cell of it, or too far apart."""
    close = [1e-300 * n for n in range(40)]
    far = [-1.7e308, 1.7e308, *range(40)]
    for constants in (close, far, [*close, 1e300], [math.nextafter(1.0, 2.0), 1.0, *[1.0] * 30]):
        asked = [
            (n, ("compare", "<=", ("attribute", "v"), ("literal", float(c)))) for n, c in enumerate(constants)
        ]
        index = build(asked, COLUMNS, 1, everything(1))
        values = np.array([v for c in constants for v in (c, math.nextafter(c, -1), math.nextafter(c, 9))])
        values = np.concatenate([values, [math.inf, -math.inf, 0.0, -0.0]])
        found = answered(index, pa.table({"v": values}))
        for number, constant in enumerate(constants):
            assert (bit(found, number) == (values <= constant)).all()


def test_nan_is_larger_than_all_numbers() -> None:
    for constants in ([1.0], [float(n) for n in range(60)]):
        asked = [(n, ("compare", ">", ("attribute", "v"), ("literal", c))) for n, c in enumerate(constants)]
        index = build(asked, COLUMNS, 1, everything(1))
        found = answered(index, pa.table({"v": pa.array([math.nan, None, math.inf])}))
        for number in range(len(constants)):
            assert bit(found, number).tolist() == [True, False, True]


def test_lists_of_types() -> None:
    column = {TYPE: axes.Column("types", axes.TEXTS)}
    predicates = [
        (0, ("among", TYPE, ("A", "B"))),
        (1, ("not", ("among", TYPE, ("A",)))),
        (2, ("sure", ("compare", "<", TYPE, ("literal", "B")))),
        (3, ("not", ("sure", ("among", TYPE, ("A",))))),
        (4, ("sure", ("not", ("among", TYPE, ("A",))))),
    ]
    index = build(predicates, column, 1, everything(1))
    rows = [["A"], ["B", "C"], [], None, [None], ["A", None], ["Aa"], ["Z", "0"]]
    found = answered(index, pa.table({"types": pa.array(rows, pa.list_(pa.string()))}))
    shown = {number: [int(b) for b in bit(found, number)] for number in range(5)}
    assert shown == {
        0: [1, 1, 0, 0, 0, 1, 0, 0],
        1: [0, 1, 1, 0, 0, 0, 1, 1],
        2: [1, 0, 0, 0, 0, 1, 1, 1],
        3: [0, 1, 1, 1, 1, 0, 1, 1],
        4: [0, 1, 1, 0, 0, 0, 1, 1],
    }
    with pytest.raises(TooManyTypesError):
        build([(0, ("among", TYPE, tuple(map(str, range(100)))))], column, 1, everything(1))


def test_questions_about_nothing() -> None:
    """The type of all events is known, so no column has to be looked at."""
    index = build([(0, ("and",)), (1, ("or",))], {}, 1, np.array([1], np.uint64))
    table = pa.table({"x": [1, 2, 3]})
    assert answered(index, table).tolist() == [[1], [1], [1]]
    assert rq.relevant(index, rq.codes(index, table)).tolist() == [True, True, True]
