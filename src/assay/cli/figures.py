"""Numbers, money and times for people; the problems of a run, and its last lines: result, cost, files, next steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from assay.core.assurance import assess_claims
from assay.core.brief import Brief, Estimate, Span
from assay.core.claims import RELEVANT, VERDICTS, Summary
from assay.core.milestones import pluralize
from assay.core.phrases import STOP_REASONS, UNANSWERED_REASONS, stop_reason_phrase
from assay.core.usage import Usage
from assay.core.view import RunView, ToolUse, Turn


def join_nonempty(parts: Iterable[str], separator: str = " · ") -> str:
    """Join the parts that are not empty."""
    return separator.join(part for part in parts if part)


def format_number(number: int) -> str:
    """Format a number: `950`, `4.1k`, `45k`, `1.2M`."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            value = number / size
            return f"{value:.0f}{unit}" if value >= 10 else f"{value:.1f}{unit}"
    return str(number)


def format_size(count: int) -> str:
    """Format a number of bytes: `812 bytes`, `3.4 kB`, `48 kB`, `1.2 MB`, `1,204 MB`."""
    if count < 1_000:
        return pluralize(count, "byte")
    value, unit = (count / 1e3, "kB") if count < 999_500 else (count / 1e6, "MB")
    return f"{value:,.1f} {unit}" if value < 9.95 else f"{value:,.0f} {unit}"


def format_tokens(usage: Usage) -> str:
    """Format tokens: `4.1k tokens`, or nothing."""
    return f"{format_number(usage.tokens)} token{'' if usage.tokens == 1 else 's'}" if usage.tokens else ""


def format_cost(usage: Usage) -> str:
    """Format a cost: `$0.0312`, with a `+` if it omits calls without a known price; `$?` if no price is known.

    Nothing if nothing was spent.
    """
    suffix = "+" if usage.unpriced_calls else ""
    return f"${usage.usd:.4f}{suffix}" if usage.usd else "$?" if usage.unpriced_calls else ""


def describe_cost(usage: Usage) -> str:
    """A cost in words: `$0.0312`, `$0.0312 and 3 calls without a known price`, `cost unknown: 3 calls …`."""
    if not usage.unpriced_calls:
        return format_cost(usage)
    unpriced_calls = f"{usage.unpriced_calls} call{'' if usage.unpriced_calls == 1 else 's'} without a known price"
    return f"${usage.usd:.4f} and {unpriced_calls}" if usage.usd else f"cost unknown: {unpriced_calls}"


# Verdicts and relevance counted, in a line.


def summary_line(summary: Summary) -> str:
    """The counts in one line: `3 claims: 2 quoted, 1 unsupported; 1 answering the question, 2 related`."""
    text = _verdicts(summary)
    return f"{pluralize(summary.claims, 'claim')}{': ' if text else ''}{text}{_answer_counts(summary)}"


def _verdicts(summary: Summary) -> str:
    counts = ((verdict, getattr(summary, verdict)) for verdict in VERDICTS)
    return ", ".join(f"{count} {verdict}" for verdict, count in counts if count)


def _answer_counts(summary: Summary) -> str:
    """How far the claims answer the question: `; 2 answer the question, 1 related`; nothing if that was not judged."""
    counts = ((name, getattr(summary, name)) for name in RELEVANT)
    text = ", ".join(f"{count} {_RELEVANCE[name]}" for name, count in counts if count)
    return f"; {text}" if text else ""


_RELEVANCE = {"answers": "answering the question", "related": "related", "unrelated": "not related"}


# An estimate in words.

CENT = 0.01


def describe_estimate(estimate: Estimate) -> str:
    """An estimate: `8 to 30 model calls, 20k to 200k tokens, $0.01 to $0.09, 0:10 to 2:00 (by the rules of the
    depth)`.
    """
    money = (
        "cost unknown" if estimate.usd is None else _span(estimate.usd, format_dollars) if estimate.usd.most else "$0"
    )
    parts = (
        f"{_span(estimate.calls, lambda value: str(round(value)))} model calls",
        f"{_span(estimate.tokens, lambda value: format_number(round(value)))} tokens",
        money,
        _span(estimate.seconds, format_duration),
    )
    rests = f"by {estimate.runs} runs like it" if estimate.basis == "runs" else "by the rules of its depth"
    return f"{join_nonempty(parts, ', ')} ({rests})"


