"""Reading a pipeline file: every mistake at once, each with its line, and none left for Spark to find."""

from __future__ import annotations

from pathlib import Path

import pytest

from tocsin.algebra.tokens.selection import Selection
from tocsin.errors import PipelineError, PipelineErrors
from tocsin.spark.pipeline import read_pipeline
from tocsin.spark.pipeline.file.document import Document
from tocsin.spark.pipeline.plan.jobs import plan_jobs

GOOD = """\
[pipeline]
name = "doors"

[event.Open]
room = "string"

[event.Close]
room = "string"
seconds = "float"

[[source]]
name = "doors"
format = "jsonl"
path = "doors.jsonl"

[[subscription]]
name = "Opened"
key = "room"
pattern = "[Open];[Close]"

[[sink]]
format = "parquet"
path = "out"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an empty source in it."""
    (tmp_path / "doors.jsonl").touch()
    return tmp_path


def mistakes(folder: Path, text: str) -> list[tuple[str, int]]:
    """The codes of the mistakes in a file, with their lines."""
    path = folder / "pipeline.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PipelineErrors) as raised:
        read_pipeline(path)
    assert all(error.file is not None for error in raised.value.errors)
    return [(error.code, error.span.line_column[0] if error.span else 0) for error in raised.value.errors]


def replaced(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, "the test replaces something that is not there once"
    return GOOD.replace(old, new)


def test_a_good_file_is_read_whole(folder: Path) -> None:
    path = folder / "pipeline.toml"
    path.write_text(GOOD)
    pipeline = read_pipeline(path)
    assert pipeline.name == "doors"
    assert [source.location for source in pipeline.sources] == [str(folder / "doors.jsonl")]
    assert pipeline.subscriptions[0].key == ("room",)
    assert pipeline.sinks[0].subscriptions == ("Opened",)
    assert pipeline.declarations.strict


def test_three_mistakes_are_reported_at_once_with_file_and_line(folder: Path) -> None:
    text = GOOD.replace('name = "doors"\nformat', 'nam = "doors"\nformat').replace('"float"', '"flaot"')
    text = text.replace('path = "out"', 'path = "out"\nmode = "overwrit"')
    path = folder / "pipeline.toml"
    path.write_text(text)
    with pytest.raises(PipelineErrors) as raised:
        read_pipeline(path)
    shown = str(raised.value)
    assert f"({path}, line 9, column 11)" in shown
    assert "9 | seconds = \"flaot\"\n  |           ^^^^^^^\nhint: did you mean 'float'?" in shown
    assert "12 | nam = \"doors\"\n   | ^^^\nhint: did you mean 'name'?" in shown
    assert "hint: did you mean 'overwrite'?" in shown
    codes = [error.code for error in raised.value.errors]
    assert codes == ["bad-value", "missing-key", "unknown-key", "bad-value"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[[sink]]", "[sinks]", [("unknown-key", 21)]),
        ('format = "parquet"', 'format = "orc"', [("bad-value", 22)]),
        ('format = "jsonl"', "format = 3", [("bad-type", 13)]),
        ('format = "jsonl"\n', "", [("missing-key", 11)]),
        ('path = "doors.jsonl"', 'path = "windows.jsonl"', [("no-file", 14)]),
        ('path = "doors.jsonl"', 'path = "*.json"', [("no-file", 14)]),
        ('path = "doors.jsonl"', "path = ''", [("bad-value", 14)]),
        ('path = "doors.jsonl"', 'table = "doors"', [("missing-key", 11), ("bad-value", 14)]),
        ('path = "doors.jsonl"', 'path = "doors.jsonl"\ntime_unit = "m"', [("bad-value", 15)]),
        ('path = "doors.jsonl"', 'path = "doors.jsonl"\nstart = "s"', [("missing-key", 11)]),
        ('path = "doors.jsonl"', 'path = "doors.jsonl"\ntype="a"\nevent_type="Open"', [("bad-value", 16)]),
        ('path = "doors.jsonl"', 'path = "doors.jsonl"\nevent_type = "Opn"', [("unknown-type", 15)]),
        ('path = "doors.jsonl"', 'path = "doors.jsonl"\nseparator = ";"', [("bad-value", 15)]),
        ('key = "room"', "key = ['rom', 'seconds']", [("unknown-attribute", 18)]),
        ('key = "room"', "key = ['room', 3]", [("bad-type", 18)]),
        ('key = "room"', 'language = "cor"', [("unknown-language", 18)]),
        ('key = "room"', "options = { restart = 'sometimes' }", [("bad-option", 18)]),
        ('key = "room"', "options = { restrat = 'always' }", [("unknown-option", 18)]),
        ('key = "room"', "attributes = ['temp']", [("unknown-attribute", 18)]),
        ('key = "room"', "events = ['Clsed']", [("unknown-subscription", 18)]),
        ('key = "room"', "events = ['Opened']", [("subscription-loop", 18)]),
        ('name = "Opened"', 'name = "Open"', [("duplicate-name", 17)]),
        ('name = "Opened"', 'name = "Door opened"', [("bad-name", 17)]),
        ('pattern = "[Open];[Close]"', 'file = "opened.tocsin"', [("no-file", 19)]),
        ('pattern = "[Open];[Close]"', "", [("missing-key", 16)]),
        ('pattern = "[Open];[Close]"', "pattern = ''", [("bad-value", 19)]),
        ('room = "string"\nseconds', 'room = "int"\nseconds', [("attribute-clash", 8)]),
        ('room = "string"\nseconds', 'Room = "string"\nseconds', [("attribute-clash", 8)]),
        ("[event.Close]", "[event.Close]\nextends = 'Opn'", [("unknown-type", 8)]),
        ("[event.Close]", "[event.Close]\nextends = 'Close'", [("type-loop", 8)]),
        ("[[source]]", "[set]\nDoor = ['Open', 'Shut']\n\n[[source]]", [("unknown-type", 12)]),
        ('name = "doors"\n\n', 'max_partial_matches = 0\n\n', [("bad-value", 2)]),
        ('name = "doors"\n\n', 'strict_types = "yes"\n\n', [("bad-type", 2)]),
        ('path = "out"', 'path = "out"\nsubscriptions = ["Shut"]', [("unknown-subscription", 24)]),
        ('path = "out"', "", [("missing-key", 21)]),
        ('path = "out"', 'path = "doors.jsonl"', [("overwrites-source", 23)]),
    ],
)  # fmt: skip
def test_a_mistake_is_found_and_named_by_its_line(
    folder: Path, old: str, new: str, expected: list[tuple[str, int]]
) -> None:
    assert mistakes(folder, replaced(old, new)) == expected


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("{ type = 'Open', by = ['room'], every = 'soon' }", "bad-duration"),
        ("{ type = 'Open', by = ['room'], every = '0s' }", "bad-duration"),
        ("{ type = 'Opn', by = ['room'], every = '1min' }", "unknown-type"),
        ("{ type = 'Open', by = ['rom'], every = '1min' }", "unknown-attribute"),
        ("{ type = 'Open', every = '1min' }", "missing-key"),
        ("{ type = 'Open', by = ['room'], per = '1min', every = '1min' }", "unknown-key"),
        ("3", "bad-type"),
    ],
)
def test_mistakes_in_limits_are_named_by_their_line(folder: Path, limit: str, code: str) -> None:
    text = replaced('path = "doors.jsonl"', f'path = "doors.jsonl"\nlimit = [\n  {limit},\n]')
    assert mistakes(folder, text) == [(code, 15 if code == "bad-type" else 16)]


