"""Whether a test takes an event, given the variables that a token has bound."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime.compiling import bare
from tocsin.runtime.kernels.tokens.single.token import TOKEN_WIDTH
from tocsin.runtime.program import (
    AND,
    BIND,
    COMPARE,
    EQ,
    FALSE,
    GE,
    GT,
    LE,
    LEAF,
    LT,
    MOVE_TEST,
    NE,
    NOT,
    SPEC_BIT,
    SPEC_CODE,
    SPEC_CODE_STOP,
    STATE_BINDS,
    STATE_FIRST,
    STATE_STOP,
    TEST_EXCEPTED,
    TEST_LOOKED_AT,
    TEST_LOOKED_AT_STOP,
    TEST_TAKEN,
    TEST_TAKEN_STOP,
    TRUE,
    UNIFY,
    UNKNOWN,
    Array,
)


class Asking(NamedTuple):
    """The tests of a program, the events they are applied to, and the variables of the current token."""

    tests: Array
    specs: Array
    spec_list: Array
    code: Array
    bits: Array  # uint64 (R, W)
    cells: Array  # int32 (R, V)
    kinds: Array  # int64, by value
    ranks: Array  # int64, by value
    bound: Array  # int64 (variables,): -1 unset
    stack: Array  # int64, room to evaluate code


@bare
def bit(bits, row, number):  # type: ignore[no-untyped-def]
    return (bits[row, number >> 6] >> np.uint64(number & 63)) & np.uint64(1) != 0


@bare
def relevant_types(domain, state, bits, row):  # type: ignore[no-untyped-def]
    """Whether an event can be relevant to tokens in a state."""
    for word in range(domain.shape[1]):  # noqa: SIM110  (a kernel has no generators)
        if domain[state, word] & bits[row, word]:
            return True
    return False


@bare
def _compare(asking, relation, left, right):  # type: ignore[no-untyped-def]
    if left < 0 or right < 0:
        return UNKNOWN
    same = asking.kinds[left] == asking.kinds[right]
    a, b = asking.ranks[left], asking.ranks[right]
    if relation == EQ:
        return TRUE if same and a == b else FALSE
    if relation == NE:
        return FALSE if same and a == b else TRUE
    if not same:
        return UNKNOWN
    if (
        (relation == LT and a < b)
        or (relation == LE and a <= b)
        or (relation == GT and a > b)
        or (relation == GE and a >= b)
    ):
        return TRUE
    return FALSE


@bare
def holds(asking, spec, row):  # type: ignore[no-untyped-def]
    """Whether a spec holds for an event, given the bound variables; it may bind more."""
    specs, code, bits, cells = asking.specs, asking.code, asking.bits, asking.cells
    bound, stack = asking.bound, asking.stack
    if not bit(bits, row, specs[spec, SPEC_BIT]):
        return False
    if specs[spec, SPEC_CODE] == specs[spec, SPEC_CODE_STOP]:
        return True
    top = 0
    for at in range(specs[spec, SPEC_CODE], specs[spec, SPEC_CODE_STOP]):
        operation, a, b, c = code[at, 0], code[at, 1], code[at, 2], code[at, 3]
        if operation == LEAF:
            stack[top] = TRUE if bit(bits, row, a) else (FALSE if bit(bits, row, b) else UNKNOWN)
            top += 1
        elif operation == COMPARE:
            stack[top] = _compare(asking, a, cells[row, b], bound[c])
            top += 1
        elif operation == BIND:
            if bound[b] < 0:
                bound[b] = cells[row, a]
            stack[top] = _compare(asking, EQ, cells[row, a], bound[b])
            top += 1
        elif operation == UNIFY:
            if cells[row, a] < 0:
                stack[top] = TRUE
            else:
                if bound[b] < 0:
                    bound[b] = cells[row, a]
                stack[top] = _compare(asking, EQ, cells[row, a], bound[b])
            top += 1
        elif operation == NOT:
            if stack[top - 1] != UNKNOWN:
                stack[top - 1] = FALSE if stack[top - 1] == TRUE else TRUE
        else:
            deciding = FALSE if operation == AND else TRUE
            left, right = stack[top - 2], stack[top - 1]
            top -= 1
            if left == deciding or right == deciding:
                stack[top - 1] = deciding
            elif left == UNKNOWN or right == UNKNOWN:
                stack[top - 1] = UNKNOWN
            else:
                stack[top - 1] = left
    return stack[0] == TRUE


@bare
def unbind(tokens, token, bound):  # type: ignore[no-untyped-def]
    """Reset `bound` to the variables of a token, all unset for a start state."""
    for variable in range(len(bound)):
        bound[variable] = tokens[token, TOKEN_WIDTH + variable] if token >= 0 else -1


@bare
def _first_spec(asking, first, stop, row, tokens, token):  # type: ignore[no-untyped-def]
    """The first spec of a list that holds, or -1; `bound` then includes the variables it binds."""
    for at in range(first, stop):
        unbind(tokens, token, asking.bound)
        if holds(asking, asking.spec_list[at], row):
            return asking.spec_list[at]
    unbind(tokens, token, asking.bound)
    return -1


@bare
def taken_as(asking, test, row, tokens, token):  # type: ignore[no-untyped-def]
    """The spec under which a test takes an event, or -1."""
    tests = asking.tests
    if _first_spec(asking, tests[test, TEST_EXCEPTED], tests[test, TEST_TAKEN], row, tokens, token) >= 0:
        return -1
    return _first_spec(asking, tests[test, TEST_TAKEN], tests[test, TEST_TAKEN_STOP], row, tokens, token)


@bare
def in_domain(states, moves, asking, state, row, tokens, token):  # type: ignore[no-untyped-def]
    """Whether an event that is relevant to a state by its bits is in its domain, for a token with its variables."""
    if states[state, STATE_BINDS] == 0:
        return True
    for move in range(states[state, STATE_FIRST], states[state, STATE_STOP]):
        test = moves[move, MOVE_TEST]
        first, stop = asking.tests[test, TEST_LOOKED_AT], asking.tests[test, TEST_LOOKED_AT_STOP]
        if _first_spec(asking, first, stop, row, tokens, token) >= 0:
            return True
    return False
