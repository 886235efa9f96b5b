"""A language as one frozen value with everything the rest of Tocsin needs to know about it.

The parts of a language belong to several layers: its parser to this one, its compiler, its explanations and its kinds of
test cases to layers above. So a value names functions and classes as text, `"module:attribute"`, which is resolved when
used; a third-party package may give the objects themselves. Parts that are left out default to those of the family:
a language that only has its own syntax for the patterns of a family says how it is parsed and shown, and nothing else.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin.algebra.tokens.selection import Selection
from tocsin.errors import InputError, did_you_mean
from tocsin.events import Catalog

if TYPE_CHECKING:
    from tocsin.algebra.pairs.groups import Traits

Hook = str | Callable[..., Any]
# The value of a parsed text of a family, and the options of a language that has none of its own.
_VALUES = {
    "tokens": "tocsin.algebra.tokens.subscription:Subscription",
    "completion": "tocsin.algebra.completion.expression:Program",
    "correlation": "tocsin.algebra.correlation.expression:Library",
    "blocks": "tocsin.algebra.blocks.query:Query",
    "pairs": "tocsin.algebra.pairs.profile:Profile",
}
_OPTIONS = {
    "tokens": "tocsin.algebra.tokens.subscription:Interpretation",
    "completion": "tocsin.algebra.completion.expression:Interpretation",
    "correlation": "tocsin.algebra.correlation.expression:Interpretation",
    "blocks": "tocsin.algebra.blocks.query:Interpretation",
    "pairs": "tocsin.algebra.pairs.profile:Interpretation",
}
# Where the layers above the languages keep what belongs to a family.
_FLOORS = {
    "compile": "tocsin.compile.{family}:FAMILY",
    "explain": "tocsin.explain.{family}:explain",
    "check": "tocsin.explain.{family}:CHECKS",
    "code": "tocsin.automata.{family}.codegen:code_of",
    "cases": "tocsin.cases.{family}.kinds:KINDS",
    "why": "tocsin.why_not.{family}:account_for",
}
# What a language cannot do without its part of a floor, as messages say it.
_DEEDS = {
    "compile": "detect in tables, streams or a service",
    "explain": "be explained",
    "check": "be checked",
    "code": "be turned into a program of its own",
    "cases": "be tested with cases",
    "why": "say why something was not found",
}


class Context(NamedTuple):
    """The context of a text: the known event types, which matches are wanted, and its name."""

    catalog: Catalog | None = None
    selection: Selection | None = None
    name: str = "pattern"


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language that patterns are written in.

    Args:
        name: what `language=`, `--language` and pipeline files call it.
        title: what messages call it, as in "ECL has no option …".
        family: the word of the family of meaning its patterns belong to: `tokens`, `completion`, `correlation`, `pairs` or
            `blocks`.
        parse: `(text, options, context) -> value`; raises `PatternErrors` with all mistakes.
        show: `(value) -> text`; raises `PatternError` if the language cannot express it.
        endings: of the files that hold its texts, as in `.ecl`.
        aliases: further names.
        options: a frozen dataclass with a class method `of(mapping)` that refuses values it does not know. A field with
            `metadata={"beside": "file"}` is read from the file that stands beside the pattern in a pipeline file, one with
            `{"beside": "text"}` stands there itself. `"ending"` is that of such files, as in `.idl`.
        value: the class of parsed texts.
        called: such a value in words, with its article.
        sends: whether its texts send events of their own; otherwise matches are reported.
        selects: whether `matches` and `take` choose among its matches.
        traits: the operators of a language of the family `pairs`, its group and its parameters: a `Traits` of
            `tocsin.algebra.pairs.groups`. Without them nothing is translated into the language.
        parts: parsers and printers of pieces of a text, by name, for those who need them (`part`).
        compile, explain, check, code, cases, why: its parts in the layers above; by default those of its family.
            `explain` is `(ParsedText) -> Explanation` and `check` a `FamilyChecks`, both of `tocsin.explain`; `code` is
            `(value, title, ending) -> text` and gives a program of its own, for a file with this ending; `why` is
            `(Asked) -> Answer` of `tocsin.why_not`.
    """

    name: str
    title: str
    family: str
    parse: Hook
    show: Hook
    endings: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    options: Hook = ""
    value: Hook = ""
    called: str = "a pattern"
    sends: bool = False
    selects: bool = True
    traits: str | Traits = ""
    parts: Mapping[str, Hook] = field(default_factory=lambda: MappingProxyType({}))
    compile: Hook = ""
    explain: Hook = ""
    check: Hook = ""
    code: Hook = ""
    cases: Hook = ""
    why: Hook = ""

    def read(self, text: str, options: Any = None, context: Context = Context()) -> Any:
        """Parse a text, with options as a mapping or as the value that `options_of` returns."""
        return _resolved(self.parse)(text, self.options_of(options), context)

    def text_of(self, value: object) -> str:
        """The text of a parsed value."""
        return str(_resolved(self.show)(self.accept(value)))

    def options_of(self, given: Any) -> Any:
        """The options of the language, from a mapping of names to values; checked."""
        kind = self.options_type
        if isinstance(given, kind):
            return given
        asked: Mapping[str, object] = {} if given is None else given
        if not isinstance(asked, Mapping):
            hint = f"give a mapping of names to values, or a {kind.__name__}"
            raise InputError(
                "unknown-option", f"{type(given).__name__} is not an option of {self.title}", hint=hint
            )
        known = self.option_names
        for name in asked:
            if name not in known:
                hint = did_you_mean(name, known, f"it has {', '.join(known)}")
                raise InputError("unknown-option", f"{self.title} has no option {name!r}", hint=hint)
        return kind.of(asked)

    @property
    def options_type(self) -> Any:
        """The frozen dataclass of its options."""
        return _resolved(self.options or self._of_family(_OPTIONS, "options"))

    @property
    def option_names(self) -> list[str]:
        """The names of its options."""
        return [one.name for one in fields(self.options_type)]

    def beside(self) -> dict[str, str]:
        """The options written beside the pattern in a pipeline file, and whether each is a `file` or a `text`."""
        return {f.name: f.metadata["beside"] for f in fields(self.options_type) if "beside" in f.metadata}

    def accept(self, value: Any) -> Any:
        """The value, if it is a parsed text of this language; one that was built in Python becomes one."""
        if isinstance(value, self.value_type):
            return value
        built = getattr(value, "unchecked", None)  # of a pattern that the binding builds
        if callable(built) and isinstance(found := built(), self.value_type):
            return found
        # Imported here: the registry contains the other languages, and itself imports this module.
        from tocsin.languages.registry import language_of_value

        other = language_of_value(value)
        if other is None:
            message = f"{type(value).__name__} is not {self.called} of {self.title}"
            raise InputError("bad-pattern", message, hint="give a text, or what tocsin.parse gives")
        raise InputError("bad-pattern", f"this is {other.called}", hint=f"say language={other.name!r}")

    @property
    def value_type(self) -> type:
        """The class of parsed texts."""
        found: type = _resolved(self.value or self._of_family(_VALUES, "value"))
        return found

    @property
    def offered(self) -> Traits | None:
        """What operators and parameters it has, of a language of the event algebra; None if it does not say."""
        if isinstance(self.traits, str):
            found: Traits | None = _loaded(self.traits) if self.traits else None
            return found
        return self.traits

    def part(self, name: str) -> Any:
        """The parser or printer of a piece of its texts."""
        if name not in self.parts:
            hint = did_you_mean(name, self.parts, f"{self.title} has no such parts")
            raise InputError("unknown-part", f"{self.title} has no part {name!r}", hint=hint)
        return _resolved(self.parts[name])

    def on(self, floor: str) -> Any:
        """The part of this language in a layer above: `compile`, `explain`, `check`, `code`, `cases` or `why`."""
        if not self.offers(floor):
            message = f"{self.title} cannot {_DEEDS[floor]}: neither it nor its family has a part {floor!r}"
            raise InputError("not-offered", message, hint=f"the page of {self.title} says what it offers")
        return _resolved(self._hook(floor))

    def offers(self, floor: str) -> bool:
        """Whether this language has a part in a layer above: not every family has all of them."""
        hook = self._hook(floor)
        return not isinstance(hook, str) or _exists(hook.partition(":")[0])

    def _hook(self, floor: str) -> Hook:
        own: Hook = getattr(self, floor)
        return own or _FLOORS[floor].format(family=self.family)

    def _of_family(self, known: Mapping[str, str], what: str) -> str:
        if self.family not in known:
            hint = f"give {what} with it, or one of the families {', '.join(known)}"
            message = f"the language {self.name!r} is of a family {self.family!r} that is not known"
            raise InputError("bad-language", message, hint=hint)
        return known[self.family]


def _resolved(hook: Hook) -> Any:
    return _loaded(hook) if isinstance(hook, str) else hook


@cache
def _exists(module: str) -> bool:
    """Whether there is a module of this name; it is not loaded, only the packages that it lies in."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@cache
def _loaded(hook: str) -> Any:
    """The attribute that `"module:attribute"` names, or the module if there is none."""
    module, _, attribute = hook.partition(":")
    found = importlib.import_module(module)
    return getattr(found, attribute) if attribute else found
