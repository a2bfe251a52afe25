"""A run as plain lines: one per milestone, with more on request, for terminals and protocols alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import singledispatch

from assay.core import events
from assay.core.claims import VERDICTS
from assay.core.events import Envelope, Event
from assay.core.lazy import regex
from assay.core.phrases import stop_reason_phrase

MAX_NAMED_FILES = 5
"""Files with the same reason that are named one by one."""
NAMED = 3

_SAID = regex(r"(?P<verb>skipped|partly read) (?P<path>.+?): (?P<reason>.+)", re.DOTALL)


class ProgressNote(str):
    """A line of progress for a user who wants details: what was left out on purpose."""

    __slots__ = ()


def summarize_warnings(warnings: Sequence[str]) -> list[str]:
    """The warnings of an ingest; those about more than `MAX_NAMED_FILES` files with one reason become one."""
    alike: dict[tuple[str, str], list[str]] = {}
    order: list[tuple[str, str]] = []
    for warning in warnings:
        match = _SAID.fullmatch(warning)
        kind = (match["verb"], match["reason"]) if match else ("", warning)
        if kind not in alike:
            order.append(kind)
        alike.setdefault(kind, []).append(match["path"] if match else "")
    return [line for kind in order for line in _lines(*kind, alike[kind])]


def _lines(verb: str, reason: str, paths: Sequence[str]) -> list[str]:
    if not verb:
        return [reason]
    if len(paths) <= MAX_NAMED_FILES:
        return [f"{verb} {path}: {reason}" for path in paths]
    alike = f"{verb} {len(paths)} files, each for the same reason: {reason}"
    return [f"{alike}: {', '.join(paths[:NAMED])} and {len(paths) - NAMED} more"]


MAX_LINE_CHARS = 160


def progress_lines(
    envelope: Envelope, verbosity: int, decode: Callable[[Envelope], Event | None] = events.decode
) -> list[str]:
    """The lines for this event at a verbosity (-1 quiet, 0 milestones, 1 and more everything)."""
    if verbosity < 0:
        return []
    event = decode(envelope)
    if event is None:
        return []
    line = milestone_line(event)
    if isinstance(event, events.RunCreated):
        line = f"run {envelope.run_id}: searching {event.brief.scope.label}"
    texts = [shorten(line)]
    if verbosity > 0 and (detail := detail_line(event)):
        texts.append(f"  {shorten(detail)}")
    return [line for line in texts if line]


def shorten(line: str, width: int = MAX_LINE_CHARS) -> str:
    """`line` on one line of at most `width` characters."""
    line = " ".join(line.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def pluralize(number: int, noun: str, plural: str = "") -> str:
    """`1 source`, `2,000 sources`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


_MILESTONES: dict[type[Event], str] = {
    events.RunResumed: "run resumed",
    events.AgentStarted: "agent {event.lane} started: {event.task}",
    events.AgentFailed: "agent {event.lane} failed: {event.error}",
    events.SourceFailed: "could not read {event.url}: {event.reason}",
    events.ConflictFound: "sources disagree: {event.text}",
    events.ReportStarted: "writing the report",
    events.BudgetLow: "80 % of the limit on {event.measure} is used ({event.used:g} of {event.limit:g})",
    events.ControlRejected: "not followed: {event.why}",
    events.RunCancelled: "cancelled; what was found is kept",
    events.Warned: "warning: {event.message}",
}
_DETAILS: dict[type[Event], str] = {
    events.PhaseStarted: "phase {event.phase}",
    events.ToolFinished: "{event.tool}: {event.summary}",
    events.ToolFailed: "{event.tool} failed: {event.reason}",
    events.SourceAdded: "source {event.source.id}: {event.source.title}",
    events.ThinkFinished: "thought: {event.text}",
    events.StepRestarted: "step {event.step} is done again (attempt {event.attempt})",
    events.ModelAttempted: "model {event.model} for {event.task}: {event.outcome}"
    " ({event.usage.input_tokens} tokens in, {event.usage.output_tokens} out)",
}


