"""An account as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tocsin.errors import counted
from tocsin.why_not.account import Attempt, WhyNot, shown_time

_MOST = 12  # attempts that are written out
_PASSED = 3  # events passed over that are written out of each


def in_words(account: WhyNot, most: int = _MOST) -> str:
    """The account, one paragraph an attempt, of `most` attempts at most."""
    lines = [_heading(account)]
    waits = ", ".join(account.answer.waits_for)
    lines.append(f"a match begins with {waits}" if waits else "no match can begin any more")
    lines += account.answer.notes
    shown, left = account.attempts[:most], account.attempts[most:]
    for number, attempt in enumerate(shown, 1):
        lines += ["", *_attempt(number, attempt)]
    if left:
        lines += [
            "",
            f"and {counted(len(left), 'further partial match', 'further partial matches')} that got less far",
        ]
    return "\n".join(lines)


def _heading(account: WhyNot) -> str:
    key = ", ".join(f"{name}={value}" for name, value in account.key.items())
    events = counted(len(account.events), "event")
    if account.events:
        first, last = account.events[0], account.events[-1]
        events += f" from {shown_time(first.start)} to {shown_time(last.end)}"
    outcomes = [
        counted(len(account.having("matched")), "match", "matches"),
        counted(len(account.having("ended")), "partial match that ended", "partial matches that ended"),
        f"{len(account.having('waiting')):,} waiting at {shown_time(account.until)}",
    ]
    return f"{key + ': ' if key else ''}{events}; {', '.join(outcomes)}"


def _attempt(number: int, one: Attempt) -> Iterator[str]:
    when = "" if one.at is None else f" at {shown_time(one.at)}"
    outcome = {"matched": "a match", "ended": "ended", "waiting": "still waits"}[one.outcome]
    yield f"{number}. {one.of}: {outcome}{when}, after {counted(len(one.taken), 'event')}"
    rows = [("took", _taken(taken.role, str(taken.event))) for taken in one.taken]
    if one.waits_for and one.outcome != "matched":
        rows.append(("waited for", _any(one.waits_for)))
    rows += [(f"{timer} runs out", shown_time(when)) for timer, when in one.due.items()]
    for passed in one.passed_over[:_PASSED]:
        rows.append(("passed over", f"{passed.event}: {passed.why}"))
    more = len(one.passed_over) - _PASSED
    if more > 0:
        rows.append(("", f"and {counted(more, 'other')}"))
    if one.ended_by is not None:
        rows.append(("ended by", str(one.ended_by)))
    if one.reason:
        rows.append(("because", one.reason))
    width = max((len(left) for left, _ in rows), default=0)
    for left, right in rows:
        yield f"   {left:<{width}}  {right}"


def _taken(role: str, event: str) -> str:
    return event if event == role or event.startswith(f"{role} ") else f"{event} as {role}"


def _any(names: Sequence[str]) -> str:
    return " or ".join(names)
