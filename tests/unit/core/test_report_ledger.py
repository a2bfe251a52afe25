"""The ledger of claims in `report.json`: checks, versions, evidence for and against, what was taken out."""

from __future__ import annotations

import msgspec
import repaired

from assay.core.brief import Brief
from assay.core.report import Report, build_report
from assay.export.json import render

REPORT = build_report(repaired.view())


def test_each_claim_has_its_checks_and_what_speaks_against_it() -> None:
    first, second = REPORT.claims
    assert [(check.rule, check.verdict) for check in first.checks] == [("number", "contradicted")]
    assert [(each.passage, each.source, each.number) for each in first.against] == [("S1002.1", "S1002", None)]
    assert [check.rule for check in second.checks] == ["verbatim"]
    assert second.against == ()


def test_a_revised_claim_keeps_what_it_was() -> None:
    [version] = REPORT.claims[1].versions
    assert version.text == "High water comes three times a day."
    assert (version.verdict, version.why) == ("contradicted", "the passage says twice")
    assert REPORT.claims[1].text == "High water comes twice a day"


def test_what_was_taken_out_is_told_with_what_it_cited() -> None:
    [gone] = REPORT.removed
    assert (gone.text, gone.why, gone.verdict) == ("Ships sank in 1999.", "nothing supports it", "unsupported")
    assert gone.passages == ("S1002.1",)


def test_every_passage_of_the_ledger_is_there_and_cited_ones_once() -> None:
    assert [passage.id for passage in REPORT.passages] == ["S1001.4", "S1001.5"]
    assert [passage.id for passage in REPORT.further] == ["S1002.1"]


def test_thread_and_parent_of_the_run() -> None:
    brief = Brief(question="And at low tide?", date="2025-01-02", thread="abc", parent="run0000000")
    report = build_report(msgspec.structs.replace(repaired.view(), brief=brief))
    assert (report.thread, report.parent) == ("abc", "run0000000")
    assert (REPORT.thread, REPORT.parent) == ("", "")


def test_a_report_of_an_older_release_still_reads() -> None:
    data = msgspec.json.decode(render(repaired.view()))
    for name in ("thread", "parent", "removed", "further"):
        del data[name]
    for claim in data["claims"]:
        for name in ("against", "checks", "versions"):
            del claim[name]
    old = msgspec.convert(data, Report)
    assert [claim.verdict for claim in old.claims] == ["contradicted", "supported"]
    assert old.removed == ()
