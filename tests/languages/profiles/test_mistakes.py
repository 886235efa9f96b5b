"""Mistakes in texts, options and descriptions: each has its code, its place, and what to do."""

from __future__ import annotations

import pytest

from tocsin.algebra.pairs.expression import During, Framed, Primitive, Sequence
from tocsin.algebra.pairs.operators import conjunction, negation, sequence
from tocsin.algebra.pairs.profile import Action, Notify, Profile
from tocsin.errors import InputError, PatternError, PatternErrors
from tocsin.languages.profiles import language_from
from tocsin.languages.profiles.classification import GROUPS, HIERARCHY, group_of, least_expressive
from tocsin.languages.profiles.description import built_in_names, description
from tocsin.languages.profiles.refusal import PHRASE
from tocsin.languages.profiles.settings import read_duration, read_time
from tocsin.languages.registry import language

PRIMITIVE_ONLY = ("corba-ns", "elvin", "hermes", "keryx", "salamander")


def _error(name: str, text: str) -> PatternError:
    with pytest.raises(PatternErrors) as caught:
        language(name).read(text)
    error = caught.value.errors[0]
    assert isinstance(error, PatternError)
    return error


@pytest.mark.parametrize(
    ("name", "text", "code", "place"),
    [
        ("snoop", "E1 ;", "syntax", 3),
        ("snoop", "", "syntax", 0),
        ("snoop", "Any(4, a, b)", "bad-count", 0),
        ("snoop", "P(a, 5, b)", "syntax", 5),
        ("snoop", "P(a, [b], c)", "syntax", 6),
        ("snoop", "a ; (b", "syntax", 5),
        ("snoop", "(a ; b))", "syntax", 7),
        ("snoop", "a(x > )", "syntax", 6),
        ("snoop", "a(x > y)", "bad-operand", 6),
        ("snoop", "a(5)", "bad-operand", 2),
        ("snoop", "[context=oldest] a", "bad-option", 9),
        ("snoop", "[contxt=recent] a", "unknown-option", 1),
        ("snoop", "[context=recent a ; b", "bad-option", 9),
        ("gem", "[window=soon] a ; b", "bad-option", 8),
        ("gem", "{a ; b ! c", "syntax", 7),
        ("samos", "NOT a", "syntax", 4),
        ("samos", "a IN 5", "syntax", 5),
        ("samos", "a IN [10, 5]", "empty-interval", 5),
        ("samos", "a IN overlap([0,1], [5,6])", "empty-interval", 5),
        ("yeast", "(a and b) within 5", "bad-operand", 0),
        ("ready", "b ; a[3..2]", "bad-choice", 0),
        ("siena", "A . (B . C)", "bad-operand", 4),
        ("facility-management", "a ; b", "syntax", 2),
        ("facility-management", "(a ; b)_soon", "bad-timeframe", 7),
        ("facility-management", "!a", "timeframe-missing", 0),
        ("elvin", "temp", "bad-operand", 0),
        ("elvin", "x > 1 / 0", "bad-number", 8),
        ("corba-ns", "$type_name == 'A' or $.x == 1", "bad-type", 0),
        ("corba-ns", "temp > 1", "syntax", 0),
    ],
)
def test_mistakes_have_their_place(name: str, text: str, code: str, place: int) -> None:
    error = _error(name, text)
    assert error.code == code, error
    assert error.span is not None
    assert error.span.start == place, error


@pytest.mark.parametrize("name", PRIMITIVE_ONLY)
@pytest.mark.parametrize("text", ["(e1 ; e2)", "e1 ; e2", "e1 then e2", "e1, e2"])
def test_what_cannot_compose_says_so_and_who_can(name: str, text: str) -> None:
    error = _error(name, text)
    assert error.code == "no-such-operator"
    assert PHRASE in error.message
    assert language(name).title in error.message
    assert error.hint is not None
    assert "samos" in error.hint
    assert not set(PRIMITIVE_ONLY) & set(error.hint.replace(",", " ").split())


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("gem", Profile("p", sequence("a", "b", duplicates="last", consumption="keep"))),
        ("elvin", Profile("p", sequence("a", "b"))),
        ("elvin", Profile("p", Primitive("Door"))),
        ("yeast", Profile("p", During(Primitive("a"), 1, 2))),
        ("facility-management", Profile("p", Framed(Sequence((Primitive("a"), Primitive("b"))), 5))),
        ("snoop", Profile("p", Primitive("a"), actions=(Action("ring"),))),
        ("snoop", Profile("p", Primitive("a"), notify=Notify(every=5))),
        ("snoop", Profile("p", Primitive("a"), parameters={"window": "5s"})),
        ("cobea", Profile("p", conjunction("a", negation("b", 5)))),
    ],
)
def test_what_a_language_cannot_say_is_refused(name: str, profile: Profile) -> None:
    with pytest.raises(PatternError, match="not-expressible"):
        language(name).text_of(profile)


