"""The last lines of a run: its result, its cost, its files and the next steps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from assay.cli.figures import clock, describe_expected_cost, elapsed, joined, moment, price, tokens
from assay.cli.live_frame import troubles
from assay.core.assurance import assured
from assay.core.claims import VERDICTS, Summary
from assay.core.milestones import counted
from assay.core.phrases import STOP_REASONS
from assay.core.view import RunView


def summary(view: RunView, files: Sequence[Path] = ()) -> list[str]:
    """Three lines, for a waiting or interrupted run about its state so far; one line if no model could be used."""
    if view.stop_reason == "no_model":
        return [f"{outcome(view)}; to continue: assay runs resume {view.run_id}"]
    return [outcome(view), cost(view), where(view, files)]


def outcome(view: RunView) -> str:
    """How the run ended, the report's evidence, the verdicts, and whether it is verified."""
    reason = STOP_REASONS.get(view.stop_reason, view.stop_reason)
    if view.status == "waiting":
        return waiting(view)
    if view.status in ("created", "running", "paused"):
        return "paused" if view.status == "paused" else "interrupted before its end"
    if view.status in ("failed", "cancelled"):
        return f"{view.status}: {view.error or reason}"
    ended = "" if view.stop_reason == "done" else f" {reason}"
    return f"completed: {joined((_cited(view), verdicts(view.summary), verified(view)), '; ')}.{ended}"


def verified(view: RunView) -> str:
    """The assurance of a report, in a few words; `assay claims` gives the details."""
    if not view.passed or not view.graded:
        return "" if view.verified else "not verified"
    found = assured(view.claims)
    if found.whole:
        return "verified"
    lacking = (
        f"{found.failing} not confirmed" if found.failing else "",
        "none answers the question" if found.answered is False else "",
    )
    return f"not verified{': ' if any(lacking) else ''}{joined(lacking, ', ')}"


def waiting(view: RunView) -> str:
    """The thing a run is waiting for."""
    if view.waiting_for == "plan":
        return f"waiting for its plan to be approved: {view.plan.title if view.plan else ''}"
    return f"waiting for {view.waiting_for}: {' '.join(view.clarification.questions)}"


def verdicts(summary: Summary) -> str:
    """`7 claims: 6 quoted, 1 unchecked`, or nothing."""
    if not summary.claims:
        return ""
    found = [(verdict, getattr(summary, verdict)) for verdict in VERDICTS]
    counts = ", ".join(f"{count} {verdict}" for verdict, count in found if count)
    return f"{counted(summary.claims, 'claim')}: {counts}"


def _cited(view: RunView) -> str:
    """How much evidence the report has; a passage or document that two agents found counts once."""
    ids = {id for claim in view.claims for id in claim.passages}
    cited = [passage for passage in view.passages.values() if passage.id in ids]
    passages = {(passage.document_sha256, passage.start, passage.end) for passage in cited}
    if not passages:
        return "nothing cited"
    sources = {passage.document_sha256 for passage in cited}
    return f"{counted(len(passages), 'passage')} of {counted(len(sources), 'source')} cited"


def cost(view: RunView) -> str:
    """Working time, model calls, tokens, searches, pages and money."""
    total = view.usage.total
    seconds = elapsed(view, view.started_at, view.finished_at or _last(view), datetime.now(UTC))
    parts = (
        clock(seconds),
        counted(total.model_calls, "model call") if total.model_calls else "",
        tokens(total),
        counted(total.searches, "search", "searches") if total.searches else "",
        counted(total.pages, "page") if total.pages else "",
        price(total) + describe_expected_cost(view.brief),
    )
    return f"took {joined(parts, ', ')}"


def _last(view: RunView) -> str:
    """The latest time in the view of a run that has not ended."""
    known = [phase.finished_at or phase.started_at for phase in view.phases]
    known += [lane.finished_at or lane.started_at for lane in view.lanes]
    return max((at for at in known if at), key=moment, default=view.started_at)


def where(view: RunView, files: Sequence[Path] = ()) -> str:
    """The run's id, its files, and the commands to continue with."""
    named = f" in {', '.join(map(str, files))}" if files else ""
    wrong = [f"assay runs show {view.run_id}"] if any(troubles(view)) else []
    return f"run {view.run_id}{named}: {'; '.join(dict.fromkeys([_next(view), *wrong]))}"


def _next(view: RunView) -> str:
    if view.status == "waiting":
        return f"assay runs {'approve' if view.waiting_for == 'plan' else 'answer'} {view.run_id}"
    if view.status in ("created", "running", "paused"):
        return f"assay runs resume {view.run_id}"
    if view.status == "completed" and any(claim.passages for claim in view.claims):
        return f"assay cite {view.run_id} 1"
    return f"assay runs show {view.run_id}"
