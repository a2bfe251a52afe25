"""Event logs of whole runs, made by hand: what folds, coordinates, reports and exporters are tested on."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from assay.core import events as e
from assay.core.brief import Brief
from assay.core.claims import HOLDING, VERDICTS, summarize
from assay.core.coordinates import Coordinates, Placer
from assay.core.markers import parse_markers
from assay.core.plan import Coverage, Plan, PlanStep, Triage
from assay.core.sources import Passage, Source, sha256
from assay.core.usage import Usage

RUN = "run0000001"
SPENT = Usage(model_calls=1, input_tokens=100, output_tokens=20)


def renumber(envelope: e.Envelope, seq: int, number: dict[int, int]) -> e.Envelope:
    """An event at another place of a log; `number` maps the old places to the new."""
    event = e.decode(envelope)
    if isinstance(event, e.StepRestarted):
        event = msgspec.structs.replace(event, dropped=tuple(number[old] for old in event.dropped))
        envelope = msgspec.structs.replace(envelope, data=msgspec.Raw(e.encode(event)))
    return msgspec.structs.replace(envelope, seq=seq)


def place(events: Iterable[e.Envelope]) -> list[tuple[int, Coordinates]]:
    """Number and coordinates of every event with a place; events dropped from earlier attempts have none."""
    placer, placed = Placer(), list[tuple[int, Coordinates]]()
    dropped = set[int]()
    for envelope in events:
        if envelope.type == e.StepRestarted.kind:
            dropped.update(msgspec.json.decode(envelope.data, type=e.StepRestarted).dropped)
        coordinates = placer.place(envelope)
        if coordinates is not None:
            placed.append((envelope.seq, coordinates))
    return [(seq, coordinates) for seq, coordinates in placed if seq not in dropped]


class Log:
    """A log that grows: `add` gives the event's number."""

    def __init__(self) -> None:
        self.events: list[e.Envelope] = []

    def add(self, path: str, event: e.Event) -> int:
        """Append; `path` is written `research/agent-1`, empty for the run."""
        seq = len(self.events) + 1
        self.events.append(
            e.Envelope(
                seq=seq,
                run_id=RUN,
                at=f"2025-01-02T03:{seq // 60:02d}:{seq % 60:02d}.000Z",
                path=tuple(path.split("/")) if path else (),
                type=event.kind,
                data=msgspec.Raw(e.encode(event)),
            )
        )
        return seq

    def unknown(self, path: str = "") -> int:
        """Append an event of a kind which this release does not know."""
        seq = self.add(path, e.Warned(message="x"))
        self.events[-1] = msgspec.structs.replace(self.events[-1], type="later.release", data=msgspec.Raw(b'{"x":[1]}'))
        return seq


def source(id: str, document: str = "", url: str = "", title: str = "") -> Source:
    """A source; equal `document` names are one document."""
    name = document or id
    return Source(
        id=id,
        document_sha256=sha256(name.encode()),
        snapshot_sha256=sha256(b"snapshot " + name.encode()),
        url=url or f"https://example.org/{name}",
        title=title or f"Document {name}",
        media_type="text/html",
        fetched_at="2025-01-01T00:00:00.000Z",
        metadata={"kind": "test"},
    )


def passage(id: str, text: str, document: str = "", start: int = 0) -> Passage:
    """A passage of the source its id names."""
    origin = id.partition(".")[0]
    return Passage(
        id=id,
        source=origin,
        document_sha256=source(origin, document).document_sha256,
        start=start,
        end=start + len(text.encode()),
        text=text,
        text_sha256=sha256(text.encode()),
    )


