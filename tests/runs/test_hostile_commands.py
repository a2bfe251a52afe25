"""Every command which reads what others made, in a process of its own with little time and memory.

What is made to harm costs itself alone: the command ends with its exit code and a sentence about each, and reads the
rest.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import hostile_files
import pytest
import warm
from hostile_files import LAUGHS, OUTSIDE, TIDES, packed
from sampling import crossed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs the limits of Linux")
LIMITS = {"RLIMIT_CPU": 60, "RLIMIT_AS": 4 << 30}
ASKED = ("When does the tide rise?", "--in", "tides.md", "--offline", "-q")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "tides.md").write_text(TIDES)
    return tmp_path


def assay(place: Path, *words: str, program: str = "", **variables: str) -> tuple[int, str, str]:
    """Exit code, what it printed, what it said; a traceback is none of what it may say."""
    environment = {
        "PATH": os.environ["PATH"],
        "ASSAY_HOME": str(place / "home"),
        "ASSAY_CONFIG": str(place / "no.toml"),
    }
    ways = {"cwd": place, "env": environment | variables, "limits": LIMITS, "program": program}
    ended = warm.run(*words, timeout=300, **ways)
    assert "Traceback" not in ended.stderr
    return ended.returncode, ended.stdout, ended.stderr


# docs add, extract

FEWER = 50_000
FEWER_ROWS = f"""
from assay.cli import main
from assay.fetch import text

