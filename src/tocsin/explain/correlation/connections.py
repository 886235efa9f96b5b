"""The assembly of libraries: which option has it, and how it connects the correlations of several texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tocsin.algebra.correlation.expression import Library
from tocsin.explain.check_report import CheckReport
from tocsin.explain.contents import Finding
from tocsin.explain.correlation.wording import Assembly
from tocsin.explain.family_checks import Linked
from tocsin.explain.parsed_text import ParsedText
from tocsin.languages.attached import Attached, located
from tocsin.languages.registry import with_parts


def attached_assembly(parsed: ParsedText) -> Attached | None:
    """The text of the assembly among the options of a library; None if there is none, or the language knows none."""
    found: Attached | None = getattr(parsed.options, "assembly", None)
    return found


def read_assembly(given: Attached, parsed: ParsedText, library: Library | None = None) -> Assembly:
    """Parse the text of an assembly; its ports are checked if the library is given."""
    read = with_parts(parsed.language, "assembly").part("assembly")
    with located(given.file):
        found: Assembly = read(given.text, library, getattr(parsed.options, "types", None))
    return found


def link(texts: Sequence[ParsedText]) -> Linked:
    """The libraries with their assemblies: one connects the correlations of all texts that name it."""
    bound = {given: _whole(given, texts) for text in texts if (given := attached_assembly(text)) is not None}
    linked = [
        replace(text, linked=found and bound[found]) for text in texts for found in [attached_assembly(text)]
    ]
    reports = [
        CheckReport("correlation", "assembly", findings=tuple(map(Finding.of, one.warnings))).in_file(
            given.file
        )
        for given, one in bound.items()
    ]
    return Linked(linked, reports)


def _whole(given: Attached, texts: Sequence[ParsedText]) -> Assembly:
    """An assembly, checked against all correlations that it may connect; one that stands in several texts is one to it."""
    together = [text for text in texts if attached_assembly(text) == given]
    distinct = {one.name: one for text in together for one in text.value.correlations}
    return read_assembly(given, together[0], Library(tuple(distinct.values())))
