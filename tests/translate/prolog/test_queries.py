"""The transformer's queries: the printed sessions are cases; here are the other direction, nesting, and mistakes."""

from __future__ import annotations

import pytest

from tocsin.errors import PatternError
from tocsin.translate.prolog.queries import ask

PRINTED = "[sequence,[e1,4],[e3,6],10]"


@pytest.mark.parametrize(
    ("event", "answer"),
    [
        ("[e9,3]", True),
        ("[e0,3]", False),
        ("[e10,3]", False),
        ("[conjunction,[e1,3],[e2,9],6]", True),
        ("[conjunction,[e1,3],[e2,10],6]", False),
        ("[sequence,[e1,3],[e2,3],6]", False),
        ("[disjunction,[e1,3],[e2,99],6]", True),
        ("[simultaneity,[e1,3],[e2,3],0]", True),
        ("[sequence,[e1,3],[e2,5],x]", False),
        ("[sequence,[e1,3],[e2,5]]", False),
        ("[negation,[e1,4],x]", False),
        ("[selection,[e1,4],0]", False),
        # An absence occurs at the end of its timeframe, a disjunction with the earlier event.
        ("[sequence,[negation,[e1,4],10],[e2,15],1]", True),
        ("[sequence,[negation,[e1,4],10],[e2,14],1]", False),
        ("[sequence,[disjunction,[e1,2],[e3,9],1],[e2,3],1]", True),
        ("[unless,[e1,3],[e2,5],6]", False),
    ],
)
def test_an_event_is_checked(event: str, answer: bool) -> None:
    assert ask(f"event({event})").answer is answer


def test_a_query_can_be_a_prompt_with_a_full_stop() -> None:
    assert ask("?- event( [ e1 , 3 ] ) .").answer
    assert ask(f"transformation([event-algebra,{PRINTED}],[group2,{PRINTED}])").solutions == ()
    assert ask(f"transformation([event-algebra,{PRINTED}],[group2,{PRINTED}])").answer
    assert not ask(f"transformation([event-algebra,{PRINTED}],[group3,{PRINTED}])").answer


def test_the_groups_are_tried_in_their_order() -> None:
    assert ask(f"transformation([event-algebra,{PRINTED}],[G,X])").solutions == (
        f"G = group1, X = {PRINTED}",
        f"G = group2, X = {PRINTED}",
        "G = group3, X = [conjunction,[e1,4],[e3,6]]",
    )


def test_the_remaining_groups_answer_when_they_are_named() -> None:
    assert ask(f"transformation([event-algebra,{PRINTED}],[group4,X])").solutions == (PRINTED,)
    assert ask(f"transformation([event-algebra,{PRINTED}],[group5,X])").solutions == (
        "[sequence,[e1,4],[e3,6]]",
    )
    both = "[simultaneity,[e1,4],[e2,4],3]"
    assert ask(f"transformation([event-algebra,{both}],[group4,X])").solutions == (
        "[conjunction,[e1,4],[e2,4],3]",
    )


def test_the_other_direction_gives_every_source() -> None:
    assert ask(f"transformation([event-algebra,X],[group1,{PRINTED}])").solutions == (PRINTED,)
    assert ask("transformation([event-algebra,X],[group3,[conjunction,[e1,4],[e3,4]]])").solutions == (
        "[conjunction,[e1,4],[e3,4],_1]",
        "[simultaneity,[e1,4],[e3,4],_1]",
    )
    assert not ask("transformation([event-algebra,X],[group3,[sequence,[e1,4],[e3,6]]])").answer
    exactly_one = "[conjunction,[e1,4],[negation,[conjunction,[e1,4],[e1,4]]]]"
    assert (
        "[selection,[e1,4],1]" in ask(f"transformation([event-algebra,X],[group3,{exactly_one}])").solutions
    )


def test_events_inside_events_are_transformed_too() -> None:
    nested = f"[conjunction,{PRINTED},[e5,7],3]"
    assert ask(f"transformation([event-algebra,{nested}],[group3,X])").solutions == (
        "[conjunction,[conjunction,[e1,4],[e3,6]],[e5,7]]",
    )


def test_what_cannot_have_occurred_is_not_transformed() -> None:
    assert not ask("transformation([event-algebra,[sequence,[e1,9],[e3,6],10]],X)").answer


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", "syntax"),
        ("event([e1,3]", "syntax"),
        ("event([e1 3])", "syntax"),
        ("event([e1,3]) event", "syntax"),
        ("event(" + "[" * 200, "syntax"),
        ("event([e1,?])", "syntax"),
        ("happened([e1,3])", "unknown-query"),
        ("event([e1,3],[e2,3])", "unknown-query"),
        ("[e1,3]", "unknown-query"),
        ("transformation(X,Y)", "too-many-variables"),
        ("transformation([event-algebra,E],[group1,X])", "too-many-variables"),
    ],
)
def test_a_mistake_has_a_place(query: str, code: str) -> None:
    with pytest.raises(PatternError) as caught:
        ask(query)
    assert caught.value.code == code
    assert code != "syntax" or caught.value.span is not None
