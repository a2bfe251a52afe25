"""Watching a run from outside: what a log or a trace is told while it goes on. Nothing of a run depends on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from assay.core.events.envelope import Envelope

SpanKind = Literal["run", "phase", "lane", "model", "tool"]
Fact = str | int | float | bool


class WatchedSpan(Protocol):
    """A stretch of work which was begun."""

    def end(self, facts: Mapping[str, Fact], error: str) -> None:
        """It is over. `error` is the name of what went wrong, "" for nothing; never a message, which may quote."""
        ...


class Watch(Protocol):
    """Is told of stretches of work and of stored events. It must not fail, and not take long.

    Facts are names, numbers and ids: no text of documents, questions or replies, and no key is ever among them.
    """

    def begin(
        self, kind: SpanKind, name: str, at: int, within: WatchedSpan | None, facts: Mapping[str, Fact]
    ) -> WatchedSpan:
        """A stretch of work began `at` nanoseconds since 1970, within another. Replayed work is not told."""
        ...

    def heard(self, envelopes: Sequence[Envelope]) -> None:
        """These events are stored now."""
        ...

    def close(self) -> None:
        """Let go of files and connections. Blocking."""
        ...
