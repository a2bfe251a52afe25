"""Collects what was read and writes it into the library: bytes first, then documents in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta

from assay.core.errors import ExtractError
from assay.core.ports import Blobs, Clock, DocumentMove, FileStamp, Library
from assay.core.sources import FINAL_URL, SYNTAXES, Document, Extracted, Fetched, Snapshot, sha256
from assay.core.web_addresses import canonical_url
from assay.evidence.ingest.moves import MissingFiles, displaced_documents, keep_removed, may_move
from assay.evidence.ingest.units import IngestPart

BATCH_DOCUMENTS = 400
"""Documents written in one transaction."""
ASKED_DOCUMENTS = 64
"""Documents about which the library is asked at once."""
ASKED_BYTES = 4_000_000
"""Bytes of files and texts that wait for this answer."""
FLUSH_SECONDS = 2.0
"""Seconds after which what was read is written: no more is lost if the process dies."""


class DocumentIntake:
    """Collects documents and writes them; `documents` are all found, `added` counts those new to the library.

    `moved` has the row numbers of those that got another place; `on_move` is told of them before.
    A library that is `fresh` and empty need not be asked whether it knows a document.
    """

    fresh = False

    def __init__(
        self, library: Library, blobs: Blobs, writer: ThreadPoolExecutor | None, clock: Clock, collection: str
    ) -> None:
        self._library, self._blobs, self._clock = library, _Background(blobs, writer), clock
        self._collection = collection
        self.documents: dict[str, None] = {}
        self.added = 0
        self.moved: list[int] = []
        self.missing_files = MissingFiles()
        self.on_move: Callable[[Sequence[int]], None] | None = None
        self._moves: list[DocumentMove] = []
        self._elsewhere: list[tuple[int, DocumentMove]] = []  # read where they are not stored: perhaps copies
        self._pending: dict[str, tuple[Extracted, bytes, IngestPart]] = {}
        self._pending_bytes = 0
        self._batch: list[tuple[Snapshot, Document]] = []
        self._known_documents: list[str] = []
        self._stamps: list[FileStamp] = []
        self._last_write = clock.monotonic()

    def add_document(self, extracted: Extracted, part: IngestPart) -> str:
        """Add a document of `part` and return its hash.

        Raises:
            ExtractError: the extractor (of another package) names a syntax that does not exist.
        """
        if extracted.syntax not in SYNTAXES:  # stored, it would prevent every run over the collection from working
            syntaxes = ", ".join(SYNTAXES)
            raise ExtractError(
                f"{extracted.extractor} gives the syntax {extracted.syntax!r}; it must be one of {syntaxes}"
            )
        text = extracted.text.encode()
        name = sha256(text)
        if name not in self.documents:
            self.documents[name] = None
            self._add_unasked(name, (extracted, text, part))
        if len(self._pending) >= ASKED_DOCUMENTS or self._pending_bytes >= ASKED_BYTES:
            self._store_new()
        if len(self._batch) >= BATCH_DOCUMENTS:
            self.flush()
        return name

    def _add_unasked(self, name: str, entry: tuple[Extracted, bytes, IngestPart]) -> None:
        """Remember a document until the library is asked about several."""
        extracted, text, part = entry
        last = next(reversed(self._pending.values()), None)
        same_part = last is not None and last[2] is part
        self._pending[name] = entry
        self._pending_bytes += len(text) + len(extracted.body or b"") + (0 if same_part else len(part.data))

    def _store_new(self) -> None:
        """Store what the library does not know."""
        pending, self._pending, self._pending_bytes = self._pending, {}, 0
        existing: set[str] = set() if self.fresh else self._library.existing_documents(pending)
        self._known_documents += (name for name in pending if name in existing)
        self._note_moves({name: entry for name, entry in pending.items() if name in existing})
        stored = {name: self._store(name, *entry) for name, entry in pending.items()}  # known ones may have lost theirs
        self._batch += [stored[name] for name in pending if name not in existing]
        self.added += len(pending) - len(existing)

    def _note_moves(self, known_documents: Mapping[str, tuple[Extracted, bytes, IngestPart]]) -> None:
        """Note the new places of documents whose file is gone."""
        in_files = [name for name, (_, _, part) in known_documents.items() if part.page is None]
        if not in_files:
            return
        moves: list[tuple[int, DocumentMove]] = []
        for name, place in self._library.stored_places(in_files).items():
            extracted, _, part = known_documents[name]
            url, document_name = extracted.url or part.url, extracted.name or part.name
            move = place.row, DocumentMove(sha256=name, before=place.url, url=url, name=document_name)
            if self.missing_files.is_moved(place.url, part.url):
                moves.append(move)
            elif may_move(place.url, part.url):
                self._elsewhere.append(move)
        self._apply_moves(moves)

    def _apply_moves(self, moves: Sequence[tuple[int, DocumentMove]]) -> None:
        rows = [row for row, _ in moves]
        if self.on_move is not None and rows:
            self.on_move(rows)
        self.moved += rows
        self._moves += (move for _, move in moves)

    def finish(self) -> None:
        """Write everything, and then the new places of documents whose former file was read with another content.

        Raises:
            StoreError: the library or the blobs cannot be written.
        """
        self.flush()
        displaced = displaced_documents(self._library, {move.sha256: move.before for _, move in self._elsewhere})
        self._apply_moves([entry for entry in self._elsewhere if entry[1].sha256 in displaced])
        self.flush()

    def include(self, documents: Iterable[str]) -> None:
        """Add documents that are in the library."""
        self.documents.update(dict.fromkeys(documents))
        self._known_documents.extend(documents)

    def stamp(self, stamp: FileStamp) -> None:
        """Record that a file is read; once everything is written it is not read again."""
        self._stamps.append(stamp)
        if self._clock.monotonic() - self._last_write >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what waits; bytes before the documents that need them.

        Raises:
            StoreError: the library or the blobs cannot be written.
        """
        if self._pending:
            self._store_new()
        self._blobs.wait()
        if self._moves:  # first: if this process ends in between, what a person removed stays so at both places
            keep_removed(self._library, {move.before: move.url for move in self._moves})
        if self._batch or self._stamps or self._moves:
            self._library.add(self._batch, self._collection, self._stamps, self._moves)
        if self._known_documents:
            self._library.include(self._known_documents, self._collection)
        self._batch, self._known_documents, self._stamps, self._moves = [], [], [], []
        self._last_write = self._clock.monotonic()

    def _store(self, name: str, extracted: Extracted, text: bytes, part: IngestPart) -> tuple[Snapshot, Document]:
        body = part.data if extracted.body is None else extracted.body
        of_body = name if body == text else sha256(body)
        for data in {of_body: body, name: text}.values():
            self._blobs.put(data)
        page = part.page
        now = self._clock.now() if page is None else page.fetched_at
        # The address that a page itself gives is only its own claim: it is cited as it was found.
        url = (extracted.url or part.url) if page is None else part.url
        snapshot = Snapshot(
            sha256=of_body,
            url=url if page is None else page.final_url,
            media_type=part.media_type,
            size=len(body),
            fetched_at=now,
            headers={} if page is None else page.headers,
            redirects=() if page is None else page.redirects,
            status=0 if page is None else page.status,
        )
        document = Document(
            sha256=name,
            snapshot_sha256=snapshot.sha256,
            extractor=extracted.extractor,
            url=url,
            title=extracted.title or extracted.name or part.name,
            name=extracted.name or part.name,
            media_type=part.media_type,
            syntax=extracted.syntax,
            size=len(text),
            fetched_at=now,
            author=extracted.author,
            published=extracted.published if page is None else _past_date(extracted.published, page.fetched_at),
            language=extracted.language,
            metadata=extracted.metadata if page is None else _page_metadata(extracted, page),
        )
        return snapshot, document


