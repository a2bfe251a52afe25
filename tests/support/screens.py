"""The pages of a real server in Chromium: what a page said, whether everybody can use it, what is on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from browsers import CHROMIUM, MISSING
from serving import TIDES, WAIT, Served, served

SKIPPED = MISSING
WIDTHS = (390, 768, 1440)
SERIOUS = ("serious", "critical")

SEARCH = {"name": "search", "arguments": {"query": "tide Brest"}}
MOON = {"name": "search", "arguments": {"query": "moon tide"}}
PLAN = {"title": "Brest", "steps": [{"title": "Tide at Brest"}, {"title": "What the moon does"}]}
FOUND = "The tide at Brest rises seven metres. [S1001.1]"
WRITTEN = f"{FOUND}\n\n## The moon\n\nThe tide at Brest rises nine metres. [S1001.1]\n"
ASKS, PLANS, WATCHED = "Ask me first?", "Plan it?", "How far does the tide rise, and why?"
AGENTS = [
    {"name": "research_agent", "arguments": {"task": "Tide at Brest"}},
    {"name": "research_agent", "arguments": {"task": "What the moon does"}},
]
SCRIPT: list[dict[str, Any]] = [
    {"task": "triage", "contains": ASKS, "reply": {"text": "Which Brest?\nSpring tide?"}},
    {"task": "triage", "reply": {"calls": [{"name": "generate_plan", "arguments": {"complexity": "moderate"}}]}},
    {"task": "background", "reply": {"calls": [SEARCH]}},
    {"task": "plan", "contains": WATCHED, "delay_ms": 600, "reply": {"text": json.dumps(PLAN)}},
    {"task": "plan", "reply": {"text": json.dumps(PLAN)}},
    {"task": "orchestrate", "turn": 0, "reply": {"calls": AGENTS}},
    {"task": "orchestrate", "reply": {"calls": [{"name": "generate_report"}]}},
    {"task": "research", "turn": 0, "contains": "moon", "reply": {"calls": [MOON]}},
    {"task": "research", "turn": 0, "reply": {"calls": [SEARCH]}},
    {"task": "research", "contains": "moon", "delay_ms": 4_000, "reply": {"text": "done"}},
    {"task": "research", "delay_ms": 1_500, "reply": {"text": "done"}},
    {"task": "find", "reply": {"text": FOUND}},
    {"task": "write", "delay_ms": 1_200, "reply": {"text": WRITTEN}},
    {"task": "revise", "reply": {"text": "NOTHING"}},
]


@contextmanager
def scripted(folder: Path, *arguments: str) -> Iterator[Served]:
    """A server whose model plays `SCRIPT`: two agents at once, of which one takes its time."""
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT), encoding="utf-8")
    with served(folder / "home", *arguments, ASSAY_MODEL=f"scripted:{script}") as server:
        shelve(server, "tides", "tides.md", TIDES)
        yield server


def shelve(server: Served, collection: str, name: str, text: str) -> None:
    """Put a document into a collection."""
    path = f"{server.url}/api/v1/collections/{collection}/documents"
    httpx.post(path, params={"name": name}, content=text.encode(), trust_env=False, timeout=WAIT).raise_for_status()


def choose(page: Any, collection: str) -> None:
    """Choose a collection by mouse, unless it is chosen already, as one that is the only one is."""
    box = page.locator(f"input[name=collection][value={collection}]")
    if not box.is_checked():
        page.locator(".chip", has=box).click()
    assert box.is_checked()


def begin(server: Served, question: str, **more: Any) -> str:
    """Begin a run over the collection `tides`; its id."""
    body = {"question": question, "mode": "deep_research", "scope": {"collections": ["tides"]}, **more}
    answer = httpx.post(f"{server.url}/api/v1/runs", json=body, trust_env=False, timeout=WAIT)
    answer.raise_for_status()
    return str(answer.json()["id"])


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu"]  # to draw without the process of a GPU takes a tenth less computing
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=options, timeout=120_000)
        yield started
        started.close()


class Seen:
    """A page of a server, and all it said: errors, refusals of its policy, dialogs, requests elsewhere."""

    def __init__(self, browser: Any, server: Served, **context: Any) -> None:
        options = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce", **context}
        self.context = browser.new_context(base_url=server.url, **options)
        self.context.set_default_timeout(60_000)  # milliseconds; where tests run, all cores may be busy
        self.faults: list[str] = []
        self.expects = "no fault"  # part of what faults of this test say
        self.page = self.watched(self.context.new_page(), server)

    def watched(self, page: Any, server: Served) -> Any:
        page.on("pageerror", lambda error: self.faults.append(f"error {error}"))
        page.on("console", self._said)
        page.on("dialog", self._asked)
        page.on("request", lambda sent: None if sent.url.startswith((server.url, "data:")) else self._left(sent.url))
        return page

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"{message.type} {message.text}")

    def _asked(self, dialog: Any) -> None:
        self.faults.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _left(self, url: str) -> None:
        self.faults.append(f"request {url}")

    def close(self) -> None:
        self.context.close()


Visit = Callable[..., Seen]
"""Opens a page of a server, with options of its context."""

CUT = """() => {
  const scrolls = (one) => {
    for (let each = one.parentElement; each; each = each.parentElement)
      if (/auto|scroll/.test(getComputedStyle(each).overflowX)) return true;
    return false;
  };
  return [...document.querySelectorAll('button, input, select, textarea, summary, a, p, h1, h2, h3, li, td, svg')]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest('.unseen, .skip'))
    .filter((one) => !scrolls(one))
    .filter((one) => {
      const { left, right, width } = one.getBoundingClientRect();
      return width > 1 && (left < -1 || right > document.documentElement.clientWidth + 1);
    })
    .map((one) => one.outerHTML.slice(0, 160));
}"""


def cut(page: Any) -> list[str]:
    """What stands out at a side of the window, where nothing scrolls to it."""
    return [str(one) for one in page.evaluate(CUT)]


VIOLATIONS = """(options) => axe.run(options).then(({ violations }) =>
  violations.map((one) => [one.id, one.nodes[0].html.slice(0, 300), one.impact]))"""


def unusable(page: Any, *rules: str) -> list[tuple[str, str]]:
    """What axe finds serious on a page, by all rules or some: rule, and the first element it is said of."""
    from axe_core_python.base import AXE_SCRIPT

    if not page.evaluate("'axe' in window"):  # a page reads it as long as it then runs
        page.evaluate(AXE_SCRIPT)
    options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    return [(rule, html) for rule, html, impact in page.evaluate(VIOLATIONS, options) if impact in SERIOUS]
