"""Restore a shard's bucket heads and paces at the start of a micro-batch, even if its patterns have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from tocsin.errors import InputError
from tocsin.events.pace import Pace, PaceSettings
from tocsin.runtime.moments import LONG_AGO
from tocsin.runtime.stream.buckets import Head
from tocsin.runtime.stream.carry_over import Outline, carried_over, in_common
from tocsin.runtime.stream.shard import PaceGroup
from tocsin.spark.stream.shard_head import no_head, outline_bytes, read_head, read_outlines
from tocsin.spark.stream.state_store import HEAD, OUTLINES, Memory


class Watched(NamedTuple):
    """The plan of a shard: pace groups, and the pace of each.

    Where rules may change, the first group is that of the query's own options, and always exists.
    """

    groups: tuple[PaceGroup, ...]
    paces: tuple[PaceSettings, ...]
    digest: bytes  # of both
    group_of: Mapping[str, int] = {}


def watched(
    groups: tuple[PaceGroup, ...], paces: tuple[PaceSettings, ...], group_of: Mapping[str, int] | None = None
) -> Watched:
    """Return what a shard detects, with its digest."""
    digest = hashlib.blake2b(repr((groups, paces)).encode(), digest_size=16).digest()
    return Watched(groups, paces, digest, group_of or {})


Known = tuple[list[Head], list[Pace]]  # the head of the buckets, and the pace, of each group


def recalled(memory: Memory, shape: bytes, now: Watched) -> Known:
    """Return the restored heads and paces, adapted if the patterns have changed."""
    data = memory.get(HEAD)
    if data is None:
        if next(iter(memory), None) is not None:
            raise no_head()
        memory[OUTLINES] = outline_bytes(now.groups)
        return [Head(LONG_AGO) for _ in now.paces], [Pace(settings) for settings in now.paces]
    head = read_head(data)
    if head.purpose[0] != shape:
        raise InputError(
            "other-checkpoint",
            "this checkpoint is of other columns or another number of shards, with rules that change or without",
            hint="go back to what it was made with, or start with a new checkpoint folder",
        )
    known = head.heads, head.paces
    return known if head.purpose[1] == now.digest else fitted(memory, now, known)


def fitted(memory: Memory, now: Watched, known: Known) -> Known:
    """Adapt heads and paces to changed patterns: unchanged subscriptions continue, others start from scratch.

    Where rules may change, events wait for whatever rules are in force when they are decided, so they are always kept.
    """
    heads, paces = known
    outlines = read_outlines(memory[OUTLINES])
    # Everything is removed before anything is put back, because groups may change their numbers.
    memories = {
        (number, bucket): memory.pop((number, bucket))
        for number, head in enumerate(heads)
        for bucket in head.entries
    }
    new_heads, new_paces = [], []
    for number, (group, settings) in enumerate(zip(now.groups, now.paces, strict=True)):
        former = _former(group, settings, outlines, paces)
        before, old = heads[former], outlines[former]
        head, pace = Head(before.until), Pace(settings).going_on_from(paces[former])
        if old.at_once == group.at_once if group.asks else in_common(old, group):
            entries = {}
            for bucket, entry in before.entries.items():
                made = carried_over(old, group, memories[former, bucket])
                if made is not None:
                    memory[number, bucket] = made
                    # Something may be due earlier or later than before, so the bucket is visited in the next step.
                    entries[bucket] = entry._replace(wakeup=LONG_AGO, size=len(made))
            head = Head(before.until, before.bits, entries)
        elif group.asks and old.at_once:
            # Events that were used as they arrived were never late; only those that arrive from now on can be.
            head, pace.until = Head(LONG_AGO), LONG_AGO
        new_heads.append(head)
        new_paces.append(pace)
    memory[OUTLINES] = outline_bytes(now.groups)
    return new_heads, new_paces


def _former(group: PaceGroup, settings: PaceSettings, outlines: list[Outline], paces: list[Pace]) -> int:
    """Return the old group that a group continues: of the same pace where rules may change, else the most similar."""
    if group.asks:
        for number, pace in enumerate(paces):
            if pace.settings == settings:
                return number
    return max(range(len(outlines)), key=lambda at: in_common(outlines[at], group))
