"""Webhooks: signed, sent until they are heard, also after a kill, and never to an address inside."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from serving import HASTY, TIDE, TIDES, WAIT, Served, begun, command, served, until
from waiting import looked

LOOPBACK = {"ASSAY_SERVER_WEBHOOK_HOSTS": "127.0.0.1"}
UNSAID = 1.0
"""Seconds of silence after which nothing more will be told: several looks long."""
FRESH = 300
"""Seconds a message may be old, as receivers have it; one lost with its server is sent again after half a minute."""


class Receiver:
    """A receiver on loopback; it answers as it is told to, and keeps what it gets."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(receiver.answers.pop(0) if receiver.answers else 204)
                self.send_header("Location", receiver.url + "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    async def until(self, wanted: Callable[[], bool]) -> None:
        end = time.monotonic() + WAIT
        while not wanted():
            assert time.monotonic() < end, self.got
            await asyncio.sleep(0.05)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


def verified(got: tuple[dict[str, str], bytes], secret: str) -> dict[str, Any]:
    """A message, by the specification of Standard Webhooks: id, time and body are signed."""
    headers, body = got
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    signature = base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    assert headers["webhook-signature"] == f"v1,{signature}"
    assert abs(time.time() - int(headers["webhook-timestamp"])) < FRESH
    openai.OpenAI(api_key="x").webhooks.verify_signature(body, headers, secret=secret)
    data: dict[str, Any] = json.loads(body)
    assert data["id"] == headers["webhook-id"]
    return data


async def hooked(client: httpx.AsyncClient, url: str, *events: str) -> tuple[str, str]:
    """A new webhook: its id and secret."""
    answer = await client.post("/api/v1/webhooks", json={"url": url, **({"events": events} if events else {})})
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert made["secret"].startswith("whsec_")
    return made["webhook"]["id"], made["secret"]


async def asked(client: httpx.AsyncClient, **body: Any) -> str:
    """A run over one document; its id."""
    await client.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
    return await begun(client, TIDE, scope={"collections": ["tides"]}, **body)


async def test_a_run_which_ends_or_waits_is_told(tmp_path: Path, receiver: Receiver) -> None:
    with served(tmp_path / "home", program=HASTY, **LOOPBACK) as server:
        async with server.client() as client:
            id, secret = await hooked(client, receiver.url)
            other, _ = await hooked(client, receiver.url, "run.failed")
            run = await asked(client, mode="deep_research", review_plan="required", depth="light")
            await receiver.until(lambda: len(receiver.got) == 1)
            waiting = verified(receiver.got[0], secret)
            assert (waiting["type"], waiting["object"]) == ("run.waiting", "event")
            data = {"object": "run", "id": run, "status": "waiting", "url": f"/api/v1/runs/{run}", "topic": "plan"}
            assert waiting["data"] == data
            assert (await client.post(f"/api/v1/runs/{run}/plan/approve")).status_code == 202
            await receiver.until(lambda: len(receiver.got) == 2)
            ended = verified(receiver.got[1], secret)
            assert ended["type"] == "run.finished"
            assert (ended["data"]["id"], ended["data"]["verified"]) == (run, True)
            assert ended["timestamp"].endswith("Z")
            everything = str(receiver.got)
            assert TIDE not in everything
            assert "Brest" not in everything

            listed = await client.get("/api/v1/webhooks")
            assert [each["id"] for each in listed.json()["webhooks"]] == [id, other]
            assert secret not in listed.text + (await client.get(f"/api/v1/webhooks/{id}")).text + server.output()
            deliveries = await delivered(client, id, lambda every: {each["state"] for each in every} == {"sent"})
            assert {(each["state"], each["status"], each["attempts"]) for each in deliveries} == {("sent", 204, 1)}
            assert {each["id"] for each in deliveries} == {waiting["id"], ended["id"]}
            assert (await client.get(f"/api/v1/webhooks/{other}/deliveries")).json()["deliveries"] == []
            assert (await client.delete(f"/api/v1/webhooks/{id}")).status_code == 204
            assert (await client.get(f"/api/v1/webhooks/{id}")).status_code == 404


async def test_what_was_not_heard_is_sent_again_also_after_a_kill(tmp_path: Path, receiver: Receiver) -> None:
    home = tmp_path / "home"
    receiver.answers = [500, 302]  # a redirect is not followed
    with served(home, program=HASTY, **LOOPBACK) as server:
        async with server.client() as client:
            id, secret = await hooked(client, receiver.url, "run.finished")
            await until(client, await asked(client))
            await receiver.until(lambda: len(receiver.got) == 1)
            server.kill()
    hurry(home)
    with served(home, program=HASTY, **LOOPBACK) as server:
        async with server.client() as client:
            await receiver.until(lambda: len(receiver.got) == 2)
            first, second = (verified(got, secret) for got in receiver.got)
            assert first == second
            [delivery] = await delivered(client, id, lambda every: every[0]["status"] == 302)
            assert (delivery["state"], delivery["attempts"], delivery["error"]) == ("waiting", 2, "refused")
            hurry(home)
            await receiver.until(lambda: len(receiver.got) == 3)
            assert verified(receiver.got[2], secret) == first
            [delivery] = await delivered(client, id, lambda every: every[0]["state"] == "sent")
            await asyncio.sleep(UNSAID)
            assert (delivery["state"], delivery["attempts"], delivery["status"]) == ("sent", 3, 204)
            assert len(receiver.got) == 3


async def delivered(
    client: httpx.AsyncClient, id: str, is_wanted: Callable[[list[dict[str, Any]]], object]
) -> list[dict[str, Any]]:
    """What a webhook was told, once that is as wanted."""

    async def look() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await client.get(f"/api/v1/webhooks/{id}/deliveries")).json()["deliveries"]
        return found

    return await looked(look, is_wanted)


