"""The beginning of a run's log in the log of its fork."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from assay.core import events as e
from assay.core.usage import Usage
from assay.run.replay import copied_log

NOW = "2026-02-02T00:00:00.000Z"
PHASES = ("triage", "background", "plan", "research", "write", "verify")


def log(*entries: tuple[str, e.Event]) -> list[e.Envelope]:
    """Events as they stand in a log; a path of phases and what is below them."""
    return [
        e.Envelope(
            seq=seq,
            run_id="r",
            at=f"2026-01-01T00:00:{seq:02}.000Z",
            path=tuple(path.split("/")) if path else (),
            type=event.kind,
            data=msgspec.Raw(e.encode(event)),
        )
        for seq, (path, event) in enumerate(entries, 1)
    ]


def same(event: e.Event) -> e.Event:
    return event


def test_what_stands_before_the_phase_is_taken_over_without_who_did_it_and_what_it_cost():
    events = log(
        ("", e.RunStarted()),
        ("", e.RunContinued(parent="p", sources=1, passages=2, queries=3, pages=4)),
        ("triage", e.PhaseStarted(phase="triage")),
        (
            "triage",
            e.ModelAttempted(role="simple", task="triage", model="m", attempt=1, outcome="ok", usage=Usage(usd=1.0)),
        ),
        ("triage", e.UsageUpdated(role="simple", usage=Usage(usd=1.0))),
        ("", e.ControlAccepted(action="steer")),
        ("", e.BudgetLow(measure="usd", used=1.0, limit=1.0)),
        ("triage", e.PhaseFinished(phase="triage")),
        ("plan", e.PhaseStarted(phase="plan")),
        ("plan", e.PlanStarted()),
    )
    drafts = copied_log(events, "plan", same, NOW)
    assert [draft.type for draft in drafts] == ["run.continued", "phase.started", "model.attempted", "phase.finished"]
    assert [draft.key for draft in drafts] == [f"fork:{number}" for number in range(4)]
    assert {draft.step for draft in drafts} == {"fork"}
    assert msgspec.json.decode(drafts[2].data, type=e.ModelAttempted).usage == Usage()
    assert {draft.at for draft in drafts} == {NOW}


def test_what_was_taken_back_is_left_out_even_where_that_was_said_later():
    events = log(
        ("research/agent-1", e.FindingDelta(lane=1, text="first")),
        ("research/agent-1", e.StepRestarted(step="s", attempt=2, dropped=(1,))),
        ("research/agent-1", e.FindingDelta(lane=1, text="second")),
        ("write", e.PhaseStarted(phase="write")),
    )
    (draft,) = copied_log(events, "write", same, NOW)
    assert b"second" in draft.data


def test_the_phase_of_a_lane_of_that_name_is_not_the_one():
    events = log(("research/write", e.PhaseStarted(phase="write")), ("write", e.PhaseStarted(phase="write")))
    assert len(copied_log(events, "write", same, NOW)) == 1


def test_kinds_nobody_knows_are_taken_over_as_they_are():
    strange = msgspec.structs.replace(log(("plan", e.PlanStarted()))[0], type="acme.done", data=msgspec.Raw(b'{"x":1}'))
    (draft,) = copied_log([strange], "write", same, NOW)
    assert (draft.type, draft.data) == ("acme.done", b'{"x":1}')


@given(st.lists(st.sampled_from(PHASES), max_size=12), st.sampled_from(PHASES), st.sets(st.integers(0, 11)))
def test_the_beginning_in_order_but_for_what_is_refused(names, point, refused):
    events = log(*((name, e.PhaseStarted(phase=name)) for name in names))
    before = names[: names.index(point)] if point in names else names
    seen: list[str] = []

    def revise(event: e.Event) -> e.Event | None:
        assert isinstance(event, e.PhaseStarted)
        seen.append(event.phase)
        return None if len(seen) - 1 in refused else event

    drafts = copied_log(events, point, revise, NOW)
    assert seen == before
    assert [draft.path[0] for draft in drafts] == [name for place, name in enumerate(before) if place not in refused]
    assert len({draft.key for draft in drafts}) == len(drafts)
