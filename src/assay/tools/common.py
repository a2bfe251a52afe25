"""Shared by several tools: room for a result, pages instead of snippets, the part of a document to show."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import takewhile

import msgspec

from assay.core.brief import Speculation
from assay.core.clean import one_line
from assay.core.errors import FetchFailed, ToolError
from assay.core.events import Event, SourceExpected, SourceFailed
from assay.core.ports import LedgerRow
from assay.core.relevance import QuotableStatement, rank, read_question
from assay.core.relevance.numbered_parts import parts_named, texts_of
from assay.core.sources import SNIPPET, Document, PassageSpan
from assay.core.web_addresses import MCP_PREFIX, is_address
from assay.evidence.ledger import Ledger
from assay.run.protocols import DocumentPassages, Observation
from assay.run.run import Run
from assay.run.speculation import page_key
from assay.run.steps import StepContext, digest

MIN_ROOM_CHARS, MAX_ROOM_CHARS = 1_500, 14_000
CHARACTERS_A_TOKEN = 3


def result_chars(run: Run) -> int:
    """How many characters of passages one result may show: an eighth of the agents' window, within bounds."""
    tokens = run.profile("analytical").window // 8
    return max(MIN_ROOM_CHARS, min(MAX_ROOM_CHARS, tokens * CHARACTERS_A_TOKEN))


def fit_passages(excerpts: Iterable[DocumentPassages], characters: int) -> tuple[DocumentPassages, ...]:
    """The beginning of `excerpts` that fits, at least its first passage."""
    fitting: list[DocumentPassages] = []
    for excerpt in excerpts:
        spans = fitting_spans(excerpt.spans, characters, at_least=0 if fitting else 1)
        characters -= sum(len(span.text) for span in spans)
        if spans:
            fitting.append(DocumentPassages(document=excerpt.document, spans=spans))
    return tuple(fitting)


def fitting_spans(spans: Sequence[PassageSpan], characters: int, at_least: int = 1) -> tuple[PassageSpan, ...]:
    """The first spans that fit into `characters`."""
    fitting: list[PassageSpan] = []
    for span in spans:
        characters -= len(span.text)
        if characters < 0 and len(fitting) >= at_least:
            break
        fitting.append(span)
    return tuple(fitting)


def call_key(tool: str, arguments: object) -> str:
    """The key of a call in the ledger: equal arguments, equal key."""
    return f"{tool} {digest(arguments)}"


def answer_row(run: Run, key: str, step_context: StepContext) -> LedgerRow:
    """The row that says that the step of `step_context` stored the result of `key`, for a run that continues this
    one.
    """
    return LedgerRow(kind="answer", id=key, lane=run.lane, data=msgspec.json.encode(step_context.key))


async def once(
    run: Run, ledger: Ledger, key: str, work: Callable[[], Awaitable[Observation]]
) -> tuple[Observation, bool]:
    """Return a call's result, and whether another lane got it before. Call it inside a step.

    If several lanes ask the same at the same time, one does the work and the others wait for it; if it fails or is
    stopped, the next one tries.

    Raises:
        AssayError: raised by `work`.
    """
    async with run.lock(key):
        answer = earlier_result(ledger, key)
        if answer is not None:
            return answer, True
        answer = await work()
        store_result(ledger, key, answer)
        return answer, False


def earlier_result(ledger: Ledger, key: str) -> Observation | None:
    """The earlier result of this call, in any lane."""
    data = ledger.cached_answer(key)
    return None if data is None else msgspec.json.decode(data, type=Observation)


def store_result(ledger: Ledger, key: str, observation: Observation) -> None:
    """Store the result of a call; the content is the same for every lane."""
    if ledger.cached_answer(key) is None:
        ledger.cache_answer(key, msgspec.json.encode(observation))


# Chooses the part of a document to show when it is too long.