def hurry(home: Path) -> None:
    """What waits is due."""
    stored = sqlite3.connect(home / "assay.db", timeout=30)
    with stored:
        stored.execute("UPDATE deliveries SET due = 0 WHERE state = 'waiting'")
    stored.close()


async def test_a_run_which_ends_while_the_server_is_down_is_told_later(tmp_path: Path, receiver: Receiver) -> None:
    home = tmp_path / "home"
    with served(home, program=HASTY, **LOOPBACK) as server:
        async with server.client() as client:
            _, secret = await hooked(client, receiver.url, "run.finished")
    (tmp_path / "tides.md").write_text(TIDES)
    command(home, TIDE, "--yes", "--in", str(tmp_path / "tides.md"))
    assert receiver.got == []
    with served(home, program=HASTY, **LOOPBACK):
        await receiver.until(lambda: len(receiver.got) == 1)
        assert verified(receiver.got[0], secret)["data"]["status"] == "completed"


async def test_a_receiver_which_is_gone_is_told_no_more(tmp_path: Path, receiver: Receiver) -> None:
    receiver.answers = [410]
    with served(tmp_path / "home", program=HASTY, **LOOPBACK) as server:
        async with server.client() as client:
            id, _ = await hooked(client, receiver.url)
            await until(client, await asked(client))
            await receiver.until(lambda: len(receiver.got) == 1)
            await until(client, await asked(client))
            await asyncio.sleep(UNSAID)
            assert len(receiver.got) == 1
            assert (await client.get(f"/api/v1/webhooks/{id}")).json()["disabled"] == "gone"


async def test_a_schedule_is_told_when_it_was_asked(tmp_path: Path, receiver: Receiver) -> None:
    with served(tmp_path / "home", program=HASTY, **LOOPBACK) as server:
        async with server.client() as client:
            _, secret = await hooked(client, receiver.url, "schedule.finished")
            await client.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
            schedule_wanted = {"every": "7d", "run": {"question": TIDE, "scope": {"collections": ["tides"]}}}
            schedule = (await client.post("/api/v1/schedules", json=schedule_wanted)).json()["id"]
            await receiver.until(lambda: len(receiver.got) == 1)
            checked = verified(receiver.got[0], secret)
            assert checked["type"] == "schedule.finished"
            run = checked["data"]["run"]
            assert checked["data"] == {
                "object": "schedule",
                "id": schedule,
                "run": run,
                "status": "completed",
                "url": f"/api/v1/runs/{run}",
            }
            assert (await client.get(f"/api/v1/runs/{run}")).json()["status"] == "completed"


