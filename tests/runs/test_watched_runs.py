"""Runs told to a log and a trace: only what is done and not what is replayed, from the library and from the shell."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
import warm
from research import stop_at
from watching import Watched, leaking_model

from assay import Assay
from assay.core.errors import Cancelled
from assay.core.events import AgentFinished, Envelope
from assay.core.ports import Fact, SpanKind, WatchedSpan
from assay.settings import Settings

QUESTION = "When was the lighthouse of Aru finished?"
ARU = "# Aru\n\nThe lighthouse of Aru was finished on 3 May 1862. It is 41 metres high.\n"


class Heard:
    """Remembers the names of what it was told."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, str]] = []
        self.ended: list[tuple[str, str]] = []
        self.events: list[str] = []

    def begin(
        self, kind: SpanKind, name: str, started_at: int, parent_span: WatchedSpan | None, facts: Mapping[str, Fact]
    ) -> WatchedSpan:
        self.begun.append((kind, name))
        return _Span(self, kind)

    def observe(self, envelopes: Sequence[Envelope]) -> None:
        self.events += [envelope.type for envelope in envelopes]

    def close(self) -> None:
        return


class _Span:
    def __init__(self, heard: Heard, kind: str) -> None:
        self._heard, self._kind = heard, kind

    def end(self, facts: Mapping[str, Fact], error: str) -> None:
        self._heard.ended.append((self._kind, error))


async def test_what_is_replayed_is_not_told_again() -> None:
    first, second = Heard(), Heard()
    sea = Watched(first)
    model = leaking_model()
    handle = sea.start(model)
    await stop_at(handle, AgentFinished.kind)
    sea.watch = second
    with suppress(Cancelled):
        again = await sea.engine().resume(handle.run_id, lambda _: sea.world(model))
        await again.wait()
    phases = [name for kind, name in first.begun if kind == "phase"]
    assert phases == ["triage", "background", "plan", "research"]
    assert [name for kind, name in second.begun if kind == "phase"] == ["research", "write", "verify"]
    assert [kind for kind, _ in second.begun].count("run") == 1
    assert "lane" not in [kind for kind, _ in second.begun]
    assert len(first.begun) == len(first.ended)
    assert len(second.begun) == len(second.ended)
    assert ("run", "CancelledError") in first.ended
    assert "run.resumed" in second.events


async def test_settings_name_the_file_of_the_log(tmp_path: Path) -> None:
    (tmp_path / "aru.md").write_text(ARU)
    log = tmp_path / "assay.log"
    settings = Settings(log={"file": log, "format": "json"}, keys={"openai": "sk-planted-by-settings"})
    async with Assay(settings) as assay:
        run = assay.start(QUESTION, sources=[tmp_path / "aru.md"], depth="light")
        view = await run.view()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert {line["run_id"] for line in lines} == {view.run_id}
    assert [line["event"] for line in lines][-1] == "run.left"
    assert "lighthouse" not in log.read_text()
    assert "planted" not in log.read_text()


def assay(home: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "ASSAY_"))}
    return warm.run(*words, "--home", home, "--yes", env=kept | environment)


@pytest.mark.slow
def test_the_log_is_on_stderr_with_vv_and_never_on_stdout(tmp_path: Path) -> None:
    (tmp_path / "aru.md").write_text(ARU)
    words = (QUESTION, "--in", str(tmp_path / "aru.md"), "--depth", "light")
    quiet, loud = assay(tmp_path / "home", *words), assay(tmp_path / "home", *words, "-vv")
    assert (quiet.returncode, loud.returncode) == (0, 0), loud.stderr
    assert "event=" not in quiet.stderr + quiet.stdout + loud.stdout
    assert "level=info event=model.finished" in loud.stderr
    assert "level=debug event=model.started" in loud.stderr


def test_a_log_which_cannot_be_written_names_its_setting(tmp_path: Path) -> None:
    done = assay(tmp_path / "home", QUESTION, ASSAY_LOG_FILE=str(tmp_path / "none" / "log"))
    assert done.returncode == 2
    assert "log.file" in done.stderr


class Collector(http.server.BaseHTTPRequestHandler):
    """Keeps what is sent to it."""

    bodies: list[tuple[str, bytes]] = []

    def do_POST(self) -> None:
        self.bodies.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.mark.slow
def test_spans_go_where_opentelemetrys_variables_say(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra otel is not installed")
    (tmp_path / "aru.md").write_text(ARU)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        at = f"http://127.0.0.1:{server.server_address[1]}"
        words = (QUESTION, "--in", str(tmp_path / "aru.md"), "--depth", "light")
        done = assay(tmp_path / "home", *words, OTEL_EXPORTER_OTLP_ENDPOINT=at, OTEL_SERVICE_NAME="desk")
        off = assay(tmp_path / "home", *words, OTEL_EXPORTER_OTLP_ENDPOINT=at, OTEL_SDK_DISABLED="true")
    finally:
        server.shutdown()
        server.server_close()
    assert (done.returncode, off.returncode) == (0, 0), done.stderr
    assert {path for path, _ in Collector.bodies} == {"/v1/traces"}
    body = b"".join(body for _, body in Collector.bodies)  # a run of more than five seconds is told in several
    for name in (b"assay.run", b"phase write", b"chat extractive", b"execute_tool search", b"desk"):
        assert name in body
    assert b"lighthouse" not in body


def test_without_a_log_nothing_of_it_is_imported() -> None:
    wanted = "('structlog', 'opentelemetry.sdk')"
    code = f"import sys, assay.app.assay as a; a.Assay(); print([m for m in {wanted} if m in sys.modules])"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "ASSAY_"))}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=kept, check=True
    )
    assert done.stdout.strip() == "[]"
