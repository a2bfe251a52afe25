"""`assay fetch`, and pages among the documents of a run, from a site on loopback."""

import json
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest
import warm
from web import Site, moved, response, site

PAGE = """<!doctype html><html lang="en"><head><title>The Harbor report</title><meta name="author" content="Ada Byron">
</head><body><main><h1>The Harbor report</h1><p>The Harbor report was written by Ada Byron in 1843.
It describes the tides of the old harbor.</p></main></body></html>"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
async def there() -> AsyncIterator[Site]:
    async with site() as made:
        made.pages |= {
            "/robots.txt": response("User-agent: *\nDisallow: /private\n"),
            "/harbor": response(PAGE, Content_Type="text/html; charset=utf-8"),
            "/old": moved("/harbor", 301),
            "/private": response(PAGE),
            "/picture": response(b"\x89PNG\r\n\0\0", Content_Type="image/png"),
        }
        yield made


@pytest.fixture
def assay(tmp_path: Path) -> Run:
    async def run(*args: str, allow: str = "127.0.0.1") -> "subprocess.CompletedProcess[str]":
        env = {
            "PATH": "/usr/bin:/bin",
            "ASSAY_CONFIG": str(tmp_path / "none.toml"),
            "ASSAY_HOME": str(tmp_path / "home"),
        }
        env |= {"ASSAY_WEB_ALLOW": allow, "CI": "true"}
        return await anyio.to_thread.run_sync(lambda: warm.run(*args, env=env))

    return run


async def test_a_page_as_a_run_would_read_it(assay, there: Site):
    done = await assay("fetch", there.url("/old"))
    assert done.returncode == 0, done.stderr
    assert "\n\nThe Harbor report was written by Ada Byron in 1843" in done.stdout  # lines stay lines
    about = done.stderr
    assert "The Harbor report · Ada Byron · en · text/html" in about
    assert there.url("/harbor") in about


async def test_as_json_a_line_each_and_failures_typed(assay, there: Site):
    urls = [there.url(path) for path in ("/old", "/none", "/private", "/picture")]
    done = await assay("fetch", "--json", *urls, "http://10.0.0.1/", "ftp://example.org/")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert rows[0]["redirects"] == [there.url("/old")]
    assert rows[0]["size"] == len(PAGE.encode())
    assert [row["kind"] for row in rows[1:]] == ["not found", "robots", "not text", "blocked", "blocked"]
    assert [row["url"] for row in rows[:4]] == urls


async def test_a_page_of_this_machine_is_not_read_unasked(assay, there: Site):
    done = await assay("fetch", there.url("/harbor"), allow="")
    assert done.returncode == 1
    assert "blocked: 127.0.0.1 is a loopback address; web.allow allows such hosts" in done.stderr
    assert there.connections == 0


async def test_a_page_is_a_document_of_a_run(assay, there: Site):
    url = there.url("/old")
    done = await assay("Who wrote the Harbor report?", "--in", url, there.url("/none"), "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["summary"]["quoted"] >= 1
    assert [source["url"] for source in report["sources"] if source["number"]] == [url]
    assert "skipped" in done.stderr
    assert "not found" in done.stderr
    again = await assay("Who wrote the Harbor report?", "--in", url, "--json")
    assert again.returncode == 0


async def test_a_run_over_nothing_but_dead_pages_is_refused(assay, there: Site):
    done = await assay("Who wrote the Harbor report?", "--in", there.url("/none"))
    assert done.returncode == 2
    assert "no document could be read" in done.stderr
    assert "not found: 127.0.0.1 answered 404" in done.stderr


async def test_a_setting_which_is_no_host(assay, there: Site):
    done = await assay("fetch", there.url("/harbor"), allow="10.1/99")
    assert done.returncode == 2
    assert "web.allow: '10.1/99' is neither a host nor a network" in done.stderr
