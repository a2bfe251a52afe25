"""What a run takes over from another: rows, answers while the documents are the same, and ids which never meet."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from research import document

from assay.agents.task import Kit
from assay.core.brief import Brief, Scope
from assay.core.plan import Plan
from assay.core.ports import LedgerRow, Memory, StepRecord
from assay.core.sources import CollectionSummary, Span, lane_of_source
from assay.core.view import RunView
from assay.evidence.ledger import Ledger
from assay.phases.heritage import SCOPE, STEP, Heritage, cited_before, equip, recalled, taken
from assay.phases.inquiry import Inquiry
from assay.phases.state import Research
from assay.run.protocols import Shown

TEXTS = ("The tide rises seven metres.", "The mistral blows from the north-west.", "The moon causes the tide.")
DOCUMENTS = [document(f"d{place}.md", text) for place, text in enumerate(TEXTS)]
TURNS = st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 2), max_size=4)), max_size=6)
TWO = CollectionSummary(documents=2)


def shown(place: int) -> Shown:
    text = TEXTS[place]
    return Shown(document=DOCUMENTS[place], spans=(Span(ordinal=1, start=0, end=len(text), text=text),))


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


class AtLane:
    """As much of a run as an equipment needs."""

    def __init__(self, lane: int, web: bool = False) -> None:
        self.lane, self.brief = lane, Brief(question="?", date="2026-01-02", scope=Scope(web=web))


def kit_of(heritage: Heritage, scope: CollectionSummary | None = TWO, *, web: bool = False) -> Kit:
    run: Any = AtLane(4, web)
    return equip(run, {}, heritage, scope)


@given(TURNS, TURNS)
def test_ids_of_the_two_runs_never_meet(
    before: list[tuple[int, list[int]]], after: list[tuple[int, list[int]]]
) -> None:
    heritage = taken(memory(fill(Ledger(), before, 0)), RunView())
    again = msgspec.json.decode(msgspec.json.encode(heritage), type=Heritage)
    assert again == heritage
    kit = kit_of(heritage)
    inherited = {row.id for row in heritage.rows}
    new = fill(kit.ledger, after, 4)
    assert not inherited & {row.id for row in new}
    assert {row.id for row in taken(memory([*heritage.rows, *new]), RunView()).rows} == inherited | {r.id for r in new}
    assert all(lane_of_source(row.id) >= 4 for row in new if row.kind == "source")
    assert set(kit.lanes) == {4, *heritage.lanes}


def test_answers_hold_while_the_documents_are_the_same() -> None:
    named = LedgerRow(kind="answer", id="search:local abc", lane=1, data=b'"a:search:0"')
    stored = memory([named], **{"a:search:0": ("observation/1", {"summary": "s"}), SCOPE: ("collectionsummary/1", TWO)})
    heritage = taken(stored, RunView())
    assert heritage.rows == ()
    assert kit_of(heritage).ledger.answered("search:local abc") == b'{"summary":"s"}'
    other = CollectionSummary(documents=3)
    assert kit_of(heritage, scope=other).ledger.answered("search:local abc") is None
    assert kit_of(heritage, scope=None).ledger.answered("search:local abc") is None
    assert kit_of(heritage, web=True).ledger.answered("search:local abc") is None
    same_day = msgspec.structs.replace(heritage, date="2026-01-02")
    assert kit_of(same_day, web=True).ledger.answered("search:local abc") == b'{"summary":"s"}'
    handed_on = taken(memory([], **{STEP: ("heritage/1", heritage), SCOPE: ("collectionsummary/1", TWO)}), RunView())
    assert kit_of(handed_on).ledger.answered("search:local abc") == b'{"summary":"s"}'


@pytest.mark.parametrize("scope", [("failed/1", {"kind": "limit", "reason": "time"}), None])
def test_without_a_look_at_the_documents_no_answer_is_reused(scope: tuple[str, object] | None) -> None:
    heritage = taken(memory([], **({SCOPE: scope} if scope else {})), RunView())
    assert heritage.scope is None


def test_only_sources_of_the_earlier_run_are_announced() -> None:
    kit = kit_of(taken(memory(fill(Ledger(), [(1, [0])], 0)), RunView()))
    fill(kit.ledger, [(1, [1])], 4)
    text = "It rises. [S1001.1] It blows. [S5001.1] Who knows? [S9001.1] And again. [S1001]"
    assert [source.id for source in cited_before(4, kit, text)] == ["S1001"]


def test_a_run_which_found_nothing_recalls_nothing() -> None:
    inquiry = Inquiry(question="How far does the tide rise?", date="", count=1, documents="", scope="")
    heritage = msgspec.structs.replace(taken(memory(fill(Ledger(), [(0, [0])], 0)), RunView()), cited=("S1.1",))
    research = Research(plan=Plan(title="t"))
    assert recalled(kit_of(heritage), inquiry, heritage, research) == research
