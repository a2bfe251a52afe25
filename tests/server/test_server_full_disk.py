"""A server whose disk is full: what would be stored is refused in so many words, and reading works."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import small_disks
from serving import TIDES, add_user, command, served
from waiting import looked

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a disk is mounted")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 12 MB."""
    with small_disks.small_disk(tmp_path / "disk") as folder:
        yield folder


async def test_what_cannot_be_stored_is_refused_and_the_rest_is_read(tmp_path: Path, small_disk: Path) -> None:
    home, log = small_disk / "home", tmp_path / "log"
    add_user(home, "ana")
    token = command(home, "users", "token", "ana")
    with served(home, ASSAY_LOG_FILE=str(log)) as server:
        async with server.client(headers={"Authorization": f"Bearer {token}"}) as client:
            stored = await client.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
            assert stored.is_success, stored.text

            async def documents() -> int:
                return len((await client.get("/api/v1/collections/tides/documents")).json()["documents"])

            assert await looked(documents, lambda found: found == 1) == 1
            small_disks.fill(small_disk / "filler")
            upload = await client.post("/api/v1/collections/tides/documents?name=b.md", content=b"# B\n" * 200_000)
            run = await client.post("/api/v1/runs", json={"question": "How far does the tide at Brest rise?" * 200})
            for answer in (upload, run):
                assert answer.status_code == 507, answer.text
                assert answer.headers["content-type"] == "application/problem+json"
                problem = answer.json()
                assert problem["type"] == "urn:assay:problem:disk-full"
                assert "no space is left" in problem["detail"]
                assert str(small_disk) not in answer.text
            assert "POST /api/v1/runs: no space left to write" in log.read_text()
            assert (await client.get("/readyz")).status_code == 200
            assert await documents() == 1
            assert (await client.get("/api/v1/runs")).status_code == 200
            (small_disk / "filler").unlink()
            again = await client.post("/api/v1/runs", json={"question": "How far does the tide at Brest rise?"})
            assert again.status_code == 202, again.text