def test_pattern_errors_are_underlined_in_the_pipeline_file(folder: Path) -> None:
    path = folder / "pipeline.toml"
    path.write_text(
        replaced('pattern = "[Open];[Close]"', "pattern = '''\n[Open];\n[Close(secs < 3)]\n[Shut]'''")
    )
    with pytest.raises(PipelineErrors) as raised:
        read_pipeline(path)
    assert str(raised.value) == (
        f"unknown-attribute: Close has no attribute 'secs' ({path}, line 21, column 8)\n"
        "21 | [Close(secs < 3)]\n"
        "   |        ^^^^\n"
        "hint: did you mean 'seconds'?\n\n"
        f"unknown-type: there is no event type 'Shut' ({path}, line 22, column 2)\n"
        "22 | [Shut]'''\n"
        "   |  ^^^^\n"
        "hint: known: Close, Open"
    )


def test_pattern_errors_in_a_text_with_escapes_are_named_by_the_line_of_the_key(folder: Path) -> None:
    assert mistakes(folder, replaced('"[Open];[Close]"', '"[Open];\\u005bClos]"')) == [("unknown-type", 19)]


def test_pattern_errors_in_a_file_of_its_own_name_that_file(folder: Path) -> None:
    (folder / "opened.tocsin").write_text("[Open];\n[Clos]\n")
    path = folder / "pipeline.toml"
    path.write_text(replaced('pattern = "[Open];[Close]"', 'file = "opened.tocsin"'))
    with pytest.raises(PipelineErrors) as raised:
        read_pipeline(path)
    (error,) = raised.value.errors
    assert error.file == str(folder / "opened.tocsin")
    assert error.span is not None
    assert error.span.line_column == (2, 2)
    assert error.hint == "did you mean 'Close'?"


