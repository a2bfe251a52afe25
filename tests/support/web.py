"""Sites on loopback: raw HTTP/1.1 servers which count what reaches them, and names which a test makes up for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any

from httpcore2 import AnyIOBackend, AsyncNetworkStream

from assay.fetch.web import FetchLimits, FetchManners, WebFetcher
from assay.fetch.web.addresses import GuardedBackend, Policy, parse_policy
from assay.run.process import SystemClock

PUBLIC, FORBIDDEN = "127.0.0.1", "127.66.0.1"
"""In tests the first stands for the public network; the second, as all other loopback, for what is forbidden."""
ALLOWED: Policy = parse_policy([f"{PUBLIC}/32"])
AGENT = "Assay/1 (test)"
Reply = bytes | Sequence[bytes | float]
"""What is sent; between pieces, seconds to wait."""


def response(body: bytes | str = b"", status: int = 200, **headers: str) -> bytes:
    """A whole response."""
    data = body.encode() if isinstance(body, str) else body
    named = {"Content-Length": str(len(data)), "Connection": "close"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in named.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + data


def moved(to: str, status: int = 302) -> bytes:
    """A redirect."""
    return response(status=status, Location=to)


class Site:
    """A server: `pages` by path; what is not there is 404. `asked` holds the request lines and headers seen."""

    def __init__(self) -> None:
        self.pages: dict[str, Reply | Callable[[], Reply]] = {}
        self.asked: list[str] = []
        self.seen: list[str] = []
        self.connections = self.at_once = self.most_at_once = 0
        self.port = 0

    def url(self, path: str = "/", host: str = PUBLIC) -> str:
        return f"http://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = next(
                (line[16:] for line in head.lower().split("\r\n") if line.startswith("content-length: ")), "0"
            )
            head += (await reader.readexactly(int(length))).decode()
            path = head.split(" ")[1]
            self.asked.append(path)
            self.seen.append(head)
            found = self.pages.get(path, response("none", 404))
            reply = found() if callable(found) else found
            for piece in [reply] if isinstance(reply, bytes) else reply:
                if isinstance(piece, bytes):
                    writer.write(piece)
                    await writer.drain()
                else:
                    await asyncio.sleep(piece)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client left: some tests are about just that
        finally:
            self.at_once -= 1
            writer.close()


@asynccontextmanager
async def site(host: str = PUBLIC, port: int = 0) -> AsyncIterator[Site]:
    """A site on an address of loopback."""
    made = Site()
    server = await asyncio.start_server(made.serve, host, port)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()


class Names:
    """A resolver: each name has the addresses given, one answer after the other, the last for good."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): list(given) for name, given in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self._answers:
            return [host]
        answers = self._answers[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


class Outside(AnyIOBackend):
    """A network in which the public addresses are all `PUBLIC`."""

    async def connect_tcp(self, host: str, *more: Any, **named: Any) -> AsyncNetworkStream:
        return await super().connect_tcp(PUBLIC if ip_address(host).is_global else host, *more, **named)


@asynccontextmanager
async def fetcher(
    resolve: Names | None = None, policy: Policy = ALLOWED, robots: bool = False, **limits: float
) -> AsyncIterator[WebFetcher]:
    """A fetcher for which `PUBLIC` is allowed, and where public addresses lead."""
    made = FetchLimits(**limits)  # type: ignore[arg-type]
    manners = FetchManners(agent=AGENT, robots=robots)
    network = GuardedBackend(policy, resolve or Names(), Outside())
    web = WebFetcher(SystemClock(), manners, network=network, limits=made)
    try:
        yield web
    finally:
        await web.close()
