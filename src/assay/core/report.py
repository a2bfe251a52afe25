"""The report as data: schema `assay.report/1`, and the meaning of the stop reasons.

Later releases only add fields. The JSON Schema is in `assay/export/schemas`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import asdict

from assay.core.assurance import Assurance, assess_claims, unfinished_limits
from assay.core.bibliography import Bibliography, RenderedText, compile_bibliography, render_body
from assay.core.claims import Check, Citation, Claim, Conflict, Relevance, Summary, Verdict, Version, summarize
from assay.core.markers import CitationMode, strip_markers
from assay.core.plan import Coverage, Plan
from assay.core.search_record import SearchSummary, summarize_searches
from assay.core.sources import Notice, Passage, SourceKind, Surroundings
from assay.core.typed_answers import ReportField, report_fields, shape_answer
from assay.core.usage import Usage
from assay.core.view import RunView

SCHEMA = "assay.report/1"


class Opposed(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that contradicts a claim, in `passages` or `further`; `number` is None if it is not cited."""

    passage: str
    source: str
    number: int | None


class ReportClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A factual sentence: `text` is `markdown[start:end]` in code points, without the markers at its end.

    `citations` are the evidence for it, `against` what contradicts it. `independent` counts the documents it cites,
    with those that copy one another counted once. `checks` are those of the present sentence, of which the last
    decides; `versions` are its earlier versions, oldest first. `relevance` says how far it answers the question, "" if
    nobody judged.
    """

    id: str
    text: str
    start: int
    end: int
    verdict: Verdict
    reason: str
    citations: tuple[Citation, ...]
    independent: int = 0
    against: tuple[Opposed, ...] = ()
    checks: tuple[Check, ...] = ()
    versions: tuple[Version, ...] = ()
    relevance: Relevance = ""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of its citations in the text, each once."""
        return tuple(dict.fromkeys(citation.number for citation in self.citations))


