"""What the fold keeps of claims which are found while their report streams."""

from __future__ import annotations

from tests.support import logs

from assay.core import events as e
from assay.core.view import fold_events


def streaming() -> logs.Log:
    log = logs.Log()
    log.add("write", e.ReportStarted())
    log.add("write", e.ReportDelta(text="It rises. It turns."))
    log.add("write", e.ClaimFound(id="c1", text="It rises.", start=0, end=9))
    log.add("write", e.ClaimChecked(id="c1", rule="judge", verdict="supported"))
    log.add("write", e.ClaimFound(id="c2", text="It turns.", start=10, end=19))
    return log


def test_a_claim_is_there_before_it_is_checked() -> None:
    view = fold_events(streaming().events)
    assert [(each.id, each.verdict, each.id in view.checks) for each in view.claims] == [
        ("c1", "supported", True),
        ("c2", "unchecked", False),
    ]


def test_a_text_which_is_begun_anew_has_none_of_them() -> None:
    log = streaming()
    log.add("write", e.ReportStarted())
    view = fold_events(log.events)
    assert (view.claims, view.checks, view.removed) == ((), {}, ())
    log.add("write", e.ClaimChecked(id="c2", rule="judge", verdict="supported"))  # said of the text before
    assert fold_events(log.events).claims == ()


def test_a_text_in_its_form_has_those_it_names() -> None:
    log = streaming()
    log.add("write", e.ReportRevised(text="# Tide\n\nIt rises.", why="its form", spans={"c1": (8, 17)}))
    view = fold_events(log.events)
    assert [(each.id, each.start, each.end, each.verdict) for each in view.claims] == [("c1", 8, 17, "supported")]
    assert view.removed == ()
    assert list(view.checks) == ["c1"]


def test_a_claim_found_again_with_another_citation_is_checked_anew() -> None:
    log = streaming()
    log.add(
        "verify", e.ClaimFound(id="c1", text="It rises.", start=0, end=9, passages=(logs.passage("S1.2", "It rises."),))
    )
    view = fold_events(log.events)
    assert view.claims[0].verdict == "unchecked"
    assert "c1" not in view.checks
