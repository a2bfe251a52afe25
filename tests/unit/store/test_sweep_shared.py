"""Cleaning up what machines share: only alone, only what is old, and nothing of another library's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from object_store import S3Server

from assay import Assay
from assay.app import databases
from assay.core.ports.models import Secret
from assay.settings import Settings
from assay.store.blobs import FolderBlobs
from assay.store.sql import postgres, sweep
from assay.store.sql.database import Database
from assay.store.sql.home import open_blobs


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    return tmp_path / "shared"


@pytest.fixture
def library(new_database: Callable[[], str], place: str | Path) -> Callable[[], Settings]:
    return lambda: Settings(database=Secret(new_database()), blobs=place)


def texts(place: str | Path, tmp_path: Path) -> set[bytes]:
    blobs = open_blobs(tmp_path / "look", place)
    return {blobs.get(each.name) for each in blobs.list_blobs()}


def noted(folder: Path, name: str) -> Path:
    (folder / f"{name}.md").write_text(f"# {name}\n\nThe {name} was built in 1843.\n")
    return folder / f"{name}.md"


async def ran(assay: Assay, path: Path) -> str:
    run = assay.start(f"When was the {path.stem} built?", sources=path, depth="light")
    assert (await run.view()).status == "completed"
    return run.run_id


async def test_what_nobody_refers_to_goes_when_it_is_old(
    library: Callable[[], Settings], place: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    settings = library()
    harbor, mole = noted(tmp_path, "harbor"), noted(tmp_path, "mole")
    async with Assay(settings, home=tmp_path / "one") as assay:
        first, second = await ran(assay, harbor), await ran(assay, mole)
        await assay.delete(first)
        swept = await assay.tidy()
        assert swept is not None
        assert (len(swept.rows), swept.blobs, swept.apart) == (1, 0, False)  # the bytes are a minute old
        assert len(texts(place, tmp_path)) == 2
        monkeypatch.setattr(sweep, "SHARED_SECONDS", -1)
        swept = await assay.tidy()
        assert swept is not None
        assert (swept.rows, swept.blobs) == ((), 1)
        assert texts(place, tmp_path) == {mole.read_bytes()}
        assert await assay.passage(second, 1)
        assert databases.check_database(tmp_path / "one", settings).problems == ()
        await ran(assay, harbor)  # read anew


async def test_nobody_cleans_up_while_another_is_connected(library: Callable[[], Settings], tmp_path: Path):
    settings = library()
    async with Assay(settings, home=tmp_path / "one") as one:
        await one.delete(await ran(one, noted(tmp_path, "harbor")))
        async with Assay(settings, home=tmp_path / "two") as two:
            await two.collections()
            assert await one.tidy() is None
            assert await two.tidy() is None
        for _ in range(600):  # a server ends a session in a moment of its own
            if swept := await one.tidy():
                break
            await asyncio.sleep(0.05)
        assert swept is not None
        assert len(swept.rows) == 1


async def test_who_stores_again_what_is_being_removed_waits_for_it(
    library: Callable[[], Settings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sweep, "SHARED_SECONDS", -1)
    settings, harbor = library(), noted(tmp_path, "harbor")
    remove, waited = FolderBlobs.remove, []

    async def add() -> None:
        async with Assay(settings, home=tmp_path / "two") as assay:
            await assay.add([harbor])

    other = threading.Thread(target=lambda: asyncio.run(add()))

    def slowly(blobs: FolderBlobs, sha: str) -> None:
        other.start()  # once: there is one blob
        other.join(1.5)
        waited.append(other.is_alive())
        remove(blobs, sha)

    async with Assay(settings, home=tmp_path / "one") as assay:
        await assay.delete(await ran(assay, harbor))
        monkeypatch.setattr(FolderBlobs, "remove", slowly)
        swept = await assay.tidy()
        assert swept is not None
        assert (swept.blobs, waited) == (1, [True])
        await asyncio.to_thread(other.join, 60)
        assert (await assay.text("harbor.md"))[1] == harbor.read_text()


def test_nobody_is_alone_with_another(new_database: Callable[[], str]):
    url = new_database()
    one, two = Database(postgres.Postgres(url)), Database(postgres.Postgres(url))
    try:
        with one.writer() as connection:
            with one.backend.exclusive(connection) as alone:
                assert not alone
            two.close()
            for _ in range(600):  # a server ends a session in a moment of its own
                with one.backend.exclusive(connection) as alone:
                    if alone:
                        break
                threading.Event().wait(0.05)
            assert alone
        two = Database(postgres.Postgres(url))  # comes, the door being open again
    finally:
        one.close()
        two.close()


async def test_what_is_left_when_somebody_comes_goes_the_next_time(
    library: Callable[[], Settings], place: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sweep, "SHARED_SECONDS", -1)
    monkeypatch.setattr(sweep, "ALONE_SECONDS", -1.0)  # one at a time
    settings = library()
    came: list[postgres.Postgres] = []

    def others(backend: postgres.Postgres, connection: object) -> bool:
        came.append(backend)
        return len(came) == 3  # looked at before the sweep, before the first, before the second

    monkeypatch.setattr(postgres.Postgres, "has_other_users", others)
    async with Assay(settings, home=tmp_path / "one") as assay:
        for name in ("harbor", "mole", "pier"):
            await assay.delete(await ran(assay, noted(tmp_path, name)))
        swept = await assay.tidy()
        assert swept is not None
        assert swept.blobs == 1
        assert len(texts(place, tmp_path)) == 2
        again = await assay.tidy()
        assert again is not None
        assert again.blobs == 2


async def test_another_librarys_bytes_are_left_alone(
    library: Callable[[], Settings], place: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sweep, "SHARED_SECONDS", -1)
    one, two = library(), library()
    async with Assay(one, home=tmp_path / "one") as mine, Assay(two, home=tmp_path / "two") as others:
        await others.add([noted(tmp_path, "mole")])
        await mine.delete(await ran(mine, noted(tmp_path, "harbor")))
        swept = await mine.tidy()
        assert swept is not None
        assert (len(swept.rows), swept.blobs, swept.apart) == (1, 0, True)
        assert await others.text("mole.md")
    assert len(texts(place, tmp_path)) == 2


async def test_what_another_library_stores_first_just_now_is_left_alone(
    library: Callable[[], Settings], place: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sweep, "SHARED_SECONDS", -1)
    one, two, harbor = library(), library(), noted(tmp_path, "harbor")
    age = FolderBlobs.age

    async def add() -> None:
        async with Assay(two, home=tmp_path / "two") as others:
            await others.add([harbor])

    def looked_at(blobs: FolderBlobs, name: str) -> float | None:
        """Whoever cleans up has seen that it is old; then the other library stores the same."""
        found = age(blobs, name)
        came = threading.Thread(target=lambda: asyncio.run(add()))
        came.start()
        came.join()
        return found

    async with Assay(one, home=tmp_path / "one") as mine:
        await mine.delete(await ran(mine, harbor))
        monkeypatch.setattr(FolderBlobs, "age", looked_at)
        swept = await mine.tidy()
        assert swept is not None
        assert swept.blobs == 0
    assert texts(place, tmp_path) == {harbor.read_bytes()}


async def test_another_machines_index_forgets_what_was_cleaned_up(library: Callable[[], Settings], tmp_path: Path):
    settings = library()
    async with Assay(settings, home=tmp_path / "one") as one:
        run = await ran(one, noted(tmp_path, "harbor"))
        await one.add([noted(tmp_path, "mole")])
        async with Assay(settings, home=tmp_path / "two") as two:
            assert len(await two.search("harbor", collection="unsorted")) == 1
        await one.delete(run)
        assert await one.tidy()
    async with Assay(settings, home=tmp_path / "two") as two:
        assert [hit.document.name for hit in await two.search("built 1843")] == ["mole.md"]
        assert await two.search("harbor", collection="unsorted") == []


class TestFarAway:
    """The same in an object store."""

    @pytest.fixture
    def place(self, s3: S3Server) -> str:
        return s3.place()

    test_what_nobody_refers_to_goes_when_it_is_old = staticmethod(test_what_nobody_refers_to_goes_when_it_is_old)
    test_another_librarys_bytes_are_left_alone = staticmethod(test_another_librarys_bytes_are_left_alone)


async def test_a_home_which_alone_uses_a_place_cleans_it_up(
    place: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sweep, "SHARED_SECONDS", -1)
    async with Assay(Settings(blobs=place), home=tmp_path / "one") as assay:
        await assay.delete(await ran(assay, noted(tmp_path, "harbor")))
        swept = await assay.tidy()
        assert swept is not None
        assert (len(swept.rows), swept.blobs) == (1, 1)
    assert texts(place, tmp_path) == set()
