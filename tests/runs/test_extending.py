"""The package which docs/extending.md writes, installed: every example on that page works in commands."""

from __future__ import annotations

import asyncio
import io
import json
import re
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
import warm
from local_web import HARBOR, PAGE
from one_agent_script import one_agent
from shells import apart
from web import Site, response, site

from assay import plugins

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "extending.md"
FILE = re.compile(r"```python\n# (acme_assay/\w+\.py)\n(.*?)```", re.DOTALL)
PROJECT = re.compile(r"```toml\n(\[project\]\n.*?)```", re.DOTALL)
KEY = "acme-planted-0123456789"
LONGEST = 600.0
"""Seconds for a command: with all adapters loaded in processes of their own it takes a busy machine minutes."""
CARDS = "# Tides\nThe tide at Brest rises 7.5 metres.\n# Ships\nIn 2019 the port of Brest had 4,200 ships.\n"


def points() -> dict[str, dict[str, str]]:
    """The entry points which the page declares, by group."""
    (declared,) = PROJECT.findall(DOCS.read_text(encoding="utf-8"))
    found: dict[str, dict[str, str]] = tomllib.loads(declared)["project"]["entry-points"]
    return found


class Acme(NamedTuple):
    """A folder to work in, beside the package."""

    folder: Path
    packages: Path
    there: Site

    async def assay(self, *words: object, typed: str = "") -> str:
        """What a command prints; it ends well."""
        return (await self.both(*words, typed=typed))[0]

    async def both(self, *words: object, typed: str = "") -> tuple[str, str]:
        """What a command prints, and what it says beside that; it ends well."""
        done = await asyncio.to_thread(self._run, words, typed, warm.start)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout, done.stderr

    async def anew(self, *words: object) -> str:
        """What a command prints which Python starts from nothing."""
        done = await asyncio.to_thread(self._run, words, "", warm.start_new)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def _run(
        self, words: Sequence[object], typed: str, start: Callable[..., warm.Started]
    ) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryFile() as given:
            given.write(typed.encode())
            given.seek(0)
            return warm.run(*words, start=start, stdin=given, cwd=self.folder, packages=self.packages, timeout=LONGEST)


class Found(dict[str, object]):
    """Pages by path; the search is answered to whoever shows the key."""

    def __init__(self, there: Site) -> None:
        super().__init__({"/harbor": response(PAGE.format("The Harbor report", HARBOR), Content_Type="text/html")})
        self._there = there

    def get(self, path: str, default: object = None) -> object:
        if not path.startswith("/find?"):
            return super().get(path, default)
        if f"authorization: Bearer {KEY}" not in self._there.seen[-1]:
            return response("who are you?", 401)
        pages = [{"link": self._there.url("/harbor"), "name": "The Harbor report", "about": "<b>Tides</b>"}]
        return response(json.dumps({"pages": pages}), 200, Content_Type="application/json")


