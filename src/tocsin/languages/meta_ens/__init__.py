"""The notation of the event algebra of the Meta-ENS, infix and with the modes of Unland and Zimmer. Paper: 004."""

from tocsin.languages.meta_ens.parser import parse, parse_filter, read
from tocsin.languages.meta_ens.printer import show

__all__ = ["parse", "parse_filter", "read", "show"]
