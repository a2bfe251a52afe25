from datetime import UTC, datetime, timedelta

import logs
import msgspec
import pytest
from hostile import HOSTILE, with_text
from hypothesis import given
from hypothesis import strategies as st
from research import Sea, two_agents
from sampling import crossed

from assay.cli.figures import elapsed_seconds, format_duration
from assay.cli.live_frame import Size, frame_lines
from assay.cli.terminal import strip_controls
from assay.core import events as e
from assay.core.view import RunView, ViewBuilder, fold_events
from assay.core.view.model import Pause

NARROW, WIDE = Size(80, 24), Size(200, 50)
NOW = datetime(2025, 1, 2, 3, 1, 30, tzinfo=UTC)
SCENARIOS = sorted(logs.SCENARIOS)


def drawn(view: RunView, size: Size = NARROW, note: str = "", now: datetime = NOW) -> list[str]:
    return [line.plain.rstrip() for line in frame_lines(view, now, size, note)]


def fits(view: RunView, size: Size) -> None:
    """No line is wider or steers the terminal, and there are not more than there is room for."""
    lines = frame_lines(view, NOW, size)
    assert len(lines) <= size.height
    for line in lines:
        assert line.cell_len <= size.width
        assert strip_controls(line.plain) == line.plain
        assert not set(line.plain) & set("\n\t"), repr(line.plain)


@pytest.mark.parametrize(("name", "size"), crossed(SCENARIOS, [NARROW, WIDE, Size(40, 12), Size(12, 4), Size(1, 1)]))
def test_every_moment_of_a_run_fits(name: str, size: Size):
    folder = ViewBuilder()
    for envelope in logs.SCENARIOS[name]().events:
        folder.apply(envelope)
        fits(folder.view, size)


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_a_real_run_fits_and_shows_its_agents(size: Size):
    log, folder = await Sea().run(two_agents()), ViewBuilder()
    seen: set[str] = set()
    for envelope in log.envelopes:
        folder.apply(envelope)
        fits(folder.view, size)
        seen |= set(" ".join(drawn(folder.view, size, now=datetime.fromisoformat(envelope.at))).split("  "))
    text = "\n".join(seen)
    for part in ("Find how far the tide rises at Brest", "search mistral", "reported: 1 passage cited", "1 source"):
        assert part in text, part


@pytest.mark.parametrize("size", [NARROW, WIDE])
def test_what_others_wrote_steers_nothing(size: Size):
    fits(with_text(HOSTILE), size)
    log = logs.dispatched(1, question=HOSTILE)
    log.add("research/agent-1", e.AgentStarted(lane=1, task=HOSTILE))
    path = "research/agent-1/turn-1"
    for event in (
        e.ThinkStarted(),
        e.ThinkDelta(text=HOSTILE),
        e.ToolStarted(call="c", tool=HOSTILE, arguments=msgspec.json.encode({"query": HOSTILE}).decode()),
        e.ToolFailed(call="c", tool=HOSTILE, reason=HOSTILE),
        e.SourceFailed(url=HOSTILE, reason=HOSTILE),
        e.Warned(message=HOSTILE),
        e.AgentFailed(lane=1, error=HOSTILE),
    ):
        log.add(path, event)
        fits(fold_events(log.events), size)
    assert "\x1b" not in "".join(drawn(fold_events(log.events), size, note=HOSTILE))


@given(st.text(max_size=300), st.integers(1, 220), st.integers(1, 60))
def test_any_text_fits_anywhere(text: str, width: int, height: int):
    log = logs.dispatched(1, question=text)
    log.add("research/agent-1", e.AgentStarted(lane=1, task=text))
    log.add("research/agent-1/turn-1", e.ToolStarted(call="c", tool="open", arguments=text))
    view = fold_events(log.events)
    lines = frame_lines(view, NOW, Size(width, height), text)
    assert len(lines) <= height
    assert all(line.cell_len <= width for line in lines)


