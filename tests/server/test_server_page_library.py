"""The library on the page: sites, Git repositories, a look for changes, and who may read a collection."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from accounts import accounts, session
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from serving import Served, served
from web import response, site

HTML = "<!doctype html><title>{0}</title><main><h1>{0}</h1><p>About the {0} of the harbor.</p>{1}</main>"
READ = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return accounts(
        tmp_path_factory.mktemp("shelves") / "home", ana="member", bob="member", cem="member", dora="member"
    )


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    patient = "import assay.server.page.shelfscreen as s; s.WAIT = 60.0"  # a busy machine may not read a site in 3 s
    with served(home, program=patient, ASSAY_WEB_ALLOW="127.0.0.1", ASSAY_WEB_ROBOTS="false") as server:
        yield server


async def titles(client: httpx.AsyncClient, collection: str) -> set[str]:
    found = await client.get(f"/api/v1/collections/{collection}/documents")
    return {each["title"] for each in found.json()["documents"]}


async def test_a_site_is_read_and_looked_at_again(server: Served) -> None:
    async with site() as there, session(server, "ana") as ana:
        linked = HTML.format("pier", '<a href="wall.html">x</a>')
        there.pages |= {
            "/": response(linked, Content_Type="text/html"),
            "/wall.html": response(HTML.format("wall", ""), Content_Type="text/html"),
        }
        form = {"urls": there.url("/"), "how": "site"}
        sent = await ana.post("/library/harbor/places", data=form, headers=READ)
        assert (sent.status_code, sent.headers["location"]) == (303, "/library/harbor")
        assert await titles(ana, "harbor") == {"pier", "wall"}
        there.pages["/wall.html"] = response(HTML.format("crane", ""), Content_Type="text/html")
        assert (await ana.post("/library/harbor/sync", headers=READ)).status_code == 303
        assert await titles(ana, "harbor") == {"pier", "crane"}
        page = (await ana.get("/library/harbor", headers=READ)).text
        assert "Check for changes" in page
        assert "0 added, 1 changed, 0 gone" in page
        wrong = await ana.post("/library/harbor/places", data={"urls": "ftp://x/", "how": "site"}, headers=READ)
        assert wrong.status_code == 422
        assert "no address of the web" in wrong.text


async def test_a_name_that_does_not_fit_stays_in_its_form(server: Served) -> None:
    async with session(server, "ana") as ana:
        page = await ana.post("/library", data={"name": "Q1/Q2", "private": "1"}, headers=READ)
        assert page.status_code == 422
        html = HTMLParser(page.text)
        assert "use a name without one" in html.css_first("[role=alert]").text()
        assert html.css_first("[name=name]").attributes["value"] == "Q1/Q2"
        assert "checked" in html.css_first("[name=private]").attributes


async def test_of_many_files_those_that_could_not_be_read_are_named_first(server: Served) -> None:
    async with session(server, "ana") as ana:
        files = [("files", (f"{number}.txt", f"Pier {number} is long.".encode())) for number in range(12)]
        files.insert(0, ("files", ("broken.pdf", b"%PDF-")))
        assert (await ana.post("/library/heap/documents", files=files, headers=READ)).status_code == 303
        html = HTMLParser((await ana.get("/library/heap", headers=READ)).text)
        first = html.css_first(".additions li").text()
        assert "broken.pdf" in first
        assert first.count("broken.pdf") == 1
        assert "and 5 more" in html.css_first("section[aria-labelledby=adding]").text()
        assert not html.css("#origins")  # what was uploaded cannot be looked at again


async def test_a_git_repository_is_read(server: Served) -> None:
    """That the address is handed on as one of Git is what counts here; nothing answers at it."""
    async with session(server, "ana") as ana:
        await ana.put("/api/v1/collections/code", json={})
        form = {"urls": "http://127.0.0.1:9/harbor.git", "how": "git"}
        failed = await ana.post("/library/code/places", data=form, headers=READ)
        assert failed.status_code == 422
        assert "git" in failed.text
        latest = (await ana.get("/api/v1/additions")).json()["additions"][0]
        assert latest["name"] == "git+http://127.0.0.1:9/harbor.git"
        for url in ("GIT+http://x/../p.git", "git+file:///srv/p", "git+ssh://h.example/p", "s3://bucket/p"):
            refused = await ana.post("/api/v1/collections/code/places", json={"urls": [url]})
            assert (refused.status_code, "no address of the web" in refused.text) == (422, True)


def chosen(page: str) -> dict[str, bool]:
    """The collections that a form offers, and which are ticked."""
    boxes = HTMLParser(page).css("form.ask [name=collection]")
    return {str(each.attributes["value"]): "checked" in each.attributes for each in boxes}


async def test_a_new_question_is_asked_of_all_that_is_ones_own_and_not_private(server: Served) -> None:
    async with session(server, "cem") as cem, session(server, "dora") as dora:
        for client, names in ((cem, ("boats", "notes", "ropes")), (dora, ("sails",))):
            for name in names:
                text = f"# {name}\n\nOf {name}.\n".encode()
                await client.post(f"/api/v1/collections/{name}/documents?name={name}.md", content=text)
        await cem.put("/api/v1/collections/notes", json={"private": True})
        await dora.put("/api/v1/collections/sails", json={"readers": ["cem"]})
        for path in ("/", "/verify"):
            assert chosen((await cem.get(path, headers=READ)).text) == {
                "boats": True,
                "dora/sails": False,
                "notes": False,
                "ropes": True,
            }
        assert chosen((await dora.get("/", headers=READ)).text) == {"sails": True}


async def test_its_owner_says_who_may_read_it(server: Served) -> None:
    async with session(server, "ana") as ana, session(server, "bob") as bob:
        await ana.post("/api/v1/collections/papers/documents?name=a.md", content=b"# Pier\n\nIt is old.\n")
        for form, seen, private in (
            ({"who": "me"}, 404, False),
            ({"who": "some", "readers": "bob, ana", "private": "1"}, 200, True),
            ({"who": "all"}, 200, False),
        ):
            sent = await ana.post("/library/papers/readers", data=form, headers=READ)
            assert sent.status_code == 303, sent.text
            assert (await bob.get("/library/ana/papers", headers=READ)).status_code == seen
            assert (await ana.get("/api/v1/collections/papers")).json()["private"] == private
        forms = HTMLParser((await bob.get("/library/ana/papers", headers=READ)).text).css("main form")
        assert [form.attributes.get("role") for form in forms] == ["search"]  # it can be searched, and not changed
        assert (await bob.post("/library/ana/papers/readers", data={"who": "me"}, headers=READ)).status_code >= 400
        assert (await bob.post("/library/ana/papers/sync", headers=READ)).status_code >= 400


async def test_only_users_can_be_named_as_readers(server: Served) -> None:
    async with session(server, "ana") as ana:
        path = "/api/v1/collections/letters"
        refused = await ana.put(path, json={"readers": ["bob", "nobody-yet"]})
        assert refused.status_code == 422
        [fault] = refused.json()["errors"]
        assert fault["pointer"] == "/readers/1"
        assert "'nobody-yet' is not a user of this server" in fault["detail"]
        assert (await ana.get(path)).status_code == 404  # nothing was done
        assert (await ana.post("/api/v1/collections", json={"name": "letters", "readers": ["x"]})).status_code == 422
        assert (await ana.put(path, json={"readers": ["bob"]})).json()["readers"] == ["bob"]
        form = {"who": "some", "readers": "bob, bib"}
        page = await ana.post("/library/letters/readers", data=form, headers=READ)
        assert "is not a user of this server" in page.text
        assert (await ana.get(path)).json()["readers"] == ["bob"]


async def test_a_document_is_shown_by_its_passages(server: Served) -> None:
    text = "# Pier\n\nThe pier is 90 metres long.\n\n<b>It</b> was built in 1871.\n"
    async with session(server, "ana") as ana:
        sent = await ana.post(
            "/api/v1/collections/piers/documents?wait=20", files={"files": ("pier.md", text.encode(), "text/markdown")}
        )
        assert sent.is_success, sent.text
        (document,) = (await ana.get("/api/v1/collections/piers/documents")).json()["documents"]
        whole = (await ana.get(f"/documents/{document['sha256']}", headers=READ)).text
        assert 'class="passage"' not in whole
        assert f"/documents/{document['sha256']}?from=0&amp;passages=1" in whole
        page = HTMLParser((await ana.get(f"/documents/{document['sha256']}?passages=1", headers=READ)).text)
        shown = {node.attributes["id"]: node.text() for node in page.css("span.passage")}
        assert [each.strip() for each in shown.values()] == [
            "Pier",
            "The pier is 90 metres long.",
            "<b>It</b> was built in 1871.",
        ]
        for place, passage in shown.items():
            start = int((place or "b-1")[1:])
            assert text.encode()[start:].decode().startswith(passage)
    async with session(server, "bob") as bob:
        assert (await bob.get(f"/documents/{document['sha256']}?passages=1", headers=READ)).status_code == 404