HEAD_SHARE = 0.3
FOLLOWING_PASSAGES = 2
"""Passages shown after a matching one: what is said about a name is often in the sentences after it."""
FIELDS_ABOVE = 4
"""Fields above a matching passage that are shown: type, default and the like of what it describes."""
FIELD_KINDS = ("record", "field")
MAX_HEADINGS = 24
LANGUAGE_SAMPLE_PASSAGES = 5
"""The number of passages from which the language of a document is detected."""


def select_passages(spans: Sequence[PassageSpan], find: str, characters: int) -> tuple[PassageSpan, ...]:
    """The passages to show, in the document's order: all if they fit; else its beginning, and the best for `find`.

    Each matching passage is shown with those after it under the same heading, and with the fields of its entry.
    """
    if sum(len(span.text) for span in spans) <= characters:
        return tuple(spans)
    if not find.strip():
        return fitting_spans(spans, characters)
    head = fitting_spans(spans, int(characters * HEAD_SHARE))
    used = sum(len(span.text) for span in head)
    selected = {span.ordinal: span for span in head}
    for span in _with_surroundings(spans, rank_passages(spans, find)):
        if span.ordinal not in selected:
            used += len(span.text)
            if used > characters and len(selected) > len(head):
                break
            selected[span.ordinal] = span
    return tuple(sorted(selected.values(), key=lambda span: span.ordinal))


def _with_surroundings(spans: Sequence[PassageSpan], best: Iterable[PassageSpan]) -> Iterator[PassageSpan]:
    """Each of `best`, with the passages that continue it, and the fields directly above it under the same heading."""
    indexes = {span.ordinal: index for index, span in enumerate(spans)}
    for span in best:
        yield span
        index = indexes[span.ordinal]
        above = takewhile(
            lambda other: other.kind in FIELD_KINDS, reversed(spans[max(0, index - FIELDS_ABOVE) : index])
        )
        for other in (*above, *spans[index + 1 : index + 1 + FOLLOWING_PASSAGES]):
            if other.heading == span.heading:
                yield other


def rank_passages(spans: Sequence[PassageSpan], find: str) -> list[PassageSpan]:
    """The passages that share words with `find` in text or heading, best first; a numbered part that it names first."""
    question = read_question(find, document_text="\n".join(span.text for span in spans[:LANGUAGE_SAMPLE_PASSAGES]))
    statements = [
        QuotableStatement(
            text=passage.text,
            position=passage.ordinal,
            label=passage.label,
            heading=" ".join((*passage.heading, passage.lead)),
        )
        for passage in spans
    ]
    texts = [(span.text, span.heading) for span in spans]
    in_parts = (index for part in parts_named(find) for text in texts_of(part, texts) for index in text.texts)
    return [spans[index] for index in dict.fromkeys((*in_parts, *rank(question, statements, len(statements))))]


def outline(spans: Sequence[PassageSpan]) -> str:
    """The headings of a document in order: `Abstract; Motivation > Why now; …`."""
    paths = list(dict.fromkeys(span.heading for span in spans if span.heading))
    headings = "; ".join(one_line(" > ".join(path[-2:])) for path in paths[:MAX_HEADINGS])
    return f"{headings}; …" if len(paths) > MAX_HEADINGS else headings


# Pages instead of the snippets of a search: read once per run, for all lanes.

PAGES_READ_AHEAD = 3
"""How many of a search's results are read ahead; with several providers, two of each."""
TRANSIENT_FAILURES = ("timeout", "unreachable")
"""Kinds of failures after which the next lane tries again."""


def is_page(text: str, document: Document | None) -> bool:
    """True if a reference is an unread page: a hit of a search, or an unknown address."""
    return document.media_type == SNIPPET if document is not None else is_address(text)


