"""Documents which are being added in the background: what each came to, so that any process can tell."""

from __future__ import annotations

from typing import Literal, Protocol, Self

import msgspec

AdditionState = Literal["waiting", "reading", "done", "failed"]
ENDED: frozenset[AdditionState] = frozenset(("done", "failed"))


class Addition(msgspec.Struct, frozen=True, kw_only=True):
    """Documents on their way into a collection; `seq` counts what was said of it.

    `name` is what a person calls it, `sources` are what is read: paths and addresses. `line` is the last word on how it
    goes; `documents` were found so far, `added` of them are new. `holder` is the process that reads.
    """

    id: str
    collection: str
    name: str
    sources: tuple[str, ...]
    created_at: str
    updated_at: str
    state: AdditionState = "waiting"
    seq: int = 1
    line: str = ""
    documents: int = 0
    added: int = 0
    warnings: tuple[str, ...] = ()
    error: str = ""
    holder: str = ""
    owner: str = ""


class Additions(Protocol):
    """What is being added, or was. Blocking; call from a worker thread."""

    def owned_by(self, owner: str | None) -> Self:
        """The same as one owner knows it: what he adds; None knows all."""
        ...

    def put(self, addition: Addition) -> None:
        """Keep an addition, in the place of what was known of it; it is the owner's of this view, where it has one."""
        ...

    def find(self, id: str) -> Addition:
        """An addition by its id.

        Raises:
            UnknownName: there is none.
        """
        ...

    def all(self, limit: int = 100) -> list[Addition]:
        """Newest first."""
        ...

    def forget(self, before: str) -> None:
        """Forget those which ended before a moment (ISO 8601 UTC)."""
        ...
