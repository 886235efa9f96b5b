"""Runs a sequence or conjunction of two classes over the events of many keys: see `algebra/pairs/terminator`.

The available events of a class are a range of the rows of a table, oldest first; one that is used up is marked. What an event
has used up is gone for the other class as well, if it belongs to both.
"""

from __future__ import annotations

from typing import NamedTuple

from tocsin.runtime.compiling import bare
from tocsin.runtime.moments import NEVER
from tocsin.runtime.operators import DELETE, FIRST, KEEP, LAST
from tocsin.runtime.program import Array

# Columns of an available event; `NUMBER` orders those of a key, -1 if it is used up.
TIME, NUMBER, REF, BEGIN = range(4)
COLUMNS = 4
# Columns of a match: its key, then the events of the first and of the second class.
M_KEY, M_ONE, M_OTHER = 0, 1, 5
MATCH_COLUMNS = 9
# Columns of a key that keeps something: how many events of each class, and when the first of them is too old.
K_KEY, K_ONE, K_OTHER, K_DUE = range(4)
KEY_COLUMNS = 4
AT_KEY, MATCHES, KEPT_KEYS, KEPT_ROWS = range(4)
PLACES = 4
DONE, NO_ROOM, TOO_MANY = range(3)


class Shape(NamedTuple):
    """What is detected."""

    in_order: bool  # a sequence
    length: int  # the timeframe, or -1
    consumes: int
    selection: Array  # int64 (2,): of each class FIRST, LAST or PICK
    low: Array  # int64 (2,)
    high: Array  # int64 (2,), -1 without a bound


class Rows(NamedTuple):
    """The events, sorted by key and in the total order; `classes` has for each signature 1 for the first, 2 for the second."""

    offsets: Array
    end: Array
    start: Array
    ref: Array
    signature: Array
    classes: Array  # uint8 (signatures,)


class Queues(NamedTuple):
    """What is available of both classes while a key runs."""

    one: Array  # int64 (size, COLUMNS)
    other: Array  # int64 (size, COLUMNS)
    bounds: Array  # int64 (2, 2): for each class the first row, and the one after the last


class Kept(NamedTuple):
    """What keys keep: of each the events of the first class, then those of the second."""

    keys: Array  # int64 (K, KEY_COLUMNS), sorted
    rows: Array  # int64 (R, COLUMNS)


@bare
def run(shape, rows, before, queues, after, found, places, asks):  # type: ignore[no-untyped-def]
    """Feed the rows of every key; goes on at key `places[AT_KEY]` if it is called again. `asks`: until, keep, limit."""
    until, bounds = asks[0], queues.bounds
    row_kept, at_kept = 0, 0
    while places[AT_KEY] < len(rows.offsets) - 1:
        key = places[AT_KEY]
        while row_kept < len(before.keys) and before.keys[row_kept, K_KEY] < key:
            at_kept += before.keys[row_kept, K_ONE] + before.keys[row_kept, K_OTHER]
            row_kept += 1
        matches = places[MATCHES]
        bounds[:] = 0
        latest = 0
        if row_kept < len(before.keys) and before.keys[row_kept, K_KEY] == key:
            ones, others = before.keys[row_kept, K_ONE], before.keys[row_kept, K_OTHER]
            if max(ones, others) > len(queues.one):
                return NO_ROOM
            latest = max(
                _load(before.rows, at_kept, ones, queues.one),
                _load(before.rows, at_kept + ones, others, queues.other),
            )
            bounds[0, 1], bounds[1, 1] = ones, others
        number = latest + 1
        for row in range(rows.offsets[key], rows.offsets[key + 1]):
            classes = rows.classes[rows.signature[row]]
            if classes == 0:
                continue
            event = (rows.end[row], number, rows.ref[row], rows.start[row])
            number += 1
            if shape.length >= 0:
                _expire(queues.one, bounds[0], event[TIME] - shape.length)
                _expire(queues.other, bounds[1], event[TIME] - shape.length)
            if not _feed(shape, queues, found, places, key, event, classes):
                places[MATCHES] = matches
                return NO_ROOM
            if bounds[0, 1] - bounds[0, 0] > asks[2] or bounds[1, 1] - bounds[1, 0] > asks[2]:
                return TOO_MANY
        if asks[1] and not _save(shape, queues, after, places, key, until):
            places[MATCHES] = matches
            return NO_ROOM
        places[AT_KEY] += 1
    return DONE


