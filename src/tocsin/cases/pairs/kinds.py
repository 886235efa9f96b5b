"""The kinds of cases of languages of the pairs family (paper 004), one module for each group of kinds.

| module | kinds | about |
|---|---|---|
| `found_in_trace` | `algebra`, `consumption`, `coupling`, `concurrency`, `traversal`, `profile` | a trace, on every engine |
| `definitions` | `renumber`, `timestamp` | the definitions themselves |
| `survey` | `survey`, `classify` | the languages of twenty systems |
| `translation` | `transform`, `param-transform`, `notification`, `post-filter`, `samos`, `prolog`, `rule` | translation |
"""

from __future__ import annotations

from collections.abc import Mapping

from tocsin.cases.model import Handler
from tocsin.cases.pairs import definitions, found_in_trace, survey, translation

KINDS: Mapping[str, Handler] = {
    **definitions.KINDS,
    **survey.SURVEY_KINDS,
    **translation.KINDS,
    **found_in_trace.KINDS,
}
