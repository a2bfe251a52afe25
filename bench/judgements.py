"""What a judgement costs Assay itself: 300 labelled claims with short texts, and a service that answers at once.

The service is a separate process on loopback, speaks OpenAI's format, and calls every claim unsupported. The bench
counts the CPU time of the process that calls it. The data are read from $ASSAY_DATA, else from ../shared/data beside
the project.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from corpus import machine
from labelled import DATA, rows

from assay.app.claim_judge import judge_rows
from assay.services.claim_checks import BadRow, CheckedRow, ClaimRow, RowChecker, check_rows
from assay.settings import Settings

NO_DATA = 2
CLAIMS = 300
SHORT = 2_000
ARGUMENTS = json.dumps({"slots": [], "reason": "The passages speak of something else.", "verdict": "unsupported"})
HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {size}\r\n\r\n"


def _body() -> bytes:
    call = {"index": 0, "id": "1", "type": "function", "function": {"name": "verdict", "arguments": ARGUMENTS}}
    chunks = [
        {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 30, "total_tokens": 1030}},
    ]
    events = "".join(f"data: {json.dumps({'id': 'c', 'model': 'm', **chunk})}\n\n" for chunk in chunks)
    return f"{events}data: [DONE]\n\n".encode()


async def serve() -> None:
    """Answer until the input ends; the port is the first line of the output."""
    body = _body()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().lower().splitlines()
                length = next(line for line in lines if line.startswith("content-length:"))
                await reader.readexactly(int(length.partition(":")[2]))
                writer.write(HEAD.format(size=len(body)).encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


def measure(claims: Sequence[ClaimRow], settings: Settings, home: Path | None) -> tuple[float, float, int]:
    """CPU and wall seconds, and the calls made."""
    found: list[CheckedRow | BadRow] = []
    cpu, wall = time.process_time(), time.perf_counter()
    work = judge_rows(claims, found.append, model="mine:m", settings=settings, home=home, remember=home is not None)
    used = asyncio.run(work)
    assert len(found) == len(claims)
    return time.process_time() - cpu, time.perf_counter() - wall, used.model_calls


def main() -> int:
    """Print the figures; 2 when there are no data."""
    if not DATA.is_dir():
        print("skipped: no labelled claims; set ASSAY_DATA to a folder which has grounding/*.jsonl.gz")
        return NO_DATA
    short = [row for row in rows() if len(row.doc) < SHORT]
    claims = [ClaimRow(id=row.id, doc=row.doc, claim=row.claim) for row in short[:: len(short) // CLAIMS][:CLAIMS]]
    list(check_rows(claims, RowChecker()))  # what is loaded once, and read once
    cpu = time.process_time()
    list(check_rows(claims, RowChecker()))
    alone = time.process_time() - cpu
    judged = sum(isinstance(row, CheckedRow) and row.rule == "lexical" for row in check_rows(claims, RowChecker()))
    print(f"{len(claims)} claims, of which {judged} are judged; by rules and words alone CPU {alone:.2f} s")
    with subprocess.Popen(
        [sys.executable, __file__, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        settings = Settings(services={"mine": {"url": url}})
        with tempfile.TemporaryDirectory() as home:
            for what, kept in (("nothing remembered", None), ("remembered", Path(home)), ("known already", Path(home))):
                spent, wall, calls = measure(claims, settings, kept)
                beyond = (spent - alone) / judged * 1e3
                print(f"{what:<20}{calls:>5} calls {wall:6.2f} s, CPU {spent:.2f} s: {beyond:.1f} ms a judgement")
        server.stdin.close()
    print(machine())
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        sys.exit(main())
