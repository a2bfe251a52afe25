"""Private collections: a service elsewhere receives nothing, the web is not asked; what is allowed goes through."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import msgspec
import pytest
from chat_server import ChatServer, chat_server, says
from local_web import LocalWeb
from web import site

from assay import Assay
from assay.core.brief import ROLES, Brief
from assay.core.errors import UsageError
from assay.core.messages import Delta, Profile, Reply, Request
from assay.core.ports import Access, Model
from assay.models import openai
from assay.services.privacy import run_destinations
from assay.settings import load

QUESTION = "When was the harbor built?"


class Hosted:
    """A real adapter whose service counts as one elsewhere."""

    def __init__(self, url: str) -> None:
        self._inner: Model = openai.create("openai:m", Access(url=url))

    @property
    def profile(self) -> Profile:
        return msgspec.structs.replace(self._inner.profile, name="hosted", local=False)

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        return self._inner.stream(request)

    async def offered(self) -> tuple[str, ...]:
        return await self._inner.offered()

    async def close(self) -> None:
        await self._inner.close()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server(says("The harbor was built in 1843.")) as serving:
        yield serving


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    (tmp_path / "diary.md").write_text("# Harbor\n\nThe harbor was built in 1843.\n")
    return tmp_path / "diary.md"


def hosted(server: ChatServer, home: Path | None = None) -> Assay:
    return Assay(home=home, models={"hosted": Hosted(server.url)})


def played(*roles: str) -> dict[str, object]:
    return {"models": dict.fromkeys(roles, ("hosted",))}


@pytest.mark.parametrize("role", ROLES)
async def test_a_model_elsewhere_is_told_nothing(server: ChatServer, diary: Path, role: str):
    async with hosted(server) as assay:
        await assay.mark("diary", private=True, create=True)
        await assay.add(diary, "diary")
        with pytest.raises(UsageError, match=r"of diary.*hosted is not on this machine.*--allow-private.*Nothing was"):
            await assay.start(QUESTION, sources="@diary", **played(role)).view()
        assert await assay.runs() == []
    assert server.requests == []


async def test_as_a_fallback_neither(server: ChatServer, diary: Path):
    async with hosted(server) as assay:
        await assay.add(diary, "diary")
        await assay.mark("diary", private=True)
        with pytest.raises(UsageError, match="hosted"):
            await assay.start(QUESTION, sources="@diary", models={"complex": ("extractive", "hosted")}).view()
    assert server.requests == []


async def test_by_its_path_neither_nor_in_another_collection(server: ChatServer, diary: Path):
    async with hosted(server) as assay:
        await assay.add(diary, "diary")
        await assay.add(diary, "all")
        await assay.mark("diary", private=True)
        for sources in (str(diary), "@all"):
            with pytest.raises(UsageError, match="of diary"):
                await assay.start(QUESTION, sources=sources, **played(*ROLES)).view()
            with pytest.raises(UsageError, match="of diary"):
                await assay.agent(QUESTION, sources=sources, **played(*ROLES)).view()
    assert server.requests == []


async def test_the_built_in_model_may(server: ChatServer, diary: Path):
    async with hosted(server) as assay:
        await assay.add(diary, "diary")
        await assay.mark("diary", private=True)
        view = await assay.start(QUESTION, sources="@diary").view()
        assert "1843" in view.report.text
        assert view.brief is not None
        assert view.brief.scope.private


async def test_what_is_allowed_is_sent(server: ChatServer, diary: Path):
    async with hosted(server) as assay:
        await assay.add(diary, "diary")
        await assay.mark("diary", private=True)
        run = assay.start(QUESTION, sources="@diary", allow_private=True, mode="simple", **played(*ROLES))
        view = await run.view()
    assert "1843" in str(server.requests)
    (message,) = [each for each in view.report.limits if "allowed to leave this machine" in each]
    assert message.endswith(": hosted may have seen them.")


async def test_what_was_allowed_is_kept_when_a_run_is_resumed(server: ChatServer, diary: Path, tmp_path: Path):
    allowed = {"allow_private": True, "mode": "simple", **played(*ROLES)}
    async with hosted(server, home=tmp_path / "home") as assay:
        await assay.add(diary, "diary")
        await assay.mark("diary", private=True)
        run_id = await assay.create(QUESTION, sources="@diary", **allowed)  # type: ignore[arg-type]
    async with hosted(server, home=tmp_path / "home") as assay:
        view = await (await assay.resume(run_id)).view()
    assert "1843" in str(server.requests)
    assert any("allowed to leave this machine" in each for each in view.report.limits)


async def test_other_collections_are_as_before(server: ChatServer, diary: Path, tmp_path: Path):
    (tmp_path / "open.md").write_text("The mole was built in 1850.\n")
    async with hosted(server) as assay:
        await assay.add(diary, "diary")
        await assay.mark("diary", private=True)
        await assay.start(
            "When was the mole built?", sources=tmp_path / "open.md", mode="simple", **played(*ROLES)
        ).view()
    assert server.requests
    assert "built in 1843" not in str(server.requests)


async def test_going_on_from_private_evidence_is_private(server: ChatServer, diary: Path):
    async with hosted(server) as assay:
        await assay.add(diary, "diary")
        await assay.mark("diary", private=True)
        first = assay.start(QUESTION, sources="@diary", thread="trip")
        await first.view()
        with pytest.raises(UsageError, match="private"):
            await assay.ask(first.run_id, "And by whom?", **played(*ROLES)).view()
        with pytest.raises(UsageError, match="private"):
            await assay.start("And by whom?", continues=first.run_id, **played(*ROLES)).view()
        with pytest.raises(UsageError, match="private documents are in scope"):
            await assay.start("And by whom?", thread="trip", web=False, **played(*ROLES)).view()
    assert server.requests == []


async def test_marked_after_a_run_has_read_it(server: ChatServer, diary: Path):
    async with hosted(server) as assay:
        await assay.add(diary, "diary")
        first = assay.start(QUESTION, sources=diary)
        await first.view()
        await assay.mark("diary", private=True)
        with pytest.raises(UsageError, match="private"):
            await assay.ask(first.run_id, "And by whom?", **played(*ROLES)).view()
    assert server.requests == []


async def test_a_stored_run_is_refused_when_it_goes_on(server: ChatServer, diary: Path):
    async with hosted(server) as assay:
        await assay.add(diary, "diary")
        run_id = await assay.create(QUESTION, sources="@diary", **played(*ROLES))
        await assay.mark("diary", private=True)
        with pytest.raises(UsageError, match="private"):
            await (await assay.resume(run_id)).view()
    assert server.requests == []


async def test_the_web_is_not_asked_with_private_documents_in_scope(diary: Path):
    async with site() as there:
        web = LocalWeb(there)
        async with Assay(web.settings()) as assay:
            await assay.add(diary, "default")
            await assay.mark("default", private=True)
            for wanted in ({"sources": "@default", "web": True}, {"web": True}):
                with pytest.raises(UsageError, match="--offline"):
                    await assay.start(QUESTION, **wanted).view()
            assert there.connections == 0
            await assay.start(QUESTION, web=False).view()
            assert there.connections == 0
            view = await assay.start(QUESTION, web=True, allow_private=True).view()
            assert there.connections > 0
            assert any("searches on the web may have revealed them" in each for each in view.report.limits)
            assert not any("may have seen them" in each for each in view.report.limits)


class Local:
    """A model which says that it is on this machine."""

    profile = Profile(name="m", window=8000, max_output=1000, local=True)


@pytest.mark.parametrize(
    ("name", "url", "elsewhere"),
    [
        ("ollama:qwen3", None, False),
        ("ollama:qwen3", "http://127.0.0.1:11434/v1", False),
        ("ollama:qwen3", "http://[::1]:11434/v1", False),
        ("ollama:qwen3", "http://192.168.1.7:11434/v1", True),
        ("ollama:qwen3", "http://localhost.example.org/v1", True),
        ("ollama:gpt-oss:120b-cloud", None, True),
        ("ollama:kimi:cloud", None, True),
        ("vllm:some-cloud", None, False),
    ],
)
def test_where_a_model_is(name: str, url: str | None, elsewhere: bool):
    services = {} if url is None else {"ollama": {"url": url}}
    settings = load(services=services)
    found = run_destinations(settings, Brief(question="q", date="2026-01-01"), {name: Local()})  # type: ignore[dict-item]
    assert (found.hosted_models == (name,)) is elsewhere


async def test_nor_is_it_told_by_a_fork(server: ChatServer, diary: Path):
    async with hosted(server) as assay:
        await assay.add(diary, "diary")
        run = assay.start(QUESTION, sources=diary, depth="light")
        assert "1843" in (await run.report()).markdown
        await assay.mark("diary", private=True)  # only since
        with pytest.raises(UsageError, match="hosted is not on this machine"):
            await assay.fork(run.run_id, "write", **played("complex"))
        with pytest.raises(UsageError, match="hosted is not on this machine"):
            await assay.fork(run.run_id, "write", exclude=["diary.md"], **played("complex"))
        assert server.requests == []
        assert len(await assay.runs()) == 1
        made = await assay.fork(run.run_id, "write", allow_private=True, **played("complex"))
        await (await assay.resume(made)).report()
        assert "1843" in str(server.requests)
        with pytest.raises(UsageError, match="hosted is not on this machine"):
            await assay.fork(made, "write", **played("simple"))
