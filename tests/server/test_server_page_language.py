"""The page in another language: chosen by the browser or by somebody, whole, with the figures and dates of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import httpx
import jinja2
import msgspec
import pytest
from babel.messages.pofile import read_po
from hypothesis import given
from hypothesis import strategies as st
from serving import TIDE, TIDES, WAIT, Served, begun, served, until
from starlette.requests import Request

from assay.core import events as e
from assay.core.claims import summarize
from assay.locale import FOLDER, LOCALES, page_catalogue, use_page_locale
from assay.server.page.hub import ANNOUNCED_TYPES, announcement
from assay.server.page.words import (
    decimal,
    format_count,
    format_moment,
    interval_words,
    language_of,
    money,
    short_day,
    status_word,
    time_ago,
    translate,
)

TEMPLATES = Path(str(files("assay.server.page"))) / "templates"
SHOWN = ("placeholder", "title", "aria-label", "label", "data-confirm", "data-on", "data-off", "data-denied")
NO_WORDS = frozenset(
    (
        "Assay",
        "UTC",
        "Enter",
        "Esc",
        "Ctrl",
        "g",
        "h",
        "r",
        "l",
        "j",
        "k",
        "s",
        "· Assay",
        "assay config",
        "assay table",
    )
)
"""What is the same in every language."""
EXAMPLES = frozenset(("https://", "openai:gpt-5", "server.runs_per_hour"))
GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5", "Accept": "text/html"}


class Texts(HTMLParser):
    """What a person reads on a page: its texts, and the attributes which are shown or read out."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in SHOWN and value]

    def handle_data(self, data: str) -> None:
        self.found += [" ".join(data.split())]


def texts(html: str) -> list[str]:
    """Every text of a page which says something."""
    parser = Texts()
    parser.feed(html)
    return [each for each in parser.found if re.search(r"[^\W\d_]", each)]


def bare(template: str) -> str:
    """The data of a template, without what is filled in and what is for templates alone."""
    source = re.sub(r"\{% block (?:kind|words) %\}.*?\{% endblock %\}", "", template)
    tokens = jinja2.Environment(trim_blocks=True, lstrip_blocks=True).lex(source)
    return "".join(text if kind == "data" else "0" if kind == "variable_begin" else "" for _, kind, text in tokens)


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: path.stem)
def test_a_template_has_no_words_of_its_own(path: Path) -> None:
    left = {re.sub(r"[0·:,.…()\s]+$|^[0·:,.…()\s]+", "", each) for each in texts(bare(path.read_text()))}
    assert {each for each in left if len(each) > 1} - NO_WORDS - EXAMPLES == set()


def test_a_template_with_words_of_its_own_is_found() -> None:
    assert texts(bare('<p>{{ _("Fine") }} and more</p><input title="Here">')) == ["0 and more", "Here"]


@pytest.mark.parametrize("locale", LOCALES[1:])
def test_a_translation_has_the_places_of_its_message(locale: str) -> None:
    with (FOLDER / locale / "LC_MESSAGES" / "page.po").open("rb") as file:
        messages = [each for each in read_po(file, locale=locale) if each.id]
    assert len(messages) > 400
    for message in messages:
        several = isinstance(message.id, tuple)
        ids = message.id if several else (message.id,)
        forms = message.string if several else (message.string,)
        places = set(re.findall(r"\{\w*\}", ids[0]))
        for form in forms:
            said = set(re.findall(r"\{\w*\}", form))
            assert said == places or (several and said == places - {"{count}"} and form != forms[-1]), message.id
            assert form.endswith((".", "。", "।")) == ids[0].endswith("."), message.id


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("spoken") / "home") as server:
        path = f"{server.url}/api/v1/collections/tides/documents?name=tides.md"
        httpx.post(path, content=TIDES.encode(), trust_env=False, timeout=WAIT).raise_for_status()
        yield server