INSIDE = (
    "http://127.0.0.1:8484/livez",
    "https://127.0.0.1/",
    "https://localhost/hook",
    "https://[::1]/hook",
    "https://[::ffff:127.0.0.1]/hook",
    "https://0x7f.1/hook",
    "https://2130706433/hook",
    "https://10.0.0.1/hook",
    "https://192.168.1.1/hook",
    "https://169.254.169.254/latest/meta-data",
    "https://0.0.0.0/hook",
    "http://93.184.215.14/hook",
    "ftp://example.org/hook",
    "file:///etc/passwd",
    "https://user:secret@93.184.215.14/hook",
    "not an address",
    "",
)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("guarded-hooks") / "home") as server:
        yield server


@pytest.mark.parametrize("url", INSIDE)
async def test_an_address_inside_is_no_webhook(guarded: Served, url: str) -> None:
    async with guarded.client() as client:
        answer = await client.post("/api/v1/webhooks", json={"url": url})
        assert (answer.status_code, answer.json()["type"]) == (422, "urn:assay:problem:invalid"), answer.text
        assert (await client.get("/api/v1/webhooks")).json()["webhooks"] == []


async def test_what_is_wanted_of_a_webhook_is_checked(guarded: Served) -> None:
    async with guarded.client() as client:
        for body in ({"url": "https://93.184.215.14/h", "events": ["run.begun"]}, {"events": ["run.failed"]}):
            assert (await client.post("/api/v1/webhooks", json=body)).status_code == 422
        none = {"url": "https://93.184.215.14/h", "events": []}
        assert (await client.post("/api/v1/webhooks", json=none)).status_code == 422
        public = {"url": "https://93.184.215.14/h", "events": ["run.failed"]}
        made = await client.post("/api/v1/webhooks", json=public)
        assert made.status_code == 201
        await client.delete(f"/api/v1/webhooks/{made.json()['webhook']['id']}")


async def test_an_address_which_turns_inside_is_not_connected_to(tmp_path: Path, receiver: Receiver) -> None:
    """An address which was allowed when the webhook was made, and is not any more, is checked again when it is told."""
    home = tmp_path / "home"
    with served(home, program=HASTY, **LOOPBACK) as server:
        async with server.client() as client:
            id, _ = await hooked(client, receiver.url)
    with served(home, program=HASTY) as server:
        async with server.client() as client:
            await until(client, await asked(client))
            found = await delivered(client, id, lambda every: every and every[0]["state"] != "waiting")
            assert [(each["state"], each["error"]) for each in found] == [("failed", "blocked")]
            assert receiver.got == []


async def test_several_servers_tell_a_webhook_once(new_database: Callable[[], str], tmp_path: Path) -> None:
    receiver, shared = Receiver(), {**LOOPBACK, "ASSAY_DATABASE": new_database()}
    shared["ASSAY_BLOBS"] = str(tmp_path / "blobs")
    try:
        with (
            served(tmp_path / "one", program=HASTY, **shared) as one,
            served(tmp_path / "two", program=HASTY, **shared) as two,
        ):
            async with one.client() as first, two.client() as second:
                id, secret = await hooked(first, receiver.url, "run.finished")
                runs = [await asked(client) for client in (first, second, second)]
                for run in runs:
                    await until(second, run)
                await receiver.until(lambda: len(receiver.got) >= 3)
                await asyncio.sleep(UNSAID)
                assert sorted(verified(got, secret)["data"]["id"] for got in receiver.got) == sorted(runs)
                deliveries = await delivered(second, id, lambda every: {each["state"] for each in every} == {"sent"})
                assert [(each["state"], each["attempts"]) for each in deliveries] == [("sent", 1)] * 3
    finally:
        receiver.close()


SECRET = "whsec_" + base64.b64encode(b"a secret of the client's, 32 byt").decode()


