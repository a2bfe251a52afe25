"""The page of a run in Chromium: `python -m bench page [--viewers 5] [--rate 20] [--seconds 15] [--events 10000]`.

The server is the real one over SQLite, in its own process, which also writes the events as its runs would. The run has
8 agents and a long log when the first page opens; then its agents stream on, and after them its writer with 60 claims.
Each piece of text contains the time before its commit; a page notes when it paints the first frame with it. The bench
also measures the server's CPU beyond that of the same events without viewers, the size of a screen and its scripts, and
for a report of 200 claims the first load and the response time to input. Needs playwright and a Chromium.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

import httpx
import logs
import page_report
from browsers import MISSING
from screens import chromium

from assay import Assay
from assay.core import events as e
from assay.core.brief import Brief
from assay.core.ports import Commit, EventDraft, Lease, RunStatus
from assay.server import app
from assay.server.page.templates_environment import assets
from assay.settings import Settings

RUN, LANES, CLAIMS, TTL = "run0000001", 8, 60, 600.0
NO_DATA = 2
REPORTS = {f"report{number:05}": number for number in range(page_report.ROUNDS)}
"""Runs which have ended, each with a report of 200 claims of its own: what is rendered once is kept."""
CLOCK = """() => {
  window.late = [];
  const known = new Set();
  const look = () => {
    for (const place of document.querySelectorAll('.now, .words'))
      for (const found of place.textContent.matchAll(/@([0-9]+\\.[0-9]+)@/g)) {
        if (known.has(found[1])) continue;
        known.add(found[1]);
        requestAnimationFrame(() => window.late.push(Date.now() - 1000 * Number(found[1])));
      }
  };
  look();
  window.late.length = 0;
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""


# what is written


def history(count: int) -> Iterator[tuple[str, e.Event]]:
    """A log of `count` events with 8 agents at work: thoughts, searches, sources, findings which are being written."""
    models = {"simple": ("extractive",), "complex": ("extractive",)}
    yield "", e.RunCreated(brief=Brief(question="How far does the tide rise?", date="2026-11-01", models=models))
    yield "", e.RunStarted()
    made = logs.Log()
    logs.plan(made)
    for each in made.events:
        yield "/".join(each.path), event_of(each)
    yield "research", e.PhaseStarted(phase="research")
    yield "research/cycle-1", e.AgentsPlanned(cycle=1, lanes=tuple(range(1, LANES + 1)))
    for lane in range(1, LANES + 1):
        yield f"research/agent-{lane}", e.AgentStarted(lane=lane, task=f"What is known of harbour {lane}", step=1)
    left, turn = count - 30, 0
    while left > LANES * 9:
        turn += 1
        for lane in range(1, LANES + 1):
            for each in steps_of(lane, turn):
                left -= 1
                yield f"research/agent-{lane}/turn-{turn}", each
    for lane in range(1, LANES + 1):
        yield f"research/agent-{lane}", e.FindingStarted(lane=lane)


def steps_of(lane: int, turn: int) -> Iterator[e.Event]:
    """One turn of an agent: it thinks, searches, and reads."""
    for word in ("First ", "the tide, ", "then ", "the moon."):
        yield e.ThinkDelta(text=word)
    yield e.ThinkFinished(text="First the tide, then the moon.")
    yield e.ToolStarted(call=f"c{turn}", tool="search", arguments=json.dumps({"query": f"tide {turn}"}))
    yield e.SearchPerformed(query=f"tide {turn} harbour {lane}", provider="local", results=8)
    if turn <= 20:
        yield e.SourceAdded(source=logs.source(f"S{lane * 1000 + turn}", f"{lane}-{turn}"))
    yield e.ToolFinished(call=f"c{turn}", tool="search", summary=f"8 documents for “tide {turn}”, best: Tides")


def event_of(envelope: e.Envelope) -> e.Event:
    found = e.decode(envelope)
    assert found is not None
    return found


def mark() -> str:
    return f"@{time.time():.4f}@ "


def research(number: int) -> list[tuple[str, e.Event]]:
    """A piece of the findings of one agent, and a little of another's work."""
    lane = number % LANES + 1
    return [(f"research/agent-{lane}", e.FindingDelta(lane=lane, text=f"{mark()}The tide rises {number} metres. "))]


def writing(number: int) -> list[tuple[str, e.Event]]:
    """A piece of the report; at first its beginning, with 60 claims which were found and checked."""
    if number > 1:
        return [("write", e.ReportDelta(text=f"{mark()}It goes on. "))]
    found: list[tuple[str, e.Event]] = [("research", e.PhaseFinished(phase="research"))]
    found += [("write", e.PhaseStarted(phase="write")), ("write", e.ReportStarted(title="Tides"))]
    text, claims = "", []
    for at in range(1, CLAIMS + 1):
        passage = logs.passage(f"S{at % LANES * 1000 + 1000 + at % 20 + 1}.{at}", f"The tide rises {at} metres.")
        start = len(text)
        text += f"The tide at harbour {at} rises {at} metres [{passage.id}]. "
        text += "\n\n" if at % 5 == 0 else ""
        sentence = f"The tide at harbour {at} rises {at} metres [{passage.id}]."
        claims.append((at, sentence, start, start + len(sentence), passage))
    found.append(("write", e.ReportDelta(text=text)))
    for at, sentence, start, end, passage in claims:
        id = f"c{at}"
        found.append(("verify", e.ClaimFound(id=id, text=sentence, start=start, end=end, passages=(passage,))))
        found.append(("verify", e.ClaimChecked(id=id, rule="lexical", verdict="supported" if at % 4 else "partial")))
    return found


KINDS = {"research": research, "writing": writing}


def commit(events: list[tuple[str, e.Event]], key: str, status: RunStatus = "running") -> Commit:
    drafts = (
        EventDraft(
            key=f"{key}-{place}",
            path=tuple(path.split("/")) if path else (),
            type=event.kind,
            data=e.encode(event),
            at=time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
        )
        for place, (path, event) in enumerate(events)
    )
    return Commit(events=tuple(drafts), status=status)


# the server, and who writes


async def serve(home: Path, count: int) -> None:
    """Serve; each line of stdin is `KIND RATE SECONDS`: write so many pieces a second, for so long."""
    async with Assay(Settings(home=home), home=home) as assay:
        journal = assay._context.store.journal
        first, *rest = history(count)
        await journal.create(RUN, "How far?", e.encode(first[1].brief), commit([first], "created").events)
        lease: Lease = await journal.acquire(RUN, "", TTL)
        for at in range(0, len(rest), 500):
            await journal.commit(lease, commit(rest[at : at + 500], f"h{at}"))
        for name, number in REPORTS.items():
            created, *events = page_report.events(number)
            await journal.create(name, "How far?", e.encode(created[1].brief), commit([created], "created").events)
            written: Lease = await journal.acquire(name, "", TTL)
            await journal.commit(written, commit(events, "told", "completed"))
        sock = app.bind_socket("127.0.0.1", 0)
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

        async def write(server: app.Server) -> None:
            number = 0
            while line := (await reader.readline()).decode():
                kind, rate, seconds = line.split()
                for piece in range(1, int(float(rate) * float(seconds)) + 1):
                    number += 1
                    await journal.commit(lease, commit(KINDS[kind](piece), f"d{number}"))
                    await asyncio.sleep(1 / float(rate))
                print("written", flush=True)
            server.stop()

        tasks = []

        def begun(server: app.Server) -> None:
            tasks.append(asyncio.create_task(write(server)))

        await app.serve(assay, sock, begun, lambda: print(app.url_of(sock), flush=True))


# what is measured


class Measured:
    """A server which writes on demand, and what that takes of a core."""

    def __init__(self, count: int, folder: str) -> None:
        command = [sys.executable, __file__, "--as", "server", "--at", f"{folder}/home", "--events", str(count)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()

    def write(self, kind: str, rate: float, seconds: float) -> float:
        """Have it write; which share of a core it took meanwhile, in percent."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        watched = psutil.Process(self.process.pid)
        before, began = sum(watched.cpu_times()[:2]), time.monotonic()
        self.process.stdin.write(f"{kind} {rate} {seconds}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "written\n"
        return 100 * (sum(watched.cpu_times()[:2]) - before) / (time.monotonic() - began)

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()


def measure(asked: argparse.Namespace) -> None:
    """One server, its viewers, and the figures."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        server = Measured(asked.events, folder)
        try:
            weigh(server.url)
            page_report.measure(browser, server.url, list(REPORTS))
            alone = server.write("research", asked.rate, asked.seconds)
            pages = [opened(browser, server.url) for _ in range(asked.viewers)]
            for kind in KINDS:
                for page in pages:
                    page.evaluate("window.late && (window.late.length = 0)")
                taken = server.write(kind, asked.rate, asked.seconds)
                time.sleep(1.5)
                print_delays(kind, [each for page in pages for each in page.evaluate("window.late")], taken, alone)
        finally:
            server.stop()


def opened(browser: Any, url: str) -> Any:
    page = browser.new_context(base_url=url).new_page()
    page.goto(f"/runs/{RUN}/activity")
    page.evaluate(CLOCK)
    return page


def weigh(url: str) -> None:
    """What the screen weighs, and how long the server takes for it."""
    took = []
    with httpx.Client(base_url=url, timeout=60) as client:
        for _ in range(4):
            began = time.perf_counter()
            data = client.get(f"/runs/{RUN}/activity").content
            took.append(1000 * (time.perf_counter() - began))
    scripts = sum(len(gzip.compress(each, 9)) for name, each in assets().items() if name.endswith(".js"))
    style = len(gzip.compress(assets()["style.css"], 9))
    print(f"screen: {len(data) / 1000:.0f} kB ({len(gzip.compress(data)) / 1000:.0f} kB gzipped) in {min(took):.0f} ms")
    print(f"all scripts: {scripts / 1000:.1f} kB gzipped; style: {style / 1000:.1f} kB gzipped")


def print_delays(kind: str, late: list[float], taken: float, alone: float) -> None:
    if not late:
        raise SystemExit(f"{kind}: no page showed anything")
    late.sort()
    p95 = late[int(0.95 * len(late))]
    print(
        f"{kind}: {len(late)} pieces seen; commit to pixel {statistics.median(late):.0f} ms median, {p95:.0f} ms p95, "
        f"{late[-1]:.0f} ms at most; server {taken:.1f} % of a core, {taken - alone:.1f} % beyond that without viewers"
    )


def main() -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viewers", type=int, default=5)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=20)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--as", dest="role", default="", help=argparse.SUPPRESS)
    parser.add_argument("--at", default="", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.role == "server":
        asyncio.run(serve(Path(asked.at), asked.events))
        return 0
    if MISSING:
        print(MISSING)
        return NO_DATA
    measure(asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
