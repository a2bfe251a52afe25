"""Posting to addresses which users name: checked when it is wanted, and again when it is done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from assay.core.errors import ConfigError, FetchFailed
from assay.fetch.web.poster import WebPoster


def poster(resolved: Sequence[str] = (), allow: Sequence[str] = (), seconds: float = 5.0) -> WebPoster:
    async def resolve(_host: str, _port: int) -> Sequence[str]:
        return resolved

    return WebPoster(agent="test", allow=allow, setting="server.webhook_hosts", seconds=seconds, resolve=resolve)


@pytest.fixture
async def receiver() -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server on loopback which is asked for by any name: its port, and the heads it got."""
    heads: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        if b"POST /slow" in heads[-1]:
            await asyncio.sleep(10)
        head = b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nLocation: http://169.254.169.254/\r\n"
        writer.write(head + b"Content-Length: 100000000\r\n\r\nthe rest of the answer is not waited for")
        await writer.drain()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1], heads
    server.close()


@pytest.mark.parametrize(
    ("resolved", "refused"),
    [
        (["93.184.215.14"], False),
        (["127.0.0.1"], True),
        (["93.184.215.14", "10.0.0.1"], True),
        (["fd00:ec2::254"], True),
        (["::ffff:10.0.0.1"], True),
        ([], True),
    ],
)
async def test_a_name_is_what_it_points_at(resolved: list[str], refused: bool) -> None:
    checked = poster(resolved).check_address("https://hooks.example/x")
    if not refused:
        await checked
        return
    with pytest.raises(FetchFailed, match=r"blocked|unreachable"):
        await checked


async def test_outside_only_https_inside_what_is_named() -> None:
    with pytest.raises(FetchFailed, match="https only"):
        await poster(["93.184.215.14"]).check_address("http://hooks.example/x")
    await poster(["10.0.0.1"], ["hooks.corp"]).check_address("http://hooks.corp/x")
    await poster(["10.0.0.1"], ["10.0.0.0/8"]).check_address("http://any.corp/x")
    with pytest.raises(FetchFailed, match="https only"):
        await poster(["93.184.215.14"], ["10.0.0.0/8"]).check_address("http://hooks.example/x")
    with pytest.raises(FetchFailed, match="metadata"):
        await poster(["169.254.169.254"], ["169.254.0.0/16"]).check_address("http://metadata.corp/x")
    with pytest.raises(ConfigError, match=r"server\.webhook_hosts"):
        poster(allow=["10.0/99"])


async def test_a_name_which_points_inside_is_never_connected_to(receiver: tuple[int, list[bytes]]) -> None:
    port, heads = receiver
    with pytest.raises(FetchFailed, match="blocked"):
        await poster(["127.0.0.1"]).post(f"https://hooks.example:{port}/x", {}, b"{}")
    assert heads == []


async def test_the_status_is_all_that_is_heard(receiver: tuple[int, list[bytes]]) -> None:
    port, heads = receiver
    made = poster(["127.0.0.1"], ["hooks.corp"])
    answer = await made.post(f"http://hooks.corp:{port}/x?key=1", {"webhook-id": "evt_1"}, b"{}")
    assert (answer.status, answer.retry_after) == (503, 7.0)
    assert len(heads) == 1
    assert heads[0].startswith(b"POST /x?key=1 HTTP/1.1\r\n")
    assert b"webhook-id: evt_1\r\n" in heads[0]
    assert f"Host: hooks.corp:{port}".encode() in heads[0]
    await made.close()


async def test_a_slow_receiver_is_not_waited_for(receiver: tuple[int, list[bytes]]) -> None:
    made = poster(["127.0.0.1"], ["hooks.corp"], seconds=0.5)
    with pytest.raises(FetchFailed, match="timeout"):
        await made.post(f"http://hooks.corp:{receiver[0]}/slow", {}, b"{}")
    await made.close()
