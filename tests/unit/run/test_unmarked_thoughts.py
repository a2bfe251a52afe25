"""Unmarked thinking before prose: what is cut, and what is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.run.voice import thinking_length

REPORT = "The tide at Brest rises seven metres. [S1001.1]\n\nThe moon causes it. [S1001.2]"


@pytest.mark.parametrize(
    "thought",
    [
        "Okay, the user asks how far the tide rises. Let me look at the findings.\n\n",
        "We need to write a report. The findings say seven metres.\n\nI should cite the passage. Let's start.\n\n",
        "Hmm, so I need to answer in English.\n\n---\n\n",
        "Alright, let me write it now.\n",
        "好的，用户想知道潮汐。我需要引用来源。\n\n",
    ],
)
@pytest.mark.parametrize("report", [REPORT, f"# Tides\n\n{REPORT}", "## Brest\n\nSeven metres."])
def test_thinking_before_a_report_is_found(thought: str, report: str) -> None:
    if not (thought.endswith("\n\n") or report.startswith("#")):
        return
    assert (thought + report)[thinking_length(thought + report) :].lstrip("-\n ") == report


@pytest.mark.parametrize(
    "text",
    [
        REPORT,
        f"# Okay\n\nLet me begin.\n\n{REPORT}",
        f"So far the tide was measured twice. [S1001.1]\n\n{REPORT}",
        "Okay, the user asks for it. I cannot say.",
        "Let me say it plainly: it rises seven metres. [S1001.1]",
        f"The user interface was changed in 2020.\n\n{REPORT}",
        "",
    ],
)
def test_prose_is_left_alone(text: str) -> None:
    assert thinking_length(text) == 0


@given(st.text(alphabet="Okay, let me I need. S1.#\n-[]", max_size=200))
def test_what_is_cut_cites_nothing(text: str) -> None:
    cut = thinking_length(text)
    assert 0 <= cut <= len(text)
    assert "S1.1" not in text[:cut]
    assert cut == 0 or text[cut:].strip()
