"""A real server: `assay serve` in a process of its own, on a free port of loopback."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import warm
from fleet import scenes

WAIT = 120.0
TIDES = "# Tides\n\nThe tide at Brest rises seven metres. It turns twice a day.\n"
PASSWORD = "correct horse battery"
TIDE = "How far does the tide at Brest rise?"
HASTY = """
from assay.server import backend, limits
from assay.server.api import run_control
from assay.server.mcp import research
from assay.services import webhooks

backend.LOOK_SECONDS, webhooks.LOOK_SECONDS, webhooks.REST_SECONDS = 0.3, 0.2, 0.05
limits.FRESH_SECONDS = 0.3
run_control.PATIENCE = research.STEER_SECONDS = 1.0
"""
"""A `program` for servers that look often for what is due or to be told, and wait less for a run to heed a request."""


@dataclass
class Served:
    """A server process."""

    process: Any
    url: str
    log: Path

    def client(self, **more: Any) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.url, timeout=WAIT, trust_env=False, verify=False, **more)  # it is no TLS

    def kill(self) -> None:
        """As a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=WAIT)

    def stop(self) -> int:
        """As whoever runs it would; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return int(self.process.wait(timeout=WAIT))

    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    return kept | {"ASSAY_HOME": str(home), "ASSAY_CONFIG": str(home.parent / "config.toml"), **more}


@contextmanager
def served(home: Path, *arguments: str, ready: bool = True, program: str = "", **variables: str) -> Iterator[Served]:
    """A server over a home, until the block ends; `program` runs before it."""
    log = home.parent / f"serve-{time.monotonic_ns()}.log"
    with log.open("wb") as stderr:
        process = warm.start(
            *("serve", "--port", "0", *arguments),
            env=environment(home, **variables),
            stdout=stderr,
            stderr=stderr,
            program=program and f"{program}\nfrom assay.cli import main\nmain()",
            packages=variables.get("PYTHONPATH", ""),  # a fork has read that variable already
        )
    server = Served(process, "", log)
    try:
        if ready:
            server.url = _url(server)
        yield server
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait(timeout=WAIT)


def _url(server: Served) -> str:
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if (found := re.search(r"serves (http://\S+)", server.output())) and _answers(found[1]):
            return found[1]
        if server.process.poll() is not None:
            break
        time.sleep(0.02)
    raise AssertionError(f"the server did not come up: {server.output()}")


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/livez", timeout=WAIT, trust_env=False, verify=False).status_code == 200
    except httpx.HTTPError:
        return False


@dataclass
class Frame:
    """A server-sent event."""

    id: str
    event: str
    data: str

    @property
    def json(self) -> Any:
        return json.loads(self.data)


async def frames(response: httpx.Response) -> AsyncIterator[Frame]:
    """The events of a stream, as the HTML standard reads it; comments and `retry` are not among them."""
    at: dict[str, list[str]] = {}
    async for line in response.aiter_lines():
        if not line:
            if "data" in at:
                yield Frame("".join(at.get("id", [])), "".join(at.get("event", [])), "\n".join(at["data"]))
            at = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            at.setdefault(name, []).append(value.removeprefix(" "))


async def begun(client: httpx.AsyncClient, question: str = TIDE, **body: Any) -> str:
    """A run which was begun; its id."""
    answer = await client.post("/api/v1/runs", json={"question": question, **body})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def until(client: httpx.AsyncClient, run: str, *statuses: str) -> dict[str, Any]:
    """The run, once it has one of these statuses."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        answer = await client.get(f"/api/v1/runs/{run}")
        shown: dict[str, Any] = answer.json()
        if answer.status_code == 200 and shown["status"] in (statuses or ("completed",)):
            return shown
        assert shown.get("status") not in ("failed", "cancelled"), shown
        await asyncio.sleep(0.05)
    raise AssertionError(f"run {run} is {shown}")


def command(home: Path, *arguments: str, stdin: str = "", **variables: str) -> str:
    """A command over the home; what it says on stdout."""
    file = home.parent / f"stdin-{time.monotonic_ns()}"
    file.write_text(stdin)
    with file.open("rb") as given:
        process = warm.start(
            *arguments,
            *("--home", str(home)),
            env=environment(home, **variables),
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        output, errors = process.communicate(timeout=WAIT)
    assert process.returncode == 0, errors
    return str(output.decode()).strip()


def slow(folder: Path) -> dict[str, str]:
    """The variables of a server whose runs take seconds, over the documents of a folder."""
    script = folder / "scenes.json"
    script.write_text(json.dumps(scenes(folder / "calls.log", plan=3_000)), encoding="utf-8")
    (folder / "documents").mkdir()
    (folder / "documents" / "tides.md").write_text(TIDES)
    return {"ASSAY_MODEL": f"scripted:{script}", "ASSAY_SERVER_FOLDERS": str(folder / "documents")}


def add_user(home: Path, name: str, password: str = PASSWORD) -> None:
    """Add a user: from its next start on the server asks for a login."""
    home.parent.mkdir(parents=True, exist_ok=True)
    command(home, "users", "add", name, stdin=f"{password}\n")
