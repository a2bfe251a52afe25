"""`assay docs sync`, `rm`, `show`, `collections`, `collection`, and `--in @NAME`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from shells import prepared

from assay.cli.main import cli, main

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder with notes, and a home beside them in which they are the collection `thesis`; and a copy of it."""
    base = tmp_path_factory.mktemp("collections")
    folder = base / "now"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "a.md").write_text("# Harbor\n\nThe harbor was built in 1843.\n")
    (folder / "notes" / "b.md").write_text("# Tides\n\nThe tide rises 5.2 metres.\n")
    prepared(folder, ["docs", "add", folder / "notes", "-c", "thesis"])
    shutil.copytree(folder, base / "kept")
    return folder, base / "kept"


@pytest.fixture(autouse=True)
def notes(made: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The notes; they and the home lie where they were when they were added, as if no test had changed them."""
    folder, kept = made
    shutil.rmtree(folder)
    shutil.copytree(kept, folder)
    monkeypatch.setenv("ASSAY_CONFIG", str(folder / "config.toml"))
    monkeypatch.setenv("ASSAY_HOME", str(folder / "home"))
    return folder / "notes"


def test_an_empty_name_means_nothing(notes: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch):
    """As an unset variable gives it: neither the current folder nor every document."""
    monkeypatch.chdir(notes)
    (notes / "b.md").unlink()
    assert main(["docs", "sync", "thesis"]) == 0
    for line in (
        ["docs", "rm", "", "-c", "thesis", "--yes"],
        ["docs", "add", ""],
        ["docs", "sync", ""],
        ["docs", "summary", ""],
        ["docs", "list", "-c", ""],
        ["When was it built?", "--in", ""],
        ["When was it built?", "--in", "@"],
    ):
        assert main(line) == 2
        assert "is empty: " in capsys.readouterr().err
    assert main(["docs", "collections"]) == 0
    assert capsys.readouterr().out == "thesis\t1\t1 place\t\n"


@pytest.mark.parametrize(
    "line",
    [["docs", "add", "notes", "--in", "x"], ["docs", "add", "notes", "--to=x"], ["docs", "search", "w", "--in", "@x"]],
)
def test_an_unknown_option_names_those_there_are(line: list[str], capsys: Capture):
    capsys.readouterr()
    assert main(line) == 2
    said = capsys.readouterr().err
    assert "Use one of: " in said
    assert "--collection NAME (-c), " in said
    assert "--home DIRECTORY" in said
    assert "Did you mean" not in said  # of --home or --explain


def test_a_collection_may_be_named_as_for_a_run(notes: Path, capsys: Capture):
    capsys.readouterr()
    assert main(["docs", "list", "-c", "@thesis"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_a_misspelt_option_names_the_one_meant(capsys: Capture):
    capsys.readouterr()
    assert main(["docs", "add", "notes", "--colection", "x"]) == 2
    assert "No such option '--colection'. Did you mean '--collection'?" in capsys.readouterr().err


def test_a_home_below_a_folder_is_not_read(notes: Path, capsys: Capture):
    assert main(["docs", "search", "harbor", "-c", "thesis"]) == 0
    assert list((notes.parent / "home").rglob("meta.json"))
    assert main(["docs", "add", str(notes.parent), "-c", "all"]) == 0
    capsys.readouterr()
    assert main(["docs", "list", "-c", "all"]) == 0
    assert "/home/" not in capsys.readouterr().out
    assert main(["docs", "list", "-c", "all", "--skipped"]) == 0
    assert "/home/" not in capsys.readouterr().out


def test_collections_with_counts(notes: Path, capsys: Capture):
    capsys.readouterr()
    assert main(["docs", "collections"]) == 0
    assert capsys.readouterr().out == "thesis\t2\t1 place\t\n"
    assert main(["docs", "collections", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {
            "name": "thesis",
            "documents": 2,
            "private": False,
            "origins": 1,
            "owner": "",
            "open": False,
            "readers": [],
        }
    ]
    assert main(["docs", "collection", "thesis"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("thesis: 2 documents\n")
    assert str(notes) in shown


def test_sync_says_what_changed(notes: Path, capsys: Capture):
    (notes / "b.md").unlink()
    (notes / "c.md").write_text("A new one.\n")
    assert main(["docs", "sync", "-c", "thesis"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "1 added, 0 updated, 1 removed: 2 documents"
    for name in ("thesis", "@thesis"):
        assert main(["docs", "sync", name]) == 0
        assert capsys.readouterr().err.splitlines()[-1] == "0 added, 0 updated, 0 removed: 2 documents"
    assert main(["docs", "sync", "thesis", "-c", "other"]) == 2
    assert "name the collection once" in capsys.readouterr().err


def test_show_a_document(notes: Path, capsys: Capture):
    capsys.readouterr()
    assert main(["docs", "show", "a.md", "--text"]) == 0
    assert capsys.readouterr().out == "# Harbor\n\nThe harbor was built in 1843.\n"
    assert main(["docs", "show", "a.md"]) == 0
    assert "Harbor" in capsys.readouterr().out
    assert main(["docs", "show", "a.md", "--json", "-c", "thesis"]) == 0
    assert "1843" in json.loads(capsys.readouterr().out)["text"]
    assert main(["docs", "show", "nosuch"]) == 2
    assert "no document named 'nosuch'" in capsys.readouterr().err


def test_rm_asks_or_wants_yes(notes: Path, capsys: Capture):
    assert main(["docs", "rm", "a.md", "-c", "thesis"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert main(["docs", "rm", "a.md", "-c", "thesis", "-y"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "1 document taken out of thesis"
    assert main(["docs", "rm"]) == 2
    assert main(["docs", "rm", "-c", "thesis", "-y"]) == 0
    capsys.readouterr()
    assert main(["docs", "collections", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_rm_takes_patterns_and_no_parts_of_names(notes: Path, capsys: Capture):
    assert main(["docs", "rm", "arbo", "-c", "thesis", "-y"]) == 2
    refused = capsys.readouterr().err
    assert "no document named 'arbo' in thesis" in refused
    assert "(Harbor); name each by its number or its whole name, or several by a pattern" in refused
    assert main(["docs", "rm", "?.md", "-c", "thesis"]) == 2
    assert "Take 2 documents out of thesis? There is no terminal to ask on: add --yes" in capsys.readouterr().err
    assert main(["docs", "rm", "?.md", "-c", "thesis", "--yes"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "2 documents taken out of thesis"


def test_rm_asks_for_the_collection_if_there_is_no_default_one(notes: Path, capsys: Capture):
    capsys.readouterr()
    assert main(["docs", "rm", "a.md", "-y"]) == 2
    assert "name the collection with -c: thesis" in capsys.readouterr().err
    assert main(["docs", "rm", "a.md", "-c", "theses", "-y"]) == 2
    assert "did you mean 'thesis'" in capsys.readouterr().err


def test_a_run_in_a_collection(notes: Path, capsys: Capture):
    assert main(["When was the harbor built?", "--in", "@thesis"]) == 0
    assert "1843" in capsys.readouterr().out
    assert main(["When was the harbor built?", "--in", "@theses"]) == 2
    assert "did you mean 'thesis'" in capsys.readouterr().err


def test_a_collection_is_private_before_it_has_documents(notes: Path, capsys: Capture):
    for name, named in (("thesis", "the collection thesis"), ("diary", "the new collection diary")):
        assert main(["docs", "collection", name, "--private"]) == 0
        assert f"{named} is private" in capsys.readouterr().err
    assert main(["docs", "collection", "dairy", "--public"]) == 2
    assert "did you mean 'diary'" in capsys.readouterr().err


def test_private_is_refused_before_anything_is_sent(notes: Path, capsys: Capture):
    assert main(["docs", "collection", "thesis", "--private"]) == 0
    asked = ["When was the harbor built?", "--in", "@thesis", "--model", "openai:gpt-5"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("OPENAI_API_KEY", "sk-planted")
        assert main(asked) == 2
    errors = capsys.readouterr().err
    assert "openai:gpt-5 is not on this machine" in errors
    assert "--allow-private" in errors
    assert main(asked[:3]) == 0


def test_crawl_wants_addresses(notes: Path, capsys: Capture):
    assert main(["docs", "add", str(notes), "--crawl"]) == 2
    assert "--crawl reads sites" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "incomplete", "offered"),
    [
        (["docs", "sync", "-c"], "th", ["thesis"]),
        (["docs", "collection"], "", ["thesis"]),
        (["docs", "sync"], "th", ["thesis"]),
        (["research", "--in"], "@t", ["@thesis"]),
        (["agent", "--in"], "@x", []),
        (["docs", "rm", "--collection"], "x", []),
    ],
)
def test_names_are_completed(words: list[str], incomplete: str, offered: list[str]):
    completing = ShellComplete(cli, {}, "assay", "_ASSAY_COMPLETE")
    assert [item.value for item in completing.get_completions(words, incomplete)] == offered


@pytest.mark.parametrize("name", ["add", "show", "sync", "rm", "collection"])
def test_help_has_an_example(name: str, capsys: Capture):
    assert main(["docs", name, "--help"]) == 0
    assert f"assay docs {name}" in capsys.readouterr().out.partition("\n")[2]


def test_every_command_of_the_group_can_be_loaded():
    group = cli.get_command(click.Context(cli), "docs")
    assert isinstance(group, click.Group)
    for name in group.list_commands(click.Context(group)):
        assert group.get_command(click.Context(group), name) is not None


def test_who_else_may_read_a_collection(notes: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch):
    for name in ("ana", "bob"):
        assert main(["users", "add", name, "--no-password"]) == 0
    assert main(["docs", "add", str(notes), "-c", "thesis"]) == 0
    capsys.readouterr()
    assert main(["docs", "collection", "thesis", "--readers", "ana, bob"]) == 0
    assert "ana, bob may read the collection thesis, and call it /thesis" in capsys.readouterr().err
    assert main(["docs", "collection", "thesis"]) == 0
    assert "read by ana, bob too" in capsys.readouterr().out
    assert main(["docs", "collection", "/thesis", "--user", "bob"]) == 0
    assert capsys.readouterr().out.startswith("/thesis: ")
    assert main(["docs", "collection", "/thesis", "--user", "bob", "--readers", "all"]) == 2
    assert "another user's" in capsys.readouterr().err
    assert main(["docs", "collection", "thesis", "--readers", "ana,nobody"]) == 2
    assert "no user named 'nobody'" in capsys.readouterr().err
    assert main(["docs", "collection", "thesis", "--readers", "ana,all"]) == 2
    assert "`all` or `none` alone" in capsys.readouterr().err
    assert main(["docs", "collection", "thesis", "--readers", "all"]) == 0
    assert "every user may read" in capsys.readouterr().err
    assert main(["docs", "collection", "thesis", "--readers", "none"]) == 0
    assert "nobody else may read" in capsys.readouterr().err
    capsys.readouterr()
    assert main(["docs", "collection", "/thesis", "--user", "bob"]) == 2


@pytest.mark.parametrize("words", [("add", "notes"), ("sync", "thesis"), ("search", "harbor"), ("embed",)])
def test_an_embedder_that_there_is_not_is_named_before_anything_is_done(
    words: tuple[str, ...], notes: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(notes.parent)
    assert main(["docs", *words, "--embedder", "nosuch"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "no embedder named 'nosuch'; use one of: " in err
