"""New users, and one who comes back, each from the installed program to what they came for, on documents of their own.

docs/first-hour.md tells the same and states how many commands each takes; a test here holds the two together.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import re
import signal
import time
import zipfile
from email.message import EmailMessage
from pathlib import Path

import bibtexparser
import docx
import httpx
import office_files
import pytest
from local_web import QUESTION as HARBOR_QUESTION
from local_web import LocalWeb
from pdfs import column, pdf
from story import ROOT, Story
from story_model import local_model
from web import site

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "first-hour.md"
ROW = re.compile(r"^\| \[?(\w+)[^|]*\|[^|]*\| (\d+) \|", re.MULTILINE)


def commands_by_story() -> dict[str, int]:
    """How many commands the page says each story takes."""
    return {who: int(count) for who, count in ROW.findall(PAGE.read_text(encoding="utf-8"))}


def ends(story: Story, who: str) -> None:
    """The page states the commands of this story."""
    assert commands_by_story()[who] == len(story.typed), story.typed


def test_the_engineer(story: Story) -> None:
    """Asks the docs and code of a project, follows a citation, hands on a page and a bundle that checks itself."""
    story.anew = True
    story.path("repo/docs/retries.md", "# Retries\n\nThe client retries a failed request three times.\n")
    story.path("repo/docs/limits.md", "# Limits\n\nA request may have at most 4 megabytes.\n")
    story.path("repo/client.py", '"""The client."""\n\nRETRIES = 3\n')
    asked = story.type("How often does the client retry a failed request?", "--in", "repo/")
    story.anew = False  # one which Python started from nothing
    assert "retries a failed request three times. [1]" in asked.stdout
    cited = story.type("cite", "last", "1")
    assert "retries a failed request three times" in cited.stdout
    assert "retries.md" in cited.stdout
    story.type("runs", "export", "last", "-o", "report.html", "-o", "report.zip")
    story.type("verify", "report.zip")
    assert "<h" in (story.folder / "report.html").read_text()
    assert {claim["verdict"] for claim in story.report()["claims"]} == {"quoted"}
    ends(story, "engineer")


def test_the_analyst(story: Story) -> None:
    """Asks figures of a workbook and a table, within a budget, and gets a Word file."""
    rows = [("Region", "Revenue"), ("North", 120), ("South", 80), ("West", 50)]
    story.path("figures/sales.xlsx", office_files.book({"Sales": rows}))
    table = io.StringIO()
    csv.writer(table).writerows([("City", "Population"), ("Brest", 139_000), ("Rennes", 222_000)])
    story.path("figures/cities.csv", table.getvalue())
    story.path("figures/note.docx", office_files.word())
    total = story.type("What is the total revenue?", "--in", "figures/sales.xlsx", "--max-tokens", "500k")
    assert "250" in total.stdout
    story.type("Which city has the highest population?", "--in", "figures/cities.csv", "-o", "cities.docx")
    text = "\n".join(each.text for each in docx.Document(str(story.folder / "cities.docx")).paragraphs)
    assert "Rennes" in text
    done = story.type("claims", "last")
    assert "Rennes" in done.stdout
    usage = story.report()["usage"]
    assert usage["input_tokens"] + usage["output_tokens"] <= 500_000
    ends(story, "analyst")


def test_the_scientist(story: Story) -> None:
    """Makes a collection of papers, asks it, and takes the references along."""
    for name, found in (("tides", "The tide at Brest rises seven metres."), ("winds", "The mistral blows in winter.")):
        lines = column(f"On {name}", "", found, "It was measured over eleven years.")
        story.path(f"papers/{name}.pdf", pdf([lines], info={"Title": f"On {name}", "Author": "Ada Byron"}))
    added = story.type("docs", "add", "papers/", "-c", "papers")
    assert "2 documents" in added.stderr + added.stdout
    asked = story.type("How high does the tide rise at Brest?", "--in", "@papers", "-o", "a.bib", "-o", "a.csl.json")
    assert asked.stdout == ""
    (entry,) = bibtexparser.parse_string((story.folder / "a.bib").read_text()).entries
    assert entry["title"].strip("{}") == "On tides"
    (item,) = json.loads((story.folder / "a.csl.json").read_text())
    assert item["author"] == [{"family": "Byron", "given": "Ada"}]
    claims = story.type("claims", "last")
    assert "seven metres" in claims.stdout
    (claim,) = [each for each in story.report()["claims"] if "seven metres" in each["text"]]
    assert claim["verdict"] == "quoted"
    ends(story, "scientist")


async def test_the_journalist(story: Story) -> None:
    """Searches mail and the web, and has a draft checked against the sources before it is printed."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "mayor@port.example", "desk@paper.example", "The new quay"
    mail["Date"] = "Mon, 02 Mar 2026 10:00:00 +0000"
    mail.set_content("Dear editors,\n\nThe new quay cost four million euros.\n")
    story.path("mail/quay.eml", bytes(mail))
    asked = story.type("What did the new quay cost?", "--in", "mail/")
    assert "four million euros. [1]" in asked.stdout
    async with site() as there:
        LocalWeb(there)
        story.config.write_text(
            f'[search]\nproviders = ["searxng"]\n[search.services.searxng]\nurl = "{there.url("").rstrip("/")}"\n'
            '[web]\nallow = ["127.0.0.1"]\n'
        )
        found = await asyncio.to_thread(story.type, HARBOR_QUESTION, "--web", ASSAY_SEARCH_WEB="true")
    assert "Ada Byron" in found.stdout
    urls = [source["url"] for source in story.report()["sources"]]
    assert any(url.startswith(there.url("/")) for url in urls), urls
    story.path("draft.md", "The new quay cost nine million euros [1].\n\n[1]: mail/quay.eml\n")
    checked = story.type("verify", "draft.md", "--in", "mail/", "--strict", code=3)
    assert "draft.md: 1 claim: 1 unsupported" in checked.stdout
    assert "which lacks: nine" in checked.stdout
    ends(story, "journalist")


