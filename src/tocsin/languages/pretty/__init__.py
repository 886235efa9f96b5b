"""The "pretty" language of the Cambridge paper (003): sentences to patterns and back."""

from tocsin.algebra.tokens.subscription import Subscription
from tocsin.languages.language import Context
from tocsin.languages.name_table import NamesAndReading
from tocsin.languages.pretty.parser import parse
from tocsin.languages.pretty.printer import show, show_subscription

__all__ = ["parse", "read", "show", "show_subscription"]


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
