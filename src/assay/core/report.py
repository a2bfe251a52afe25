"""The report as data: schema `assay.report/1`, and what the stop reasons mean.

Later releases only add fields. The JSON Schema lies in `assay/export/schemas`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from assay.core.bibliography import Bibliography, compile_bibliography
from assay.core.claims import Citation, Claim, Summary, Verdict, summarize
from assay.core.markers import CitationMode
from assay.core.plan import Coverage, Plan
from assay.core.ports import FINAL
from assay.core.rendering import Body, render_body
from assay.core.sources import Surroundings
from assay.core.typed import ReportField, reported, shaped
from assay.core.usage import Usage
from assay.core.view import RunView

SCHEMA = "assay.report/1"

STOP_REASONS: dict[str, str] = {
    "done": "Research ended by itself.",
    "no_evidence": "Nothing was found that answers the question.",
    "time": "The time limit was reached.",
    "usd": "The money limit was reached.",
    "tokens": "The token limit was reached.",
    "searches": "The limit of searches was reached.",
    "pages": "The limit of pages was reached.",
    "agents": "The limit of agents was reached.",
    "finished_early": "Research was ended early on request.",
    "unwritten": "No model could write the report to its end.",
    "cancelled": "The run was cancelled.",
    "failed": "The run failed.",
    "bug": "The run failed by a fault of Assay's.",
}
"""Every stop reason, and the sentence which says it to a reader."""


def in_words(reason: str) -> str:
    """A stop reason inside a sentence: "the token limit was reached"; what is none of them stays as it is."""
    said = STOP_REASONS.get(reason, reason).removesuffix(".")
    return said[:1].lower() + said[1:] if reason in STOP_REASONS else said


LIMITS: frozenset[str] = frozenset(
    ("time", "usd", "tokens", "searches", "pages", "agents", "finished_early", "unwritten")
)
"""The stop reasons of runs which ended before all was done; there is a report all the same."""


class ReportClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A factual sentence: `text` is `markdown[start:end]` in code points, without the markers at its end."""

    id: str
    text: str
    start: int
    end: int
    verdict: Verdict
    reason: str
    citations: tuple[Citation, ...]


class ReportPassage(msgspec.Struct, frozen=True, kw_only=True):
    """A cited passage: bytes `[start, end)` of its document's UTF-8 text; `source` is an id in `sources`.

    `before` and `after` are what stands around it there, empty where that was not looked up.
    """

    id: str
    source: str
    document_sha256: str
    start: int
    end: int
    text: str
    text_sha256: str
    heading: tuple[str, ...]
    page: int
    before: str
    after: str


class ReportSource(msgspec.Struct, frozen=True, kw_only=True):
    """A document that was read; `number` is None when it is not cited, `aliases` are other ids it had in the run."""

    id: str
    number: int | None
    url: str
    title: str
    author: str
    published: str
    snapshot_sha256: str
    document_sha256: str
    media_type: str
    fetched_at: str
    metadata: dict[str, str]
    aliases: tuple[str, ...]


