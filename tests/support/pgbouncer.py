"""A real pgbouncer on loopback, in transaction mode, before a server of tests."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import postgres
import psycopg
from ports import free_port
from sqlalchemy import make_url

MISSING = "no pgbouncer: install one (apt-get install pgbouncer)"
THROUGH = "TEST_PGBOUNCER"
"""Where this is set, every test with a PostgreSQL database reaches it through a pooler."""
SECONDS = 60.0
_SETTINGS = {"pool_mode": "transaction", "default_pool_size": "20", "max_client_conn": "1000"}


def program() -> str:
    """Where it is; empty where it is not installed (Debian keeps it out of users' paths)."""
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin") or ""


@dataclass
class Pgbouncer:
    """A pooler of ours."""

    folder: Path
    server: str
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The database through the pooler, with where the server itself is."""
        read = make_url(self.server)
        pooled = read.set(host="127.0.0.1", port=self.port).update_query_dict({"direct": f"{read.host}:{read.port}"})
        return pooled.render_as_string(hide_password=False)

    @property
    def undirected(self) -> str:
        """The same for who does not know that it is a pooler's."""
        return make_url(self.url).difference_update_query(["direct"]).render_as_string(hide_password=False)

    def start(self) -> None:
        log = (self.folder / "log").open("ab")
        line = [program(), str(self.folder / "pgbouncer.ini")]
        self.process = subprocess.Popen(line, stdout=log, stderr=log, start_new_session=True, **postgres._user())
        log.close()
        end = time.monotonic() + SECONDS
        while not self._answers():
            assert self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
            assert time.monotonic() < end, (self.folder / "log").read_text()[-2000:]
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it: SIGTERM at once, whatever is under way."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(SECONDS)
            self.process = None

    def _answers(self) -> bool:
        plain = make_url(self.undirected).set(drivername="postgresql").render_as_string(hide_password=False)
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(plain, connect_timeout=2):
            return True
        return False


@contextlib.contextmanager
def running(
    server: str, *, mode: str = "transaction", size: int = 20, settings: Mapping[str, str] = {}
) -> Iterator[Pgbouncer]:
    """A pooler before the server at a URL, until it is left; `settings` are those of a file, with ours over them."""
    folder = Path(tempfile.mkdtemp(prefix="assay-pgbouncer-"))
    folder.chmod(0o755)
    port = free_port()
    read = make_url(server)
    login = f"user={read.username or 'postgres'}" + (f" password={read.password}" if read.password else "")
    ours = {"listen_addr": "127.0.0.1", "listen_port": str(port), "unix_socket_dir": "", "auth_type": "any"}
    chosen = {**_SETTINGS, "pool_mode": mode, "default_pool_size": str(size)} if not settings else dict(settings)
    chosen.pop("auth_file", "")
    lines = ["[databases]", f"* = host={read.host} port={read.port or 5432} {login}", "[pgbouncer]"]
    lines += [f"{name} = {value}" for name, value in (chosen | ours).items()]
    (folder / "pgbouncer.ini").write_text("\n".join([*lines, ""]))
    made = Pgbouncer(folder, server, port)
    try:
        made.start()
        yield made
    finally:
        made.stop(signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