@pytest.mark.parametrize("locale", LOCALES[1:])
async def test_no_screen_has_a_message_in_english_for_who_reads_another_language(server: Served, locale: str) -> None:
    with (FOLDER / locale / "LC_MESSAGES" / "page.po").open("rb") as file:
        ids = {
            form for each in read_po(file) if each.id for form in ([each.id] if isinstance(each.id, str) else each.id)
        }
    english = {each for each in ids if page_catalogue(locale).gettext(each) != each} - {"member"}  # value of a setting
    async with server.client(headers={"Accept-Language": locale, "Accept": "text/html"}) as client:
        run = await begun(client, TIDE, scope={"collections": ["tides"]}, report={"language": locale})
        await until(client, run)
        await client.post("/schedules", data={"question": "Wann?", "every": "2w", "collection": "tides"})
        screens = [
            "/",
            "/runs",
            "/runs?label=starred",
            "/threads",
            "/tables",
            "/schedules",
            "/library",
            "/library/tides",
            "/verify",
        ]
        screens += ["/compare", "/settings", "/admin", "/admin/users", "/admin/runs", "/admin/health", "/admin/audit"]
        screens += [f"/runs/{run}", f"/runs/{run}/activity", "/runs/nowhere", "/login"]
        for path in screens:
            page = await client.get(path)
            assert page.headers["content-language"] == locale, path
            assert f'<html lang="{locale}"' in page.text
            left = {each for each in texts(page.text) if each in english}
            assert left == set(), path


async def test_a_text_is_judged_in_the_language_of_the_page(server: Served) -> None:
    async with server.client(headers=GERMAN) as client:
        text = "The tide at Brest rises nine metres. The tide turns twice [4]."
        page = await client.post("/verify", data={"text": text, "collection": "tides", "find": "1"})
        assert "die Aussage sagt &#39;nine metres&#39;, Zitat 1 sagt &#39;seven metres&#39;" in page.text
        assert "[4] steht nicht in der Liste der Quellen" in page.text
        nowhere = await client.post("/verify", data={"text": text, "web_asked": "1"})
        assert (nowhere.status_code, "Kreuzen Sie an, wo gesucht werden soll" in nowhere.text) == (422, True)


async def test_a_live_screen_speaks_the_language_of_who_watches(server: Served) -> None:
    async with server.client() as client:
        run = await begun(client, TIDE, scope={"collections": ["tides"]})
        await until(client, run)
        for headers, words in (({}, "Read the report"), (GERMAN, "Den Bericht lesen")):
            live = await client.get(f"/runs/{run}/live", headers=headers)
            assert words in live.text
            screen = await client.get(f"/runs/{run}/activity", headers=headers)
            assert words in screen.text


async def test_what_somebody_chose_counts_more_than_his_browser(server: Served) -> None:
    async with server.client(headers=GERMAN) as client:
        kept = await client.post("/theme", data={"language": "en", "density": "compact", "theme": "nonsense"})
        chosen = [cookie.partition(";")[0] for cookie in kept.headers.get_list("set-cookie")]
        assert chosen == ["assay-theme=system", "assay-density=compact", "assay-language=en"]
        page = await client.get("/settings", headers={"Cookie": "; ".join(chosen)})
        assert "Appearance" in page.text
        assert 'data-density="compact"' in page.text
        again = await client.post("/theme", data={"language": ""})
        assert again.headers["set-cookie"].startswith('assay-language=""')
        assert "Darstellung" in (await client.get("/settings", headers={"Cookie": 'assay-language=""'})).text


async def test_a_fault_is_told_in_the_language_of_the_page(server: Served) -> None:
    async with server.client(headers=GERMAN) as client:
        assert "Es gibt nichts mit diesem Namen" in (await client.get("/runs/nowhere")).text
        sent = await client.post("/runs/nowhere/steer", data={"text": ""}, headers={"HX-Request": "true"})
        assert "Schreiben Sie, was der Lauf berücksichtigen soll" in sent.text
        asked = await client.post("/ask", data={"question": "Wann?", "web_asked": "1"})
        assert "Kreuzen Sie an, wo gesucht werden soll" in asked.text
        missing = (await client.get("/nowhere")).text
        assert "Diese Seite gibt es nicht" in missing
        assert "openapi" not in missing  # that is for programs