@pytest.mark.parametrize(
    ("text", "line"),
    [('[pipeline]\nname = "doors\n', 2), ("[pipeline\n", 1), ("a = 1\na = 2\n", 2)],
)
def test_what_is_not_toml_is_refused_with_its_line(folder: Path, text: str, line: int) -> None:
    path = folder / "pipeline.toml"
    path.write_text(text)
    with pytest.raises(PipelineError) as raised:
        read_pipeline(path)
    assert raised.value.code == "toml-syntax"
    assert raised.value.span is not None
    assert raised.value.span.line_column[0] == line


def test_a_missing_file_is_said_to_be_missing(folder: Path) -> None:
    with pytest.raises(PipelineError, match=r"there is no file .*other\.toml"):
        read_pipeline(folder / "other.toml")


def test_a_file_without_sources_and_subscriptions_is_refused(folder: Path) -> None:
    assert mistakes(folder, "") == [("missing-key", 0), ("missing-key", 0)]


def two_subscriptions(first: str = "", second: str = "", pattern: str = "[Opened];[Open]") -> str:
    more = f'[[subscription]]\nname = "Again"\npattern = "{pattern}"\n{second}\n\n[[sink]]'
    return replaced('key = "room"', f'key = "room"\n{first}').replace("[[sink]]", more)


def test_a_loop_of_subscriptions_is_refused_and_named(folder: Path) -> None:
    path = folder / "pipeline.toml"
    path.write_text(two_subscriptions("events = ['Again']", "events = ['Opened']"))
    with pytest.raises(PipelineErrors, match="in a loop: Opened → Again → Opened") as raised:
        read_pipeline(path)
    assert [error.code for error in raised.value.errors] == ["subscription-loop"]


def test_a_composite_must_be_listed_and_has_its_variables_and_key_as_attributes(folder: Path) -> None:
    assert mistakes(folder, two_subscriptions()) == [("unlisted-composite", 24)]
    wrong = two_subscriptions("", "events = ['Opened']", "[Opened(rom = '1')];[Open]")
    assert mistakes(folder, wrong) == [("unknown-attribute", 24)]
    right = two_subscriptions("", "events = ['Opened']", "[Opened(room = '1')];[Open]")
    (folder / "pipeline.toml").write_text(right)
    assert len(plan_jobs(read_pipeline(folder / "pipeline.toml")).jobs) == 2


def test_a_composite_without_the_key_of_its_user_is_refused(folder: Path) -> None:
    text = two_subscriptions("", "events = ['Opened']\nkey = 'seconds'")
    assert mistakes(folder, text) == [("composite-without-key", 26)]


def test_subscriptions_with_the_same_key_are_one_job(folder: Path) -> None:
    (folder / "pipeline.toml").write_text(two_subscriptions("", "events = ['Opened']\nkey = 'room'"))
    (job,) = plan_jobs(read_pipeline(folder / "pipeline.toml")).jobs
    assert job.names == ("Opened", "Again")
    assert job.reads == ()
    again, _ = job.compiled.graph.outputs[1]
    assert [definition.name for definition in again.definitions] == ["Opened"]


WANTED = replaced(
    'pattern = "[Open];[Close]"', 'pattern = "[Open];[Close]"\nmatches = "leftmost"\ntake = "count"'
)
USER = """
[[subscription]]
name = "Often"
key = "room"
events = ["Opened"]
pattern = "[Opened(count > 1)];[Close]"
"""


def test_a_subscription_says_which_matches_it_wants_unless_its_pattern_does(folder: Path) -> None:
    path = folder / "pipeline.toml"
    path.write_text(WANTED)
    ((subscription, _),) = plan_jobs(read_pipeline(path)).jobs[0].compiled.graph.outputs
    assert subscription.selection == Selection.of("leftmost", "count")
    path.write_text(WANTED.replace('[Close]"', '[Close] with matches = each"'))
    ((subscription, _),) = plan_jobs(read_pipeline(path)).jobs[0].compiled.graph.outputs
    assert subscription.selection == Selection.of("each", "count")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            '"leftmost"\ntake = "count"',
            '"leftmst"\ntake = "first"',
            [("bad-selection", 20), ("bad-selection", 21)],
        ),
        ('"leftmost"', "3", [("bad-type", 20)]),
        ('take = "count"', 'language = "ecl"', [("unknown-option", 20)]),
        ('"[Open];[Close]"', "\"[Open] where Open.room = '1'\"", [("count-where", 19)]),
    ],
)
def test_mistakes_in_a_selection_are_named_by_their_line(
    folder: Path, old: str, new: str, expected: list[tuple[str, int]]
) -> None:
    assert WANTED.count(old) == 1
    assert mistakes(folder, WANTED.replace(old, new)) == expected


