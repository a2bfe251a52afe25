"""Old reports by the rules of today: what stays, what is lost, and what a judge's word is worth."""

from __future__ import annotations

import logs
import msgspec
import repaired

from assay.core.claims import Check
from assay.core.errors import StoreError
from assay.core.sources import Passage, sha256
from assay.core.view import RunView
from assay.verify.pipeline import Rechecked, recheck_by_code

DOCUMENT = "The tide at Brest rises seven metres. High water comes twice a day.\n"


def passage(id: str, text: str) -> Passage:
    start = DOCUMENT.index(text)
    hashed = sha256(DOCUMENT.encode())
    found = logs.passage(id, text, start=start)
    return msgspec.structs.replace(found, document_sha256=hashed)


def run() -> RunView:
    """The repaired run, its passages in a document which there is."""
    view = repaired.view()
    held = {
        "S1001.4": passage("S1001.4", "The tide at Brest rises seven metres."),
        "S1001.5": passage("S1001.5", "High water comes twice a day."),
    }
    return msgspec.structs.replace(view, passages={**view.passages, **held})


def text_of(wanted: str) -> bytes:
    if wanted != sha256(DOCUMENT.encode()):
        raise StoreError("not there")
    return DOCUMENT.encode()


def decided(view: RunView, id: str, rule: str, verdict: str, text: str = "") -> RunView:
    """The run with another last check of a claim, and perhaps other words."""
    check = msgspec.convert({"rule": rule, "verdict": verdict, "reason": "so it was"}, Check)
    claims = tuple(
        msgspec.structs.replace(claim, verdict=check.verdict, text=text or claim.text) if claim.id == id else claim
        for claim in view.claims
    )
    return msgspec.structs.replace(view, claims=claims, checks={**view.checks, id: (check,)})


def verdicts(found: Rechecked) -> list[str]:
    return [claim.now for claim in found.claims]


def test_a_report_which_holds() -> None:
    found = recheck_by_code(run(), text_of).with_opinions({})
    assert verdicts(found) == ["contradicted", "quoted"]
    assert (found.lost, found.problems, found.holds) == ((), (), True)


def test_what_was_supported_and_no_longer_is_is_lost() -> None:
    found = recheck_by_code(decided(run(), "c1", "lexical", "supported"), text_of).with_opinions({})
    assert (found.lost, found.holds) == (("c1",), False)
    assert (found.before.grounded_count, found.now.grounded_count) == (2, 1)


def test_a_judges_word_stands_until_a_rule_objects() -> None:
    text = "Water is high two times each day, they say."
    found = recheck_by_code(decided(run(), "c3", "judge", "supported", text), text_of).with_opinions({})
    assert (found.claims[1].now, found.claims[1].rule) == ("supported", "judge")
    found = recheck_by_code(decided(run(), "c1", "judge", "supported"), text_of).with_opinions({})
    assert found.lost == ("c1",)


def test_what_was_not_checked_stays_so() -> None:
    found = recheck_by_code(decided(run(), "c3", "off", "unchecked"), text_of).with_opinions({})
    assert (found.claims[1].now, found.claims[1].reason, found.lost) == ("unchecked", "so it was", ())


def test_a_document_which_is_not_there_is_a_problem() -> None:
    found = recheck_by_code(repaired.view(), text_of).with_opinions({})
    assert found.problems
    assert not found.holds
