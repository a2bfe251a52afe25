"""One place in the tree of a run: what steps, calls and waits need to know about where they are."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from types import TracebackType

from assay.core.brief import Brief, Role
from assay.core.events import Envelope, Path
from assay.core.messages import Profile, Rarity
from assay.core.ports import Fact, Memory, SpanKind, Watch, WatchedSpan, World
from assay.core.usage import Budget, Usage
from assay.run.budget import Gate
from assay.run.execution import Execution


class RunPlace:
    """A path, a lane, and the gate whose limits apply there."""

    def __init__(self, execution: Execution, path: Path = (), lane: int = 0, gate: Gate = "work") -> None:
        self.execution, self.path, self.lane, self.gate = execution, path, lane, gate

    @property
    def brief(self) -> Brief:
        return self.execution.brief

    @property
    def run_id(self) -> str:
        return self.execution.run_id

    @property
    def world(self) -> World:
        return self.execution.world

    @property
    def exhausted(self) -> str:
        """The limit that ended research, empty while there is none."""
        return self.execution.exhausted

    def profile(self, role: Role) -> Profile:
        """The abilities of the first model of a role."""
        return self.world.models[self.brief.models[role][0]].profile

    async def log(self, run_id: str = "") -> list[Envelope]:
        """The events stored so far, of this run or another. Call it inside a step, like `memory`.

        Raises:
            UnknownName: there is no such run.
        """
        return await self.execution.journal.events(run_id or self.run_id)

    async def memory(self, run_id: str) -> Memory:
        """Load everything stored about another run.

        Raises:
            UnknownName: there is no such run.
        """
        return await self.execution.journal.load(run_id)

    def check_owner(self) -> None:
        """Raise if the owner has ended the run, in a step that no limit ends.

        Raises:
            Cancelled, Paused: by the owner.
        """
        self.execution.check_owner()

    @property
    def room(self) -> Budget:
        """What may still be spent here; None for measures without a limit."""
        return self.execution.accounts.room(self.lane, self.gate)

    @property
    def rarity(self) -> Rarity | None:
        """How rare the question's words are in the documents in scope; None until they are counted."""
        return self.execution.rarity

    @rarity.setter
    def rarity(self, counted: Rarity) -> None:
        self.execution.rarity = counted

    @property
    def unasked_calls(self) -> Usage:
        """The usage of model calls that were begun in this process and nobody asked for."""
        return self.execution.foreseen.unasked()

    def stop_speculation(self) -> None:
        """End what was begun before anybody asked for it."""
        self.execution.ahead.stop()
        self.execution.foreseen.drop()


# Spans of work for the watch: only those with real work, not replayed ones.

_OUTER: dict[SpanKind, tuple[SpanKind, ...]] = {"lane": ("run", "phase")}
"""The kind of span that contains a kind, where it is not the one it began in: a lane outlives the call that began
it.
"""


class WorkSpan:
    """A span of work, as a context manager."""

    def __init__(self, watch: Watch, kind: SpanKind, name: str, facts: dict[str, Fact]) -> None:
        self._watch, self.kind, self._name, self._facts = watch, kind, name, facts
        self.outer = _within(kind)
        self._before: WorkSpan | None = None
        self._began = time.time_ns()
        self._span: WatchedSpan | None = None
        self._more: dict[str, Fact] = {}

    def report(self) -> WatchedSpan:
        """Report the span, and first those around it: it does real work."""
        if self._span is None:
            outer = self.outer.report() if self.outer else None
            self._span = self._watch.begin(self.kind, self._name, self._began, outer, self._facts)
        return self._span

    def add(self, **facts: Fact) -> None:
        """Add facts that are known at its end."""
        self._more |= facts

    def __enter__(self) -> WorkSpan:
        self._before = _current.get()
        _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _current.set(self._before)
        if self._span is not None:
            self._span.end(self._more, kind.__name__ if kind else "")


_current: ContextVar[WorkSpan | None] = ContextVar("stretch", default=None)
_NOTHING: AbstractContextManager[None] = nullcontext()


def _within(kind: SpanKind) -> WorkSpan | None:
    outer = _current.get()
    kinds = _OUTER.get(kind)
    while outer is not None and kinds is not None and outer.kind not in kinds:
        outer = outer.outer
    return outer


def watched(place: RunPlace, kind: SpanKind, name: str, **facts: Fact) -> AbstractContextManager[WorkSpan | None]:
    """A span of the work at `place`; None if nobody watches."""
    watch = place.world.watch
    if watch is None:
        return _NOTHING
    where: dict[str, Fact] = {"run_id": place.run_id, "path": "/".join(place.path), "lane": place.lane}
    return WorkSpan(watch, kind, name, where | facts)


def worked(place: RunPlace) -> None:
    """Report that real work is done here, which no replay does."""
    if place.world.watch is not None and (span := _current.get()) is not None:
        span.report()
