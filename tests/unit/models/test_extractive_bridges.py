"""Questions about what has to be found first: asked by its description, answered by the name it goes by."""

from __future__ import annotations

from pathlib import Path

import pytest
from extractive_asking import shown
from hypothesis import given
from hypothesis import strategies as st

from assay import Assay
from assay.models.extractive.hops import Bridge, bridge, bridged, speaks_of
from assay.models.extractive.question import analyze
from assay.models.extractive.shelf import QuotableUnit, ShownSources

FILES = {
    "gears.md": "# Loose gears\n\nThe loose gear Vorax is made by the Kessel Works. It turns in both directions.\n",
    "kessel.md": "# Kessel Works\n\nThe Kessel Works were founded by Ottilie Brandt in 1871. They are by the river.\n",
    "river.md": "# The river Bode\n\nThe Bode rises in the hills. Mills stood along the Bode for centuries.\n",
}


@pytest.mark.parametrize(
    ("text", "inner", "outer"),
    [
        (
            "Who founded the company that makes the gear Vorax?",
            "Which company makes the gear Vorax?",
            "Who founded ▯?",
        ),
        ("When was the maker of Vorax founded?", "What is the maker of Vorax?", "When was ▯ founded?"),
    ],
)
def test_what_is_described_is_asked_for_first(text: str, inner: str, outer: str) -> None:
    assert bridge(text) == Bridge(inner, outer)


@pytest.mark.parametrize(
    "text",
    ["What is the capital of Peru?", "Who is the man who sold the moon?", "", "Why?", "What is the status of EIP 86?"],
)
def test_what_only_asks_for_the_name_is_no_bridge(text: str) -> None:
    assert bridge(text) is None


@given(st.text(max_size=120))
def test_any_text_may_be_asked(text: str) -> None:
    assert bridge(text) is None or "▯" in (bridge(text) or Bridge("", "")).outer


async def asked(question: str, folder: Path) -> str:
    for name, text in FILES.items():
        (folder / name).write_text(text)
    async with Assay() as assay:
        return (await assay.start(question, sources=[folder]).report()).markdown


async def test_the_answer_stands_in_a_document_which_only_shares_the_name(tmp_path: Path) -> None:
    report = await asked("Who founded the works that made the loose gear Vorax?", tmp_path)
    assert "Ottilie Brandt" in report.split("\n#")[0]


def test_where_the_name_leads_nowhere_nothing_is_bridged() -> None:
    shelf = ShownSources([shown("Loose gears", FILES["gears.md"])])
    question = analyze("Which opera did the works that made the loose gear Vorax sponsor?")
    assert bridged(question, shelf, 3) == []
    assert not speaks_of(
        question, [QuotableUnit(text="The loose gear Vorax is made by the works.", passages=(), source="S1")]
    )


async def test_a_question_for_documents_is_answered_by_one_sentence_of_each(tmp_path: Path) -> None:
    said = ("A sluice by the old mill leaked for weeks.", "In Genoa the eastern sluice leaked.", "One sluice leaked.")
    for number, text in enumerate(said):
        (tmp_path / f"{number}.md").write_text(f"# Report {number}\n\n{text} Nobody was hurt in town {number}.\n")
    (tmp_path / "other.md").write_text("# Bread\n\nRye bread is baked slowly.\n")
    async with Assay() as assay:
        report = await assay.start("Which reports tell of a sluice that leaked?", sources=[tmp_path]).report()
    assert len([source for source in report.sources if source.number is not None]) == 3
    assert "Rye" not in report.markdown
