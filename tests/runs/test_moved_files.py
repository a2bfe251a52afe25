"""A file that was moved and read again is cited where it is now."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest
from shells import TIDES, Command, apart, spoken

from assay.core.errors import Cancelled, SearchError
from assay.evidence.ingest import ReadingMonitor, moves
from assay.search.local.local_search import LocalSearch
from assay.search.vectors.hybrid import HybridSearch

ASKED = "How high does the tide at Brest rise?"
AGAIN = "By how much does the tide rise at Brest?"


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    apart(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    Path("a").mkdir()
    Path("a/tides.md").write_text(TIDES)
    return spoken(capsys)


def done(assay: Command, *words: str) -> str:
    result = assay(*words)
    assert result.returncode == 0, result.stderr
    return result.stdout


def sources(assay: Command, question: str, folder: str) -> tuple[str, list[str]]:
    """The run of a report about a folder, and the addresses of its sources."""
    report = json.loads(done(assay, question, "--in", folder, "--json"))
    return report["run_id"], [each["url"] for each in report["sources"]]


def addresses(assay: Command, collection: str) -> list[str]:
    return [each["url"] for each in json.loads(done(assay, "docs", "list", "-c", collection, "--json"))]


def url(path: str) -> str:
    return Path(path).resolve().as_uri()


@pytest.mark.parametrize("after", ["b/tides.md", "a/brest.md"])
def test_a_report_cites_a_moved_file_where_it_is(assay: Command, after: str) -> None:
    first, found = sources(assay, ASKED, "a")
    assert found == [url("a/tides.md")]
    before = done(assay, "show", first)
    os.renames("a/tides.md", after)

    assert sources(assay, AGAIN, after.partition("/")[0])[1] == [url(after)]
    cited = done(assay, "cite", "last", "1")
    assert after in cited
    assert "a/tides.md" not in cited
    assert done(assay, "show", first) == before


def test_a_bundle_tells_where_a_file_was_read(assay: Command) -> None:
    run, _ = sources(assay, ASKED, "a")
    done(assay, "runs", "export", run, "-o", "before.zip")
    os.renames("a/tides.md", "b/tides.md")
    later, found = sources(assay, AGAIN, "b")
    assert found == [url("b/tides.md")]
    done(assay, "runs", "export", run, "-o", "after.zip")
    assert Path("after.zip").read_bytes() == Path("before.zip").read_bytes()
    done(assay, "runs", "export", later, "-o", "later.zip")
    with zipfile.ZipFile("later.zip") as bundle:
        (origin,) = json.loads(bundle.read("sources.json"))
    assert origin["url"] == url("a/tides.md"), "the bytes, and the time beside it, are of that place"
    done(assay, "verify", "later.zip")


def test_while_both_exist_the_first_is_cited(assay: Command) -> None:
    done(assay, "docs", "add", "a", "-c", "sea")
    Path("b").mkdir()
    Path("b/tides.md").write_text(TIDES)
    done(assay, "docs", "add", "b", "-c", "sea")
    assert addresses(assay, "sea") == [url("a/tides.md")]

    os.unlink("a/tides.md")  # the other is unchanged since it was read
    done(assay, "docs", "sync", "sea")
    assert addresses(assay, "sea") == [url("b/tides.md")]


def test_a_file_packed_into_an_archive_is_found_there(assay: Command) -> None:
    done(assay, "docs", "add", "a", "-c", "sea")
    with zipfile.ZipFile("all.zip", "w") as archive:
        archive.write("a/tides.md", "old/tides.md")
    os.unlink("a/tides.md")
    done(assay, "docs", "add", "all.zip", "-c", "sea")
    assert addresses(assay, "sea") == [f"{url('all.zip')}!/old/tides.md"]
    os.mkdir("more")
    os.rename("all.zip", "more/other.zip")
    done(assay, "docs", "add", "more", "-c", "sea")
    assert addresses(assay, "sea") == [f"{url('more/other.zip')}!/old/tides.md"]


def test_what_a_person_took_out_stays_out_under_its_new_name(assay: Command) -> None:
    Path("a/ebb.md").write_text("# Ebb\n\nThe ebb takes six hours.\n")
    done(assay, "docs", "add", "a", "-c", "sea")
    done(assay, "docs", "rm", "tides.md", "-c", "sea", "--yes")
    os.rename("a/tides.md", "a/brest.md")
    done(assay, "docs", "sync", "sea")
    assert addresses(assay, "sea") == [url("a/ebb.md")]


def test_the_new_name_finds_it(assay: Command) -> None:
    done(assay, "docs", "add", "a", "-c", "sea")
    os.rename("a/tides.md", "a/zanzibar.md")
    done(assay, "docs", "sync", "sea")
    assert "zanzibar.md" in done(assay, "docs", "search", "zanzibar", "-c", "sea")


def test_an_unchanged_folder_costs_no_look_for_files(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(moves, "is_gone", lambda file: bool(looked.append(file)))
    os.symlink("a", "link")
    for folder in ("a", "a", "link"):
        done(assay, "docs", "add", folder, "-c", "sea")
    done(assay, "docs", "sync", "sea")
    assert looked == []


def test_what_a_person_took_out_of_another_collection_stays_out_of_it(assay: Command) -> None:
    for collection in ("sea", "coast"):
        done(assay, "docs", "add", "a", "-c", collection)
    Path("a/ebb.md").write_text("# Ebb\n\nThe ebb takes six hours.\n")
    done(assay, "docs", "rm", "tides.md", "-c", "coast", "--yes")
    os.rename("a/tides.md", "a/brest.md")
    for collection in ("sea", "coast"):
        done(assay, "docs", "sync", collection)
    assert addresses(assay, "sea") == [url("a/brest.md"), url("a/ebb.md")]
    assert addresses(assay, "coast") == [url("a/ebb.md")]


def test_a_sync_does_what_is_left_after_an_index_failed(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a/ebb.md").write_text("# Ebb\n\nThe ebb takes six hours.\n")
    done(assay, "docs", "add", "a", "-c", "sea")
    done(assay, "docs", "rm", "tides.md", "-c", "sea", "--yes")
    os.rename("a/tides.md", "a/brest.md")
    os.rename("a/ebb.md", "a/zanzibar.md")

    def fails(*_: object) -> None:
        raise SearchError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(LocalSearch, "reindex_names", fails)
        broken.setattr(HybridSearch, "reindex_names", fails)
        assert assay("docs", "sync", "sea").returncode != 0
    done(assay, "docs", "sync", "sea")
    assert addresses(assay, "sea") == [url("a/zanzibar.md")]
    assert "zanzibar.md" in done(assay, "docs", "search", "zanzibar", "-c", "sea")


def test_a_sync_does_what_is_left_after_one_that_was_cut_short(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    done(assay, "docs", "add", "a", "-c", "sea")
    os.rename("a/tides.md", "a/zanzibar.md")

    def ends(*_: object) -> None:
        raise Cancelled("reading was cancelled")

    with monkeypatch.context() as cut:
        cut.setattr(ReadingMonitor, "report_progress", ends)
        assert assay("docs", "sync", "sea").returncode != 0
    assert addresses(assay, "sea") == [url("a/zanzibar.md")]
    done(assay, "docs", "sync", "sea")
    assert "zanzibar.md" in done(assay, "docs", "search", "zanzibar", "-c", "sea")


def test_a_renamed_file_whose_name_another_takes_is_found_by_its_own(assay: Command) -> None:
    done(assay, "docs", "add", "a", "-c", "sea")
    os.rename("a/tides.md", "a/brest.md")
    Path("a/tides.md").write_text("# Ebb\n\nThe ebb at Brest takes six hours and more.\n")
    done(assay, "docs", "sync", "sea")
    assert addresses(assay, "sea") == [url("a/brest.md"), url("a/tides.md")]
    assert "title       Tides" in done(assay, "docs", "show", "brest.md")


def test_two_files_that_exchange_their_names_exchange_their_places(assay: Command) -> None:
    Path("a/ebb.md").write_text("# Ebb\n\nThe ebb at Brest takes six hours and more.\n")
    done(assay, "docs", "add", "a", "-c", "sea")
    for before, after in (("tides", "x"), ("ebb", "tides"), ("x", "ebb")):
        os.rename(f"a/{before}.md", f"a/{after}.md")
    for _ in range(2):
        done(assay, "docs", "sync", "sea")
        assert addresses(assay, "sea") == [url("a/tides.md"), url("a/ebb.md")]
        assert "title       Tides" in done(assay, "docs", "show", "ebb.md")


def test_a_copy_is_cited_once_its_first_file_has_another_text(assay: Command) -> None:
    Path("a/copy.md").write_text(TIDES)
    done(assay, "docs", "add", "a", "-c", "sea")
    first, second = url("a/copy.md"), url("a/tides.md")
    assert addresses(assay, "sea") == [first]
    Path("a/copy.md").write_text("# Ebb\n\nThe ebb at Brest takes six hours and more.\n")
    for _ in range(2):  # the other is unchanged, so it is read again by the next sync alone
        done(assay, "docs", "sync", "sea")
    assert sorted(addresses(assay, "sea")) == [first, second]
    assert "title       Tides" in done(assay, "docs", "show", "tides.md")
