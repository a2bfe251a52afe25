"""The report of 200 claims on the page: the time of a first load, its size, and the response time to input."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator
from typing import Any

from html_page import SEED, made_up

from assay.core import events as e
from assay.core.brief import Brief
from assay.core.sources import Passage, sha256

CLAIMS, ROUNDS = 200, 7
LOADED = """() => {
  const [page] = performance.getEntriesByType("navigation");
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  const all = [page, ...performance.getEntriesByType("resource")];
  const weight = all.reduce((sum, one) => sum + one.transferSize, 0);
  return [page.loadEventEnd, paint ? paint.startTime : 0, weight, page.responseStart];
}"""
WATCH = """() => {
  window.answers = {};
  const told = (list) => {
    for (const one of list.getEntries()) if (one.interactionId) {
      window.answers[one.interactionId] = Math.max(one.duration, window.answers[one.interactionId] ?? 0);
    }
  };
  new PerformanceObserver(told).observe({ type: "event", durationThreshold: 16 });
}"""
"""From the press to the next frame, as the browser measures it; what took under 16 ms it leaves out."""


def events(number: int) -> Iterator[tuple[str, e.Event]]:
    """A run which has ended with a report of so many claims, by its seed."""
    view = made_up(random.Random(SEED + number), CLAIMS)
    models = {"simple": ("extractive",), "complex": ("extractive",)}
    yield "", e.RunCreated(brief=Brief(question="How have tides changed?", date="2026-01-01", models=models))
    yield "", e.RunStarted()
    yield "research", e.PhaseStarted(phase="research")
    for source in view.sources.values():
        yield "research/agent-1", e.SourceAdded(source=source)
    yield "research", e.PhaseFinished(phase="research")
    yield "write", e.PhaseStarted(phase="write")
    yield "write", e.ReportStarted(title="Tides")
    yield "write", e.ReportDelta(text=view.report.text)
    yield "write", e.ReportFinished(text_sha256=sha256(view.report.text.encode()))
    yield "write", e.PhaseFinished(phase="write")
    for claim in view.claims:
        cited: tuple[Passage, ...] = tuple(view.passages[id] for id in claim.passages)
        yield "verify", e.ClaimFound(id=claim.id, text=claim.text, start=claim.start, end=claim.end, passages=cited)
        yield "verify", e.ClaimChecked(id=claim.id, rule="lexical", verdict=claim.verdict, reason=claim.reason)
    yield "verify", e.CitationsLocated(passages=tuple(view.surroundings.values()))
    assert view.gate is not None
    yield "verify", e.VerifySummary(summary=view.gate.summary, passed=True)
    yield "", e.RunCompleted(stop_reason="done", verified=True)


def measure(browser: Any, url: str, runs: list[str]) -> None:
    """Load each report as for the first time, in a browser which has nothing of it; then press and write."""
    loads = [_loaded(browser, url, run) for run in runs]
    load, paint, weight, first = (statistics.median(each[place] for each in loads) for place in range(4))
    slowest = max(each[0] for each in loads)
    print(
        f"report of {CLAIMS} claims, first load, {len(runs)} reports: {load:.0f} ms median, {slowest:.0f} ms at most; "
        f"first byte {first:.0f} ms, first paint {paint:.0f} ms; {weight / 1000:.0f} kB over the network"
    )
    answers = sorted(each for run in runs[:3] for each in _answered(browser, url, run))
    p95 = answers[int(0.95 * len(answers))] if answers else 0
    print(
        f"interaction: {len(answers)} of 16 ms or more; {statistics.median(answers or [0]):.0f} ms median, "
        f"{p95:.0f} ms p95, {max(answers, default=0):.0f} ms at most"
    )


def _loaded(browser: Any, url: str, run: str) -> list[float]:
    context = browser.new_context(base_url=url, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(f"/runs/{run}", wait_until="load")
    page.wait_for_timeout(100)
    found: list[float] = page.evaluate(LOADED)
    context.close()
    return found


def _answered(browser: Any, url: str, run: str) -> list[float]:
    """Open quotes, filter claims, open and close parts, select, by mouse and keys."""
    context = browser.new_context(base_url=url, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(f"/runs/{run}", wait_until="load")
    page.evaluate(WATCH)
    for name in ("Weak", "Contradicted", "All"):
        page.locator(".rail .chip", has_text=name).click()
    for at in (0, 40, 90):
        page.locator("#report a.cite").nth(at).click()
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
    for key in ("j", "j", "k", "s", "Escape"):
        page.keyboard.press(key)
    page.locator(".rail .claims details summary").first.click()
    page.locator(".leave-out summary").click()
    page.get_by_label("Your question").fill("")
    page.keyboard.type("What of the moon?")
    time.sleep(0.5)
    answers: list[float] = page.evaluate("Object.values(window.answers)")
    context.close()
    return answers
