"""Which documents are meant by what a person names for removal."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from assay import Assay
from assay.core.errors import UnknownName
from assay.core.ports import Origin
from assay.core.sources import Document
from assay.services import collections
from assay.services.removal import expand_patterns, matching_documents


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "tides.md").write_text("# Tides\n\nThe tide rises 5.2 metres.\n")
    (folder / "deep" / "page.html").write_text(
        "<html><head><title>Piers</title><link rel=canonical href=https://port.example/piers></head>"
        "<body><p>The pier is 90 metres long, and was built of oak.</p></body></html>"
    )
    return folder


@pytest.mark.parametrize("part", ["tide", "notes", "md", "file:", "/notes/tides", "port.example"])
async def test_a_part_of_a_name_removes_nothing(notes: Path, part: str) -> None:
    async with Assay() as assay:
        await assay.add([notes / "tides.md", notes / "deep" / "page.html"], "mine")
        for removal in (assay.meant, assay.remove):
            with pytest.raises(UnknownName, match="no document named") as refused:
                await removal([part], "mine")
            assert "(Tides)" in str(refused.value) or "(Piers)" in str(refused.value)
            assert "name each by its number" in str(refused.value)
        assert len(await assay.documents("mine")) == 2


async def test_a_document_is_named_whole(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Assay() as assay:
        await assay.add(notes, "mine")
        page, tides = sorted(await assay.documents("mine"), key=lambda each: each.title)
        monkeypatch.chdir(notes)
        for name in ("tides.md", "TIDES", tides.sha256[:8], tides.url, str(notes / "tides.md"), "deep/../tides.md"):
            assert await assay.meant([name], "mine") == [tides], name
        for name in ("page.html", "deep/page.html", str(notes / "deep" / "page.html"), "https://port.example/piers"):
            assert await assay.meant([name], "mine") == [page], name


def document(name: str, url: str, title: str = "") -> Document:
    return Document(
        sha256=f"{name.encode().hex():0<64}"[:64],
        snapshot_sha256="",
        extractor="text/1",
        url=url,
        title=title or name,
        name=name,
        media_type="text/plain",
        syntax="plain",
        size=1,
        fetched_at="",
    )


HELD = [
    document("a.md", "file:///notes/a.md", "Harbor 2023"),
    document("deep/b[1].md", "file:///notes/deep/b%5B1%5D.md"),
    document("b.txt", "file:///notes/b.txt", "Harbor 2024"),
    document("c", "https://port.example/docs/c?page=1"),
]

MATCHED = {
    "*.md": ["a.md", "deep/b[1].md"],
    "*.MD": ["a.md", "deep/b[1].md"],
    "?.txt": ["b.txt"],
    "harbor *": ["a.md", "b.txt"],
    "/notes/*": ["a.md", "b.txt"],
    "/notes/**": ["a.md", "deep/b[1].md", "b.txt"],
    "/notes/**/*.md": ["a.md", "deep/b[1].md"],
    "deep/*": ["deep/b[1].md"],
    "b[1].*": ["deep/b[1].md"],
    "https://port.example/*": [],
    "https://port.example/**": ["c"],
    "*": ["a.md", "deep/b[1].md", "b.txt", "c"],
}


@pytest.mark.parametrize("pattern", MATCHED)
def test_a_pattern_matches_names_and_paths(pattern: str) -> None:
    assert [each.name for each in matching_documents(pattern, HELD)] == MATCHED[pattern]


def test_a_pattern_is_written_out_unless_something_is_called_so() -> None:
    named = document("what*", "file:///notes/what*")
    origin = Origin(place="/notes/*.md", kind="files")
    kept = ["what*", "/notes/*.md", "plain"]
    assert expand_patterns([*kept, "b.*"], [*HELD, named], [origin], "mine") == [*kept, HELD[2].sha256]
    with pytest.raises(UnknownName, match=r"no document named '\*\.pdf' in mine, and the pattern matches none"):
        expand_patterns(["*.pdf"], HELD, [], "mine")


async def test_a_deleted_file_takes_no_other_of_a_similar_name_out(tmp_path: Path) -> None:
    files = [tmp_path / "a.md", tmp_path / "a.md.txt"]
    for file in files:
        file.write_text(f"This is {file.name}.\n")
    async with Assay() as assay:
        await collections.read_files(assay._context, [str(file) for file in files], "mine", None)
        await collections.drop_files(assay._context, [str(files[0])], "mine", [])
        assert [each.name for each in await assay.documents("mine")] == ["a.md.txt"]


@pytest.mark.parametrize("pattern", ["*a" * 30 + "b", "*" * 60 + "b", "**/" * 30 + "x", "*?" * 30 + "b"])
def test_a_pattern_of_many_stars_takes_no_longer_than_others(pattern: str) -> None:
    began = time.process_time()
    assert matching_documents(pattern, [document("a" * 200 + "c", "file:///" + "a/" * 100)]) == []
    assert time.process_time() - began < 2
