"""Subscriptions by name as long as they are few; many are counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tocsin.errors import counted

NAMED = 8


def few(names: Sequence[str]) -> str:
    """The names of subscriptions, or how many there are.

    >>> few(["Fire", "Flood"]), few([f"Rule{n}" for n in range(300)])
    ('Fire, Flood', '300 subscriptions')
    """
    return ", ".join(names) if len(names) <= NAMED else counted(len(names), "subscription")


def few_matches(numbers: Mapping[str, int]) -> str:
    """How many matches each subscription has, or all of many together.

    >>> few_matches({"Fire": 1, "Flood": 0}), few_matches({f"Rule{n}": n for n in range(300)})
    ('1 Fire, 0 Flood', '44,850 matches of 299 subscriptions, none of 1')
    """
    if len(numbers) <= NAMED:
        return ", ".join(f"{number:,} {name}" for name, number in numbers.items())
    some = sum(1 for number in numbers.values() if number)
    found = f"{counted(sum(numbers.values()), 'match', 'matches')} of {counted(some, 'subscription')}"
    return found if some == len(numbers) else f"{found}, none of {len(numbers) - some:,}"
