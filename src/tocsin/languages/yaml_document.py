"""YAML with source locations, so that a mistake in a file of cases or rules can be underlined.

Scalars follow YAML 1.2: only `true` and `false` are booleans, so the states `on` and `off` of a switch stay
words, and a time such as `2004-01-31T19:00:00` stays the text that was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import yaml

from tocsin.errors import CaseError, PipelineError, Span, TocsinError

# Anchors can make a short file mean a huge one.
MAX_VALUES = 1_000_000
MAX_DIGITS = 100
_TAG = "tag:yaml.org,2002:"
_SCALARS = {
    "null": r"~|null|",
    "bool": r"true|false",
    "int": r"[-+]?[0-9]+",
    "float": r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?",
}


class _Loader(yaml.SafeLoader):
    """PyYAML, with the scalars of YAML 1.2."""

    yaml_implicit_resolvers = {  # noqa: RUF012  (PyYAML wants it here)
        None: [(_TAG + name, re.compile(f"(?:{pattern})$")) for name, pattern in _SCALARS.items()]
    }


class Document:
    """A YAML file, or the YAML in a part of a file: its nodes, their values, and errors that point at them.

    Args:
        part: where the YAML begins and ends in the text; by default it is all of it.
        located: whether errors name the file and the line as those of pipelines do.
    """

    def __init__(
        self, name: str, text: str, *, part: tuple[int, int] | None = None, located: bool = False
    ) -> None:
        self.name, self.text = name, text
        start, end = part or (0, len(text))
        # What comes before becomes blank lines, so that places in the part are places in the file.
        self._yaml = re.sub(r"[^\n]", " ", text[:start]) + text[start:end]
        self._located = located
        self._values = 0

    @classmethod
    def read(cls, path: Path) -> Document:
        """The file, or an error that says why it cannot be read."""
        try:
            return cls(str(path), path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise CaseError("no-file", f"there is no file {path}") from None
        except IsADirectoryError:
            hint = f"name its files, as in {path}/*.yaml"
            raise CaseError("bad-file", f"{path} is a folder", hint=hint) from None
        except UnicodeDecodeError as problem:
            message = f"{path} is not a text file: byte {problem.start} is not UTF-8"
            raise CaseError("bad-file", message) from None
        except OSError as problem:
            raise CaseError("bad-file", f"{path} cannot be read: {problem.strerror}") from None

    def nodes(self) -> list[yaml.Node]:
        """The top-level nodes, one per document of the file."""
        try:
            return [node for node in yaml.compose_all(self._yaml, Loader=_Loader) if node is not None]
        except yaml.MarkedYAMLError as problem:
            mark = problem.problem_mark or problem.context_mark
            span = None if mark is None else Span(self.text, mark.index, mark.index + 1)
            hint = "a text with [ ] { } : or # in it stands in quotes: '[A];[B]'"
            raise self._error("bad-yaml", str(problem.problem), span, hint) from None
        except yaml.YAMLError as problem:
            raise self._error("bad-yaml", str(problem)) from None
        except RecursionError:
            raise self._error("bad-yaml", "lists and mappings are nested too deeply") from None

    def problem(
        self, node: yaml.Node, message: str, hint: str | None = None, code: str = "bad-case"
    ) -> TocsinError:
        """An error that points at a node."""
        start, end = node.start_mark.index, node.end_mark.index
        return self._error(code, message, Span(self.text, start, max(end, start + 1)), hint)

    def fail(
        self, node: yaml.Node, message: str, hint: str | None = None, code: str = "bad-case"
    ) -> NoReturn:
        """Raise an error that points at a node."""
        raise self.problem(node, message, hint, code)

    def _error(
        self, code: str, message: str, span: Span | None = None, hint: str | None = None
    ) -> TocsinError:
        if self._located:
            return PipelineError(code, message, span, hint, self.name)
        return CaseError(code, f"{self.name}: {message}", span, hint)

    def line(self, node: yaml.Node) -> int:
        """The line a node starts on, counted from 1."""
        return int(node.start_mark.line) + 1

    def fields(self, node: yaml.Node) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        """The keys of a mapping, each with the nodes of the key and of its value."""
        if not isinstance(node, yaml.MappingNode):
            self.fail(node, "a mapping of keys to values is missing here")
        found: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.fail(key, "a key must be a word")
            if key.value in found:
                self.fail(
                    key, f"the key {key.value!r} stands here twice", "keep one of them", "duplicate-key"
                )
            found[key.value] = (key, value)
        return found

    def items(self, node: yaml.Node) -> Iterator[yaml.Node]:
        """The elements of a list."""
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, "a list is missing here")
        yield from node.value

    def value(self, node: yaml.Node, inside: tuple[yaml.Node, ...] = ()) -> Any:
        """The value of a node: mappings, lists, numbers, texts, booleans, None."""
        self._values += 1
        if self._values > MAX_VALUES:
            self.fail(node, f"the file stands for more than {MAX_VALUES:,} values", code="too-large")
        if any(node is outer for outer in inside):
            self.fail(node, "this contains itself")
        inside = (*inside, node)
        if isinstance(node, yaml.MappingNode):
            return {key: self.value(value, inside) for key, (_, value) in self.fields(node).items()}
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, inside) for item in node.value]
        return self._scalar(node)

    def _scalar(self, node: yaml.Node) -> int | float | str | bool | None:
        match node.tag.removeprefix(_TAG):
            case "null":
                return None
            case "bool":
                return bool(node.value == "true")
            case "int" | "float" if len(node.value) > MAX_DIGITS:
                self.fail(node, f"a number has at most {MAX_DIGITS} digits")
            case "int":
                return int(node.value)
            case "float":
                return float(node.value)
            case "str":
                return str(node.value)
            case _:
                self.fail(node, f"there is no tag {node.tag!r} in case files")
