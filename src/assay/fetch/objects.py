"""An object store as a place of documents: Amazon S3 and compatible stores. Needs the extra `s3`.

A place is `s3://bucket/prefix`: all objects below the prefix. The library reads keys, region and endpoint from the
environment, under Amazon's names (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL` …).
"""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlsplit

from assay.core.errors import ConfigError, FetchFailed, UsageError
from assay.core.lazy import lazy_module, regex
from assay.core.ports import Clock, ListedFile
from assay.core.remote_services import NO_BUCKET, http_status, is_no_bucket
from assay.core.sources import Fetched

if TYPE_CHECKING:
    import obstore
    from obstore import exceptions, store
else:
    obstore = lazy_module("obstore")
    exceptions = lazy_module("obstore.exceptions")
    store = lazy_module("obstore.store")

T = TypeVar("T")

CONNECT_SECONDS, REQUEST_SECONDS = 5, 120
ATTEMPTS, RETRY_SECONDS = 5, 30
"""Attempts after the first, and seconds after the first within which the last may begin."""
MAX_LISTED_OBJECTS, MAX_LISTED_BYTES = 2_000_000, 2_000_000_000_000
"""The most objects of a place, and their bytes together."""
_BUCKET = regex(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


class ObjectsConnector:
    """Implements `core.ports.ListingConnector`."""

    def canonical(self, place: str) -> str:
        parts = urlsplit(place)
        if parts.scheme != "s3" or not _BUCKET.fullmatch(parts.netloc) or parts.query or parts.fragment:
            raise UsageError(
                f"{place[:200]!r} is not a place in an object store: write s3://bucket/prefix, without keys"
            )
        return f"s3://{parts.netloc}/{parts.path.strip('/')}".rstrip("/")

    def reaches_out(self, place: str) -> bool:
        return True

    def fetch(self, place: str, folder: Path, clock: Clock, largest: int) -> Iterator[Fetched]:
        canonical_place, files = self.list(place, folder, clock, largest)
        yield from self.read(canonical_place, files, folder, clock)

    def list(self, place: str, folder: Path, clock: Clock, largest: int) -> tuple[str, list[ListedFile]]:
        """See the port. A version is the object's ETag; folders, which some tools write as empty objects, are none."""
        canonical_place = self.canonical(place)
        pages = iter(obstore.list(_store(canonical_place)))
        files, size = list[ListedFile](), 0
        while page := _store_answer(canonical_place, "listed", lambda: next(pages, None)):
            files += [
                ListedFile(item["path"], (item["e_tag"] or "").strip('"'))
                for item in page
                if 0 < item["size"] <= largest and not item["path"].endswith("/")
            ]
            size += sum(item["size"] for item in page if item["size"] <= largest)
            if len(files) > MAX_LISTED_OBJECTS or size > MAX_LISTED_BYTES:
                raise UsageError(
                    f"{canonical_place} is too large: at most {MAX_LISTED_OBJECTS:,} objects and {MAX_LISTED_BYTES:,} "
                    "bytes are read; "
                    "name a prefix in it"
                )
            if not folder.exists():
                raise FetchFailed(f"stopped: {canonical_place} was being listed")
        return canonical_place, sorted(files, key=lambda file: file.name)

    def read(self, place: str, files: Sequence[ListedFile], folder: Path, clock: Clock) -> Iterator[Fetched]:
        bucket = _store(place)
        for file in files:
            try:
                body = _store_answer(place, "read", lambda name=file.name: bytes(obstore.get(bucket, name).bytes()))  # type: ignore[misc]
            except FileNotFoundError:  # deleted since it was listed
                continue
            url = f"{place}/{quote(file.name)}"
            kind = mimetypes.guess_type(file.name)[0] or "text/plain"
            yield Fetched(url=url, final_url=url, status=0, media_type=kind, body=body, fetched_at=clock.now())


def _store(place: str) -> Any:
    options: Any = {"connect_timeout": f"{CONNECT_SECONDS}s", "timeout": f"{REQUEST_SECONDS}s", "allow_http": True}
    retries: Any = {"max_retries": ATTEMPTS, "retry_timeout": timedelta(seconds=RETRY_SECONDS)}
    try:
        return store.from_url(place, client_options=options, retry_config=retries)
    except ImportError as missing:
        raise ConfigError(f"documents in an object store need the extra: pip install 'assay[s3]' ({missing})") from None
    except (exceptions.BaseError, ValueError, OSError) as error:
        raise ConfigError(
            f"{place} cannot be used ({type(error).__name__}): check keys, region and endpoint (AWS_…)"
        ) from None


def _store_answer(place: str, action: str, ask: Callable[[], T]) -> T:
    """The store's answer.

    Raises:
        FileNotFoundError: there is no such object.
        FetchFailed: anything else went wrong. The store's message is not repeated, because it may contain keys.
    """
    try:
        return ask()
    except FileNotFoundError as error:
        if is_no_bucket(error, action):
            raise FetchFailed(f"not found: {place}: {NO_BUCKET}") from None
        raise
    except (exceptions.BaseError, OSError) as error:
        status = http_status(error)
        if status == "404":
            raise FetchFailed(f"not found: {place}: {NO_BUCKET}") from None
        why = f"it answers {status}" if status else type(error).__name__
        raise FetchFailed(f"unreachable: {place} cannot be {action} ({why}); check keys and endpoint (AWS_…)") from None
