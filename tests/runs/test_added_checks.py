"""Whole runs with checks of other packages: what they object to, what switches them off, and what a fault does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from research import Log, Sea, whole, writes

from assay.core import events as e
from assay.core.errors import UnknownName
from assay.core.view import fold_events
from assay.services.claim_checks import ClaimRow, RowChecker
from assay.verify.analyzed_text import AnalyzedText, Texts
from assay.verify.checks import AddedCheck, require_known_checks
from assay.verify.claim_check import CheckRules
from assay.verify.evidence import ClaimSlot, SlotFinding
from assay.verify.evidence_index import text_reader
from assay.verify.pipeline import recheck_by_code

CLAIM = "The tide rises by 7 metres at Brest."


def tides(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """Objects to whatever is said of tides."""
    for index, word in enumerate(claim.words):
        if word.text.lower() == "tide":
            slot = ClaimSlot(word.text, *claim.origin(index, index))
            yield SlotFinding(rule="anything", slot=slot, outcome="absent", veto=True)


def breaks(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    yield from tides(claim, texts)
    raise KeyError("tide table")


def strays(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    yield SlotFinding(rule="x", slot=ClaimSlot("tide", 0, 4), outcome="absent", said=None)  # type: ignore[arg-type]


async def ran(*checks: AddedCheck, **changes: object) -> Log:
    return await Sea(checks=checks).run(writes(f"{CLAIM} [S1001.1]"), repair=False, **changes)


def warned(log: Log) -> list[str]:
    return [event.message for event in log.of(e.Warned) if event.message.startswith("the check ")]


async def test_an_objection_is_told_with_the_name_of_the_check() -> None:
    log = await ran(AddedCheck("acme_tides", "acme", tides))
    [checked] = log.of(e.ClaimChecked)
    assert (checked.rule, checked.verdict) == ("acme_tides", "unsupported")
    assert checked.reason == "acme_tides: tide is not in the cited passage"
    assert warned(log) == []
    assert whole(log)


async def test_it_is_switched_off_by_its_name() -> None:
    log = await ran(AddedCheck("acme_tides", "acme", tides), checks_off=("judge", "acme_tides"))
    [checked] = log.of(e.ClaimChecked)
    assert (checked.rule, checked.verdict) == ("lexical", "supported")


@pytest.mark.parametrize(
    ("find", "fault"), [(breaks, "KeyError: 'tide table'"), (strays, "ValidationError: Expected `str`, got `null`")]
)
async def test_a_fault_is_told_with_its_package_and_the_run_goes_on(find: object, fault: str) -> None:
    log = await ran(AddedCheck("acme_tides", "acme-assay", find))  # type: ignore[arg-type]
    [checked] = log.of(e.ClaimChecked)
    assert (checked.rule, checked.verdict) == ("lexical", "supported")
    [message] = warned(log)
    assert message.startswith(
        "the check 'acme_tides' of the package acme-assay failed on 1 claim, which it left unchecked: " + fault
    )
    assert log.last(e.RunCompleted)


async def test_one_with_the_name_of_ours_replaces_it() -> None:
    def never(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
        yield from ()

    wrong = writes("The tide at Brest rises nine metres. [S1001.1]")
    [ours] = (await Sea().run(wrong, repair=False)).of(e.ClaimChecked)
    [theirs] = (await Sea(checks=(AddedCheck("number", "acme", never),)).run(wrong, repair=False)).of(e.ClaimChecked)
    assert ours.rule == "number"
    assert theirs.rule == "lexical"


def test_an_unknown_name_in_checks_off_is_told_the_nearest() -> None:
    added = (AddedCheck("acme_tides", "acme", tides),)
    require_known_checks(("judge", "acme_tides"), added)
    with pytest.raises(UnknownName, match="no check named 'acme_tide'; did you mean 'acme_tides'"):
        require_known_checks(("acme_tide",), added)
    with pytest.raises(UnknownName, match="no check named 'numbers'; did you mean 'number'"):
        require_known_checks(("numbers",), ())


SHORT = "acme_tides", "acme-assay"
TOLD = (
    "the check 'acme_tides' of the package acme-assay failed on 1 claim, which it left unchecked: "
    "KeyError: 'tide table'"
)


async def test_a_run_is_checked_again_by_it() -> None:
    sea = Sea()
    view = fold_events((await sea.run(writes(f"{CLAIM} [S1001.1]"), repair=False)).envelopes)
    text = text_reader(sea.store.library, sea.reader)
    found = recheck_by_code(view, text, CheckRules(added_checks=(AddedCheck(*SHORT, tides),))).with_opinions({})
    assert [(each.rule, each.now, each.before) for each in found.claims] == [("acme_tides", "unsupported", "supported")]
    assert (found.lost, found.warnings) == (("c1",), ())
    found = recheck_by_code(view, text, CheckRules(added_checks=(AddedCheck(*SHORT, breaks),))).with_opinions({})
    assert [each.now for each in found.claims] == ["supported"]
    assert found.warnings == (TOLD,)
    off = CheckRules(checks_off=("acme_tides",), added_checks=(AddedCheck(*SHORT, breaks),))
    assert recheck_by_code(view, text, off).with_opinions({}).warnings == ()


def test_claims_are_checked_beside_texts_by_it() -> None:
    row = ClaimRow(id=1, doc="At Brest the tide rises by 7 metres.", claim=CLAIM)
    fine = RowChecker().check(row)
    objecting = RowChecker((AddedCheck(*SHORT, tides),))
    assert [each.rule for each in (fine, objecting.check(row))] == ["lexical", "acme_tides"]
    assert objecting.faults() == ()
    failing = RowChecker((AddedCheck(*SHORT, breaks),))
    assert failing.check(row) == fine
    assert failing.faults() == (TOLD,)
