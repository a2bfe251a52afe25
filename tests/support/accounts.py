"""Users of a server under test: made by the command, logged in over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from serving import PASSWORD, Served, command


def accounts(home: Path, **roles: str) -> Path:
    """A home with these users; the password of each is `PASSWORD of NAME`."""
    for name, role in roles.items():
        command(home, "users", "add", name, "--role", role, stdin=f"{PASSWORD} of {name}\n")
    return home


async def logged_in(client: httpx.AsyncClient, name: str, password: str = "") -> httpx.Response:
    body = {"name": name, "password": password or f"{PASSWORD} of {name}"}
    return await client.post("/api/v1/auth/login", json=body)


def cookie_of(answer: httpx.Response) -> dict[str, str]:
    assert answer.status_code == 200, answer.text
    return {"Cookie": answer.headers["set-cookie"].partition(";")[0]}


@asynccontextmanager
async def session(server: Served, name: str) -> AsyncIterator[httpx.AsyncClient]:
    async with server.client() as client:
        client.headers.update(cookie_of(await logged_in(client, name)))
        client.cookies.clear()
        yield client


def code(answer: httpx.Response) -> str:
    """The end of a problem's type."""
    return str(answer.json()["type"].removeprefix("urn:assay:problem:"))
