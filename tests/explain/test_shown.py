"""Explanations and reports as HTML, as pictures and as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import pytest

import tocsin
from tocsin.cli import main
from tocsin.errors import LimitError
from tocsin.explain import CheckReport, Explanation
from tocsin.explain.drawing import draw
from tocsin.languages.ecl import parse_machine

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<script>alert(1)</script>"
COR = "N correlation Latest (E a, E b, E c) l1:(a;b) | l2:(b;a) || k:c { case l1: push b; case k: push c }"


def _everything() -> list[Explanation | CheckReport]:
    ecl = f'repeat {{push("{EVIL}") {{do {{accumulate {{a, <n = "{EVIL}">}}}} unless {{c}}}}}}'
    return [
        tocsin.explain(f"[A(n='{EVIL}')];[B in {{B,X}}]* || [C(k<1 AND k>2)]"),
        tocsin.explain(ecl, "ecl"),
        tocsin.explain(COR, "ksu"),
        tocsin.check(f"[A(n='{EVIL}' AND n='x')]"),
        tocsin.check(ecl, "ecl", compare_with=ecl),
        tocsin.check(COR, "ksu"),
    ]


@pytest.mark.parametrize("number", range(6))
def test_html_is_well_formed_escaped_and_by_itself(number: int) -> None:
    html = _everything()[number]._repr_html_()
    root = ElementTree.fromstring(html)
    names = {node.tag.removeprefix(SVG) for node in root.iter()}
    assert not names & {"script", "link", "img", "iframe", "object", "image", "use", "foreignObject"}
    attributes = {name for node in root.iter() for name in node.attrib}
    assert not {name for name in attributes if name.startswith("on") or name in ("href", "src")}
    addresses = html.replace("http://www.w3.org/2000/svg", "")
    assert "://" not in addresses
    assert "@import" not in addresses
    assert EVIL not in html


def test_html_shows_the_pattern_its_tree_its_automaton_its_cost_and_warnings() -> None:
    root = ElementTree.fromstring(_everything()[0]._repr_html_())
    headings = [node.text for node in root.iter("h4")]
    assert headings == [
        "pattern",
        "matches",
        "tree",
        "detectors",
        "automaton of D0",
        "automaton of D1",
        "automaton of D2",
        "predicates",
        "runs",
        "needs",
        "partial matches",
        "warnings",
    ]
    assert len(list(root.iter(f"{SVG}svg"))) == 3
    assert EVIL in "".join(root.itertext())
    assert "never-true" in "".join(root.itertext())


def test_pictures_on_one_page_do_not_share_ids_or_styles() -> None:
    root = ElementTree.fromstring(_everything()[0]._repr_html_())
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    assert len(ids) == 3 == len(set(ids))
    for style in root.iter(f"{SVG}style"):
        rules = [rule for rule in (style.text or "").replace("\n", "").split("}") if rule]
        assert all(
            one.startswith(".tocsin-drawing") for rule in rules for one in rule.split("{")[0].split(",")
        )


@pytest.mark.parametrize("number", range(6))
def test_json_and_back(number: int) -> None:
    data = _everything()[number].to_dict()
    assert json.loads(json.dumps(data)) == data


def test_every_section_of_the_json_says_what_it_is() -> None:
    data = tocsin.explain("[A];[B]").to_dict()
    assert (data["family"], data["language"], data["text"]) == ("tokens", "core", "[A];[B]")
    assert [one["kind"] for one in data["sections"]] == [
        "text",
        "matches",
        "tree",
        "detectors",
        "diagram",
        "predicates",
        "kernels",
        "needs",
        "waits",
        "findings",
    ]


def test_a_machine_is_drawn_with_everything_in_it() -> None:
    text = 'repeat {push("<&>") {do {accumulate {a, b}} unless {<alt < 500>}}}'
    (diagram,) = tocsin.explain(text, "ecl").diagrams
    machine = parse_machine(diagram.text or "")
    picture = ElementTree.fromstring(draw([("", diagram)]))
    circles = list(picture.iter(f"{SVG}circle"))
    assert len(circles) == len(machine.states)
    assert len([r for r in picture.iter(f"{SVG}rect") if "box" in r.get("class", "")]) == len(
        machine.transitions
    )
    texts = {node.text for node in picture.iter(f"{SVG}text")}
    assert {"a", "b", "<alt < 500>", 'ε / "<&>"', *machine.states} <= texts
    # No two things at one place.
    places = [(c.get("cx"), c.get("cy")) for c in circles]
    assert len(set(places)) == len(places)


def test_what_is_too_large_is_refused_in_a_picture_and_said_on_a_page() -> None:
    found = tocsin.explain("[A]" * 301)
    with pytest.raises(LimitError, match="too many for a picture"):
        draw([("", found.diagrams[0])])
    assert "D0 has 302 nodes, too many for a picture" in found._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["[A];[B]"], lambda: tocsin.explain("[A];[B]")),
        (["push(x) {a}", "--language", "ecl"], lambda: tocsin.explain("push(x) {a}", "ecl")),
        ([COR, "--language", "ksu"], lambda: tocsin.explain(COR, "ksu")),
    ],
)
def test_the_command_prints_the_value(
    capsys: pytest.CaptureFixture[str], arguments: list[str], value: Any
) -> None:
    assert main(["explain", *arguments]) == 0
    assert capsys.readouterr().out == f"{value()}\n\n"
    assert main(["explain", *arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == value().to_dict()


def test_the_function_and_the_package_share_a_name_in_either_order() -> None:
    """`tocsin.explain` is called and imported from, whichever comes first."""
    first = (
        "import tocsin; assert tocsin.explain('[A]').text == '[A]'; from tocsin.explain import Explanation"
    )
    second = (
        "from tocsin.explain import Explanation; import tocsin; assert tocsin.explain('[A]').text == '[A]'"
    )
    for program in (first, second, "import tocsin; tocsin.explain('[A]'); tocsin.explain('[B]')"):
        subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_the_values_load_no_spark_and_no_compiler_of_kernels() -> None:
    program = (
        "import sys, tocsin.explain, tocsin.explain.contents\n"
        "assert not {'pyspark', 'numba'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
