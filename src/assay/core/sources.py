"""Snapshots, documents, passages, sources: what evidence is made of.

Offsets are bytes into the UTF-8 text of a document, half open; hashes are lower-case SHA-256.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, get_args

import msgspec


class PageAsked(msgspec.Struct, frozen=True, kw_only=True):
    """Page `number` (from 1): its picture, `width` pixels wide; or, without a width, the places of a passage.

    `before` is the text on the page before the passage: if its words occur more than once, it shows which are meant.
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
    """The place of a passage on page `number`, which is `width` by `height` points: a box for each line of it.

    If there are no boxes, the page has no letters there: it was scanned, or is printed in another order than it is
    read.
    """

    number: int
    width: float
    height: float
    boxes: tuple[PageBox, ...] = ()


Syntax = Literal["markdown", "plain", "code", "pages", "rows"]
"""How a text is laid out: `pages` has a paragraph per line and a form feed between pages, `rows` a row per line."""
SYNTAXES: tuple[Syntax, ...] = get_args(Syntax)

SourceKind = Literal["primary", "official", "scholarly", "news", "reference", "forum", "unknown"]
SOURCE_KINDS: tuple[SourceKind, ...] = get_args(SourceKind)

MAX_PASSAGE_CHARS = 500
"""Code points of a passage; an extractor that writes `rows` keeps its lines below this."""

SNIPPET = "text/x-search-snippet"
"""The media type of a search provider's snippet of a page that nobody has read yet."""
RENDERED_HEADER = "x-rendered-by"
"""The header with the browser that rendered a page. A server's header of that name is dropped."""

FINAL_URL = "final_url"
"""The metadata key of a page that was finally found at another address."""

ACCESS, PAYWALL = "access", "paywall"
"""The metadata key of a page that says that not everybody can read it in full, and its value."""

UNSORTED = "unsorted"
"""The collection of documents read for one run only: a library document is always in some collection."""

BlockKind = Literal["heading", "paragraph", "item", "row", "field", "record", "code", "navigation"]
"""`field` is a line of a header (`Status: Final`), `record` such a line elsewhere. `navigation` leads to content, as a
table of contents does: it is searched with its document, but is not a passage to answer with.
"""


def sha256(data: bytes | memoryview) -> str:
    """Lower-case hexadecimal SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """A page as fetched.

    `url` is the requested address, `final_url` that of the page after the `redirects` (each address on the way). `kept`
    says that the body is a cached one: `fresh`, so nobody was asked, or `unchanged`, as the server said.
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

    For a page, `url` is its final address after the `redirects` (each address on the way, the requested one first);
    `status` is the server's, 0 for files.
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

    `sha256` is the hash of the text's UTF-8; `size` its length in bytes. `name` is what a person calls it (a file name,
    a row's id). `syntax` says how the segmenter reads the text. `language` is ISO 639-1 or empty.
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


FOUND_DATE, FOUND_BY = "search_published", "search_provider"
"""The metadata keys for the date of a page that states none, by the search that found it, and for who says so."""
READ_BY = "read by"
"""The metadata key that says what read a scanned document: OCR may misread."""


class Extracted(msgspec.Struct, frozen=True, kw_only=True):
    """An extractor's result for one document inside a file.

    `body` is the part of the file that is this document (a row's bytes), None if it is the whole file.
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
    """One passage of a document, before a run has given it an id: ordinal in the document, byte range, text.

    `heading` is the path of headings above it; `page` counts from 1, 0 if the format has no pages. `label` gives its
    topic if it does not say so itself: the term it describes, the header row of its table; `lead` is the sentence
    before its list, table or code.
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
    """A notice published about a work later.

    `kind` is Crossref's (retraction, correction, expression_of_concern), `doi` that of the notice, `date` its date as
    far as known (ISO).
    """

    kind: str
    doi: str = ""
    date: str = ""

    @property
    def withdraws(self) -> bool:
        """True if the work is withdrawn."""
        return self.kind in ("retraction", "withdrawal", "removal", "partial_retraction")


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One document as a lane found it. `id` is `S` + lane * 1000 + ordinal: `S2003` is lane 2's third.

    `author` is as the document states it, `published` an ISO date (or its year), both empty if unknown. `kind` is the
    kind of source (`core.quality`), and `kind_reason` how that is known; `notices` were published about it later.
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


PassageLocation = tuple[str, int]
"""A passage as its document and first byte: two lanes may have seen the same one."""


class Passage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A byte range of a source's document that a model was shown; `id` is `S2003.17` (source, ordinal).

    Its context is that of its `PassageSpan`.
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
        """The headings above it, and its topic."""
        return (*self.heading, self.label) if self.label else self.heading

    @property
    def location(self) -> PassageLocation:
        return self.document_sha256, self.start

    @property
    def is_whole(self) -> bool:
        """True if the text matches its hash."""
        return sha256(self.text.encode("utf-8", "surrogatepass")) == self.text_sha256


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """The text around passage `id` in its document, for a reader who wants to check; about 300 bytes on each side."""

    id: str
    before: str
    after: str


def content_spans(spans: Sequence[PassageSpan]) -> Sequence[PassageSpan]:
    """The passages with content, without navigation; all if there is nothing else."""
    content = tuple(span for span in spans if span.kind != "navigation")
    return content if content and len(content) < len(spans) else spans


def source_id(lane: int, ordinal: int) -> str:
    """The id of a lane's `ordinal`-th source (from 1).

    Raises:
        ValueError: more than 999 sources in one lane.
    """
    if not 1 <= ordinal <= 999:
        raise ValueError(f"a lane holds at most 999 sources, not {ordinal}")
    return f"S{lane * 1000 + ordinal}"


def lane_of_source(id: str) -> int:
    """The lane that found the source with this id: 2 for `S2003`."""
    return int(id.removeprefix("S")) // 1000


def span_of(passage: Passage) -> PassageSpan:
    """A passage as it is in its document, without its id."""
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
    """The place in its document of the passage with this id: 17 for `S2003.17`."""
    return int(id.rpartition(".")[2])


class CollectionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of the collections in scope, for planner and agents.

    `kinds` and `languages` map a name to a count; `published` is the span of known dates (ISO, "" unknown); `names` are
    up to 30 document names, `titles` the same documents' titles.
    """

    documents: int
    kinds: dict[str, int] = {}
    languages: dict[str, int] = {}
    published: tuple[str, str] = ("", "")
    names: tuple[str, ...] = ()


def passage_of(source: str, document: Document, span: PassageSpan) -> Passage:
    """A span of a document as a passage, under the id of a source."""
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
