"""What reads bytes which others wrote: each target takes any bytes, and ends with a result or one of Assay's errors."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import hostile_files
import httpx2
import msgspec
import office_files
from bundles import forged, members_of
from hostile_bundles import honest, with_report
from marker_tokenizer import Tokenizer
from pdfs import column, pdf
from seeds import (
    ANSWER,
    ATOM,
    CALENDAR,
    MAIL,
    MANUAL,
    PAGE,
    PLAN,
    PROPERTY_LIST,
    REPORT,
    SCHEMA,
    SIGNER,
    SITEMAP,
    STREAM,
)

from assay import plugins, settings
from assay.core import markers, plan, web_addresses
from assay.core.citations.reader import citation_reading, data_reader, read_all
from assay.core.clean import escape_markdown, harmful_edits, link_target, one_line
from assay.core.errors import AssayError
from assay.core.events import Envelope
from assay.core.messages import Message, Profile, Request
from assay.core.report_sentences import claims
from assay.core.view import fold_events
from assay.evidence.segment import segment
from assay.export.bundle import check_bundle
from assay.export.bundle.signature import derive_public_key, public_key, verify_signature
from assay.fetch.web import response
from assay.models.openai import SERVICES, ChatCompletions
from assay.models.speech import Harmony
from assay.phases.fields import schema
from assay.run.call_repair import read_json
from assay.search.mcp import McpAccess, McpServer
from assay.search.web.http import SearchAccess
from assay.services.batch.rows import read_orders
from assay.services.claim_checks import RowChecker, check_rows, read_lines
from assay.verify.texts.marked_text import mark_citations

Work = Callable[[bytes], object]


@dataclass(frozen=True)
class Target:
    """What is given bytes, the bytes one begins with, and errors which are as good as a result."""

    work: Work
    seeds: Sequence[bytes]
    allowed: tuple[type[BaseException], ...] = ()


def _text(work: Callable[[str], object]) -> Work:
    return lambda data: work(data.decode("utf-8", "replace"))


@cache
def _extractor(name: str) -> Any:
    return plugins.load("extractors", name)()


def _format(name: str, suffix: str) -> Work:
    def read(data: bytes) -> None:
        for document in _extractor(name).extract(data, f"file{suffix}"):
            for span in segment(document.text, document.syntax):
                assert document.text.encode()[span.start : span.end].decode() == span.text

    return read


def _zip(data: bytes) -> None:
    for _ in plugins.load("archives", "zip")().members(data, "a.zip", 1_000_000):
        pass


def _markers(text: str) -> None:
    whole = markers.parse_markers(text)
    tokens, pieces = Tokenizer(), list[Any]()
    for at in range(0, len(text), 7):
        pieces += tokens.feed(text[at : at + 7])
    pieces += tokens.finish()
    assert [piece for piece in pieces if not isinstance(piece, str)] == whole
    markers.strip_markers(text)
    for mode in ("numbers", "footnotes"):
        markers.render_markers(text, {"S1001": 1}, mode, {1: ("https://example.org", "a")})  # type: ignore[arg-type]


def _citations(text: str) -> None:
    read_all(citation_reading(lambda name: name.startswith("S1")), text)
    reader = data_reader()
    reader.feed(text)
    reader.finish()


def _plan_stream(text: str) -> None:
    titles = plan.StepTitles()
    for at in range(0, len(text), 5):
        titles.feed(text[at : at + 5])


def _harmony(text: str) -> None:
    reader = Harmony()
    for at in range(0, len(text), 9):
        list(reader.feed(text[at : at + 9]))
    list(reader.end())


@cache
def _model() -> ChatCompletions:
    at = msgspec.structs.replace(SERVICES["vllm"], url="http://127.0.0.1:1/v1")
    return ChatCompletions("m", at, Profile(name="vllm:m"))


ASKED = Request(task="research", system="s", messages=(Message(role="user", name="task", text="q"),), max_tokens=500)


def _reply(data: bytes) -> None:
    """A service's answer, whatever it is: the first byte decides whether it is a stream."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        stream = {"content-type": "text/event-stream" if data[:1] != b"!" else "application/json"}
        return httpx2.Response(200 if data[:1] != b"?" else 400, headers=stream, content=data)

    async def ask() -> None:
        model = _model()
        model._client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        model._loop = asyncio.get_running_loop()
        async for _ in model.stream(ASKED):
            pass

    asyncio.run(ask())


def _provider(name: str) -> Work:
    @cache
    def made() -> Any:
        return plugins.load("searches", name)(SearchAccess(url="https://example.org", option="o"))

    return lambda data: made().read(data, "https://example.org")


@cache
def _mcp() -> McpServer:
    class NoClock:
        def now(self) -> str:
            return ""

    return McpServer("m", McpAccess(url="http://127.0.0.1:1", fetch="fetch"), NoClock())  # type: ignore[arg-type]


