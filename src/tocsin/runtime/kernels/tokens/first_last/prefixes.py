"""Lists of events that grow at their end and share their beginnings, and their order (see `kernel`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.kernels.tokens.groups.enumerate import PART_REF, PART_ROLE, PART_TIME, PART_WIDTH
from tocsin.runtime.program import Array

# A link is an event, with the columns of a part of a match, on top of another chain. FIRST is when the first event ended.
BEFORE, JUMP, LENGTH, FIRST, LINK_WIDTH = range(PART_WIDTH, PART_WIDTH + 5)
# Counters of the kernel.
LINKS, MATCHES, PARTS, STEPS, COUNTERS = range(5)


class Chains(NamedTuple):
    """A list of chains, in order: the last link of each."""

    ends: Array  # int64, room for more
    size: np.int64


@kernel
def link(links, counts, event, role, before):  # type: ignore[no-untyped-def]
    """Append an event to a chain. The jump leads back over about half of it, so that a position in it is found quickly."""
    link = counts[LINKS]
    counts[LINKS] += 1
    counts[STEPS] += 1
    links[link, :PART_WIDTH] = event
    links[link, PART_ROLE] = role
    links[link, BEFORE] = before
    links[link, JUMP] = before
    links[link, LENGTH] = 1
    links[link, FIRST] = event[PART_TIME]
    if before >= 0:
        links[link, LENGTH] = links[before, LENGTH] + 1
        links[link, FIRST] = links[before, FIRST]
        jump = links[before, JUMP]
        if jump >= 0:
            beyond = links[jump, JUMP]
            rest = links[beyond, LENGTH] if beyond >= 0 else 0
            if links[before, LENGTH] - links[jump, LENGTH] == links[jump, LENGTH] - rest:
                links[link, JUMP] = beyond
    return link


@kernel
def _shortened(links, chain, length):  # type: ignore[no-untyped-def]
    """The first `length` events of a chain."""
    while links[chain, LENGTH] > length:
        jump = links[chain, JUMP]
        chain = jump if jump >= 0 and links[jump, LENGTH] >= length else links[chain, BEFORE]
    return chain


@kernel
def _is_first(links, one, other):  # type: ignore[no-untyped-def]
    """Whether the first of two different chains comes before the second; a longer chain comes before its own prefix."""
    if one < 0 or other < 0:
        return other < 0
    a = _shortened(links, one, links[other, LENGTH])
    if a == other:
        return True
    b = _shortened(links, other, links[one, LENGTH])
    if b == one:
        return False
    while links[a, BEFORE] != links[b, BEFORE]:
        if links[a, JUMP] != links[b, JUMP]:
            a, b = links[a, JUMP], links[b, JUMP]
        else:
            a, b = links[a, BEFORE], links[b, BEFORE]
    return links[a, PART_REF] < links[b, PART_REF]


@kernel
def merge(links, counts, into, more, room, latest, scratch):  # type: ignore[no-untyped-def]
    """Merge some chains into others; returns the number of chains afterwards, `room` at most."""
    at, other, length = 0, 0, 0
    while length < room and (at < into.size or other < more.size):
        own = at < into.size
        if own and other < more.size:
            own = _is_first(links, into.ends[at], more.ends[other]) != latest
        if own:
            scratch[length] = into.ends[at]
            at += 1
        else:
            scratch[length] = more.ends[other]
            other += 1
        length += 1
    counts[STEPS] += length
    into.ends[:length] = scratch[:length]
    return length


@kernel
def collected(links, count, roots, at):  # type: ignore[no-untyped-def]
    """The links that chains still need, given their last links in `roots[:, at]`, which are renumbered."""
    needed = np.zeros(count, np.bool_)
    for row in range(len(roots)):
        link = roots[row, at]
        while link >= 0 and not needed[link]:
            needed[link] = True
            link = links[link, BEFORE]
    place = np.cumsum(needed) - 1
    kept = np.empty((needed.sum(), LINK_WIDTH), np.int64)
    for link in range(count):
        if needed[link]:
            own = place[link]
            kept[own] = links[link]
            for column in (BEFORE, JUMP):
                if links[link, column] >= 0:
                    kept[own, column] = place[links[link, column]]
    for row in range(len(roots)):
        if roots[row, at] >= 0:
            roots[row, at] = place[roots[row, at]]
    return kept