@singledispatch
def milestone_line(event: Event) -> str:
    """The line for a milestone, empty for other events."""
    return _MILESTONES.get(type(event), "").format(event=event)


@milestone_line.register
def _(event: events.RunContinued) -> str:
    evidence = f"{pluralize(event.sources, 'source')}, {pluralize(event.passages, 'passage')}"
    return f"continuing from run {event.parent}: {evidence}"


@milestone_line.register
def _(event: events.TriageClassified) -> str:
    kind = f"{event.mode}, {event.depth}" if event.mode == "deep_research" else event.mode
    return f"question: {event.triage.complexity} ({kind})"


@milestone_line.register
def _(event: events.ClarifyAnswered) -> str:
    return f"assuming: {'; '.join(event.assumptions)}" if event.assumptions else ""


@milestone_line.register
def _(event: events.PlanApproved) -> str:
    steps = "; ".join(f"{step.id}. {step.title}" for step in event.plan.steps)
    return f"plan: {steps}"


@milestone_line.register
def _(event: events.FindingAdded) -> str:
    passages = pluralize(len(event.passages), "passage")
    if event.uncited:
        return f"agent {event.lane} reported and cited nothing; {passages} of those it was shown are nearest"
    return f"agent {event.lane} reported: {passages} cited"


@milestone_line.register
def _(event: events.ReflectDecided) -> str:
    if event.note:
        return f"research continues as planned: {event.note}"
    text = {"adjust": "the plan is changed", "complete": "research is complete"}.get(event.decision, "")
    return f"{text}: {event.reasoning}" if text and event.reasoning else text


_COVERED = {"answered": "answered", "partly": "answered in part", "not": "not answered"}


@milestone_line.register
def _(event: events.CoverageAssessed) -> str:
    if event.when == "after":
        return ""  # the report says what verification changed in it
    steps = [part for part in event.coverage if part.step]  # 0 is the question itself
    if not steps and event.coverage:
        return f"coverage: the question is {_COVERED[event.coverage[0].status]}"
    answered = sum(part.status == "answered" for part in steps)
    return f"coverage: {answered} of {pluralize(len(steps), 'step')} answered"


@milestone_line.register
def _(event: events.VerifySummary) -> str:
    if not event.summary.claims and event.passed:
        return "there are no claims to check"
    counts = ((verdict, getattr(event.summary, verdict)) for verdict in VERDICTS)
    verdict_counts = ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
    gate = "" if event.passed else f"; the gate failed: {'; '.join(event.problems)}"
    return f"checked {pluralize(event.summary.claims, 'claim')}{': ' if verdict_counts else ''}{verdict_counts}{gate}"


@milestone_line.register
def _(event: events.RunExhausted) -> str:
    return f"research ends: {stop_reason_phrase(event.reason)}"


@milestone_line.register
def _(event: events.RunWaiting) -> str:
    return "waiting for the plan to be approved" if event.topic == "plan" else f"waiting for {event.topic}"


@milestone_line.register
def _(event: events.ControlAccepted) -> str:
    request = f"asked to stop agent {event.lane}" if event.lane else f"asked to {event.action}"
    return f"told: {event.text}" if event.action == "steer" else request


@milestone_line.register
def _(event: events.ControlApplied) -> str:
    if event.lane:
        return f"agent {event.lane} is stopped"
    line = f"the message is followed at {event.where}"
    return line if event.action == "steer" else "paused" if event.action == "pause" else ""


@singledispatch
def detail_line(event: Event) -> str:
    """The line that only `-v` shows, empty if there is none."""
    return _DETAILS.get(type(event), "").format(event=event)


@detail_line.register
def _(event: events.SearchPerformed) -> str:
    shared = ", shared" if event.shared else ""
    return f"searched {event.query!r}: {pluralize(event.results, 'document')} ({event.provider}{shared})"
