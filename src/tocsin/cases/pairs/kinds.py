"""The kinds of cases of languages of the pairs family (paper 004), one module for each group of kinds.

| module | kinds | about |
|---|---|---|
| `detection` | `algebra`, `consumption`, `coupling`, `concurrency`, `traversal`, `profile` | a trace, on every engine |
| `definitions` | `renumber`, `timestamp`, `rule`, `post-filter` | the definitions themselves |
"""

from __future__ import annotations

from collections.abc import Mapping

from tocsin.cases.model import Handler
from tocsin.cases.pairs import definitions, detection

KINDS: Mapping[str, Handler] = {**detection.KINDS, **definitions.KINDS}
