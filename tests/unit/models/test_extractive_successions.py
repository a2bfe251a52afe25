"""Who came before or after somebody in a list of people with years."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import Assay

MASTERS = (("Nils Amundsen", 1890), ("Ole Berg", 1901), ("Ingrid Solheim", 1911), ("Kari Dahl", 1934))
LIST = "# Harbour masters\n\n" + "\n".join(
    f"- {name} was harbour master from {year} to {year + 10}." for name, year in MASTERS
)
TABLE = "# The harbour\n\n| Harbour master | From | Berths |\n|---|---|---|\n" + "\n".join(
    f"| {name} | {year} | 4 |" for name, year in reversed(MASTERS)
)
LIFE = """# A life

Ingrid Solheim was born in a cabin in 1880. Ingrid Solheim went to sea in a cutter in 1895. Ingrid Solheim was in a
choir in 1899. Ingrid Solheim was a pilot in 1905.
"""


async def opening(question: str, text: str, folder: Path) -> str:
    (folder / "harbour.md").write_text(text)
    async with Assay() as assay:
        report = await assay.start(question, sources=[folder]).report()
    return report.markdown.partition("\n#")[0].partition("*As of")[0].partition("*Stand")[0]


@pytest.mark.parametrize("text", [LIST, TABLE])
@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Who was harbour master before Solheim?", "Ole Berg"),
        ("Who preceded Ingrid Solheim?", "Ole Berg"),
        ("Who was Solheim's predecessor?", "Ole Berg"),
        ("Who succeeded Ingrid Solheim as harbour master?", "Kari Dahl"),
        ("Who followed Berg?", "Ingrid Solheim"),
        ("— Who was harbour master before Solheim?", "Ole Berg"),
        ("Wer war Hafenmeister vor Solheim?", "Ole Berg"),
        ("Wer war der Nachfolger von Nils Amundsen?", "Ole Berg"),
    ],
)
async def test_the_neighbour_in_a_list_comes_first(question: str, name: str, text: str, tmp_path: Path) -> None:
    assert (await opening(question, text, tmp_path)).startswith(name)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who was harbour master before Nils Amundsen?", LIST),
        ("Who succeeded Ingrid Solheim?", "\n".join(LIST.splitlines()[:2] + LIST.splitlines()[4:])),
        ("Who preceded Ingrid Solheim?", LIFE),
    ],
)
async def test_nobody_else_is_a_neighbour(question: str, text: str, tmp_path: Path) -> None:
    assert not (await opening(question, text, tmp_path)).startswith(
        ("Ole Berg", "Kari Dahl", "Ingrid Solheim was born")
    )
