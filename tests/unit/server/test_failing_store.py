"""A store that is away: requests that are refused before any route are logged, and the server is soon not ready."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.types import Message, Scope

from assay import Assay
from assay.core.errors import StoreAway
from assay.server import health
from assay.server.app import create_app
from assay.server.backend import Backend


class AwayUsers:
    """The users of a database that is away."""

    async def authenticate(self, secret: str, kind: str) -> None:
        raise StoreAway("the database cannot be reached")


class AwayHome:
    """A home whose database neither answers nor refuses."""

    users = AwayUsers()

    def __init__(self, assay: Assay) -> None:
        self._assay = assay

    def __getattr__(self, name: str) -> Any:
        return getattr(self._assay, name)

    async def runs(self, limit: int) -> None:
        await asyncio.sleep(3_600)


async def asked(app: Any, path: str) -> int:
    told: list[Message] = []
    headers = [(b"host", b"127.0.0.1"), (b"authorization", b"Bearer assay_x")]
    scope: Scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b""}

    async def send(message: Message) -> None:
        told.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    await app({**scope, "headers": headers, "client": ("127.0.0.1", 1), "scheme": "http"}, receive, send)
    return int(told[0]["status"])


async def test_a_request_is_logged_and_the_server_is_not_ready(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Assay(home=tmp_path / "home") as assay, Backend(assay) as backend:
        assert await backend.not_ready_reason() == ""
        monkeypatch.setattr(health, "READY_SECONDS", 0.05)
        backend.assay = cast("Assay", AwayHome(assay))
        try:
            app = create_app(backend, login=True)
            with caplog.at_level(logging.WARNING, "assay"):
                assert await asked(app, "/api/v1/runs") == 503
                assert "GET /api/v1/runs: the database cannot be reached" in caplog.text
                assert await backend.not_ready_reason() == "the database does not answer"
                assert await backend.not_ready_reason() == "the database does not answer"
            assert caplog.text.count("not ready: no answer within 0.05 s") == 1
        finally:
            backend.assay = assay
