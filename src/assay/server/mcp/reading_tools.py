"""Tools that read the library, reports and their evidence, and that check a text."""

from __future__ import annotations

import asyncio
from typing import Annotated

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from assay.app.assay import DEFAULT_COLLECTION
from assay.app.library import DocumentLibrary
from assay.core.claims import VERDICTS, Summary
from assay.core.errors import UsageError
from assay.core.ports import Hit
from assay.core.report import Report, ReportClaim, build_report
from assay.core.sources import Document
from assay.server.mcp.answers import (
    CheckedAnswer,
    CheckedSentence,
    ClaimSupport,
    CollectionEntry,
    CollectionList,
    EvidenceFound,
    FetchedDocument,
    FoundDocument,
    FoundDocuments,
    ListedRuns,
    Part,
    PassageEvidence,
    ReportPage,
    RunEntry,
    page_of,
    part_of,
)
from assay.server.mcp.research import RunId
from assay.server.mcp.service import (
    Ctx,
    assay_of,
    citation_address,
    is_hidden,
    is_page,
    sources_of,
    tool_errors,
    view_of,
    visible_collections,
)

MAX_HITS = 10
PASSAGES = 3
"""Passages shown of a found document."""
MAX_LISTED_RUNS = 50
CLAIMS = 20
"""The most claims whose evidence is shown at once."""


async def search(ctx: Ctx, query: Annotated[str, Field(description="What to look for.")]) -> FoundDocuments:
    """Search the library's documents. `fetch` gives the whole text of a result by its id."""
    names = [row.name for row in await visible_collections(ctx)]
    if not names:
        return FoundDocuments(results=[])
    with tool_errors():
        hits = await assay_of(ctx).search(query, MAX_HITS, names)
    visible_hits = [hit for hit in hits if not await is_hidden(ctx, documents=[hit.document.sha256])]
    return FoundDocuments(results=[_found_document(ctx, hit) for hit in visible_hits])


async def fetch(
    ctx: Ctx, id: Annotated[str, Field(description="The id of a result of `search`; ID#2 is its second page.")]
) -> FetchedDocument:
    """The text of a document of the library. Long ones come in pages: `metadata.next` is the id of the next."""
    reference, _, page = id.partition("#")
    document, text = await document_of(ctx, reference)
    text_page = page_of(text, int(page) if page.isdecimal() else 1)
    if text_page is None:
        raise ToolError(f"document {reference} has no page {page}")
    facts = {
        "author": document.author,
        "published": document.published,
        "media_type": document.media_type,
        "fetched_at": document.fetched_at,
        "sha256": document.sha256,
        "next": f"{reference}#{text_page.following}" if text_page.following else "",
    }
    return FetchedDocument(
        id=id,
        title=document.title or document.name,
        text=text_page.text,
        url=citation_address(ctx, document.url, document.sha256),
        metadata={name: value for name, value in facts.items() if value},
    )


async def document_of(ctx: Ctx, reference: str) -> tuple[Document, str]:
    """A document that the client may see, with its text.

    Raises:
        ToolError: there is none.
    """
    library: DocumentLibrary = assay_of(ctx)
    for row in await visible_collections(ctx):
        try:
            document, text = await library.text(reference, row.name)
        except UsageError:  # not in this collection
            continue
        if not await is_hidden(ctx, documents=[document.sha256]):
            return document, text
    raise ToolError(f"no document {reference!r} in the library; `search` gives the ids of documents")


async def research_report(
    ctx: Ctx,
    run_id: RunId,
    part: Annotated[Part, Field(description="The whole report, its summary and outline, its claims, or sources.")] = (
        "report"
    ),
    cursor: Annotated[int, Field(ge=1, description="The page: 1, then `next_cursor`.")] = 1,
) -> ReportPage:
    """Read a run's report page by page: the text with its sources, or only the summary, the claims or the sources."""
    view = await view_of(ctx, run_id)
    page = page_of(await asyncio.to_thread(part_of, view, part), cursor)
    if page is None:
        raise ToolError(f"the {part} of run {view.run_id} has no page {cursor}")
    return ReportPage(run_id=view.run_id, part=part, text=page.text, next_cursor=page.following)


async def evidence(
    ctx: Ctx,
    run_id: RunId,
    citation: Annotated[int | None, Field(description="The number of a citation in the report.")] = None,
    claim: Annotated[str, Field(description="The id of a claim (research_report with part claims).")] = "",
) -> EvidenceFound:
    """Show the evidence for sentences of a report: the exact bytes of each cited passage in its stored document, the
    text around it, and the verdict on the sentence. Without `citation` and `claim`: all claims that do not hold.
    """
    view = await view_of(ctx, run_id)
    report = await asyncio.to_thread(build_report, view)
    claims = [row for row in report.claims if _is_requested(row, citation, claim)][:CLAIMS]
    if not claims and (claim or citation is not None):
        claim_ids = ", ".join(row.id for row in report.claims[:CLAIMS]) or "none"
        raise ToolError(f"no such claim or citation in the report of run {view.run_id}; its claims are: {claim_ids}")
    passage_ids = {cited.passage for row in claims for cited in row.citations} | {
        opposed.passage for row in claims for opposed in row.against
    }
    return EvidenceFound(
        run_id=view.run_id,
        claims=[_claim(row) for row in claims],
        evidence=_evidence(report, passage_ids),
    )


