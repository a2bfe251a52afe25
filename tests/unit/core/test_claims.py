"""Claims counted by verdict, in runs of today and in older ones."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from assay.core import events as e
from assay.core.claims import HOLDING, VERDICTS, Claim, Summary, Verdict, summarize


def of(verdicts: Sequence[Verdict]) -> list[Claim]:
    return [Claim(id=f"c{at}", text="So.", start=0, end=3, verdict=verdict) for at, verdict in enumerate(verdicts)]


@given(st.lists(st.sampled_from(VERDICTS)))
def test_every_claim_is_counted_once_and_those_which_hold_are_quoted_or_supported(verdicts: list[Verdict]) -> None:
    summary = summarize(of(verdicts))
    assert summary.claims == sum(getattr(summary, verdict) for verdict in VERDICTS) == len(verdicts)
    assert summary.grounded_count == len([verdict for verdict in verdicts if verdict in HOLDING])


def test_the_counts_of_a_run_which_knew_no_quoted_are_read_as_they_were() -> None:
    old = b'{"claims":2,"supported":2,"partial":0,"unsupported":0,"contradicted":0,"unchecked":0,"dropped_markers":0}'
    summary = msgspec.json.decode(old, type=Summary)
    assert (summary, summary.grounded_count) == (Summary(claims=2, supported=2), 2)
    event = msgspec.json.decode(b'{"summary":' + old + b',"passed":true}', type=e.VerifySummary)
    assert event.summary == summarize(of(["supported", "supported"]))