def _robots(text: str) -> None:
    rules = response.parse_robots(response.RobotsResponse(200, text))
    rules.refusal(web_addresses.parse_url("https://example.org/a?b"), "assay")
    rules.delay("assay")


def _url(text: str) -> None:
    for base in ("", "https://example.org/a/b"):
        try:
            found = web_addresses.parse_url(text, base)
        except web_addresses.BadUrl:
            continue
        assert web_addresses.parse_url(found.href).href == found.href
    web_addresses.canonical_url(text)
    link_target(text)


def _shown(text: str) -> None:
    harmful_edits(text)
    for made in (one_line(text), escape_markdown(text)):
        made.encode()


def _schema(text: str) -> None:
    schema.read_schema(schema.canonical_schema(text))


def _plan(text: str) -> None:
    read = plan.read_plan(text)
    assert plan.read_plan(plan.format_plan(read)) == read


def _settings(data: bytes) -> None:
    path = settings.config_path()
    path.write_bytes(data)
    try:
        settings.describe(settings.load())
    finally:
        path.unlink()


def _member(name: str) -> Work:
    """The honest bundle with another member, listed with the hash it has."""
    return lambda data: check_bundle(forged(honest(), {name: data}))


def _signature(data: bytes) -> None:
    verify_signature(b"manifest", data, {"me": derive_public_key(SIGNER)})
    public_key(data.decode("utf-8", "replace"))


def _events(data: bytes) -> None:
    fold_events([msgspec.json.decode(line, type=Envelope) for line in data.splitlines()])


def _rows(work: Callable[[Any], Any]) -> Work:
    return lambda data: list(work(data.splitlines(keepends=True)))


FEEDS = ("arxiv", "pubmed")
PROVIDERS = (
    "brave",
    "crossref",
    "exa",
    "google_search",
    "openalex",
    "searxng",
    "semantic_scholar",
    "serper",
    "tavily",
    "wikipedia",
)


