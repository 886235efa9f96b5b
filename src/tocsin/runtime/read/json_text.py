"""Reads flat JSON objects from a column of bytes, all in one call, and marks the values that are not that simple.

It reads JSON as defined by RFC 8259, in UTF-8, and only values that leave no choice: no wanted field occurs twice, and each
has the wanted type. All other values are left to a full reader (see `json_values`), so this one may be strict wherever an exact
treatment would be long.

It is one grammar, each rule a function, which is why it is one file. Positions advance through the bytes of one value. The
reader of a rule returns the position after it, or `_NO`.
"""

from __future__ import annotations

import numpy as np

from tocsin.runtime.compiling import bare, inlined, kernel

WHOLE, REAL, TEXT, TRUTH = range(4)  # types of a field
ABSENT, MISSING, FILLED = range(3)  # a field that is not in a value, is null, has a value
_NO = -1
_DEEPEST = 60  # nested lists and objects in a field that is skipped: one bit of a word each
_LONGEST_NUMBER = 60  # bytes; together with the next limit, well within the range of a double
_LARGEST_EXPONENT = 200
_LONGEST_TEXT = 40_000  # bytes; readers differ in the longest name they accept
_LONG_DIGITS = 19  # a number of this many digits fits 64 bits without a sign
_LARGEST = np.uint64(2**63 - 1)
_END = 0  # stands for the end of the data; it occurs nowhere in JSON

_QUOTE, _BACKSLASH, _SLASH, _COMMA, _COLON = (ord(c) for c in '"\\/,:')
_MINUS, _PLUS, _DOT, _ZERO, _NINE = (ord(c) for c in "-+.09")
_OPEN, _CLOSE, _OPEN_LIST, _CLOSE_LIST = (ord(c) for c in "{}[]")
_A, _B, _E, _F, _N, _R, _T, _U = (ord(c) for c in "abefnrtu")
_TRUE, _FALSE, _NULL = (np.frombuffer(word, np.uint8) for word in (b"true", b"false", b"null"))


@bare
def read_objects(texts, wanted, columns):  # type: ignore[no-untyped-def]
    """Fill the columns of the wanted fields from texts."""
    data, offsets, there = texts.data, texts.offsets, texts.there
    names, name_offsets, kinds, lows, highs = (
        wanted.names,
        wanted.name_offsets,
        wanted.kinds,
        wanted.lows,
        wanted.highs,
    )
    read, filled, numbers, starts, stops = (
        columns.read,
        columns.filled,
        columns.numbers,
        columns.starts,
        columns.stops,
    )
    rows = len(offsets) - 1
    fields = len(kinds)
    for row in range(rows):
        if not there[row]:
            continue
        end = offsets[row + 1]
        at = _blanks(data, offsets[row], end)
        if _byte(data, at, end) != _OPEN:
            continue
        at = _blanks(data, at + 1, end)
        more = _byte(data, at, end) != _CLOSE
        former = fields - 1
        while more:
            field = former + 1 if former + 1 < fields else 0  # fields usually come in one order
            after = _if_named(data, at, end, names, name_offsets[field], name_offsets[field + 1])
            if after == _NO:
                after = _string(data, at, end, False)
                if after != _NO:
                    field = _field(data, at + 1, after - 1, names, name_offsets)
            at = _to_value(data, after, end)
            if at == _NO:
                break
            if field < 0:
                at = _skipped(data, at, end)
            elif filled[field, row] != ABSENT:
                at = _NO
            elif data[at] == _N:
                at = _word(data, at, end, _NULL)
                filled[field, row] = MISSING
                former = field
            else:
                starts[field, row] = at
                at, number = _wanted(data, at, end, kinds[field])
                if kinds[field] == WHOLE and not lows[field] <= number <= highs[field]:
                    at = _NO
                stops[field, row] = at
                numbers[field, row] = number
                filled[field, row] = FILLED
                former = field
            if at == _NO:
                break
            at = _blanks(data, at, end)
            more = _byte(data, at, end) == _COMMA
            if more:
                at = _blanks(data, at + 1, end)
        read[row] = at != _NO and _byte(data, at, end) == _CLOSE and _blanks(data, at + 1, end) == end
        if not read[row]:
            for field in range(fields):
                filled[field, row] = ABSENT


@kernel
def texts_at(data, starts, stops, filled, quoted):  # type: ignore[no-untyped-def]
    """The texts between positions, as bytes with offsets; `quoted` if they are in quotes, and may have escapes inside."""
    room = 0
    for row in range(len(starts)):
        if filled[row] == FILLED:
            room += stops[row] - starts[row]
    out = np.empty(room, np.uint8)
    offsets = np.zeros(len(starts) + 1, np.int32)
    to = 0
    for row in range(len(starts)):
        if filled[row] == FILLED:
            at, stop = starts[row], stops[row]
            if quoted:
                at, stop = at + 1, stop - 1
            while at < stop:
                if data[at] == _BACKSLASH:
                    at, to = _unescaped(data, at + 1, out, to)
                else:
                    out[to] = data[at]
                    at, to = at + 1, to + 1
        offsets[row + 1] = to
    return out[:to], offsets


