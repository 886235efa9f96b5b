"""The kinds of cases about translating profiles (paper 004, sections 5 and 6). They need no table of events.

| kind | given | expect |
|---|---|---|
| `transform` | expression, `group` | `target`, `type`, `post_filter` |
| `param-transform` | a `row` and a `column` of Table 22 | `printed` |
| `notification` | expression, and a `group` or two systems | `target` and what is `lost`, or a notification translated back |
| `post-filter` | expression, `group`, `auxiliary_profile`, a trace of notifications | `delivered` |
| `samos` | a text of section 5.3 | `meta`, `type`, `params`, `timeframe` in the algebra |
| `prolog` | a query | `answer`, `solutions` |
| `rule` | a `consumption`, or nothing | its `concurrency` (Table 9), or the `order` of the groups (Table 23) |

Timeframes, numbers and times of a case may be names: `t`, `i`, `start_time`. They stand for any value, and one is put in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tocsin.algebra.pairs.expression import Composition, Expression, Framed, Selection, Timeframe, primitives
from tocsin.algebra.pairs.groups import Duplicates, Group, Traits
from tocsin.algebra.pairs.notation import show
from tocsin.algebra.pairs.observation import Instance, compose
from tocsin.algebra.pairs.parameters import IMPLIED_CONCURRENCY, Concurrency, Consumption, Pairing, Views
from tocsin.cases.model import ENGINES, ON_SPARK, Case, Compared, Handler, Skip, only_keys
from tocsin.errors import CaseError, TocsinError
from tocsin.languages.registry import language_and_part
from tocsin.translate.closure import CLOSED, in_algebra
from tocsin.translate.derive import Wish, derive
from tocsin.translate.parameters import printed
from tocsin.translate.post_filter import feed, start
from tocsin.translate.prolog.queries import ask
from tocsin.translate.rules import bind, fill
from tocsin.translate.translation import Translation

Answers = Mapping[str, object]
# What the names of a case stand for; any value would do.
TIMES = {"t": 7, "t1": 7, "i": 2, "start_time": 3, "end_time": 10}
CONSUMPTION = {
    "shared": Consumption.KEEP,
    "exclusive parameter": Consumption.REAPPLY,
    "exclusive": Consumption.DELETE,
}
SIGNS = {"=": "<->", "<": "row -> column, +", ">": "column -> row, +", ".": "none"}
_FRAME, _NUMBER, _OPERAND = re.compile(r"_(t1?)\b"), re.compile(r"\[(i)\]"), re.compile(r"\((N\([^()]*\))\)")


def _plain(text: str) -> str:
    """A text with numbers in the places of names."""
    for pattern, shown in ((_FRAME, "_{}"), (_NUMBER, "[{}]")):
        text = pattern.sub(lambda found, shown=shown: shown.format(TIMES[found[1]]), text)  # type: ignore[misc]
    return text


def _read(case: Case, text: str) -> Expression:
    """An expression in the language of a case."""
    own, _ = language_and_part(case["language"])
    found: Expression = own.read(_plain(text)).expression
    return found


def _any_timeframe(case: Case) -> Timeframe:
    """The timeframe that the name `t` stands for, in the unit of the language."""
    found = _read(case, "(Ex)_t")
    assert isinstance(found, Framed)
    return found.timeframe


def _group(case: Case) -> Traits:
    try:
        group = Group[case["given"]["group"]]
    except KeyError:
        raise CaseError("bad-case", f"{case['given'].get('group')!r} is not a group") from None
    return Traits(group, group.operators, group.timeframes)


def _derived(case: Case, traits: Traits, expression: str | None = None) -> Translation:
    source = _read(case, expression or case["expression"])
    return derive(source, Wish(traits, timeframe=_any_timeframe(case)))


def _transform(case: Case) -> Answers:
    """The target, the kind and the post-filter of an operator."""
    found = _derived(case, _group(case))
    expected = case["expect"]
    same = found.target == _read(case, str(expected.get("target")))
    return {
        "target": expected["target"] if same else show(found.profiles[0].installed),
        "type": found.kind.value,
        "post_filter": _as_written(expected.get("post_filter"), found.post_filter, _any_timeframe(case)),
    }


def _as_written(expected: object, found: str, frame: Timeframe) -> object:
    """A post-filter as the case writes it, if it is the same: notifications are N(ex), and a timeframe is `_t`."""

    def normal(text: str) -> str:
        return (
            _OPERAND.sub(r"\1", _plain(text)).replace(f"_{frame}", f"_{TIMES['t']}").lower().replace(" ", "")
        )

    same = isinstance(expected, str) and normal(expected) == normal(found)
    return expected if same else found or None


def _parameters(case: Case) -> Answers:
    """What Table 22 prints for a row and a column."""
    row, column = (
        (Duplicates(duplicates), Pairing(pairing))
        for duplicates, pairing in (case["given"]["row"], case["given"]["column"])
    )
    return {"printed": SIGNS[printed(row, column)]}


def _notification(case: Case) -> Answers:
    """What is lost on the way to a group, or a notification translated back between two systems."""
    expected, given = case["expect"], case["given"]
    if "group" in given:
        found = _derived(case, _group(case))
        installed = show(found.profiles[0].installed)
        # What has no timeframe in the group has an infinite one in the algebra.
        same = _read(case, str(expected.get("target"))) == _infinite(case, installed)
        return {
            "target": expected.get("target") if same else installed,
            "lost": ", ".join(loss.what.value for loss in found.losses),
        }
    profile = case["expression"].partition("=")[2] or case["expression"]
    provider = [word.strip() for word in given["system_A"].removesuffix("only").split(",")]
    found = _derived(case, Traits.of(*provider, timeframe=True), profile)
    rule = found.profiles[0].step.rule
    binding = None if rule is None else bind(rule.target, _read(case, expected["notification_from_A"]))
    back = None if rule is None or binding is None else fill(rule.source, binding)
    return {
        "profile_meta": _as_expected(case, "profile_meta", found.target),
        "type": found.kind.value,
        "notification_from_A": expected["notification_from_A"],
        "notification_to_B": _as_expected(case, "notification_to_B", back),
    }


def _infinite(case: Case, installed: str) -> Expression:
    return _read(case, f"{installed}_inf")


def _as_expected(case: Case, key: str, found: Expression | None) -> object:
    """An expression as the case writes it, if it is the same."""
    expected = case["expect"][key]
    return expected if found == _read(case, expected) else found and show(found)


def _post_filter(case: Case) -> Answers:
    """The notifications that the post-filter lets through, by the times of their parts."""
    found = _derived(case, _group(case))
    (profile,) = found.profiles
    if profile.installed != _read(case, case["given"]["auxiliary_profile"]):
        raise CaseError("bad-case", f"the auxiliary profile is {show(profile.installed)}")
    running, delivered = start(found), list[object]()
    names = [operand.name for operand in primitives(profile.installed)]
    for number, notification in enumerate(case["trace"]):
        times = {name.lower(): time for name, time in notification.items()}
        parts = [
            Instance(
                times[name.lower()],
                times[name.lower()],
                ((times[name.lower()], 0, 2 * number + place),),
                name,
            )
            for place, name in enumerate(dict.fromkeys(names))
        ]
        instance = parts[0] if len(parts) == 1 else compose(parts, max(part.time for part in parts))
        for match in feed(running, [(profile.name, instance)]):
            delivered.append(match.time if not match.parts else [part.time for part in match.parts])
    return {"delivered": delivered}


def _prolog(case: Case) -> Answers:
    """The answer of the transformer."""
    found = ask(case["expression"])
    return {"answer": found.answer, "solutions": list(found.solutions)}


def _rule(case: Case) -> Answers:
    """Table 9, or Table 23."""
    given = case.get("given") or {}
    if "consumption" not in given:
        return {"order": [group.name for group in sorted(Group)]}
    words = {
        None: "undetermined",
        Concurrency.OVERLAPPING: "overlapping",
        Concurrency.NON_OVERLAPPING: "non-overlapping",
    }
    return {"concurrency": words[IMPLIED_CONCURRENCY[CONSUMPTION[given["consumption"]]]]}


def _closure(case: Case) -> Answers:
    """A profile of section 5.3 in the algebra: its expression, kind, parameters and timeframe."""
    text = re.sub(r"\bI\b", "[start_time, end_time]", case["expression"])
    for name in ("start_time", "end_time"):
        text = text.replace(name, str(TIMES[name]))
    found, expected = in_algebra(text), case["expect"]
    how, frame = getattr(found.meta, "how", None), getattr(found.meta, "timeframe", None)
    bare = replace(found.meta, how=Views()) if isinstance(found.meta, Composition) else found.meta
    names = list(dict.fromkeys(one.name for one in primitives(found.meta)))
    shown = show(bare).replace(f"_{TIMES['t']}", "_t")
    for number, name in enumerate(names, 1):
        shown = re.sub(rf"\b{name}\b", "p" if "p1" not in str(expected["meta"]) else f"p{number}", shown)
    same = _bare(shown) == _bare(str(expected["meta"]))
    selected = isinstance(found.meta, Selection)
    closed = "zmin=zmax=wmin=wmax=1, Pxy: x=y" if how == CLOSED else "zmin=zmax=1" if selected else None
    return {
        "meta": expected["meta"] if same else shown,
        "type": found.kind.value,
        "params": closed,
        "timeframe": "end_time - start_time" if frame == TIMES["t"] else None,
    }


def _bare(text: str) -> str:
    return text.replace(" ", "").replace("_t1", "_t").replace("[first]", "[1]")


def _handler(answer: Callable[[Case], Answers], *keys: str) -> Handler:
    """A handler that compares what a case expects with the results; an error is a result too."""

    def handle(case: Case, engine: str) -> Compared:
        if engine not in ENGINES:
            raise CaseError("unknown-engine", f"there is no engine {engine!r}")
        if engine in ON_SPARK:
            raise Skip("this is asked of a profile, not of a table of events")
        expected = only_keys(case.get("expect"), (*keys, "error"), "expect")
        if not expected:
            raise CaseError("bad-case", "expect is empty", hint="say what must come out: " + ", ".join(keys))
        try:
            got: dict[str, Any] = {**answer(case), "error": False}
        except CaseError:
            raise
        except TocsinError as error:
            if "error" not in expected:
                raise
            got = {"error": error.code if isinstance(expected["error"], str) else True}
        return expected, {key: got[key] for key in expected if key in got}

    return handle


KINDS: Mapping[str, Handler] = {
    "transform": _handler(_transform, "target", "type", "post_filter"),
    "param-transform": _handler(_parameters, "printed"),
    "notification": _handler(
        _notification, "target", "lost", "profile_meta", "type", "notification_from_A", "notification_to_B"
    ),
    "post-filter": _handler(_post_filter, "delivered"),
    "samos": _handler(_closure, "meta", "type", "params", "timeframe"),
    "prolog": _handler(_prolog, "answer", "solutions"),
    "rule": _handler(_rule, "concurrency", "order"),
}
