"""CPU per streamed chunk of the model adapters: `python bench/adapters.py [--chunks 2000] [--rounds 5]`.

A server in its own process sends canned answers: in bursts (many chunks per read), and one chunk at a time, as a model
at work does. The bench measures all processor time of the reading process (sockets, HTTP, JSON, deltas), minus that of
the same answer in a single chunk, so that opening a request does not count. In turns with each adapter it measures the
floor: the HTTP client alone, which counts the bytes of the same answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence

import httpx2

from assay.core.messages import Delta, Message, Reply, Request
from assay.core.ports import Access, Model
from assay.core.ports.models import Secret
from assay.models import direct, openai

WORDS = " measured"
PAUSE = 0.0005
ASKED = Request(task="write", system="You write.", messages=(Message(role="user", text="Write."),), max_tokens=9_000)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def _chat(count: int) -> list[str]:
    def one(delta: dict[str, str], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        body = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        return f"data: {json.dumps(body)}\n\n"

    return [*(one({"content": WORDS}) for _ in range(count)), one({}, "stop"), "data: [DONE]\n\n"]


def _anthropic(count: int) -> list[str]:
    def one(kind: str, **fields: object) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

    usage = {"input_tokens": 9, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    delta = {"type": "text_delta", "text": WORDS}
    return [
        one("message_start", message=message),
        one("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        *(one("content_block_delta", index=0, delta=delta) for _ in range(count)),
        one("content_block_stop", index=0),
        one("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": count}),
        one("message_stop"),
    ]


def _google(count: int) -> list[str]:
    def one(text: str, **more: str) -> str:
        candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0, **more}
        return f"data: {json.dumps({'candidates': [candidate], 'modelVersion': 'm', 'responseId': 'r'})}\n\n"

    return [*(one(WORDS) for _ in range(count)), one(".", finishReason="STOP")]


FORMATS: dict[str, Callable[[int], list[str]]] = {"chat": _chat, "anthropic": _anthropic, "google": _google}
ADAPTERS: dict[str, tuple[str, Callable[[str, Access], Model]]] = {
    "vllm:m": ("chat", openai.create),
    "anthropic:claude-sonnet-4-6": ("anthropic", direct.create),
    "google:gemini-2.5-flash": ("google", direct.create),
    "mistral:mistral-large-latest": ("chat", openai.create),
    "groq:llama-3.3-70b-versatile": ("chat", openai.create),
}


async def serve() -> None:
    """Answer whatever is asked at /FORMAT/COUNT/PACE/…, until the input ends; says its port first."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(line for line in head.lower().splitlines() if line.startswith("content-length:"))
        await reader.readexactly(int(length.partition(":")[2]))
        _, kind, count, pace, _ = head.split()[1].split("/", 4)
        writer.write(HEAD)
        for event in FORMATS[kind](int(count)):
            writer.write(event.encode())
            if pace == "single":
                await writer.drain()
                await asyncio.sleep(PAUSE)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


async def spent(name: str, port: int, count: int, pace: str) -> float:
    """Seconds of processor time for an answer of `count` chunks, its model asked once before."""
    kind, create = ADAPTERS[name]
    took = []
    for chunks in (1, 1, count):
        model = create(name, Access(url=f"http://127.0.0.1:{port}/{kind}/{chunks}/{pace}", key=Secret("none")))
        async for _ in _once(model):  # the client is made, and all it imports
            pass
        cpu = time.process_time()
        async for item in _once(model):
            last = item
        took.append(time.process_time() - cpu)
        await model.close()
        assert isinstance(last, Reply)
        assert last.text.count(WORDS) == chunks, last.text[:80]
    return took[2] - took[1]


async def floor(name: str, port: int, count: int, pace: str) -> float:
    """The same for the HTTP client alone, which throws away what it reads."""
    took = []
    async with httpx2.AsyncClient(trust_env=False, timeout=ASKED.timeout) as client:
        for chunks in (1, 1, count):
            cpu = time.process_time()
            url = f"http://127.0.0.1:{port}/{ADAPTERS[name][0]}/{chunks}/{pace}/"
            async with client.stream("POST", url, content=b"{}") as response:
                read = sum([len(piece) async for piece in response.aiter_raw()])
            took.append(time.process_time() - cpu)
            assert read > chunks
    return took[2] - took[1]


def _once(model: Model) -> AsyncGenerator[Delta | Reply, None]:
    return model.stream(ASKED)


async def main(chunks: int, rounds: int, port: int) -> None:
    """Print the medians of `rounds` for each adapter, with the range: in all, the floor, and what is above it."""
    for name in ADAPTERS:
        for pace in ("burst", "single"):
            pairs = [
                [await measured(name, port, chunks, pace) / chunks * 1e6 for measured in (spent, floor)]
                for _ in range(rounds)
            ]
            whole, least, above = zip(*((total, low, total - low) for total, low in pairs), strict=True)
            print(f"{name:32} {pace:6} {_spread(whole)} floor {_spread(least)} above it {_spread(above)}", flush=True)


def _spread(figures: Sequence[float]) -> str:
    return f"{statistics.median(figures):4.0f} µs CPU a chunk ({min(figures):.0f}-{max(figures):.0f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", action="store_true")
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve())
    else:
        command = [sys.executable, __file__, "--serve"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            assert other.stdout is not None
            asyncio.run(main(options.chunks, options.rounds, int(other.stdout.readline())))
            other.stdin.close()  # type: ignore[union-attr]
