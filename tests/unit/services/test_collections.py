"""Collections through the library: what is added, looked at again, taken out."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay import Assay
from assay.core.errors import UnknownName, UsageError
from assay.services.collections import _apply
from assay.services.jobs.specifications import AddJob
from assay.services.places import check_collection_name, sort_places
from assay.settings import load


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Harbor\n\nThe harbor was built in 1843.\n")
    (folder / "b.md").write_text("# Tides\n\nThe tide rises 5.2 metres.\n")
    return folder


async def names(assay: Assay, collection: str = "default") -> set[str]:
    return {document.name for document in await assay.documents(collection)}


def rewrite(file: Path, text: str) -> None:
    """Another content, seen as such however coarse the file system's clock is."""
    file.write_text(text)
    os.utime(file, ns=(1, file.stat().st_mtime_ns + 1_000_000))


async def test_sync_adds_updates_and_removes(notes: Path):
    async with Assay() as assay:
        await assay.add(notes, "mine")
        before = {document.name: document.sha256 for document in await assay.documents("mine")}
        rewrite(notes / "a.md", "# Harbor\n\nThe harbor was rebuilt in 1900.\n")
        (notes / "b.md").unlink()
        (notes / "c.md").write_text("The lighthouse stands on the mole.\n")
        done = await assay.sync("mine")
        assert (done.added, done.updated, done.removed, done.documents) == (1, 1, 1, 2)
        assert await names(assay, "mine") == {"a.md", "c.md"}
        assert "1900" in (await assay.text("a.md", "mine"))[1]
        assert [hit.document.name for hit in await assay.search("rebuilt harbor", collection="mine")] == ["a.md"]
        assert await assay.search("tide rises", collection="mine") == []
        # what left is still there for the reports which cite it
        old = assay._context.store.library.document(before["a.md"])
        assert old is not None
        assert b"1843" in assay._context.store.blobs.get(old.sha256)
        assert (await assay.sync("mine")).documents == 2


async def test_a_sync_without_changes_changes_nothing(notes: Path):
    async with Assay() as assay:
        await assay.add([notes, notes / "a.md"], "mine")
        done = await assay.sync("mine")
        assert (done.added, done.updated, done.removed, done.documents) == (0, 0, 0, 2)
        assert done.warnings == ()


async def test_what_another_place_still_gives_stays(notes: Path, tmp_path: Path):
    (tmp_path / "copy.md").write_text((notes / "a.md").read_text())
    async with Assay() as assay:
        await assay.add([notes, tmp_path / "copy.md"], "mine")
        (notes / "a.md").unlink()
        assert (await assay.sync("mine")).removed == 0
        (tmp_path / "copy.md").unlink()
        done = await assay.sync("mine")
        assert done.removed == 1
        assert any("copy.md" in warning and "left the collection" in warning for warning in done.warnings)
        (tmp_path / "copy.md").write_text("# Harbor\n\nThe harbor was built in 1843.\n")
        assert (await assay.sync("mine")).added == 1  # the place is not forgotten


@pytest.mark.parametrize("left", ["nothing", "an empty folder"])
@pytest.mark.parametrize("pattern", ["", "*.md"])
async def test_a_folder_which_is_away_keeps_its_documents(notes: Path, tmp_path: Path, left: str, pattern: str):
    async with Assay() as assay:
        await assay.add(str(notes / pattern), "mine")
        notes.rename(tmp_path / "unmounted")
        if left == "an empty folder":
            notes.mkdir()
        done = await assay.sync("mine")
        assert (done.removed, done.documents) == (0, 2)
        assert [each for each in done.warnings if "missing or empty" in each and "stay" in each]
        assert await names(assay, "mine") == {"a.md", "b.md"}
        shutil.rmtree(notes, ignore_errors=True)
        (tmp_path / "unmounted").rename(notes)
        (notes / "b.md").unlink()
        done = await assay.sync("mine")
        assert (done.removed, done.documents, done.warnings) == (1, 1, ())


async def test_a_glob_is_expanded_again(notes: Path):
    async with Assay() as assay:
        await assay.add(str(notes / "*.md"), "mine")
        (notes / "new.md").write_text("A new note.\n")
        (notes / "new.txt").write_text("Not of the pattern.\n")
        assert (await assay.sync("mine")).added == 1
        assert await names(assay, "mine") == {"a.md", "b.md", "new.md"}


async def test_a_file_which_cannot_be_read_now_stays_as_it_was(notes: Path):
    (notes / "t.csv").write_text("country,capital\nFrance,Paris\n")
    async with Assay(load(documents={"max_file_mb": 0.01})) as assay:
        await assay.add(notes, "mine")
        count = len(await assay.documents("mine"))
        rewrite(notes / "t.csv", "")
        assert (await assay.sync("mine")).documents < count  # an emptied file has nothing any more
        rewrite(notes / "a.md", "Far too long for that setting now.\n" * 500)
        done = await assay.sync("mine")
        assert any("larger than" in warning for warning in done.warnings)
        assert "a.md" in await names(assay, "mine")


