"""The rules in force: those of the program, with the changes received while the query ran (decision 11).

Workers load this module with the processor of a query whose rules change; they load the compiler only when the rules in
force differ from those of the program.
"""

from __future__ import annotations

from tocsin.errors import TocsinError
from tocsin.runtime.stream.rule_book import (
    MAX_MESSAGE,
    Book,
    Change,
    Decision,
    Rule,
    changed,
    in_turn,
    of_program,
    read_book,
    read_change,
)
from tocsin.spark.stream.damage import reading
from tocsin.spark.stream.recall import Watched
from tocsin.spark.stream.shard_processor import Turn


class RulesInForce:
    """The rules of a query, as applied by its shards.

    Args:
        columns: the schema of events on their way to the shards and in the state.
        program: the rules that the program itself names.
        compiled: the compiled form of those.
        settings: a pickled `compile_rules.RuleSettings`, which Spark passes to the worker with this value.
    """

    def __init__(self, columns: str, program: tuple[Rule, ...], compiled: Watched, settings: bytes) -> None:
        self.columns = columns
        self._program = program
        self._compiled = compiled
        self._settings = settings

    def turn(self, book: bytes | None, changes: list[str]) -> Turn:
        """Return the rules before and after the changes of a micro-batch; `book` is the one saved after the last."""
        with reading("the book of rules"):
            before = None if book is None else read_book(book)
        then = Book(self._program, self._program) if before is None else before
        own = self._detected(then.rules)
        after, now, decisions = self._after(then, own, changes)
        return Turn(own, now, after, tuple(decisions), after != before)

    def _detected(self, rules: tuple[Rule, ...]) -> Watched:
        if rules == self._program:
            return self._compiled
        # Imported here, because most workers never need it.
        from tocsin.spark.rules.compile_rules import compiled_from

        return compiled_from(self._settings, rules)

    def _after(self, book: Book, own: Watched, given: list[str]) -> tuple[Book, Watched, list[Decision]]:
        """Return the rules after all changes of a micro-batch, and the decision on each change."""
        changes: list[Change] = []
        decisions: list[Decision] = []
        if book.program != self._program:
            changes += of_program(book, self._program)
            book = book._replace(program=self._program)
        readable: list[Change] = []
        for data in sorted(given):  # tasks send them in any order
            try:
                readable.append(read_change(data))
            except Exception as problem:  # noqa: BLE001  (no file may stop a query, whatever is in it)
                decisions.append(_refused(Change(None, "", ""), problem))
        changes += sorted(readable, key=_order)
        if not changes:
            return book, own, decisions
        book, own, made = self._made(book, own, changes)
        return book, own, [*decisions, *made]

    def _made(self, book: Book, own: Watched, changes: list[Change]) -> tuple[Book, Watched, list[Decision]]:
        """Return the rules after changes, and the decision on each.

        All rules are compiled together, and usually that is all there is to it. If it fails, the changes are made in two
        halves, so that few wrong ones among very many cost little.
        """
        try:
            after = book
            for change in changes:
                after = _noted(after, change)
            return after, self._detected(after.rules), [_taken(change) for change in changes]
        except Exception as problem:  # noqa: BLE001  (no rule may stop a query, whatever is wrong)
            if len(changes) == 1:
                return book, own, [_refused(changes[0], problem)]
        half = len(changes) // 2
        book, own, first = self._made(book, own, changes[:half])
        book, own, second = self._made(book, own, changes[half:])
        return book, own, [*first, *second]


def _order(change: Change) -> tuple[int, str]:
    """Sort key of changes in a micro-batch, independent of the tasks they come from."""
    return (-1 if change.number is None else change.number, repr(change))


def _noted(book: Book, change: Change) -> Book:
    in_turn(book, change)
    rules = changed(book.rules, change, book.version + 1)
    last = book.last if change.number is None else change.number
    return book._replace(rules=rules, version=book.version + 1, last=last)


def _taken(change: Change) -> Decision:
    return Decision(change.number, change.action, change.name, None, None)


def _refused(change: Change, problem: Exception) -> Decision:
    code, message, hint = "rule-failed", f"{type(problem).__name__}: {problem}", None
    if isinstance(problem, TocsinError):
        code, message, hint = problem.code, problem.message, problem.hint
    what, name = change.action or None, change.name or None
    # The report of a change may quote it, and a change may be long.
    return Decision(
        change.number, what, name, None, None, code, message[:MAX_MESSAGE], hint and hint[:MAX_MESSAGE]
    )
