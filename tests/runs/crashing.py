"""A process which researches and may be killed at a chosen point; run by test_crash.py in real child processes."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
from crash_stories import STORIES, Story

from assay import Assay
from assay.cli.destinations import save
from assay.core.brief import ROLES
from assay.core.errors import StoreError
from assay.core.messages import Delta, Price, Profile, Reply, Request, input_tokens
from assay.core.ports import Commit, Hit, Lease, Model, Query
from assay.core.usage import Usage
from assay.core.view import RunView
from assay.run.budget import worst_case
from assay.run.process import SystemClock, iso_timestamp
from assay.run.steps import digest

Point = Literal["write", "asked", "streamed", "searched", "exported"]
"""Where a process may die: around a store write (before odd ones, after even ones), as a call of a model arrives, at a
piece of its stream, as a search begins, at a step of an export's way into its file."""
TOKENS = 5_000_000
"""A limit far away: with one, every call is held and settled."""
FORMATS = (".md", ".html", ".json", ".zip")
PRICE = Price(input=1.0, output=2.0)


@dataclass(frozen=True)
class Orders:
    """What a process is to do, and where it dies: at the `at`-th point of a kind, at none with 0.

    Files of its home can grow to `largest` bytes (0: as they like), as on a disk which is full then. Its clock is
    `backwards` seconds behind that of others.
    """

    story: str
    home: str
    sources: str
    outside: str
    result: str
    exports: str
    resume: bool = False
    kind: Point = "write"
    at: int = 0
    largest: int = 0
    backwards: float = 0.0


class Called(msgspec.Struct, frozen=True):
    """What the model's server counts of a call: when it came, and again when it was answered."""

    request: str
    task: str
    worst: Usage
    spent: Usage
    answered: bool = False


class Fate:
    """Counts the points a process comes to, and kills it at the chosen one."""

    def __init__(self, kind: Point, at: int) -> None:
        self._kind, self._at = kind, at
        self.reached: Counter[str] = Counter()

    def meet(self, kind: Point) -> bool:
        """One more point; whether it is one to die at when it has passed: so it is with even store writes."""
        self.reached[kind] += 1
        if kind != self._kind or self.reached[kind] != self._at:
            return False
        if kind == "write" and self._at % 2 == 0:
            return True
        self.die()
        return False

    def die(self) -> None:
        """As the kernel does it: nothing is closed, nothing is said."""
        os.kill(os.getpid(), signal.SIGKILL)


def asked_of(request: Request) -> str:
    """The hash under which a step stores this request: without the times of its run, and what is added on its way."""
    plain = Request(task=request.task, system="", messages=())
    added = ("timeout", "first_token", "total", "schema", "room", "rarity", "closeness")
    return digest(msgspec.structs.replace(request, **{name: getattr(plain, name) for name in added}))


class Served:
    """A model as a server outside sees it: each call and its answer are written to a file of the server's own."""

    def __init__(self, inner: Model, log: Path, fate: Fate) -> None:
        self._inner, self._log, self._fate = inner, log, fate
        self._profile = msgspec.structs.replace(inner.profile, price=PRICE)

    @property
    def profile(self) -> Profile:
        return self._profile

    def _tell(self, called: Called) -> None:
        with self._log.open("ab") as file:
            file.write(msgspec.json.encode(called) + b"\n")

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        inputs = Usage(model_calls=1, input_tokens=input_tokens(request))
        called = Called(asked_of(request), request.task, worst_case([self], request), inputs)
        self._tell(called)
        self._fate.meet("asked")
        await asyncio.sleep(0.002)
        async for item in self._inner.stream(request):
            answer = self._counted(item, called) if isinstance(item, Reply) else item
            self._fate.meet("streamed")
            yield answer

    def _counted(self, reply: Reply, called: Called) -> Reply:
        """The answer with what the server says it took."""
        output = 1 + len(reply.text) // 4 + 20 * len(reply.calls)
        spent = msgspec.structs.replace(called.spent, output_tokens=output)
        self._tell(msgspec.structs.replace(called, spent=spent, answered=True))
        return msgspec.structs.replace(reply, usage=spent)

    async def offered(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        await self._inner.close()


class SetBack(SystemClock):
    """A clock somebody set back."""

    def __init__(self, seconds: float) -> None:
        self._nanoseconds = int(seconds * 1e9)

    def now(self) -> str:
        return iso_timestamp(time.time_ns() - self._nanoseconds)


class Journal:
    """A journal whose writes are points to die at."""

    def __init__(self, inner: Any, fate: Fate) -> None:
        self._inner, self._fate = inner, fate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[Any]:
        last = self._fate.meet("write")
        written: Awaitable[Any] = self._inner.commit(lease, commit)
        return self._die(written) if last else written

    async def _die(self, written: Awaitable[Any]) -> Any:
        await written
        self._fate.die()


class Searching:
    """A search provider whose searches are points to die at."""

    def __init__(self, inner: Any, fate: Fate) -> None:
        self._inner, self._fate = inner, fate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def search(self, query: Query) -> list[Hit]:
        self._fate.meet("searched")
        found: list[Hit] = await self._inner.search(query)
        return found


def reached_by(home: Path) -> dict[str, int]:
    """How many points of each kind the worker of this home came to; it has let go of its runs."""
    return msgspec.json.decode((home / "reached").read_bytes(), type=dict[str, int])


def research(orders: Orders) -> None:
    """Start the run, or resume the last; write its view, the points it came to, and its exports.

    What the store says against it is the result instead, with exit code 1.
    """
    if orders.largest:
        resource.setrlimit(resource.RLIMIT_FSIZE, (orders.largest, resource.RLIM_INFINITY))
    try:
        asyncio.run(_research(orders, STORIES[orders.story]))
    except StoreError as error:
        Path(orders.outside).with_name("refused").write_text(str(error))
        sys.exit(1)


async def _research(orders: Orders, story: Story) -> None:
    fate = Fate(orders.kind, orders.at)
    model = Served(story.make(), Path(orders.outside), fate)
    name = model.profile.name
    async with Assay(home=orders.home, models={name: model}) as assay:
        if orders.backwards:
            assay._context.engine.journal.transactions.wall = lambda: time.time() - orders.backwards  # type: ignore[attr-defined]
            assay._context.clock = SetBack(orders.backwards)
        assay._context.engine.journal = Journal(assay._context.engine.journal, fate)  # type: ignore[assignment]
        assay._context.search = Searching(assay._context.search, fate)  # type: ignore[assignment]
        run = await assay.resume("last") if orders.resume else _started(assay, orders, story, name)
        view = await run.view()
        await _export(assay, view, Path(orders.exports), fate)
    Path(orders.result).write_bytes(msgspec.json.encode((fate.reached, view)))


def _started(assay: Assay, orders: Orders, story: Story, name: str) -> Any:
    options: dict[str, Any] = {"depth": story.depth, "strategy": story.strategy, "mode": "deep_research"}
    models = dict.fromkeys(ROLES, (name,))
    return assay.start(story.question, sources=[orders.sources], models=models, max_tokens=TOKENS, **options)


async def _export(assay: Assay, view: RunView, folder: Path, fate: Fate) -> None:
    """Write the report in some formats; each step on the way into a file is a point to die at."""

    def audited(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("open", "os.chmod", "os.rename") and str(arguments[0]).startswith(str(folder)):
            fate.meet("exported")

    made = {suffix: await assay.export(view.run_id, suffix) for suffix in FORMATS}
    sys.addaudithook(audited)
    for suffix, data in made.items():
        save(folder / f"report{suffix}", data)
