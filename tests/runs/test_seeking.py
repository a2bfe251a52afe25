"""Runs found by words in their questions and reports: level with the journal, each user's own, never in the way."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assay import Assay
from assay.core.errors import UsageError
from assay.settings import load

NOTES = {
    "harbor.md": "# Harbor\n\nThe harbor was built in 1843. Its pier is made of granite blocks.\n",
    "tides.md": "# Tides\n\nThe tide at Brest rises seven metres. Spring tides follow the new moon.\n",
    "turm.md": "# Turm\n\nDer Turm wurde 1921 errichtet. Er ist aus Stahlbeton.\n",
}
ASKED = ("When was the harbor built?", "How far does the tide rise at Brest?", "Wann wurde der Turm errichtet?")


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def assay(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Assay]:
    for name, text in NOTES.items():
        (tmp_path / name).write_text(text)
    settings = {"search": {"offline": True}}
    if request.param == "postgres":
        settings["database"] = request.getfixturevalue("new_database")()
    async with Assay(load(**settings), home=None if request.param == "memory" else tmp_path / "home") as made:
        yield made


async def asked(assay: Assay, tmp_path: Path, question: str) -> str:
    sources = [str(tmp_path / name) for name in NOTES]
    return (await assay.start(question, sources=sources, depth="light").view()).run_id


async def begun(assay: Assay, tmp_path: Path) -> str:
    """A run which nobody has executed yet: its question is found already."""
    return await assay.create(ASKED[0], sources=[str(tmp_path / "harbor.md")], depth="light")


async def found(assay: Assay, text: str) -> list[str]:
    return [each.run.run_id for each in (await assay.search_runs(text)).runs]


async def test_questions_and_reports_are_found_in_any_form_of_a_word(assay: Assay, tmp_path: Path):
    assert await found(assay, "harbor") == []
    harbor, tides, turm = [await asked(assay, tmp_path, question) for question in ASKED]
    assert await found(assay, "harbors building") == [harbor]
    assert await found(assay, "RISING tides") == [tides]
    assert await found(assay, "errichten") == [turm]
    (hit,) = (await assay.search_runs("1843")).runs
    assert "1843" in hit.snippet
    assert (hit.run.run_id, hit.run.question, hit.run.status) == (harbor, ASKED[0], "completed")
    assert set(await found(assay, "harbor Brest zebra")) == {harbor, tides}  # none has all
    for nothing in ("", "  ", "zebra", '"', "+xyzzy *:* (\0"):
        assert await found(assay, nothing) == []


async def test_one_finds_ones_own(assay: Assay, tmp_path: Path):
    ana, bob = assay.owned_by("ana"), assay.owned_by("bob")
    hers, his = await begun(ana, tmp_path), await begun(bob, tmp_path)
    assert await found(ana, "harbor") == [hers]
    assert await found(bob, "harbor") == [his]
    assert await found(assay, "harbor") == []
    assert set(await found(assay.owned_by(None), "harbor")) == {hers, his}


async def test_a_run_is_found_by_its_question_and_later_by_its_report(assay: Assay, tmp_path: Path):
    run_id = await begun(assay, tmp_path)
    assert await found(assay, "harbor") == [run_id]
    assert await found(assay, "1843") == []
    await (await assay.resume(run_id)).view()
    assert await found(assay, "1843") == [run_id]


async def test_what_is_deleted_is_found_no_more(assay: Assay, tmp_path: Path):
    run_id = await asked(assay, tmp_path, ASKED[0])
    kept = await begun(assay, tmp_path)
    assert set(await found(assay, "harbor")) == {run_id, kept}
    await assay.delete(run_id)
    assert set(assay._context.seeker._index.indexed_runs()) == {kept}  # at once, and not with the next search
    assert await found(assay, "harbor") == [kept]


async def test_pages_of_what_is_found(assay: Assay, tmp_path: Path):
    runs = {await begun(assay, tmp_path) for _ in range(3)}
    first = await assay.search_runs("harbor", limit=2)
    second = await assay.search_runs("harbor", limit=2, cursor=first.next)
    assert (len(first.runs), len(second.runs), second.next) == (2, 1, "")
    assert {each.run.run_id for each in (*first.runs, *second.runs)} == runs
    for cursor in ("!", "bm8", "x" * 900):
        with pytest.raises(UsageError, match="not a cursor"):
            await assay.search_runs("harbor", cursor=cursor)


async def test_a_lost_or_damaged_index_is_made_anew(tmp_path: Path):
    settings, home = load(search={"offline": True}), tmp_path / "home"
    for name, text in NOTES.items():
        (tmp_path / name).write_text(text)
    async with Assay(settings, home=home) as assay:
        run_id = await asked(assay, tmp_path, ASKED[0])
        assert await found(assay, "harbor") == [run_id]
        (index,) = home.glob("index/runs-*/meta.json")
        index.write_text("{")
        assert await found(assay, "harbor") == [run_id]
        shutil.rmtree(index.parent)
        assert await found(assay, "harbor") == [run_id]
    shutil.copytree(home, tmp_path / "other")
    async with Assay(settings, home=tmp_path / "other") as other:  # deleted where the index was not told
        await other._context.full_store.journal.delete(run_id)
        assert await found(other, "harbor") == []
    async with Assay(settings, home=tmp_path / "third") as third:  # an index of another home
        new = await asked(third, tmp_path, ASKED[1])
        shutil.copytree(home / "index" / index.parent.name, tmp_path / "third" / "index" / index.parent.name)
        assert await found(third, "harbor tide") == [new]
