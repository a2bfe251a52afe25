"""Blobs in an object store: Amazon S3 and compatible ones, Google's, Azure's. Needs the extra `s3`.

Imported only if `blobs` is an address. Keys, region and endpoint come from the environment, under the services' own
names (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL` …); the library reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from assay.core.errors import ConfigError, StoreError
from assay.core.lazy import regex
from assay.core.remote_services import NO_BUCKET, error_summary, http_status, is_no_bucket
from assay.core.sources import sha256
from assay.store.blobs import (
    OWNERS,
    Damage,
    Owner,
    StoredBlob,
    blob_name,
    blob_path,
    check_name,
    is_name,
    pack,
    unpack,
)
from assay.store.common import put_at_once

try:
    import obstore
    from obstore.exceptions import BaseError
    from obstore.store import from_url
except ImportError as missing:
    raise ConfigError(f"blobs at an address need the extra: pip install 'assay[s3]' ({missing})") from missing

T = TypeVar("T")

CONNECT_SECONDS, REQUEST_SECONDS = 5, 120
"""Seconds to connect, and for one attempt as a whole: large blobs are sent in parts."""
ATTEMPTS, RETRY_SECONDS = 5, 30
"""Attempts after the first one, and how long after the first the last may begin, for server errors and lost
connections.
"""
FRESH_SECONDS = 12 * 3_600
"""An older blob is written again when it is stored again: a clean-up may be about to remove it."""

_CODE = regex(r"<Code>([A-Za-z0-9]{1,60})</Code>")
_KIND = regex(r"\bkind: ([A-Z][a-z]+)")


class ObjectBlobs:
    """Blobs below an address like `s3://bucket/prefix`, at the same paths as in a folder. Blocking; thread-safe.

    An upload is complete or absent; what is read is checked against its hash all the same.

    Raises:
        ConfigError: it is not the address of an object store, or its settings in the environment are wrong.
    """

    def __init__(
        self,
        url: str,
        owner: Owner | None = None,
        *,
        retry_seconds: float = RETRY_SECONDS,
        request_seconds: int = REQUEST_SECONDS,
    ) -> None:
        self._url, self._owner = url.rstrip("/"), owner
        try:
            self._store = from_url(
                self._url,
                client_options={
                    "connect_timeout": f"{CONNECT_SECONDS}s",
                    "timeout": f"{request_seconds}s",
                    "allow_http": True,  # if the environment names such an endpoint
                },
                retry_config={
                    "max_retries": ATTEMPTS,
                    "retry_timeout": timedelta(seconds=retry_seconds),
                    "backoff": {
                        "init_backoff": timedelta(milliseconds=100),
                        "max_backoff": timedelta(seconds=5),
                        "base": 2,
                    },
                },
            )
        except (BaseError, ValueError, OSError) as error:
            raise ConfigError(
                f"blobs: {self._url} cannot be used ({_reason(error)}): check keys, region and endpoint (AWS_…)"
            ) from None

    @property
    def place(self) -> str:
        return self._url

    def put(self, data: bytes) -> str:
        """Store `data` and return its hash. A blob with another size (a torn copy) or an old one is written again.

        Raises:
            StoreError: the store cannot be reached, or refuses.
        """
        name = sha256(data)
        self.keep(name, pack(data))
        return name

    def put_all(self, contents: Sequence[bytes]) -> list[str]:
        return put_at_once(self.put, contents)

    def register_owner(self) -> None:
        """See the port; once."""
        owner = self._owner  # read once: another thread may claim at the same time
        if owner is not None:
            mark = f"{OWNERS}/{owner()}"
            self._call_store("written", lambda: obstore.put(self._store, mark, b"1"))
            self._owner = None

    def keep(self, name: str, frame: bytes) -> None:
        self.register_owner()
        existing = self._head(name)
        if existing is None or existing.size != len(frame) or _age(existing) > FRESH_SECONDS:
            self._call_store("written", lambda: obstore.put(self._store, blob_path(name), frame))

    def get(self, sha256: str) -> bytes:
        return self.read(sha256)[1]

    def read(self, sha256: str) -> tuple[bytes, bytes]:
        path = blob_path(check_name(sha256))
        try:
            frame = self._call_store("read", lambda: bytes(obstore.get(self._store, path).bytes()))
        except FileNotFoundError:
            raise StoreError(f"no blob {sha256} in {self._url}: `assay db check` names what is missing") from None
        try:
            return frame, unpack(frame, sha256)
        except Damage as error:
            raise StoreError(f"{self._url}/{path} is damaged: delete it and add its document again") from error

    def has(self, sha256: str) -> bool:
        """True if it exists; an empty object is not a blob.

        Raises:
            StoreError: the store cannot be reached, or refuses.
        """
        blob = self._head(sha256) if is_name(sha256) else None
        return blob is not None and blob.size > 0

    def list_blobs(self) -> Iterator[StoredBlob]:
        pages = iter(obstore.list(self._store))
        while page := self._call_store("listed", lambda: next(pages, None)):
            for item in page:
                if name := blob_name(item["path"]):
                    yield StoredBlob(name, item["size"], item["last_modified"])

    def age(self, sha256: str) -> float | None:
        blob = self._head(check_name(sha256))
        return None if blob is None else _age(blob)

    def remove(self, sha256: str) -> None:
        try:
            self._call_store("removed", lambda: obstore.delete(self._store, blob_path(check_name(sha256))))
        except FileNotFoundError:
            return

    def owners(self) -> set[str]:
        items = self._call_store("listed", lambda: obstore.list(self._store, OWNERS).collect())
        return {item["path"].rpartition("/")[2] for item in items}

    def _head(self, name: str) -> StoredBlob | None:
        try:
            meta = self._call_store("reached", lambda: obstore.head(self._store, blob_path(name)))
        except FileNotFoundError:
            return None
        return StoredBlob(name, meta["size"], meta["last_modified"])

    def _call_store(self, action: str, ask: Callable[[], T]) -> T:
        """The store's answer.

        Raises:
            FileNotFoundError: there is no such object.
            StoreError: anything else went wrong. The store's message is not repeated, since it may contain keys.
        """
        try:
            return ask()
        except FileNotFoundError as error:
            if is_no_bucket(error, action):
                raise StoreError(
                    f"{self._url} cannot be {action}: {NO_BUCKET}; check keys, region and endpoint (AWS_…)"
                ) from None
            raise
        except (BaseError, OSError) as error:
            raise StoreError(
                f"{self._url} cannot be {action}: {_reason(error)}; check keys, region and endpoint (AWS_…)"
            ) from None


def _age(blob: StoredBlob) -> float:
    return (datetime.now(UTC) - blob.modified).total_seconds()


def _reason(error: BaseException) -> str:
    """The meaning of a library's error in our own words, with the store's status and code."""
    message = error_summary(error)
    code = _CODE.search(message)
    status = " ".join(filter(None, (http_status(error), code[1] if code else "")))
    if isinstance(error, PermissionError) or type(error).__name__ in ("PermissionDeniedError", "UnauthenticatedError"):
        return f"access is refused ({status or 'no right'}): look at its keys and their rights in the environment"
    if status:
        return f"it answers {status}"
    kind = _KIND.search(message)
    if kind is not None and kind[1] == "Timeout":
        return "it does not answer in time"
    if kind is not None and kind[1] in ("Connect", "Request", "Interrupted"):
        return "no connection: is the endpoint in the environment right (AWS_ENDPOINT_URL)?"
    return f"{type(error).__name__} (its address cannot be read, or its keys are missing in the environment)"
