"""Check texts of any language: each alone, together where something connects them, and in pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tocsin.events import Catalog
from tocsin.explain.check_report import CheckReport
from tocsin.explain.family_checks import FamilyChecks, Linked
from tocsin.explain.parsed_text import ParsedText
from tocsin.languages.attached import located
from tocsin.languages.language import Context, Language
from tocsin.languages.registry import refuse_unused


def parse_to_check(
    text: str,
    own: Language,
    options: Mapping[str, object] | object | None = None,
    *,
    catalog: Catalog | None = None,
    name: str,
    file: str | None = None,
) -> ParsedText:
    """A text that can be checked; raises `PatternErrors` with all mistakes, which name the file."""
    refuse_unused(own, catalog=catalog)
    checks, chosen = checks_of(own), own.options_of(options)
    with located(file):
        value = own.read(text, chosen, Context(catalog, None, name))
        found = ParsedText(own, value, chosen, catalog, name, file)
        checks.named(found)  # refuses what no question can be asked about
    return found


def checks_of(own: Language) -> FamilyChecks:
    """How the texts of a language are checked."""
    found: FamilyChecks = own.on("check")
    return found


def link_texts(texts: Sequence[ParsedText]) -> Linked:
    """Return the texts in order, each with what it needs from others of its family, and reports about their connections."""
    linked, reports = list(texts), list[CheckReport]()
    families = list[FamilyChecks]()
    for text in texts:
        checks = checks_of(text.language)
        families += [] if any(checks is one for one in families) else [checks]
    for checks in families:
        places = [n for n, text in enumerate(texts) if checks_of(text.language) is checks]
        found = checks.link([texts[n] for n in places])
        reports += found.reports
        for n, text in zip(places, found.texts, strict=True):
            linked[n] = text
    return Linked(linked, reports)


def report_on(text: ParsedText) -> CheckReport:
    """Check a text before it runs, and return the report."""
    return checks_of(text.language).report(text).in_file(text.file)


def named_in(text: ParsedText) -> Sequence[Any]:
    """Return the parts of a text that can be compared with others, by name."""
    return checks_of(text.language).named(text)
