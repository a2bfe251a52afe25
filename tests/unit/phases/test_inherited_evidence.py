"""What a run takes over from another: rows, answers while the documents are the same, and ids which never meet."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from research import case_of, document

from assay.core.brief import Brief, Scope
from assay.core.plan import Plan
from assay.core.ports import LedgerRow, Memory, StepRecord
from assay.core.sources import CollectionSummary, PassageSpan, lane_of_source
from assay.core.view import RunView
from assay.evidence.ledger import Ledger
from assay.phases.case import Case, Research
from assay.phases.fork import add_recalled_finding, cited_earlier_sources
from assay.phases.inheritance import INHERIT_STEP, SCOPE_STEP, InheritedEvidence, inheritable_evidence, initial_ledger
from assay.run.protocols import DocumentPassages

TEXTS = ("The tide rises seven metres.", "The mistral blows from the north-west.", "The moon causes the tide.")
DOCUMENTS = [document(f"d{place}.md", text) for place, text in enumerate(TEXTS)]
TURNS = st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 2), max_size=4)), max_size=6)
TWO = CollectionSummary(documents=2)


def shown(place: int) -> DocumentPassages:
    text = TEXTS[place]
    return DocumentPassages(
        document=DOCUMENTS[place], spans=(PassageSpan(ordinal=1, start=0, end=len(text), text=text),)
    )


def fill(ledger: Ledger, turns: list[tuple[int, list[int]]], lane: int) -> list[LedgerRow]:
    """The rows which lanes from `lane` on add when they are shown documents, turn by turn."""
    rows: list[LedgerRow] = []
    for number, places in turns:
        added = ledger.register(lane + number, [shown(place) for place in places])
        ledger.apply(added.rows)
        rows += added.rows
    return rows


def memory(rows: list[LedgerRow], **steps: tuple[str, object]) -> Memory:
    records = {
        key: StepRecord(key=key, input_hash="", tag=tag, data=msgspec.json.encode(data))
        for key, (tag, data) in steps.items()
    }
    return Memory(
        brief=b"{}",
        status="completed",
        fence=1,
        steps=records,
        events=(),
        holds=(),
        ledger=tuple(rows),
        active_seconds=0.0,
    )


def case_with(inheritance: InheritedEvidence, scope: CollectionSummary | None = TWO, *, web: bool = False) -> Case:
    """The case of a run from lane 4 on."""
    ledger = initial_ledger(Brief(question="?", date="2026-01-02", scope=Scope(web=web)), inheritance, scope)
    return case_of(question="How far does the tide rise?", ledger=ledger, inherited=inheritance, lane=4)


@given(TURNS, TURNS)
def test_ids_of_the_two_runs_never_meet(
    before: list[tuple[int, list[int]]], after: list[tuple[int, list[int]]]
) -> None:
    inheritance = inheritable_evidence(memory(fill(Ledger(), before, 0)), RunView())
    again = msgspec.json.decode(msgspec.json.encode(inheritance), type=InheritedEvidence)
    assert again == inheritance
    case = case_with(inheritance)
    inherited = {row.id for row in inheritance.rows}
    new = fill(case.ledger, after, 4)
    assert not inherited & {row.id for row in new}
    assert {row.id for row in inheritable_evidence(memory([*inheritance.rows, *new]), RunView()).rows} == inherited | {
        r.id for r in new
    }
    assert all(lane_of_source(row.id) >= 4 for row in new if row.kind == "source")
    assert set(case.lanes) == {4, *inheritance.lanes}


def test_answers_hold_while_the_documents_are_the_same() -> None:
    named = LedgerRow(kind="answer", id="search:local abc", lane=1, data=b'"a:search:0"')
    stored = memory(
        [named], **{"a:search:0": ("observation/1", {"summary": "s"}), SCOPE_STEP: ("collectionsummary/1", TWO)}
    )
    inheritance = inheritable_evidence(stored, RunView())
    assert inheritance.rows == ()
    assert case_with(inheritance).ledger.cached_answer("search:local abc") == b'{"summary":"s"}'
    other = CollectionSummary(documents=3)
    assert case_with(inheritance, scope=other).ledger.cached_answer("search:local abc") is None
    assert case_with(inheritance, scope=None).ledger.cached_answer("search:local abc") is None
    assert case_with(inheritance, web=True).ledger.cached_answer("search:local abc") is None
    same_day = msgspec.structs.replace(inheritance, date="2026-01-02")
    assert case_with(same_day, web=True).ledger.cached_answer("search:local abc") == b'{"summary":"s"}'
    handed_on = inheritable_evidence(
        memory([], **{INHERIT_STEP: ("heritage/1", inheritance), SCOPE_STEP: ("collectionsummary/1", TWO)}), RunView()
    )
    assert case_with(handed_on).ledger.cached_answer("search:local abc") == b'{"summary":"s"}'


@pytest.mark.parametrize("scope", [("failed/1", {"kind": "limit", "reason": "time"}), None])
def test_without_a_look_at_the_documents_no_answer_is_reused(scope: tuple[str, object] | None) -> None:
    inheritance = inheritable_evidence(memory([], **({SCOPE_STEP: scope} if scope else {})), RunView())
    assert inheritance.scope is None


def test_only_sources_of_the_earlier_run_are_announced() -> None:
    case = case_with(inheritable_evidence(memory(fill(Ledger(), [(1, [0])], 0)), RunView()))
    fill(case.ledger, [(1, [1])], 4)
    text = "It rises. [S1001.1] It blows. [S5001.1] Who knows? [S9001.1] And again. [S1001]"
    assert [source.id for source in cited_earlier_sources(4, case.ledger, text)] == ["S1001"]


def test_a_run_which_found_nothing_recalls_nothing() -> None:
    inheritance = msgspec.structs.replace(
        inheritable_evidence(memory(fill(Ledger(), [(0, [0])], 0)), RunView()), cited=("S1.1",)
    )
    research = Research(plan=Plan(title="t"))
    assert add_recalled_finding(case_with(inheritance), research) == research
