"""Rules of a stream that change while it runs: the rules in force, changes to them, and the decision on each change.

A change arrives as JSON text, in the same stream as the events. Nothing is compiled here, so whether the text of a rule is
valid is decided elsewhere (see `spark.rules.compile_rules`).

A checkpoint holds the book of rules in this layout (see `runtime.encoding`), kind `rules`:

| field | value |
|---|---|
| program | the rules of the program, each (name, text, language, ((option, value), …), matches, take, since) |
| rules | those in force, in the same form |
| version | how many changes were made |
| last | the number of the last change, -1 before the first |
| history | the latest decisions, each (number, action, name, batch, until, code, message, hint) |
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tocsin.errors import InputError, did_you_mean
from tocsin.runtime.encoding import decode, encode

ACTIONS = ("add", "remove", "replace")
KEPT = 1000  # decisions kept in the history
MAX_BYTES = 262_144  # of the file of a change, which is refused unread if it has more
MAX_NAME = 100  # bytes of the name of a rule
MAX_NUMBER = (1 << 63) - 1
MAX_MESSAGE = 1_000  # characters of the reason of a refusal
VERSION = 3  # of the layout of a book
_KIND = "rules"
# The last line is what is known of a rule: it goes with its matches where they are written, and not into the book.
_KEYS = (
    *("number", "action", "name", "language", "text", "matches", "take", "options"),
    *("description", "severity", "tags", "quiet"),
)
_NAME = re.compile(r"[^\W_][\w.\- ]*")
_HINT = '{"action": "add", "name": "Fire", "text": "[Smoke];[Heat]"}'


class Rule(NamedTuple):
    """A subscription as text. `since` is the version of the rules that added it, 0 for those of the program."""

    name: str
    text: str
    language: str = ""  # "" for the language of the query
    options: tuple[tuple[str, str], ...] = ()
    matches: str | None = None
    take: str | None = None
    since: int = 0


class Change(NamedTuple):
    """A change to the rules; `number` is None if the program's own text has changed."""

    number: int | None
    action: str
    name: str
    rule: Rule | None = None  # None to remove it


class Decision(NamedTuple):
    """The outcome of a change. `code`, `message` and `hint` give the reason if it was refused, and are None if not."""

    number: int | None
    action: str | None
    name: str | None
    batch: int | None  # the micro-batch it was read in
    until: str | None  # the time up to which events were decided by the former rules
    code: str | None = None
    message: str | None = None
    hint: str | None = None


class Book(NamedTuple):
    """The record of a shard's rules."""

    program: tuple[Rule, ...]  # the rules in the program's own text
    rules: tuple[Rule, ...]  # those in force
    version: int = 0  # the number of changes made
    last: int = -1  # the number of the last change
    history: tuple[Decision, ...] = ()


def book_bytes(book: Book) -> bytes:
    """The book as a checkpoint holds it."""
    rules = [tuple(tuple(rule) for rule in part) for part in (book.program, book.rules)]
    history = tuple(tuple(one) for one in book.history)
    return encode((*rules, book.version, book.last, history), kind=_KIND, version=VERSION)


def read_book(data: bytes) -> Book:
    """The book that `book_bytes` wrote; raises if it is of another version."""
    program, rules, version, last, history = decode(data, kind=_KIND, version=VERSION)
    own, in_force = (tuple(Rule(*rule) for rule in part) for part in (program, rules))
    return Book(own, in_force, version, last, tuple(Decision(*one) for one in history))


def read_change(data: str) -> Change:
    """The change in a row: the columns of a table, or a file of a folder.

    A file is `{"file": its name, "data": its bytes in base 64}`, or `{"file": …, "size": …}` if it is too large to be read.
    """
    if len(data) > 2 * MAX_BYTES:
        raise _too_long(len(data))
    found = _object(data)
    if set(found) not in ({"file", "data"}, {"file", "size"}):
        return _change(found)
    file = str(found["file"])
    digits = re.match(r"[0-9]+", file)
    if digits is None:
        message = f"the name of {file} does not begin with a number"
        raise InputError("bad-change", message, hint="call it 0001.json: changes are made in this order")
    try:
        if "size" in found:
            raise _too_long(found["size"])
        text = _text(base64.b64decode(found["data"]))
        return _change({**_object(text), "number": int(digits[0])})
    except InputError as problem:
        raise InputError(problem.code, f"{file}: {problem.message}", hint=problem.hint) from None


def file_change(name: str, data: bytes) -> str:
    """A file of a folder as a row that `read_change` reads."""
    if len(data) > MAX_BYTES:
        return json.dumps({"file": name, "size": len(data)})
    return json.dumps({"file": name, "data": base64.b64encode(data).decode()})