def describe_expected_cost(brief: Brief | None) -> str:
    """The estimated cost: ` (estimated $0.01 to $0.09)`, if a cost was expected; else nothing."""
    usd = brief.estimate.usd if brief and brief.estimate else None
    return f" (estimated {_span(usd, format_dollars)})" if usd and usd.most else ""


def format_dollars(usd: float) -> str:
    """Format dollars, with more decimals for small amounts."""
    return f"${usd:.2f}" if usd >= CENT or not usd else f"${usd:.4f}"


def _span(span: Span, form: Callable[[float], str]) -> str:
    least, most = form(span.least), form(span.most)
    return most if least == most else f"{least} to {most}"


def elapsed_seconds(view: RunView, began: str, ended: str, now: datetime) -> float:
    """Seconds from `began` to `ended` (empty: to `now`) in which a process worked on the run; 0 before it began."""
    if not began:
        return 0.0
    parse = datetime.fromisoformat
    start, end = parse(began), parse(ended) if ended else now
    idle = sum((_overlap(start, end, parse(p.began_at), parse(p.ended_at)) for p in view.pauses), timedelta())
    return max(0.0, (end - start - idle).total_seconds())


def _overlap(start: datetime, end: datetime, other_start: datetime, other_end: datetime) -> timedelta:
    return max(timedelta(), min(end, other_end) - max(start, other_start))


def format_day(seconds: float) -> str:
    """Format a day (UTC, ISO 8601) from seconds since 1970; nothing for 0."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat() if seconds else ""


def format_duration(seconds: float) -> str:
    """Format seconds: `0:07`, `12:30`, `1:02:03`."""
    minutes, remaining_seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{remaining_seconds:02d}" if hours else f"{minutes}:{remaining_seconds:02d}"


# The problems of a run so far: a sentence per kind, with their number and the last one.


def describe_call(use: ToolUse) -> str:
    """A tool call in a person's words: `search mistral wind`."""
    return f"{use.tool} {_arguments(use.arguments)}".strip()


def _arguments(arguments: str) -> str:
    """The values in JSON text that a model wrote; anything but an object stays unchanged."""
    try:
        values = msgspec.json.decode(arguments, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeEncodeError):
        return arguments
    return ", ".join(_value_text(value) for value in values.values() if value not in ("", None))