def _past_date(day: str, fetched_at: str) -> str:
    """A page's date of publication; "" if the page was fetched before it, which then is no such date.

    A day more is another time zone. Journals date their issues ahead, so a month or a year without a day stays.
    """
    if len(day) < 10 or not fetched_at:
        return day
    tomorrow = datetime.fromisoformat(fetched_at) + timedelta(days=1)
    return day if day <= tomorrow.date().isoformat() else ""


def _page_metadata(extracted: Extracted, page: Fetched) -> dict[str, str]:
    """The metadata of a page, with its final address and the one it gives itself, if these differ."""
    metadata = {key: value for key, value in extracted.metadata.items() if key not in (FINAL_URL, "canonical")}
    if canonical_url(page.final_url) != canonical_url(page.url):
        metadata[FINAL_URL] = page.final_url
    if extracted.url and canonical_url(extracted.url) not in (canonical_url(page.url), canonical_url(page.final_url)):
        metadata["canonical"] = extracted.url
    return metadata


class _Background:
    """Writes blobs in the threads of `writer`, while the next documents are read; without it at once."""

    def __init__(self, blobs: Blobs, writer: ThreadPoolExecutor | None) -> None:
        self._blobs, self._writer = blobs, writer
        self._futures: list[Future[str]] = []

    def put(self, data: bytes) -> None:
        """Store bytes under their hash, before `wait` returns."""
        if self._writer is None:
            self._blobs.put(data)
        else:
            self._futures.append(self._writer.submit(self._blobs.put, data))

    def wait(self) -> None:
        """Wait until everything is stored.

        Raises:
            StoreError: something could not be stored; from then on always.
        """
        for future in self._futures:
            future.result()
        self._futures.clear()
