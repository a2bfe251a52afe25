"""A run whose claims were contradicted, revised and taken out, with a typed answer: all a ledger can hold."""

from __future__ import annotations

import logs
import msgspec

from assay.core import events as e
from assay.core.sources import sha256
from assay.core.typed_answers import Field
from assay.core.view import RunView, fold_events

RISES = logs.passage("S1001.4", "The tide at Brest rises seven metres.")
TWICE = logs.passage("S1001.5", "High water comes twice a day.", document="S1001", start=60)
OTHERS = logs.passage("S1002.1", "At Brest the tide rises six metres.")
LINES = ("The tide at Brest rises nine metres [S1001.4].", "High water comes twice a day [S1001.5].")
GONE = "Ships sank in 1999 [S1002.1]."
WRITTEN = "\n\n".join((LINES[0], GONE, "High water comes three times a day [S1001.5].")) + "\n"
TEXT = "\n\n".join(LINES) + "\n"


def log() -> logs.Log:
    """Three claims: one stays contradicted, one is taken out, one is revised."""
    made = logs.dispatched(1, question="How far does the tide rise at Brest?")
    met = ((logs.source("S1001", title="Tides"), (RISES, TWICE)), (logs.source("S1002", title="Others"), (OTHERS,)))
    for _ in logs.agent(made, 1, *met):
        pass
    logs.write(made, WRITTEN)
    made.add("verify", e.PhaseStarted(phase="verify"))
    _claims(made)
    _repair(made)
    summary = msgspec.structs.replace(fold_events(made.events).summary)
    made.add("verify", e.VerifySummary(summary=summary, passed=True))
    made.add("verify", e.PhaseFinished(phase="verify"))
    made.add("", e.RunCompleted(stop_reason="done", verified=True))
    return made


def _claims(made: logs.Log) -> None:
    cited = ((RISES,), (OTHERS,), (TWICE,))
    start = 0
    for number, (line, passages) in enumerate(zip(WRITTEN.strip().split("\n\n"), cited, strict=True), 1):
        found = line[: line.index(" [")] + "."
        end = start + len(line)
        made.add("verify", e.ClaimFound(id=f"c{number}", text=found, start=start, end=end, passages=passages))
        start = end + 2
    reason = "the claim says 'nine metres', S1001.4 says 'seven metres'"
    made.add("verify", e.ClaimChecked(id="c1", rule="number", verdict="contradicted", reason=reason, against=(OTHERS,)))
    made.add("verify", e.ClaimChecked(id="c2", rule="number", verdict="unsupported", reason="1999 is not there"))
    made.add("verify", e.ClaimChecked(id="c3", rule="quantifier", verdict="contradicted", reason="three, twice"))


def _repair(made: logs.Log) -> None:
    made.add("verify", e.ClaimRemoved(id="c2", why="nothing supports it"))
    made.add(
        "verify",
        e.ClaimRevised(
            id="c3",
            before="High water comes three times a day.",
            after="High water comes twice a day.",
            why="the passage says twice",
            passages=(TWICE,),
        ),
    )
    spans = {"c1": (0, len(LINES[0])), "c3": (len(LINES[0]) + 2, len(TEXT) - 1)}
    made.add("verify", e.ReportRevised(text=TEXT, why="one sentence revised, one removed", spans=spans))
    made.add("verify", e.ClaimChecked(id="c3", rule="verbatim", verdict="supported", reason="verbatim in S1001.5"))
    made.add("verify", e.ReportFinished(text_sha256=sha256(TEXT.encode())))


def view() -> RunView:
    """The run as its events tell it, with a typed answer of two fields."""
    fields = (
        Field(path=("rise", "metres"), value=9, sentence="The tide at Brest rises nine metres.", passages=("S1001.4",)),
        Field(path=("harbour_master",), reason="no passage <names> *anyone*"),
    )
    return msgspec.structs.replace(fold_events(log().events), fields=fields)
