"""What two reports have in common."""

from __future__ import annotations

import msgspec
import repaired
from hypothesis import given
from hypothesis import strategies as st

from assay.core.claims import VERDICTS, Verdict
from assay.core.difference import difference
from assay.core.report import Report, ReportClaim, build_report

BASE = msgspec.structs.replace(build_report(repaired.view(), "none"), claims=())
CLAIM = build_report(repaired.view(), "none").claims[0]


def claim(id: str, text: str, verdict: Verdict = "supported") -> ReportClaim:
    return msgspec.structs.replace(CLAIM, id=id, text=text, verdict=verdict)


def report(*claims: ReportClaim) -> Report:
    return msgspec.structs.replace(BASE, claims=claims)


def of(*texts: str) -> Report:
    return report(*(claim(f"c{number}", text) for number, text in enumerate(texts, 1)))


def test_a_report_does_not_differ_from_itself() -> None:
    found = difference(of("It rained.", "It snowed."), of("It rained.", "It snowed."))
    assert (found.same, found.is_empty) == (2, True)


def test_order_alone_is_no_difference() -> None:
    assert difference(of("It rained.", "It snowed."), of("It snowed.", "It rained.")).is_empty


def test_a_new_verdict_is_a_change() -> None:
    found = difference(report(claim("c1", "It rained.")), report(claim("c7", "It rained.", "contradicted")))
    [pair] = found.changed
    assert (pair.before.verdict, pair.after.verdict, found.same) == ("supported", "contradicted", 0)


def test_other_words_for_the_same_are_a_change_and_another_statement_is_not() -> None:
    before = of("The bridge was opened in 1851 by the mayor.", "Ships sank.")
    after = of("The bridge was opened in 1852 by the mayor.", "Trains ran on time in winter.")
    found = difference(before, after)
    assert [(pair.before.id, pair.after.id) for pair in found.changed] == [("c1", "c1")]
    assert [each.text for each in found.dropped] == ["Ships sank."]
    assert [each.text for each in found.added] == ["Trains ran on time in winter."]


def test_the_likest_sentences_are_paired() -> None:
    before = of("The bridge over the river is long.")
    after = of("The bridge over the sea is very long indeed.", "The bridge over the river is old.")
    assert [pair.after.id for pair in difference(before, after).changed] == ["c2"]


def test_sources_are_compared_by_what_was_read() -> None:
    cited = tuple(source for source in BASE.sources if source.number is not None)
    assert cited
    gone = msgspec.structs.replace(BASE, sources=())
    assert difference(BASE, gone).sources_dropped == cited
    assert difference(gone, BASE).sources_added == cited
    read_again = tuple(msgspec.structs.replace(each, id=f"{each.id}9", url="file:///moved") for each in cited)
    assert difference(BASE, msgspec.structs.replace(BASE, sources=read_again)).is_empty


SENTENCES = st.lists(
    st.tuples(
        st.lists(st.sampled_from("tide port ship moon high low".split()), min_size=1, max_size=6).map(" ".join),
        st.sampled_from(VERDICTS),
    ),
    max_size=8,
)


@given(SENTENCES, SENTENCES)
def test_every_claim_is_counted_once(before: list[tuple[str, Verdict]], after: list[tuple[str, Verdict]]) -> None:
    one, other = (
        report(*(claim(f"c{number}", text, verdict) for number, (text, verdict) in enumerate(sentences)))
        for sentences in (before, after)
    )
    found = difference(one, other)
    paired = found.same + len(found.changed)
    assert paired + len(found.dropped) == len(before)
    assert paired + len(found.added) == len(after)
    assert len({pair.before.id for pair in found.changed}) == len({pair.after.id for pair in found.changed})
    assert difference(one, one).same == len(before)
