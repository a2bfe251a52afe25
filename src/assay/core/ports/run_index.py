"""The index of runs: what it holds, and what a search in it finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import msgspec


class IndexedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What the index holds of a run; `number` is its place in the journal, `seq` how far its log had come.

    One which has `ended` stays as it is.
    """

    number: int
    run_id: str
    owner: str
    seq: int
    ended: bool
    question: str
    report: str = ""
    language: str = ""


class RunHit(msgspec.Struct, frozen=True, kw_only=True):
    """A run which answers, and the sentence of its report which answers best; empty where only the question does."""

    run_id: str
    score: float
    snippet: str = ""


class RunIndexing(Protocol):
    """An index of runs, derived from the journal. Blocking; one thread at a time.

    Each of its methods but `writing` and `remove` raises `IndexDamaged` where the files are no index.
    """

    def writing(self) -> AbstractContextManager[None]:
        """The right to change the index.

        Raises:
            SearchError: another process has it for too long.
            OSError: the folder cannot be written.
        """
        ...

    def known(self) -> dict[str, int]:
        """The runs it holds, with their numbers."""
        ...

    def count(self, owner: str) -> int:
        """How many runs it holds of an owner."""
        ...

    def unended(self) -> dict[str, tuple[int, int]]:
        """Those which had not ended when they were taken in: their numbers, and how far their logs had come."""
        ...

    def last(self) -> int:
        """The highest number, 0 where there is none."""
        ...

    def change(self, put: Sequence[IndexedRun], forget: Iterable[str] = ()) -> None:
        """Take runs in, in the place of what is known of them, and others out; within `writing`."""
        ...

    def remove(self) -> None:
        """Forget everything; within `writing`."""
        ...

    def search(self, text: str, owner: str | None, limit: int, offset: int = 0) -> list[RunHit]:
        """The best runs of an owner, None: of all, from `offset` on."""
        ...
