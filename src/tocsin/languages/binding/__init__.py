"""Patterns built in Python, as the Cambridge paper (003) proposes for programming languages.

>>> from tocsin.languages.binding import attribute, event
>>> cold = event("Temp").where(attribute("temp") < 15, location="FE02")
>>> print(event("Door").followed_by(cold).within("5min"))
[Door];[Temp(temp < 15 AND location = 'FE02')] within 5min
"""

from tocsin.algebra.tokens.subscription import Subscription
from tocsin.languages.binding.built_condition import Condition, Operand, attribute, variable
from tocsin.languages.binding.built_pattern import Expression, event
from tocsin.languages.binding.parser import parse
from tocsin.languages.binding.printer import show, show_subscription
from tocsin.languages.language import Context
from tocsin.languages.name_table import NamesAndReading

__all__ = [
    "Condition",
    "Expression",
    "Operand",
    "attribute",
    "event",
    "parse",
    "read",
    "show",
    "show_subscription",
    "variable",
]


def read(text: str, options: NamesAndReading, context: Context) -> Subscription:
    """Parse a text to a subscription, with the signature of `Language.parse`."""
    return parse(
        text,
        context.catalog,
        names=options.names,
        interpretation=options.interpretation,
        selection=context.selection,
        name=context.name,
    )
