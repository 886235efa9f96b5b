"""Plain values for JSON: dictionaries, lists, texts, numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def data_of(value: Any) -> Any:
    """Convert a value made of dataclasses, tuples and mappings to plain values for JSON.

    >>> from tocsin.explain.contents import Predicate, Predicates
    >>> data_of(Predicates((Predicate("at any time", "a"),)))
    {'predicates': [{'of': 'at any time', 'condition': 'a'}]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: data_of(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): data_of(one) for name, one in value.items()}
    if isinstance(value, frozenset | set):
        return [data_of(one) for one in sorted(value)]
    if isinstance(value, list | tuple):
        return [data_of(one) for one in value]
    return value


def kind_of(part: object) -> str:
    """The word for the type of a part, by which a program tells parts apart."""
    return type(part).__name__.lower()
