"""The limits on automata are those of a whole pattern: the composites that it names count, too."""

from __future__ import annotations

import pytest

from tocsin.automata.tokens.compile import compile
from tocsin.errors import LimitError
from tocsin.languages.core import parse


def _composites(number: int, stars: int) -> str:
    stars_in_a_row = "".join(f"[A{j}]*" for j in range(stars))
    definitions = "".join(f"C{i} := ({stars_in_a_row}[B{i}]);" for i in range(number))
    return definitions + "".join(f"[C{i}]" for i in range(number))


@pytest.mark.slow
def test_composites_share_the_limits_of_the_pattern_that_names_them() -> None:
    """Each of them is far below every limit; together they took six seconds."""
    with pytest.raises(LimitError) as refused:
        compile([parse(_composites(30, 200))])
    assert refused.value.code == "too-many-moves"
    assert len(compile([parse(_composites(2, 200))]).automata) == 3


@pytest.mark.slow
def test_each_pattern_has_limits_of_its_own() -> None:
    patterns = [parse(_composites(2, 200).replace("B", f"B{n}_"), name=f"p{n}") for n in range(8)]
    assert len(compile(patterns).automata) == 24


def test_equal_composites_of_a_pattern_are_told_apart_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each equal definition is a detector of its own. Finding that out compared every one with all before it."""
    from tocsin.automata.tokens import plan

    made = 0
    replace = plan.replace

    def counted(one: object, **changes: object) -> object:
        nonlocal made
        made += "copy" in changes
        return replace(one, **changes)  # type: ignore[type-var]

    monkeypatch.setattr(plan, "replace", counted)
    text = "".join(f"C{i} := ([A][B]);" for i in range(200)) + "".join(f"[C{i}]" for i in range(200))
    assert len(compile([parse(text)]).automata) == 201
    assert made == 201
