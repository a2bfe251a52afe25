"""The needs of services from the program that wires them; `app` implements it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, Self, Unpack

from assay.core.allowance import OwnerLimits
from assay.core.brief import Brief
from assay.core.markers import CitationMode
from assay.core.ports import (
    Archive,
    Explanation,
    Extractor,
    Library,
    LibrarySearch,
    Notices,
    PageCache,
    Pages,
    Query,
    RunRow,
    Search,
    Similarity,
)
from assay.core.ports.lists import RunIndexing
from assay.core.ports.webhooks import Poster
from assay.core.sources import Document, PassageSpan, Syntax
from assay.core.view import RunView
from assay.settings import Settings

if TYPE_CHECKING:
    from assay.core.run_options import RunOptions
    from assay.evidence.documents import DocumentReader, Spans, Texts
    from assay.services.arguments import ProgressLog, Sources
    from assay.services.context import Context
    from assay.services.jobs.specifications import VerifyJob
    from assay.services.results import RunHandle
    from assay.services.run_control import ControlOutcome, RequestedAction


class OwnedLibrarySearch(Search, Protocol):
    """The index over the library, as one owner may query it."""

    async def explain(self, query: Query) -> list[Explanation]:
        """The best documents, each with the reasons for its rank."""
        ...


class Readers(Protocol):
    """Reads files: the installed extractors and archive formats, and the processes in which some of them run."""

    def extractors(self) -> list[Extractor]:
        """All installed ones; those that ask for a process of their own run in one."""
        ...

    def page_extractors(self) -> list[Extractor]:
        """All installed ones, each in a process of its own."""
        ...

    def pdf_page_reader(self) -> Extractor:
        """Draws pages of PDFs, and finds passages on them."""
        ...

    def archives(self) -> list[Archive]:
        """The archive formats installed."""
        ...

    def segment(self, text: bytes, syntax: Syntax) -> tuple[PassageSpan, ...]:
        """The passages of a text in UTF-8. Blocking."""
        ...

    def begin_segmenting(self, texts: Texts) -> Callable[[], Sequence[Spans]]:
        """Start to cut texts in UTF-8; the result waits for the passages of each. Blocking."""
        ...

    def close(self) -> None:
        """End the processes. Blocking for a moment."""
        ...


class WebPages(Pages, Protocol):
    """The web as one owner's runs see it."""

    def searches(self) -> tuple[Search, ...]:
        """The providers that a run queries."""
        ...

    def notices(self) -> Notices:
        """Looks up notices published about works later."""
        ...


class SharedWeb(Protocol):
    """Everything all runs of a process share for using the web."""

    def for_library(self, library: Library) -> WebPages:
        """The same, with pages as documents of one owner's library."""
        ...

    def warm(self) -> None:
        """Create what searches and fetches before it is needed. Blocking."""
        ...

    async def close(self) -> None: ...


class HomePresence(Protocol):
    """Says that this process works with a home."""

    def exclusive(self) -> AbstractContextManager[bool]:
        """In the block no other process works with the home, or starts to; False if one does."""
        ...

    def close(self) -> None:
        """This process is done with the home."""
        ...


class Wiring(Protocol):
    """Creates adapters from a context's settings, each on first use."""

    def reader(self, context: Context) -> DocumentReader:
        """The reader of passages of documents."""
        ...

    def readers(self) -> Readers:
        """The extractors of text from files."""
        ...

    def search(self, context: Context) -> LibrarySearch:
        """The index over the library, of all owners."""
        ...

    def owned_search(self, context: Context, brief: Brief | None = None) -> OwnedLibrarySearch:
        """The index as the owner of a context may query it; for a run, without what an embedder may not see."""
        ...

    def similarity(self, context: Context, brief: Brief) -> Similarity | None:
        """Compares texts of a run by meaning; None if nothing does."""
        ...

    async def embed(self, context: Context, progress: ProgressLog | None, *, anew: bool) -> dict[str, object]:
        """Update the vectors from the library; return figures, by name."""
        ...

    async def verify(self, context: Context, job: VerifyJob, progress: ProgressLog) -> dict[str, object]:
        """Check a text against the documents it names, in a library in memory; return counts of verdicts, by name."""
        ...

    def library(self, context: Context) -> Researcher:
        """The library as the owner of a context sees it."""
        ...

    def run_index(self, context: Context) -> RunIndexing:
        """The index of the questions and reports of all runs."""
        ...

    def page_cache(self, context: Context) -> PageCache:
        """Cached pages of the web."""
        ...

    def online(self, context: Context) -> SharedWeb:
        """Everything all runs share for using the web."""
        ...

    def poster(self, settings: Settings) -> Poster:
        """Posts to the addresses of webhooks."""
        ...


class Researcher(Protocol):
    """The library as batches, schedules and summaries use it: `assay.Assay` is one."""

    settings: Settings

    def start(
        self,
        question: str,
        *,
        sources: Sources | None = None,
        progress: ProgressLog | None = None,
        **wanted: Unpack[RunOptions],
    ) -> RunHandle:
        """Start a run in this process."""
        ...

    async def resume(self, reference: str) -> RunHandle:
        """Resume a stored run in this process."""
        ...

    async def find(self, reference: str) -> RunRow:
        """A run by its id, the start of its id, or `last`."""
        ...

    async def view(self, reference: str) -> RunView:
        """A run as folded from its events."""
        ...

    async def control(self, reference: str, action: RequestedAction, *, wait: float = 0.0) -> ControlOutcome:
        """Finish, cancel or pause a run, whichever process executes it."""
        ...

    async def is_answered(self, reference: str) -> bool:
        """True if a run has what it waits for."""
        ...

    async def export(self, reference: str, suffix: str, citations: CitationMode = "numbers") -> bytes:
        """The report of a run as the bytes of a file."""
        ...

    async def delete(self, reference: str) -> None:
        """Delete a run."""
        ...

    async def documents(self, collection: str) -> list[Document]:
        """The documents of a collection."""
        ...

    async def text(self, reference: str, collection: str | None = None) -> tuple[Document, str]:
        """A document with its text."""
        ...

    async def selection(self, documents: Sequence[str]) -> str:
        """The name of the collection of exactly these documents (hashes)."""
        ...

    def owned_by(self, owner: str | None, limits: OwnerLimits | None = None) -> Self:
        """The same as another user sees it."""
        ...
