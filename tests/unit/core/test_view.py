"""The fold: whole runs, every prefix, restarts, kinds of later releases, and its work."""

import logs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled
from work import steps

from assay.core import events as e
from assay.core.errors import StoreError
from assay.core.sources import sha256
from assay.core.usage import Usage
from assay.core.view import RunView, ViewBuilder, fold_events

NAMES = sorted(logs.SCENARIOS)


@pytest.mark.parametrize("name", NAMES)
def test_every_prefix_folds_and_the_live_folder_agrees(name: str) -> None:
    events = logs.SCENARIOS[name]().events
    folder = ViewBuilder()
    assert fold_events([]) == folder.view == RunView()
    for count, envelope in enumerate(events, 1):
        folder.apply(envelope)
        assert folder.view == fold_events(events[:count])


def test_a_view_is_frozen_in_all_its_parts_and_stays_when_the_run_goes_on() -> None:
    events = logs.SCENARIOS["two_agents"]().events
    folder = ViewBuilder()
    folder.extend(events[: len(events) // 2])
    view, seen = folder.view, msgspec.json.encode(folder.view)
    folder.extend(events)
    assert msgspec.json.encode(view) == seen
    whole = folder.view
    for part in (
        whole,
        whole.report,
        *whole.phases,
        *whole.lanes,
        *(turn for each in whole.lanes for turn in each.turns),
    ):
        for name in part.__struct_fields__:
            with pytest.raises(AttributeError, match="immutable"):
                setattr(part, name, None)


@given(data=st.data(), name=st.sampled_from(NAMES))
@settings(max_examples=scaled(60))
def test_kinds_of_later_releases_change_nothing(data: st.DataObject, name: str) -> None:
    events = logs.SCENARIOS[name]().events
    places = data.draw(st.lists(st.integers(0, len(events)), max_size=8))
    stranger = logs.Log()
    stranger.unknown("research/agent-1/turn-1")
    mixed: list[e.Envelope] = []
    number: dict[int, int] = {}
    for at, envelope in enumerate([*events, None]):
        mixed += stranger.events * places.count(at)
        if envelope is not None:
            mixed.append(envelope)
            number[envelope.seq] = len(mixed)
    renumbered = [logs.renumber(envelope, seq, number) for seq, envelope in enumerate(mixed, 1)]
    plain, seen = fold_events(events), fold_events(renumbered)
    assert msgspec.structs.replace(seen, last_seq=plain.last_seq) == plain


@given(data=st.data(), name=st.sampled_from(NAMES))
@settings(max_examples=scaled(60))
def test_dropped_events_are_as_if_they_never_were(data: st.DataObject, name: str) -> None:
    events = [each for each in logs.SCENARIOS[name]().events if each.type != "step.restarted"]
    gone = data.draw(st.sets(st.sampled_from([each.seq for each in events[1:]]), max_size=20))
    log = logs.Log()
    log.events = list(events)
    restart = e.StepRestarted(step="any", attempt=2, dropped=tuple(gone))
    last = msgspec.structs.replace(
        events[-1], seq=events[-1].seq + 1, path=(), type=restart.kind, data=msgspec.Raw(e.encode(restart))
    )
    without = fold_events([*(each for each in events if each.seq not in gone)])
    folder = ViewBuilder()
    for each in (*events, last):
        folder.apply(each)
    view = msgspec.structs.replace(folder.view, restarts=0, last_seq=without.last_seq, last_at=without.last_at)
    assert view == without
    assert fold_events([*events, last]) == folder.view


def test_an_event_seen_twice_counts_once() -> None:
    events = logs.two_agents().events
    folder = ViewBuilder()
    folder.extend(events[:30])
    folder.extend(events[20:])
    folder.extend(events)
    assert folder.view == fold_events(events)


def test_two_agents() -> None:
    view = fold_events(logs.two_agents().events)
    assert (view.status, view.stop_reason, view.verified) == ("completed", "done", True)
    assert view.question == "Who wrote PEP 8?"
    assert (view.mode, view.depth, view.strategy) == ("deep_research", "light", "orchestrated")
    assert [phase.name for phase in view.phases] == ["triage", "plan", "research", "write", "verify"]
    assert all(phase.finished_at > phase.started_at for phase in view.phases)
    assert view.active_phase == ""
    assert [(lane.lane, lane.cycle, lane.state, lane.sources) for lane in view.lanes] == [
        (1, 1, "finished", ("S1001", "S1002")),
        (2, 1, "finished", ("S2001", "S2002")),
    ]
    turn = view.lanes[1].turns[1]
    assert turn.path == ("research", "agent-2", "turn-2")
    assert (turn.thoughts, turn.thinking) == (("Search.",), False)
    assert [(tool.tool, tool.outcome, tool.summary) for tool in turn.tools] == [("search", "done", "1 document")]
    assert turn.searches[0].query == "pep 8"
    assert view.lanes[0].finding.passages == ("S1001.4", "S1002.1")
    assert view.lanes[0].finding.finished
    assert view.report.text == logs.TWO_TEXT
    assert view.report.text_sha256 == sha256(logs.TWO_TEXT.encode())
    assert view.report.limits == ("Two documents could not be read.",)
    assert [(claim.verdict, claim.passages) for claim in view.claims] == [
        ("contradicted", ("S2002.3",)),
        ("supported", ("S1001.4", "S2001.9", "S2002.3")),
    ]
    assert [check.rule for check in view.checks["c1"]] == ["numbers", "verbatim"]
    assert view.gate is not None
    assert view.gate.summary == view.summary
    assert view.summary.contradicted == 1


def test_usage_is_added_up_by_role_and_phase() -> None:
    usage = fold_events(logs.two_agents().events).usage
    assert usage.total.model_calls == 6
    assert usage.total.tokens == 6 * 120
    assert {role: spent.model_calls for role, spent in usage.by_role.items()} == {
        "simple": 1, "analytical": 4, "complex": 1,
    }  # fmt: skip
    for parts in (usage.by_role, usage.by_phase):
        assert sum(parts.values(), Usage()) == usage.total


def test_a_failing_and_an_abandoned_agent() -> None:
    view = fold_events(logs.failing_agent().events)
    assert [lane.state for lane in view.lanes] == ["failed", "abandoned", "finished"]
    assert view.lanes[0].error == "no model answered"
    assert view.lanes[0].turns[0].tools[0].outcome == "failed"
    assert view.exhausted == view.stop_reason == "time"


def test_restarted_step_leaves_only_the_last_attempt() -> None:
    view = fold_events(logs.restarted_step().events)
    assert view.report.text == "Guido wrote it [S1001.4].\n"
    assert sha256(view.report.text.encode()) == view.report.text_sha256
    assert view.restarts == 1


def test_no_evidence() -> None:
    view = fold_events(logs.no_evidence().events)
    assert view.stop_reason == "no_evidence"
    assert view.lanes[0].finding.text == "Nothing about this was found."
    assert (view.claims, view.summary.claims, view.sources) == ((), 0, {})
    assert view.warnings[0].detail == {"tries": 1}


def test_waiting_resuming_and_failing() -> None:
    log = logs.Log()
    logs.begin(log)
    log.add("triage", e.ClarifyRequested(questions=("Which?",)))
    log.add("", e.RunWaiting(topic="clarify"))
    assert (fold_events(log.events).status, fold_events(log.events).waiting_for) == ("waiting", "clarify")
    log.add("triage", e.ClarifyAnswered(assumptions=("The newest.",)))
    view = fold_events(log.events)
    assert (view.status, view.waiting_for, view.clarification.questions) == ("running", "", ("Which?",))
    log.add("", e.ControlApplied(action="pause"))
    assert fold_events(log.events).status == "paused"
    log.add("", e.RunFailed(stop_reason="failed", error="no model answered"))
    assert (fold_events(log.events).status, fold_events(log.events).error) == ("failed", "no model answered")
    log.add("", e.RunResumed(fence=2))
    view = fold_events(log.events)
    assert (view.status, view.error, view.stop_reason, view.finished_at) == ("running", "", "", "")


def test_thoughts_stream_and_end() -> None:
    log = logs.Log()
    path = "research/cycle-1"
    log.add(path, e.ThinkFinished(text="One."))
    log.add(path, e.ThinkDelta(text="T"))
    log.add(path, e.ThinkDelta(text="w"))
    turn = fold_events(log.events).phases[0].turns[0]
    assert (turn.thoughts, turn.thinking) == (("One.", "Tw"), True)
    log.add(path, e.ThinkFinished(text="Two."))
    turn = fold_events(log.events).phases[0].turns[0]
    assert (turn.thoughts, turn.thinking) == (("One.", "Two."), False)


def test_a_model_which_stood_in_is_named() -> None:
    log = logs.Log()
    logs.begin(log)
    log.add("write", e.ModelAttempted(role="complex", task="write", model="big", attempt=1, outcome="overloaded"))
    assert fold_events(log.events).models["complex"] == "extractive"
    log.add("write", e.ModelAttempted(role="complex", task="write", model="small", attempt=2, outcome="ok"))
    assert fold_events(log.events).models == {"complex": "small", "simple": "extractive"}


def test_a_damaged_event_is_named() -> None:
    log = logs.one_agent()
    log.events[4] = msgspec.structs.replace(log.events[4], data=msgspec.Raw(b'{"text": 1}'))
    with pytest.raises(StoreError, match=r"event 5 \(think.delta\)"):
        fold_events(log.events)


def test_every_kind_folds_without_a_past() -> None:
    """Any single event may come first: a log can be damaged, or read from its middle."""
    made = {envelope.type: envelope for name in NAMES for envelope in logs.SCENARIOS[name]().events}
    assert len(made) > 30
    for envelope in made.values():
        assert fold_events([envelope]).last_seq == envelope.seq


def many(agents: int) -> list[e.Envelope]:
    log = logs.Log()
    logs.begin(log)
    for number in range(agents):
        for _ in logs.agent(log, number + 1, *[(logs.source(f"S{number + 1}001"), ())] * 7):
            pass
        log.add("write", e.ReportDelta(text="word " * 20))
    return log.events


def test_folding_takes_work_in_step_with_the_log() -> None:
    half, whole = many(50), many(100)
    assert len(whole) > 4500
    assert len(fold_events(whole).lanes) == 100
    assert steps(lambda: fold_events(whole)) <= 2.2 * steps(lambda: fold_events(half))


def test_an_event_shows_its_fields() -> None:
    log = logs.Log()
    log.add("", e.RunFailed(stop_reason="failed", error="no model answered"))
    [envelope] = log.events
    assert envelope.fields == {"stop_reason": "failed", "error": "no model answered"}
    assert repr(envelope).startswith("<run.failed 1 of run ")
    assert '"error":"no model answered"' in repr(envelope)