@bare
def _load(kept, at, count, queue):  # type: ignore[no-untyped-def]
    """Copy what was kept of a class; returns the highest number in it."""
    latest = 0
    for offset in range(count):
        for column in range(COLUMNS):
            queue[offset, column] = kept[at + offset, column]
        latest = max(latest, queue[offset, NUMBER])
    return latest


@bare
def _expire(queue, bound, oldest):  # type: ignore[no-untyped-def]
    """Forget what is older than the timeframe, and what is used up at that end."""
    while bound[0] < bound[1] and (queue[bound[0], TIME] < oldest or queue[bound[0], NUMBER] < 0):
        bound[0] += 1


@bare
def _feed(shape, queues, found, places, key, event, classes):  # type: ignore[no-untyped-def]
    """One event, as one of the first class, then as one of the second; False if there is no room."""
    bounds = queues.bounds
    for operand in range(2):
        if not classes & (1 << operand):
            continue
        used_up = False
        if operand == 1 or not shape.in_order:
            others = queues.one if operand else queues.other
            before = places[MATCHES]
            if not _end_matches(shape, others, bounds[1 - operand], found, places, key, event, operand):
                return False
            if places[MATCHES] > before and shape.consumes != KEEP:
                used_up = True
                if shape.consumes == DELETE:
                    bounds[0, 0], bounds[0, 1], bounds[1, 0], bounds[1, 1] = 0, 0, 0, 0
                else:
                    _use_up(queues, found, before, places[MATCHES])
        if used_up:
            return True
        if operand == 1 and shape.in_order:
            return True
        if not _keep(shape, queues.other if operand else queues.one, bounds[operand], operand, event):
            return False
    return True


@bare
def _end_matches(shape, others, bound, found, places, key, event, operand):  # type: ignore[no-untyped-def]
    """The matches that an event ends, with what its partner's mode chooses."""
    partner = 1 - operand
    selection = shape.selection[partner]
    first, stop = bound[0], bound[1]
    if selection == LAST:
        for row in range(stop - 1, first - 1, -1):
            if _fits(shape, others, row, event):
                return _report(found, places, key, event, others, row, operand)
        return True
    fitting = 0
    if selection != FIRST and shape.low[partner] < 0:  # up to the last, by number from there
        for row in range(first, stop):
            fitting += _fits(shape, others, row, event)
    low = 1 if selection == FIRST else max(fitting, 1) if shape.low[partner] < 0 else shape.low[partner]
    high = shape.high[partner]
    number = 0
    for row in range(first, stop):
        if not _fits(shape, others, row, event):
            continue
        number += 1
        if high >= 0 and number > high:
            return True
        if number >= low and not _report(found, places, key, event, others, row, operand):
            return False
    return True


@bare
def _fits(shape, others, row, event):  # type: ignore[no-untyped-def]
    """Whether an available event can be the partner of the one that ends a match."""
    time, number = others[row, TIME], others[row, NUMBER]
    if number < 0 or number == event[NUMBER] or (shape.in_order and time >= event[TIME]):
        return False
    return shape.length < 0 or event[TIME] - time <= shape.length


@bare
def _report(found, places, key, event, others, row, operand):  # type: ignore[no-untyped-def]
    at = places[MATCHES]
    if at == len(found):
        return False
    found[at, M_KEY] = key
    own, partner = (M_OTHER, M_ONE) if operand else (M_ONE, M_OTHER)
    for column in range(COLUMNS):
        found[at, own + column] = event[column]
        found[at, partner + column] = others[row, column]
    places[MATCHES] = at + 1
    return True