def test_the_developer(story: Story) -> None:
    """Builds on it: a report as data, typed fields, and many questions in a batch."""
    story.path("notes/tides.md", "# Tides\n\nThe tide at Brest rises seven metres. It turns twice a day.\n")
    story.path("notes/port.md", "# Port\n\nPort: Brest\nBerths: 42\n")
    printed = story.python(
        "import assay\n"
        "r = assay.research_sync('How high does the tide rise at Brest?', sources='notes/', depth='light')\n"
        "r.save('report.md')\n"
        "print(r.claims[0].verdict, r.claims[0].text)\n"
        "try:\n    assay.research_sync('How high?', dept='light')\n"
        "except assay.AssayError as error:\n    print(error)\n"
    )
    assert printed.splitlines() == [
        "quoted The tide at Brest rises seven metres.",
        "no option of research_sync named 'dept'; did you mean 'depth'?",
    ]
    assert "seven metres" in (story.folder / "report.md").read_text()
    story.path("questions.txt", "How high does the tide rise at Brest?\nHow often does the tide turn?\n")
    story.type("batch", "questions.txt", "-o", "out/", "--in", "notes/")
    rows = [json.loads(line) for line in (story.folder / "out" / "results.jsonl").read_text().splitlines()]
    assert [row["status"] for row in rows] == ["completed", "completed"]
    story.type("batch", "questions.txt", "-o", "out/", "--in", "notes/")
    again = (story.folder / "out" / "results.jsonl").read_text().splitlines()
    assert len(again) == 2  # what is done is not done again
    ends(story, "developer")


def test_the_administrator(story: Story) -> None:
    """Serves a team: users and a token, a question over HTTP, a backup, and that backup in another home."""
    notes = story.path("notes/tides.md", "# Tides\n\nThe tide at Brest rises seven metres.\n")
    story.type("users", "add", "ana", "--role", "admin", stdin="correct horse battery staple\n")
    token = story.type("users", "token", "ana", "--name", "story").stdout.strip()
    server = story.server("serve", "--port", "0")
    try:
        url = served_at(story)
        ana = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60, trust_env=False)
        assert httpx.get(f"{url}/api/v1/runs", trust_env=False, timeout=60).status_code == 401
        sent = ana.post("/api/v1/collections/default/documents", files={"file": ("tides.md", notes.read_bytes())})
        assert sent.status_code < 300, sent.text
        until_read(ana)
        begun = ana.post("/api/v1/runs", json={"question": "How high does the tide rise at Brest?"})
        assert begun.status_code < 300, begun.text
        run = begun.headers["location"].rpartition("/")[2]
        view = ana.get(f"/api/v1/runs/{run}", params={"wait": 60}).json()
        assert view["status"] == "completed", view
        report = ana.get(f"/api/v1/runs/{run}/report", params={"format": "md"}).text
        assert "The tide at Brest rises seven metres. [1]" in report
    finally:
        server.terminate()
        server.wait(120)
    story.type("db", "backup", "backup.zip")
    story.type("db", "restore", "backup.zip", "--home", "restored")
    listed = story.type("users", "list", "--home", "restored")
    assert "ana" in listed.stdout
    assert zipfile.ZipFile(story.folder / "backup.zip").testzip() is None
    story.type("db", "check", "--home", "restored")
    ends(story, "administrator")


