"""A language that another package brings: found by its entry point, and run like one of ours."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import types as T

import tocsin
from tocsin.cli import main
from tocsin.errors import InputError, PatternErrors
from tocsin.languages import registry
from tocsin.runtime.program import from_bytes
from tocsin.runtime.stream.rule_book import Rule
from tocsin.spark.query import EventColumns
from tocsin.spark.rules.compile_rules import RuleSettings, compile_rules
from tocsin.spark.stream.stream_options import StreamOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ARROWS = '''
"""Patterns as arrows: `Open -> Close` is an Open event, and then a Close event."""

import re

from tocsin.algebra.tokens.pattern import Atom, EventSpec, Order, Sequence
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.errors import PatternError, PatternErrors, Span
from tocsin.languages.language import Language


def read(text, options, context):
    errors, atoms = [], []
    for word in re.finditer(r"[^>\\s-]+", text):
        name = word[0]
        if not name.isidentifier():
            span = Span(text, word.start(), word.end())
            errors.append(PatternError("bad-name", f"{name!r} is not the name of an event", span, "write A -> B"))
        atoms.append(Atom((EventSpec(name),)))
    if errors:
        raise PatternErrors(errors)
    pattern = atoms[0] if len(atoms) == 1 else Sequence(tuple(atoms), Order.STRONG)
    return Subscription(pattern, interpretation=options, selection=context.selection or Selection(), name=context.name)


def show(subscription):
    return " -> ".join(part.accept[0].name for part in subscription.pattern.parts)


LANGUAGE = Language(
    name="arrows", title="the arrow language", family="tokens", endings=(".arrows",), parse=read, show=show
)
'''
CASES = """\
- name: two doors
  language: arrows
  pattern: Open -> Close
  events: [Open @ 1s, Open @ 2s, Close @ 3s]
  matches: [[1, 3], [2, 3]]
- name: in another language
  language: arrows
  pattern: Open -> Close
  events: [Close @ 1s]
  matches: []
- name: no name
  language: arrows
  pattern: Open -> 1
  error: bad-name
"""
PIPELINE = """\
[[source]]
name = "doors"
format = "csv"
path = "doors.csv"
time_unit = "s"

[[subscription]]
name = "Through"
key = "room"
file = "through.arrows"

[[subscription]]
name = "Twice"
key = "room"
language = "arrows"
pattern = "Through -> Open"
events = ["Through"]

[[sink]]
format = "console"
"""

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a package with an entry point where Python looks for packages."""

    def installed(module: str, code: str, entry: str, name: str = "arrows") -> Path:
        home = tmp_path / f"site-{module}"
        info = home / f"{module.replace('_', '-')}-1.0.dist-info"
        info.mkdir(parents=True)
        (home / f"{module}.py").write_text(code)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[tocsin.languages]\n{name} = {entry}\n")
        monkeypatch.syspath_prepend(str(home))
        monkeypatch.delitem(sys.modules, module, raising=False)
        return tmp_path

    return installed


@pytest.fixture
def arrows(install: Install) -> Path:
    return install("spell_arrows", ARROWS, "spell_arrows:LANGUAGE")


def test_it_is_found_by_name_and_by_ending(arrows: Path) -> None:
    own = registry.language("arrows")
    assert own in registry.languages()
    assert registry.known_names()[-1] == "arrows"
    assert registry.language_of_file("door.arrows") == own
    assert tocsin.parse("Open -> Close", "arrows") == tocsin.parse("[Open];[Close]")
    assert registry.show(tocsin.parse("[Open];[Close]"), "arrows") == "Open -> Close"
    with pytest.raises(InputError, match="did you mean 'arrows'"):
        registry.language("arows")
    with pytest.raises(InputError, match="the arrow language has no option 'restat'"):
        tocsin.parse("Open", "arrows", options={"restat": "always"})