@inlined
def _byte(data, at, end):  # type: ignore[no-untyped-def]
    return data[at] if at < end else np.uint8(_END)


@inlined
def _blanks(data, at, end):  # type: ignore[no-untyped-def]
    while at < end and (data[at] == 32 or data[at] == 10 or data[at] == 13 or data[at] == 9):
        at += 1
    return at


@inlined
def _if_named(data, at, end, names, first, last):  # type: ignore[no-untyped-def]
    """The position after a quoted name, if it is this one."""
    size = last - first
    if at + size + 2 > end or data[at] != _QUOTE or data[at + size + 1] != _QUOTE:
        return _NO
    for k in range(size):
        if data[at + 1 + k] != names[first + k]:
            return _NO
    return at + size + 2


@bare
def _field(data, start, stop, names, name_offsets):  # type: ignore[no-untyped-def]
    """The number of the field with this name; `_NO` if there is none."""
    for field in range(len(name_offsets) - 1):
        first = name_offsets[field]
        same = name_offsets[field + 1] - first == stop - start
        for k in range(stop - start):
            same = same and data[start + k] == names[first + k]
        if same:
            return field
    return _NO


@bare
def _wanted(data, at, end, kind):  # type: ignore[no-untyped-def]
    """Read a value of a kind: returns the position after it, and a whole number or a truth value."""
    if kind == TEXT:
        return _string(data, at, end, True), 0
    if kind == TRUTH:
        if data[at] == _T:
            return _word(data, at, end, _TRUE), 1
        return _word(data, at, end, _FALSE), 0
    if kind == WHOLE:
        return _whole(data, at, end)
    after = _number(data, at, end)
    # Spark reads -0 as a whole number, which loses the sign.
    if after == at + 2 and data[at] == _MINUS and data[at + 1] == _ZERO:
        return _NO, 0
    return after, 0


@bare
def _word(data, at, end, word):  # type: ignore[no-untyped-def]
    if end - at < len(word):
        return _NO
    for k in range(len(word)):
        if data[at + k] != word[k]:
            return _NO
    return at + len(word)


@bare
def _whole(data, at, end):  # type: ignore[no-untyped-def]
    """Read a number without a fraction: returns the position after it, and the number."""
    negative = data[at] == _MINUS
    if negative:
        at += 1
    start = at
    size = np.uint64(0)
    while at < end and _ZERO <= data[at] <= _NINE and at - start < _LONG_DIGITS:
        size = size * np.uint64(10) + np.uint64(data[at] - _ZERO)
        at += 1
    # A further digit, a fraction or an exponent may not follow a value.
    if at == start or (data[start] == _ZERO and at > start + 1) or size > _LARGEST:
        return _NO, 0
    return at, -np.int64(size) if negative else np.int64(size)


@bare
def _number(data, at, end):  # type: ignore[no-untyped-def]
    start = at
    if _byte(data, at, end) == _MINUS:
        at += 1
    whole = at
    at = _digits(data, at, end)
    if at == whole or (data[whole] == _ZERO and at > whole + 1):
        return _NO
    if _byte(data, at, end) == _DOT:
        fraction = at + 1
        at = _digits(data, fraction, end)
        if at == fraction:
            return _NO
    if _byte(data, at, end) | 32 == _E:
        at += 1
        if _byte(data, at, end) == _PLUS or _byte(data, at, end) == _MINUS:
            at += 1
        exponent = at
        at = _digits(data, exponent, end)
        size = 0
        for k in range(exponent, min(at, exponent + 9)):
            size = 10 * size + data[k] - _ZERO
        if at == exponent or at > exponent + 9 or size > _LARGEST_EXPONENT:
            return _NO
    return at if at - start <= _LONGEST_NUMBER else _NO


@inlined
def _digits(data, at, end):  # type: ignore[no-untyped-def]
    while at < end and _ZERO <= data[at] <= _NINE:
        at += 1
    return at


@bare
def _string(data, at, end, escapes):  # type: ignore[no-untyped-def]
    """Read a quoted text; `escapes` allows escapes in it. A name that is spelled with escapes could be that of any field."""
    if _byte(data, at, end) != _QUOTE:
        return _NO
    start = at
    at += 1
    while at < end:
        byte = data[at]
        if byte == _QUOTE:
            return at + 1 if at - start <= _LONGEST_TEXT else _NO
        if byte < 32:
            return _NO
        if byte == _BACKSLASH:
            at = _escape(data, at + 1, end) if escapes else _NO
        elif byte < 128:
            at += 1
        else:
            at = _utf8(data, at, end)
        if at == _NO:
            return _NO
    return _NO


@bare
def _utf8(data, at, end):  # type: ignore[no-untyped-def]
    """Read a character of several bytes, in its shortest form; a UTF-16 surrogate is refused."""
    first = data[at]
    size = 2 if 0xC2 <= first <= 0xDF else 3 if 0xE0 <= first <= 0xEF else 4 if 0xF0 <= first <= 0xF4 else 0
    if size == 0 or at + size > end:
        return _NO
    least, most = 0x80, 0xBF
    if first == 0xE0:
        least = 0xA0
    elif first == 0xED:
        most = 0x9F
    elif first == 0xF0:
        least = 0x90
    elif first == 0xF4:
        most = 0x8F
    if not least <= data[at + 1] <= most:
        return _NO
    for k in range(at + 2, at + size):
        if not 0x80 <= data[k] <= 0xBF:
            return _NO
    return at + size


