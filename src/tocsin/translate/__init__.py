"""Translates profiles of the event algebra from one language into another, and notifications back (Meta-ENS).

`derive` translates expressions, `texts` translates texts, `post_filter` runs the subscriber's side, and `prolog` answers the
queries of the paper's transformer. Rules are rows of tables: `tables` for operators,
`parameters` for duplicates and consumption.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from tocsin.translate.kinds import Kind, Loss, Lost
from tocsin.translate.texts import Translated, best_first, translate
from tocsin.translate.translation import Translation

__all__ = ["Kind", "Loss", "Lost", "Translated", "Translation", "best_first", "translate"]


class _Callable(ModuleType):
    """This module, called like a function: `tocsin.translate` names both, and the import system sets the module."""

    def __call__(self, *arguments: Any, **options: Any) -> Translated:
        return translate(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