text.MAX_ROWS = {FEWER}
raise SystemExit(main())
"""
"""The command, which takes fewer rows of a file: to read as many as it does takes seconds."""

REASONS = {
    "lines.jsonl.gz": f"more than {FEWER:,} rows; split it",
    "deep.jsonl": "row 2: not a JSON object",
    "digits.csv": "field larger than field limit",
    "laughs.docx": "its XML defines entities",
    "leading.zip": "its path leads out of the archive",
    "many.zip": "holds more than 10,000 files",
    "nested.zip": "archives within archives, deeper than 2",
    "number.jsonl": "Integer value out of range",
    "link.md": "No such file or directory",
}


def test_documents_made_to_harm_are_told_and_the_rest_is_added(place: Path) -> None:
    hostile_files.write(place / "folder", place / "outside.md")
    code, _, done = assay(place, "docs", "add", "folder", program=FEWER_ROWS)
    lines = done.splitlines()
    assert code == 0
    for name, reason in REASONS.items():
        assert len([line for line in lines if f"folder/{name}:" in line and reason in line]) == 1, name
    code, listed, _ = assay(place, "docs", "list")
    assert all(name in listed for name in ("a-good", "z-good", "wide", "deep.html"))
    found = assay(place, "docs", "search", "secret which nobody named", "--json")[1]
    assert OUTSIDE.strip() not in found


def test_what_is_extracted_of_files_made_to_harm_is_theirs(place: Path) -> None:
    hostile_files.write(place / "folder", place / "outside.md")
    for name in ("lines.jsonl.gz", "many.zip"):  # seconds to read, and nothing in them: the test above has them
        (place / "folder" / name).unlink()
    code, printed, _ = assay(place, "extract", "--json", "folder")
    read = [json.loads(line) for line in printed.splitlines()]
    texts = [each["text"] for each in read if "text" in each]
    assert code == 1  # something cannot be read
    assert TIDES in texts
    assert not any(OUTSIDE.strip() in text or "root:" in text or "ha" * 1_000 in text for text in texts)


# verify

BUNDLES = {
    "bomb": {"manifest.json": b"[" * 20_000_000, "events.jsonl": b"\n" * 20_000_000},
    "deep": {"manifest.json": b"[" * 500_000, "events.jsonl": b"{}\n"},
    "names": {"../manifest.json": b"{}", "/etc/manifest.json": b"{}"},
    "many": dict.fromkeys((f"evidence/{at}.txt" for at in range(21_000)), b""),
}


@pytest.mark.parametrize("kind", BUNDLES)
def test_a_bundle_made_to_harm_does_not_hold(kind: str, place: Path) -> None:
    (place / "bundle.zip").write_bytes(packed(BUNDLES[kind]))
    code, printed, done = assay(place, "verify", "bundle.zip")
    assert code in (2, 3)
    assert 1 <= len((printed + done).strip().splitlines()) <= 12


def test_a_draft_made_to_harm_is_verified_or_refused(place: Path) -> None:
    (place / "draft.md").write_text("[" * 3_000 + "\n\n" + "> " * 2_000 + "a\n\n" + "It rises [1-9] [1, 2]. " * 2_000)
    assert assay(place, "verify", "draft.md", "--in", "tides.md")[0] in (0, 3)
    (place / "long.md").write_text("The tide rises. " * 260_000)
    code, _, done = assay(place, "verify", "long.md", "--in", "tides.md")
    assert (code, done.count("more than 4,000,000 characters")) == (2, 1)


# batch, schemas, templates

ROWS = [
    ('{"question":' + "[" * 200_000, "line 1: "),
    ('{"question": "When?", "max_tokens": ' + "9" * 5_000 + "}", "line 2: Integer value out of range"),
    ('{"question": "' + "a" * 2_000_000 + '"}', "line 3: longer than 1,000,000 bytes"),
    ('{"question": "When?", "max_usd": 1e999}', "line 4: Number out of range"),
    ('{"question": "x", "question": "When does the tide rise?"}', "line 5: question is given twice"),
    ('{"question": "When does the tide rise?", "id": "../../up"}', "line 6 completed"),
]


def test_rows_made_to_harm_are_named_and_the_rest_is_asked(place: Path) -> None:
    (place / "rows.jsonl").write_text("\n".join(row for row, _ in ROWS))
    code, _, done = assay(place, "batch", "rows.jsonl", "-o", "out", "--in", "tides.md", "--offline")
    assert code == 1
    for _, words in ROWS:
        assert done.count(words) == 1, words
    assert not list(place.parent.glob("up*"))
    assert next(path.name for path in (place / "out").glob("*.md")).startswith("up-")


STRING = '{"type": "string"}'
SCHEMAS = {
    "deep": ('{"type": "object", "properties": {"a": ' * 4_000 + STRING + "}}" * 4_000, "schema"),
    "large": (json.dumps({"type": "object", "properties": {f"p{at}": {} for at in range(50_000)}}), "too large"),
    "reference": ('{"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "#/definitions/a"}}}', "uses '$ref'"),
    "pattern": ('{"type": "object", "properties": {"a": {"type": "string", "pattern": "(a+)+$"}}}', "uses 'pattern'"),
    "twice": ('{"type": "object", "type": "array", "properties": {}}', "must be an object"),
    "number": ('{"type": "object", "minProperties": ' + "9" * 100_000 + "}", "is not JSON"),
}


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_schema_made_to_harm_is_refused_before_the_run(kind: str, place: Path) -> None:
    schema, words = SCHEMAS[kind]
    (place / "schema.json").write_text(schema)
    code, printed, done = assay(place, *ASKED, "--schema", "schema.json")
    assert (code, printed, len(done.splitlines())) == (2, "", 1)
    assert words in done


HARMFUL = {"long": b"# a\n" * 500_000, "no text": b"\xff\x00" * 2_000, "one line": b"# " * 4_000}


@pytest.mark.parametrize(("kind", "option"), crossed(HARMFUL, ["--template", "--instructions"]))
def test_a_template_made_to_harm_is_refused_or_used(option: str, kind: str, place: Path) -> None:
    (place / "template.md").write_bytes(HARMFUL[kind])
    code, _, done = assay(place, *ASKED, option, "template.md")
    assert code in (0, 2, 6)
    assert code != 2 or len(done.splitlines()) == 1


# restore

COPIES = {
    "bomb": packed({"assay.db": b"\0" * 100_000_000}),
    "damaged": packed({"assay.db": b"SQLite format 3\0" + b"\xff" * 5_000}),
    "no database": packed({"blobs/../../up": b"x"}),
    "no archive": b"no archive",
    "nested": hostile_files.nested(30),
}


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_made_to_harm_is_not_put_in_place(kind: str, place: Path) -> None:
    (place / "copy.zip").write_bytes(COPIES[kind])
    code, _, done = assay(place, "db", "restore", "copy.zip", "--home", "restored")
    assert (code, len(done.splitlines())) == (1, 1)
    assert not (place / "restored" / "assay.db").exists()
    assert not list(place.rglob("up*"))


# fetch


class Hostile(BaseHTTPRequestHandler):
    """A server which harms whoever asks it."""

    def log_message(self, *words: object) -> None: ...

    def do_GET(self) -> None:
        match self.path:
            case "/good":
                self._send(b"<title>Tides</title><p>" + TIDES.encode())
            case "/deep":
                self._send(b"<div>" * 300_000 + b"x")
            case "/laughs":
                self._send(LAUGHS.encode(), "application/xhtml+xml")
            case "/bomb":
                self._send(gzip.compress(b"a" * 50_000_000), encoding="gzip")
            case "/round":
                self.send_response(302)
                self.send_header("Location", "/round")
                self.end_headers()
            case "/endless":
                self._endless()
            case _:
                self.send_error(404)

    def _send(self, body: bytes, kind: str = "text/html", encoding: str = "") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        if encoding:
            self.send_header("Content-Encoding", encoding)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _endless(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        try:
            for _ in range(2_000):
                self.wfile.write(b"word " * 20_000)
        except OSError:
            return


@pytest.fixture
def server() -> Iterator[str]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    threading.Thread(target=made.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    made.server_close()


def test_pages_made_to_harm_are_told_and_the_rest_is_fetched(place: Path, server: str) -> None:
    names = ("/bomb", "/round", "/endless", "/deep", "/laughs", "/good")
    pages = [server + name for name in names]
    code, printed, _ = assay(place, "fetch", "--json", *pages, ASSAY_WEB_ALLOW="127.0.0.1")
    read = [json.loads(line) for line in printed.splitlines()]
    assert code == 1
    assert any(TIDES.strip() in each.get("text", "") for each in read)
    assert not any("root:" in str(each) or "ha" * 1_000 in str(each) for each in read)
    assert max(len(line) for line in printed.splitlines()) < 4_000_000
