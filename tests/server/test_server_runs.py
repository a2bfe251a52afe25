"""A server process, and runs over HTTP: begun, watched, shown, exported."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from serving import TIDE, TIDES, Served, begun, frames, served, until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "documents").mkdir()
    (folder / "documents" / "tides.md").write_text(TIDES)
    with served(folder / "home", ASSAY_SERVER_FOLDERS=str(folder / "documents")) as server:
        yield server


def paths(server: Served) -> list[str]:
    return [str(server.log.parent / "documents")]


async def test_a_run_over_a_folder_from_question_to_report(server: Served) -> None:
    async with server.client() as client:
        answer = await client.post("/api/v1/runs", json={"question": TIDE, "scope": {"paths": paths(server)}})
        assert answer.status_code == 202
        body = answer.json()
        assert answer.headers["location"] == body["url"] == f"/api/v1/runs/{body['id']}"
        async with client.stream("GET", body["events_url"]) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            seen = [frame async for frame in frames(stream)]
        assert [int(frame.id) for frame in seen] == list(range(1, len(seen) + 1))
        assert (seen[0].event, seen[-1].event) == ("run.created", "run.completed")
        assert all(frame.json["type"] == frame.event and frame.json["run_id"] == body["id"] for frame in seen)
        shown = await until(client, body["id"])
        assert shown["last_seq"] == len(seen)
        assert shown["verified"]
        whole = (await client.get(f"{body['url']}?expand=report,claims,sources")).json()
        assert "seven metres" in whole["report"]["markdown"]
        assert whole["claims"][0]["verdict"] in ("quoted", "supported")
        assert whole["sources"][0]["number"] == 1
        assert "plan" not in whole


@pytest.fixture(scope="module")
def done(server: Served) -> str:
    async def go() -> str:
        async with server.client() as client:
            run = await begun(client, scope={"paths": paths(server)})
            await until(client, run)
            return run

    return asyncio.run(go())


FORMATS = {
    "md": b"The tide",
    "json": b"{",
    "html": b"<!",
    "zip": b"PK",
    "bib": b"@",
    "csl.json": b"[",
    "ris": b"TY",
    "docx": b"PK",
    "pdf": b"%PDF",
}


@pytest.mark.parametrize("format", FORMATS)
async def test_the_report_comes_in_every_format(server: Served, done: str, format: str) -> None:
    async with server.client() as client:
        answer = await client.get(f"/api/v1/runs/{done}/report", params={"format": format})
        assert answer.status_code == 200
        assert answer.content.lstrip(b"\xef\xbb\xbf").startswith(FORMATS[format])
        assert f'filename="assay-{done}.{format}"' in answer.headers["content-disposition"]
        known = (await client.get("/api/v1/formats")).json()["reports"]
        assert answer.headers["content-type"].partition(";")[0] == known[format]
        accepted = await client.get(f"/api/v1/runs/{done}/report", headers={"Accept": known[format]})
        assert accepted.headers["content-type"] == answer.headers["content-type"]


async def test_a_page_of_a_report_is_in_a_sandbox(server: Served, done: str) -> None:
    async with server.client() as client:
        page = await client.get(f"/api/v1/runs/{done}/report", params={"format": "html"})
        assert page.headers["content-security-policy"].startswith("sandbox;")
        unknown = await client.get(f"/api/v1/runs/{done}/report", params={"format": "exe"})
        assert (unknown.status_code, "html" in unknown.json()["known"]) == (422, True)
        assert (await client.get(f"/api/v1/runs/{done}/report", headers={"Accept": "image/png"})).status_code == 406


async def test_a_citation_leads_to_the_bytes_it_rests_on(server: Served, done: str) -> None:
    async with server.client() as client:
        citation = (await client.get(f"/api/v1/runs/{done}/citations/1")).json()
        evidence = (await client.get(f"/api/v1/runs/{done}/evidence")).json()
        sources = (await client.get(f"/api/v1/runs/{done}/sources")).json()["sources"]
        claims = (await client.get(f"/api/v1/runs/{done}/claims")).json()["claims"]
        assert (await client.get(f"/api/v1/runs/{done}/citations/99")).status_code == 404
    passage = citation["passages"][0]
    assert "seven metres" in passage["passage"]["text"]
    assert passage["claims"][0]["verdict"] == claims[0]["verdict"]
    assert evidence["passages"][0]["document_sha256"] == sources[0]["document_sha256"]


async def test_what_a_run_used_and_how_it_searched(server: Served, done: str) -> None:
    async with server.client() as client:
        used = (await client.get(f"/api/v1/runs/{done}/usage")).json()
        method = (await client.get(f"/api/v1/runs/{done}/method")).json()
        estimate = (await client.get(f"/api/v1/runs/{done}/estimate")).json()
        foreseen = await client.post("/api/v1/estimate", json={"question": TIDE, "scope": {"paths": paths(server)}})
        assert used["usage"]["total"]["model_calls"] > 0
        assert any("tide" in row["query"].lower() for row in method["searches"])
        assert estimate["calls"]["most"] > 0
        assert foreseen.json()["calls"]["most"] > 0
        listed = (await client.get("/api/v1/runs", params={"q": "BREST", "status": "completed,failed"})).json()["runs"]
        assert done in [run["id"] for run in listed]
        assert (await client.get("/api/v1/runs", params={"q": "elephants"})).json()["runs"] == []


async def test_a_run_is_gone_on_from_asked_forked_and_compared(server: Served, done: str) -> None:
    async with server.client() as client:
        path = f"/api/v1/runs/{done}"
        asked = (await client.post(f"{path}/ask", json={"question": "How often does it turn?"})).json()["id"]
        followed = (await client.post(f"{path}/follow-up", json={"question": "Does the tide turn?"})).json()["id"]
        forked = await client.post(f"{path}/fork", json={"point": "write", "length": "short"})
        assert forked.status_code == 202
        shown = [await until(client, run) for run in (asked, followed, forked.json()["id"])]
        assert [shown[0]["parent"], shown[1]["parent"], shown[2]["forked_from"]] == [done] * 3
        compared = (await client.get("/api/v1/compare", params={"a": done, "b": shown[2]["id"]})).json()
        assert compared["before"]["run_id"] == done
        again = await client.post(f"{path}/verify", json={})
        assert (again.json()["run_id"], again.json()["lost"]) == (done, [])


async def test_a_text_is_checked_against_documents(server: Served) -> None:
    async with server.client() as client:
        text = "The tide at Brest rises seven metres. The tide at Brest rises nine metres."
        checked = await client.post("/api/v1/verify", json={"text": text, "scope": {"paths": paths(server)}})
        verdicts = [claim["verdict"] for claim in checked.json()["claims"]]
        assert verdicts[0] == "quoted"
        assert verdicts[1] not in ("quoted", "supported")
        nothing = await client.post("/api/v1/verify", json={"text": text})
        assert nothing.status_code == 422


async def test_the_same_request_is_done_once(server: Served) -> None:
    body = {"question": TIDE, "scope": {"paths": paths(server)}}
    async with server.client(headers={"Idempotency-Key": '"k1"'}) as client:
        first = (await client.post("/api/v1/runs", json=body)).json()["id"]
        assert (await client.post("/api/v1/runs", json=body)).json()["id"] == first
        other = await client.post("/api/v1/runs", json=body | {"question": "Another?"})
        assert (other.status_code, other.json()["type"]) == (422, "urn:assay:problem:key-reused")
        await until(client, first)
        assert (await client.delete(f"/api/v1/runs/{first}")).status_code == 204
        assert (await client.get(f"/api/v1/runs/{first}")).status_code == 404


async def test_models_settings_and_findings_without_secrets(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("system") / "home"
    with served(home, OPENAI_API_KEY="sk-verysecret", ASSAY_DATABASE="") as server:
        async with server.client() as client:
            models = (await client.get("/api/v1/models")).json()
            settings = await client.get("/api/v1/settings")
            doctor = await client.get("/api/v1/doctor")
    assert models["roles"]["complex"] == ["extractive"]
    assert {each["name"]: each["value"] for each in settings.json()["settings"]}["keys.openai"] == "***"
    assert "verysecret" not in settings.text + doctor.text
    assert {each["state"] for each in doctor.json()["findings"]} <= {"ok", "note", "broken"}


async def test_runs_are_found_by_words_and_limits_are_told(server: Served, done: str) -> None:
    async with server.client() as client:
        found = (await client.get("/api/v1/search/runs", params={"q": "metres"})).json()["runs"]
        assert done in [each["run"]["id"] for each in found]
        limits = (await client.get("/api/v1/limits")).json()
        assert limits["runs"] >= 1
