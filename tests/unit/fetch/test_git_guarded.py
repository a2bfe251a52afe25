"""Repositories that users of a server name: git connects only to checked addresses, as the fetcher of pages does."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from assay import Assay
from assay.core.errors import ConfigError, FetchFailed, UsageError
from assay.core.ports import GuardedConnector
from assay.fetch.git import GitConnector
from assay.fetch.web.addresses import parse_policy
from assay.run.process import SystemClock
from assay.services.jobs.specifications import AddJob
from assay.services.places import connector_of
from assay.settings import load

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the program git is not installed")


class GitServer:
    """Serves one repository over HTTP; `hits` are the paths asked for. `leads_to` redirects every request."""

    def __init__(self, root: Path) -> None:
        self.hits: list[str] = []
        self.leads_to = ""
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                served.hits.append(self.path)
                if served.leads_to:
                    self.send_response(302)
                    self.send_header("Location", served.leads_to + self.path)
                    self.end_headers()
                    return
                self._backend(b"")

            def do_POST(self) -> None:
                served.hits.append(self.path)
                self._backend(self.rfile.read(int(self.headers.get("Content-Length", 0))))

            def _backend(self, body: bytes) -> None:
                path, _, query = self.path.partition("?")
                environment = {
                    **os.environ,
                    "GIT_PROJECT_ROOT": str(root),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "CONTENT_LENGTH": str(len(body)),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                }
                done = subprocess.run(
                    ["git", "http-backend"], input=body, env=environment, capture_output=True, check=True
                )
                head, _, rest = done.stdout.partition(b"\r\n\r\n")
                fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
                self.send_response(int(fields.pop("Status", "200").split()[0]))
                for name, value in fields.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(rest)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def place(self, host: str = "127.0.0.1") -> str:
        return f"git+http://{host}:{self.port}/project"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "served" / "project"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("# Harbor\n\nThe harbor was built in 1843.\n")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "x")):
        told = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words]
        subprocess.run(told, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def served(project: Path) -> Iterator[GitServer]:
    made = GitServer(project.parent)
    yield made
    made.close()


def names(connector: GitConnector, place: str, folder: Path) -> list[str]:
    folder.mkdir()
    return [page.url.rpartition("/")[2] for page in connector.fetch(place, folder, SystemClock(), 1_000_000)]


async def test_a_user_of_a_server_cannot_reach_its_own_network(served: GitServer) -> None:
    async with Assay() as assay:
        ana = assay.owned_by("ana")
        for host in ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]"):
            with pytest.raises(UsageError, match=r"blocked: .* is a loopback address; web\.allow"):
                await ana.add(served.place(host), "project")
        with pytest.raises(UsageError, match="metadata service"):
            await ana.add("git+http://169.254.169.254/latest/meta-data", "project")
        with pytest.raises(UsageError, match="private address"):
            await ana.add("git+https://10.1.2.3/o/p@v1", "project")
        assert served.hits == []
        assert (await assay.add(served.place(), "mine")).documents == 1  # a person's own command line is free


async def test_the_settings_name_hosts_that_are_allowed(served: GitServer) -> None:
    async with Assay(load(web={"allow": [f"127.0.0.1:{served.port}"]})) as assay:
        assert (await assay.owned_by("ana").add(served.place(), "project")).documents == 1
        with pytest.raises(UsageError, match="metadata service"):
            await assay.owned_by("ana").add("git+http://169.254.169.254/x", "project")


async def test_a_user_of_a_server_names_no_repository_on_its_disk(project: Path, tmp_path: Path) -> None:
    async with Assay(home=tmp_path / "home") as assay:
        ana = assay.owned_by("ana")
        with pytest.raises(UsageError, match="may not be read by users of a server"):
            await ana.add(f"git+file://{project}", "project")
        with pytest.raises(UsageError, match="may not be read by users of a server"):
            await ana.begin_job(AddJob(paths=(f"git+file://{project}",), collection="project"))
    guarded = connector_of("git+file:///x", ())
    assert isinstance(guarded, GitConnector)
    with pytest.raises(FetchFailed, match=r"blocked: .*not http or https"):
        guarded.list(f"git+file://{project}", tmp_path, SystemClock(), 1_000)


def test_git_connects_to_the_address_that_was_checked(served: GitServer, tmp_path: Path) -> None:
    """The name resolves nowhere but in the resolver that was asked before: git itself looks nothing up."""
    allow = parse_policy([f"repo.invalid:{served.port}"])
    asked: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    place = served.place("repo.invalid")
    assert names(GitConnector(allow, resolve), place, tmp_path / "a") == ["a.md"]
    assert names(GitConnector(allow, resolve), place.replace("repo.invalid", "REPO.invalid."), tmp_path / "b") == [
        "a.md"
    ]
    assert asked == ["repo.invalid"] * 2
    with pytest.raises(FetchFailed, match=r"blocked: inside\.example is a private address"):
        names(
            GitConnector(parse_policy([]), lambda *_: ["8.8.8.8", "10.0.0.7"]),
            "git+https://inside.example/p",
            tmp_path / "c",
        )

    def nowhere(host: str, port: int) -> list[str]:
        raise socket.gaierror

    with pytest.raises(FetchFailed, match=r"unreachable: the host no\.example could not be found"):
        names(GitConnector(parse_policy([]), nowhere), "git+https://no.example/p", tmp_path / "d")


def test_a_redirect_is_not_followed(served: GitServer, project: Path, tmp_path: Path) -> None:
    other = GitServer(project.parent)
    try:
        served.leads_to = f"http://127.0.0.1:{other.port}"
        with pytest.raises(FetchFailed, match="git fetch"):
            names(GitConnector(parse_policy([f"127.0.0.1:{served.port}"])), served.place(), tmp_path / "a")
        assert (len(served.hits), other.hits) == (1, [])
    finally:
        other.close()


def test_an_older_git_that_looks_names_up_itself_is_not_used(
    served: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.fetch.git.MIN_PINNING_VERSION", (99, 0))
    with pytest.raises(FetchFailed, match="missing: git"):
        names(
            GitConnector(parse_policy(["repo.invalid"]), lambda *_: ["127.0.0.1"]),
            served.place("repo.invalid"),
            tmp_path / "a",
        )
    assert served.hits == []


def test_the_connector_says_that_it_can_be_guarded() -> None:
    assert isinstance(GitConnector(), GuardedConnector)
    with pytest.raises(ConfigError, match=r"web\.allow"):
        GitConnector().guarded(["10.0.0.0/99"])