@bare
def _use_up(queues, found, first, stop):  # type: ignore[no-untyped-def]
    """Mark the events of matches as used up, in both classes."""
    for match in range(first, stop):
        for column in (M_ONE, M_OTHER):
            _mark(queues.one, queues.bounds[0], found[match, column + NUMBER])
            _mark(queues.other, queues.bounds[1], found[match, column + NUMBER])


@bare
def _mark(queue, bound, number):  # type: ignore[no-untyped-def]
    """Mark the event with a number, if it is there; those at the ends are forgotten."""
    for row in range(bound[0], bound[1]):
        if queue[row, NUMBER] == number:
            queue[row, NUMBER] = -1
            break
        if queue[row, NUMBER] > number:
            break
    while bound[0] < bound[1] and queue[bound[0], NUMBER] < 0:
        bound[0] += 1
    while bound[0] < bound[1] and queue[bound[1] - 1, NUMBER] < 0:
        bound[1] -= 1


@bare
def _keep(shape, queue, bound, operand, event):  # type: ignore[no-untyped-def]
    """Make an event available, unless its mode will never want it; False if there is no room."""
    lasting = shape.consumes != KEEP and shape.consumes != DELETE
    most = 1 if shape.selection[operand] == FIRST else shape.high[operand]
    if (
        not lasting
        and shape.length < 0
        and shape.selection[operand] != LAST
        and 0 <= most <= bound[1] - bound[0]
    ):
        return True
    if bound[0] == bound[1]:
        bound[0], bound[1] = 0, 0
    if bound[1] == len(queue):
        # The rows before the first are free; they are used again when they are half of all.
        if 2 * bound[0] < len(queue):
            return False
        for row in range(bound[0], bound[1]):
            for column in range(COLUMNS):
                queue[row - bound[0], column] = queue[row, column]
        bound[1] -= bound[0]
        bound[0] = 0
    for column in range(COLUMNS):
        queue[bound[1], column] = event[column]
    bound[1] += 1
    if not lasting and shape.selection[operand] == LAST:
        # Those of the latest time, and the one before: one of equal time, or the same event, may not be taken.
        at = bound[1] - 1
        while at > bound[0] and queue[at, TIME] == event[TIME]:
            at -= 1
        bound[0] = at
    return True


@bare
def _save(shape, queues, after, places, key, until):  # type: ignore[no-untyped-def]
    """Copy what is available behind that of the key before; False if there is no room. A key that keeps nothing is left out."""
    bounds = queues.bounds
    if shape.length >= 0:
        _expire(queues.one, bounds[0], until + 1 - shape.length)
        _expire(queues.other, bounds[1], until + 1 - shape.length)
    if bounds[0, 0] == bounds[0, 1] and bounds[1, 0] == bounds[1, 1]:
        return True
    room = bounds[0, 1] - bounds[0, 0] + bounds[1, 1] - bounds[1, 0]
    if places[KEPT_KEYS] == len(after.keys) or places[KEPT_ROWS] + room > len(after.rows):
        return False
    own = after.keys[places[KEPT_KEYS]]
    own[K_KEY], own[K_DUE] = key, NEVER
    own[K_ONE] = _copy(queues.one, bounds[0], after, places, own, shape.length)
    own[K_OTHER] = _copy(queues.other, bounds[1], after, places, own, shape.length)
    places[KEPT_KEYS] += 1
    return True


@bare
def _copy(queue, bound, after, places, own, length):  # type: ignore[no-untyped-def]
    """Copy what is available of a class; returns how many events that are."""
    to = places[KEPT_ROWS]
    for row in range(bound[0], bound[1]):
        if queue[row, NUMBER] < 0:
            continue
        if length >= 0:
            own[K_DUE] = min(own[K_DUE], queue[row, TIME] + length + 1)
        for column in range(COLUMNS):
            after.rows[places[KEPT_ROWS], column] = queue[row, column]
        places[KEPT_ROWS] += 1
    return places[KEPT_ROWS] - to
