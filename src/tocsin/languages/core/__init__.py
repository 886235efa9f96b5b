"""The Cambridge core language (paper 003): text to pattern and back."""

from tocsin.algebra.tokens.subscription import Interpretation, Subscription
from tocsin.languages.core.parser import parse
from tocsin.languages.core.printer import show, show_subscription
from tocsin.languages.language import Context

__all__ = ["parse", "read", "show", "show_subscription"]


def read(text: str, options: Interpretation, context: Context) -> Subscription:
    """Parse a text to a subscription, with the signature of `Language.parse`."""
    return parse(
        text, context.catalog, interpretation=options, selection=context.selection, name=context.name
    )
