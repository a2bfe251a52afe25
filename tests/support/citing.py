"""Runs whose report cites given sources, for the formats which list them."""

from __future__ import annotations

from collections.abc import Sequence

import logs
import msgspec
from records import recorded

from assay.core import events as e
from assay.core.ports.exporters import Record
from assay.core.sources import Passage, Source


def page(number: int = 1, **facts: object) -> Source:
    """Source `S1`, `S2` …, with these fields."""
    return msgspec.structs.replace(logs.source(f"S{number}", title="A page"), **facts)


def quoted(source: Source, text: str = "So it is.", **facts: object) -> Passage:
    """The first passage of a source."""
    plain = logs.passage(f"{source.id}.1", text)
    return msgspec.structs.replace(plain, document_sha256=source.document_sha256, **facts)


def citing(
    *sources: Source, text: str = "", passages: Sequence[Passage] = (), verdict: str = "", question: str = "Is it so?"
) -> Record:
    """A run whose report cites these sources in this order (or reads `text`), each by one passage."""
    log = logs.Log()
    logs.begin(log, question)
    shown = tuple(passages) or tuple(quoted(source) for source in sources)
    for source in sources:
        log.add("research/agent-1", e.SourceAdded(source=source))
    log.add("research/agent-1", e.FindingAdded(lane=1, task="It", text="x", passages=shown))
    written = text or "\n".join(f"It is so [{passage.id}]." for passage in shown) + "\n"
    log.add("write", e.ReportDelta(text=written))
    log.add("verify", e.ClaimFound(id="c1", text=written.strip(), start=0, end=len(written.strip()), passages=shown))
    if verdict:
        log.add("verify", e.ClaimChecked(id="c1", rule="numbers", verdict=verdict, reason="the number differs"))
    log.add("", e.RunCompleted(stop_reason="done", verified=False))
    return recorded(log.events)
