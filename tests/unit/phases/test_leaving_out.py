"""What becomes of findings, of the plan, and of what else a run came to, when sources are left out of it."""

from __future__ import annotations

import msgspec
from evidence_of import passage, source
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.findings import Finding
from assay.core import events as e
from assay.core.markers import parse_markers
from assay.core.passage_context import format_source
from assay.core.phrases import NOTHING
from assay.core.plan import Coverage, Plan, PlanStep, Triage
from assay.core.ports import LedgerRow
from assay.core.report_sentences import claims
from assay.core.sources import Passage
from assay.phases.case import Research
from assay.phases.fork import Checkpoint, SourceRemoval, revise_event
from assay.phases.inheritance import InheritedEvidence

SOURCES = ("S1", "S1001", "S1002", "S2001")
PASSAGES = {
    f"{id}.{number}": passage(f"{id}.{number}", f"Fact {number} of {id}.") for id in SOURCES for number in (1, 2)
}
PLAN = Plan(title="P", steps=(PlanStep(id=1, title="One", status="completed"), PlanStep(id=2, title="Two")))


def rows() -> tuple[LedgerRow, ...]:
    """A ledger of these sources and passages, and a query."""
    met = []
    for id in SOURCES:
        data = {"source": msgspec.to_builtins(source(id, f"Title {id}")), "document": DOCUMENT}
        met.append(LedgerRow(kind="source", id=id, lane=int(id[1:]) // 1000, data=msgspec.json.encode(data)))
    shown = (
        LedgerRow(kind="passage", id=id, lane=int(each.source[1:]) // 1000, data=msgspec.json.encode(each))
        for id, each in PASSAGES.items()
    )
    return (*met, *shown, LedgerRow(kind="query", id="1:a", lane=1, data=b'"tide"'))


DOCUMENT = {
    "sha256": "0" * 64,
    "snapshot_sha256": "0" * 64,
    "extractor": "text/1",
    "url": "",
    "title": "",
    "name": "",
    "media_type": "text/plain",
    "syntax": "plain",
    "size": 0,
    "fetched_at": "",
}


def leaving(*ids: str) -> SourceRemoval:
    return SourceRemoval(frozenset(ids), rows())


def finding(text: str, step: int = 1) -> Finding:
    cited = tuple(PASSAGES[id] for marker in parse_markers(text) for id in marker.ids if id in PASSAGES)
    return Finding(lane=1, task="T", step=step, text=text, passages=cited)


WORDS = st.lists(st.sampled_from("tide winds rises seven metres moon of Brest".split()), min_size=3, max_size=6)
CITED = st.lists(st.sampled_from(sorted(PASSAGES)), max_size=3, unique=True)
SENTENCES = st.lists(st.tuples(WORDS, CITED, st.sampled_from(["", "- ", "\n\n"])), min_size=1, max_size=8)


def written(sentences: list[tuple[list[str], list[str], str]]) -> str:
    """Sentences with their markers; each says which it is, so that none is like another."""
    lines = []
    for number, (words, cited, before) in enumerate(sentences):
        marker = f" [{', '.join(cited)}]" if cited else ""
        start = f"\n{before}" if before == "- " else before or " "
        lines.append(f"{start}Sentence{number} {' '.join(words)}.{marker}")
    return "".join(lines).strip()


@given(SENTENCES, st.sets(st.sampled_from(SOURCES)))
def test_nothing_of_a_left_out_source_stays_and_nothing_of_the_others_goes(sentences, ids):
    text = written(sentences)
    left = leaving(*ids).filter_text(text)
    cited_before = {each.text.partition(" ")[0]: [id for m in each.markers for id in m.ids] for each in claims(text)}
    cited_after = {each.text.partition(" ")[0]: [id for m in each.markers for id in m.ids] for each in claims(left)}
    for name, before in cited_before.items():
        kept = [id for id in before if id.partition(".")[0] not in ids]
        assert cited_after.get(name, []) == kept, (text, left)
        if before and not kept:
            assert f"{name} " not in left
        elif before:
            assert f"{name} " in left
    for number, (_, cited, _) in enumerate(sentences):
        if not cited:
            assert f"Sentence{number} " in left
    assert leaving(*ids).filter_text(left) == left


@given(st.text(max_size=300), st.sets(st.sampled_from(SOURCES)))
def test_any_text_is_read_and_cites_nothing_that_was_left_out(text, ids):
    left = leaving(*ids).filter_text(text)
    assert not {id.partition(".")[0] for marker in parse_markers(left) for id in marker.ids} & ids


def test_a_finding_nothing_is_left_of_says_so_and_its_step_is_open_again():
    research = Research(plan=PLAN, findings=(finding("It is so. [S1001.1]"), finding("So too. [S1002.1]", 2)))
    at = Checkpoint(triage=Triage(), question="Is it?", plan=PLAN, research=research)
    found = leaving("S1001").filter_checkpoint(at)
    assert found.research is not None
    assert [each.text for each in found.research.findings] == [NOTHING, "So too. [S1002.1]"]
    assert [each.finding for each in found.research.plan.steps] == [NOTHING, ""]
    assert [(each.step, each.status) for each in found.coverage] == [(0, "partly"), (1, "not"), (2, "answered")]


def test_where_nothing_is_left_out_all_stays_as_it_is():
    at = Checkpoint(
        triage=Triage(),
        question="Is it?",
        research=Research(plan=PLAN, findings=(finding("It is so. [S1001.1]"),)),
        coverage=(Coverage(step=1, part="One", status="partly"),),
    )
    assert leaving().filter_checkpoint(at) is at
    assert leaving().rows == rows()


def test_rows_of_a_source_and_its_passages_go():
    kept = leaving("S1001").rows
    assert {row.id for row in rows()} - {row.id for row in kept} == {"S1001", "S1001.1", "S1001.2"}


def test_the_planner_is_told_of_the_others_only():
    shown = "\n\n".join(format_source(source(id, f"Title {id}"), [PASSAGES[f"{id}.1"]]) for id in ("S1", "S1001"))
    assert leaving("S2001").filter_background(shown) == shown
    assert leaving("S1").filter_background(shown) == format_source(
        source("S1001", "Title S1001"), [PASSAGES["S1001.1"]]
    )


def test_what_was_taken_over_from_an_earlier_run_goes_too():
    taken = leaving("S1").filter_inherited(
        InheritedEvidence(
            question="?", rows=rows(), cited=("S1.1", "S1001.1"), answers={"search a": msgspec.Raw(b"{}")}
        )
    )
    assert taken.cited == ("S1001.1",)
    assert not taken.answers
    assert "S1" not in {row.id for row in taken.rows}


# events


def without_sources(event: e.Event, *ids: str, at: Checkpoint | None = None) -> e.Event | None:
    return revise_event(event, leaving(*ids), at or Checkpoint(triage=Triage(depth="light"), question="?"))


def test_events_of_a_left_out_source_are_not_taken_over():
    assert without_sources(e.SourceAdded(source=source("S1001")), "S1001") is None
    assert without_sources(e.SourceReused(source="S1001"), "S1001") is None
    assert without_sources(e.FindingDelta(lane=1, text="x"), "S1001") is None
    for event in (e.SourceAdded(source=source("S1002")), e.SourceReused(source="S1002")):
        assert without_sources(event, "S1001") == event
    for event in (e.SourceAdded(source=source("S1001")), e.FindingDelta(lane=1, text="x")):
        assert without_sources(event) == event


def test_a_finding_is_told_without_it():
    cited: tuple[Passage, ...] = (PASSAGES["S1001.1"], PASSAGES["S1002.1"])
    event = e.FindingAdded(lane=1, task="T", text="The tide rises. [S1001.1] The wind blows. [S1002.1]", passages=cited)
    after = without_sources(event, "S1001")
    assert isinstance(after, e.FindingAdded)
    assert (after.text, after.passages) == ("The wind blows. [S1002.1]", cited[1:])
    assert without_sources(event, "S2001") == event


def test_plan_and_coverage_are_told_as_they_are_now():
    research = Research(plan=PLAN, findings=(finding("It is so. [S1001.1]"),))
    at = leaving("S1001").filter_checkpoint(Checkpoint(triage=Triage(), question="?", plan=PLAN, research=research))
    on_the_way = msgspec.structs.replace(
        PLAN, steps=(msgspec.structs.replace(PLAN.steps[0], finding="It is so."), PLAN.steps[1])
    )
    changed = without_sources(e.PlanChanged(plan=on_the_way), "S1001", at=at)
    assert isinstance(changed, e.PlanChanged)
    assert [step.finding for step in changed.plan.steps] == [NOTHING, ""]
    assessed = without_sources(
        e.CoverageAssessed(coverage=(Coverage(step=1, part="One", status="answered"),)), "S1001", at=at
    )
    assert isinstance(assessed, e.CoverageAssessed)
    assert assessed.coverage == at.coverage


def test_triage_says_how_far_the_fork_goes():
    event = e.TriageClassified(triage=Triage(depth="extended"), mode="auto", depth="extended")
    after = without_sources(event)
    assert isinstance(after, e.TriageClassified)
    assert (after.depth, after.triage.depth) == ("light", "light")
