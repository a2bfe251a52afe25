"""Workers which may be killed, over one PostgreSQL database, and their runs as the campaign looks at them."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import postgres
import psycopg
import warm
from crash_scene import SECONDS, Scene, impersonal, sources_of
from crash_stories import STORIES
from crashing import TOKENS, Fate, Journal, Point, Searching, Served
from sqlalchemy import make_url

from assay import Assay
from assay.core.brief import ROLES
from assay.core.errors import StoreAway
from assay.core.messages import Delta, Profile, Reply, Request
from assay.core.view import RunView
from assay.run.sent_request import add_user
from assay.settings import Settings, load

LEASE = 1.5
"""Seconds after which the run of a silent worker is another's."""


@dataclass(frozen=True)
class Post:
    """A worker's place. It dies at the `at`-th point of a kind, at none with 0.

    `elsewhere` gives it the name of a process of another machine: that it is gone, only its lease can tell.
    """

    story: str
    database: str
    folder: str
    number: int
    kind: Point = "write"
    at: int = 0
    elsewhere: bool = False

    @property
    def name(self) -> str:
        """As whom it holds runs, where it is of another machine."""
        return f"worker {self.number} of another machine"

    @property
    def settings(self) -> Settings:
        """As on a machine of its own; only the blobs are shared."""
        return load(
            database=self.database,
            blobs=Path(self.folder) / "blobs",
            search={"offline": True},
            workers={"lease": LEASE},
        )


