"""Rule files: what stands above and below a pattern, and where mistakes are."""

from __future__ import annotations

import pytest

from tocsin.errors import PipelineErrors, Span
from tocsin.languages.rule_file import Metadata, split_rule

WHOLE = """\
---
name: Fire
description: "Smoke, then heat"
severity: high
tags: [fire, night]
key: room
quiet: 1h
options: {restart: always}
---
[Smoke];
[Heat]
---
- events: [Smoke @ 1s, Heat @ 2s]
  matches: [[1, 2]]
"""


def test_a_rule_file_has_three_parts() -> None:
    rule = split_rule("fire.tocsin", WHOLE)
    assert rule.name == rule.title == "Fire"
    assert rule.metadata == Metadata("Smoke, then heat", "high", ("fire", "night"))
    assert rule.settings == {"key": ("room",), "quiet": "1h", "options": {"restart": "always"}}
    assert rule.text == "[Smoke];\n[Heat]\n"
    assert rule.cases is not None
    assert rule.whole[slice(*rule.cases)].startswith("- events")


def test_a_place_in_the_pattern_is_a_place_in_the_file() -> None:
    rule = split_rule("fire.tocsin", WHOLE)
    span = rule.placed(Span(rule.text, rule.text.index("Heat"), rule.text.index("Heat") + 4))
    assert span is not None
    assert span.line_column == (11, 2)
    assert Span(rule.padded, rule.padded.index("Heat"), 0).line_column == (11, 2)


def test_a_file_without_the_first_line_is_a_pattern() -> None:
    rule = split_rule("a-b 1.tocsin", "[A];[B]\n---\n")
    assert (rule.text, rule.title, rule.metadata) == ("[A];[B]\n---\n", "a_b_1", Metadata())


def test_all_mistakes_above_a_pattern_are_reported_with_their_lines() -> None:
    text = "---\nname: 2nd\nseverity: 3\ntags: {a: 1}\nquiet: soon\ndescripton: x\n---\n[A]\n"
    with pytest.raises(PipelineErrors) as raised:
        split_rule("x.tocsin", text)
    found = [(e.code, e.span.line_column[0] if e.span else 0, e.file) for e in raised.value.errors]
    assert found == [
        ("bad-name", 2, "x.tocsin"),
        ("bad-type", 3, "x.tocsin"),
        ("bad-type", 4, "x.tocsin"),
        ("bad-duration", 5, "x.tocsin"),
        ("unknown-key", 6, "x.tocsin"),
    ]


def test_a_head_without_an_end_is_refused() -> None:
    with pytest.raises(PipelineErrors, match="bad-rule-file"):
        split_rule("x.tocsin", "---\nname: A\n")
