"""Commands which write, killed: a home as it was before each, what it is afterwards, and one `kill -9` in between."""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import chdir, closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import warm
from alembic import command
from shells import apart
from sqlalchemy import create_engine

from assay.cli.main import main
from assay.store import migrations
from assay.store.sql.tables import version

SECONDS = 300.0
FILES = 24
OLDER = "0009"
"""The schema of a release before."""
QUESTION = "How high does the tide rise at port 3?"
STATE = {
    "documents": "SELECT sha256, snapshot_sha256, url, title FROM documents",
    "snapshots": "SELECT sha256, url, size FROM snapshots",
    "members": (
        "SELECT collections.name, documents.sha256 FROM members"
        " JOIN collections ON number = collection JOIN documents ON row = document"
    ),
    "origins": "SELECT name, place, kind, documents FROM origins JOIN collections ON number = collection",
    "runs": "SELECT question, status FROM runs",
    "schema": "SELECT version_num FROM assay_schema",
}


@dataclass(frozen=True)
class KilledCommand:
    """What is there before it, the command, and what of it counts afterwards beside the database."""

    before: Callable[[Place], None]
    words: tuple[str, ...]
    more: Callable[[Place], Any] = lambda place: None
    again: Callable[[Place], tuple[str, ...] | None] = lambda place: ()
    """What is said besides when it is repeated; None: it was done, and is not to be repeated."""


