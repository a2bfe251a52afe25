"""A provider gets so many calls at once and no more, whichever runs and processes they are of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from judging import JUDGE, verdict

from assay import Assay
from assay.core.brief import ROLES
from assay.core.messages import Delta, Profile, Reply, Request
from assay.core.ports import Model
from assay.models.script import Scene, Scripted
from assay.services.providers import load_model
from assay.settings import Settings, load

QUESTION = "Who wrote the charter of Velden, and when was the lighthouse of Aru finished?"
NAME = "counted:model"
TEXTS = {
    "velden.md": "# Velden\n\nThe charter of Velden was written by Mara Lind in 1741.\n",
    "aru.md": "# Aru\n\nThe lighthouse of Aru was finished on 3 May 1862.\n",
}


class Counted:
    """A model which takes its time, and counts how many calls it has at once."""

    def __init__(self, inner: Model) -> None:
        self._inner = inner
        self.now = self.most = self.all = 0

    @property
    def profile(self) -> Profile:
        return self._inner.profile

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        self.now, self.all = self.now + 1, self.all + 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(0.02)
            async for item in self._inner.stream(request):
                yield item
        finally:
            self.now -= 1

    async def offered(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        await self._inner.close()


def settings(**at_once: int) -> Settings:
    return load(search={"offline": True}, limits={"calls_at_once": at_once})


@pytest.fixture
def model() -> Counted:
    return Counted(load_model(Settings(), "extractive"))


async def run_in_two(tmp_path: Path, model: Counted, of: Settings) -> list[list[str]]:
    """Two runs at once, as in two processes at one home; the kinds of their events."""
    tmp_path.mkdir(exist_ok=True)
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    homes = [Assay(of, home=tmp_path / "home", models={NAME: model}) for _ in range(2)]
    models = dict.fromkeys(ROLES, (NAME,))
    sources = [tmp_path / name for name in TEXTS]
    async with homes[0] as one, homes[1] as two:
        wanted = {"sources": sources, "models": models, "depth": "medium", "mode": "deep_research"}
        handles = [each.start(QUESTION, **wanted) for each in (one, two)]  # type: ignore[arg-type]
        views = await asyncio.gather(*(handle.view() for handle in handles))
        assert [view.status for view in views] == ["completed", "completed"]
        logs = [await one.events(handle.run_id) for handle in handles]
        assert await one._context.store.permits.take("counted", "next", 1, 1.0)  # all were given back
    return [sorted(event.type for event in log if not event.type.endswith("delta")) for log in logs]


async def test_two_runs_share_what_a_provider_takes_and_come_to_the_same(tmp_path: Path, model: Counted) -> None:
    limited = await run_in_two(tmp_path, model, settings(counted=1))
    assert model.most == 1
    assert model.all > 10
    free = Counted(model._inner)
    assert limited == await run_in_two(tmp_path / "free", free, settings(other=1))
    assert free.most > 1


async def test_a_judge_of_a_text_waits_for_its_turn_too(tmp_path: Path) -> None:
    (tmp_path / "ports.md").write_text("# Ports\n\nVelden and Aru are old ports by the sea.\n")
    text = "".join(f"Some {name} say that the ports are ancient [1].\n\n" for name in ("poets", "sailors", "monks"))
    text += "## References\n\n1. [Ports](ports.md)\n"
    most = []
    for number, limited in enumerate((settings(counted=1), settings(other=1))):
        judge = Counted(Scripted(lambda _: Scene(answer=verdict("supported")), profile=JUDGE))
        async with Assay(limited, models={NAME: judge}) as assay:
            wanted = {"sources": [tmp_path / "ports.md"], "folder": tmp_path, "answers": tmp_path / f"home-{number}"}
            await assay.verify(text, model=NAME, allow_private=True, **wanted)  # type: ignore[arg-type]
        assert judge.all == 3
        most.append(judge.most)
    assert most[0] == 1
    assert most[1] > 1