@pytest.mark.parametrize(
    ("asked", "cookie", "language"),
    [
        ("", "", "en"),
        ("de", "", "de"),
        ("sw-KE, de-CH;q=0.8, en;q=0.9", "", "en"),
        ("es-MX, fr;q=0.8", "", "es"),
        ("de;q=0, en;q=0.1", "", "en"),
        ("de;q=x", "", "en"),
        ("en", "de", "de"),
        ("de", "klingon", "de"),
    ],
)
def test_a_language_is_chosen_by_cookie_and_browser(asked: str, cookie: str, language: str) -> None:
    sent = [(b"accept-language", asked.encode()), (b"cookie", f"assay-language={cookie}".encode())]
    assert language_of(Request({"type": "http", "headers": sent})) == language


@given(st.text(st.characters(codec="latin-1"), max_size=600))
def test_whatever_a_browser_asks_for_there_is_a_language(header: str) -> None:
    sent = [(b"accept-language", header.encode("latin-1"))]
    assert language_of(Request({"type": "http", "headers": sent})) in LOCALES


def test_milestones_are_read_out_in_the_language_of_the_page() -> None:
    checked = e.VerifySummary(
        summary=msgspec.structs.replace(summarize(()), claims=2, quoted=1, partial=1), passed=True
    )
    found = (e.RunWaiting(topic="plan"), e.BudgetLow(measure="usd", used=8, limit=10), e.AgentFailed(lane=2, error="x"))
    found += (e.RunExhausted(reason="time"), checked, e.ReportDelta(text="no token is read out"))
    english = ["Waiting for you to approve the plan", "80 % of the limit is used: money", "Agent 2 failed: x"]
    english += ["Research ends: the time limit was reached", "2 claims were checked: 1 quoted, 1 partial", ""]
    assert [announcement(each) for each in found] == english
    with use_page_locale("de"):
        german = ["Wartet darauf, dass Sie den Plan freigeben", "80 % der Grenze sind verbraucht: Geld"]
        assert [announcement(each) for each in found[:2]] == german
        assert announcement(checked).startswith("2 Aussagen wurden geprüft: 1 wörtlich zitiert")
    assert {"run.waiting", "verify.summary"} < ANNOUNCED_TYPES
    assert "report.delta" not in ANNOUNCED_TYPES


def test_figures_dates_and_states_are_those_of_the_language() -> None:
    def words() -> tuple[str, ...]:
        at = "2026-11-02T14:05:00+00:00"
        figures = (
            money(1234.5),
            money(0.0123),
            money(0),
            decimal(2.34),
            format_count(1200, "{count} run", "{count} runs"),
        )
        return (
            *figures,
            format_moment(at),
            short_day(at),
            interval_words("2w"),
            interval_words("1d"),
            status_word("waiting"),
            time_ago("soon"),
        )

    english = ("$1,234.50", "$0.0123", "$0.00", "2.3", "1,200 runs", "2026-11-02 14:05", "2026-11-02")
    assert words() == (*english, "every 2 weeks", "every day", "waiting", "soon")
    with use_page_locale("de"):
        german = ("1.234,50 $", "0,0123 $", "0,00 $", "2,3", "1.200 Läufe", "02.11.26, 14:05", "02.11.2026")
        assert tuple(each.replace("\xa0", " ") for each in words()) == (
            *german,
            *("alle 2 Wochen", "jeden Tag", "wartet auf Sie", "soon"),
        )
        assert translate("{least} to {most}", least="<b>", most="2") == "&lt;b&gt; bis 2"
