"""What was read, into the library: bytes first, then documents in batches."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from assay.core.errors import ExtractError
from assay.core.ports import Blobs, Clock, FileStamp, Library
from assay.core.sources import FINAL_URL, SYNTAXES, Document, Extracted, Fetched, Snapshot, sha256
from assay.core.web_addresses import canonical
from assay.evidence.ingest.units import IngestPart

BATCH = 400
"""Documents written in one transaction."""
SECONDS = 2.0
"""What was read this long ago is written: more is not lost when the process dies."""


class DocumentIntake:
    """Takes documents in and writes them; `documents` are all found, `added` how many are new to the library.

    Of a library which is `fresh`, and holds nothing yet, it need not be asked whether it knows a document.
    """

    fresh = False

    def __init__(
        self, library: Library, blobs: Blobs, writer: ThreadPoolExecutor, clock: Clock, collection: str
    ) -> None:
        self._library, self._blobs, self._clock = library, _Background(blobs, writer), clock
        self._collection = collection
        self.documents: dict[str, None] = {}
        self.added = 0
        self._batch: list[tuple[Snapshot, Document]] = []
        self._known: list[str] = []
        self._stamps: list[FileStamp] = []
        self._written = clock.monotonic()

    def take(self, extracted: Extracted, part: IngestPart) -> str:
        """A document of `part`; its hash.

        Raises:
            ExtractError: its extractor (another package's) says that it is in a syntax which there is not.
        """
        if extracted.syntax not in SYNTAXES:  # stored, it would keep every run over the collection from working
            known = ", ".join(SYNTAXES)
            raise ExtractError(
                f"{extracted.extractor} gives the syntax {extracted.syntax!r}; it must be one of {known}"
            )
        text = extracted.text.encode()
        name = sha256(text)
        if name not in self.documents:
            self.documents[name] = None
            if self.fresh or self._library.document(name) is None:
                self.added += 1
                self._batch.append(self._store(extracted, text, part))
            else:
                self._known.append(name)
        if len(self._batch) >= BATCH:
            self.flush()
        return name

    def include(self, documents: Iterable[str]) -> None:
        """Documents which are in the library."""
        self.documents.update(dict.fromkeys(documents))
        self._known.extend(documents)

    def stamp(self, stamp: FileStamp) -> None:
        """A file is read; once what was read is written it will not be read again."""
        self._stamps.append(stamp)
        if self._clock.monotonic() - self._written >= SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what waits; bytes before the documents which need them.

        Raises:
            StoreError: the library or the blobs cannot be written.
        """
        self._blobs.wait()
        if self._batch or self._stamps:
            self._library.add(self._batch, self._collection, self._stamps)
        if self._known:
            self._library.include(self._known, self._collection)
        self._batch, self._known, self._stamps = [], [], []
        self._written = self._clock.monotonic()

    def _store(self, extracted: Extracted, text: bytes, part: IngestPart) -> tuple[Snapshot, Document]:
        body = part.data if extracted.body is None else extracted.body
        page = part.page
        now = self._clock.now() if page is None else page.fetched_at
        # What a page says is its address is its own word: it is cited as it was found.
        url = (extracted.url or part.url) if page is None else part.url
        snapshot = Snapshot(
            sha256=self._blobs.put(body),
            url=url if page is None else page.final_url,
            media_type=part.media_type,
            size=len(body),
            fetched_at=now,
            headers={} if page is None else page.headers,
            redirects=() if page is None else page.redirects,
            status=0 if page is None else page.status,
        )
        document = Document(
            sha256=self._blobs.put(text),
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
            published=extracted.published,
            language=extracted.language,
            metadata=extracted.metadata if page is None else _of_page(extracted, page),
        )
        return snapshot, document


def _of_page(extracted: Extracted, page: Fetched) -> dict[str, str]:
    """What a page says of itself, with where it was in the end and what it calls its address, where these differ."""
    known = {key: said for key, said in extracted.metadata.items() if key not in (FINAL_URL, "canonical")}
    if canonical(page.final_url) != canonical(page.url):
        known[FINAL_URL] = page.final_url
    if extracted.url and canonical(extracted.url) not in (canonical(page.url), canonical(page.final_url)):
        known["canonical"] = extracted.url
    return known


class _Background:
    """Writes blobs in a thread of its own, beside the reading of the next documents."""

    def __init__(self, blobs: Blobs, writer: ThreadPoolExecutor) -> None:
        self._blobs, self._writer = blobs, writer
        self._waiting: list[Future[str]] = []

    def put(self, data: bytes) -> str:
        """The hash, at once; the bytes are stored when `wait` returns."""
        self._waiting.append(self._writer.submit(self._blobs.put, data))
        return sha256(data)

    def wait(self) -> None:
        """Until everything is stored.

        Raises:
            StoreError: something could not be.
        """
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            future.result()
