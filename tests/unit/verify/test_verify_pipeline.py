"""Verification of whole reports in a run: events, verdicts, the gate."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from evidence_of import shown, source, stored
from growth import WORST, exponent
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.core.brief import Brief
from assay.core.claims import HOLDING, Summary
from assay.core.events import ClaimChecked, ClaimFound, Event, VerifySummary, decode
from assay.core.ports import World
from assay.core.sources import Passage, Snapshot, Source
from assay.evidence.documents import DocumentReader
from assay.run.engine import Engine, Outcome
from assay.run.process import SystemClock
from assay.run.run import Run
from assay.store.memory import memory_store
from assay.verify.checks import check_by_code
from assay.verify.claim_check import CheckRules
from assay.verify.evidence import ClaimEvidence
from assay.verify.evidence_index import EvidenceIndex
from assay.verify.pipeline import VerifiedReport, WrittenReport, verify_report
from assay.verify.question_relevance import run_questions

TEXT = """PEP: 6
Title: Bug Fix Releases
Status: Superseded
Created: 15-Mar-2001

# Abstract

Python has historically had only a single fork of development. It had 37 releases in 2001, or 12.5 % more than before.
No release was late. "Stay calm," said the editor.

- Patch releases are required to adhere to 3 rules.
"""
PASSAGES = shown("S1", TEXT)
SOURCES = {"S1": source("S1", "PEP 6 – Bug Fix Releases", "https://peps.example/pep-0006/", TEXT)}


def holding(words: str) -> str:
    """The id of the passage which holds `words`."""
    return next(id for id, passage in PASSAGES.items() if words in passage.text)


async def verified(
    report: str,
    *,
    passages: Mapping[str, Passage] = PASSAGES,
    sources: Mapping[str, Source] = SOURCES,
    keep: bool = True,
    enabled: bool = True,
    has_sources: bool = True,
) -> tuple[VerifiedReport, list[Event]]:
    """Verify a report in a run of its own, over a store which holds the document (unless not `keep`)."""
    store = memory_store()
    document = stored(TEXT)
    if keep:
        store.blobs.put(TEXT.encode())
        snapshot = Snapshot(sha256=document.sha256, url="", media_type="text/plain", size=1, fetched_at="")
        store.library.add([(snapshot, document)], "default")
    results: list[VerifiedReport] = []

    async def pipeline(run: Run) -> Outcome:
        phase = run.child("verify")
        reader = DocumentReader(store.blobs)
        held = EvidenceIndex(passages, sources, reader)
        rules = CheckRules(enabled=enabled, has_sources=has_sources)
        results.append(await verify_report(phase, WrittenReport(text=report), held, rules))
        return Outcome(verified=results[0].passed)

    async def prepare() -> tuple[Brief, World]:
        world = World(models={}, searches=(), library=store.library, blobs=store.blobs, clock=SystemClock())
        return Brief(question="?", date="2026-01-01"), world

    handle = Engine(store.journal, pipeline).start(prepare)
    events = [event for envelope in [each async for each in handle] if (event := decode(envelope)) is not None]
    await handle.wait()
    return results[0], events


async def test_a_report_is_verified_and_every_step_of_it_told() -> None:
    report = (
        f"Status of PEP 6 (Bug Fix Releases): Superseded [{holding('Status')}, {holding('PEP:')}].\n\n"
        f"## More\n\n"
        f"It had 37 releases in 2001, or 12.5 % more than before [{holding('37')}]. "
        f"It had 38 releases [{holding('37')}]. "
        f"Status of PEP 6: Final [{holding('Status')}]. "
        f"Editors praised releases in 2001 [{holding('37')}]. "
        f"The editor said “keep calm” [{holding('editor')}]. "
        f"Nobody knows why. This is so [S7.7].\n\n"
        "## What could not be found\n\n- Who did it\n"
    )
    result, events = await verified(report)
    assert [(claim.verdict, claim.reason) for claim in result.claims] == [
        ("supported", "the cited field says so"),
        ("quoted", f"verbatim in {holding('37')}"),
        ("contradicted", f"the claim says '38', {holding('37')} says '37'"),
        ("contradicted", "the cited field 'status' says 'Superseded'"),
        ("unchecked", result.claims[4].reason),
        ("unsupported", "the quotation 'keep calm' is not in the cited passage"),
        ("unsupported", "no citation"),
        ("unsupported", "what it cites does not exist"),
    ]
    assert re.fullmatch(
        r"compared by words, likely \(0\.\d\d\): .*not in the evidence: .*praised.*", result.claims[4].reason
    )
    assert result.summary == Summary(
        claims=8, quoted=1, supported=1, unsupported=3, contradicted=2, unchecked=1, dropped_markers=1
    )
    assert result.passed
    found = [event for event in events if isinstance(event, ClaimFound)]
    checked = [event for event in events if isinstance(event, ClaimChecked)]
    assert [event.id for event in found] == [event.id for event in checked] == [f"c{n}" for n in range(1, 9)]
    assert [event.rule for event in checked] == [
        *("field", "verbatim", "number", "field", "lexical", "quote", "citation", "citation")
    ]
    assert [tuple(each.id for each in event.passages) for event in found] == [claim.passages for claim in result.claims]
    assert report[found[1].start : found[1].end] == "It had 37 releases in 2001, or 12.5 % more than before"
    [summary] = [event for event in events if isinstance(event, VerifySummary)]
    assert (summary.summary, summary.passed, summary.problems) == (result.summary, True, ())


async def test_a_claim_that_shares_no_word_with_the_source_it_cites_is_told_so() -> None:
    source = holding("Status").partition(".")[0]
    result, _ = await verified(f"Purple elephants dance [{source}]. Purple elephants dance [S7].")
    assert [(claim.verdict, claim.reason) for claim in result.claims] == [
        ("unsupported", "the cited document shares no word with it"),
        ("unsupported", "what it cites does not exist"),
    ]


@pytest.mark.parametrize(("switch", "reason"), [({"enabled": False}, "off"), ({"has_sources": False}, "no sources")])
async def test_switched_off_or_without_sources_nothing_is_checked(switch: dict[str, bool], reason: str) -> None:
    result, _ = await verified(f"It had 38 releases [{holding('37')}]. It is so.", **switch)
    assert [(claim.verdict, claim.reason) for claim in result.claims] == [("unchecked", reason)] * 2
    assert result.passed


async def test_a_source_cited_as_a_whole_gets_its_best_passage() -> None:
    result, _ = await verified("Patch releases are required to adhere to 3 rules [S1].")
    [claim] = result.claims
    assert (claim.passages, claim.verdict) == ((holding("Patch"),), "quoted")


async def test_a_quotation_of_several_sentences_may_be_cited_at_its_end() -> None:
    first = "Python has historically had only a single fork of development."
    report = f"{first} No release was late. [{holding('No release')}]"
    result, _ = await verified(report)
    assert [(claim.verdict, claim.passages) for claim in result.claims] == [
        ("quoted", (holding("No release"),)),
        ("quoted", (holding("No release"),)),
    ]
    result, _ = await verified(report.replace("single", "double"))
    assert next(claim.reason for claim in result.claims) == "no citation"


async def test_without_the_document_the_gate_does_not_pass() -> None:
    result, events = await verified(f"No release was late. [{holding('No release')}]", keep=False)
    assert not result.passed
    assert "is not in the library" in result.problems[0]
    assert [event.passed for event in events if isinstance(event, VerifySummary)] == [False]


async def test_a_range_which_reaches_past_what_was_shown_drops_nothing() -> None:
    first, last = sorted((holding("PEP:"), holding("Created")))
    result, _ = await verified(f"It was created 15-Mar-2001 [{first}-{last}]. It is [S1.0-S1.999].")
    assert result.summary.dropped_markers == 0 or "S1.49" not in PASSAGES
    assert result.passed


async def test_a_report_without_claims_is_in_order() -> None:
    result, _ = await verified("")
    assert (result.claims, result.passed, result.summary) == ((), True, Summary())


# properties

SENTENCES = [
    "Python has historically had only a single fork of development.",
    "It had 37 releases in 2001, or 12.5 % more than before.",
    "No release was late.",
    "Patch releases are required to adhere to 3 rules.",
    "Status of PEP 6 (Bug Fix Releases): Superseded",
    "Created of PEP 6 (Bug Fix Releases): 15-Mar-2001",
]


def cite(sentence: str) -> str:
    """The markers for a sentence of SENTENCES."""
    key = sentence.partition(" of PEP")[0] + ":"
    id = holding(key) if " of PEP" in sentence else holding(sentence)
    identity = f", {holding('PEP:')}, {holding('Title:')}" if " of PEP" in sentence else ""
    return f"[{id}{identity}]"


@settings(max_examples=scaled(25))
@given(
    st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6),
    st.sampled_from(["\n\n", "\n- ", " "]),
    st.booleans(),
)
async def test_a_report_of_verbatim_passages_is_all_supported(chosen: list[str], between: str, after: bool) -> None:
    if between == " ":
        chosen = [sentence for sentence in chosen if sentence.endswith(".")]
    lines = [f"{line} {cite(line)}" if after else f"{line.rstrip('.')} {cite(line)}." for line in chosen]
    result, _ = await verified(("" if between != "\n- " else "- ") + between.join(lines))
    assert [claim.reason for claim in result.claims if claim.verdict not in HOLDING] == []
    assert len(result.claims) == len(chosen)
    assert result.passed


def evidence_for(sentence: str) -> ClaimEvidence:
    ids = re.findall(r"S1\.\d+", cite(sentence))
    return ClaimEvidence(passages=tuple(PASSAGES[id] for id in ids), sources=SOURCES)


DIGITS = [(sentence, at) for sentence in SENTENCES for at, sign in enumerate(sentence) if sign.isdecimal()]


@given(st.sampled_from(DIGITS), st.sampled_from("0123456789"))
def test_any_digit_edited_is_never_supported(place: tuple[str, int], digit: str) -> None:
    sentence, at = place
    edited = sentence[:at] + digit + sentence[at + 1 :]
    verdict = check_by_code(edited, evidence_for(sentence), has_markers=True).verdict
    assert (verdict in HOLDING) == (edited == sentence)


@settings(max_examples=scaled(150))
@given(st.sampled_from(SENTENCES), st.data())
def test_letters_and_digits_taken_out_or_put_in_are_never_supported(sentence: str, data: st.DataObject) -> None:
    at = data.draw(st.sampled_from([at for at, sign in enumerate(sentence) if sign.isalnum()]))
    new = data.draw(st.sampled_from(["", "x", "7", "not ", "é"]))
    edited = sentence[:at] + new + sentence[at + (not new) :]
    assume("PEP  (" not in edited)  # its title names the document as well
    without_weighing = check_by_code(
        edited, evidence_for(sentence), has_markers=True, checks_off=("lexical",)
    )  # which reads word forms
    assert without_weighing.verdict not in HOLDING


@pytest.mark.parametrize(
    ("sentence", "before", "after", "verdict"),
    [
        (1, "37", "73", "contradicted"),
        (1, "2001", "2010", "contradicted"),
        (1, "12.5 %", "12.5 percentage points", "contradicted"),
        (1, "12.5 %", "125 %", "contradicted"),
        (1, "more", "less", "contradicted"),
        (2, "No release was late", "A release was late", "contradicted"),
        (2, "late", "not late", "unchecked"),
        (3, "are required", "are not required", "contradicted"),
        (3, "3 rules", "three rules", "supported"),
        (3, "3 rules", "four rules", "contradicted"),
        (4, "Superseded", "Active", "contradicted"),
        (4, "PEP 6", "PEP 9", "unsupported"),
        (5, "15-Mar", "16-Mar", "contradicted"),
        (5, "15-Mar-2001", "3 May 2001", "contradicted"),
    ],
)
def test_edited_values(sentence: int, before: str, after: str, verdict: str) -> None:
    text = SENTENCES[sentence]
    assert before in text
    assert check_by_code(text.replace(before, after), evidence_for(text), has_markers=True).verdict == verdict


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Who built it? And when?", ["Who built it?", "And when?"]),
        ("Who built it?? When？ By whom؟ Tell me.", ["Who built it?", "When？", "By whom؟"]),
        ("Who built it?", []),
        ("Who built it? Tell me.", []),
        ("Tell me who built it", []),
    ],
)
def test_the_parts_of_a_question_are_those_with_a_mark(text: str, parts: list[str]) -> None:
    assert run_questions(Brief(question=text, date="2026-01-01")) == (text, *parts)


def test_a_long_question_without_a_mark_is_read_in_linear_time() -> None:
    def read(text: str) -> object:
        return run_questions(Brief(question=text, date="2026-01-01"))

    assert exponent(read, lambda size: "tide " * size, 1_000) < WORST
