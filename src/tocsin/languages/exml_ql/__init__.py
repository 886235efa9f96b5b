"""EXML-QL, the subscription language over XML events of paper 002: text to query, and back."""

from tocsin.algebra.blocks.query import Interpretation, Query
from tocsin.languages.exml_ql.parser import parse, parse_pattern
from tocsin.languages.exml_ql.printer import show, show_pattern
from tocsin.languages.exml_ql.rewrite import xml_ql
from tocsin.languages.exml_ql.xpath import parse_xpath
from tocsin.languages.language import Context

__all__ = ["parse", "parse_pattern", "parse_xpath", "read", "show", "show_pattern", "xml_ql"]


def read(text: str, options: Interpretation, context: Context) -> Query:
    """Parse a text to a query, with the signature of `Language.parse`."""
    return parse(text, options)
