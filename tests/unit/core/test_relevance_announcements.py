"""Sentences that only say what a part of a document is about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.relevance.document_parts import announces

QUESTION = "What is a sluice?"


@pytest.mark.parametrize(
    "text",
    [
        "This chapter introduces the sluice and its parts.",
        "In this section, we will look at sluices.",
        "The following sections describe each kind of sluice.",
        "In diesem Kapitel wird beschrieben, was eine Schleuse ist.",
        "Dieser Abschnitt erklärt die Schleuse.",
        "Ce chapitre décrit l'écluse.",
        "Este capítulo presenta la esclusa.",
        "В этой главе описывается шлюз.",
    ],
)
def test_what_a_part_is_about(text: str) -> None:
    assert announces(QUESTION, text)
    assert not announces(
        "What is this chapter about? Was steht im Kapitel? Ce chapitre? Este capítulo? В этой главе?", text
    )


@pytest.mark.parametrize(
    "text",
    [
        "A sluice is a gate that holds water back.",
        "This section of the canal was dug in 1852.",
        "This section presents three kinds of sluice: the lift gate, the swing gate and the drum gate.",
        "The keeper explains the sluice in this chapter of his life.",
        "This page intentionally left blank.",
    ],
)
def test_what_says_more(text: str) -> None:
    assert not announces(QUESTION, text)


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert announces(QUESTION, text) in (True, False)