def begin(log: Log, question: str = "Who wrote PEP 8?") -> None:
    """From creation to the end of triage."""
    brief = Brief(question=question, date="2025-01-02", models={"complex": ("extractive",), "simple": ("extractive",)})
    log.add("", e.RunCreated(brief=brief))
    log.add("", e.RunStarted())
    log.add("triage", e.PhaseStarted(phase="triage"))
    log.add("triage", e.ThinkStarted())
    log.add("triage", e.ThinkDelta(text="Simple "))
    log.add("triage", e.ThinkDelta(text="enough."))
    log.add("triage", e.ThinkFinished(text="Simple enough."))
    log.add("triage", e.ModelAttempted(role="simple", task="triage", model="extractive", attempt=1, outcome="ok"))
    log.add("triage", e.UsageUpdated(role="simple", usage=SPENT))
    log.add("triage", e.TriageClassified(triage=Triage(complexity="simple"), mode="deep_research", depth="light"))
    log.add("triage", e.PhaseFinished(phase="triage"))


def plan(log: Log) -> None:
    """The planner's phase."""
    steps = tuple(PlanStep(id=n, title=f"Step {n}") for n in (1, 2))
    log.add("plan", e.PhaseStarted(phase="plan"))
    log.add("plan", e.PlanStarted())
    log.add("plan", e.PlanDelta(text="1. Step 1\n"))
    log.add("plan", e.PlanProposed(plan=Plan(title="Find it", steps=steps)))
    log.add("plan", e.PlanApproved(plan=Plan(title="Find it", steps=steps)))
    log.add("plan", e.PhaseFinished(phase="plan"))


def dispatch(log: Log, cycle: int, *lanes: int) -> None:
    """The orchestrator's decision for these agents."""
    log.add(f"research/cycle-{cycle}", e.ThinkFinished(text=f"Cycle {cycle}."))
    for count in range(1, len(lanes) + 1):
        log.add(f"research/cycle-{cycle}", e.AgentsPlanned(cycle=cycle, lanes=lanes[:count]))


def dispatched(*lanes: int, question: str = "Who wrote PEP 8?") -> Log:
    """A log from creation to the first decision for agents."""
    log = Log()
    begin(log, question)
    plan(log)
    log.add("research", e.PhaseStarted(phase="research"))
    dispatch(log, 1, *lanes)
    return log


def agent(log: Log, lane: int, *found: tuple[Source, tuple[Passage, ...]]):
    """The events of one agent as a generator: each `next` adds one, so that logs may interleave them."""
    path = f"research/agent-{lane}"
    yield log.add(path, e.AgentStarted(lane=lane, task=f"Task {lane}", step=1))
    for turn, (origin, _) in enumerate(found, 1):
        yield log.add(f"{path}/turn-{turn}", e.ThinkFinished(text="Search."))
        yield log.add(
            f"{path}/turn-{turn}", e.ToolStarted(call=f"c{turn}", tool="search", arguments='{"query":"pep 8"}')
        )
        yield log.add(f"{path}/turn-{turn}", e.SearchPerformed(query="pep 8", provider="local", results=1))
        yield log.add(f"{path}/turn-{turn}", e.SourceAdded(source=origin))
        yield log.add(f"{path}/turn-{turn}", e.ToolFinished(call=f"c{turn}", tool="search", summary="1 document"))
        yield log.add(f"{path}/turn-{turn}", e.UsageUpdated(role="analytical", usage=SPENT))
    cited = tuple(each for _, passages in found for each in passages)
    text = "".join(f"{each.text} [{each.id}]\n" for each in cited) or "Nothing about this was found."
    yield log.add(path, e.FindingStarted(lane=lane))
    yield log.add(path, e.FindingDelta(lane=lane, text=text[:5]))
    yield log.add(path, e.FindingAdded(lane=lane, task=f"Task {lane}", text=text, passages=cited))
    yield log.add(path, e.AgentFinished(lane=lane, turns=len(found)))