@dataclass(frozen=True)
class Place:
    """A folder with a home, documents and settings of its own."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
        return {**kept, "ASSAY_HOME": str(self.home), "ASSAY_CONFIG": str(self.folder / "config.toml")}

    def started(self, *words: str) -> Any:
        # a file of its own: what is written there is shown where something is wrong
        with (self.folder / "output").open("ab") as file:
            return warm.start(*words, stdout=file, stderr=file, env=self.environment(), cwd=self.folder)

    def ran(self, *words: str) -> int:
        return int(self.started(*words).wait(SECONDS))

    def told(self, *words: str) -> tuple[int, str]:
        """How a command in this process ends, and what it says."""
        with (
            pytest.MonkeyPatch.context() as environment,
            chdir(self.folder),
            redirect_stdout(io.StringIO()) as said,
            redirect_stderr(said),
        ):
            apart(self.folder, environment)
            return main([*words]), said.getvalue()

    def must(self, *words: str) -> None:
        code, said = self.told(*words)
        assert code == 0, f"{words}: {said}"

    def output(self) -> str:
        return (self.folder / "output").read_text(errors="replace")[-2_000:]

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        os.utime(path, (1_700_000_000, 1_700_000_000 + len(text)))

    def state(self) -> dict[str, Any]:
        """What the database says, without numbers and times; nothing where there is none."""
        path = self.home / "assay.db"
        if not path.exists():
            return {}
        with closing(sqlite3.connect(path)) as connection:
            return {name: sorted(map(repr, connection.execute(query))) for name, query in STATE.items()}

    def problems(self) -> str:
        """What `assay db check` objects to; nothing where there is no database yet."""
        if not (self.home / "assay.db").exists():
            return ""
        allowed = ("it is older; `assay db migrate`", "it is missing")  # not migrated yet; not begun yet
        code, said = self.told("db", "check")
        return "" if code == 0 or any(each in said.strip().splitlines()[-1] for each in allowed) else said


def kept(make: Callable[[Place], None]) -> Callable[[Place], None]:
    """A scene which is made once in a folder, and copied from then on: documents are known by their paths."""

    def scene(place: Place) -> None:
        store = place.folder.with_name(f"{place.folder.name}-{make.__name__}")
        if store.exists():
            shutil.copytree(store, place.folder, dirs_exist_ok=True)
            return
        make(place)
        shutil.copytree(place.folder, store)

    return scene


def documents(place: Place, first: int = 0, last: int = FILES) -> None:
    for at in range(first, last):
        text = f"# Port {at}\n\nThe tide rises {at}.5 metres at port {at}.\n\n" + f"Ship {at} left port {at}.\n\n" * 40
        place.write(f"docs/port-{at}.md", text)


@kept
def added(place: Place) -> None:
    documents(place)
    place.must("docs", "add", "docs", "-c", "ports")


def changed(place: Place) -> None:
    added(place)
    documents(place, FILES, FILES + 8)
    for at in range(4):
        (place.folder / f"docs/port-{at}.md").unlink()
        place.write(f"docs/port-{at + 4}.md", f"# Port {at + 4}\n\nIt is closed since {1990 + at}.\n")


@kept
def researched(place: Place) -> None:
    added(place)
    for at in range(3):
        place.must(f"How high does the tide rise at port {at}?", "--in", "docs", "-q", "--offline")


@kept
def owing(place: Place) -> None:
    researched(place)
    scheduled(place)


def backed_up(place: Place) -> None:
    owing(place)
    place.must("db", "backup", "copy.zip")
    shutil.rmtree(place.home)


def older(place: Place) -> None:
    """The same home, as a release before wrote it."""
    researched(place)
    path, draft = place.home / "assay.db", place.home / "older.db"
    engine = create_engine(f"sqlite:///{draft}")
    with engine.begin() as connection:
        version.create(connection)
        config = migrations.config()
        config.attributes["connection"] = connection
        command.upgrade(config, OLDER)
    engine.dispose()
    with closing(sqlite3.connect(draft)) as old:
        old.execute("ATTACH ? AS now", (str(path),))
        tables = [row[0] for row in old.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")]
        for table in tables:
            names = [{row[1] for row in old.execute(f"PRAGMA {of}.table_info({table})")} for of in ("main", "now")]
            shared = ", ".join(f'"{name}"' for name in sorted(names[0] & names[1]))
            if shared and table not in ("assay_schema", "sqlite_sequence"):
                old.execute(f"INSERT INTO main.{table} ({shared}) SELECT {shared} FROM now.{table}")
        old.commit()
    path.unlink()
    draft.rename(path)


def asked(place: Place) -> None:
    documents(place)
    lines = [json.dumps({"id": f"q{at}", "question": f"How high is the tide at port {at}?"}) for at in range(4)]
    place.write("questions.jsonl", "\n".join(lines) + "\n")


def scheduled(place: Place) -> None:
    for at in range(2):
        place.must(
            "schedule", "add", f"How high is the tide at port {at}?", "--every", "7d", "--in", "docs", "--offline"
        )


def due(place: Place) -> None:
    documents(place)
    scheduled(place)


def unowned(place: Place) -> None:
    """What was made without a login, and a user who may have it."""
    owing(place)
    place.must("users", "add", "ana", "--no-password", "--role", "admin")


def answers(place: Place) -> Any:
    """The rows of a batch, by their ids; each once."""
    path = place.folder / "out" / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    assert len({row["id"] for row in rows}) == len(rows)
    return sorted((row["id"], row["status"], row["verified"]) for row in rows)


def schedules(place: Place) -> Any:
    """The questions of schedules; a file which cannot be read is an error."""
    path = place.home / "schedules.json"
    return sorted(each["question"] for each in _listed(json.loads(path.read_text()))) if path.exists() else []


def _listed(read: Any) -> list[Any]:
    return (
        read if isinstance(read, list) else list(read.get("schedules", read).values() if isinstance(read, dict) else [])
    )


def owners(place: Place) -> Any:
    """Whose everything is, and whose the schedules are."""
    with closing(sqlite3.connect(place.home / "assay.db")) as connection:
        tables = ("runs", "collections", "documents", "snapshots", "threads", "files")
        found = {
            table: connection.execute(f"SELECT owner, count(*) FROM {table} GROUP BY 1").fetchall() for table in tables
        }
    listed = _listed(json.loads((place.home / "schedules.json").read_text()))
    return found, sorted(each.get("owner", "") for each in listed)


def copies(place: Place) -> Any:
    """That a copy is whole: what another home has after it is restored."""
    other = Place(place.folder / "other")
    shutil.rmtree(other.folder, ignore_errors=True)
    other.folder.mkdir()
    other.must("db", "restore", str(place.folder / "copy.zip"))
    assert other.problems() == ""
    return other.state()


def migration_copies(place: Place) -> Any:
    """How many copies a migration left, at least one: each is whole, and of the schema before."""
    for path in place.home.glob("assay.db.schema-*"):
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert connection.execute("SELECT version_num FROM assay_schema").fetchone() == (OLDER,)
            assert connection.execute("SELECT count(*) FROM runs").fetchone() == (3,)
    return any(place.home.glob("assay.db.schema-*"))


def _copied_already(place: Place) -> tuple[str, ...] | None:
    return None if (place.folder / "copy.zip").exists() else ()


def _restored_already(place: Place) -> tuple[str, ...] | None:
    return None if (place.home / "assay.db").exists() else ()


def _removed_already(place: Place) -> tuple[str, ...] | None:
    return () if place.state()["members"] else None


def _scheduled_already(place: Place) -> tuple[str, ...] | None:
    return None if schedules(place) else ()


COMMANDS: Mapping[str, KilledCommand] = {
    "docs add": KilledCommand(documents, ("docs", "add", "docs", "-c", "ports")),
    "docs sync": KilledCommand(changed, ("docs", "sync", "ports")),
    "docs rm": KilledCommand(added, ("docs", "rm", "docs", "-c", "ports", "--yes"), again=_removed_already),
    "runs rm": KilledCommand(researched, ("runs", "prune", "--keep", "1")),
    "runs prune": KilledCommand(researched, ("runs", "prune", "--keep", "0")),
    "db backup": KilledCommand(researched, ("db", "backup", "copy.zip"), copies, _copied_already),
    "db restore": KilledCommand(backed_up, ("db", "restore", "copy.zip"), schedules, _restored_already),
    "db migrate": KilledCommand(older, ("db", "migrate"), migration_copies),
    "batch": KilledCommand(asked, ("batch", "questions.jsonl", "-o", "out", "--in", "docs", "--offline"), answers),
    "schedule add": KilledCommand(
        documents,
        ("schedule", "add", QUESTION, "--every", "7d", "--in", "docs", "--offline"),
        schedules,
        _scheduled_already,
    ),
    "users adopt": KilledCommand(unowned, ("users", "adopt", "ana", "--yes"), owners),
    "schedule run-due": KilledCommand(due, ("schedule", "run-due"), schedules),
}


@dataclass
class Rehearsal:
    """A command's beginning, kept to be copied; what it comes to when nobody kills it, and in how many seconds."""

    name: str
    folder: Path
    ended: Any = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        about = COMMANDS[self.name]
        for left in (self.folder, self._kept):
            shutil.rmtree(left, ignore_errors=True)
        self.folder.mkdir()
        about.before(Place(self.folder))
        self.folder.rename(self._kept)
        place = self._begun()
        began = time.monotonic()
        assert place.ran(*about.words) == 0, place.output()
        self.seconds = time.monotonic() - began
        assert place.problems() == ""
        self.ended = (place.state(), about.more(place))

    def killed(self, share: float) -> str:
        """Kill it after a share of its time, and repeat it to its end; what is wrong then."""
        about, place = COMMANDS[self.name], self._begun()
        process = place.started(*about.words)
        time.sleep(share * self.seconds)
        process.kill()
        process.wait(SECONDS)
        if wrong := place.problems():
            return f"after the kill: {wrong}"
        more = about.again(place)
        if more is not None and place.ran(*about.words, *more) != 0:
            return f"it cannot be repeated: {place.output()}"
        if wrong := place.problems():
            return f"after it was repeated: {wrong}"
        ended = (place.state(), about.more(place))
        return "" if ended == self.ended else f"it came to another end: {ended} and not {self.ended}"

    @property
    def _kept(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}-kept")

    def _begun(self) -> Place:
        """The beginning, once more, and where it was: documents are known by their paths."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self._kept, self.folder)
        return Place(self.folder)