def until_read(client: httpx.Client) -> None:
    """Wait until the document which was sent is in its collection."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if "tides.md" in client.get("/api/v1/collections/default/documents").text:
            return
        time.sleep(0.1)
    raise AssertionError("the document was not read")


def served_at(story: Story) -> str:
    """The address the server says it serves."""
    log = story.folder / "server.log"
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if found := re.search(r"serves (http://\S+)", log.read_text()):
            assert httpx.get(f"{found[1]}/livez", trust_env=False, timeout=60).status_code == 200
            return found[1]
        time.sleep(0.05)
    raise AssertionError(log.read_text())


def test_the_owner_of_a_local_model(story: Story) -> None:
    """Names the model of this machine, is told that its server is down, starts it, and goes on."""
    story.path("notes/tides.md", "# Tides\n\nThe tide at Brest rises seven metres.\n")
    with local_model("The tide at Brest rises seven metres.") as server:
        story.config.write_text(f'[services.local]\nurl = "{server.url}"\n')
        story.type("config", "set", "model", "local:m")
        looked = story.type("doctor")
        assert "local:m is ready" in looked.stdout
        working = story.config.read_text()
        story.config.write_text(working.replace(server.url, "http://127.0.0.1:9/v1"))
        down = story.type("How high does the tide rise at Brest?", "--in", "notes/", code=1)
        last = down.stderr.splitlines()[-1]
        assert "local:m does not answer at http://127.0.0.1:9/v1 (connection refused): start it" in last
        story.config.write_text(working)
        resumed = story.type(*last.rpartition("assay ")[2].split())
    assert "The tide at Brest rises seven metres" in resumed.stdout
    report = story.report()
    assert report["models"]["complex"] == "local:m"
    assert [claim["verdict"] for claim in report["claims"]] == ["quoted"]
    assert not report["warnings"]
    ends(story, "owner")


def test_the_regular(story: Story) -> None:
    """Comes back the next day: what the folder holds, a table over its papers, the report in the browser, a label."""
    for port, year in (("Brest", 1860), ("Emden", 1861), ("Kiel", 1862)):
        story.path(f"papers/{port}.md", f"# {port}\n\nThe harbour of {port} was opened in {year}.\n")
    story.path("questions.txt", "When was the harbour opened?\n")
    opened = program(story, "browser", f'printf %s "$1" > {story.folder}/opened')
    notified = program(story, "notify-send", f'printf "%s\\n" "$@" > {story.folder}/notified')
    edited = program(story, "editor", 'printf "citations = \\"none\\"\\n" > "$1"')
    story.type("docs", "add", "papers/", "-c", "ports")
    held = story.type("docs", "summary", "ports")
    assert "  When was the harbour of Brest opened?" in held.stdout
    story.type("table", "questions.txt", "--in", "papers/", "-o", "ports.csv")
    with (story.folder / "ports.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert ["1860" in " ".join(row) for row in rows[1:]].count(True) == 1
    asked = "When was the harbour of Kiel opened?"
    story.type(
        asked, "--in", "@ports", "--notify", "desktop", PATH=f"{notified.parent}{os.pathsep}{os.environ['PATH']}"
    )
    assert asked in (story.folder / "notified").read_text()
    page = Path(story.type("runs", "open", "last", BROWSER=f"{opened} %s", TERM="xterm", CI="").stdout.strip())
    assert (story.folder / "opened").read_text() == page.as_uri()
    assert "The harbour of Kiel was opened in 1862" in page.read_text()
    story.type("runs", "label", "last", "--star", "project=harbours")
    assert "Kiel" in story.type("runs", "list", "--label", "project=harbours").stdout
    story.type("config", "edit", EDITOR=str(edited))
    assert story.type("config", "get", "citations").stdout.strip() == "none"
    kept_level(story)
    ends(story, "regular")


def program(story: Story, name: str, does: str) -> Path:
    """A program of this machine: what the desktop would start."""
    path = story.path(f"programs/{name}", f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)
    return path


def kept_level(story: Story) -> None:
    """A watched folder comes in as it changes, until Ctrl-C."""
    story.path("notes/first.md", "# First\n\nThe old quay is 310 metres long.\n")
    watching = story.server("docs", "watch", "notes/", "-c", "notes")
    try:
        seen(story, "first.md")
        story.path("notes/second.md", "# Second\n\nThe new quay is 450 metres long.\n")
        seen(story, "second.md")
    finally:
        watching.send_signal(signal.SIGINT)
        assert watching.wait(120) in (0, 130)


def seen(story: Story, name: str) -> None:
    """Wait until a document is in the watched collection. Who looks is the test, not the user."""
    until = time.monotonic() + 120
    while name not in story.look("docs", "list", "-c", "notes"):
        assert time.monotonic() < until, (story.folder / "server.log").read_text()
        time.sleep(0.5)


def test_the_page_tells_of_every_story() -> None:
    assert set(commands_by_story()) == {
        "engineer", "analyst", "scientist", "journalist", "developer", "administrator", "owner", "regular",
    }  # fmt: skip
    assert Path(PAGE).is_file()
