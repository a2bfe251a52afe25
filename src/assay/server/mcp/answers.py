"""The tools' answers, whose types make the output schemas; and a run's results as texts in pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec
from pydantic import BaseModel, Field

from assay.core.blocks import read_blocks
from assay.core.claims import Verdict
from assay.core.report import Report, build_report
from assay.core.text import sentences
from assay.core.view import RunView
from assay.export.markdown import render


class FoundDocument(BaseModel):
    """A document that matches a query."""

    id: str
    title: str
    url: str
    text: str = Field("", description="The passages that match best.")


class FoundDocuments(BaseModel):
    """Documents that match a query, best first."""

    results: list[FoundDocument]


class FetchedDocument(BaseModel):
    """A document's text, or one page of a long one."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


class RunNews(BaseModel):
    """The state of a run."""

    run_id: str
    status: str = Field(description="created, running, waiting, paused, completed, failed or cancelled")
    terminal: bool = Field(description="Whether the run has ended.")
    timed_out: bool = Field(description="Whether the wait was over before the run.")
    next_action: str = Field(description="What to do now. Follow it.")
    question: str
    phase: str = ""
    sources: int = 0
    claims: int = 0
    latest: list[str] = Field(default_factory=list, description="What happened last.")
    questions: list[str] = Field(default_factory=list, description="What the run asks its user, if it waits.")
    report: str = Field("", description="The report as Markdown, or its first page, once there is one.")
    verdicts: dict[str, int] = Field(default_factory=dict, description="The number of claims by verdict.")
    url: str = Field("", description="Where a person sees the run.")


class ReportPage(BaseModel):
    """A page of a run's results."""

    run_id: str
    part: str
    text: str
    next_cursor: int | None = Field(None, description="Ask again with this cursor for the next page; null: no more.")


class PassageEvidence(BaseModel):
    """A passage in its document: `text` is bytes `start` to `end` of the document of that hash (UTF-8)."""

    passage: str
    source: str
    title: str
    url: str
    document_sha256: str
    start: int
    end: int
    before: str
    text: str
    after: str
    page: int = 0
    published: str = ""
    fetched_at: str = ""


class ClaimSupport(BaseModel):
    """A sentence of the report, its verdict, and the passages it rests on."""

    claim: str
    text: str
    verdict: Verdict
    reason: str
    passages: list[str]
    against: list[str] = Field(default_factory=list, description="Passages that speak against it.")


class EvidenceFound(BaseModel):
    """Claims with their evidence."""

    run_id: str
    claims: list[ClaimSupport]
    evidence: list[PassageEvidence]


class CheckedSentence(BaseModel):
    """A claim of a text, and its verdict."""

    text: str
    verdict: Verdict
    reason: str
    line: int = 0
    evidence: list[str] = Field(default_factory=list, description="The passages it was held against.")
    urls: list[str] = Field(default_factory=list)


class CheckedAnswer(BaseModel):
    """The claims of a text with their verdicts."""

    claims: list[CheckedSentence]
    verdicts: dict[str, int]
    holding: float = Field(description="The share of the claims that are quoted or supported.")
    warnings: list[str] = Field(default_factory=list)
    next_action: str


class SteerResult(BaseModel):
    """The result of a request to a run."""

    run_id: str
    state: str = Field(description="accepted, applied or rejected")
    note: str


class RunEntry(BaseModel):
    """A run in a list."""

    run_id: str
    question: str
    status: str
    created_at: str
    thread: str = ""
    stop_reason: str = Field("", description="Why a completed run ended; no_evidence: it found no answer.")


class ListedRuns(BaseModel):
    """The latest runs, newest first."""

    runs: list[RunEntry]


class CollectionEntry(BaseModel):
    """A collection in a list."""

    name: str
    documents: int
    private: bool


class CollectionList(BaseModel):
    """The collections of documents."""

    collections: list[CollectionEntry]


# A run's results as texts in pages: clients cut off texts longer than about 25,000 tokens.

PAGE = 24_000
"""Code points of a page: about 6,000 tokens, 12,000 in scripts that take more."""
Part = Literal["report", "summary", "claims", "sources"]


class Page(msgspec.Struct, frozen=True):
    """A page of a text, and the number of the next page; None after the last."""

    text: str
    following: int | None


def first_page(view: RunView) -> tuple[str, bool]:
    """The first page of a report, and whether there are more."""
    pages = list(_pages(render(view)))
    return pages[0], len(pages) > 1


def page_of(text: str, number: int) -> Page | None:
    """Page `number` (from 1) of a text; it ends with a paragraph if possible. None if there is no such page."""
    pages = list(_pages(text))
    if not 1 <= number <= len(pages):
        return None
    return Page(pages[number - 1], number + 1 if number < len(pages) else None)


def part_of(view: RunView, part: Part) -> str:
    """A part of a run's report as Markdown."""
    if part == "report":
        return render(view)
    report = build_report(view)
    if part == "summary":
        return _summary(report)
    return _claims(report) if part == "claims" else _sources(report)


def _pages(text: str) -> Iterator[str]:
    while len(text) > PAGE:
        end = _end(text[:PAGE])
        yield text[:end]
        text = text[end:]
    yield text


def _end(text: str) -> int:
    """The end of a page of at most this length: after a paragraph, a sentence, or anywhere."""
    if (paragraph := text.rfind("\n\n", PAGE // 2)) > 0:
        return paragraph + 2
    ends = [end for _, end in sentences(text) if PAGE // 2 < end < len(text)]
    return ends[-1] if ends else len(text)


def _summary(report: Report) -> str:
    """The report up to the first heading after the answer, and the report's headings."""
    text = report.markdown.strip()
    blocks = read_blocks(text)
    first = next((index for index, block in enumerate(blocks) if block.kind not in ("heading", "space")), len(blocks))
    later = [block for block in blocks[first:] if block.kind == "heading"]
    answer = text[: later[0].start].strip() if later else text
    outline = "\n".join(f"- {' '.join(block.content.split())}" for block in later)
    return f"{answer}\n\nSections:\n{outline}" if outline else answer


def _claims(report: Report) -> str:
    return "\n".join(
        f"- {claim.id} ({claim.verdict}{f': {claim.reason}' if claim.reason else ''}): {claim.text}"
        f"{''.join(f' [{number}]' for number in claim.numbers)}"
        for claim in report.claims
    )


def _sources(report: Report) -> str:
    sources = sorted(report.sources, key=lambda source: source.number is None)
    return "\n".join(
        f"{'- read, not cited:' if source.number is None else f'{source.number}.'} {source.title}: {source.url}"
        for source in sources
    )