def _value_text(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def problem_lines(view: RunView) -> Iterator[str]:
    """The kinds of problems that occurred, each as a sentence."""
    turns = [turn for lane in view.lanes for turn in lane.turns] + [t for phase in view.phases for t in phase.turns]
    if view.exhausted:
        yield f"research ends: {stop_reason_phrase(view.exhausted)}"
    elif view.low:
        low = view.low[-1]
        yield f"80 % of the limit on {low.measure} is used ({low.used:g} of {low.limit:g})"
    agents = [f"agent {lane.lane}: {lane.error}" for lane in view.lanes if lane.state == "failed"]
    yield from _summarize(agents, "agent failed", "agents failed")
    yield from _summarize(_failed_attempts(turns), "model call failed", "model calls failed")
    yield from _summarize(_failed_tools(turns), "tool call failed", "tool calls failed")
    unreadable = [f"{document.url}: {document.reason}" for document in view.unreadable]
    yield from _summarize(unreadable, "document could not be read", "documents could not be read")
    yield from _summarize([warning.message for warning in view.warnings], "warning", "warnings")


def _failed_attempts(turns: Sequence[Turn]) -> list[str]:
    attempts = [attempt for turn in turns for attempt in turn.attempts]
    return [
        f"{failed_attempt.model}: {failed_attempt.outcome}"
        for failed_attempt in attempts
        if failed_attempt.outcome != "ok"
    ]


def _failed_tools(turns: Sequence[Turn]) -> list[str]:
    uses = [use for turn in turns for use in turn.tools]
    return [f"{describe_call(use)}: {use.summary}" for use in uses if use.outcome == "failed"]


def _summarize(problems: Sequence[str], singular: str, plural: str) -> Iterator[str]:
    if len(problems) == 1:
        yield f"{singular}: {problems[0]}"
    elif problems:
        yield f"{len(problems)} {plural}; the last: {problems[-1]}"


# The last lines of a run.


def summary(view: RunView, files: Sequence[Path] = ()) -> list[str]:
    """Three lines, for a waiting or interrupted run about its state so far; one line if no model was ever reached."""
    if view.stop_reason == "no_model" and not view.usage.total.tokens:
        return [f"{outcome(view)}; to continue: assay runs resume {view.run_id}"]
    return [outcome(view), cost(view), _continue_line(view, files)]


def outcome(view: RunView) -> str:
    """How the run ended, the report's evidence, the verdicts, and whether it is verified."""
    reason = STOP_REASONS.get(view.stop_reason, view.stop_reason)
    if view.status == "waiting":
        return _waits_for(view)
    if view.status in ("created", "running", "paused"):
        return "paused" if view.status == "paused" else "interrupted before its end"
    if view.status in ("failed", "cancelled"):
        return f"{view.status}: {view.error or reason}"
    reason_note = "" if view.stop_reason == "done" else f" {reason}"
    return (
        "completed: "
        f"{join_nonempty((_evidence_counts(view), _counts(view.summary), _assurance(view)), '; ')}.{reason_note}"
    )


def _assurance(view: RunView) -> str:
    """The assurance of a report, in a few words; `assay claims` gives the details."""
    if not view.passed or not view.graded:
        return "" if view.verified else "not verified"
    assurance = assess_claims(view.claims)
    if assurance.is_sound:
        return "verified"
    gaps = (
        f"{assurance.failing} not confirmed" if assurance.failing else "",
        "none answers the question" if assurance.answered is False else "",
    )
    return f"not verified{': ' if any(gaps) else ''}{join_nonempty(gaps, ', ')}"


def _waits_for(view: RunView) -> str:
    if view.waiting_for == "plan":
        return f"waiting for its plan to be approved: {view.plan.title if view.plan else ''}"
    return f"waiting for {view.waiting_for}: {' '.join(view.clarification.questions)}"


def _counts(summary: Summary) -> str:
    """`7 claims: 6 quoted, 1 unchecked`, or nothing."""
    return f"{pluralize(summary.claims, 'claim')}: {_verdicts(summary)}" if summary.claims else ""


def _evidence_counts(view: RunView) -> str:
    """How much evidence the report has; a passage or document that two agents found counts once."""
    ids = {id for claim in view.claims for id in claim.passages}
    cited_passages = [passage for passage in view.passages.values() if passage.id in ids]
    passages = {(passage.document_sha256, passage.start, passage.end) for passage in cited_passages}
    if not passages:
        return "nothing cited"
    sources = {passage.document_sha256 for passage in cited_passages}
    return f"{pluralize(len(passages), 'passage')} of {pluralize(len(sources), 'source')} cited"


def cost(view: RunView) -> str:
    """Working time, model calls, tokens, searches, pages and money."""
    total = view.usage.total
    seconds = elapsed_seconds(view, view.started_at, view.finished_at or _latest_time(view), datetime.now(UTC))
    parts = (
        format_duration(seconds),
        pluralize(total.model_calls, "model call") if total.model_calls else "",
        format_tokens(total),
        pluralize(total.searches, "search", "searches") if total.searches else "",
        pluralize(total.pages, "page") if total.pages else "",
        describe_cost(total) + describe_expected_cost(view.brief),
    )
    return f"took {join_nonempty(parts, ', ')}"


def _latest_time(view: RunView) -> str:
    """The latest time in the view of a run that has not ended."""
    times = [phase.finished_at or phase.started_at for phase in view.phases]
    times += [lane.finished_at or lane.started_at for lane in view.lanes]
    return max((time for time in times if time), key=datetime.fromisoformat, default=view.started_at)


def _continue_line(view: RunView, files: Sequence[Path] = ()) -> str:
    """The run's id, its files, and the commands to continue with."""
    location = f" in {', '.join(map(str, files))}" if files else ""
    problem_commands = [f"assay runs show {view.run_id}"] if any(problem_lines(view)) else []
    return f"run {view.run_id}{location}: {'; '.join(dict.fromkeys([_next_command(view), *problem_commands]))}"


def _next_command(view: RunView) -> str:
    if view.status == "waiting":
        return f"assay runs {'approve' if view.waiting_for == 'plan' else 'answer'} {view.run_id}"
    if view.status in ("created", "running", "paused") or view.stop_reason in UNANSWERED_REASONS:
        return f"assay runs resume {view.run_id}"
    if view.status == "completed" and any(claim.passages for claim in view.claims):
        return f"assay cite {view.run_id} 1"
    return f"assay runs show {view.run_id}"
