"""Completion as a shell sees it: the printed script in a real shell, and what is offered at each place."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from assay.cli.main import cli, main

BASH = """
eval "$(assay completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_assay_completion assay
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(*words: str) -> list[str]:
    """What is offered for the last of these words."""
    completions = ShellComplete(cli, {}, "assay", "_ASSAY_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return [item.value if item.type == "plain" else item.type for item in completions]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("ver",), ["verify"]),
        (("runs", "res"), ["resume"]),
        (("--dep",), ["--depth"]),
        (("What is it?", "--dep"), ["--depth"]),
        (("research", "--depth", "l"), ["light"]),
        (("config", "get", "limits.ti"), ["limits.time"]),
        (("--in", ""), ["file"]),
        (("What is it?", "--in", "docs/", "n"), ["file"]),
        (("What is it?", "-o", ""), ["file"]),
        (("docs", "add", ""), ["file"]),
        (("verify", ""), ["file"]),
        (("--strategy", "orch"), ["orchestrated"]),
        (("completion", ""), ["bash", "zsh", "fish"]),
        (("runs", "show", ""), []),
    ],
)
def test_what_is_offered(words: tuple[str, ...], wanted: list[str]) -> None:
    assert offered(*words) == wanted


def test_a_slip_before_it_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("rnus", "--"), ("runs", "shwo", ""), ("--in",), ("docs", "frobnicate", "x", "")):
        offered(*words)
    assert capsys.readouterr().err == ""


def test_runs_are_offered_by_id(tmp_path: Path, home: Path) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nThe harbor was built in 1843.\n")
    assert main(["When was the harbor built?", "--in", str(tmp_path / "note.md"), "-q"]) == 0
    (run_id,) = [value for value in offered("runs", "show", "") if value != "last"]
    assert offered("cite", run_id[:3]) == [run_id]
    assert offered("runs", "rm", "la") == ["last"]
    assert offered("runs", "show", "--home", str(tmp_path / "other"), "") == []
    assert not (tmp_path / "other").exists()


def test_a_broken_home_offers_nothing(home: Path) -> None:
    home.mkdir()
    (home / "assay.db").write_text("This is no database. " * 100)
    assert offered("runs", "show", "") == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "wanted"), [(["assay", "doc"], {"docs", "doctor"}), (["assay", "--dep"], {"--depth"})]
)
def test_bash_completes(words: list[str], wanted: set[str]) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", BASH, "bash", *words],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert set(done.stdout.split()) == wanted, done.stderr


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_takes_the_script() -> None:
    script = subprocess.run([sys.executable, "-m", "assay", "completion", "zsh"], capture_output=True, timeout=300)
    done = subprocess.run(["zsh", "-n"], input=script.stdout, capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"_ASSAY_COMPLETE" in script.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "_ASSAY_COMPLETE" in capsys.readouterr().out


def test_another_shell_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert "'bash', 'zsh', 'fish'" in capsys.readouterr().err