async def read_page(
    run: Run, ledger: Ledger, step_context: StepContext, url: str, parts: int | None = None
) -> tuple[Document, ...]:
    """Return the documents of the page at `url`, of an article on several pages at most so many `parts`. Call it inside
    a step; a failure is logged as an event.

    Raises:
        ToolError: it cannot be read, with the reason; or this run may not read the web.
    """
    if run.world.pages is None:
        raise ToolError(f"{url} was not read: this run may not read the web")
    key = page_key(url)
    async with run.lock(key):
        cached = ledger.cached_answer(key)
        if cached is not None:
            return _first_pages(msgspec.json.decode(cached, type=tuple[Document, ...]), parts)
        if (before := ledger.cached_answer(_failure_key(key))) is not None:
            raise ToolError(f"{url} could not be read ({before.decode()}).")
        try:
            page: PageRead = await run.result_ahead(key) or await _fetch_page(run, url, parts)
        except FetchFailed as failed:
            step_context.emit(SourceFailed(url=url, reason=failed.reason))
            if not failed.reason.startswith(TRANSIENT_FAILURES):
                ledger.cache_answer(_failure_key(key), failed.reason.encode())
            raise ToolError(f"{url} could not be read ({failed.reason}).") from failed
        for name in page.keys:
            ledger.cache_answer(name, msgspec.json.encode(page.documents))
        return _first_pages(page.documents, parts)


def _first_pages(documents: tuple[Document, ...], parts: int | None) -> tuple[Document, ...]:
    pages = list(dict.fromkeys(map(opened_key, documents)))[:parts]
    return tuple(document for document in documents if opened_key(document) in pages)


class PageRead(msgspec.Struct, frozen=True):
    """The documents of a page, and the keys of every address it is known by now."""

    documents: tuple[Document, ...]
    keys: tuple[str, ...]


def opened_key(document: Document) -> str:
    """What was opened for a document: the address of its page, which may hold several, else its own hash."""
    return document.url if is_address(document.url) else document.sha256


def read_pages_ahead(
    run: Run, ledger: Ledger | None, excerpts: Sequence[DocumentPassages], tell: Callable[[Event], None]
) -> None:
    """Begin to read the first pages of a search ahead; `tell` receives the event.

    Call it inside a step. Only if pages are not limited: unused pages must not use up the run's limit. Pages outside
    the web may cost money.
    """
    speculation = run.brief.speculation
    if run.world.pages is None or not isinstance(speculation, Speculation) or not speculation.pages:
        return
    limit = PAGES_READ_AHEAD if len(run.world.searches) < 3 else PAGES_READ_AHEAD - 1
    snippet_urls = [excerpt.document.url for excerpt in excerpts[:limit] if excerpt.document.media_type == SNIPPET]
    urls = [
        url for url in snippet_urls if not url.startswith(MCP_PREFIX) and not run.brief.scope.rules.refusal_reason(url)
    ]
    unread = [url for url in urls if ledger is None or not _was_tried(ledger, url)]
    # looking around for the plan opens nothing
    begin = partial(run.begin_ahead, kind="pages", guessed=ledger is None or "background" in run.path)
    begun_urls = tuple(url for url in unread if begin(page_key(url), partial(_fetch_page, run, url)))
    if begun_urls:
        tell(SourceExpected(urls=begun_urls))


async def _fetch_page(run: Run, url: str, parts: int | None = None) -> PageRead:
    """Read a page.

    Raises:
        FetchFailed: it cannot be fetched or read.
    """
    assert run.world.pages is not None
    documents = await run.world.pages.read(url, run.brief.scope.rules, parts)
    keys = {page_key(url), *map(page_key, await asyncio.to_thread(_page_addresses, run, documents))}
    return PageRead(documents, tuple(keys))


def _page_addresses(run: Run, documents: Sequence[Document]) -> list[str]:
    """The addresses of these documents: the final one, and each redirect."""
    snapshots = (run.world.library.snapshot(document.snapshot_sha256) for document in documents)
    return [url for snapshot in snapshots if snapshot is not None for url in (snapshot.url, *snapshot.redirects)]


def _was_tried(ledger: Ledger, url: str) -> bool:
    """True if the page was read, or could not be."""
    key = page_key(url)
    return ledger.cached_answer(key) is not None or ledger.cached_answer(_failure_key(key)) is not None


def _failure_key(key: str) -> str:
    """The key under which a page's failure is stored."""
    return f"failed {key}"
