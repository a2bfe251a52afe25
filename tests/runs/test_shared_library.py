"""A library which several machines share: rows in PostgreSQL, what was read in an object store, an index on each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from object_store import Fault, S3Server

from assay import Assay
from assay.core.errors import AssayError, ConfigError
from assay.core.ports.models import Secret
from assay.settings import Settings
from assay.store.blobs import FolderBlobs

QUESTION = "When was the harbor built?"


@pytest.fixture
def settings(new_database: Callable[[], str], s3: S3Server) -> Settings:
    return Settings(database=Secret(new_database()), blobs=s3.place())


@pytest.fixture
def harbor(tmp_path: Path) -> Path:
    (tmp_path / "harbor.md").write_text("# Harbor\n\nThe harbor was built in 1843.\n")
    return tmp_path / "harbor.md"


async def test_what_one_machine_adds_a_run_on_another_cites(settings: Settings, harbor: Path, tmp_path: Path):
    async with Assay(settings, home=tmp_path / "one") as one, Assay(settings, home=tmp_path / "two") as two:
        assert [hit.document.name for hit in await two.search("harbor")] == []
        await one.add([harbor])
        harbor.unlink()
        view = await two.start(QUESTION, depth="light").view()
        assert view.status == "completed"
        kinds = [event.type for event in await two.events("last")]
        assert "source.added" in kinds
        assert kinds[-1] == "run.completed"
        assert "1843" in str(await one.passage("last", 1))  # the first reads what the second wrote
    assert not (tmp_path / "two" / "blobs").exists()
    assert list((tmp_path / "two" / "blob-cache").glob("??/*.zst"))


async def test_what_is_added_while_another_works_is_found_there(settings: Settings, harbor: Path, tmp_path: Path):
    async with Assay(settings, home=tmp_path / "one") as one, Assay(settings, home=tmp_path / "two") as two:
        await one.add([harbor])
        assert len(await two.search("harbor")) == 1
        (tmp_path / "mole.md").write_text("# Mole\n\nThe mole of the harbor was built in 1851.\n")
        await one.add([tmp_path / "mole.md"])
        assert {hit.document.name for hit in await two.search("harbor")} == {"harbor.md", "mole.md"}


async def test_one_index_serves_all_machines(settings: Settings, harbor: Path, tmp_path: Path, s3: S3Server):
    shared = replace(settings, search=replace(settings.search, index="postgres"))
    async with Assay(shared, home=tmp_path / "one") as one, Assay(shared, home=tmp_path / "two") as two:
        await one.add([harbor])
        s3.asked.clear()
        assert [hit.document.name for hit in await two.search("harbor")] == ["harbor.md"]
        assert not [each for each in s3.asked if each.startswith("GET")]  # the second reads no document to find it
        view = await two.start(QUESTION, depth="light").view()
        assert view.status == "completed"
        assert "1843" in str(await one.passage("last", 1))
        await one.remove(["harbor.md"])
        assert await two.search("harbor") == []
    assert not (tmp_path / "two" / "index").exists()


async def test_an_index_in_a_database_needs_one(tmp_path: Path):
    wanted = Settings()
    wanted = replace(wanted, search=replace(wanted.search, index="postgres"))
    async with Assay(wanted, home=tmp_path / "home") as assay:
        with pytest.raises(ConfigError, match="ASSAY_DATABASE"):
            await assay.search("harbor")


async def test_a_store_which_refuses_fails_what_needs_it_and_says_so(
    settings: Settings, harbor: Path, tmp_path: Path, s3: S3Server
):
    async with Assay(settings, home=tmp_path / "one") as assay:
        s3.faults += [Fault("PUT", 403)] * 50
        with pytest.raises(AssayError, match="access is refused"):
            await assay.add([harbor])
        s3.faults.clear()
        await assay.add([harbor])
        assert len(await assay.search("harbor")) == 1


async def test_what_was_read_is_never_waited_for_on_the_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It may be a second away: each call belongs into a thread."""
    calls: list[str] = []

    def guarded(name: str) -> Callable[..., object]:
        plain = getattr(FolderBlobs, name)

        def called(self: FolderBlobs, *given: object) -> object:
            calls.append(name)
            with pytest.raises(RuntimeError):
                asyncio.get_running_loop()
            return plain(self, *given)

        return called

    for name in ("get", "put", "has"):
        monkeypatch.setattr(FolderBlobs, name, guarded(name))
    for number in range(3):
        (tmp_path / f"h{number}.md").write_text(
            f"# Harbor {number}\n\nstatus: open\n\nIt was built in {1843 + number}.\n"
        )
    async with Assay(Settings(), home=tmp_path / "home") as assay:
        for asked in (QUESTION, "How many documents have the status open?"):
            assert (await assay.start(asked, sources=tmp_path, depth="light").view()).status == "completed"
        for suffix in (".json", ".html", ".zip"):
            await assay.export("last", suffix)
    assert set(calls) >= {"get", "put"}