class ServedApart:
    """A model whose server counts the calls of each user in a file of its own: a user has one run here."""

    def __init__(self, story: str, folder: Path, fate: Fate) -> None:
        self._inner, self._folder, self._fate = STORIES[story].make(), folder, fate

    @property
    def profile(self) -> Profile:
        return self._for("").profile

    def _for(self, user: str) -> Served:
        return Served(self._inner, self._folder / f"{user}.calls", self._fate)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        user = request.user or ""
        async for item in self._for(user).stream(msgspec.structs.replace(request, user=msgspec.UNSET)):
            yield item

    async def offered(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        await self._inner.close()


def work(post: Post) -> None:
    """Execute what is queued, until killed. Where the database is away as it begins, it begins again, as a supervisor
    would have it.
    """
    while True:
        try:
            return asyncio.run(_work(post))
        except StoreAway:
            time.sleep(0.5)


async def _work(post: Post) -> None:
    fate, folder = Fate(post.kind, post.at), Path(post.folder)
    model = ServedApart(post.story, folder, fate)
    home = folder / f"worker-{post.number}"
    async with Assay(post.settings, home=home, models={model.profile.name: model}) as assay:
        if post.elsewhere:
            assay._context.engine.holder = post.name
        assay._context.engine.journal = Journal(assay._context.engine.journal, fate)  # type: ignore[assignment]
        assay._context.search = Searching(assay._context.search, fate)  # type: ignore[assignment]
        worker = assay.worker(2, say=lambda _: None)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
        await worker.work()
        (home / "reached").write_bytes(msgspec.json.encode(fate.reached))


class Workers:
    """Workers at work on one story; one that is killed is followed by another."""

    def __init__(self, folder: Path, story: str, database: str) -> None:
        self.folder, self.story, self.database = folder, story, database
        self.alive: list[warm.Started] = []
        self._names: dict[int, str] = {}
        self._begun = 0

    def begin(self, *, kind: Point = "write", at: int = 0) -> warm.Started:
        """One more; every other one has the name of another machine's."""
        self._begun += 1
        place = (self.story, self.database, str(self.folder), self._begun)
        post = Post(*place, kind=kind, at=at, elsewhere=self._begun % 2 == 0)
        process = warm.call(work, post)
        self._names[process.pid] = post.name if post.elsewhere else f"process {process.pid} "
        self.alive.append(process)
        return process

    def busy(self) -> list[int]:
        """Which of those alive have a run."""
        holders = [holder for (holder,) in self.sql("SELECT holder FROM runs WHERE holder != ''")]
        names = enumerate(self._names[process.pid] for process in self.alive)
        return [at for at, name in names if any(holder.startswith(name) for holder in holders)]

    def kill(self, at: int) -> None:
        """End one without a word."""
        process = self.alive.pop(at)
        assert process.poll() is None, f"a worker ended by itself: {process.returncode}"
        process.kill()
        process.wait(SECONDS)

    def freeze(self, at: int, seconds: float) -> None:
        """Stop one for so long; then it goes on, and knows nothing of it."""
        pid = self.alive[at].pid
        os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(seconds)
        finally:
            os.kill(pid, signal.SIGCONT)

    def close(self) -> None:
        """End all."""
        while self.alive:
            process = self.alive.pop()
            process.kill()
            process.wait(SECONDS)

    def queue(self, runs: int) -> list[Queued]:
        """New runs of the story, each of a user of its own."""
        return asyncio.run(self._queue(runs))

    async def _queue(self, runs: int) -> list[Queued]:
        story = STORIES[self.story]
        model = ServedApart(self.story, self.folder, Fate("write", 0))
        models = dict.fromkeys(ROLES, (model.profile.name,))
        options: dict[str, Any] = {"depth": story.depth, "strategy": story.strategy, "mode": "deep_research"}
        made = []
        async with self._assay(model) as assay:
            for number in range(runs):
                user = f"{self.folder.name}-{self._begun}-{number}"
                wanted = {**options, "models": models, "max_tokens": TOKENS, "user": user}
                run_id = await assay.create(story.question, sources=[sources_of(self.story)], **wanted)
                await assay.enqueue(run_id)
                made.append(Queued(self, run_id, user))
        return made

    def _assay(self, model: ServedApart) -> Assay:
        post = Post(self.story, self.database, str(self.folder), 0)
        return Assay(post.settings, home=self.folder / "asking", models={model.profile.name: model})

    def views(self, runs: list[Queued]) -> list[RunView]:
        """How runs stand."""

        async def look() -> list[RunView]:
            async with self._assay(ServedApart(self.story, self.folder, Fate("write", 0))) as assay:
                return [await assay.view(run.run_id) for run in runs]

        return asyncio.run(look())

    def sql(self, query: str, *values: object, before: str = "") -> list[Any]:
        """What a query of the database's tables gives."""
        url = make_url(self.database)
        with psycopg.connect(postgres.bare(self.database), autocommit=True) as connection:
            connection.execute(f"SET search_path = pg_temp, {url.query['schema']}")
            if before:
                connection.execute(before)
            return connection.execute(query, values).fetchall()


class Queued(Scene):
    """A run in the queue, with what the model's server has counted of it."""

    def __init__(self, workers: Workers, run_id: str, user: str) -> None:
        super().__init__(workers.folder / run_id, workers.story)
        self._workers, self.run_id = workers, run_id
        hashed = add_user(Request(task="plan", system="", messages=()), user).user
        self.outside = workers.folder / f"{hashed}.calls"
        self.outside.touch()

    def ended(self) -> dict[str, Any]:
        """See `Scene`. Whether the judge is asked is not told: runs of one database remember each other's answers."""
        (view,) = self._workers.views([self])
        ended = impersonal(view, str(self.sources))
        for phase in ended["phases"]:
            phase["turns"] = [turn for turn in phase["turns"] if turn["path"][:2] != ["verify", "claims"]]
        return ended

    def completed(self) -> bool:
        """Whether it has come to its end."""
        ((status,),) = self._workers.sql("SELECT status FROM runs WHERE run_id = %s", self.run_id)
        return bool(status == "completed")

    def taken_over(self) -> int:
        """How often another worker went on with it."""
        ((fence,),) = self._workers.sql("SELECT fence FROM runs WHERE run_id = %s", self.run_id)
        return int(fence) - 1

    def _rows(self, query: str) -> list[Any]:
        """Its own rows: a temporary view of each table stands before the table."""
        mine = f"run = (SELECT number FROM runs WHERE run_id = '{self.run_id}')"
        schema = make_url(self._workers.database).query["schema"]
        views = (
            f"CREATE TEMP VIEW events AS SELECT * FROM {schema}.events WHERE {mine};"
            f"CREATE TEMP VIEW steps AS SELECT * FROM {schema}.steps WHERE {mine};"
            f"CREATE TEMP VIEW holds AS SELECT step, state, amount::text AS amount FROM {schema}.holds WHERE {mine};"
        )
        return self._workers.sql(query, before=views)