class ReportUsage(msgspec.Struct, frozen=True, kw_only=True):
    """What the run spent, whole and in parts; the fields are those of `Usage`.

    `usd` is what the calls with a known price cost: with `unpriced_calls` the whole cost is unknown. `by_lane` has the
    agents, by the number of their lane.
    """

    model_calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    searches: int
    pages: int
    agents: int
    usd: float
    unpriced_calls: int
    cache_write_tokens: int
    by_role: dict[str, Usage]
    by_phase: dict[str, Usage]
    by_lane: dict[str, Usage]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A run's report. `models` maps a role to the model which answered for it; times are ISO 8601 UTC.

    `verified` says the final gate passed; `stop_reason` is one of `STOP_REASONS`, empty while the run goes on.
    Where the run did not come to its end, `limits` begins with why, and with what there is of the report.
    Of a run with a schema `fields` are its fields by name (`steps[0].title`), `data` their values alone in its shape.
    """

    schema: str = SCHEMA
    run_id: str
    question: str
    status: str
    stop_reason: str
    verified: bool
    mode: str
    depth: str
    strategy: str
    models: dict[str, str]
    started_at: str
    finished_at: str
    plan: Plan | None
    coverage: tuple[Coverage, ...]
    markdown: str
    claims: tuple[ReportClaim, ...]
    passages: tuple[ReportPassage, ...]
    sources: tuple[ReportSource, ...]
    summary: Summary
    usage: ReportUsage
    limits: tuple[str, ...]
    warnings: tuple[str, ...]
    fields: dict[str, ReportField]
    data: Any


def bibliography(view: RunView) -> Bibliography:
    """What the report as written so far cites."""
    claimed = (id for claim in view.claims for id in claim.passages)
    return compile_bibliography(view.report.text, view.sources, view.passages, claimed)


def build_report(view: RunView, citations: CitationMode = "numbers") -> Report:
    """The report of a run; of one that has not ended, as far as it is written."""
    books = bibliography(view)
    body = render_body(view.report.text, books, citations)
    claims = tuple(_claim(claim, body, books) for claim in view.claims)
    fields = reported(view.fields, view.claims)
    return Report(
        run_id=view.run_id,
        question=view.question,
        status=view.status,
        stop_reason=view.stop_reason,
        verified=view.verified,
        mode=view.mode,
        depth=view.depth,
        strategy=view.strategy,
        models=view.models,
        started_at=view.started_at,
        finished_at=view.finished_at,
        plan=view.plan,
        coverage=view.coverage,
        markdown=body.text,
        claims=claims,
        passages=_passages(view, books),
        sources=_sources(books),
        summary=summarize(view.claims, view.summary.dropped_markers),
        usage=_usage(view),
        limits=(*_unended(view), *view.report.limits),
        warnings=tuple(dict.fromkeys(warning.message for warning in view.warnings)),
        fields=fields,
        data=shaped(view.fields, fields),
    )


def written(view: RunView) -> Literal["none", "writing", "finished"]:
    """How far the report is; one of which no word is written yet is none."""
    state = view.report.state
    return "none" if state == "writing" and not view.report.text.strip() else state


def _unended(view: RunView) -> tuple[str, ...]:
    """That the run did not come to its end, why, and what there is of its report; nothing for one that did."""
    state = _state(view)
    return (f"{state}; {_left(view)}.",) if state else ()


def _state(view: RunView) -> str:
    """How the run stands where it did not end well; empty where it did, or there is no run."""
    match view.status:
        case "failed":
            return f"The run failed: {view.error.strip().rstrip('.') or 'no reason was given'}"
        case "cancelled":
            return "The run was cancelled"
        case "completed":
            return "The run ended" if written(view) == "none" else ""
        case "created" | "running" | "waiting" | "paused":
            return "The run has not ended" if view.brief else ""


def _left(view: RunView) -> str:
    """What there is of the report of such a run."""
    match written(view):
        case "none":
            return "no report was written" if view.status in FINAL else "no report has been written so far"
        case "writing":
            return "this report is not finished"
        case "finished":
            return "this report was not given its final check" if view.gate is None else "this report had been finished"


def _claim(claim: Claim, body: Body, books: Bibliography) -> ReportClaim:
    start, end = body.span(claim.start, claim.end)
    return ReportClaim(
        id=claim.id,
        text=body.text[start:end],
        start=start,
        end=end,
        verdict=claim.verdict,
        reason=claim.reason,
        citations=books.citations(claim.passages),
    )


def _passages(view: RunView, books: Bibliography) -> tuple[ReportPassage, ...]:
    unknown = Surroundings(id="", before="", after="")
    return tuple(
        ReportPassage(
            id=passage.id,
            source=books.joined[passage.id],
            document_sha256=passage.document_sha256,
            start=passage.start,
            end=passage.end,
            text=passage.text,
            text_sha256=passage.text_sha256,
            heading=passage.heading,
            page=passage.page,
            before=view.surroundings.get(passage.id, unknown).before,
            after=view.surroundings.get(passage.id, unknown).after,
        )
        for passage in books.cited
    )


def _sources(books: Bibliography) -> tuple[ReportSource, ...]:
    return tuple(
        ReportSource(
            id=entry.source.id,
            number=entry.number,
            url=entry.source.url,
            title=entry.source.title,
            author=entry.source.author,
            published=entry.source.published,
            snapshot_sha256=entry.source.snapshot_sha256,
            document_sha256=entry.source.document_sha256,
            media_type=entry.source.media_type,
            fetched_at=entry.source.fetched_at,
            metadata=entry.source.metadata,
            aliases=entry.aliases,
        )
        for entry in books.entries
    )


def _usage(view: RunView) -> ReportUsage:
    totals: dict[str, Any] = msgspec.structs.asdict(view.usage.total)
    lanes = {str(lane.lane): lane.usage for lane in view.lanes}
    return ReportUsage(**totals, by_role=view.usage.by_role, by_phase=view.usage.by_phase, by_lane=lanes)
