"""Snapshots, documents, passages, sources: what evidence is made of.

Offsets are bytes into the UTF-8 text of a document, half open; hashes are lower-case SHA-256.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, get_args

import msgspec


class PageAsked(msgspec.Struct, frozen=True, kw_only=True):
    """Page `number` (from 1): its picture, `width` dots wide; or, without a width, the places of a passage.

    `before` is what stands on the page before the passage: where its words come more than once, it tells which are
    meant.
    """

    number: int
    width: int = 0
    passage: str = ""
    before: str = ""


class PageBox(msgspec.Struct, frozen=True, kw_only=True):
    """A rectangle on a page, in shares of its width and height, from the upper left corner."""

    left: float
    top: float
    width: float
    height: float


class PagePlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Where a passage stands on page `number`, which is `width` by `height` points: a box for each line of it.

    Without boxes the page holds no letters there: it was scanned, or is printed in another order than it is read.
    """

    number: int
    width: float
    height: float
    boxes: tuple[PageBox, ...] = ()


Syntax = Literal["markdown", "plain", "code", "pages", "rows"]
"""How the segmenter reads a text: `pages` is a paragraph a line with a form feed between pages, `rows` a row a line."""
SYNTAXES: tuple[Syntax, ...] = get_args(Syntax)

SourceKind = Literal["primary", "official", "scholarly", "news", "reference", "forum", "unknown"]
KINDS: tuple[SourceKind, ...] = get_args(SourceKind)

LONGEST_PASSAGE = 500
"""Code points of a passage; an extractor which writes `rows` keeps its lines below this."""

SNIPPET = "text/x-search-snippet"
"""The media type of what a search provider said of a page nobody has read yet."""
RENDERED = "x-rendered-by"
"""The header of a page which was rendered in a browser: which one. No server's header of that name is kept."""

FINAL_URL = "final_url"
"""The metadata of a page which was somewhere else in the end than it was found."""

UNSORTED = "unsorted"
"""The collection of documents read for one run only: a library document is in some collection always."""

BlockKind = Literal["heading", "paragraph", "item", "row", "field", "record", "code", "navigation"]
"""`field` is a line of a header (`Status: Final`), `record` such a line elsewhere; `navigation` leads to what is said,
as a table of contents does: it is searched with its document, and no passage to answer with."""


def sha256(data: bytes | memoryview) -> str:
    """Lower-case hexadecimal SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """A page as it was fetched.

    `url` is what was asked for, `final_url` where the page was after the `redirects` (each address on the way).
    `kept` says that the body is one kept from before: `fresh`, so that nobody was asked, or `unchanged`, as the server
    said.
    """

    url: str
    final_url: str
    redirects: tuple[str, ...] = ()
    status: int = 200
    media_type: str
    headers: dict[str, str] = {}
    body: bytes
    fetched_at: str
    kept: Literal["", "fresh", "unchanged"] = ""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The bytes fetched or read, addressed by their hash, never changed.

    Of a page `url` is where it was in the end, after the `redirects` (each address on the way, the asked one first);
    `status` is what the server answered, 0 for files.
    """

    sha256: str
    url: str
    media_type: str
    size: int
    fetched_at: str
    headers: dict[str, str] = {}
    redirects: tuple[str, ...] = ()
    status: int = 0


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """The text extracted from a snapshot by a named extractor version.

    `sha256` is the hash of the text's UTF-8; `size` its length in bytes. `name` is what a person calls it (a
    file name, a row's id). `syntax` says how the segmenter reads the text. `language` is ISO 639-1 or empty.
    """

    sha256: str
    snapshot_sha256: str
    extractor: str
    url: str
    title: str
    name: str
    media_type: str
    syntax: Syntax
    size: int
    fetched_at: str
    author: str = ""
    published: str = ""
    language: str = ""
    metadata: dict[str, str] = {}


READ_BY = "read by"
"""The key of metadata which says what read a document whose letters are pictures: OCR may misread."""


class Extracted(msgspec.Struct, frozen=True, kw_only=True):
    """What an extractor makes of one document inside a file.

    `body` is the part of the file this document is (a row's bytes), None when it is the whole file.
    """

    text: str
    extractor: str
    syntax: Syntax
    title: str = ""
    url: str = ""
    name: str = ""
    body: bytes | None = None
    author: str = ""
    published: str = ""
    language: str = ""
    metadata: dict[str, str] = {}


