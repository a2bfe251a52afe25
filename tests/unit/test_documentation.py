"""The documentation is a site whose links lead somewhere, and the tutorial prints what Assay prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import warm
from shells import apart

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "tutorial.md"
LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>")
BUILD = "import gc; gc.disable(); from mkdocs.__main__ import cli; cli()"
"""Looking for garbage, of which there is none before the end, would take a third of the time."""
CHANGING = re.compile(r"\b[0-9a-z]{10}\b|k3v9|\d{4}-\d\d-\d\d|/[\w./-]*/notes/")
"""Ids of runs, days and folders: another each time."""


def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-c", BUILD, "build", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr  # strict: a broken link or anchor fails
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 40
    foreign = {
        tag
        for page in pages
        for tag in LOADED.findall(page.read_text(encoding="utf-8"))
        if 'rel="canonical"' not in tag
    }
    assert foreign == set()
    api = (tmp_path / "reference" / "python-api.html").read_text(encoding="utf-8")
    assert "UnknownName" in api
    assert "RunHandle" in api


def shown(text: str) -> list[str]:
    return [CHANGING.sub("*", line).strip() for line in text.splitlines() if line.strip()]


def commands_in(block: str) -> list[tuple[str, list[str]]]:
    """The commands of a block, with the lines printed below each."""
    commands: list[tuple[str, list[str]]] = []
    inside = False
    for line in block.splitlines():
        if inside:
            commands[-1] = (f"{commands[-1][0]}\n{line}", [])
            inside = line != "EOF"
        elif line.startswith("$ "):
            commands.append((line[2:], []))
            inside = "<<'EOF'" in line
        else:
            commands[-1][1].append(line)
    return commands


def test_the_tutorial_prints_what_assay_prints(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("tutorial")  # a name without signs which Markdown escapes
    apart(folder, monkeypatch)
    monkeypatch.chdir(folder)
    blocks = re.findall(r"```console\n(.*?)```", TUTORIAL.read_text(encoding="utf-8"), re.DOTALL)
    asked = 0
    for command, lines in (each for block in blocks for each in commands_in(block)):
        if not command.startswith("assay "):
            subprocess.run(["sh", "-c", command], check=True, timeout=300)
            continue
        asked += 1
        words = re.findall(r'"[^"]*"|\S+', command.replace("k3v9", first_run(folder)))[1:]
        done = warm.run(*(word.strip('"') for word in words), env=None)
        printed = shown(done.stdout + "\n" + done.stderr)
        missing = [line for line in shown("\n".join(lines)) if line != "…" and line not in printed]
        assert missing == [], (command, printed)
    assert asked == 6


def first_run(folder: Path) -> str:
    """The run which was asked first, which the tutorial hands on; nothing before there is one."""
    if not (folder / "home").exists():
        return ""
    return warm.run("runs", "list").stdout.splitlines()[-1].split()[0]