@pytest.mark.parametrize("size", [NARROW, WIDE])
def test_the_height_stays_while_agents_work(size: Size):
    log = logs.dispatched(1, 2)
    for lane in (1, 2):
        log.add(f"research/agent-{lane}", e.AgentStarted(lane=lane, task=f"Task {lane}"))
    folder = ViewBuilder()
    folder.extend(log.events)
    heights = {len(frame_lines(folder.view, NOW, size))}
    for turn in range(1, 6):
        path = f"research/agent-1/turn-{turn}"
        for event in (
            e.ThinkStarted(),
            e.ThinkDelta(text="long " * 40 * turn),
            e.ThinkFinished(text="short"),
            e.ToolStarted(call=f"c{turn}", tool="search", arguments='{"query":"pep 8"}'),
            e.ToolFinished(call=f"c{turn}", tool="search", summary="x " * 90),
            e.UsageUpdated(role="analytical", usage=logs.SPENT),
        ):
            log.add(path, event)
            folder.apply(log.events[-1])
            heights.add(len(frame_lines(folder.view, NOW, size)))
    log.add("research/agent-1", e.AgentFinished(lane=1, turns=5))
    folder.apply(log.events[-1])
    heights.add(len(frame_lines(folder.view, NOW, size)))
    assert len(heights) == 1


def test_the_height_stays_while_the_report_is_written():
    folder, heights, log = ViewBuilder(), set(), logs.two_agents().events
    for envelope in log:
        folder.apply(envelope)
        if envelope.type in (e.ReportStarted.kind, e.ReportDelta.kind):
            heights.add(len(frame_lines(folder.view, NOW, NARROW)))
    assert len(heights) == 1


def test_phases_are_done_current_and_to_come():
    log = logs.dispatched(1)
    assert drawn(fold_events(log.events))[1].startswith("✓ triage")
    line = drawn(fold_events(log.events))[1]
    assert "✓ plan" in line
    assert "● research" in line
    assert line.endswith("○ write  ○ verify")
    assert "background" not in line  # it was left out, and will not come


def test_what_went_wrong_is_told():
    lines = drawn(fold_events(logs.failing_agent().events), WIDE)
    assert "! agent failed: agent 1: no model answered" in lines
    assert "! tool call failed: search: no index" in lines
    assert "! research ends: the time limit was reached" in lines
    assert any("failed: no model answered" in line and line.startswith("✗  1") for line in lines)


def test_a_low_terminal_shows_who_works():
    numbers = tuple(range(1, 31))
    log = logs.dispatched(*numbers)
    for lane in numbers:
        log.add(f"research/agent-{lane}", e.AgentStarted(lane=lane, task=f"Task {lane}"))
    for lane in numbers[:25]:
        log.add(f"research/agent-{lane}", e.AgentFinished(lane=lane, turns=1))
    view = fold_events(log.events)
    fits(view, NARROW)
    lines = drawn(view, NARROW)
    assert sum(line.startswith("●") for line in lines) >= 5  # one of them is the phase's
    assert any("more agents" in line for line in lines)


def test_before_the_run_there_is_only_the_note():
    assert drawn(RunView(), note="reading: file 3 of 9") == ["reading: file 3 of 9"]


def test_times_leave_out_what_nobody_worked():
    began, ended = "2025-01-01T00:00:00.000Z", "2025-01-01T01:00:00.000Z"
    pause = Pause(began_at="2025-01-01T00:10:00.000Z", ended_at="2025-01-01T00:40:00.000Z")
    view = RunView(pauses=(pause,))
    assert elapsed_seconds(view, began, ended, NOW) == 1800
    assert elapsed_seconds(view, began, "", datetime.fromisoformat(began) + timedelta(minutes=5)) == 300
    assert elapsed_seconds(view, "", "", NOW) == 0
    assert [format_duration(seconds) for seconds in (7.9, 750, 3723)] == ["0:07", "12:30", "1:02:03"]
