"""What one owner made, handed to another: where nobody logged in before, to the first user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec


class Belongings(msgspec.Struct, frozen=True, kw_only=True):
    """How much an owner has in a store; `clashes` names what the other has too, by the same name."""

    runs: int = 0
    threads: int = 0
    collections: int = 0
    documents: int = 0
    links: int = 0
    webhooks: int = 0
    clashes: tuple[str, ...] = ()


class Adoption(Protocol):
    """Hands what is an owner's to another. Blocking; call from a worker thread."""

    def belongings(self, source: str, target: str) -> Belongings:
        """What `source` has, and what of it stands in the way of handing it to `target`."""
        ...

    def names(self, owner: str) -> list[str]:
        """The names of an owner's collections."""
        ...

    def adopt(self, source: str, target: str, moved: Mapping[str, str]) -> Belongings:
        """Hand all that is the owner's `source` to `target`, in one transaction; what that was.

        Args:
            source: whose it is; empty for the local user.
            target: whose it is then.
            moved: folders of uploads, and where their files lie from now on.

        Raises:
            UsageError: both have something by the same name, or documents are being read for `source`.
            LeaseHeld: a live process executes a run of his.
        """
        ...
