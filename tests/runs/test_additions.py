"""Documents which are added in the background: told of while they are read, bounded, each user's own, never lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from web import response, site

from assay import Assay
from assay.core.errors import TooLarge, UnknownName, UsageError
from assay.core.ports import Addition
from assay.settings import load


@pytest.fixture(params=["memory", "home"])
async def assay(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Assay]:
    home = tmp_path / "home" if request.param == "home" else None
    async with Assay(load(search={"offline": True}), home=home) as made:
        yield made


async def pieces(*some: bytes) -> AsyncIterator[bytes]:
    for each in some:
        await asyncio.sleep(0)
        yield each


async def followed(assay: Assay, id: str, after: int = 0) -> list[Addition]:
    return [each async for each in assay.follow_addition(id, after)]


async def test_a_file_comes_in_pieces_and_is_found(assay: Assay):
    begun = await assay.begin_upload("tides.md", pieces(b"# Tides\n\nThe tide ", b"rises seven metres.\n"), "sea")
    assert (begun.state, begun.seq, begun.name, begun.collection) == ("waiting", 1, "tides.md", "sea")
    found = await followed(assay, begun.id)
    assert [each.seq for each in found] == sorted({each.seq for each in found})
    assert found[-1].state == "done"
    assert (found[-1].documents, found[-1].added, found[-1].error) == (1, 1, "")
    assert [hit.document.name for hit in await assay.search("tide", collection="sea")] == ["tides.md"]
    assert await followed(assay, begun.id, after=found[-1].seq) == []
    assert (await assay.additions())[0] == found[-1] == await assay.addition(begun.id)


async def test_a_name_without_an_end_goes_by_its_media_type(assay: Assay):
    begun = await assay.begin_upload("page", pieces(b"<h1>Tides</h1><p>They rise."), media_type="text/html; charset=x")
    last = (await followed(assay, begun.id))[-1]
    assert (last.state, last.name) == ("done", "page.html")
    assert [each.media_type for each in await assay.documents()] == ["text/html"]


async def test_what_cannot_be_read_says_so(assay: Assay, tmp_path: Path):
    begun = await assay.begin_add(tmp_path / "nothing.md", "sea")
    last = (await followed(assay, begun.id))[-1]
    assert last.state == "failed"
    assert "nothing.md" in last.error
    begun = await assay.begin_upload("noise.bin", pieces(bytes(range(256)) * 9))
    assert (await followed(assay, begun.id))[-1].state == "failed"


async def test_what_is_too_large_leaves_nothing(assay: Assay):
    with pytest.raises(TooLarge):
        await assay.begin_upload("large.md", pieces(*[b"x" * 100] * 100), most=1_000)
    with pytest.raises(UsageError):
        await assay.begin_upload("a.md", pieces(b"x"), "unsorted")
    with pytest.raises(UsageError):
        await assay.begin_add([])
    assert await assay.additions() == []
    if assay.home is not None:
        assert not list((assay.home / "uploads").rglob("*.md"))


async def test_a_site_is_read_and_looked_at_again_in_the_background():
    async with site() as there, Assay(load(web={"allow": "127.0.0.1", "robots": False})) as assay:
        html = "<!doctype html><title>{0}</title><main><h1>{0}</h1><p>About the {0} of the harbor.</p>{1}</main>"
        linked = html.format("pier", '<a href="wall.html">x</a>')
        there.pages |= {
            "/": response(linked, Content_Type="text/html"),
            "/wall.html": response(html.format("wall", ""), Content_Type="text/html"),
        }
        begun = await assay.begin_crawl(there.url("/"), "harbor", pages=9, depth=2)
        assert (begun.kind, begun.options) == ("crawl", {"pages": 9, "depth": 2})
        last = (await followed(assay, begun.id))[-1]
        assert (last.state, last.documents, last.error) == ("done", 2, "")
        there.pages["/wall.html"] = response(html.format("crane", ""), Content_Type="text/html")
        last = (await followed(assay, (await assay.begin_sync("harbor")).id))[-1]
        assert (last.state, last.line) == ("done", "0 added, 1 changed, 0 gone")
        assert {each.title for each in await assay.documents("harbor")} == {"pier", "crane"}
        with pytest.raises(UnknownName):
            await assay.begin_sync("none")


async def test_another_s_additions_are_unknown(assay: Assay):
    ana, bob = assay.owned_by("ana"), assay.owned_by("bob")
    begun = await ana.begin_upload("../../diary.md", pieces(b"The harbor was built in 1843."))
    assert begun.name == "diary.md"
    assert await bob.additions() == []
    with pytest.raises(UnknownName):
        await bob.addition(begun.id)
    with pytest.raises(UnknownName):
        await followed(bob, begun.id)
    assert (await followed(ana, begun.id))[-1].state == "done"
    assert len(await ana.documents()) == 1
    assert await bob.documents() == []
    assert await assay.documents() == []


async def test_two_of_one_name_do_not_meet(assay: Assay):
    ana, bob = assay.owned_by("ana"), assay.owned_by("bob")
    begun = [await each.begin_upload("a.md", pieces(text)) for each, text in ((ana, b"Of Ana."), (bob, b"Of Bob."))]
    for each, one in zip((ana, bob), begun, strict=True):
        await followed(each, one.id)
    texts = [(await each.text("a.md"))[1] for each in (ana, bob)]
    assert texts == ["Of Ana.", "Of Bob."]


async def test_what_a_process_left_is_gone_on_with(tmp_path: Path):
    settings, home = load(search={"offline": True}), tmp_path / "home"
    (tmp_path / "tides.md").write_text("The tide rises seven metres.")
    async with Assay(settings, home=home) as first:
        begun = await first.owned_by("ana").begin_add(tmp_path / "tides.md")
        # closed before it could be read
    async with Assay(settings, home=home) as second:
        ana = second.owned_by("ana")
        assert (await ana.addition(begun.id)).state in ("waiting", "done")
        assert (await followed(ana, begun.id))[-1].state == "done"
        assert len(await ana.documents()) == 1


async def test_what_a_killed_process_left_is_gone_on_with(tmp_path: Path):
    settings, home = load(search={"offline": True}), tmp_path / "home"
    (tmp_path / "tides.md").write_text("The tide rises seven metres.")
    async with Assay(settings, home=home) as assay:
        gone = "process 999999999 on " + (await _holder(assay)).split(" on ", 1)[1]
        left = Addition(
            id="left000001",
            collection="sea",
            name="tides.md",
            sources=(str(tmp_path / "tides.md"),),
            created_at="2026-01-01",
            updated_at="2026-01-01",
            state="reading",
            holder=gone,
            owner="ana",
        )
        kept = msgspec.structs.replace(left, id="alive00001", holder="process 1 on elsewhere since tick:1")
        for each in (left, kept):
            assay._context.full_store.additions.put(each)
        taken = await assay.owned_by(None).go_on_adding()
        assert [each.id for each in taken] == ["left000001"]
        assert (await followed(assay.owned_by("ana"), "left000001"))[-1].state == "done"
        assert len(await assay.owned_by("ana").documents("sea")) == 1
        assert await assay.go_on_adding() == []


async def _holder(assay: Assay) -> str:
    begun = await assay.begin_upload("a.md", pieces(b"A word."))
    await followed(assay, begun.id)
    return begun.holder


async def test_an_error_nobody_foresaw_ends_it_for_who_waits(assay: Assay, caplog: pytest.LogCaptureFixture):
    class Broken:
        def __call__(self, *_: object) -> object:
            raise RuntimeError("a bug")

    assay._context.store.library.add = Broken()  # type: ignore[method-assign]
    begun = await assay.begin_upload("tides.md", pieces(b"The tide rises."))
    last = (await followed(assay, begun.id))[-1]
    assert (last.state, "error of Assay" in last.error) == ("failed", True)
    assert "a bug" in caplog.text


async def test_many_follow_one(assay: Assay):
    begun = await assay.begin_upload("tides.md", pieces(b"The tide rises."))
    async with asyncio.TaskGroup() as group:
        all_of_them = [group.create_task(followed(assay, begun.id)) for _ in range(20)]
    assert {task.result()[-1].state for task in all_of_them} == {"done"}
    assert assay._context.adding._update_events == {}