def _too_long(size: int) -> InputError:
    message = f"this change has {size:,} bytes; the limit is {MAX_BYTES:,}"
    return InputError("too-long", message, hint="make several rules of it")


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        message = f"this is not text in UTF-8: byte {problem.start:,} is invalid"
        raise InputError("bad-change", message) from None


def _change(found: Mapping[str, Any]) -> Change:
    for key in found:
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS)
            raise InputError("bad-change", f"a change has no {key!r}", hint=hint)
    number, action, name = found.get("number"), found.get("action"), found.get("name")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= MAX_NUMBER:
        raise InputError(
            "bad-change",
            "a change has no number, or one that is too large",
            hint=f"a whole number up to {MAX_NUMBER}, each larger than the last",
        )
    if action not in ACTIONS:
        raise InputError("bad-change", f"a change cannot be {action!r}", hint="one of " + ", ".join(ACTIONS))
    if not isinstance(name, str) or not name:
        raise InputError("bad-change", "a change names no rule", hint=_HINT)
    if not _NAME.fullmatch(name) or len(name.encode()) > MAX_NAME:
        # Names of rules are used as names of folders.
        hint = f"letters, digits, - and _, in at most {MAX_NAME} bytes"
        raise InputError("bad-change", f"no rule can be called {name[:40]!r}", hint=hint)
    return Change(number, action, name, None if action == "remove" else _rule(name, found))


def _object(data: str) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except RecursionError:
        raise InputError("bad-change", "this is not a change: it is nested too deeply", hint=_HINT) from None
    except ValueError as problem:
        raise InputError("bad-change", f"this is not a change: {problem}", hint=_HINT) from None
    if not isinstance(found, dict):
        raise InputError("bad-change", "a change is an object in JSON", hint=_HINT)
    return {key: value for key, value in found.items() if value is not None}


def _rule(name: str, found: Mapping[str, Any]) -> Rule:
    for key in ("text", "language", "matches", "take", "description", "severity"):
        if not isinstance(found.get(key, ""), str):
            raise InputError("bad-change", f"{key} is not a text", hint=_HINT)
    tags = found.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise InputError("bad-change", "tags is not a list of texts", hint='"tags": ["fire", "night"]')
    quiet = found.get("quiet", 1)
    if isinstance(quiet, bool) or not isinstance(quiet, int | float) or quiet <= 0:
        raise InputError("bad-change", "quiet is not a number of seconds", hint='"quiet": 3600')
    if not found.get("text", "").strip():
        raise InputError("bad-change", f"there is no text for the rule {name!r}", hint=_HINT)
    options = found.get("options", {})
    if not isinstance(options, dict):
        raise InputError("bad-change", "options is not an object", hint='{"restart": "always"}')
    return Rule(
        name,
        found["text"],
        found.get("language", ""),
        tuple(sorted((str(key), str(value)) for key, value in options.items())),
        found.get("matches"),
        found.get("take"),
    )


def changed(rules: Sequence[Rule], change: Change, version: int) -> tuple[Rule, ...]:
    """The rules after a change, which makes them version `version`; raises `InputError` if it does not fit them.

    >>> fire = Rule("Fire", "[Smoke];[Heat]")
    >>> changed([fire], Change(1, "remove", "Fire"), 1)
    ()
    """
    names = [rule.name for rule in rules]
    if change.action == "add" and change.name in names:
        message = f"there is a rule {change.name!r} already"
        raise InputError("duplicate-name", message, hint="replace it, or give the new one another name")
    if change.action != "add" and change.name not in names:
        hint = did_you_mean(change.name, names, "there are no rules")
        raise InputError("unknown-rule", f"there is no rule {change.name!r}", hint=hint)
    if change.rule is None:
        return tuple(rule for rule in rules if rule.name != change.name)
    new = change.rule._replace(since=version)
    if change.action == "add":
        return (*rules, new)
    return tuple(new if rule.name == change.name else rule for rule in rules)


def in_turn(book: Book, change: Change) -> None:
    """Raise `InputError` for a change that arrives out of order, or a second time."""
    if change.number is not None and change.number <= book.last:
        raise InputError(
            "old-change",
            f"change {change.number} came when change {book.last} had been made",
            hint="give each change a larger number than those before it",
        )


def of_program(book: Book, program: Sequence[Rule]) -> Iterator[Change]:
    """The differences between the program's new text and its former one, as changes that fit the rules in force."""
    before = {rule.name: rule for rule in book.program}
    now = {rule.name: rule for rule in program}
    there = {rule.name for rule in book.rules}
    for name in before:
        if name not in now and name in there:
            yield Change(None, "remove", name)
    for name, rule in now.items():
        if before.get(name) != rule:
            yield Change(None, "replace" if name in there else "add", name, rule)


def shown(decision: Decision) -> str:
    """A decision as JSON, without the fields that are None."""
    return json.dumps({key: value for key, value in decision._asdict().items() if value is not None})