async def test_a_run_tells_its_own_webhook_and_no_other_run_does(tmp_path: Path, receiver: Receiver) -> None:
    home = tmp_path / "home"
    with served(home, program=HASTY, **LOOPBACK) as server:
        async with server.client() as client:
            await until(client, await asked(client))
            run = await asked(client, webhook={"url": receiver.url, "secret": SECRET})
            await receiver.until(lambda: len(receiver.got) == 1)
            checked = verified(receiver.got[0], SECRET)
            assert (checked["type"], checked["data"]["id"], checked["data"]["status"]) == (
                "run.finished",
                run,
                "completed",
            )
            await until(client, await asked(client))
            assert (await client.get("/api/v1/webhooks")).json()["webhooks"] == []
            answer = await client.get("/api/v1/webhooks", params={"run": run})
            [hook] = answer.json()["webhooks"]
            assert (hook["run"], hook["url"], len(hook["events"])) == (run, receiver.url, 4)
            assert (
                SECRET not in answer.text + (await client.get(f"/api/v1/webhooks/{hook['id']}")).text + server.output()
            )
            [delivery] = (await client.get(f"/api/v1/webhooks/{hook['id']}/deliveries")).json()["deliveries"]
            assert delivery["id"] == checked["id"]
            assert (await client.delete(f"/api/v1/runs/{run}")).status_code == 204
            assert (await client.get(f"/api/v1/webhooks/{hook['id']}")).status_code == 404
        assert len(receiver.got) == 1
    with sqlite3.connect(home / "assay.db") as database:
        assert database.execute(
            "SELECT (SELECT count(*) FROM webhooks) + (SELECT count(*) FROM deliveries)"
        ).fetchone() == (0,)


async def test_a_repeated_request_tells_once_and_a_follow_up_has_a_webhook_too(
    tmp_path: Path, receiver: Receiver
) -> None:
    hook = {"url": receiver.url, "secret": SECRET, "events": ["run.finished"]}
    with served(tmp_path / "home", program=HASTY, **LOOPBACK) as server:
        async with server.client() as client:
            await client.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
            body, key = (
                {"question": TIDE, "scope": {"collections": ["tides"]}, "webhook": hook},
                {"Idempotency-Key": '"a"'},
            )
            first = await client.post("/api/v1/runs", json=body, headers=key)
            again = await client.post("/api/v1/runs", json=body, headers=key)
            assert (first.status_code, first.json()["id"]) == (202, again.json()["id"])
            await until(client, first.json()["id"])
            await receiver.until(lambda: len(receiver.got) == 1)
            path = f"/api/v1/runs/{first.json()['id']}/follow-up"
            more = await client.post(path, json={"question": "And in Brest?", "webhook": hook})
            assert more.status_code == 202, more.text
            await receiver.until(lambda: len(receiver.got) == 2)
            checked = [verified(got, SECRET)["data"]["id"] for got in receiver.got]
            assert checked == [first.json()["id"], more.json()["id"]]


@pytest.mark.parametrize(
    "hook",
    [
        {"url": "http://169.254.169.254/latest", "secret": SECRET},
        {"url": "https://10.0.0.1/hook", "secret": SECRET},
        {"url": "file:///etc/passwd", "secret": SECRET},
        {"url": "http://127.0.0.1:9/hook", "secret": "whsec_c2hvcnQ="},
        {"url": "http://127.0.0.1:9/hook", "secret": "no secret of the standard"},
        {"url": "http://127.0.0.1:9/hook", "secret": SECRET, "events": []},
        {"url": "http://127.0.0.1:9/hook", "secret": SECRET, "events": ["schedule.finished"]},
        {"url": "http://127.0.0.1:9/hook"},
    ],
)
async def test_a_webhook_which_cannot_be_begins_no_run(shared: Served, hook: dict[str, Any]) -> None:
    async with shared.client() as client:
        answer = await client.post("/api/v1/runs", json={"question": TIDE, "webhook": hook})
        assert answer.status_code == 422, answer.text
        assert hook.get("secret", "-") not in answer.text
        assert (await client.get("/api/v1/runs")).json()["runs"] == []


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("refused") / "home", **LOOPBACK) as server:
        yield server
