"""The page over HTTP, without a browser: who sees what, what is refused, and how a live screen comes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser
from serving import HASTY, PASSWORD, TIDE, TIDES, WAIT, Served, add_user, begun, frames, served, until

from assay.server.page.templates_environment import ENVIRONMENT, asset_url

HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("paged") / "home", program=HASTY) as server:
        path = f"{server.url}/api/v1/collections/tides/documents?name=tides.md"
        httpx.post(path, content=TIDES.encode(), trust_env=False, timeout=WAIT).raise_for_status()
        yield server


async def test_a_form_begins_a_run_and_leads_to_it(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        sent = await client.post("/ask", data={"question": TIDE, "web_asked": "1", "collection": "tides"})
        assert sent.status_code == 303
        run = sent.headers["location"].removeprefix("/runs/")
        await until(client, run)
        page = await client.get(f"/runs/{run}")
        assert "rises seven metres" in page.text
        assert "trusted-types assay" in page.headers["content-security-policy"]
        assert not re.search(r"<script(?![^>]* src=\"/static/)", page.text)
        assert " style=" not in page.text


def once_of(page: str) -> str:
    """The hidden key of the form on a page."""
    found = re.search(r'name="once" value="([\w-]+)"', page)
    assert found
    return found[1]


async def test_a_button_pressed_twice_begins_one_run(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        pages = [(await client.get("/")).text for _ in range(2)]
        data = {"question": TIDE, "web_asked": "1", "collection": "tides", "once": once_of(pages[0])}
        files = {"files": ("quay.txt", b"The quay of Vendel was built in 1860.")}
        found = list[str]()
        for ways in ({"data": data}, {"data": data, "files": files}):
            sent = await asyncio.gather(*(client.post("/ask", **ways) for _ in range(2)))
            assert [each.status_code for each in sent] == [303, 303]
            assert sent[0].headers["location"] == sent[1].headers["location"]
            found.append(sent[0].headers["location"])
        for changed in (data | {"depth": "light"}, data | {"once": once_of(pages[1])}):
            found.append((await client.post("/ask", data=changed)).headers["location"])
        assert len(set(found)) == 4
        for path in found:
            await until(client, path.removeprefix("/runs/"))
        for how in ("evidence", "research"):
            further = {"question": "How often?", "how": how, "once": once_of((await client.get(found[0])).text)}
            sent = await asyncio.gather(*(client.post(f"{found[0]}/follow-up", data=further) for _ in range(2)))
            assert sent[0].headers["location"] == sent[1].headers["location"] not in found
            found.append(sent[0].headers["location"])
        source = (await client.get(f"/api/v1{found[0]}/sources", headers={"Accept": "*/*"})).json()["sources"][0]["id"]
        without = {"source": source, "once": once_of((await client.get(found[0])).text)}
        sent = await asyncio.gather(*(client.post(f"{found[0]}/exclude", data=without) for _ in range(2)))
        assert sent[0].headers["location"] == sent[1].headers["location"] not in found


async def test_a_schedule_whose_form_is_sent_twice_is_one(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        data = {"question": "How often?", "every": "weekly", "web_asked": "1", "collection": "tides"}
        data["once"] = once_of((await client.get("/schedules")).text)
        sent = await asyncio.gather(*(client.post("/schedules", data=data) for _ in range(2)))
        assert [each.headers["location"] for each in sent] == ["/schedules"] * 2
        schedules = (await client.get("/api/v1/schedules", headers={"Accept": "*/*"})).json()["schedules"]
        assert [each["question"] for each in schedules] == ["How often?"]
        await client.delete(f"/api/v1/schedules/{schedules[0]['id']}")


async def test_the_web_is_searched_only_where_it_is_ticked(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        for path, more in (("/ask", {}), ("/schedules", {"every": "daily"})):
            data = {"question": TIDE, "web_asked": "1", **more}
            page = await client.post(path, data=data)
            assert page.status_code == 422
            assert "Tick where to look" in page.text


async def test_what_is_wrong_with_a_form_is_said_beside_it(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        for data, found in (
            ({"question": TIDE, "minutes": "soon"}, "is not a number"),
            ({"question": TIDE, "depth": "bottomless"}, "depth"),
            ({"question": TIDE, "collection": "nowhere"}, "nowhere"),
        ):
            page = await client.post("/ask", data=data)
            assert 400 <= page.status_code < 500
            assert found in page.text
            page = await client.post("/estimate", data=data)
            assert (page.status_code, found in page.text) == (422, True)
            assert TIDE in page.text


async def test_a_run_that_found_no_answer_says_so_in_the_list(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        run = await begun(client, "What do penguins in Norway eat?", scope={"collections": ["tides"]})
        await until(client, run)
        assert "Completed: no answer found" in (await client.get("/runs?q=penguins")).text
        listed = (await client.get("/api/v1/runs?q=penguins")).json()["runs"]
        assert [(each["status"], each["stop_reason"]) for each in listed] == [("completed", "no_evidence")]
        report = LexborHTMLParser((await client.get(f"/runs/{run}")).text)
        first = [each.text(strip=True) for each in report.css(".text-column .first")]
        assert first == ["Ask it again, changed"]  # elsewhere: there is no evidence to answer from
        assert report.css_first("button[value=evidence]") is None


async def test_a_text_is_checked_against_files_sent_with_it(server: Served) -> None:
    """They come into a collection of their own, which is ticked afterwards, so that they need not be sent again."""
    async with server.client(headers=HTML) as client:
        files = {"files": ("mole.txt", b"The mole of Vendel was built in 1850.")}
        page = (await client.post("/verify", data={"text": "The mole of Vendel was built in 1850."}, files=files)).text
        assert re.search(r'class="quoted".*verbatim in Quote 1<.*>Quote 1 · <bdi>mole.txt</bdi>', page, re.DOTALL)
        name = re.search(r'name="collection" value="(checked-[\d-]+)" checked', page)
        assert name
        again = await client.post("/verify", data={"text": "The mole was built in 1851.", "collection": name[1]})
        assert 'class="quoted"' not in again.text
        assert "1 claim<" in again.text


async def test_files_of_earlier_forms_are_offered_apart(server: Served) -> None:
    """Each such form makes a collection: they would hide those which were made on purpose."""
    async with server.client(headers=HTML) as client:
        files = {"files": ("quay.txt", b"The quay of Vendel was built in 1860.")}
        sent = await client.post("/ask", data={"question": "When was the quay built?", "web_asked": "1"}, files=files)
        assert sent.status_code == 303
        for path in ("/", "/verify", "/schedules"):
            page = (await client.get(path)).text
            apart = page[page.index('<details class="sent">') : page.index("</details>", page.index('class="sent"'))]
            assert re.search(r'value="asked-[\d-]+"><span>Files of <time data-moment="[^"]+">20\d\d-', apart)
            assert 'value="tides"' in page
            assert 'value="tides"' not in apart
        name = re.search(r'value="(asked-[\d-]+)">', (await client.get("/")).text)
        assert name
        models = [each["id"] for each in (await client.get("/v1/models")).json()["data"]]
        assert "assay:tides" in models
        assert not any("asked-" in each for each in models)
        again = await client.post("/ask", data={"question": "", "web_asked": "1", "collection": name[1]})
        assert f'value="{name[1]}" checked' in again.text.partition('<details class="sent">')[0]


async def test_a_judge_may_be_named_for_a_text(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        data = {"text": "The tide at Brest rises.", "collection": "tides", "model": "nobody:judge"}
        page = await client.post("/verify", data=data)
        assert page.status_code == 422
        assert "nobody" in page.text.partition("<form")[0]
        assert re.search(r'name="model"[^>]* value="nobody:judge"', page.text)


async def test_what_was_unticked_stays_unticked_beside_a_fault(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        path = "/api/v1/collections/default/documents?name=moles.md"
        (await client.post(path, content=b"The mole of Vendel is long.")).raise_for_status()
        assert 'value="default" checked' in (await client.get("/verify")).text
        page = await client.post("/verify", data={"text": "It is long.", "model": "nobody:judge"})
        assert page.status_code == 422
        assert 'value="default" checked' not in page.text


async def test_a_text_with_citations_is_searched_for_evidence_of_the_rest_if_asked(server: Served) -> None:
    cited = "The tide at Brest rises seven metres. [1]\n\nThe tide at Brest rises seven metres.\n\n[1] nowhere.md\n"
    async with server.client(headers=HTML) as client:
        for more, supported in (({}, False), ({"find": "1"}, True)):
            page = await client.post("/verify", data={"text": cited, "collection": "tides", **more})
            assert ('class="quoted"' in page.text) == supported


async def test_a_file_that_cannot_be_read_is_named_beside_the_text(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        files = {"files": ("empty.pdf", b"")}
        page = await client.post("/verify", data={"text": "It was built in 1850."}, files=files)
        assert page.status_code == 422
        assert "empty.pdf" in page.text
        assert "It was built in 1850." in page.text


async def test_a_question_waits_where_some_of_its_files_cannot_be_read(server: Served) -> None:
    """Its report would not say that they are missing; the others need not be sent again."""
    async with server.client(headers=HTML) as client:
        files = [("files", ("pier.txt", b"The pier of Vendel is 90 metres long.")), ("files", ("broken.pdf", b"%PDF-"))]
        data = {"question": "How long is the pier of Vendel?", "web_asked": "1"}
        page = await client.post("/ask", data=data, files=files)
        assert page.status_code == 422
        alert = re.search(r'<div class="fault" role="alert"[^>]*>.*?</div>', page.text, re.DOTALL)
        assert alert
        assert "broken.pdf" in alert[0]
        name = re.search(r'name="collection" value="(asked-[\d-]+)" checked', page.text)
        assert name
        assert (await client.post("/ask", data=data | {"collection": name[1]})).status_code == 303
        shelf = (await client.get(f"/library/{name[1]}")).text
        assert "damaged, or not a PDF" in shelf
        assert ".upload/broken.pdf" not in shelf  # where the server keeps it


async def test_a_conversation_shows_answers_as_reports_do(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        run = await begun(client, thread="talk", scope={"collections": ["tides"]})
        await until(client, run)
        page = (await client.get("/threads/talk")).text
        assert "<em>Compiled by" in page
        assert "*Compiled" not in page


async def test_a_text_is_checked_without_the_files_that_cannot_be_read(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        files = [("files", ("pier.txt", b"The pier of Vendel is 90 metres long.")), ("files", ("broken.pdf", b"%PDF-"))]
        page = (await client.post("/verify", data={"text": "The pier of Vendel is 90 metres long."}, files=files)).text
        assert 'class="quoted"' in page
        assert "broken.pdf" in page.partition("<form")[0]


async def test_a_live_screen_comes_in_regions_until_the_run_has_ended(server: Served) -> None:
    async with server.client() as client:
        run = await begun(client, TIDE, scope={"collections": ["tides"]})
        async with client.stream("GET", f"/runs/{run}/live") as stream:
            found = [frame async for frame in frames(stream)]
        assert found[-1].event == "ended"
        regions = {name for frame in found for name in re.findall(r'hx-target="#r-([\w-]+)"', frame.data)}
        assert {"status", "plan", "spend", "sources", "team", "report"} <= regions
        assert "Read the report" in "".join(frame.data for frame in found)
        last = (await until(client, run))["last_seq"]
        async with client.stream("GET", f"/runs/{run}/live", headers={"Last-Event-ID": str(last)}) as again:
            assert [frame.event async for frame in frames(again)] == ["ended"]
        assert (await client.head(f"/runs/{run}/live")).status_code == 200
        assert (await client.get(f"/runs/{run}/live?after=x")).status_code == 422


async def test_who_reads_pages_is_told_in_pages_and_programs_in_json(server: Served) -> None:
    async with server.client() as client:
        page = await client.get("/nowhere", headers=HTML)
        assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert (await client.get("/nowhere")).headers["content-type"] == "application/problem+json"
        assert (await client.get("/api/v1/none", headers=HTML)).headers["content-type"] == "application/problem+json"
        script = await client.get(asset_url("htmx.js"))
        assert "immutable" in script.headers["cache-control"]
        assert (await client.get("/static/0/htmx.js")).headers["cache-control"] == "no-store"
        assert (await client.get(f"{asset_url('style.css')}/../../../server/app.py")).status_code == 404


async def test_forms_of_other_sites_are_refused(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
            sent = await client.post("/ask", data={"question": TIDE}, headers=headers)
            assert sent.status_code == 403


async def test_each_user_sees_his_own_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("ana", "bob"):
        add_user(home, name, f"{PASSWORD} of {name}")
    with served(home) as server:
        async with server.client(headers=HTML) as ana, server.client(headers=HTML) as bob:
            assert (await ana.get("/library")).headers["location"] == "/login?next=/library"
            assert (await ana.get(asset_url("style.css"))).status_code == 200
            for client, name in ((ana, "ana"), (bob, "bob")):
                data = {"name": name, "password": f"{PASSWORD} of {name}", "next": "https://evil.example"}
                sent = await client.post("/login", data=data)
                assert (sent.status_code, sent.headers["location"]) == (303, "/")
                client.cookies = {"__Host-assay": sent.cookies["__Host-assay"]}  # type: ignore[assignment]
            upload = {"files": ("tides.md", TIDES.encode())}
            sent = await ana.post("/ask", data={"question": TIDE, "web_asked": "1"}, files=upload)
            path = sent.headers["location"]
            async with asyncio.timeout(WAIT):
                while "/documents/" not in (page := await ana.get(path)).text:
                    await asyncio.sleep(0.1)
            document = re.search(r"/documents/\w{64}", page.text)
            assert document
            for theirs in (path, f"{path}/activity", f"{path}/live", document[0]):
                assert (await ana.get(theirs)).status_code == 200
                assert (await bob.get(theirs)).status_code == 404
            assert (await bob.post(f"{path}/delete")).status_code == 404
            assert TIDE not in (await bob.get("/runs")).text
            assert "Log out" in (await bob.get("/")).text
            assert (await bob.post("/logout")).headers["location"] == "/login"
            assert (await bob.get("/")).status_code == 303


async def test_a_report_is_shared_by_a_link_which_is_shown_once(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        run = await begun(client, TIDE, scope={"collections": ["tides"]})
        await until(client, run)
        wrong = await client.post(f"/runs/{run}/shares", data={"days": "-3"})
        assert (wrong.status_code, "more than 0" in wrong.text) == (422, True)
        made = await client.post(f"/runs/{run}/shares", data={"days": "7"})
        link = re.search(rf"{re.escape(server.url)}(/[\w/-]{{40,}})\"", made.text)
        assert link
        async with server.client() as stranger:
            assert "rises seven metres" in (await stranger.get(link[1], headers=HTML)).text
        page = (await client.get(f"/runs/{run}")).text
        assert link[1] not in page
        revoke = re.search(rf"/runs/{run}/shares/\w+/revoke", page)
        assert revoke
        assert (await client.post(revoke[0])).headers["location"] == f"/runs/{run}"
        assert (await client.get(link[1])).status_code == 404


async def test_a_question_is_asked_on_a_schedule(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        data = {"question": TIDE, "every": "now and then", "collection": "tides"}
        wrong = await client.post("/schedules", data=data)
        assert (wrong.status_code, "is not an interval" in wrong.text) == (422, True)
        assert 'value="now and then"' in wrong.text
        assert (await client.post("/schedules", data=data | {"every": "weekly"})).status_code == 303
        async with asyncio.timeout(WAIT):
            while not (
                report := re.search(r'href="(/runs/\w+)">Report,', page := (await client.get("/schedules")).text)
            ):
                await asyncio.sleep(0.2)
        assert "every week" in page
        assert "tides" in page
        assert "rises seven metres" in (await client.get(report[1])).text
        remove = re.search(r"/schedules/\w+/remove", page)
        assert remove
        assert (await client.post(remove[0])).status_code == 303
        assert "There are no schedules yet" in (await client.get("/schedules")).text
        assert (await client.get(report[1])).status_code == 200


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It rises. [S1.1]", "It rises."),
        ("It rises [S1-S3], then falls [S2003.17-S2003.19].", "It rises, then falls."),
        ("It rises 【S1.1】 and [[S2.3]] falls [^S4.1] again [S1.1; S2.2, S3].", "It rises and falls again."),
        ("`a[S1]` and [a link [S1]](https://example.org)", "`a[S1]` and [a link [S1]](https://example.org)"),
    ],
)
def test_a_finding_is_shown_without_its_markers_in_whatever_form_they_are_written(written: str, shown: str) -> None:
    assert ENVIRONMENT.filters["plain"](written) == shown


async def test_a_new_form_looks_in_every_collection_and_stays_folded_beside_a_fault(tmp_path: Path) -> None:
    with served(tmp_path / "home") as server:
        async with server.client(headers=HTML) as client:
            await client.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
            for path in ("/", "/verify", "/schedules"):
                assert 'value="tides" checked' in (await client.get(path)).text
            refused = await client.post("/ask", data={"question": TIDE, "web_asked": "1", "mode": "auto"})
            assert (refused.status_code, '<details class="more">' in refused.text) == (422, True)
            assert 'value="tides" checked' not in refused.text
            wrong = {"question": TIDE, "web_asked": "1", "collection": "tides", "minutes": "many"}
            assert '<details class="more" open>' in (await client.post("/ask", data=wrong)).text
            await client.post("/api/v1/collections/moons/documents?name=moons.md", content=TIDES.encode())
            page = (await client.get("/")).text
            assert all(f'value="{name}" checked' in page for name in ("moons", "tides"))


async def test_a_run_is_asked_again_with_all_its_options(server: Served) -> None:
    given = {
        "question": "How far, and <why>?",
        "web_asked": "1",
        "collection": "tides",
        "mode": "deep_research",
        "depth": "light",
        "strategy": "reflective",
        "minutes": "1.5",
        "tokens": "900000",
        "sites_deny": "a.example, b.example",
        "until": "2024-05-31",
        "length": "short",
        "language": "de",
        "instructions": "For <pilots>.",
        "template": "## Summary\nIn short\n## Figures",
        "review_plan": "1",
    }
    async with server.client(headers=HTML) as client:
        path = (await client.post("/ask", data=given)).headers["location"]
        run = path.rpartition("/")[2]
        html = LexborHTMLParser((await client.get(f"/?like={run}")).text)
        form = {each.attributes["name"]: each for each in html.css("form.ask [name]") if each.attributes.get("value")}
        for name in ("minutes", "tokens", "sites_deny", "until", "language"):
            assert form[name].attributes["value"] == given[name]
        for name in ("mode", "depth", "strategy", "length"):
            chosen = html.css_first(f"[name={name}] option[selected]")
            assert (chosen.attributes.get("value") or chosen.text()) == given[name]
        for name in ("question", "instructions", "template"):
            assert html.css_first(f"textarea[name={name}]").text() == given[name]
        ticked = [each.attributes["value"] for each in html.css("form.ask [checked]") if "name" in each.attributes]
        assert ticked == ["tides", "1"]
        await client.post(f"{path}/cancel")
        async with asyncio.timeout(WAIT):
            while f"/?like={run}" not in (await client.get(path)).text:
                await asyncio.sleep(0.1)
        assert "No run named" in (await client.get("/?like=nowhere")).text