@pytest.fixture
async def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    apart(tmp_path, monkeypatch)
    package = tmp_path / "site" / "acme_assay"
    package.mkdir(parents=True)
    for name, source in FILE.findall(DOCS.read_text(encoding="utf-8")):
        (package.parent / name).write_text(source, encoding="utf-8")
    about = package.parent / "acme_assay-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-assay\nVersion: 1.0\n")
    lines = (f"[{group}]\n" + "".join(f"{a} = {b}\n" for a, b in named.items()) for group, named in points().items())
    (about / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.setenv("PYTHONPATH", str(package.parent))  # the processes of commands find it too
    folder = tmp_path / "work"
    folder.mkdir()
    async with site() as there:
        there.pages = Found(there)  # type: ignore[assignment]
        (tmp_path / "config.toml").write_text(
            'model = "acme"\n[embedder]\nmodel = "acme:trigrams"\n[agents]\ntools = ["search", "open", "acme_terms"]\n'
            f'[search]\nproviders = ["acme"]\n[search.services.acme]\nurl = "{there.url("").rstrip("/")}"\n'
            '[web]\nallow = ["127.0.0.1"]\nrobots = false\n'
        )
        yield Acme(folder, package.parent, there)


def test_every_group_has_an_example():
    assert {group.removeprefix("assay.") for group in points()} == set(plugins.GROUPS)
    files = {name for name, _ in FILE.findall(DOCS.read_text(encoding="utf-8"))}
    modules = {at.partition(":")[0] for named in points().values() for at in named.values()}
    assert files == {f"{each.replace('.', '/')}.py" for each in modules} | {"acme_assay/events.py"}


def test_a_strict_type_checker_finds_no_mistake(acme: Acme):
    checked = [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", acme.packages / "acme_assay"]
    done = subprocess.run(checked, cwd=ROOT, capture_output=True, text=True, check=False, timeout=LONGEST)
    assert done.returncode == 0, done.stdout


async def test_everything_can_be_loaded(acme: Acme):
    adapters = [each for each in json.loads(await acme.anew("doctor", "--json")) if each["name"] == "adapters"]
    assert [each["state"] for each in adapters] == ["ok"]


async def test_files_archives_and_places_are_read_and_answered_from(acme: Acme):
    (acme.folder / "tides.cards").write_text(CARDS)
    with tarfile.open(acme.folder / "old.tar", "w") as archive:
        member = tarfile.TarInfo("lighthouse.md")
        data = b"# Lighthouse\n\nThe lighthouse of Brest was built in 1770.\n"
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    with closing(sqlite3.connect(acme.folder / "notes.db")) as notes, notes:
        notes.execute("CREATE TABLE notes (title, text)")
        notes.execute("INSERT INTO notes VALUES ('Pilots', 'Seven pilots work in the port of Brest.')")
    await acme.assay("docs", "add", "tides.cards", "old.tar", f"notebook:{acme.folder}/notes.db")
    titles = {each["title"] for each in json.loads(await acme.assay("docs", "list", "--json"))}
    assert {"Tides", "Ships", "Lighthouse", "Pilots"} <= titles

    asked = "How high does the tide at Brest rise?"
    report = json.loads(await acme.assay(asked, "--strategy", "one_by_one", "--offline", "--json"))
    assert "7.5 metres" in report["markdown"]
    tasks = (acme.folder / "tasks.txt").read_text().split()
    assert {"triage", "plan", "research", "write"} <= set(tasks)
    await acme.assay("runs", "export", "last", "-o", "run.outline")
    assert "quoted: The tide at Brest rises 7.5 metres." in (acme.folder / "run.outline").read_text()


async def test_a_web_search_has_its_key_and_pages_come_by_the_fetcher(acme: Acme):
    await acme.assay("keys", "set", "acme", typed=f"{KEY}\n")
    report = await acme.assay("Who wrote the Harbor report?", "--web", "--json")
    assert "Ada Byron" in json.loads(report)["markdown"]
    assert acme.there.url("/harbor") in (acme.folder / "pages.txt").read_text().split()
    assert KEY not in report


SCRIPT = [
    {"task": "triage", "reply": {"calls": [{"name": "generate_plan", "arguments": {"complexity": "simple"}}]}},
    {
        "task": "background",
        "contains": "in the words of seafaring",  # only the package's prompt says so
        "reply": {"calls": [{"name": "search", "arguments": {"query": "Aurora"}}]},
    },
    {"task": "plan", "reply": {"text": json.dumps({"title": "Vessels", "steps": [{"title": "The vessel"}]})}},
    {"task": "write", "reply": {"text": "To Brest sails the tanker Aurora. [S1001.1]"}},
    *one_agent("ferry Aurora Brest", "The ferry Aurora sails to Brest. [S1001.1]"),
]


async def test_a_prompt_is_replaced_and_a_check_objects_under_its_name_until_it_is_switched_off(acme: Acme):
    (acme.folder / "script.json").write_text(json.dumps(SCRIPT))
    (acme.folder / "aurora.md").write_text("# Ships\n\nThe ferry Aurora sails to Brest.\n")
    found = ("--in", "aurora.md", "--model", "scripted:script.json", "--offline", "--json", "--no-repair")
    asked = ("Which ship sails to Brest?", *found)
    report = json.loads(await acme.assay(*asked))
    reasons = [claim["reason"] for claim in report["claims"]]
    assert reasons == ["acme_vessels: tanker is not in the cited passage"]
    await acme.assay("config", "set", "checks_off", "acme_vessels")
    report = json.loads(await acme.assay(*asked))
    assert not any("acme_vessels" in claim["reason"] for claim in report["claims"])


VESSELS = "acme_vessels: tanker is not in the cited passage"
BROKEN = (
    "warning: the check 'broken_tides' of the package broken failed on 1 claim, which it left unchecked: KeyError: 0"
)


async def test_a_check_is_asked_wherever_claims_are_checked_and_its_fault_is_told(acme: Acme):
    folder = acme.folder
    (folder / "aurora.md").write_text("# Ships\n\nThe ferry Aurora sails to Brest.\n")
    (folder / "text.md").write_text("The tanker Aurora sails to Brest ([ships](aurora.md)).\n")
    (folder / "script.json").write_text(json.dumps(SCRIPT))
    asked = ("Which ship sails to Brest?", "--in", "aurora.md", "--model", "scripted:script.json", "--offline")
    await acme.assay(*asked, "--no-repair", "-q", "-o", "report.json")
    ways = (
        ("verify", "text.md", "--in", "aurora.md"),
        ("check", "The tanker Aurora sails to Brest.", "--in", "aurora.md"),
    )
    again = ("verify", "last", "--again", "--json")
    found, warned = await acme.both(*ways[0])
    assert VESSELS in found
    assert "warning" not in warned

    install_broken(folder.parent / "site")
    for words in (*ways, again):
        found, warned = await acme.both(*words)
        assert "acme_vessels" in found, words
        assert BROKEN in warned.splitlines(), words

    await acme.assay("config", "set", "checks_off", "acme_vessels,broken_tides")
    for words in ways:
        found, warned = await acme.both(*words)
        assert "acme_vessels" not in found + warned, words
        assert "broken" not in warned, words
    assert "acme_vessels" in (await acme.both(*again))[0]  # the run asked it


def install_broken(site: Path) -> None:
    """A package whose check fails."""
    (site / "broken.py").write_text("def find(claim, texts):\n    raise KeyError(0)\n")
    about = site / "broken-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[assay.checks]\nbroken_tides = broken:find\n")


async def test_an_event_of_another_package_is_read_by_who_imports_it(acme: Acme):
    read = (
        "import msgspec; from acme_assay.events import Translated; from assay.core.events import KINDS;"
        "assert KINDS['acme.translated'] is Translated"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", read)
    assert await asyncio.wait_for(process.wait(), LONGEST) == 0
