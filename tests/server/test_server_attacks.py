"""Attacks on a real server, each over every route or text it could come by."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import lxml.html
import psutil
import pytest
from accounts import accounts, code, session
from serving import PASSWORD, TIDES, WAIT, Served, begun, command, served, until
from waiting import looked

EVIL = "https://evil.example"
MARKS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "[x](javascript:alert(4))",
    "</title></style></textarea><iframe srcdoc='<b>'>",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return accounts(tmp_path_factory.mktemp("attacked") / "home", ana="admin")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    log = {"ASSAY_LOG_LEVEL": "debug", "ASSAY_LOG_STDERR": "true", "ASSAY_LOG_FILE": str(home.parent / "assay.log")}
    with served(home, ASSAY_SEARCH_WEB="false", **log) as server:
        yield server


def operations(described: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Method and path of every operation, with something in the place of each name."""
    for path, methods in described["paths"].items():
        for method in methods:
            yield method.upper(), re.sub(r"\{\w+\}", "x", path)


PROTOCOLS = (
    ("POST", "/mcp"),
    ("DELETE", "/mcp"),
    ("POST", "/v1/responses"),
    ("POST", "/v1/chat/completions"),
    ("DELETE", "/v1/responses/x"),
)


# other sites


@pytest.mark.parametrize(
    "sent", [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": EVIL}, {"Origin": "null"}]
)
async def test_no_route_is_changed_by_a_page_of_another_site(server: Served, sent: dict[str, str]) -> None:
    async with session(server, "ana") as ana:
        described = (await ana.get("/openapi.json")).json()
        changing = [each for each in (*operations(described), *PROTOCOLS) if each[0] not in ("GET", "HEAD")]
        assert len(changing) > 30
        for method, path in changing:
            answer = await ana.request(method, path, headers=sent, json={})
            assert answer.status_code == 403, (method, path, answer.text)
            assert "another site" in answer.text
        assert (await ana.get("/api/v1/auth/me")).json()["name"] == "ana"


async def test_no_get_changes_anything(server: Served) -> None:
    """What a link or a picture on another site can do with the user's cookie."""
    async with session(server, "ana") as ana:
        described = (await ana.get("/openapi.json")).json()
        lists = ("runs", "threads", "collections", "schedules", "additions", "users")
        before = [(await ana.get(f"/api/v1/{each}")).json() for each in lists]
        for method, path in operations(described):
            if method == "GET" and not path.endswith("/events"):
                await ana.get(path, headers={"Sec-Fetch-Site": "cross-site"})
        assert [(await ana.get(f"/api/v1/{each}")).json() for each in lists] == before


async def test_no_route_answers_to_another_name(server: Served) -> None:
    async with session(server, "ana") as ana:
        described = (await ana.get("/openapi.json")).json()
        rebound = {"Host": "rebound.example", "Origin": "http://rebound.example", "Sec-Fetch-Site": "same-origin"}
        for method, path in (*operations(described), *PROTOCOLS, ("GET", "/mcp"), ("GET", "/v1/models")):
            answer = await ana.request(method, path, headers=rebound)
            assert answer.status_code == 421, (method, path)


# secrets


async def test_no_secret_is_in_a_log_or_an_error(server: Served, home: Path) -> None:
    token = command(home, "users", "token", "ana").splitlines()[0]
    secrets = [token, "assay_a-wrong-token", "a wrong password", f"{PASSWORD} of ana"]
    async with session(server, "ana") as ana, server.client() as client:
        session_secret = ana.headers["Cookie"].partition("=")[2]
        secrets.append(session_secret)
        answers = [
            await client.get("/api/v1/runs", headers={"Authorization": f"Bearer {token}"}),
            await client.get("/api/v1/runs/none", headers={"Authorization": f"Bearer {token}"}),
            await client.get("/api/v1/runs", headers={"Authorization": "Bearer assay_a-wrong-token"}),
            await client.get(f"/api/v1/runs?token={token}&access_token={token}"),
            await client.post("/api/v1/auth/login", json={"name": "ana", "password": "a wrong password"}),
            await client.post("/api/v1/auth/login", json={"name": "ana", "password": ["a wrong password"]}),
            await ana.put("/api/v1/auth/password", json={"old": "a wrong password", "new": "x"}),
            await client.post("/mcp", headers={"Authorization": f"Bearer {token}"}, content=b"{"),
            await client.post("/v1/responses", headers={"Authorization": f"Bearer {token}"}, json={"model": "none"}),
        ]
    assert [answer.status_code for answer in answers[:4]] == [200, 404, 401, 401]
    kept = [server.output(), *(each.read_text(errors="replace") for each in home.parent.rglob("*.log"))]
    for secret in secrets:
        assert not [text for text in (*kept, *(answer.text for answer in answers)) if secret in text], secret


# addresses


@contextmanager
def canary() -> Iterator[tuple[int, list[str]]]:
    """A server of this machine's own network which nobody may be made to ask; its port, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html><body><p>The password of the router is swordfish.</p></body></html>")

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("0.0.0.0", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield running.server_address[1], asked
    finally:
        running.shutdown()
        running.server_close()
        thread.join(timeout=WAIT)


HOSTS = (
    *("127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "0.0.0.0", "user@127.0.0.1"),
    *("[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]", "127.0.0.1.", "localhost.", "①②⑦.0.0.1"),
)


async def test_no_address_of_its_own_network_is_asked_by_whatever_route(tmp_path: Path) -> None:
    with canary() as (port, asked), served(tmp_path / "home") as server:
        async with server.client() as client:
            for host in HOSTS:
                url = f"http://{host}:{port}/{quote(host)}"
                for path, body in (
                    ("/api/v1/collections/c/places", {"urls": [url]}),
                    ("/api/v1/collections/c/crawl", {"url": url}),
                    ("/api/v1/verify", {"text": f"The password is swordfish [x]({url}).", "web": True}),
                ):
                    answer = await client.post(path, json=body)
                    assert answer.status_code < 500, answer.text
                    assert "router" not in answer.text
            scope = {"urls": [f"http://127.0.0.1:{port}/run"], "web": False}
            made = await client.post("/api/v1/runs", json={"question": "What is the password?", "scope": scope})
            if made.status_code == 202:
                await ended(client, made.json()["id"])
        assert asked == []


async def ended(client: Any, run: str) -> None:
    async def status() -> Any:
        return (await client.get(f"/api/v1/runs/{run}")).json()["status"]

    over = ("completed", "failed", "cancelled")
    assert await looked(status, lambda found: found in over) in over


# pages


async def test_no_text_becomes_a_part_of_a_page(server: Served) -> None:
    hostile = " ".join(MARKS)
    document = f"# {hostile}\n\n{hostile} The tide at Brest rises seven metres {hostile}. {TIDES}"
    async with session(server, "ana") as ana, server.client() as nobody:
        path = f"/api/v1/collections/{quote('<b onclick=x>')}"
        named = quote("<img src=x onerror=alert(5)>.md")
        made = await ana.post(f"{path}/documents?name={named}", content=document.encode())
        assert made.status_code == 201, made.text
        run = await begun(
            ana,
            f"How far does the tide at Brest rise? {hostile}",
            scope={"collections": ["<b onclick=x>"]},
            thread="<script>x",
            labels={"<script>": hostile},
            report={"template": f"# {hostile}\n\n## {MARKS[0]}\n", "instructions": hostile},
        )
        await until(ana, run)
        share = (await ana.post(f"/api/v1/runs/{run}/shares", json={})).json()["url"]
        pages = [
            await ana.get(f"/api/v1/runs/{run}/report?format=html"),
            await nobody.get(share, headers={"Accept": "text/html"}),
            await nobody.get("/docs"),
        ]
        for page in pages:
            assert (page.status_code, page.headers["content-type"].partition(";")[0]) == (200, "text/html")
            check_page(page.text)
            assert re.search(r"(^|; )default-src 'none'", page.headers["content-security-policy"])
        assert "seven metres" in pages[0].text
        others = [
            await ana.get(f"/api/v1/runs/{run}"),
            await ana.get(f"/api/v1/runs/{run}/report?format=md"),
            await ana.get(f"/api/v1/runs/{quote(MARKS[0], safe='')}"),
            await ana.get(f"/api/v1/runs?limit={quote(MARKS[0])}"),
            await nobody.get(f"/{quote(MARKS[0])}"),
            await nobody.get(f"/s/{quote(MARKS[0], safe='')}"),
        ]
        for answer in others:
            assert "html" not in answer.headers["content-type"]
            assert answer.headers["x-content-type-options"] == "nosniff"


def check_page(text: str) -> None:
    """Nothing in a page acts: no script, no handler, no frame, no address which is one."""
    page = lxml.html.document_fromstring(text)
    acting = [each.tag for each in page.iter("iframe", "object", "embed", "form", "base")]
    acting += page.xpath("//meta[@http-equiv='refresh']")
    own = [each.text or "" for each in page.iter("script")]  # of the exported file, for readers without a server
    assert len(own) <= 1
    assert not [text for text in own if "alert" in text]
    handlers = [name for each in page.iter() for name in each.attrib if str(name).lower().startswith("on")]
    links = [
        value
        for each in page.iter()
        for name, value in each.attrib.items()
        if name in ("href", "src", "action", "srcdoc", "formaction")
        and not re.match(r"(https?://|#|/|mailto:|data:image/)", value.strip())
        and re.match(r"\s*\w+:", value)
    ]
    assert (acting, handlers, [each for each in links if "script" in each.lower()]) == ([], [], [])


# bodies


def test_a_body_which_drips_is_not_waited_for(tmp_path: Path) -> None:
    with served(tmp_path / "home", program="import assay.server.guards as g; g.BODY_SECONDS = 2.0") as server:
        address = urlsplit(server.url)
        answer, seconds = dripped(str(address.hostname), int(address.port or 0))
    assert answer.startswith(b"HTTP/1.1 408"), answer
    assert 1.5 < seconds < 20


def dripped(host: str, port: int) -> tuple[bytes, float]:
    """What a server answers to a body of which a byte comes each while, and after how many seconds."""
    began = time.monotonic()
    with socket.create_connection((host, port), timeout=60) as connection:
        head = "POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: 100000\r\n\r\n{{".encode())
        connection.settimeout(0.2)
        answer = b""
        while time.monotonic() - began < 50 and not answer:
            with suppress(ConnectionError):  # it has answered and closed since we looked: what it said lies here
                connection.sendall(b" ")
            with suppress(TimeoutError):
                answer = connection.recv(200)
    return answer, time.monotonic() - began


def computed(server: Served) -> float:
    """Seconds of processor time a server has taken."""
    times = psutil.Process(server.process.pid).cpu_times()
    return float(times.user + times.system)


async def test_bodies_made_to_cost_much_are_refused_at_once(server: Served) -> None:
    deep = "[" * 100_000
    async with session(server, "ana") as ana:
        for body in (
            f'{{"question": {deep}',
            '{"question": "' + "x" * 2_000_000 + '"}',
            json.dumps({"question": "x", "report": {"schema": {"a": 1}}, "budget": {"usd": 1e400}}, allow_nan=True),
            '{"question": "x", "budget": {"tokens": ' + "9" * 5_000 + "}}",
            '{"question": "' + "\\ud800" * 100 + '"}',
        ):
            began = computed(server)
            answer = await ana.post("/api/v1/runs", content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code in (400, 413, 422), answer.text[:200]
            assert code(answer) in ("bad-request", "too-large", "invalid")
            assert computed(server) - began < 10
        assert (await ana.get("/livez")).status_code == 200
