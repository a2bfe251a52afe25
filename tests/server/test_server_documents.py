"""Collections over HTTP: files come in bounded, are searched and read in their context, and go."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from pdfs import column, pdf
from serving import HASTY, TIDE, TIDES, Served, begun, frames, served, until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("documents") / "home", program=HASTY, ASSAY_SERVER_UPLOAD_MB="1") as server:
        yield server


async def test_a_file_is_uploaded_searched_researched_and_removed(server: Served) -> None:
    async with server.client() as client:
        path = "/api/v1/collections/tides"
        made = await client.post(f"{path}/documents?name=tides.md", content=TIDES.encode())
        assert made.status_code == 201, made.text
        assert [(each["state"], each["documents"]) for each in made.json()["additions"]] == [("done", 1)]
        hits = (await client.get(f"{path}/search", params={"q": "tide at Brest"})).json()["hits"]
        document = [hits[0]["document"]["sha256"]]
        run = await begun(client, TIDE, scope={"collections": ["tides"]})
        assert (await until(client, run))["verified"]
        evidence = (await client.get(f"/api/v1/runs/{run}/evidence")).json()["passages"][0]
        stretch = {"start": evidence["start"], "end": evidence["end"], "around": 20}
        read = (await client.get(f"/api/v1/documents/{document[0]}/text", params=stretch)).json()
        assert read["text"] == evidence["text"]
        assert read["before"] + read["text"] + read["after"] in TIDES
        original = await client.get(f"/api/v1/documents/{document[0]}/file")
        assert original.content == TIDES.encode()
        assert original.headers["content-disposition"].startswith("attachment")
        listed = (await client.get(f"{path}/documents")).json()
        assert (listed["total"], listed["next"], listed["documents"][0]["sha256"]) == (1, None, document[0])
        gone = await client.delete(f"{path}/documents/{document[0]}")
        assert [each["sha256"] for each in gone.json()["documents"]] == document
        assert (await client.get(f"{path}/documents")).json()["total"] == 0
        assert (await client.delete(path)).status_code == 204
        assert (await client.get(path)).status_code == 404


async def test_no_answer_says_where_uploaded_files_lie(server: Served) -> None:
    async with server.client() as client:
        path = "/api/v1/collections/placed"
        answers = [await client.post(f"{path}/documents?name=tides.md", content=TIDES.encode())]
        for name, data in (("broken.pdf", b"%PDF-1.7 none"), ("empty.md", b""), ("x.zip", b"PK\x03\x04none")):
            answers.append(await client.post(f"{path}/documents?name={name}", content=data))
            assert answers[-1].status_code == 422
        [document] = (await client.get(f"{path}/documents")).json()["documents"]
        assert document["url"].startswith("upload://")
        assert document["name"] == "tides.md"
        run = await begun(client, TIDE, scope={"collections": ["placed"]})
        await until(client, run)
        share = (await client.post(f"/api/v1/runs/{run}/shares", json={})).json()["url"]
        answers.append(await client.post(f"{path}/sync"))
        for url in (
            path,
            f"{path}/documents",
            f"{path}/search?q=tide",
            "/api/v1/additions",
            f"/api/v1/documents/{document['sha256']}/text",
            *(f"/api/v1/runs/{run}/{each}" for each in ("report", "report?format=html", "report?format=json")),
            *(f"/api/v1/runs/{run}/{each}" for each in ("sources", "evidence", "claims", "method", "citations/1")),
            f"/api/v1/runs/{run}?expand=view",
            f"/api/v1/runs/{run}/report?format=bib",
            share,
        ):
            answers.append(await client.get(url))
            assert answers[-1].status_code == 200, url
        events = await client.get(f"/api/v1/runs/{run}/events", headers={"Accept": "application/json"})
        home = str(server.log.parent)
        assert not [answer.text for answer in (*answers, events) if home in answer.text or ".upload/" in answer.text]
        assert "tides.md" in (await client.get(f"/api/v1/runs/{run}/report")).text


async def test_a_form_of_several_files_and_a_sync(server: Served) -> None:
    async with server.client() as client:
        files = [("file", ("one.md", b"# One\n\nThe first.\n")), ("file", ("two.txt", b"The second one.\n"))]
        made = await client.post("/api/v1/collections/forms/documents", files=files)
        assert made.status_code == 201, made.text
        assert [(each["state"], each["documents"]) for each in made.json()["additions"]] == [("done", 1)] * 2
        synced = (await client.post("/api/v1/collections/forms/sync")).json()
        assert (synced["removed"], synced["documents"]) == (0, 2)
        shown = (await client.put("/api/v1/collections/forms", json={"private": True})).json()
        assert (shown["private"], shown["documents"]) == (True, 2)
        names = [row["name"] for row in (await client.get("/api/v1/collections")).json()["collections"]]
        assert "forms" in names


@pytest.mark.parametrize(
    "name", ["../../escaped.md", "/etc/cron.d/x.md", "..\\..\\x.md", "a\x00b.md", "x" * 400 + ".md", ".hidden.md"]
)
async def test_a_files_name_is_no_path(server: Served, name: str) -> None:
    home = server.log.parent / "home"
    outside = set(server.log.parent.rglob("*")) - set(home.rglob("*"))
    async with server.client() as client:
        made = await client.post("/api/v1/collections/names/documents", params={"name": name}, content=b"Some words.\n")
        assert made.status_code == 201, made.text
    assert set(server.log.parent.rglob("*")) - set(home.rglob("*")) == outside
    assert all((home / "uploads") in file.parents for file in home.rglob("*.md"))


@pytest.mark.parametrize("name", ["", "..", "/", " "])
async def test_what_is_no_name_is_refused(server: Served, name: str) -> None:
    async with server.client() as client:
        made = await client.post("/api/v1/collections/names/documents", params={"name": name}, content=b"Some words.\n")
        assert made.status_code == 422


async def test_an_upload_has_a_bound_and_leaves_nothing_behind(server: Served) -> None:
    async def pieces():
        for _ in range(30):
            yield b"words " * 10_000

    async with server.client() as client:
        made = await client.post("/api/v1/collections/large/documents?name=large.txt", content=pieces())
        assert (made.status_code, made.json()["type"]) == (413, "urn:assay:problem:too-large")
        assert not [file for file in (server.log.parent / "home" / "uploads").rglob("*") if "large" in file.name]
        empty = await client.post("/api/v1/collections/large/documents?name=none.pdf", content=b"")
        assert empty.status_code == 422


async def test_pages_of_the_server_itself_are_not_read(server: Served) -> None:
    async with server.client() as client:
        for url in (f"{server.url}/api/v1/settings", "http://169.254.169.254/latest/meta-data/"):
            made = await client.post("/api/v1/collections/ssrf/places", json={"urls": [url]})
            assert made.status_code == 422, made.text
        assert (
            await client.post("/api/v1/collections/ssrf/places", json={"urls": ["file:///etc/passwd"]})
        ).status_code == (422)
        assert (await client.post("/api/v1/collections/ssrf/places", json={})).status_code == 422


async def test_threads_and_pages_of_runs(server: Served) -> None:
    async with server.client() as client:
        await client.post("/api/v1/collections/talk/documents?name=tides.md", content=TIDES.encode())
        scope = {"collections": ["talk"]}
        runs = [await begun(client, f"{TIDE} ({number})", scope=scope, thread="talk") for number in range(3)]
        for run in runs:
            await until(client, run)
        listed, cursor = [], ""
        while True:
            query = {"thread": "talk", "limit": 2, "cursor": cursor}
            page = (await client.get("/api/v1/runs", params=query)).json()
            listed += [each["id"] for each in page["runs"]]
            if not (cursor := page["next"]):
                break
        assert listed == runs[::-1]
        threads = (await client.get("/api/v1/threads", params={"q": "Brest"})).json()["threads"]
        assert {each["name"]: each["runs"] for each in threads}["talk"] == 3
        data = (await client.get("/api/v1/threads/talk")).json()["messages"]
        assert [each["by"] for each in data] == ["user", "assistant"] * 3
        renamed = await client.patch("/api/v1/threads/talk", json={"title": "About tides"})
        assert renamed.json()["title"] == "About tides"
        gone = await client.delete("/api/v1/threads/talk")
        assert set(gone.json()["runs"]) == set(runs)
        assert (await client.get("/api/v1/threads/talk")).status_code == 404
        assert (await client.get("/api/v1/runs", params={"cursor": "nonsense"})).status_code == 422


async def test_a_schedule_is_kept_and_asked(server: Served) -> None:
    async with server.client() as client:
        await client.post("/api/v1/collections/daily/documents?name=tides.md", content=TIDES.encode())
        run = {"question": TIDE, "depth": "light", "scope": {"collections": ["daily"]}}
        made = (await client.post("/api/v1/schedules", json={"every": "7d", "run": run})).json()
        assert (made["every"], made["runs"]) == (604_800, [])
        while not (kept := (await client.get("/api/v1/schedules")).json()["schedules"][0])["runs"]:
            await asyncio.sleep(0.1)
        assert kept["next_at"] > made["next_at"]
        assert (await until(client, kept["runs"][0]))["question"] == TIDE
        assert (await client.post("/api/v1/schedules", json={"every": "sometimes", "run": run})).status_code == 422
        assert (await client.delete(f"/api/v1/schedules/{made['id']}")).status_code == 204
        assert (await client.delete(f"/api/v1/schedules/{made['id']}")).status_code == 404


async def test_one_stream_tells_how_all_runs_stand(server: Served) -> None:
    async with server.client() as client, client.stream("GET", "/api/v1/events") as stream:
        await client.post("/api/v1/collections/told/documents?name=tides.md", content=TIDES.encode())
        run = await begun(client, TIDE, scope={"collections": ["told"]})
        seen = []
        async for frame in frames(stream):
            if frame.json["id"] == run:
                seen.append(frame.json["status"])
            if seen and seen[-1] == "completed":
                break
    assert frame.event == "run"
    assert frame.json["question"] == TIDE


async def test_documents_are_read_in_the_background_where_nobody_waits(server: Served) -> None:
    async with server.client() as client:
        query = {"name": "later.md", "wait": 0}
        made = await client.post("/api/v1/collections/later/documents", params=query, content=TIDES.encode())
        [addition] = made.json()["additions"]
        assert made.status_code in (201, 202)
        path = f"/api/v1/additions/{addition['id']}"
        async with client.stream("GET", f"{path}/events") as stream:
            seen = [frame.json async for frame in frames(stream)]
        assert (seen[-1]["state"], seen[-1]["documents"]) == ("done", 1)
        assert (await client.get(path)).json() == seen[-1]
        known = {"Last-Event-ID": str(seen[-1]["seq"])}
        assert (await client.get(f"{path}/events", headers=known)).status_code == 204  # an EventSource stays away
        known = {"Last-Event-ID": str(seen[-1]["seq"] - 1)}
        async with client.stream("GET", f"{path}/events", headers=known) as stream:
            assert [frame.json async for frame in frames(stream)] == seen[-1:]
        assert (await client.get(f"{path}/events", headers={"Last-Event-ID": "x"})).status_code == 422
        listed = (await client.get("/api/v1/additions")).json()["additions"]
        assert addition["id"] in [each["id"] for each in listed]
        assert (await client.get("/api/v1/collections/later/documents")).json()["total"] == 1


async def test_a_document_is_described_and_read_page_by_page(server: Served) -> None:
    async with server.client() as client:
        made = await client.post("/api/v1/collections", json={"name": "printed", "readers": []})
        assert (made.status_code, made.json()["documents"]) == (201, 0)
        assert (await client.post("/api/v1/collections", json={"name": "printed"})).status_code == 409
        data = pdf([column("The tide at Brest rises seven metres."), column("The mistral blows from the north.")])
        await client.post("/api/v1/collections/printed/documents?name=winds.pdf", content=data)
        [document] = (await client.get("/api/v1/collections/printed/documents")).json()["documents"]
        facts = (await client.get(f"/api/v1/documents/{document['sha256']}")).json()
        assert facts["document"] == document
        assert (facts["pages"], facts["bytes"], facts["collections"]) == (2, len(data), ["printed"])
        second = (await client.get(f"/api/v1/documents/{document['sha256']}/pages/2")).json()
        assert (second["text"].strip(), second["pages"]) == ("The mistral blows from the north.", 2)
        stretch = {"start": second["start"], "end": second["end"]}
        read = (await client.get(f"/api/v1/documents/{document['sha256']}/text", params=stretch)).json()
        assert read["text"] == second["text"]
        for number in ("0", "3"):
            assert (await client.get(f"/api/v1/documents/{document['sha256']}/pages/{number}")).status_code == 404


async def test_a_page_is_drawn_and_a_passage_is_found_on_it(server: Served) -> None:
    async with server.client() as client:
        data = pdf(
            [column("The tide at Brest rises seven metres."), column("Salt.", "The mistral blows from the north.")]
        )
        await client.post("/api/v1/collections/drawn/documents?name=winds.pdf", content=data)
        await client.post("/api/v1/collections/drawn/documents?name=tides.md", content=TIDES.encode())
        documents = (await client.get("/api/v1/collections/drawn/documents")).json()["documents"]
        known = {each["name"]: f"/api/v1/documents/{each['sha256']}" for each in documents}
        winds, tides = known["winds.pdf"], known["tides.md"]
        picture = await client.get(f"{winds}/pages/2/picture", params={"width": 400})
        assert (picture.status_code, picture.headers["content-type"]) == (200, "image/png")
        assert int.from_bytes(picture.content[16:20]) == 400
        page = (await client.get(f"{winds}/pages/2")).json()
        start = page["start"] + page["text"].index("The mistral")
        stretch = {"start": start, "end": start + len("The mistral blows")}
        places = (await client.get(f"{winds}/places", params=stretch)).json()
        assert (places["number"], places["width"], len(places["boxes"])) == (2, 595, 1)
        assert places["boxes"][0]["left"] == pytest.approx(72 / 595, abs=0.01)
        assert (await client.get(f"{winds}/pages/3/picture")).status_code == 404
        for path in (f"{tides}/pages/1/picture", f"{tides}/places?start=0&end=5", f"{winds}/places?start=9&end=9999"):
            assert (await client.get(path)).status_code == 422


async def test_several_collections_are_searched_at_once(server: Served) -> None:
    async with server.client() as client:
        for name, text in (("one", "The heron of Ourne wades.\n"), ("two", "The heron of Ourne nests.\n")):
            await client.post(f"/api/v1/collections/{name}/documents?name={name}.md", content=text.encode())
        asked = {"q": "heron of Ourne"}
        both = (await client.post("/api/v1/search", json={**asked, "collections": ["one", "two"]})).json()["hits"]
        assert {hit["document"]["name"] for hit in both} == {"one.md", "two.md"}
        alone = (await client.post("/api/v1/search", json={**asked, "collections": ["two"]})).json()["hits"]
        assert [hit["document"]["name"] for hit in alone] == ["two.md"]
        whole = (await client.post("/api/v1/search", json=asked)).json()["hits"]
        assert {hit["document"]["name"] for hit in whole} >= {"one.md", "two.md"}
        refused = await client.post("/api/v1/search", json={**asked, "collections": ["none"]})
        assert refused.status_code in (404, 422)


async def test_a_run_is_begun_and_waited_for_in_one_request(server: Served) -> None:
    async with server.client() as client:
        await client.post("/api/v1/collections/waited/documents?name=tides.md", content=TIDES.encode())
        body = {"question": TIDE, "scope": {"collections": ["waited"]}, "depth": "light"}
        made = await client.post("/api/v1/runs?wait=60", json=body, timeout=90)
        assert (made.status_code, made.json()["status"]) == (202, "completed")
        assert (await client.post("/api/v1/runs?wait=61", json=body)).status_code == 422
        run = f"/api/v1/runs/{made.json()['id']}"
        for path, more in ((f"{run}/ask?wait=60", {}), (f"{run}/follow-up?wait=60", {"depth": "light"})):
            made = await client.post(path, json={"question": TIDE, **more}, timeout=90)
            assert (made.status_code, made.json()["status"]) == (202, "completed")


async def test_a_form_that_cannot_be_read_says_why(server: Served) -> None:
    async with server.client() as client:
        path, sent = "/api/v1/collections/forms/documents", {"Content-Type": "multipart/form-data"}
        broken = await client.post(path, content=b"--x\r\n", headers=sent)
        assert (broken.status_code, broken.json()["detail"]) == (
            400,
            "the form cannot be read: Missing boundary in multipart.",
        )
        many = await client.post(path, files=[("file", (f"{number}.md", b"x")) for number in range(101)])
        assert (many.status_code, many.json()["detail"]) == (
            400,
            "the form cannot be read: Too many files. Maximum number of files is 100.",
        )
        large = {"question": "x" * 1_000_001}
        page = await client.post("/verify", data=large, files={"files": ("a.md", b"")}, headers={"Accept": "text/html"})
        assert page.status_code == 400
        assert "The form cannot be read: Part exceeded maximum size" in page.text