class PassageSpan(msgspec.Struct, frozen=True, gc=False):
    """One passage of a document, before any run has given it an id: ordinal in the document, byte range, text.

    `heading` is the path of headings above it; `page` counts from 1, 0 where the format has no pages. `label` says
    what it is about where it does not say so itself: the term it describes, the head row of its table; `lead` is the
    sentence before its list, table or code.
    """

    ordinal: int
    start: int
    end: int
    text: str
    kind: BlockKind = "paragraph"
    heading: tuple[str, ...] = ()
    page: int = 0
    label: str = ""
    lead: str = ""


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """What was published about a work later: `kind` as Crossref calls it (retraction, correction,
    expression_of_concern), `doi` of the notice, `date` as far as it is known (ISO).
    """

    kind: str
    doi: str = ""
    date: str = ""

    @property
    def withdraws(self) -> bool:
        """Whether the work does not stand any more."""
        return self.kind in ("retraction", "withdrawal", "removal", "partial_retraction")


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One document as a lane met it. `id` is `S` + lane * 1000 + ordinal: `S2003` is lane 2's third.

    `author` is as the document states it, `published` an ISO date (or its year), both empty where unknown. `kind` is
    what kind of source it is (`core.quality`), and `kind_reason` what tells so; `notices` were published about
    it later.
    """

    id: str
    document_sha256: str
    snapshot_sha256: str
    url: str
    title: str
    media_type: str
    fetched_at: str
    metadata: dict[str, str] = {}
    author: str = ""
    published: str = ""
    kind: SourceKind = "unknown"
    kind_reason: str = ""
    notices: tuple[Notice, ...] = ()


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A byte range of a source's document which a model was shown; `id` is `S2003.17` (source, ordinal).

    What stands around it is as of its `PassageSpan`.
    """

    id: str
    source: str
    document_sha256: str
    start: int
    end: int
    text: str
    text_sha256: str
    heading: tuple[str, ...] = ()
    page: int = 0
    label: str = ""
    lead: str = ""

    @property
    def above(self) -> tuple[str, ...]:
        """The headings it stands under, and what it is about."""
        return (*self.heading, self.label) if self.label else self.heading


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What stands around passage `id` in its document, for a reader who wants to check; some 300 bytes each."""

    id: str
    before: str
    after: str


def readable(spans: Sequence[PassageSpan]) -> Sequence[PassageSpan]:
    """The passages which say something, without navigation; all where there is nothing else."""
    kept = tuple(span for span in spans if span.kind != "navigation")
    return kept if kept and len(kept) < len(spans) else spans


def source_id(lane: int, ordinal: int) -> str:
    """The id of a lane's `ordinal`-th source (from 1).

    Raises:
        ValueError: more than 999 sources in one lane.
    """
    if not 1 <= ordinal <= 999:
        raise ValueError(f"a lane holds at most 999 sources, not {ordinal}")
    return f"S{lane * 1000 + ordinal}"


def lane_of_source(id: str) -> int:
    """The lane which met the source of this id: 2 for `S2003`."""
    return int(id.removeprefix("S")) // 1000


def span_of(passage: Passage) -> PassageSpan:
    """A passage as it lies in its document, without the id a run gave it."""
    return PassageSpan(
        ordinal=ordinal_of(passage.id),
        start=passage.start,
        end=passage.end,
        text=passage.text,
        heading=passage.heading,
        page=passage.page,
        label=passage.label,
        lead=passage.lead,
    )


def ordinal_of(id: str) -> int:
    """The place in its document of the passage of this id: 17 for `S2003.17`."""
    return int(id.rpartition(".")[2])


class CollectionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What is in the collections of a scope: told to planner and agents.

    `kinds` and `languages` map a name to a count; `published` is the span of known dates (ISO, "" unknown);
    `names` are up to 30 document names, `titles` the same documents' titles.
    """

    documents: int
    kinds: dict[str, int] = {}
    languages: dict[str, int] = {}
    published: tuple[str, str] = ("", "")
    names: tuple[str, ...] = ()


def passage_of(source: str, document: Document, span: PassageSpan) -> Passage:
    """The passage a stretch of a document is, under the id of a source."""
    return Passage(
        id=f"{source}.{span.ordinal}",
        source=source,
        document_sha256=document.sha256,
        start=span.start,
        end=span.end,
        text=span.text,
        text_sha256=sha256(span.text.encode()),
        heading=span.heading,
        page=span.page,
        label=span.label,
        lead=span.lead,
    )
