"""The tools' answers. Their types make the output schemas which clients are shown."""

from __future__ import annotations

from pydantic import BaseModel, Field

from assay.core.claims import Verdict


class FoundDocument(BaseModel):
    """A document which answers a query."""

    id: str
    title: str
    url: str
    text: str = Field("", description="The passages which match best.")


class FoundDocuments(BaseModel):
    """Documents which answer a query, best first."""

    results: list[FoundDocument]


class FetchedDocument(BaseModel):
    """A document's text, or one page of a long one."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


class RunNews(BaseModel):
    """How a run stands."""

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
    verdicts: dict[str, int] = Field(default_factory=dict, description="How many claims have which verdict.")
    url: str = Field("", description="Where a person sees the run.")


class ReportPage(BaseModel):
    """A page of what a run has found."""

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
    """A sentence of the report, the verdict on it, and the passages it rests on."""

    claim: str
    text: str
    verdict: Verdict
    reason: str
    passages: list[str]
    against: list[str] = Field(default_factory=list, description="Passages which speak against it.")


class EvidenceFound(BaseModel):
    """Claims with the passages behind them."""

    run_id: str
    claims: list[ClaimSupport]
    evidence: list[PassageEvidence]


class CheckedSentence(BaseModel):
    """A claim of a text, and the verdict on it."""

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
    holding: float = Field(description="The share of the claims which are quoted or supported.")
    warnings: list[str] = Field(default_factory=list)
    next_action: str


class SteerResult(BaseModel):
    """What became of what a run was told."""

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
