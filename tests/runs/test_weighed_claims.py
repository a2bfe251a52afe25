"""Whole runs whose writer rephrases, trims and lies: what the weight of words makes of it."""

from __future__ import annotations

from research import Log, Sea, whole, writes
from selectolax.lexbor import LexborHTMLParser

from assay.core import events as e
from assay.core.claims import HOLDING
from assay.core.report import build_report
from assay.core.view import fold_events
from assay.export.html import render


def verdicts(log: Log) -> list[tuple[str, str]]:
    return [(event.rule, event.verdict) for event in log.of(e.ClaimChecked)]


async def test_a_rephrased_sentence_is_supported_and_says_how_sure_it_is() -> None:
    log = await Sea().run(writes("The tide rises by 7 metres at Brest. [S1001.1]"))
    [checked] = log.of(e.ClaimChecked)
    assert (checked.rule, checked.verdict) == ("lexical", "supported")
    assert checked.reason.startswith("compared by words, ")
    assert whole(log)


async def test_a_writer_who_lies_with_the_words_of_the_source_is_not_believed() -> None:
    lies = (
        "The tide at Brest sinks seven metres. [S1001.1]",
        "The tide at Brest rises nine metres. [S1001.1]",
        "The tide at Brest never rises seven metres. [S1001.1]",
        "The tide at Dover rises seven metres. [S1001.1]",
        "Only the tide at Brest rises seven metres. [S1001.1]",
    )
    log = await Sea().run(writes("\n\n".join(lies)))
    assert len(verdicts(log)) == len(lies)
    assert not set(HOLDING) & {verdict for _, verdict in verdicts(log)}
    assert log.last(e.VerifySummary).summary.grounded_count == 0


async def test_where_nothing_is_certain_the_nearest_passage_and_what_it_lacks_are_told() -> None:
    log = await Sea().run(writes("Sailors of Brest fear how the tide rises. [S1001.1]"))
    [checked] = log.of(e.ClaimChecked)
    assert (checked.rule, checked.verdict) == ("lexical", "unchecked")
    assert checked.nearest is not None
    assert checked.nearest.passage == "S1001.1"
    assert set(checked.nearest.missing) == {"Sailors", "fear"}
    report = build_report(fold_events(log.envelopes))
    assert report.claims[0].checks[-1].nearest == checked.nearest
    html = LexborHTMLParser(render(fold_events(log.envelopes)))
    assert "which lacks: Sailors, fear" in " ".join(html.css_first("#claim-1").text().split())


async def test_switched_off_the_claim_is_left_for_a_judge() -> None:
    log = await Sea().run(writes("The tide rises by 7 metres at Brest. [S1001.1]"), checks_off=("lexical",))
    assert verdicts(log) == [("judge", "unchecked")]
