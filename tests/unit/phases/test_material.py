"""What the writer works from."""

from __future__ import annotations

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from assay.agents.findings import Finding, resolve_citations
from assay.agents.findings_request import evidence_text, nearest_evidence
from assay.agents.history import total_tokens
from assay.core.passage_context import read_sources
from assay.core.sources import Document, PassageSpan
from assay.evidence.ledger import DocumentPassages, Ledger
from assay.phases.material import MAX_PARTS, split_findings


def ledger() -> Ledger:
    held = Ledger()
    for lane in (1, 2, 3):
        document = Document(
            sha256=f"{lane}" * 64,
            snapshot_sha256="e" * 64,
            extractor="text/1",
            url=f"file:///{lane}",
            title=f"Document {lane}",
            name="a",
            media_type="text/plain",
            syntax="plain",
            size=1,
            fetched_at="",
        )
        spans = tuple(PassageSpan(place, 0, 9, f"Fact {place} of document {lane}.") for place in range(40))
        held.apply(held.register(lane, [DocumentPassages(document=document, spans=spans)]).rows)
    return held


def finding(lane: int, facts: int) -> Finding:
    text = " ".join(f"Fact {place} of document {lane}. [S{lane}001.{place}]" for place in range(facts))
    return Finding(
        lane=lane, task=f"Find\nfacts {lane}", step=lane, text=text, passages=resolve_citations(text, ledger()).passages
    )


def test_findings_that_fit_are_one_part_with_their_evidence() -> None:
    findings = [finding(1, 3), finding(2, 2)]
    (part,) = split_findings(findings, ledger(), 5_000)
    assert part.findings == tuple(findings)
    assert [message.name for message in part.messages] == ["findings", "findings", "evidence"]
    assert part.messages[0].text.startswith("Task: Find facts 1\nFact 0 of")
    assert [source.title for source in read_sources(part.messages[-1].text)] == ["Document 1", "Document 2"]


def test_evidence_shows_each_passage_once_below_its_source() -> None:
    held = ledger()
    passages = [held.passage(id) for id in ("S1001.2", "S2001.1", "S1001.2", "S1001.5")]
    shown = read_sources(evidence_text([passage for passage in passages if passage], held))
    assert [[each.id for each in source.passages] for source in shown] == [["S1001.2", "S1001.5"], ["S2001.1"]]
    assert evidence_text([], held) == ""


def test_what_shares_no_word_with_a_topic_is_shown_too() -> None:
    held = ledger()
    for topic in ("fact of a document", "潮汐"):
        sources = read_sources(nearest_evidence(held, topic, 40_000))
        assert [source.title for source in sources] == ["Document 1", "Document 2", "Document 3"]
        assert read_sources(nearest_evidence(held, topic, 200))


@given(st.lists(st.integers(1, 40), min_size=1, max_size=3), st.integers(120, 4_000))
def test_parts_fit_keep_the_order_and_lose_no_finding(facts: list[int], tokens: int) -> None:
    findings = [finding(lane, count) for lane, count in enumerate(facts, 1)]
    found = split_findings(findings, ledger(), tokens)
    pieces = [each for part in found for each in part.findings]
    assert [lane for lane, _ in groupby(each.lane for each in pieces)] == [each.lane for each in findings]
    texts = ["\n".join(piece.text for piece in pieces if piece.lane == each.lane) for each in findings]
    if len(found) < MAX_PARTS:
        assert [text.split() for text in texts] == [each.text.split() for each in findings]
    for part in found:
        assert total_tokens(part.messages) <= tokens
        known = {each.id for source in read_sources(part.messages[-1].text) for each in source.passages}
        cited = {
            each.id for message in part.messages[:-1] for each in resolve_citations(message.text, ledger()).passages
        }
        assert cited <= known
