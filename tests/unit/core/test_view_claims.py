"""What the fold keeps of a claim: its checks, what it said before, what speaks against it, and where it stands."""

from __future__ import annotations

from tests.support import logs

from assay.core import events as e
from assay.core.claims import Check, Version
from assay.core.sources import Passage, sha256
from assay.core.view import RunView, fold_events


def passage(id: str, text: str) -> Passage:
    end = len(text.encode())
    return Passage(
        id=id,
        source=id.partition(".")[0],
        document_sha256=sha256(text.encode()),
        start=0,
        end=end,
        text=text,
        text_sha256=sha256(text.encode()),
    )


FIVE, SEVEN = passage("S1001.1", "It rises five metres."), passage("S1001.2", "It rises seven metres.")


def checked_report() -> logs.Log:
    """A report of two claims, both checked."""
    log = logs.Log()
    log.add("verify", e.ReportStarted())
    log.add("verify", e.ReportDelta(text="It rises nine metres [S1001.1]. It turns twice [S1001.2]."))
    log.add("verify", e.ClaimFound(id="c1", text="It rises nine metres.", start=0, end=20, passages=(FIVE,)))
    log.add("verify", e.ClaimChecked(id="c1", rule="number", verdict="contradicted", reason="five", against=(SEVEN,)))
    log.add("verify", e.ClaimFound(id="c2", text="It turns twice.", start=32, end=46, passages=(SEVEN,)))
    log.add("verify", e.ClaimChecked(id="c2", rule="judge", verdict="supported"))
    return log


def revised(log: logs.Log) -> RunView:
    log.add(
        "verify",
        e.ClaimRevised(id="c1", before="It rises nine metres.", after="It rises.", why="narrowed", passages=(SEVEN,)),
    )
    return fold_events(log.events)


def test_what_speaks_against_a_claim_is_kept_with_its_text() -> None:
    view = fold_events(checked_report().events)
    assert view.claims[0].against == ("S1001.2",)
    assert view.passages["S1001.2"].text == "It rises seven metres."


def test_a_revised_claim_keeps_its_id_and_what_it_said() -> None:
    view = revised(checked_report())
    claim = view.claims[0]
    assert (claim.id, claim.text, claim.passages, claim.against) == ("c1", "It rises.", ("S1001.2",), ())
    assert (claim.verdict, claim.reason, view.checks.get("c1")) == ("unchecked", "revised: narrowed", None)
    before = Version(
        text="It rises nine metres.",
        passages=("S1001.1",),
        verdict="contradicted",
        reason="five",
        why="narrowed",
    )
    assert view.versions == {"c1": (before,)}


def test_checks_are_those_of_the_present_version() -> None:
    log = checked_report()
    revised(log)
    log.add("verify", e.ClaimChecked(id="c1", rule="judge", verdict="partial", reason="half of it"))
    view = fold_events(log.events)
    assert view.checks["c1"] == (Check(rule="judge", verdict="partial", reason="half of it"),)
    assert view.checks["c2"] == (Check(rule="judge", verdict="supported"),)
    assert (view.summary.partial, view.summary.supported) == (1, 1)


def test_text_and_places_change_together() -> None:
    log = checked_report()
    before = revised(log)
    assert (before.claims[0].start, before.claims[0].end) == (0, 20), "the text is still the old one"
    text = "It rises [S1001.2]. It turns twice [S1001.2]."
    log.add("verify", e.ReportRevised(text=text, why="checked", spans={"c1": (0, 8), "c2": (20, 34), "c9": (1, 2)}))
    view = fold_events(log.events)
    assert [view.report.text[claim.start : claim.end] for claim in view.claims] == ["It rises", "It turns twice"]
    assert view.checks["c2"], "checks of other claims are kept"


def test_a_removed_claim_is_kept_with_its_history() -> None:
    log = checked_report()
    revised(log)
    log.add("verify", e.ClaimChecked(id="c1", rule="judge", verdict="unsupported", reason="no"))
    log.add("verify", e.ClaimRemoved(id="c1", why="nothing supports it"))
    view = fold_events(log.events)
    assert [claim.id for claim in view.claims] == ["c2"]
    assert "c1" not in {**view.checks, **view.versions}
    (gone,) = view.removed
    assert (gone.id, gone.text, gone.why, gone.verdict) == ("c1", "It rises.", "nothing supports it", "unsupported")
    assert [version.text for version in gone.versions] == ["It rises nine metres."]


def test_a_claim_which_is_found_again_begins_anew() -> None:
    log = checked_report()
    revised(log)
    log.add("verify", e.ClaimFound(id="c1", text="It rises.", start=0, end=8, passages=(SEVEN,)))
    view = fold_events(log.events)
    assert (view.claims[0].verdict, view.versions) == ("unchecked", {})


def test_what_happens_to_a_claim_nobody_found_changes_nothing() -> None:
    log = checked_report()
    before = fold_events(log.events)
    log.add("verify", e.ClaimRevised(id="c9", before="a", after="b", why="c"))
    log.add("verify", e.ClaimRemoved(id="c9", why="c"))
    view = fold_events(log.events)
    assert (view.claims, view.versions, view.removed) == (before.claims, before.versions, before.removed)
