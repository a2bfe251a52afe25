"""What a server refuses before any route sees it, and how it stops."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from serving import WAIT, Served, begun, frames, served, slow, until

from assay.server.api import ENDPOINTS
from assay.server.guards import host_name, is_own_host


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("guarded") / "home"
    with served(home, ASSAY_SERVER_STREAMS="2", ASSAY_SERVER_HOSTS="research.corp") as server:
        yield server


def type_of(answer: httpx.Response) -> str:
    assert answer.headers["content-type"] == "application/problem+json"
    data = answer.json()
    assert data["status"] == answer.status_code
    return str(data["type"].removeprefix("urn:assay:problem:"))


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8484", 200),
        ("localhost", 200),
        ("[::1]:8484", 200),
        ("research.corp", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example:80", 421),
        ("localhost@evil.example", 421),
    ],
)
async def test_only_its_own_names_are_answered(server: Served, host: str, status: int) -> None:
    async with server.client() as client:
        assert (await client.get("/livez", headers={"Host": host})).status_code == status


def test_a_host_is_read_as_browsers_send_it() -> None:
    assert host_name("A.corp:80") == "a.corp"
    assert host_name("a.corp:x") == host_name("") == host_name("a b/..") == ""
    assert is_own_host("192.168.1.7:80", frozenset())
    assert not is_own_host("a.corp", frozenset({"corp"}))


@pytest.mark.parametrize(
    "headers", [{}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Origin": "null"}]
)
async def test_only_a_page_of_another_site_is_refused(server: Served, headers: dict[str, str]) -> None:
    async with server.client() as client:
        answer = await client.post("/api/v1/runs", json={"question": " "}, headers=headers)
        assert type_of(answer) == ("other-site" if "Origin" in headers else "invalid")


async def test_a_form_of_another_page_is_no_json(server: Served) -> None:
    async with server.client() as client:
        answer = await client.post("/api/v1/runs", content=b'{"question": "x"}', headers={"Content-Type": "text/plain"})
        assert type_of(answer) == "wrong-media-type"


@pytest.mark.parametrize(
    ("path", "most"), [("/api/v1/runs", "1,000,000"), ("/v1/responses", "1,000,000"), ("/mcp", "4,000,000")]
)
async def test_who_sends_too_much_is_told_the_limit_and_what_to_do(server: Served, path: str, most: str) -> None:
    async def pieces():
        for _ in range(500):
            yield b" " * 10_000

    async with server.client() as client:
        for content in (pieces(), b" " * 4_100_000):
            answer = await client.post(path, content=content, headers={"Content-Type": "application/json"})
            assert answer.status_code == 413
            assert f"at most {most} bytes: add a long text as a document to a collection" in answer.text


def test_a_body_which_says_that_it_is_too_large_is_not_waited_for(server: Served) -> None:
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port), timeout=30) as connection:
        head = "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: 99999999999\r\n\r\n{{".encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 413")


def sent(server: Served, request: bytes) -> bytes:
    """All that comes back on a connection of its own, until the server closes it."""
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port), timeout=30) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def test_a_request_with_two_lengths_ends_its_connection(server: Served) -> None:
    head = b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    smuggled = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = sent(server, head + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled)
    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1 ") == 1


async def test_a_body_that_is_packed_is_refused(server: Served) -> None:
    async with server.client() as client:
        for packing in ("gzip", "zstd", "identity, br"):
            headers = {"Content-Encoding": packing, "Content-Type": "application/json"}
            packed = await client.post("/api/v1/runs", content=b'{"no": 1}', headers=headers)
            assert (packed.status_code, type_of(packed)) == (415, "wrong-media-type")


async def test_a_client_that_goes_away_in_the_middle_of_a_body_is_no_bug(server: Served) -> None:
    address = urlsplit(server.url)
    bodies = {
        "/api/v1/runs": "application/json",
        "/api/v1/collections/default/documents": "multipart/form-data; boundary=x",
    }
    for path, kind in bodies.items():
        with socket.create_connection((address.hostname, address.port), timeout=30) as connection:
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: 99\r\n\r\n--x"
            connection.sendall(head.encode())
    async with server.client() as client, asyncio.timeout(WAIT):
        while not all(count > 0 for count in [await failures(client, path) for path in bodies]):
            await asyncio.sleep(0.05)
    assert "Traceback" not in server.output()


async def failures(client: httpx.AsyncClient, path: str) -> int:
    """How many POST requests for a path have failed."""
    route = re.escape(path.replace("/default/", "/{collection}/"))
    text = (await client.get("/metrics")).text
    return len(re.findall(rf'_count\{{[^\n]*"POST"[^\n]*"[45]\d\d",http_route="{route}"', text))


async def test_a_head_without_end_is_refused(server: Served) -> None:
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port), timeout=30) as connection:
        connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000)
        assert connection.recv(100).startswith(b"HTTP/1.1 400")


WITHOUT_OPTIONS = sorted(
    (each.method, each.path)
    for each in ENDPOINTS
    if each.query is None and each.body is None and each.path.startswith("/api/")
)


@pytest.mark.parametrize(("method", "path"), WITHOUT_OPTIONS)
async def test_a_route_without_options_refuses_what_it_does_not_read(server: Served, method: str, path: str) -> None:
    address = re.sub(r"\{\w+(:path)?\}", "none", re.sub(r"\{(number|\w+:number)\}", "1", path))
    async with server.client() as client:
        answers = [await client.request(method, f"{address}?forse=1")]
        if method != "GET":
            answers.append(await client.request(method, address, json={"forse": 1}))
        for answer in answers:
            assert type_of(answer) == "invalid", answer.text
            assert answer.json()["detail"].endswith("unknown field `forse`; this route has no options")
        assert (await client.request(method, address, json={})).status_code not in (415, 422)


async def test_what_does_not_fit_is_said_with_its_place_and_what_would(server: Served) -> None:
    values = {
        "/depth": ["auto", "extended", "light", "medium"],
        "/models": ["analytical", "complex", "judge", "simple"],
    }
    async with server.client() as client:
        answer = await client.post("/api/v1/runs", json={"question": "x", "budget": {"usd": "many"}})
        assert type_of(answer) == "invalid"
        assert answer.json()["errors"][0]["pointer"] == "/budget/usd"
        unknown = await client.post("/api/v1/runs", json={"question": "x", "depht": "light"})
        assert unknown.json()["detail"].endswith("unknown field `depht`; did you mean 'depth'?")
        assert unknown.json()["errors"][0]["pointer"] == "/depht"
        missing = await client.post("/api/v1/runs", json={"depth": "light"})
        assert missing.json()["errors"][0]["pointer"] == "/question"
        for wrong, place in ({"depth": "huge"}, "/depth"), ({"models": {"huge": ["x"]}}, "/models"):
            answer = await client.post("/api/v1/runs", json={"question": "x", **wrong})
            [fault] = answer.json()["errors"]
            assert (fault["pointer"], answer.json()["known"]) == (place, values[place])
            assert all(each in fault["detail"] for each in values[place])
        for wrong, place in ({"labels": {"a": 1}}, "/labels"), ({"models": {"judge": [1]}}, "/models"):
            answer = await client.post("/api/v1/runs", json={"question": "x", **wrong})
            assert answer.json()["errors"][0]["pointer"] == place  # which of its keys, nobody tells
        for query in ("since=yesterday", "until=26.11.2026", "since=2026-13"):
            answer = await client.get(f"/api/v1/runs?{query}")
            assert (answer.status_code, type_of(answer)) == (422, "invalid")
            assert "is not a time" in answer.json()["detail"]
        for query in ("since=2026", "since=2026-11&until=2026-11-23", "since=2026-11-23T12:00:00.000Z"):
            assert (await client.get(f"/api/v1/runs?{query}")).status_code == 200
        status = await client.get("/api/v1/runs?status=completed,done")
        assert status.json()["errors"][0]["pointer"] == "/status/1"
        assert "cancelled" in status.json()["known"]
        assert type_of(
            await client.post("/api/v1/runs", content=b"{", headers={"Content-Type": "application/json"})
        ) == ("bad-request")
        assert type_of(await client.get("/api/v1/runs?limit=many")) == "invalid"
        assert type_of(await client.get("/api/v1/runs/nosuchrun")) == "unknown-name"
        assert type_of(await client.get("/api/v1/nosuchroute")) == "not-found"
        method = await client.put("/api/v1/runs", json={})
        assert (type_of(method), method.headers["allow"]) == ("method-not-allowed", "GET, HEAD, POST")


async def test_a_number_of_thousands_of_digits_is_none(server: Served) -> None:
    """Python refuses to read it, which is no fault of the server."""
    digits = "9" * 5_000
    async with server.client() as client:
        run = await begun(client)
        for path in (
            f"/runs/{run}/live?after={digits}",
            f"/api/v1/runs/{run}/citations/{digits}",
            f"/v1/responses/resp_{run}?stream=true&starting_after={digits}",
            f"/v1/responses/resp_{run}?stream=true&starting_after=soon",
        ):
            assert (await client.get(path)).status_code in (400, 422), path[:60]
        for path in (f"/api/v1/documents/d/pages/{digits}", f"/api/v1/documents/d/pages/{digits}/picture"):
            assert (await client.get(path)).status_code == 404
        assert (await client.post(f"/api/v1/runs/{run}/agents/{digits}/cancel")).status_code == 404
        await client.put("/api/v1/collections/numbers", json={})
        page = await client.get(f"/library/numbers?offset={digits}", headers={"Accept": "text/html"})
        assert page.status_code < 500


async def test_files_of_the_server_and_its_scripts_are_nobodys(server: Served, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n\nThe word is swordfish.\n")
    async with server.client() as client:
        for scope in ({"paths": [str(tmp_path)]}, {"paths": ["/etc/passwd"]}, {"urls": ["file:///etc/passwd"]}):
            answer = await client.post("/api/v1/runs", json={"question": "What is the word?", "scope": scope})
            assert type_of(answer) == "invalid"
        script = await client.post("/api/v1/runs", json={"question": "x", "model": "scripted:/etc/passwd"})
        assert type_of(script) == "invalid"
        assert "root" not in script.text


async def test_browsers_are_told_to_be_careful(server: Served) -> None:
    async with server.client() as client:
        for path in ("/livez", "/api/v1/runs", "/api/v1/runs/none", "/nowhere"):
            headers = (await client.get(path)).headers
            assert "default-src 'none'" in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert "server" not in headers


async def test_streams_of_one_user_have_a_bound_and_a_stop_ends_them(tmp_path: Path) -> None:
    variables = slow(tmp_path)
    with served(tmp_path / "home", ASSAY_SERVER_STREAMS="2", **variables) as server:
        async with server.client() as client:
            scope = {"paths": [str(tmp_path / "documents")]}
            run = await begun(client, "How far does the tide rise?", mode="deep_research", scope=scope)
            path = f"/api/v1/runs/{run}/events"
            async with client.stream("GET", path) as one, client.stream("GET", path) as two:
                read = frames(one)  # held: one which is let go of closes its stream
                assert (await anext(read)).event == "run.created"
                assert type_of(await client.get(path)) == "too-many"
                waited = await client.post("/api/v1/runs?wait=5", json={"question": "And at Saint-Malo?"})
                assert type_of(waited) == "too-many"
                assert [each["id"] for each in (await client.get("/api/v1/runs")).json()["runs"]] == [run]
                code, rest = await asyncio.gather(asyncio.to_thread(server.stop), two.aread())
    assert code == 143
    assert rest.endswith(b"retry: 2000\n\n")
    with served(tmp_path / "home", **variables) as again:
        async with again.client() as client:
            assert (await until(client, run))["verified"]


async def test_a_server_says_whether_it_can_work(server: Served) -> None:
    async with server.client() as client:
        assert (await client.get("/readyz")).json() == {"status": "ok", "why": ""}
        assert (await client.get("/version")).json()["version"]