def test_options_are_checked() -> None:
    snoop = language("snoop")
    assert snoop.option_names == ["ticks", "context"]
    with pytest.raises(InputError, match="Snoop has no option 'contxt'\nhint: did you mean 'context'"):
        snoop.read("a", {"contxt": "recent"})
    with pytest.raises(InputError, match="the option context cannot be 'oldest'"):
        snoop.read("a", {"context": "oldest"})
    with pytest.raises(InputError, match="the option context cannot be True"):
        snoop.read("a", {"context": True})
    with pytest.raises(InputError, match="a duration such as 5min"):
        language("gem").read("a", {"window": "soon"})
    with pytest.raises(InputError, match="bad-option"):
        language("ready").read("a", {"duplicates": "3..2"})
    with pytest.raises(InputError, match="has no option 'x'"):
        language("hermes").read("a", {"x": 1})
    assert language("gem").read("a ; b", {"window": 720}) == language("gem").read("a ; b")


@pytest.mark.parametrize("text", ["1e9", "-5", "999999999999999999999", "٣", "5 parsecs", ""])
def test_odd_numbers_are_neither_durations_nor_times(text: str) -> None:
    assert read_duration(text) is None
    assert read_time(text) is None


HEAD = 'name = "odd"\ntitle = "Odd"\nsource = "none"\n'
SEQUENCE = '[[operator]]\nname = "sequence"\nsyntax = "<a> then <b>"\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = ", "is not TOML"),
        ('name = "odd"', "has no title"),
        (HEAD + 'colour = "red"', "has a key 'colour'"),
        (HEAD + '[text]\noperators = ["sequnce"]', "operator 'sequnce' that is not known"),
        (HEAD + '[[operator]]\nname = "sequence"', "lacks name, syntax or means"),
        (HEAD + SEQUENCE + 'means = "sequence(a, b)"', "how tightly '<a> then <b>' binds"),
        (HEAD + SEQUENCE + 'level = "then"\nmeans = "sequence(a, b"', "it is no call of a function"),
        (HEAD + SEQUENCE + 'level = "then"\nmeans = "open(a, b)"', "is not known in it"),
        (HEAD + SEQUENCE + 'level = "then"\nmeans = "sequence(a, c)"', "'c' is not known in it"),
        (HEAD + '[option.x]\nkind = "duration"\ndefault = "soon"', "the option x cannot be 'soon'"),
    ],
)
def test_mistakes_in_a_description(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        language_from(text).read("a then b")


def test_texts_that_would_grow_are_refused() -> None:
    text = "a"
    for _ in range(40):
        text = f"DEX({text}, b)"
    assert _error("eve", text).code == "too-large"
    assert _error("snoop", " ; ".join("a" * 200)).code == "too-deep"


def test_every_description_says_where_it_is_from() -> None:
    for name in built_in_names():
        own = description(name)
        assert own.source.startswith("section 3.")
        assert "Table" in own.source
        assert own.about
        assert own.group in (*GROUPS, "primitive-only", "ungrouped")
        assert own.composes or own.group == "primitive-only"
        assert all("says" in one or one["name"] in own.text.operators for one in own.operators), name


def test_groups_follow_from_features() -> None:
    assert group_of(["conj"], False) == "ungrouped"
    assert group_of(["conj", "disj", "neg", "sim"], True) == "CE"
    assert least_expressive(HIERARCHY[2:]) == "TCE"