def write(log: Log, text: str, limits: tuple[str, ...] = ()) -> None:
    """The writer's phase, streamed in pieces of seven characters."""
    log.add("write", e.PhaseStarted(phase="write"))
    log.add("write", e.ReportStarted())
    for at in range(0, len(text), 7):
        log.add("write", e.ReportDelta(text=text[at : at + 7]))
    log.add("write", e.UsageUpdated(role="complex", usage=SPENT))
    log.add("write", e.ReportFinished(text_sha256=sha256(text.encode()), limits=limits))
    log.add("write", e.PhaseFinished(phase="write"))


def verify(log: Log, text: str, passages: dict[str, Passage], verdicts: tuple[str, ...] = ()) -> None:
    """Each line of the report a claim with the passages of its markers; the verdicts in turn, then `supported`."""
    log.add("verify", e.PhaseStarted(phase="verify"))
    start, claims = 0, []
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        cited = tuple(passages[id] for marker in parse_markers(line) for id in marker.passages if id in passages)
        sentence = line.rstrip()
        if cited:
            claims.append(
                e.ClaimFound(id=f"c{number}", text=sentence, start=start, end=start + len(sentence), passages=cited)
            )
        start += len(line)
    for claim in claims:
        log.add("verify", claim)
    for at, claim in enumerate(claims):
        verdict = verdicts[at] if at < len(verdicts) else "supported"
        log.add("verify", e.ClaimChecked(id=claim.id, rule="numbers", verdict="unchecked"))
        reason = "" if verdict in HOLDING else "the number differs"
        log.add("verify", e.ClaimChecked(id=claim.id, rule="verbatim", verdict=verdict, reason=reason))
    counts = {
        verdict: sum((*verdicts, *["supported"] * len(claims))[i] == verdict for i in range(len(claims)))
        for verdict in VERDICTS
    }
    summary = msgspec.structs.replace(summarize(()), claims=len(claims), **counts)
    log.add("verify", e.VerifySummary(summary=summary, passed=True))
    log.add("verify", e.PhaseFinished(phase="verify"))


def direct_answer() -> Log:
    """Triage answers from what is at hand; no plan, no agents."""
    log, text = Log(), "PEP 8 was written by Guido van Rossum. [S1.1]\n"
    shown = passage("S1.1", "Author: Guido van Rossum")
    begin(log)
    log.add("research", e.PhaseStarted(phase="research"))
    log.add("research/answer", e.SourceAdded(source=source("S1")))
    log.add("research", e.PhaseFinished(phase="research"))
    write(log, text)
    verify(log, text, {"S1.1": shown})
    log.add("", e.RunCompleted(stop_reason="done", verified=True))
    return log


def one_agent() -> Log:
    """One cycle, one agent, one source."""
    log, shown = dispatched(1), passage("S1001.4", "Author: Guido van Rossum", start=40)
    text = "PEP 8 was written by Guido van Rossum [S1001.4].\n"
    for _ in agent(log, 1, (source("S1001"), (shown,))):
        pass
    log.add("research/cycle-2", e.ThinkFinished(text="Enough."))
    coverage = (Coverage(step=0, part="Who?", status="answered", passages=("S1001.4",)),)
    log.add("research/coverage", e.CoverageAssessed(coverage=coverage))
    log.add("research", e.PhaseFinished(phase="research"))
    write(log, text)
    verify(log, text, {shown.id: shown})
    log.add("", e.RunCompleted(stop_reason="done", verified=True))
    return log


TWO = {
    "S1001.4": passage("S1001.4", "Author: Guido van Rossum", "pep8", 40),
    "S1002.1": passage("S1002.1", "Never cited", "other"),
    "S2001.9": passage("S2001.9", "Created: 05-Jul-2001", "pep8", 90),
    "S2002.3": passage("S2002.3", "Status: Active 🐍", "pep1"),
}
TWO_TEXT = (
    "It became active 🐍 in 2001 [S2002.3].\n"
    "Guido van Rossum wrote it [S1001.4], in July 2001 [S2001.9; S2002.3].\n"
    "\n## What could not be found\n\nNothing [1] else [S9009.9].\n"
)


