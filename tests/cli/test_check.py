"""`tocsin check`: answers with their witnesses, warnings, exit codes, and bounds that are said and kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tocsin.cli import main

ECL = """\
define both = accumulate {a, b};
subscribe Both {repeat {push(x) {both}}}
subscribe Ordered {repeat {push(x) {sequential {a, b}}}}
subscribe Swapped {repeat {push(x) {accumulate {b, a}}}}
"""
WARNED = """\
subscribe Never {repeat {push(x) {accumulate {a, false}}}}
subscribe Always {repeat {push(x) {true}}}
subscribe Stuck {push(x) {do {a} unless {b}}}
subscribe Modes {in (a) do {repeat {push(x) {b}}} in (a \\/ n) do {repeat {push(y) {b}}}}
"""
HAND = """\
// An event loop, written by hand.
machine Hand { states off on; initial off;
  trans t1: {off} a clear {off} goto {on};
  trans t2: {on} b clear {on} goto {off} out x; }
"""
COR = """\
Note correlation First (Notify a, Notify b) l:(a+b) { case l: push new Note { n = a.n }; }
Note correlation Second (Notify x, Notify y) x;y || k:(y+x) { case k: push new Note {}; }
"""
IDL = "eventtype Notify { attribute short n; }; eventtype Note { attribute long n; };"
CAD = "connect A.out -> First.a; connect B.out -> First.b; connect B.out -> Second.x; connect A.out -> Second.y;"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with these files, where the commands run."""
    texts = {
        "two.ecl": ECL,
        "warned.ecl": WARNED,
        "hand.ecl": HAND,
        "lib.cor": COR,
        "t.idl": IDL,
        "s.cad": CAD,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def check(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the command; gives the exit code, the output and the errors."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["check", *arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return run


# ECL


def test_every_answer_has_its_witness(check: Any) -> None:
    code, out, err = check("two.ecl")
    assert (code, err) == (0, "")
    both, ordered, *_ = out.split("\n\n")
    assert both.splitlines() == [
        "subscription Both",
        "  trivial    no: any other event is not accepted",
        "  vacuous    no: a b is accepted",
        "  live       yes: every trace can go on to one that is accepted",
        "  influence  a on x, as in b [a]",
        "             b on x, as in a [b]",
        "  state      2 bits: 3 configurations, 3 of them different;"
        " 4 states and 3 transitions, at most 2 active states, as at the start",
    ]
    assert "influence  a on x, as in [a] b" in ordered


def test_subscriptions_are_compared(check: Any) -> None:
    _, out, _ = check("two.ecl")
    assert out.split("compared\n")[1].split("\n\n")[0].splitlines() == [
        "  Both and Swapped do the same",
        "  Ordered is contained in Both, which also accepts b a",
        "  Ordered is contained in Swapped, which also accepts b a",
    ]


def test_warnings_have_a_place_and_decide_only_under_strict(check: Any) -> None:
    code, out, _ = check("warned.ecl")
    assert code == 0
    warnings = out.split("\nwarnings\n")[1]
    for warning in (
        "never-fires: subscription Never accepts no trace of events (warned.ecl, line 1, column 1)",
        "always-fires: subscription Always accepts every event (warned.ecl, line 2, column 1)",
        "gets-stuck: subscription Stuck gets stuck: after b it can accept nothing any more",
        "overlapping-guards: a satisfies the guards of two modes",
    ):
        assert warning in warnings
    assert warnings.count("  | ") == 4
    assert check("warned.ecl", "--strict")[0] == 1
    assert check("two.ecl", "--strict")[0] == 0


def test_json_has_everything(check: Any) -> None:
    code, out, _ = check("two.ecl", "warned.ecl", "--json", "--strict")
    assert code == 1
    two, warned = json.loads(out)["files"]
    assert (two["file"], two["family"], two["findings"]) == ("two.ecl", "completion", [])
    assert two["not_compared"] == {"pairs": 0, "reason": None, "names": []}
    assert two["counts"] == {"examined": 3, "relations": 3, "not_compared": 0, "findings": 0}
    first = two["examined"][0]
    assert (first["name"], first["what"], first["refused"]) == ("Both", "subscription", None)
    assert first["vacuous"] == {"holds": False, "witness": [{"type": "a"}, {"type": "b"}]}
    assert first["live"] == {"holds": True, "witness": None}
    assert first["influence"][0] == {
        "event": {"type": "a"},
        "output": "x",
        "before": [{"type": "b"}],
        "after": [],
    }
    assert (first["state"]["configurations"], first["state"]["bits"]) == (3, 2)
    assert two["relations"][0] == {"kind": "equal", "left": "Both", "right": "Swapped", "witness": None}
    assert [(w["code"], w["line"], w["column"], w["witness"]) for w in warned["findings"]] == [
        ("never-fires", 1, 1, None),
        ("always-fires", 2, 1, None),
        ("gets-stuck", 3, 1, [{"type": "b"}]),
        ("overlapping-guards", 4, 51, [{"type": "a"}]),
    ]
    assert {(w["severity"], w["file"]) for w in warned["findings"]} == {("warning", "warned.ecl")}


def test_an_expression_without_a_name_is_called_like_its_file(check: Any, folder: Path) -> None:
    (folder / "lone.ecl").write_text("repeat {push(x) {sequential {a, b}}}")
    assert check("lone.ecl")[1].startswith("expression lone\n")
    assert check("lone.ecl", "hand.ecl", "--equal", "lone", "Hand")[1] == "yes: lone and Hand do the same\n"


def test_two_can_be_asked_about(check: Any) -> None:
    files = ("two.ecl", "hand.ecl")
    assert check(*files, "--equal", "Ordered", "Hand") == (0, "yes: Ordered and Hand do the same\n", "")
    code, out, _ = check(
        *files, "--equal", "Both", "Hand", "--contains", "Both", "Hand", "--contains", "Hand", "Both"
    )
    assert (code, out.splitlines()) == (
        0,
        [
            "no: Both and Hand differ after b a: Both pushes x, Hand pushes nothing",
            "yes: Both accepts all that Hand accepts",
            "no: Both accepts b a, Hand does not",
        ],
    )
    assert check(*files, "--equal", "Both", "Hand", "--strict")[0] == 1
    answers = json.loads(check(*files, "--equal", "Both", "Hand", "--json")[1])["answers"]
    assert answers == [
        {
            "question": "equal",
            "left": "Both",
            "right": "Hand",
            "holds": False,
            "witness": [{"type": "b"}, {"type": "a"}],
            "words": "Both and Hand differ after b a: Both pushes x, Hand pushes nothing",
        }
    ]


def test_completion_is_part_of_what_is_compared(check: Any, folder: Path) -> None:
    (folder / "one.ecl").write_text(
        "subscribe A {push(x) {a}} subscribe B {push(x) {fail {fail {push(x) {a}}}}}"
    )
    out = check("one.ecl", "--equal", "A", "B")[1]
    does = "A pushes x and has ended in success, B pushes x x and has ended in success"
    assert out == f"no: A and B differ after a: {does}\n"


def test_a_machine_is_examined_like_an_expression(check: Any) -> None:
    _, out, _ = check("hand.ecl")
    assert out.startswith("machine Hand\n")
    assert "vacuous    no: a b is accepted" in out
    assert "compared" not in out


def test_how_ecl_is_read_can_be_chosen(check: Any, folder: Path) -> None:
    (folder / "tie.ecl").write_text("subscribe A {do {a} unless {a}} subscribe B {a}")
    assert check("tie.ecl", "--equal", "A", "B")[1].startswith("yes")
    assert check("tie.ecl", "--equal", "A", "B", "--option", "unless_tie=failure")[1].startswith("no")
    assert "one of success, failure" in check("tie.ecl", "--option", "unless_tie=maybe")[2]


@pytest.mark.slow
def test_what_is_too_large_is_said_and_the_rest_is_answered(check: Any, folder: Path) -> None:
    letters = ", ".join(f"a{i}" for i in range(40))
    (folder / "huge.ecl").write_text(
        f"subscribe Wide {{repeat {{push(x) {{accumulate {{{letters}}}}}}}}}\n"
        "subscribe Long {repeat(100000000) {a}}\n"
        "subscribe Fine {repeat {push(x) {a}}}\nsubscribe Same {repeat {push(x) {a}}}\n"
    )
    code, out, err = check("huge.ecl", "--strict")
    assert (code, err) == (1, "")
    wide, long, fine, *_ = out.split("\n\n")
    assert "the limit is 50,000 cells" in wide
    assert "refused  determinised, this has" in wide
    assert "the limit is 200,000 cells" in wide
    assert "refused  the machine would have 300,000,002 states; the limit for a text is 8,000" in long
    assert "live       yes" in fine
    assert "Fine and Same do the same\n  Wide not compared\n  Long not compared" in out
    assert out.count("not-analysed") == 2
    code, out, err = check("huge.ecl", "--equal", "Wide", "Fine")
    assert (code, out) == (2, "")
    assert err.startswith("table-too-large")


@pytest.mark.slow
def test_one_file_has_one_budget(check: Any, folder: Path) -> None:
    letters = ", ".join(f"a{i}" for i in range(12))
    text = "".join(
        f"subscribe S{k} {{repeat {{push(x{k}) {{accumulate {{{letters}}}}}}}}}\n" for k in range(60)
    )
    (folder / "many.ecl").write_text(text)
    _, out, _ = check("many.ecl", "--json")
    (found,) = json.loads(out)["files"]
    refused = [one["refused"] for one in found["examined"]]
    assert refused[0] is None
    assert refused[-1] == "the 5,000,000 steps that questions may take are used up"
    assert found["not_compared"]["pairs"] > 0


def test_long_lists_of_influence_are_cut_for_people_only(check: Any, folder: Path) -> None:
    each = ", ".join(f"repeat {{push(x{i}) {{a{i}}}}}" for i in range(30))
    (folder / "wide.ecl").write_text(f"parallel {{{each}}}")
    assert "… 10 more; --json shows all" in check("wide.ecl")[1]
    (found,) = json.loads(check("wide.ecl", "--json")[1])["files"]
    assert len(found["examined"][0]["influence"]) == 30


# KSU


def test_filters_are_counted_and_compared(check: Any) -> None:
    code, out, _ = check("lib.cor")
    assert code == 0
    first, second, compared, _ = out.split("\n\n", 3)
    assert first.splitlines() == ["correlation First", "  l:(a+b)  4 acceptor states; labels: l"]
    assert second.splitlines() == [
        "correlation Second",
        "  x;y      3 acceptor states; labels: none",
        "  k:(y+x)  4 acceptor states; labels: k",
    ]
    assert compared == "filters compared\n  no two of them trigger alike"


def test_an_assembly_tells_which_events_are_the_same(check: Any) -> None:
    _, out, _ = check("lib.cor", "--assembly", "s.cad")
    assert "First and Second, branch 2 trigger alike" in out
    _, out, _ = check("lib.cor", "--assembly", "s.cad", "--json")
    library, assembly = json.loads(out)["files"]
    alike = {"kind": "alike", "left": "First", "right": "Second, branch 2", "witness": None}
    assert library["relations"] == [alike]
    assert library["examined"][0]["branches"][0] == {
        "filter": "l:(a+b)",
        "labels": {"l": "a+b"},
        "acceptor_states": 4,
        "refused": None,
    }
    assert (assembly["file"], assembly["examined"], assembly["findings"]) == ("s.cad", [], [])


def test_warnings_of_a_library_and_its_assembly(check: Any, folder: Path) -> None:
    (folder / "s.cad").write_text("connect A.out -> First.a;")
    code, out, _ = check("lib.cor", "--types", "t.idl", "--assembly", "s.cad", "--strict")
    assert code == 1
    assert (
        "no-label: branch 1 has no label: when it triggers, only negated guards are true (lib.cor, line 2"
        in out
    )
    assert "unbound-event" in out.split("s.cad\n")[-1]


def test_filters_can_be_asked_about(check: Any, folder: Path) -> None:
    (folder / "more.cor").write_text(
        "N correlation Third (E a, E b) l:(a;b)|m:(b;a) { case l: push new N {} }"
    )
    out = check("lib.cor", "more.cor", "--equal", "First", "Third", "--equal", "Second", "Third")[1]
    assert out.splitlines() == [
        "yes: the filters of First and Third trigger alike",
        "no: the filters of Second and Third trigger differently at the end of a b",
    ]


@pytest.mark.slow
def test_large_filters_are_refused_at_a_bound(check: Any, folder: Path) -> None:
    names = [f"a{i}" for i in range(14)]
    events = ", ".join(f"E {name}" for name in names)
    texts = [f"N correlation C{i} ({events}) l:({'+'.join(names[i:] + names[:i])}) {{ }}" for i in range(2)]
    (folder / "wide.cor").write_text("\n".join(texts))
    _, out, _ = check("wide.cor")
    assert out.count("the table of this filter has more than 4,096 states") == 2
    assert "1 pairs not compared: more than 1,000 states" in out


# Patterns


def test_patterns_are_counted_and_warned_about(check: Any, folder: Path) -> None:
    (folder / "cold.tocsin").write_text("[Door];[Temp(t<1 AND t>2)]")
    code, out, err = check("cold.tocsin", "--strict")
    assert (code, err) == (1, "")
    assert out.startswith("pattern cold\n  detectors          1\n")
    assert "never-true: " in out
    assert "(cold.tocsin, line 1, column " in out


def test_the_ending_of_a_file_says_its_language_unless_there_is_none(check: Any, folder: Path) -> None:
    (folder / "cold.txt").write_text('"Door" followed by "Temp"')
    assert "it is not clear what is in cold.txt" in check("cold.txt")[2]
    code, out, _ = check("cold.txt", "two.ecl", "--language", "pretty")
    assert code == 0
    assert "pattern cold\n" in out
    assert "subscription Both\n" in out
    assert (
        "--language is for files whose ending does not say it" in check("two.ecl", "--language", "pretty")[2]
    )
    assert "there is no language 'prety'" in check("cold.txt", "--language", "prety")[2]


def test_an_option_is_for_the_files_whose_language_has_it(check: Any, folder: Path) -> None:
    (folder / "tie.ecl").write_text("subscribe A {do {a} unless {a}} subscribe B {a}")
    asked = ("--equal", "A", "B", "--option", "unless_tie=failure")
    assert check("tie.ecl", "lib.cor", *asked)[1].startswith("no")
    assert check("tie.ecl", "lib.cor", *asked, "--option", "types=@t.idl", "--assembly", "s.cad")[0] == 0
    says = "there is no option 'unless_ti' of ECL and KSU\nhint: did you mean 'unless_tie'?"
    assert says in check("tie.ecl", "lib.cor", "--option", "unless_ti=failure")[2]
    twice = ("--types", "t.idl", "--option", "types=@t.idl")
    assert "--types and --option types=… are one option" in check("lib.cor", *twice)[2]


def test_patterns_are_not_compared(check: Any, folder: Path) -> None:
    (folder / "a.tocsin").write_text("[A]")
    (folder / "b.tocsin").write_text("[B]")
    code, _, err = check("a.tocsin", "b.tocsin", "--equal", "a", "b")
    assert code == 2
    assert (
        "equal cannot be asked of a and b\nhint: equal is for two of one family, but not for patterns" in err
    )


# Mistakes


def test_help_has_examples(check: Any) -> None:
    code, out, _ = check("--help")
    assert code == 0
    assert "examples:\n  tocsin check cold_room.tocsin" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.ecl"], "there is no file nowhere.ecl"),
        (["."], "it is not clear what is in ."),
        (["t.idl"], "name a .cor file, and --types t.idl"),
        (["s.cad"], "name a .cor file, and --assembly s.cad"),
        (["two.ecl", "--types", "t.idl"], "no file here takes --types\nhint: it is for texts of KSU"),
        (["two.ecl", "--equal", "Both", "Orderd"], "did you mean 'Ordered'?"),
        (["two.ecl", "two.ecl", "--equal", "Both", "Ordered"], "there is more than one Both"),
        (["two.ecl", "lib.cor", "--equal", "Both", "First"], "equal is for two of one family"),
        (["lib.cor", "--contains", "First", "Second"], "contains is for expressions and machines"),
        (["two.ecl", "--option", "unless_tie"], "write --option NAME=VALUE"),
        (["two.ecl", "--equal", "Both"], "expected 2 arguments"),
        (["lib.cor", "--types", "nowhere.idl"], "there is no file nowhere.idl"),
        ([], "usage: tocsin check"),
    ],
)
def test_wrong_arguments(check: Any, arguments: list[str], says: str) -> None:
    code, out, err = check(*arguments)
    assert (code, out) == (2, "")
    assert says in err


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("bad.ecl", "repeat {push(x) {accumulate {a, }}}", "(bad.ecl, line 1, column "),
        (
            "bad.ecl",
            "machine M { states q; initial r; }",
            "unknown-state: there is no state 'r' (bad.ecl, line 1",
        ),
        (
            "bad.ecl",
            "machine M { states q r; initial q; trans t: {q} a goto {r}; trans u: {r} eps goto {r}; }",
            "endless-internal-steps: after a M moves for ever without an event (bad.ecl)",
        ),
        (
            "bad.cor",
            "N correlation C (E a) l:b { case l: push a }",
            "unknown-event: event b not declared (bad.cor, line 1",
        ),
    ],
)
def test_mistakes_in_a_file_say_where(check: Any, folder: Path, name: str, text: str, says: str) -> None:
    (folder / name).write_text(text)
    code, out, err = check("two.ecl", name)
    assert (code, out) == (2, "")
    assert says in err


def test_mistakes_of_types_and_assemblies(check: Any, folder: Path) -> None:
    (folder / "t.idl").write_text("eventtype Notify { attribute shrot n; };")
    assert "(t.idl, line 1" in check("lib.cor", "--types", "t.idl")[2]
    (folder / "s.cad").write_text("connect Frist -> X.y;")
    code, out, err = check("lib.cor", "--assembly", "s.cad")
    assert (code, out) == (2, "")
    assert "did you mean 'First'?" in err


def test_all_files_with_mistakes_are_named(check: Any, folder: Path) -> None:
    (folder / "one.ecl").write_text("repeat {")
    (folder / "two.cor").write_text("correlation")
    _, _, err = check("one.ecl", "two.cor", "three.ecl")
    assert "one.ecl" in err
    assert "two.cor" in err
    assert "no file three.ecl" in err