@bare
def _escape(data, at, end):  # type: ignore[no-untyped-def]
    """Read an escape after its backslash. A lone UTF-16 surrogate is refused."""
    byte = _byte(data, at, end)
    if byte != _U:
        simple = byte in (_QUOTE, _BACKSLASH, _SLASH) or _control(byte) != 0
        return at + 1 if simple else _NO
    unit = _unit(data, at + 1, end)
    if unit == _NO or 0xDC00 <= unit <= 0xDFFF:
        return _NO
    if not 0xD800 <= unit <= 0xDBFF:
        return at + 5
    if _byte(data, at + 5, end) != _BACKSLASH or _byte(data, at + 6, end) != _U:
        return _NO
    return at + 11 if 0xDC00 <= _unit(data, at + 7, end) <= 0xDFFF else _NO


@bare
def _control(byte):  # type: ignore[no-untyped-def]
    """The control character that a letter after a backslash denotes, or 0."""
    if byte == _N:
        return 10
    if byte == _T:
        return 9
    if byte == _R:
        return 13
    if byte == _B:
        return 8
    return 12 if byte == _F else 0


@bare
def _unit(data, at, end):  # type: ignore[no-untyped-def]
    """The value of four hexadecimal digits."""
    if at + 4 > end:
        return _NO
    unit = 0
    for k in range(at, at + 4):
        digit, letter = int(data[k]) - _ZERO, int(data[k] | 32) - _A
        if 0 <= digit <= 9:
            unit = 16 * unit + digit
        elif 0 <= letter <= 5:
            unit = 16 * unit + 10 + letter
        else:
            return _NO
    return unit


@bare
def _unescaped(data, at, out, to):  # type: ignore[no-untyped-def]
    """Write the character of an escape that `_escape` has checked; it never takes more bytes. Returns both next positions."""
    byte = data[at]
    if byte != _U:
        control = _control(byte)
        out[to] = control if control else byte
        return at + 1, to + 1
    letter = _unit(data, at + 1, at + 5)
    at += 5
    if 0xD800 <= letter <= 0xDBFF:
        letter = 0x10000 + ((letter - 0xD800) << 10) + _unit(data, at + 2, at + 6) - 0xDC00
        at += 6
    if letter < 0x80:
        out[to] = letter
        return at, to + 1
    size = 2 if letter < 0x800 else 3 if letter < 0x10000 else 4
    for k in range(size - 1, 0, -1):
        out[to + k] = 0x80 | (letter & 0x3F)
        letter >>= 6
    out[to] = letter | (0xC0 if size == 2 else 0xE0 if size == 3 else 0xF0)
    return at, to + size


@inlined
def _to_value(data, at, end):  # type: ignore[no-untyped-def]
    """The position of the value after a name, if there was one; the value has at least one byte."""
    if at == _NO:
        return _NO
    at = _blanks(data, at, end)
    if _byte(data, at, end) != _COLON:
        return _NO
    at = _blanks(data, at + 1, end)
    return at if at < end else _NO


@bare
def _skipped(data, at, end):  # type: ignore[no-untyped-def]
    """Skip any value, with everything in it."""
    depth = 0
    objects = 0  # the lowest bit is set inside an object, the next if that one is inside an object
    while True:
        byte = _byte(data, at, end)
        if byte in (_OPEN, _OPEN_LIST):
            inside = _blanks(data, at + 1, end)
            if _byte(data, inside, end) == (_CLOSE if byte == _OPEN else _CLOSE_LIST):
                at = inside + 1
            else:
                if depth == _DEEPEST:
                    return _NO
                depth += 1
                objects = objects << 1 | (1 if byte == _OPEN else 0)
                at = _to_value(data, _string(data, inside, end, True), end) if byte == _OPEN else inside
                if at == _NO:
                    return _NO
                continue
        else:
            at = _scalar(data, at, end)
        while at != _NO:
            if depth == 0:
                return at
            at = _blanks(data, at, end)
            byte = _byte(data, at, end)
            at = _blanks(data, at + 1, end)
            if byte == _COMMA:
                if objects & 1:
                    at = _to_value(data, _string(data, at, end, True), end)
                break
            if byte != (_CLOSE if objects & 1 else _CLOSE_LIST):
                return _NO
            depth -= 1
            objects >>= 1
        if at == _NO:
            return _NO


@bare
def _scalar(data, at, end):  # type: ignore[no-untyped-def]
    byte = _byte(data, at, end)
    if byte == _QUOTE:
        return _string(data, at, end, True)
    if byte == _T:
        return _word(data, at, end, _TRUE)
    if byte == _F:
        return _word(data, at, end, _FALSE)
    if byte == _N:
        return _word(data, at, end, _NULL)
    return _number(data, at, end)