async def test_what_is_taken_out_is_not_brought_back(notes: Path):
    async with Assay() as assay:
        await assay.add(notes, "mine")
        await assay.add(notes, "other")
        (gone,) = await assay.remove(["b.md"], "mine")
        assert gone.name == "b.md"
        await assay.sync("mine")
        assert await names(assay, "mine") == {"a.md"}
        assert await names(assay, "other") == {"a.md", "b.md"}
        await assay.add(notes, "mine")  # who names the place again wants it
        assert await names(assay, "mine") == {"a.md", "b.md"}


async def test_a_place_takes_out_what_it_gave(notes: Path, tmp_path: Path):
    (tmp_path / "more.md").write_text("More.\n")
    async with Assay() as assay:
        await assay.add([notes, tmp_path / "more.md"], "mine")
        assert {each.name for each in await assay.remove([str(notes)], "mine")} == {"a.md", "b.md"}
        assert [origin.place for origin in await assay.origins("mine")] == [str(tmp_path / "more.md")]
        assert (await assay.sync("mine")).documents == 1


@pytest.mark.parametrize("added", ["*.md", "a.md b.md", ". a.md", "../*/*.md", ".."])
async def test_a_folder_takes_out_what_lies_in_it_however_it_was_added(
    notes: Path, tmp_path: Path, added: str, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "notes-old").mkdir()
    (tmp_path / "notes-old" / "c.md").write_text("Older.\n")
    monkeypatch.chdir(tmp_path)
    async with Assay() as assay:
        await assay.add([notes / each for each in added.split()], "mine")
        await assay.add(tmp_path / "notes-old", "mine")
        assert {each.name for each in await assay.meant([f"{notes.name}/"], "mine")} == {"a.md", "b.md"}
        assert {each.name for each in await assay.remove([notes.name], "mine")} == {"a.md", "b.md"}
        assert await names(assay, "mine") == {"c.md"}
        assert (await assay.sync("mine")).documents == 1
        with pytest.raises(UnknownName):
            await assay.remove([f"{notes.name}/"], "mine")


async def test_what_changes_while_a_sync_reads_stays_changed(notes: Path, tmp_path: Path):
    copies = tmp_path / "copies"
    shutil.copytree(notes, copies)
    (tmp_path / "c.md").write_text("Of another place.\n")
    async with Assay() as assay:
        await assay.add([notes, tmp_path / "c.md"], "mine")
        before = assay._context.store.library.origins("mine")
        read = [msgspec.structs.replace(each, documents=()) if each.place == str(notes) else each for each in before]
        await assay.remove(["a.md", str(tmp_path / "c.md")], "mine")
        await assay.add(copies / "b.md", "mine")
        done = await asyncio.to_thread(_apply, assay._context, "mine", before, read)
        assert await names(assay, "mine") == {"b.md"}
        assert done.documents == 1
        assert (await assay.sync("mine")).documents == 1


async def test_a_folder_leaves_what_another_place_gave_too(notes: Path, tmp_path: Path):
    copies = tmp_path / "copies"
    shutil.copytree(notes, copies)
    (notes / "c.md").write_text("Only here.\n")
    async with Assay() as assay:
        await assay.add(notes, "mine")
        await assay.add(copies, "mine")
        assert {each.name for each in await assay.remove([str(notes)], "mine")} == {"c.md"}
        assert await names(assay, "mine") == {"a.md", "b.md"}
        assert (await assay.sync("mine")).documents == 2


async def test_a_folder_behind_a_link_takes_out_what_lies_in_it(notes: Path, tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path)
    linked = tmp_path / "link" / "notes"
    async with Assay() as assay:
        await assay.add([linked / "a.md", tmp_path / "link"], "mine")
        assert {each.name for each in await assay.remove([str(linked)], "mine")} == {"a.md", "b.md"}


async def test_the_documents_of_a_drive_behind_a_link_stay_while_it_is_not_mounted(notes: Path, tmp_path: Path):
    (tmp_path / "link").symlink_to(notes)
    async with Assay() as assay:
        await assay.add(tmp_path / "link", "mine")
        notes.rename(tmp_path / "away")
        assert (await assay.sync("mine")).documents == 2
        (tmp_path / "away").rename(notes)
        (notes / "a.md").unlink()
        assert (await assay.sync("mine")).documents == 1


async def test_a_name_of_a_document_is_not_read_as_the_folder_of_that_name(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "more.md").write_text(f"# {notes.name}\n\nMore.\n")
    monkeypatch.chdir(tmp_path)
    async with Assay() as assay:
        await assay.add([notes / "*.md", tmp_path / "more.md"], "mine")
        assert {each.name for each in await assay.remove([notes.name], "mine")} == {"more.md"}
        assert {each.name for each in await assay.remove([f"{notes.name}/"], "mine")} == {"a.md", "b.md"}


