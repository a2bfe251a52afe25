"""`calculate` in a real run: which tables it asks, what it shows, and what it says where nothing answers."""

from __future__ import annotations

import pytest
from research import Sea, within

from assay.core.errors import ToolError
from assay.core.tables.rows import read_notes
from assay.evidence.ledger import Ledger
from assay.run.protocols import Observation
from assay.run.run import Run
from assay.tools.calculate import MAX_DOCUMENTS, CalculateTool
from assay.tools.search import SearchTool

PORTS = (
    "# Ports\n\n| Port | Depth (m) | Country |\n|---|---|---|\n| Goole | 7.5 | England |\n| Leith | 8 | Scotland |\n"
)
SHIPS = "# Ships\n\n| Ship | Length (m) |\n|---|---|\n| Anna | 31 |\n| Bertha | 44 |\n"
LONG = "# Rain\n\n| Station | Rainfall |\n|---|---|\n" + "\n".join(f"| Station {n} | {n} |" for n in range(1, 1001))


async def calculate(run: Run, ledger: Ledger, question: str) -> Observation:
    return await CalculateTool().run(run, ledger, {"question": question})


async def test_the_table_which_answers_is_found_and_its_rows_are_shown() -> None:
    async def body(run: Run) -> None:
        found = await calculate(run, Ledger(), "What is the greatest depth of the ports?")
        (shown,) = found.shown
        assert shown.document.name == "ports.md"
        assert [span.text for span in shown.spans] == [
            line for line in PORTS.splitlines() if "|" in line and "--" not in line
        ]
        (note,) = read_notes(found.note)
        assert note.text == "Leith: Depth (m) 8, the highest of 2 rows"
        assert [span.ordinal for span in shown.spans] == list(note.ordinals)
        assert found.summary == note.text

    await within(Sea({"ports.md": PORTS, "ships.md": SHIPS}), body)


async def test_a_long_table_is_computed_whole_and_shown_in_part() -> None:
    async def body(run: Run) -> None:
        found = await calculate(run, Ledger(), "Which station has the highest rainfall?")
        assert read_notes(found.note)[0].text == "Station 1000: Rainfall 1000, the highest of 1,000 rows"
        assert "of the 1000 rows it was computed from are shown." in found.note
        texts = [span.text for span in found.shown[0].spans]
        assert "| Station 1000 | 1000 |" in texts
        assert len(texts) <= 201

    await within(Sea({"rain.md": LONG}), body)


async def test_nothing_answers() -> None:
    async def body(run: Run) -> None:
        found = await calculate(run, Ledger(), "What is the total weight of the ships?")
        assert found.shown == ()
        assert found.note.startswith("No table answers this.")
        with pytest.raises(ToolError, match="the question is empty"):
            await calculate(run, Ledger(), "  ")

    await within(Sea({"ships.md": SHIPS}), body)


async def test_of_many_documents_those_which_were_met_are_asked() -> None:
    async def body(run: Run) -> None:
        ledger = Ledger()
        question = "What is the greatest depth of the ports?"
        assert (await calculate(run, ledger, question)).shown == ()
        found = await SearchTool().run(run, ledger, {"query": "Goole"})
        ledger.apply(ledger.register(run.lane, found.shown).rows)
        assert (await calculate(run, ledger, question)).shown[0].document.name == "ports.md"

    others = {f"note-{number}.md": f"Note {number} says little." for number in range(MAX_DOCUMENTS + 1)}
    await within(Sea({"ports.md": PORTS, **others}), body)


async def test_the_same_question_of_the_same_documents_is_answered_once() -> None:
    async def body(run: Run) -> None:
        ledger = Ledger()
        first = await calculate(run.child("one"), ledger, "What is the length of Anna?")
        assert await calculate(run.child("two"), ledger.seeing([2]), "What is the length of Anna?") == first
        assert read_notes(first.note)[0].text == "Length (m) of Anna: 31"

    await within(Sea({"ships.md": SHIPS}), body)


def huts(*sheets: str) -> dict[str, str]:
    return {f"hut-{at}.md": f"# Hut {at}\n\n{sheet}\n" for at, sheet in enumerate(sheets)}


@pytest.mark.parametrize(
    ("sheets", "expected"),
    [
        (
            ("Price: 12 EUR\n\nBuilt: 1931", "Price: 9 EUR (winter)\n\nBuilt: 1950", "Price: 30 EUR"),
            "Hut 1: Price 9 EUR",
        ),
        (("- **Price**: 12 EUR", "- **Price**: 9 EUR", "- **Price**: 30 EUR", "Closed."), "Hut 1: Price 9 EUR"),
        (("Price: 12 EUR", "Price: 9 EUR", "Price: on request"), ""),  # which may be the lowest
        (("Price: 12 EUR", "Price: 9 EUR", "Built: 1931"), ""),
        (("Price: 12 EUR", "Price: 9 EUR", "Price: 30 EUR", "Beds: 3", "Beds: 4", "Beds: 5"), ""),
    ],
)
async def test_the_extreme_of_several_documents_is_computed(sheets: tuple[str, ...], expected: str) -> None:
    async def body(run: Run) -> None:
        found = await calculate(run, Ledger(), "Which is the cheapest hut?")
        assert found.summary.startswith(f"{expected}, the lowest of 3 rows" if expected else "no table answers")
        if expected:
            (note,) = read_notes(found.note)
            shown = [found.shown[at - 1] for at in note.documents]
            named = [(each.document.name, span.text) for each in shown for span in each.spans]
            assert [name for name, _ in named] == ["hut-1.md", "hut-0.md", "hut-2.md"]
            assert all("Price" in text for _, text in named)

    await within(Sea(huts(*sheets)), body)


async def test_no_extreme_of_some_of_many_documents() -> None:
    async def body(run: Run) -> None:
        assert (await calculate(run, Ledger(), "Which is the cheapest hut?")).shown == ()

    await within(Sea(huts(*(f"Price: {at} EUR" for at in range(MAX_DOCUMENTS + 1)))), body)
