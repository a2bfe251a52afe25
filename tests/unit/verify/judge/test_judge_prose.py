"""Verdicts read out of prose: exactly, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.verify.judge.answers import RULINGS, read_ruling

CASES = {
    "supported": ["Supported.", "SUPPORTED", "**Verdict:** Supported", "The claim is fully supported.", "supports"],
    "unsupported": [
        "NOT SUPPORTED",
        "not_supported",
        "Verdict - not supported",
        "unsupported",
        "un-supported",
        "The evidence does not support the claim.",
        "The evidence doesn’t support this.",
        "It is no longer supported.",
        "Neither supported nor contradicted.",
        "I cannot support this claim.",
    ],
    "partial": [
        "PARTIALLY SUPPORTED",
        "partial",
        "The sentence is only partly supported by the passage.",
        "Not fully supported.",
        "Supported in part.",
        "Answer: partial",
    ],
    "contradicted": ["contradicted", "The passage contradicts the claim.", "Ruling: **contradicted**", "refuted"],
    "unknown": ["unknown", "Verdict: unknown"],
    None: [
        "",
        "The claim is not contradicted.",
        "Supported or unsupported?",
        "Is the claim supported? No.",
        "It would be supported if the number were right.",
        "I am not sure whether it is supported.",
        "Verdict: supported. On second thoughts: contradicted.",
        "Choose one of supported, partial, unsupported, contradicted, unknown.",
        "supported supported unsupported",
        "The supporting material is insupportable.",
        "It is true.",
    ],
}


@pytest.mark.parametrize(("wanted", "text"), [(wanted, text) for wanted, texts in CASES.items() for text in texts])
def test_each_is_read_as_it_is_meant(wanted: str | None, text: str) -> None:
    assert read_ruling(text) == wanted


def test_in_a_long_text_a_verdict_has_to_be_named() -> None:
    words = "The passage speaks of the harbour, of its people and of the sea. " * 8
    assert read_ruling(f"{words}\nSo it is supported, I think, by the passage given.") is None
    assert read_ruling(f"{words}\n\nVerdict: supported") == "supported"
    assert read_ruling("x " * 100_000 + "\nVerdict: contradicted") == "contradicted"


_WORDS = "supported SUPPORTED unsupported not partially contradicted verdict: is . ? ! if whether unknown partial { \n"
WORDS = st.sampled_from(_WORDS.split(" "))


@given(st.text(max_size=300) | st.lists(WORDS, max_size=12).map(" ".join))
def test_nothing_crashes_and_nothing_else_comes_out(text: str) -> None:
    assert read_ruling(text) in (*RULINGS, None)


@given(st.lists(WORDS, max_size=8).map(" ".join), st.sampled_from(["not", "never", "cannot be", "isn't"]))
def test_a_denied_support_is_never_support(before: str, denial: str) -> None:
    assert read_ruling(f"{before}\n{denial} supported") != "supported"
