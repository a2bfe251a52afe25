"""Many streams at once: as many as the settings allow, a clear word to the rest, and a server which stays up."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest
from serving import TIDE, Served, begun, served, until

from assay.server.app import SHUTDOWN_SECONDS

ASKED, ALLOWED = 300, 120
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def silent(folder: Path, **more: str) -> dict[str, str]:
    """Settings of a server whose runs wait for their first reply as long as a test takes."""
    script = folder / "silent.json"
    script.write_text(json.dumps([{"task": "triage", "delay_ms": 600_000, "reply": {"text": "?"}}]))
    return {"ASSAY_MODEL": f"scripted:{script}", **more}


async def opened(server: Served, run: str, version: str = "1.1") -> Stream:
    """A stream of a run over a bare socket, of which only the request was sent."""
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    request = f"GET /api/v1/runs/{run}/events HTTP/{version}\r\nHost: {host}\r\n\r\n"
    writer.write(request.encode())
    return reader, writer


async def head(stream: Stream) -> tuple[int, dict[str, str]]:
    """The status of an answer, and its headers."""
    found = (await asyncio.wait_for(stream[0].readuntil(b"\r\n\r\n"), 60)).decode().splitlines()
    headers = dict(line.lower().split(": ", 1) for line in found[1:] if line)
    return int(found[0].split()[1]), headers


async def test_further_streams_are_refused_clearly_and_the_server_stays_up(tmp_path: Path) -> None:
    bounds = {"ASSAY_SERVER_STREAMS": "1000", "ASSAY_SERVER_ALL_STREAMS": str(ALLOWED)}
    with served(tmp_path / "home", **silent(tmp_path, **bounds)) as server:
        async with server.client() as client:
            run = await begun(client, TIDE)
            await until(client, run, "running")
            streams = await asyncio.gather(*(opened(server, run) for _ in range(ASKED)))
            heads = await asyncio.gather(*map(head, streams))
            assert Counter(status for status, _ in heads) == {200: ALLOWED, 503: ASKED - ALLOWED}
            refused = next(number for number, (status, _) in enumerate(heads) if status == 503)
            assert heads[refused][1]["retry-after"] == "10"
            body = await streams[refused][0].readexactly(int(heads[refused][1]["content-length"]))
            assert json.loads(body)["type"] == "urn:assay:problem:away"
            assert "server.all_streams" in json.loads(body)["detail"]
            assert (await client.get("/readyz")).status_code == 200
            assert (await client.get(f"/api/v1/runs/{run}")).status_code == 200
            for _, writer in streams:
                writer.close()
            async with asyncio.timeout(30):  # as soon as they are gone there is room again
                while (await head(await opened(server, run)))[0] != 200:
                    await asyncio.sleep(0.05)


async def test_one_user_has_so_many(tmp_path: Path) -> None:
    with served(tmp_path / "home", **silent(tmp_path, ASSAY_SERVER_STREAMS="3")) as server:
        async with server.client() as client:
            run = await begun(client, TIDE)
            streams = [await opened(server, run) for _ in range(4)]
            assert sorted([(await head(stream))[0] for stream in streams]) == [200, 200, 200, 429]


@pytest.mark.parametrize("version", ["1.1", "1.0"])
async def test_a_server_with_streams_stops_within_ten_seconds_and_tells_them_to_come_back(
    tmp_path: Path, version: str
) -> None:
    bounds = {"ASSAY_SERVER_STREAMS": "1000"}
    with served(tmp_path / "home", **silent(tmp_path, **bounds)) as server:
        async with server.client() as client:
            run = await begun(client, TIDE)
            await until(client, run, "running")
        streams = await asyncio.gather(*(opened(server, run, version) for _ in range(100)))
        assert {status for status, _ in await asyncio.gather(*map(head, streams))} == {200}
        await asyncio.gather(*(stream[0].readuntil(b"run.started") for stream in streams))
        stopping = asyncio.create_task(asyncio.to_thread(server.stop))
        rests = await asyncio.gather(*(asyncio.wait_for(reader.read(), 30) for reader, _ in streams))
        assert await stopping == 143
    assert SHUTDOWN_SECONDS < 10  # so long it waits for streams; none was cut off in the end
    for rest in rests:
        assert b"retry: 2000\n\n" in rest
        assert rest.endswith(b"0\r\n\r\n" if version == "1.1" else b"retry: 2000\n\n"), rest
