"""`assay.report/1` built from a view: numbers, references, positions, counts."""

import logs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampling import crossed

from assay.core import events as e
from assay.core.claims import summarize
from assay.core.markers import parse_markers
from assay.core.phrases import LIMIT_REASONS, STOP_REASONS
from assay.core.report import SCHEMA, Report, build_report
from assay.core.sources import sha256
from assay.core.view import fold_events

MODES = ("numbers", "links", "markers", "none")
IDS = ("S1.1", "S1.2", "S1001.4", "S2001.9", "S2", "S1001", "S9.9")


def check(report: Report) -> None:
    """What holds of every report."""
    entries = {source.id for source in report.sources}
    numbers = [source.number for source in report.sources if source.number is not None]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len({source.document_sha256 for source in report.sources}) == len(report.sources)
    assert {passage.source for passage in report.passages} <= entries
    by_id = {passage.id: passage for passage in report.passages}
    number = {source.id: source.number for source in report.sources}
    for claim in report.claims:
        assert claim.text == report.markdown[claim.start : claim.end]
        for citation in claim.citations:
            assert by_id[citation.passage].source == citation.source
            assert number[citation.source] == citation.number
    counts = summarize(())
    for claim in report.claims:
        more = {claim.verdict: getattr(counts, claim.verdict) + 1}
        counts = msgspec.structs.replace(counts, claims=counts.claims + 1, **more)
    assert msgspec.structs.replace(report.summary, dropped_markers=0) == counts
    for passage in report.passages:
        assert passage.text_sha256 == sha256(passage.text.encode())


@pytest.mark.parametrize(("name", "mode"), crossed(sorted(logs.SCENARIOS), MODES))
def test_every_scenario_at_every_moment(name: str, mode: str) -> None:
    events = logs.SCENARIOS[name]().events
    for count in range(0, len(events) + 1, 3):
        check(build_report(fold_events(events[:count]), mode))
    check(build_report(fold_events(events), mode))


def test_two_agents() -> None:
    report = build_report(fold_events(logs.two_agents().events))
    assert report.schema == SCHEMA
    assert report.markdown.startswith(
        "It became active 🐍 in 2001 [1].\nGuido van Rossum wrote it [2], in July 2001 [2] [1].\n"
    )
    assert [(source.id, source.number, source.aliases) for source in report.sources] == [
        ("S2002", 1, ()),
        ("S1001", 2, ("S2001",)),
        ("S1002", None, ()),
    ]
    first, second = report.claims
    assert (first.text, first.verdict, first.start, first.end) == ("It became active 🐍 in 2001", "contradicted", 0, 26)
    assert second.text == "Guido van Rossum wrote it [2], in July 2001"
    assert [(c.passage, c.source, c.number) for c in second.citations] == [
        ("S1001.4", "S1001", 2),
        ("S2001.9", "S1001", 2),
        ("S2002.3", "S2002", 1),
    ]
    assert [passage.id for passage in report.passages] == ["S2002.3", "S1001.4", "S2001.9"]
    assert report.usage.model_calls == 6
    assert report.limits == ("Two documents could not be read.",)


def test_which_lane_was_quicker_does_not_show() -> None:
    """The same run with the lanes' events the other way round gives the same sources, passages and claims."""
    events = logs.two_agents().events
    lanes = [each for each in events if len(each.path) > 1 and each.path[1].startswith("agent-")]
    rest = iter(sorted(lanes, key=lambda each: each.path[1], reverse=True))
    turned = [next(rest) if each in lanes else each for each in events]
    turned = [msgspec.structs.replace(each, seq=seq) for seq, each in enumerate(turned, 1)]
    one, other = build_report(fold_events(events)), build_report(fold_events(turned))
    assert (one.sources, one.passages, one.claims, one.markdown) == (
        other.sources, other.passages, other.claims, other.markdown,
    )  # fmt: skip


def test_a_marker_which_names_nothing_is_not_shown() -> None:
    report = build_report(fold_events(logs.two_agents().events))
    assert "9009" not in report.markdown


@given(data=st.data(), mode=st.sampled_from(MODES))
def test_any_text_and_any_claims(data: st.DataObject, mode: str) -> None:
    """Sentences of odd characters with markers in odd places; spans are kept, cut or stale."""
    document = {"S1001": "one"}
    known = [id for id in IDS if "." in id]
    passages = {id: logs.passage(id, f"text of {id}", document.get(id.partition(".")[0], "")) for id in known}
    log = logs.Log()
    for id in ("S1", "S2", "S1001", "S2001"):
        log.add("research/agent-1", e.SourceAdded(source=logs.source(id, document.get(id, ""))))
    odd = st.text(st.sampled_from("aé🐍界 \n\x1b\x9b\u202e[]()`$\\*1.!?\r\u0301"), max_size=12)
    marker = st.lists(st.sampled_from(IDS), min_size=1, max_size=3).map(lambda ids: f"[{', '.join(ids)}]")
    text = "".join(
        data.draw(st.lists(st.one_of(odd, marker, st.just(" [1]"), st.just("[1]: http://evil/")), max_size=8))
    )
    log.add("write", e.ReportDelta(text=text))
    point = st.integers(0, len(text) + 3)
    spans = data.draw(st.lists(st.tuples(point, point), max_size=4))
    for number, (start, end) in enumerate(spans):
        cited = tuple(passages[id] for each in parse_markers(text) for id in each.passages if id in passages)
        log.add("verify", e.ClaimFound(id=f"c{number}", text=text[start:end], start=start, end=end, passages=cited))
    report = build_report(fold_events(log.events), mode)
    check(report)
    assert not set("\x1b\x9b\u202e") & set(report.markdown)


def test_stop_reasons_are_sentences() -> None:
    assert set(STOP_REASONS) >= LIMIT_REASONS
    assert all(sentence.endswith(".") for sentence in STOP_REASONS.values())


# a run without a report


REASONS = {
    None: "The run has not ended; no report has been written so far.",
    e.RunFailed(stop_reason="failed", error="no <b>model</b> answered."): (
        "The run failed: no <b>model</b> answered; no report was written."
    ),
    e.RunFailed(stop_reason="failed", error=""): "The run failed: no reason was given; no report was written.",
    e.RunCancelled(): "The run was cancelled; no report was written.",
}


@pytest.mark.parametrize(("event", "limit"), REASONS.items())
def test_a_run_without_a_report_says_why(event: e.Event | None, limit: str) -> None:
    log = logs.Log()
    logs.begin(log)
    if event is not None:
        log.add("", event)
    assert build_report(fold_events(log.events)).limits == (limit,)


def test_a_report_that_broke_off_says_so_before_its_other_limits() -> None:
    log = logs.two_agents()
    cut = next(at for at, each in enumerate(log.events) if each.type == e.ReportFinished.kind)
    log.events = log.events[:cut]
    log.add("", e.RunFailed(stop_reason="failed", error="the disk is full"))
    (message,) = build_report(fold_events(log.events)).limits
    assert message == "The run failed: the disk is full; this report is not finished."


def test_a_report_without_its_final_check_says_so() -> None:
    log = logs.Log()
    logs.begin(log)
    logs.write(log, "It is so.\n", ("One limit.",))
    log.add("", e.RunCancelled())
    found, other = build_report(fold_events(log.events)).limits
    assert found == "The run was cancelled; this report was not given its final check."
    assert other == "One limit."


def test_a_run_that_came_to_its_end_says_nothing_of_it() -> None:
    assert build_report(fold_events(logs.two_agents().events)).limits == ("Two documents could not be read.",)
