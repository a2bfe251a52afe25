"""A store: its ports together, and what keeps it small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, Self

import msgspec

from assay.core.ports.collections import Additions
from assay.core.ports.documents import Blobs, Cache, Library
from assay.core.ports.jobs import Jobs, Queue
from assay.core.ports.journal import Journal
from assay.core.ports.models import Permits
from assay.core.ports.users import AuditLog, Buckets, LimitStore, ShareStore, UserStore
from assay.core.ports.webhooks import WebhookStore


class OwnedCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How much an owner has in a store; `clashes` lists names that the other owner uses too."""

    runs: int = 0
    threads: int = 0
    collections: int = 0
    documents: int = 0
    links: int = 0
    webhooks: int = 0
    clashes: tuple[str, ...] = ()


class Adoption(Protocol):
    """Transfers everything of one owner to another. Blocking; call from a worker thread."""

    def belongings(self, source: str, target: str) -> OwnedCounts:
        """Count what `source` has, and list what prevents transferring it to `target`."""

    def collection_names(self, owner: str) -> list[str]:
        """The names of an owner's collections."""

    def adopt(self, source: str, target: str, moved_folders: Mapping[str, str]) -> OwnedCounts:
        """Transfer everything of `source` to `target`, in one transaction, and return what that was.

        Args:
            source: the present owner; empty for the local user.
            target: the new owner.
            moved_folders: folders of uploads, and where their files are from now on.

        Raises:
            UsageError: both have something with the same name, or documents are being read for `source`.
            LeaseHeld: a live process executes one of the runs.
        """


class SweepResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a clean-up: the row numbers of documents, the number of files and of their bytes.

    `apart` says that some bytes were left alone, since another library stores some in the same place.
    """

    rows: tuple[int, ...] = ()
    blobs: int = 0
    size: int = 0
    apart: bool = False


class Upkeep(Protocol):
    """Keeps a store small. Blocking."""

    def sweep(self, pages: Path) -> SweepResult | None:
        """Remove documents that nothing refers to, their bytes, and cached pages in `pages` that are out of date.

        Returns None if another process works with the database, as far as that can be detected.

        Raises:
            StoreError: it cannot be read or written; what is referred to is untouched.
        """

    def run_sizes(self) -> dict[str, int]:
        """Bytes stored for each run, by its id: events, steps and ledger.

        Raises:
            StoreError: the database cannot be read.
        """


@dataclass(frozen=True, slots=True)
class Store:
    """One home: its runs, its documents and their bytes, and its caches."""

    journal: Journal
    library: Library
    blobs: Blobs
    cache: Cache
    permits: Permits
    additions: Additions
    tells_all: bool = False
    """True if listeners of the journal learn what other processes queue."""
    queue: Queue | None = None
    """None if no other process could take anything out of it."""
    jobs: Jobs | None = None
    """None in the same case."""
    users: UserStore | None = None
    """None if no other process could know them."""
    buckets: Buckets | None = None
    audit: AuditLog | None = None
    webhooks: WebhookStore | None = None
    limits: LimitStore | None = None
    shares: ShareStore | None = None
    """These are None if no other process could know them; `adoption` too, since there are no users."""
    adoption: Adoption | None = None
    upkeep: Upkeep | None = None
    """None if there is nothing to keep small."""

    def owned_by(self, owner: str | None) -> Self:
        """Return the same store as one owner sees it; None sees all. Bytes, caches and permits have no owners."""
        return replace(
            self,
            journal=self.journal.owned_by(owner),
            library=self.library.owned_by(owner),
            additions=self.additions.owned_by(owner),
            queue=None if self.queue is None else self.queue.owned_by(owner),
            jobs=None if self.jobs is None else self.jobs.owned_by(owner),
        )

    async def close(self) -> None:
        """Write what waits and close all connections."""
        await self.journal.close()
