"""The envelope that events travel in, and the registry of their kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import msgspec

ENVELOPE_VERSION = 1

Path = tuple[str, ...]


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """The base class of all kinds; `kind` is the name in the log."""

    kind: ClassVar[str] = ""


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """An event. `seq` counts from 1 without gaps in each run; `at` is ISO 8601 UTC; `path` begins with the phase."""

    v: int = ENVELOPE_VERSION
    seq: int
    run_id: str
    at: str
    path: Path
    type: str
    data: msgspec.Raw

    @property
    def fields(self) -> dict[str, Any]:
        """The data as a dictionary; `decode` makes the typed event."""
        return msgspec.json.decode(self.data, type=dict[str, Any])

    def __repr__(self) -> str:
        """One line with the data, for the console."""
        return f"<{self.type} {self.seq} of run {self.run_id}: {bytes(self.data).decode()}>"


KINDS: dict[str, type[Event]] = {}

E = TypeVar("E", bound=type[Event])


def kind(name: str) -> Callable[[E], E]:
    """Register an event kind under `name` ("group.past_tense").

    Raises:
        ValueError: the name is taken.
    """

    def register(cls: E) -> E:
        if name in KINDS:
            raise ValueError(f"event kind {name!r} is registered twice")
        cls.kind = name
        KINDS[name] = cls
        return cls

    return register


def encode(event: Event) -> bytes:
    """The event's data as JSON."""
    return msgspec.json.encode(event)


def decode(envelope: Envelope) -> Event | None:
    """The event inside, or None for a kind this release does not know."""
    cls = KINDS.get(envelope.type)
    return None if cls is None else msgspec.json.decode(envelope.data, type=cls)