def test_composites_of_which_only_some_are_wanted_become_rows(folder: Path) -> None:
    path = folder / "pipeline.toml"
    path.write_text(WANTED + USER)
    plan = plan_jobs(read_pipeline(path))
    assert [job.reads for job in plan.jobs] == [(), ("Opened",)]
    assert dict(plan.composites["Opened"][0].attributes) == {"room": "string", "count": "int"}
    # All of its matches, asked for nothing that they have not: one job.
    path.write_text(GOOD + USER.replace("(count > 1)", ""))
    assert [job.reads for job in plan_jobs(read_pipeline(path)).jobs] == [()]


def test_adjacent_events_are_no_composites_and_stay_apart_from_them(folder: Path) -> None:
    adjacent = USER.replace("pattern", 'matches = "adjacent"\npattern')
    assert [code for code, _ in mistakes(folder, WANTED + adjacent)] == ["adjacent-composites"]
    alone = USER.replace("Often", "Alone").replace('events = ["Opened"]', 'matches = "adjacent"')
    path = folder / "pipeline.toml"
    path.write_text(WANTED + USER + alone.replace("[Opened(count > 1)]", "[Open]"))
    jobs = plan_jobs(read_pipeline(path)).jobs
    # With the user of composites in one job, rows of these would lie between the neighbours.
    assert [(job.names, job.reads) for job in jobs] == [(("Opened", "Alone"), ()), (("Often",), ("Opened",))]


def test_an_output_that_is_there_is_not_overwritten_unless_the_file_says_so(folder: Path) -> None:
    (folder / "out" / "Opened").mkdir(parents=True)
    (folder / "out" / "Opened" / "part-00000.parquet").touch()
    assert mistakes(folder, GOOD) == [("output-exists", 23)]
    overwriting = replaced('path = "out"', 'path = "out"\nmode = "overwrite"')
    assert mistakes(folder, overwriting) == [("not-an-output", 23)]  # it does not carry our mark
    (folder / "out" / "Opened" / "_tocsin.json").touch()
    (folder / "pipeline.toml").write_text(overwriting)
    read_pipeline(folder / "pipeline.toml")
    (folder / "out" / "Opened" / "thesis.tex").touch()
    assert mistakes(folder, overwriting) == [("not-an-output", 23)]


def test_two_outputs_in_one_place_are_refused(folder: Path) -> None:
    assert mistakes(folder, GOOD + GOOD[GOOD.index("[[sink]]") :]) == [("duplicate-output", 26)]
    assert mistakes(folder, GOOD + "[dead_letters]\npath = 'out'\n") == [("duplicate-output", 25)]


def test_a_key_is_found_wherever_toml_allows_it_to_stand() -> None:
    text = (
        "# a comment with = and [brackets]\n"
        "top.inner = 1 # [not.a.table]\n"
        '[[a]]\nx = """\n[[a]]\n"""\n\'y z\'.w = { k = [1, { deep = "}" }] }\n'
        "[[a]]\n[[a.b]]\n[a.b.c]\nx = 2004-01-31 10:00:00\ny = 1\n"
    )
    document = Document("x.toml", text)
    places = {
        ("top", "inner"): 2,
        ("a", 0): 3,
        ("a", 0, "x"): 4,
        ("a", 0, "y z", "w", "k", 1, "deep"): 7,
        ("a", 1): 8,
        ("a", 1, "b", 0): 9,
        ("a", 1, "b", 0, "c"): 10,
        ("a", 1, "b", 0, "c", "y"): 12,
        ("a", 1, "b", 0, "c", "missing"): 10,
    }
    found = {place: span.line_column[0] for place in places if (span := document.span(place))}
    assert found == places


@pytest.mark.parametrize(
    ("format", "more"), [("jsonl", "multiline = true"), ("csv", "multiline = true\nstream = true")]
)
def test_line_breaks_in_fields_are_for_csv_files_of_a_batch(folder: Path, format: str, more: str) -> None:
    (folder / "in").mkdir()
    text = replaced('format = "jsonl"\npath = "doors.jsonl"', f'format = "{format}"\npath = "in"\n{more}')
    assert ("bad-value", 15) in mistakes(folder, text)
