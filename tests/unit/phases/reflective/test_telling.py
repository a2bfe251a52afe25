"""What is told of findings, and which pages the classic researcher opens."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.findings import Finding
from assay.agents.history import CallResult, total_tokens
from assay.core.messages import Profile
from assay.core.passage_context import format_source
from assay.core.sources import Passage, Source
from assay.core.text import estimate_tokens
from assay.evidence.ledger import Ledger
from assay.phases.background import top_sources
from assay.phases.coverage import earlier_findings_text, findings_message

PASSAGE = Passage(id="S1001.1", source="S1001", document_sha256="", start=0, end=1, text="x", text_sha256="")


def finding(step: int, text: str, *, cited: bool = True) -> Finding:
    return Finding(lane=step, task=f"Step {step}\nmore", step=step, text=text, passages=(PASSAGE,) if cited else ())


SENTENCES = st.lists(
    st.sampled_from(["The tide rises. [S1001.1]", "It turns twice a day.", "So they say."]), max_size=40
)


@given(st.lists(SENTENCES.map(" ".join), max_size=5), st.integers(0, 2_000))
def test_findings_are_told_in_order_and_as_far_as_they_fit(texts: list[str], tokens: int) -> None:
    (message,) = findings_message(Ledger(), [finding(step, text) for step, text in enumerate(texts, 1)], tokens)
    data = msgspec.json.decode(message.text)
    assert [each["step"] for each in data] == list(range(1, len(texts) + 1))
    assert all(text.startswith(each["text"]) for each, text in zip(data, texts, strict=True))
    cut = any(each["text"] != text for each, text in zip(data, texts, strict=True))
    whole = total_tokens(findings_message(Ledger(), [finding(step, text) for step, text in enumerate(texts, 1)], 10**9))
    assert cut is (whole > tokens) or all(text.count(".") < 2 for text in texts)


@given(st.lists(st.text(max_size=300), max_size=6), st.integers(100, 4_000))
def test_a_step_is_told_the_newest_findings_that_fit(texts: list[str], window: int) -> None:
    findings = [finding(step, text, cited=step % 3 != 0) for step, text in enumerate(texts, 1)]
    found = earlier_findings_text(findings, Profile(name="m", window=window))
    assert estimate_tokens(found) <= window // 8 + len(texts)
    cited = [f"Step {each.step}:\n{each.text}" for each in findings if each.passages]
    kept = next(count for count in range(len(cited), -1, -1) if found == "\n\n".join(cited[len(cited) - count :]))
    assert kept == 0 or estimate_tokens(cited[-1]) <= window // 8


def shown(*sources: str) -> CallResult:
    blocks = [
        format_source(
            Source(
                id=id,
                document_sha256="",
                snapshot_sha256="",
                url="u",
                title="t",
                media_type="text/plain",
                fetched_at="",
            ),
            [],
        )
        for id in sources
    ]
    text = "\n\n".join(blocks)
    return CallResult(call_id="c", text=text, shorten=lambda: ("", ""))


def test_pages_both_queries_found_come_first() -> None:
    assert top_sources([shown("S1001", "S1002", "S1003"), shown("S1004", "S1003")], 3) == ["S1003", "S1001", "S1004"]
    assert top_sources([shown("S1001"), shown()], 3) == ["S1001"]
    assert top_sources([], 3) == []


@given(st.lists(st.lists(st.integers(1, 9), unique=True), max_size=4), st.integers(0, 5))
def test_pages_are_those_found_and_no_more_than_wanted(found: list[list[int]], most: int) -> None:
    pages = top_sources([shown(*(f"S{1000 + each}" for each in one)) for one in found], most)
    every = {f"S{1000 + each}" for one in found for each in one}
    assert len(pages) == len(set(pages)) == min(most, len(every))
    assert set(pages) <= every