async def test_a_file_whose_name_is_no_utf8_is_taken_out(notes: Path):
    odd = Path(os.fsdecode(os.fsencode(notes) + b"/bad\xff.md"))
    odd.write_text("Odd.\n")
    async with Assay() as assay:
        await assay.add(notes, "mine")
        assert {each.name for each in await assay.remove([str(odd)], "mine")} == {"bad\ufffd.md"}
        with pytest.raises(UnknownName):
            await assay.remove(["half \ud800"], "mine")


async def test_errors_name_what_there_is(notes: Path):
    async with Assay() as assay:
        await assay.add(notes, "thesis")
        with pytest.raises(UnknownName, match="did you mean 'thesis'"):
            await assay.sync("theses")
        with pytest.raises(UnknownName, match="no document named 'z'"):
            await assay.remove(["z"], "thesis")
        with pytest.raises(UnknownName, match=r"named 'md' in thesis.* \(Harbor\), .* \(Tides\); name each"):
            await assay.remove(["md"], "thesis")
        assert await names(assay, "thesis") == {"a.md", "b.md"}
        with pytest.raises(UnknownName, match="no collection named 'thesi'; did you mean 'thesis'"):
            await assay.mark("thesi", private=True)
        assert [row.name for row in await assay.collections()] == ["thesis"]
        await assay.mark("bare", private=False, create=True)
        with pytest.raises(UsageError, match="does not know where the collection"):
            await assay.sync("bare")
        with pytest.raises(UsageError, match="cannot be a collection's name"):
            await assay.add(notes, "@thesis")
        with pytest.raises(UnknownName, match="no collection named 'nosuch'"):
            await assay.start("When?", sources="@nosuch").view()


async def test_a_new_collection_has_no_slash_in_its_name_whoever_makes_it(notes: Path, tmp_path: Path):
    async def pieces():
        yield b"# Tides\n"

    async with Assay(home=tmp_path / "home") as assay:
        assay._context.store.library.include([], "old/name")  # as earlier releases allowed it
        for library in (assay, assay.owned_by("ana")):
            for change in (
                lambda each: each.add(notes, "tides/brest"),
                lambda each: each.crawl("https://example.org/", "tides/brest"),
                lambda each: each.upload("tides.md", pieces(), "tides/brest"),
                lambda each: each.begin_add(notes, "tides/brest"),
                lambda each: each.begin_job(AddJob(paths=(str(notes),), collection="tides/brest")),
                lambda each: each.mark("tides/brest", private=True, create=True),
            ):
                with pytest.raises(UsageError, match="a new collection cannot be called 'tides/brest'"):
                    await change(library)
        assert (await assay.add(notes, "old/name")).documents == 2


async def test_nothing_is_found_in_a_collection_only_if_there_is_one(notes: Path):
    async with Assay() as assay:
        assert await assay.documents() == await assay.search("harbor") == []
        await assay.add(notes, "thesis")
        assert await assay.search("zebra", collection="thesis") == []
        for look in (
            assay.documents("theses"),
            assay.search("harbor", collection="theses"),
            assay.search("harbor", collection=["thesis", "theses"]),
            assay.explain("x", 1, "theses"),
        ):
            with pytest.raises(UnknownName, match="no collection named 'theses'; did you mean 'thesis'"):
                await look


async def test_a_run_over_collections_and_files(notes: Path, tmp_path: Path):
    (tmp_path / "else.md").write_text("The harbor of Brest was built in 1631.\n")
    async with Assay() as assay:
        await assay.add(notes / "a.md", "one")
        await assay.add(notes / "b.md", "two")
        view = await assay.start("When was the harbor built?", sources=["@one", "@two"]).view()
        assert view.brief is not None
        assert view.brief.scope.collections == ("one", "two")
        assert "1843" in view.report.text
        assert not view.brief.scope.web
        both = await assay.start("When was the harbor of Brest built?", sources=["@two", tmp_path / "else.md"]).view()
        assert both.brief is not None
        assert both.brief.scope.collections[0] == "two"
        assert "(2 documents)" in both.brief.scope.label
        assert "1631" in both.report.text
        assert "1843" not in both.report.text


async def test_collections_are_listed_without_those_of_runs(notes: Path):
    async with Assay() as assay:
        await assay.start("When was the harbor built?", sources=notes).view()
        assert await assay.collections() == []
        await assay.add(notes, "mine")
        (row,) = await assay.collections()
        assert (row.name, row.documents, row.origins) == ("mine", 2, 1)
        await assay.drop("mine")
        assert await assay.collections() == []


@given(st.lists(st.text(max_size=20), max_size=6))
@settings(max_examples=scaled(80), deadline=None)
def test_every_place_is_of_one_kind(named: list[str]):
    found = sort_places(named)
    assert sorted([*found.urls, *found.connector_places, *found.paths]) == sorted(set(named))


@given(st.text(max_size=12))
@settings(max_examples=scaled(80), deadline=None)
def test_a_name_which_is_taken_can_be_meant(name: str):
    try:
        assert check_collection_name(name) == name
    except UsageError:
        return
    assert name.strip() == name != ""
    assert not name.startswith(("@", "-"))
