"""Which of the matches that were found are reported, on matches made by hand."""

from __future__ import annotations

import numpy as np

from support.kernel_cases import detector_of, refs_of
from tocsin.runtime.kernels.match_arrays import Matches, none
from tocsin.runtime.kernels.tokens.select import Waiting, choose, take
from tocsin.runtime.program import Choice, Detector
from tocsin.runtime.rows.value_numbers import Interned

NOTHING = np.empty(0, np.int64)
NOBODY = Waiting(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)


def found(*matches: list[int]) -> Matches:
    """Matches of one key; the event `n` is at the time `n`."""
    refs = np.array([ref for match in matches for ref in match], np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(match) for match in matches])]).astype(np.int64)
    first, last = refs[offsets[:-1]], refs[offsets[1:] - 1]
    variables = np.empty((len(matches), 0), np.int64)
    key = np.zeros(len(matches), np.int64)
    return Matches(key, first, last, variables, offsets, refs, np.zeros(len(refs), np.int64), refs, refs)


def detector(*choice: object) -> Detector:
    made, _ = detector_of("[A][B]")
    return made._replace(choice=Choice(*choice))  # type: ignore[arg-type]


def test_the_first_and_the_last_are_by_their_events() -> None:
    matches = found([2, 9], [0, 9], [1, 9])
    interned = Interned()
    assert take(detector("each", "all"), matches, interned) is matches
    assert refs_of(take(detector("each", "first", 2), matches, interned)) == [(0, [0, 9]), (0, [1, 9])]
    assert refs_of(take(detector("each", "last"), matches, interned)) == [(0, [2, 9])]


def test_a_count_is_one_match_an_event() -> None:
    interned = Interned()
    counted = take(detector("each", "count"), found([0, 8], [0, 9], [1, 9]), interned)
    assert refs_of(counted) == [(0, [8]), (0, [9])]
    assert [interned.values[number] for number in counted.variables[:, 0]] == [1, 2]


def test_next_is_one_match_a_start() -> None:
    chosen = choose(
        detector("next"), found([0, 4], [0, 3], [1, 4]), none(0), NOBODY, NOTHING, Interned(), False
    )
    assert refs_of(chosen.matches) == [(0, [0, 3]), (0, [1, 4])]


def test_leftmost_matches_do_not_overlap() -> None:
    matches = found([0, 4], [1, 3], [5, 6])
    chosen = choose(detector("leftmost"), matches, none(0), NOBODY, NOTHING, Interned(), False)
    assert refs_of(chosen.matches) == [(0, [0, 4]), (0, [5, 6])]


def test_leftmost_waits_for_what_began_earlier() -> None:
    began = np.array([0], np.int64)
    waiting = Waiting(began, began, began, began, began)
    asked = detector("leftmost")
    chosen = choose(asked, found([1, 3]), none(0), waiting, NOTHING, Interned(), False)
    assert refs_of(chosen.matches) == []
    assert refs_of(chosen.held) == [(0, [1, 3])]
    ended = choose(asked, found([1, 3]), none(0), waiting, NOTHING, Interned(), True)
    assert refs_of(ended.matches) == [(0, [1, 3])]
