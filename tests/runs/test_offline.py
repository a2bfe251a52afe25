"""Research in documents at hand needs no network: a real process which cannot reach beyond loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WALL = Path(__file__).parent / "offline"
QUESTION = "Who wrote the Harbor report?"
DOCUMENTS = {
    "harbor.md": "# Harbor report\n\nAuthor: Ada Byron\n\nThe Harbor report was written by Ada Byron in 1843.\n",
    "bridge.html": "<html><body><h1>Bridge</h1><p>The bridge at Sandmouth was opened in 1851.</p></body></html>",
    "rows.jsonl": '{"title": "Tolls", "text": "The toll of the bridge was two pence in 1852."}\n',
}


class Walled:
    """Starts Python behind the wall."""

    def __init__(self, folder: Path) -> None:
        self._denied = folder / "denied"
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("ASSAY_") or name == "ASSAY_SEARCH_WEB"
        }
        inherited = [path for path in (os.environ.get("PYTHONPATH"),) if path]
        self._environment = kept | {
            "PYTHONPATH": os.pathsep.join([str(WALL), *inherited]),
            "DENIED": str(self._denied),
            "ASSAY_CONFIG": str(folder / "config.toml"),
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        return subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=240)

    @property
    def denied(self) -> list[str]:
        return self._denied.read_text().splitlines() if self._denied.exists() else []


@pytest.fixture
def walled(tmp_path: Path) -> Walled:
    return Walled(tmp_path)


def test_research_in_a_folder(walled: Walled, tmp_path: Path) -> None:
    sources = tmp_path / "documents"
    sources.mkdir()
    for name, text in DOCUMENTS.items():
        (sources / name).write_text(text)
    done = walled.run("-m", "assay", QUESTION, "--in", str(sources), "--home", str(tmp_path / "home"))
    assert done.returncode == 0, done.stderr
    assert "Ada Byron" in done.stdout
    assert "[1]" in done.stdout
    assert walled.denied == []


@pytest.mark.parametrize(
    ("code", "denied"),
    [
        ("socket.create_connection(('192.0.2.1', 80), 1)", "socket.getaddrinfo 192.0.2.1"),
        ("socket.socket().connect(('192.0.2.1', 80))", "socket.connect 192.0.2.1"),
        ("socket.getaddrinfo('example.org', 80)", "socket.getaddrinfo example.org"),
        ("socket.socket(type=socket.SOCK_DGRAM).sendto(b'', ('192.0.2.1', 53))", "socket.sendto 192.0.2.1"),
    ],
)
def test_the_wall_stands(walled: Walled, code: str, denied: str) -> None:
    done = walled.run("-c", f"import socket; {code}")
    assert done.returncode == 1
    assert "PermissionError: no network in this process" in done.stderr
    assert walled.denied == [denied]


def test_loopback_is_open(walled: Walled) -> None:
    code = (
        "import socket; server = socket.create_server(('127.0.0.1', 0)); socket.create_connection(server.getsockname())"
    )
    done = walled.run("-c", code)
    assert (done.returncode, done.stderr, walled.denied) == (0, "", [])