def two_agents() -> Log:
    """Two agents whose events alternate; both met the same document; one claim is contradicted."""
    log = dispatched(1, 2)
    first = agent(log, 1, (source("S1001", "pep8"), (TWO["S1001.4"],)), (source("S1002", "other"), (TWO["S1002.1"],)))
    second = agent(log, 2, (source("S2001", "pep8"), (TWO["S2001.9"],)), (source("S2002", "pep1"), (TWO["S2002.3"],)))
    for _ in zip(second, first, strict=True):
        pass
    log.add("research", e.PhaseFinished(phase="research"))
    write(log, TWO_TEXT, limits=("Two documents could not be read.",))
    verify(log, TWO_TEXT, TWO, ("contradicted",))
    log.add("", e.RunCompleted(stop_reason="done", verified=True))
    return log


def failing_agent() -> Log:
    """One agent fails, another is abandoned, a third reports."""
    log, shown = dispatched(1, 2, 3), passage("S3001.1", "Status: Final")
    text = "It is final [S3001.1].\n"
    log.add("research/agent-1", e.AgentStarted(lane=1, task="Task 1"))
    log.add("research/agent-1/turn-1", e.ToolStarted(call="c1", tool="search", arguments="{}"))
    log.add("research/agent-1/turn-1", e.ToolFailed(call="c1", tool="search", reason="no index"))
    log.add("research/agent-1", e.AgentFailed(lane=1, error="no model answered"))
    log.add("research/agent-2", e.AgentStarted(lane=2, task="Task 2"))
    log.add("research/cycle-1", e.AgentAbandoned(lane=2))
    for _ in agent(log, 3, (source("S3001"), (shown,))):
        pass
    log.add("", e.RunExhausted(reason="time"))
    log.add("research", e.PhaseFinished(phase="research"))
    write(log, text, ("The time limit was reached.",))
    verify(log, text, {shown.id: shown})
    log.add("", e.RunCompleted(stop_reason="time", verified=True))
    return log


def restarted_step() -> Log:
    """The writer died half-way and another process wrote the report again."""
    log, shown = dispatched(1), passage("S1001.4", "Author: Guido van Rossum")
    text = "Guido wrote it [S1001.4].\n"
    for _ in agent(log, 1, (source("S1001"), (shown,))):
        pass
    log.add("research", e.PhaseFinished(phase="research"))
    log.add("write", e.PhaseStarted(phase="write"))
    log.add("write", e.ReportStarted())
    first = [log.add("write", e.ReportDelta(text=piece)) for piece in ("A first ", "attempt ")]
    log.add("", e.RunResumed(fence=2))
    again = [log.add("write", e.StepRestarted(step="write:ask-write:0", attempt=2, dropped=tuple(first)))]
    again += [log.add("write", e.ReportDelta(text="A second attempt "))]
    log.add("", e.RunResumed(fence=3))
    log.add("write", e.StepRestarted(step="write:ask-write:0", attempt=3, dropped=(*first, *again)))
    log.add("write", e.ReportDelta(text=text))
    log.add("write", e.ReportFinished(text_sha256=sha256(text.encode())))
    log.add("write", e.PhaseFinished(phase="write"))
    verify(log, text, {shown.id: shown})
    log.add("", e.RunCompleted(stop_reason="done", verified=True))
    return log


def no_evidence() -> Log:
    """Nothing is found; the report says so and cites nothing."""
    log = dispatched(1, question="What is the airspeed of an unladen swallow?")
    for _ in agent(log, 1):
        pass
    log.add("research", e.PhaseFinished(phase="research"))
    write(log, "The documents hold nothing about this question.\n")
    verify(log, "", {})
    log.add("", e.Warned(message="the plan was repaired", detail={"tries": 1}))
    log.add("", e.RunCompleted(stop_reason="no_evidence", verified=True))
    return log


SCENARIOS = {
    made.__name__: made for made in (direct_answer, one_agent, two_agents, failing_agent, restarted_step, no_evidence)
}
