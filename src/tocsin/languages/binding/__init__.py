"""Patterns built in Python, as the Cambridge paper (003) proposes for programming languages.

>>> from tocsin.languages.binding import attribute, event
>>> cold = event("Temp").where(attribute("temp") < 15, location="FE02")
>>> print(event("Door").followed_by(cold).within("5min"))
([Door], [Temp(temp < 15 AND location = 'FE02') in {Temp(temp < 15 AND location = 'FE02'), T1}])_{T1=5min}
"""

from tocsin.languages.binding.condition import Condition, Operand, attribute, variable
from tocsin.languages.binding.expression import Expression, event
from tocsin.languages.binding.parser import parse
from tocsin.languages.binding.printer import show, show_subscription

__all__ = [
    "Condition",
    "Expression",
    "Operand",
    "attribute",
    "event",
    "parse",
    "show",
    "show_subscription",
    "variable",
]
