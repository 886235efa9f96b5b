"""Which events can matter: all others can be dropped before they are sent.

Paper: 000, section 6, "Evaluation Strategies": "the quenching problem".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tocsin.algebra.completion.expression import FALSE
from tocsin.algebra.predicate import Filter, Or
from tocsin.automata.completion.simulate import Prepared, bits, enabled
from tocsin.automata.completion.table import Table


def quench(prepared: Prepared, configuration: int) -> Filter:
    """The filter for events that matter in a configuration: some armed transition accepts them (C.1.20).

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate
    >>> from tocsin.automata.completion.construct import construct
    >>> from tocsin.automata.completion.simulate import prepare, start
    >>> waiting = prepare(construct(Predicate(TRUE)))
    >>> quench(waiting, start(waiting)) == TRUE
    True
    """
    inputs = [prepared.machine.transitions[i].input for i in bits(enabled(prepared, configuration))]
    return _any([input for input in inputs if input is not None])


def quench_always(prepared: Prepared) -> Filter:
    """The filter for events that matter in any configuration: every source can drop the others."""
    return _any(list(prepared.asked.filters))


def quench_table(table: Table) -> npt.NDArray[np.bool_]:
    """For each state and column, whether an event changes the state or causes an output."""
    stays = table.next == np.arange(len(table.status), dtype=np.int32)[:, None]
    return np.asarray(~stays | (table.emits > 0))


def _any(filters: list[Filter]) -> Filter:
    distinct = tuple(dict.fromkeys(filters))
    if not distinct:
        return FALSE
    return distinct[0] if len(distinct) == 1 else Or(distinct)