def test_without_the_package_there_is_no_such_language() -> None:
    with pytest.raises(InputError, match="there is no language 'arrows'"):
        registry.language("arrows")


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "import nothing_of_that_name",
            "the package broken brings no language 'arrows': ModuleNotFoundError",
        ),
        ("LANGUAGE = 1", "the package broken brings 1 as the language 'arrows'"),
        ("", "the package broken brings no language 'arrows': AttributeError"),
        (
            ARROWS.replace('"arrows"', '"core"'),
            "the package broken brings a language for 'core', which is one of",
        ),
        (
            ARROWS.replace('".arrows"', '".ecl"'),
            "the package broken brings a language for '.ecl', which is one of",
        ),
    ],
)
def test_a_broken_package_is_named(
    install: Install, code: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    install("broken", code, "broken:LANGUAGE")
    assert main(["explain", "Open -> Close", "--language", "arrows"]) == 2
    printed = capsys.readouterr().err
    assert says in printed
    assert "hint: " in printed
    assert "Traceback" not in printed
    assert tocsin.parse("[A]").name == "pattern"  # ours are as they were


def test_ours_cannot_be_replaced(install: Install) -> None:
    install("core_again", ARROWS, "core_again:LANGUAGE", name="core")
    assert registry.parse("[A];[B]", "core") == registry.parse("[A];[B]", "cambridge-core")


def test_two_packages_with_one_language(install: Install) -> None:
    install("spell_arrows", ARROWS, "spell_arrows:LANGUAGE")
    install("more_arrows", ARROWS, "more_arrows:LANGUAGE")
    with pytest.raises(InputError, match=r"both bring a language for 'arrows'[\s\S]*uninstall one"):
        registry.languages()


def test_it_is_explained(arrows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (arrows / "through.arrows").write_text("Open -> Close\n")
    assert main(["explain", f"@{arrows / 'through.arrows'}"]) == 0
    printed = capsys.readouterr().out
    assert "pattern\n  [Open];[Close]\n" in printed
    assert "automaton" in printed


def test_it_is_checked_by_its_ending(arrows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (arrows / "through.arrows").write_text("Open -> Close\n")
    (arrows / "fuel.ecl").write_text("subscribe Low {repeat {push(low) {Fuel}}}")
    assert main(["check", str(arrows / "through.arrows"), str(arrows / "fuel.ecl")]) == 0
    printed = capsys.readouterr().out
    assert "pattern through\n  detectors          1\n" in printed
    assert "subscription Low\n" in printed
    assert tocsin.check("Open -> Close", "arrows").examined[0].counts["states"] == 2
    (arrows / "through.arrows").write_text("Open -> 1\n")
    assert main(["check", str(arrows / "through.arrows")]) == 2
    assert "through.arrows, line 1, column 9" in capsys.readouterr().err


SHORT = '''
"""Programs and libraries that are one word each: they say nothing but how they are parsed and shown."""

from tocsin.languages import ecl, ksu
from tocsin.languages.language import Language

COMPLETION = Language(
    name="each", title="the language of each", family="completion", sends=True, selects=False, endings=(".each",),
    parse=lambda text, options, context: ecl.parse(f"repeat {{push(seen) {{{text.strip()}}}}}", interpretation=options),
    show=lambda program: "each",
)
CORRELATION = Language(
    name="both", title="the language of both", family="correlation", sends=True, selects=False, endings=(".both",),
    parse=lambda text, options, context: ksu.parse(
        f"N correlation {text.strip()} (E a, E b) l:(a+b) {{ case l: push a }}"
    ),
    show=lambda library: "both",
)
'''


def test_languages_of_other_families_bring_no_printers(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    home = install("each_thing", SHORT, "each_thing:COMPLETION", name="each")
    install("both_things", SHORT, "both_things:CORRELATION", name="both")
    found = tocsin.explain("Door", "each")
    assert (found.family, found.language, found.text) == (
        "completion",
        "each",
        "repeat {push(seen) {Door}}",
    )
    found = tocsin.explain("Pair", "both")
    assert (found.family, found.text.split(" (")[0]) == ("correlation", "N correlation Pair")
    (comparison, *_) = tocsin.check("Door", "each", compare_with="Door").comparisons
    assert comparison.holds
    (home / "door.each").write_text("Door")
    (home / "hand.ecl").write_text("repeat {push(seen) {Door}}")
    (home / "pair.both").write_text("Pair")
    files = [str(home / name) for name in ("door.each", "hand.ecl", "pair.both")]
    assert main(["check", *files, "--equal", "door", "hand"]) == 0
    assert capsys.readouterr().out == "yes: door and hand do the same\n"
    assert main(["explain", f"@{files[0]}", "--code", str(home / "door.py")]) == 0
    assert "Subscriptions of the language of each: M" in (home / "door.py").read_text()
    capsys.readouterr()
    assert main(["explain", f"@{files[2]}", "--types", "t.idl"]) == 2
    assert "the language of both has no --types" in capsys.readouterr().err


def test_a_family_that_nobody_knows(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    code = """
from tocsin.explain import Explanation
from tocsin.languages.language import Language
LANGUAGE = Language(
    name="odd", title="the odd language", family="odd", parse=lambda text, options, context: text, show=str,
    options="tocsin.algebra.tokens.subscription:Interpretation", value=str,
    explain=lambda parsed: Explanation("odd", parsed.language.name, parsed.value, ()),
)
"""
    install("odd_one", code, "odd_one:LANGUAGE", name="odd")
    assert tocsin.explain("whatever", "odd").text == "whatever"
    with pytest.raises(
        InputError, match="the odd language cannot be checked: neither it nor its family has a part 'check'"
    ):
        tocsin.check("whatever", "odd")
    assert main(["explain", "whatever", "--language", "odd", "--code", "x.py"]) == 2
    assert "the odd language has no --code" in capsys.readouterr().err


def test_its_cases_run_on_the_reference_and_the_kernels(
    arrows: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (arrows / "cases.yaml").write_text(CASES)
    assert main(["test", str(arrows / "cases.yaml"), "--engine", "reference,local"]) == 0
    assert capsys.readouterr().out == "6 passed, 0 failed, 0 skipped\n"


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("engine", ["spark", "stream"])
def test_its_cases_run_on_spark(
    spark: SparkSession, arrows: Path, capsys: pytest.CaptureFixture[str], engine: str
) -> None:
    (arrows / "cases.yaml").write_text(CASES)
    assert main(["test", str(arrows / "cases.yaml"), "--engine", engine]) == 0
    assert "3 passed, 0 failed, 0 skipped" in capsys.readouterr().out


@pytest.mark.spark
@pytest.mark.slow
def test_it_is_detected(spark: SparkSession, arrows: Path) -> None:
    frame = spark.createDataFrame(
        [(1, 1, "Open"), (2, 2, "Open"), (3, 3, "Close")], "id long, t long, type string"
    )
    found = tocsin.detect(
        frame, "Open -> Close", tocsin.Columns(time_unit="s", id="id"), language="arrows", time="t"
    )
    assert sorted(tuple(c.id for c in row.constituents) for row in found.collect()) == [
        ("1", "3"),
        ("2", "3"),
    ]


def test_a_service_takes_it(arrows: Path) -> None:
    service = tocsin.Service()
    for name in ("Open", "Close"):
        service.register_type(name)
    found: list[tuple[object, ...]] = []
    service.subscribe("Open -> Close", lambda one: found.append(tuple(one.ids)), language="arrows")
    for second, name in enumerate(("Open", "Open", "Close"), start=1):
        service.publish(service.create_event(name, at=second * 1_000_000, id=second))
    service.close()
    assert sorted(found) == [(1, 3), (2, 3)]


def test_a_rule_of_a_running_stream_may_be_written_in_it(arrows: Path) -> None:
    columns = EventColumns("type", "Event", ("t", "t"), "s", (), "id", None)
    schema = T.StructType([T.StructField("type", T.StringType()), T.StructField("t", T.LongType())])
    settings = RuleSettings(schema, columns, ("t",), StreamOptions(delay=0), "core")
    rules = (Rule("through", "Open -> Close", "arrows"), Rule("back", "[Close];[Open]"))
    (group,) = compile_rules(settings, rules).groups
    assert [output.name for output in from_bytes(group.plan).outputs] == ["through", "back"]
    with pytest.raises(PatternErrors, match="'1' is not the name of an event"):
        compile_rules(settings, (Rule("wrong", "Open -> 1", "arrows"),))


@pytest.mark.spark
@pytest.mark.slow
def test_a_stream_whose_rules_change_begins_with_it(spark: SparkSession, arrows: Path) -> None:
    (arrows / "in").mkdir()
    names = {0: "Open", 1: "Close", 60: "Last"}  # the last event moves the watermark past the others
    lines = [f'{{"id": {second}, "t": {second}, "type": "{name}"}}\n' for second, name in names.items()]
    (arrows / "in" / "1.json").write_text("".join(lines))
    events = spark.readStream.schema("id long, t long, type string").json(str(arrows / "in"))
    found = tocsin.detect(
        events,
        {"through": "Open -> Close"},
        tocsin.Rules(arrows / "rules"),
        tocsin.Columns(time_unit="s", id="id"),
        tocsin.Stream(delay="2s", shards=1),
        language="arrows",
        time="t",
    )
    rows: list[tuple[object, ...]] = []

    def note(batch: DataFrame, _: int) -> None:
        rows.extend((row.pattern, tuple(c.id for c in row.constituents)) for row in batch.collect())

    query = found.writeStream.foreachBatch(note).option("checkpointLocation", str(arrows / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()
    assert rows == [("through", ("0", "1"))]


@pytest.mark.spark
@pytest.mark.slow
def test_it_runs_in_a_pipeline(spark: SparkSession, arrows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (arrows / "doors.csv").write_text("time,type,room\n1,Open,A\n2,Open,B\n3,Close,A\n4,Open,A\n")
    (arrows / "through.arrows").write_text("Open -> Close\n")
    (arrows / "pipeline.toml").write_text(PIPELINE)
    assert main(["run", str(arrows / "pipeline.toml"), "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["matches"] == {"Through": 1, "Twice": 1}
