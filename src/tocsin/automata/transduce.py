"""Plans of the completion family: detectors that walk a table and send events.

ECL and the correlation language of KSU provide *drafts*: the predicates on each event, the effect of a step, and the
possible emissions. Here they become programs.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tocsin.algebra.predicate import Filter, attributes
from tocsin.automata.detection_plan import Compiled, FieldTest
from tocsin.runtime import program as rt
from tocsin.runtime.kernels.completion.table import Cells, Stepper

# How many cells of a table are computed before the first event, and how many parts of machines are looked at for all
# tables of a text.
MAX_PREPARED = 5_000
MAX_LOOKED_AT = 200_000


@dataclass(frozen=True, slots=True)
class Draft:
    """A detector before its predicates have bits."""

    stepper: Stepper
    predicates: tuple[Filter, ...]
    kinds: tuple[int, ...] | None  # the possible combinations of bits; None if there are too many
    emissions: tuple[rt.Emission, ...]
    roles: tuple[str, ...] = ("event",)
    registers: int = 0
    uses: tuple[tuple[int, ...], ...] = ()  # for each emission, the registers it needs
    size: int = 1  # how many parts a step looks at, at most
    cells: int = MAX_PREPARED  # how many cells may be computed before the first event


@dataclass(frozen=True, slots=True)
class Drafts:
    """Detectors, and for each subscription, in the order of the emissions' `output`, its name and its meaning."""

    detectors: tuple[Draft, ...]
    meanings: Mapping[str, str]

    @property
    def attributes(self) -> frozenset[str]:
        """The attributes that predicates and outputs use."""
        asked = {
            name
            for draft in self.detectors
            for predicate in draft.predicates
            for name in attributes(predicate)
        }
        sources = (source for draft in self.detectors for e in draft.emissions for _, source in e.fields)
        return frozenset(asked | {source[2] for source in sources if source[0] == "field"})

    def __add__(self, other: Drafts) -> Drafts:
        first = len(self.meanings)
        moved = tuple(
            replace(draft, emissions=tuple(e._replace(output=first + e.output) for e in draft.emissions))
            for draft in other.detectors
        )
        return Drafts((*self.detectors, *moved), {**self.meanings, **other.meanings})


def sharing(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """The drafts of a text, each with its share of what may be computed before the first event."""
    fair = MAX_LOOKED_AT // max(1, len(drafts))
    return tuple(replace(one, cells=min(MAX_PREPARED, fair // max(1, one.size))) for one in drafts)


def transducers(given: Drafts) -> Compiled:
    """One plan for all drafts."""
    drafts = given.detectors
    bits: dict[Filter, int] = {}
    for draft in drafts:
        for predicate in draft.predicates:
            bits.setdefault(predicate, len(bits))
    words = max(1, -(-len(bits) // 64))
    detectors = tuple(_detector(draft, [bits[q] for q in draft.predicates], words) for draft in drafts)
    outputs = tuple(
        rt.Output(
            name, _sending(drafts, number), (), hashlib.blake2b(meaning.encode(), digest_size=16).hexdigest()
        )
        for number, (name, meaning) in enumerate(given.meanings.items())
    )
    return Compiled(
        rt.Plan(rt.VERSION, words, (), detectors, (), outputs),
        tuple((bit, FieldTest(predicate)) for predicate, bit in bits.items()),
        given.attributes,
    )


def _sending(drafts: Sequence[Draft], output: int) -> tuple[int, ...]:
    """The detectors that send events for a subscription; one that never sends any still gets a place to report from."""
    found = tuple(n for n, draft in enumerate(drafts) if any(e.output == output for e in draft.emissions))
    return found or (0,)


def _detector(draft: Draft, bits: Sequence[int], words: int) -> rt.Detector:
    domain = np.zeros((1, words), np.uint64)
    for bit in bits:
        domain[0, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    width = max((len(own) for own in draft.uses), default=0)
    uses = np.full((max(1, len(draft.emissions)), width), -1, np.int64)
    for number, own in enumerate(draft.uses):
        uses[number, : len(own)] = own
    stepper = pickle.dumps(draft.stepper, protocol=5)
    cells = prepared_cells(stepper, draft.kinds, draft.cells)
    walk = rt.Walk(domain, tuple(bits), draft.registers, uses, stepper, pickle.dumps(cells, protocol=5))
    return rt.Detector(walk, (), draft.roles, (), (), draft.emissions)


def prepared_cells(stepper: bytes, kinds: Iterable[int] | None, limit: int = MAX_PREPARED) -> Cells:
    """The whole table if it fits the limit, otherwise an empty one that is filled in on demand."""
    cells = Cells(stepper)
    if kinds is not None and cells.fill(kinds, limit):
        return cells
    return Cells(stepper)