def _formats() -> dict[str, Target]:
    office = {
        "docx": (".docx", office_files.word()),
        "pptx": (".pptx", office_files.slides()),
        "xlsx": (".xlsx", office_files.book({"a": [["x", 1], ["y", 2.5]]})),
        "odt": (".odt", office_files.open_text()),
        "ods": (".ods", office_files.open_sheet()),
        "odp": (".odp", office_files.open_slides()),
        "epub": (".epub", office_files.ebook()),
    }
    plain = {
        "text": (".txt", b"TIDES\n\nThe tide rises.\n\n  1.1  High\n\fNext page\n"),
        "markdown": (".md", b"---\ntitle: T\n---\n" + REPORT.encode()),
        "html": (".html", PAGE.encode()),
        "jsonl": (".jsonl", b'{"title": "a", "text": "b", "n": [1, {"x": null}]}\n{"text": "c"}\n'),
        "code": (".py", b'"""Doc."""\n\ndef a(b: int) -> int:\n    return b + 1\n'),
        "csv": (".csv", b'a,b;c\n1,"2,5"\n"x\ny",3 %\n'),
        "pdf": (".pdf", pdf([column("The tide rises.", "Twice a day.")], info={"Title": "T"})),
        "xls": (".xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)),
        "eml": (".eml", MAIL.encode()),
        "rtf": (
            ".rtf",
            b"{\\rtf1\\ansi\\ansicpg932{\\fonttbl{\\f0 A;}}\\b T\\b0\\par \\u8364?\\'93\\'fa{\\v a\\v0 b}\\cell\\row}",
        ),
        "ics": (".ics", CALENDAR),
        "docbook": (".docbook", MANUAL),
        "xml": (".xml", MANUAL),
        "yaml": (
            ".yaml",
            b"# c\na: &x [1, {b: 2, c: 3}]\nd: # e\n  - f: |\n      g\n    h: *x\n--- \n<<: *x\n? i\n: 'j'\n",
        ),
        "toml": (
            ".toml",
            b'a = 1 # b\n[c."d e"]\nf.g = [ # h\n  {i = 1},\n]\n[[j]]\nk = """l\nm"""\n[[j]]\nk = 1979-05-27\n',
        ),
        "ini": (".ini", b"; a\n[b]\nc = d # e\nf =\n  g\n  h\n;i = 1\nexport J='k'\n"),
        "properties": (".properties", b"! a\nb.c = \\u00fc\\\n  d\ne\\:f:g\nh i\n"),
        "plain xml": (
            ".gpx",
            b'<?xml version="1.0"?><!-- a --><b c="d"><e>1</e><e f="2">3</e><g><h>&amp; &i;</h></g></b>',
        ),
        "plist": (".plist", PROPERTY_LIST),
        "bibtex": (".bib", b'@string{a = "b"}@book{c, title = {D {\\"e}}, f = a # "g", url = {h~i}}\n'),
        "ris": (".ris", b"TY  - JOUR\nTI  - a\nAU  - b\nAU  - c\nER  - \n"),
        "json": (".json", b'{"a": [{"b": 1}, {"c": [1, [2]]}], "d": {"e": "\\u00fc\\n"}, "f": null}'),
        "mhtml": (
            ".mhtml",
            b"From: a\nContent-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n"
            b"Content-Location: http://c/d\n\n" + PAGE.encode() + b"\n--b--\n",
        ),
        "mbox": (".mbox", b"From a@b.c Mon Jan  1 10:00:00 2019\n" + MAIL.encode()),
    }
    found = {name: Target(_format(name, suffix), [seed]) for name, (suffix, seed) in (plain | office).items()}
    return found | {"zip": Target(_zip, [hostile_files.packed({"a.txt": "b", "c/d.md": "e"})])}


def _texts() -> dict[str, Target]:
    report = [REPORT.encode()]
    return {
        "markers": Target(_text(_markers), [*report, b"[S1.2; S3-S4] \\[S1\\] [[S1.1]](x)"]),
        "citations": Target(_text(_citations), [*report, "【S1001.1】 (see S1001.1, 2) <cite>S1001.1</cite>".encode()]),
        "claims": Target(_text(claims), report),
        "draft": Target(
            _text(mark_citations), [*report, b"Tides rise [1], [2-4].\n\n[1] A. Author, T, 2019. https://e.org\n"]
        ),
        "shown": Target(_text(_shown), [*report, "\x1b]0;a\x07\u202e\u200b\x00\x9b31m".encode()]),
        "urls": Target(_text(_url), [b"https://u:p@EXAMPLE.org:8080/a/../b?c=d#e", b"//[::1]/%zz", b"http://0x7f.1/"]),
    }


def _replies() -> dict[str, Target]:
    wrong = (ValueError, RecursionError)  # what `agents` and `phases` take for a reply which cannot be read
    return {
        "model stream": Target(_reply, [STREAM, b"!" + STREAM, b'?{"error": {"message": "m", "code": 1}}']),
        "model json": Target(_text(read_json), [PLAN, b"```json\n" + PLAN + b"\n```", b"{'a': True, b: 1,}"], wrong),
        "plan stream": Target(_text(_plan_stream), [PLAN]),
        "harmony": Target(_text(_harmony), [b"<|channel|>final<|message|>a<|end|><|start|>assistant to=f<|call|>"]),
        "mcp results": Target(_text(lambda text: list(_mcp()._hits(text))), [ANSWER, b'[{"id": 1, "url": "a"}]']),
        **{name: Target(_provider(name), [ANSWER]) for name in PROVIDERS},
        **{name: Target(_provider(name), [ATOM, ANSWER]) for name in FEEDS},
    }


def _files() -> dict[str, Target]:
    members = members_of(honest())
    wrong = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)  # what `check_bundle` says of a line of a log
    named = {f"bundle {name}": Target(_member(name), [members[name]]) for name in ("events.jsonl", "sources.json")}
    return {
        **named,
        "bundle": Target(check_bundle, [honest()]),
        "bundle report": Target(_text(lambda text: check_bundle(with_report(text))), [REPORT.encode()]),
        "events": Target(_events, [members["events.jsonl"]], wrong),
        "signature": Target(_signature, [b"untrusted comment: a\nRUQ=\ntrusted comment: b\nAAA=\n", SIGNER.encode()]),
        "robots": Target(
            _text(_robots), [b"User-agent: *\nDisallow: /a*b$\nCrawl-delay: 3\nSitemap: https://e.org/s\n"]
        ),
        "sitemap": Target(
            response.parse_sitemap, [SITEMAP, b"https://e.org/a\nhttps://e.org/b\n", b"\x1f\x8b\x08\x00"]
        ),
        "links": Target(lambda data: response.links(data, "https://e.org/a"), [PAGE.encode()]),
        "plan": Target(_text(_plan), [PLAN, b"## Look\nresearch: At the tide\n", b"1. Look\n   At the tide\n"]),
        "schema": Target(_text(_schema), [SCHEMA]),
        "settings": Target(_settings, [b'depth = "light"\n[limits]\nusd = 1.5\n[mcp.a]\ncommand = ["b"]\n']),
        "batch rows": Target(_rows(read_orders), [b'{"question": "q", "id": 1, "depth": "light"}\nA question?\n']),
        "claim rows": Target(
            _rows(lambda lines: check_rows(read_lines(lines), RowChecker())),
            [b'{"id": 1, "doc": "The tide rises 7 m.", "claim": "The tide rises 8 m."}\n'],
        ),
    }


@cache
def targets() -> Mapping[str, Target]:
    """All of them, by name."""
    return {**_formats(), **_texts(), **_replies(), **_files()}


ENDS = (AssayError,)
"""Errors which say what was wrong with the bytes."""