class ReportRemoved(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence that was removed: its last text, cited passages (ids) and verdict, and why it was removed."""

    id: str
    text: str
    why: str
    verdict: Verdict
    reason: str
    passages: tuple[str, ...]
    versions: tuple[Version, ...]


class ReportPassage(msgspec.Struct, frozen=True, kw_only=True):
    """A cited passage: bytes `[start, end)` of its document's UTF-8 text; `source` is an id in `sources`.

    `before` and `after` are the text around it, empty if that was not looked up. `label` gives its topic if it does not
    say so itself: the term it describes, the header row of its table.
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
    label: str = ""

    @property
    def above(self) -> tuple[str, ...]:
        """The headings above it, and its topic."""
        return (*self.heading, self.label) if self.label else self.heading


class ReportSource(msgspec.Struct, frozen=True, kw_only=True):
    """A document that was read; `number` is None if it is not cited, `aliases` are other ids it had in the run.

    `kind` is the kind of source, and `kind_reason` how that is known; `notices` were published about it later.
    """

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
    kind: SourceKind = "unknown"
    kind_reason: str = ""
    notices: tuple[Notice, ...] = ()


class ReportUsage(msgspec.Struct, frozen=True, kw_only=True):
    """The spending of a run, in total and in parts; the fields are those of `Usage`.

    `usd` is the cost of the calls with a known price; with `unpriced_calls` the total cost is unknown. `by_lane` has
    the agents, by the number of their lane.
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
    """A run's report.

    `thread` names its conversation, `parent` is the run it continues, `forked_from` the one it was forked off. `models`
    maps a role to the model that answered for it; times are ISO 8601 UTC.

    `verified` says that every claim is true to its sources and that one answers the question (for runs of earlier
    releases without the latter: that the final gate passed); `assurance` separates the two. `stop_reason` is one of
    `STOP_REASONS`, empty while the run is active. If the run did not complete, `limits` begins with the reason, and
    with what there is of the report.

    `passages` are those cited in the text. `further` are those that contradict a claim, were cited by an earlier or
    removed sentence (`removed`), or belong to a side of `conflicts`, in which sources disagree. `copies` are groups of
    documents, by hash, that copy one another. `looked` says where the run has searched. `thinking` is the models'
    reasoning while writing, as far as their services return it. For a run with a schema, `fields` are its fields by
    name (`steps[0].title`), `data` only their values in its shape.
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
    thread: str = ""
    parent: str = ""
    conflicts: tuple[Conflict, ...] = ()
    copies: tuple[tuple[str, ...], ...] = ()
    removed: tuple[ReportRemoved, ...] = ()
    further: tuple[ReportPassage, ...] = ()
    forked_from: str = ""
    looked: SearchSummary = SearchSummary()
    thinking: tuple[str, ...] = ()
    assurance: Assurance | None = None

    def evidence(self) -> Iterator[tuple[ReportClaim, tuple[ReportPassage, ...]]]:
        """Each claim with the passages that it cites."""
        passages = {passage.id: passage for passage in self.passages}
        for claim in self.claims:
            yield (
                claim,
                tuple(passages[citation.passage] for citation in claim.citations if citation.passage in passages),
            )


def build_bibliography(view: RunView) -> Bibliography:
    """The bibliography of the report as written so far."""
    claimed_ids = (id for claim in view.claims for id in claim.passages)
    return compile_bibliography(view.report.text, view.sources, view.passages, claimed_ids)


def build_report(view: RunView, citations: CitationMode = "numbers") -> Report:
    """The report of a run; for one that has not ended, as far as it is written."""
    return render_report(view, citations)[0]


def render_report(view: RunView, citations: CitationMode) -> tuple[Report, RenderedText, Bibliography]:
    """As `build_report`, with the rendered text and its bibliography."""
    books = build_bibliography(view)
    body = render_body(view.report.text, books, citations)
    claims = tuple(_claim(view, claim, body, books) for claim in view.claims)
    fields = report_fields(view.fields, view.claims)
    report = Report(
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
        passages=tuple(_passage(view, books, passage) for passage in books.cited),
        sources=_sources(books),
        summary=summarize(view.claims, view.summary.dropped_markers),
        usage=_usage(view),
        limits=(*unfinished_limits(view), *view.report.limits),
        warnings=tuple(dict.fromkeys(warning.message for warning in view.warnings)),
        fields=fields,
        data=shape_answer(view.fields, fields),
        thread=view.brief.thread if view.brief else "",
        parent=view.brief.parent if view.brief else "",
        forked_from=view.brief.fork.run if view.brief and view.brief.fork else "",
        conflicts=view.conflicts,
        copies=view.copies,
        removed=tuple(ReportRemoved(**asdict(claim) | {"text": strip_markers(claim.text)}) for claim in view.removed),
        further=_further_passages(view, books),
        looked=summarize_searches(view),
        thinking=_writing_thoughts(view),
        assurance=assess_claims(view.claims) if view.graded else None,
    )
    return report, body, books


def _writing_thoughts(view: RunView) -> tuple[str, ...]:
    """The models' reasoning while they wrote the report."""
    turns = (turn for phase in view.phases if phase.name == "write" for turn in phase.turns)
    return tuple(thought for turn in turns for thought in turn.thoughts if thought.strip())


def _independent_source_count(view: RunView, claim: Claim) -> int:
    """How many sources a claim cites, with copies of one another counted once."""
    first = {sha256: group[0] for group in view.copies for sha256 in group}
    document_hashes = (view.passages[id].document_sha256 for id in claim.passages if id in view.passages)
    return len({first.get(sha256, sha256) for sha256 in document_hashes})


def _claim(view: RunView, claim: Claim, body: RenderedText, books: Bibliography) -> ReportClaim:
    start, end = body.span(claim.start, claim.end)
    return ReportClaim(
        id=claim.id,
        text=body.text[start:end],
        start=start,
        end=end,
        verdict=claim.verdict,
        reason=claim.reason,
        citations=books.citations(claim.passages),
        independent=_independent_source_count(view, claim),
        against=tuple(
            Opposed(passage=id, source=books.joined[id], number=books.numbers.get(id))
            for id in claim.against
            if id in books.joined
        ),
        checks=view.checks.get(claim.id, ()),
        versions=view.versions.get(claim.id, ()),
        relevance=claim.relevance,
    )


def _passage(view: RunView, books: Bibliography, passage: Passage) -> ReportPassage:
    surroundings = view.surroundings.get(passage.id, Surroundings(id="", before="", after=""))
    return ReportPassage(
        id=passage.id,
        source=books.joined[passage.id],
        document_sha256=passage.document_sha256,
        start=passage.start,
        end=passage.end,
        text=passage.text,
        text_sha256=passage.text_sha256,
        heading=passage.heading,
        page=passage.page,
        before=surroundings.before,
        after=surroundings.after,
        label=passage.label,
    )


def _further_passages(view: RunView, books: Bibliography) -> tuple[ReportPassage, ...]:
    """Passages that the text does not cite although the claims' records name them."""
    opposing_ids = (id for claim in view.claims for id in claim.against)
    before = (id for versions in view.versions.values() for version in versions for id in version.passages)
    removed_ids = (id for removed_claim in view.removed for id in removed_claim.passages)
    earlier = (id for removed_claim in view.removed for version in removed_claim.versions for id in version.passages)
    sides = (id for conflict in view.conflicts for id in conflict.passages)
    cited_ids = {passage.id for passage in books.cited}
    other_ids = dict.fromkeys(
        id for id in (*opposing_ids, *before, *removed_ids, *earlier, *sides) if id not in cited_ids
    )
    return tuple(
        _passage(view, books, view.passages[id]) for id in other_ids if id in view.passages and id in books.joined
    )


def _sources(books: Bibliography) -> tuple[ReportSource, ...]:
    return tuple(
        ReportSource(**asdict(entry.source), number=entry.number, aliases=entry.aliases) for entry in books.entries
    )


def _usage(view: RunView) -> ReportUsage:
    lanes = {str(lane.lane): lane.usage for lane in view.lanes}
    usage = view.usage
    return ReportUsage(**asdict(usage.total), by_role=usage.by_role, by_phase=usage.by_phase, by_lane=lanes)
