"""Odd values of arguments and options: refused before anything is done, with what may be written instead."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path

import pytest
from shells import Command, apart, spoken

from assay.core.errors import StoreError
from assay.services.home_paths import write_atomically
from assay.services.results import replace_file

QUESTION = "When was the harbor built?"
NOT_UTF8 = os.fsdecode(b"x\xffy")


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    apart(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "note.md").write_text("# Note\n\nThe harbor was built in 1843.\n")
    (tmp_path / "questions.txt").write_text(f"{QUESTION}\n")
    return spoken(capsys)


@pytest.mark.parametrize("option", [("--strategy", "zz"), ("--model", "zz:big"), ("--length", "zz")])
@pytest.mark.parametrize(
    "command", [("schedule", "add", QUESTION, "--every", "1d"), ("batch", "questions.txt", "-o", "out")]
)
def test_options_of_later_runs_are_checked_now(
    run: Command, tmp_path: Path, command: tuple[str, ...], option: tuple[str, str]
) -> None:
    done = run(*command, *option)
    assert (done.returncode, "zz" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()
    assert "no schedules yet" in run("schedule", "list").stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("users", "rm", NOT_UTF8, "--yes"), "an argument is not text in UTF-8: correct its encoding"),
        (("users", "audit", "--user", NOT_UTF8), "an argument is not text in UTF-8"),
        (("db", "restore", "x" * 300), "a name in a path has more than 255 bytes: shorten it"),
        (("db", "backup", "ü" * 128), "more than 255 bytes"),
        (("batch", "questions.txt", "-o", "out", "--max-tokens", "9" * 20), "is not a count like 200000"),
        (("batch", "questions.txt", "-o", "out", "--max-tokens", "9" * 400), "is not a count like 200000"),
    ],
)
def test_what_cannot_be_is_refused(run: Command, words: tuple[str, ...], message: str) -> None:
    done = run(*words)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--url", "zz"), "--url 'zz' is no address: write one such as https://"),
        (("--url", "http://a\nb"), "is no address"),
        (("--revoke", ""), "no link named ''"),
    ],
)
def test_no_link_is_made_by_mistake(run: Command, words: tuple[str, ...], message: str) -> None:
    assert run(QUESTION, "--in", "note.md", "-q").returncode == 0
    done = run("runs", "share", "last", *words)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    assert "/s/" not in done.stdout
    assert run("runs", "share", "last", "--list").stdout == ""


def test_an_empty_id_neither_makes_nor_revokes_a_token(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a-long-password\n"))
    assert run("users", "add", "ana").returncode == 0
    assert run("users", "token", "ana", "--name", "nightly").returncode == 0
    before = run("users", "list").stdout
    done = run("users", "token", "ana", "--revoke", "")
    assert (done.returncode, "no token named ''" in done.stderr) == (2, True), done.stderr
    assert run("users", "list").stdout == before
    assert "nightly" in before


def test_an_empty_model_is_not_no_model(run: Command) -> None:
    done = run("check", "The harbor was built in 1843.", "--in", "note.md", "--model", "")
    assert (done.returncode, "no model provider named ''" in done.stderr, done.stdout) == (2, True, "")


def test_an_empty_list_says_so(run: Command) -> None:
    assert "there are no users yet: assay users add NAME" in run("users", "list").stderr
    assert "no entry matches" in run("users", "audit", "--user", "nobody").stderr
    assert "there are no entries yet" in run("users", "audit").stderr


# A pipe stands for what a file must not take the place of, such as /dev/null.


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe.md")
    return tmp_path / "pipe.md"


@pytest.mark.parametrize("words", [("set", "depth", "light"), ("unset", "depth")])
def test_settings_replace_no_pipe(
    run: Command, pipe: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("ASSAY_CONFIG", str(pipe))
    done = run("config", *words)
    assert (done.returncode, "is no file that settings can be written to" in done.stderr) == (2, True), done.stderr
    assert pipe.is_fifo()


def test_a_saved_report_replaces_no_pipe(pipe: Path) -> None:
    with pytest.raises(StoreError, match="is no file: name another place"):
        replace_file(pipe, b"report")
    assert pipe.is_fifo()


def test_text_is_written_into_a_pipe(pipe: Path) -> None:
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, b"verdicts")
    reader.join()
    assert received == [b"verdicts"]
    assert pipe.is_fifo()