async def verify(
    ctx: Ctx,
    text: Annotated[str, Field(description="Text with citations, links or a list of references.")] = "",
    run_id: Annotated[str, Field(description="Instead of a text: the run whose report is checked again.")] = "",
    collections: Annotated[
        list[str] | None, Field(description="Where to look for evidence; null: the default.")
    ] = None,
    web: Annotated[bool, Field(description="Fetch the pages that the text cites.")] = False,
) -> CheckedAnswer:
    """Check every claim of a text against the documents it names, or those of a collection; no model is asked."""
    assay = assay_of(ctx)
    with tool_errors():
        if run_id and text.strip():
            raise UsageError(
                "give a text or a run_id, not both: with a run_id, the report of that run is checked again"
            )
        if run_id:
            recheck = await assay.recheck((await view_of(ctx, run_id)).run_id)
            sentences = [
                CheckedSentence(text=claim.text, verdict=claim.now, reason=claim.reason) for claim in recheck.claims
            ]
            return _checked_answer(sentences, recheck.now, list(recheck.problems))
        if not text.strip():
            raise UsageError("there is nothing to check: give a text, or the run_id of a report")
        names = collections or [row.name for row in await visible_collections(ctx) if row.name == DEFAULT_COLLECTION]
        result = await assay.verify(text, sources=await sources_of(ctx, names) or (), web=web)
    passages = {passage.id: passage.text for passage in result.passages}
    addresses = {url: await _address(ctx, url) for url in {url: None for claim in result.claims for url in claim.found}}
    return _checked_answer(
        [
            CheckedSentence(
                text=claim.text,
                verdict=claim.verdict,
                reason=claim.reason,
                line=claim.line,
                evidence=[passages[id] for id in claim.passages[:PASSAGES] if id in passages],
                urls=[addresses[url] for url in claim.found if addresses[url]],
            )
            for claim in result.claims
        ],
        result.summary,
        list(result.warnings),
    )


async def list_runs(
    ctx: Ctx, limit: Annotated[int, Field(ge=1, le=MAX_LISTED_RUNS, description="Number of runs at most.")] = 20
) -> ListedRuns:
    """The latest runs, newest first."""
    rows = (await assay_of(ctx).page(limit=limit, accounts=False)).runs
    return ListedRuns(runs=[RunEntry.model_validate(row, from_attributes=True) for row in rows])


async def list_collections(ctx: Ctx) -> CollectionList:
    """The collections of documents that can be searched."""
    rows = await visible_collections(ctx)
    return CollectionList(collections=[CollectionEntry.model_validate(row, from_attributes=True) for row in rows])


async def _address(ctx: Ctx, url: str) -> str:
    """The address by which a client reads a document stored at `url`; "" if several documents are at this one."""
    if is_page(url):
        return url
    try:
        return citation_address(ctx, url, (await assay_of(ctx).facts(url)).document.sha256)
    except UsageError:
        return ""


def _found_document(ctx: Ctx, hit: Hit) -> FoundDocument:
    document = hit.document
    return FoundDocument(
        id=document.sha256,
        title=document.title or document.name,
        url=citation_address(ctx, document.url, document.sha256),
        text=" … ".join(span.text for span in hit.spans[:PASSAGES]),
    )


def _is_requested(claim: ReportClaim, citation: int | None, id: str) -> bool:
    if id:
        return claim.id == id
    if citation is not None:
        return any(source.number == citation for source in claim.citations)
    return claim.verdict not in ("quoted", "supported")


def _claim(claim: ReportClaim) -> ClaimSupport:
    return ClaimSupport(
        claim=claim.id,
        text=claim.text,
        verdict=claim.verdict,
        reason=claim.reason,
        passages=[citation.passage for citation in claim.citations],
        against=[citation.passage for citation in claim.against],
    )


def _evidence(report: Report, passage_ids: set[str]) -> list[PassageEvidence]:
    sources = {source.id: source for source in report.sources}
    entries = []
    for passage in (*report.passages, *report.further):
        source = sources.get(passage.source)
        if passage.id not in passage_ids or source is None:
            continue
        entries.append(
            PassageEvidence(
                passage=passage.id,
                source=source.id,
                title=source.title,
                url=source.url,
                document_sha256=passage.document_sha256,
                start=passage.start,
                end=passage.end,
                before=passage.before,
                text=passage.text,
                after=passage.after,
                page=passage.page,
                published=source.published,
                fetched_at=source.fetched_at,
            )
        )
    return entries


def _checked_answer(claims: list[CheckedSentence], summary: Summary, warnings: list[str]) -> CheckedAnswer:
    weak = summary.claims - summary.grounded_count
    return CheckedAnswer(
        claims=claims,
        verdicts={name: count for name in VERDICTS if (count := getattr(summary, name))},
        holding=round(summary.grounded_count / summary.claims, 4) if summary.claims else 1.0,
        warnings=warnings,
        next_action=(
            f"Correct or leave out the {weak} of {summary.claims} claims that do not hold, or say that they do not."
            if weak
            else "Every claim holds."
            if summary.claims
            else "There was nothing to check: the text states no facts."
        ),
    )
