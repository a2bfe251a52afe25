"""Questions about tables in real files, on the built-in model: computed by code, cited by their rows, checked again."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import docx
import openpyxl
import pytest
from pdfs import pdf
from sampling import crossed

import assay
from assay.core.tables.answers import MAX_CITED_ROWS

TABLE = (
    "country,year,population (millions),capital\n"
    "France,2019,67.2,Paris\nFrance,2020,67.4,Paris\nFrance,2021,67.7,Paris\n"
    "Germany,2019,83.1,Berlin\nGermany,2020,83.2,Berlin\nSpain,2020,47.4,Madrid\n"
)
RIVERS = (
    ("River", "Length (km)", "Continent"),
    ("Nile", "6650", "Africa"),
    ("Amazon", "6400", "South America"),
    ("Danube", "2850", "Europe"),
    ("Rhine", "1233", "Europe"),
)


def _csv() -> bytes:
    return "\n".join(",".join(row) for row in RIVERS).encode()


def _html() -> bytes:
    """A page whose head spans columns and rows, with a footnote mark and a row which names those below it."""
    head = "<tr><th rowspan=2>River</th><th colspan=1>Length (km)</th><th rowspan=2>Continent</th></tr><tr></tr>"
    mark = '<sup class="reference"><a href="#n1">[1]</a></sup>'
    rows = "".join(
        f"<tr><td>{name}</td><td>{length}{mark}</td><td>{place}</td></tr>" for name, length, place in RIVERS[1:]
    )
    return (
        "<html><head><title>Rivers</title></head><body><h1>Rivers</h1><p>Some rivers of the world and how long they "
        f"are.</p><table>{head}<tr><td colspan=3>By length</td></tr>{rows}</table></body></html>"
    ).encode()


def _xlsx() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in RIVERS:
        sheet.append([int(cell) if cell.isdigit() else cell for cell in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _docx() -> bytes:
    document = docx.Document()
    document.add_heading("Rivers")
    table = document.add_table(rows=0, cols=3)
    for row in RIVERS:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _pdf() -> bytes:
    lines = [(72.0, 770.0, "Some rivers of the world and how long they are.")]
    for number, row in enumerate(RIVERS):
        lines += [(72.0 + 130 * at, 730.0 - 18 * number, text) for at, text in enumerate(row)]
    return pdf([lines])


def _text() -> bytes:
    lines = ("".join(cell.ljust(16) for cell in row).rstrip() for row in RIVERS)
    return ("Some rivers of the world and how long they are.\n\n" + "\n".join(lines) + "\n").encode()


FILES: dict[str, Callable[[], bytes]] = {
    "rivers.csv": _csv,
    "rivers.html": _html,
    "rivers.xlsx": _xlsx,
    "rivers.docx": _docx,
    "rivers.pdf": _pdf,
    "rivers.txt": _text,
}


ASKED = {
    "Which river is the longest?": "Nile: Length (km) 6650, the highest of 4 rows",
    "What is the total length of the rivers in Europe?": "Sum of Length (km) over 2 rows: 4083 (Continent: Europe)",
    "What is the length of the Rhine?": "Length (km) of Rhine: 1233",
}


@pytest.mark.parametrize(("name", "question"), crossed(FILES, [*ASKED]))
async def test_extremes_sums_and_cells_of_every_kind_of_file(tmp_path: Path, name: str, question: str) -> None:
    (tmp_path / name).write_bytes(FILES[name]())
    report = await assay.research(question, sources=[str(tmp_path / name)])
    (claim,) = report.claims
    assert (claim.text, claim.verdict, claim.relevance) == (ASKED[question], "supported", "answers"), report.markdown
    assert report.verified
    cited = " ".join(passage.text for passage in report.passages)
    assert all(row[0] in cited for row in RIVERS[1:] if row[0] == "Rhine" or "longest" in question)


@pytest.mark.parametrize(("delimiter", "name"), [(",", "table.csv"), (";", "table.csv"), ("\t", "table.tsv")])
async def test_the_right_cell_answers(tmp_path: Path, delimiter: str, name: str) -> None:
    (tmp_path / name).write_text(TABLE.replace(",", delimiter))
    report = await assay.research("What was the population of France in 2020?", sources=[str(tmp_path / name)])
    (claim,) = report.claims
    assert (claim.text, claim.verdict) == ("population (millions) of France, 2020: 67.4", "supported")
    assert [passage.text for passage in report.passages] == [
        "country: France | year: 2020 | population (millions): 67.4 | capital: Paris"
    ]
    assert [source.title for source in report.sources] == [name]


async def test_a_row_which_is_not_there_is_not_made_up(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    report = await assay.research("What was the population of Italy in 2020?", sources=[str(tmp_path / "table.csv")])
    assert report.stop_reason == "no_evidence"
    assert "Closest passages" in report.markdown


async def test_a_table_too_long_to_cite_is_computed_and_checked_whole(tmp_path: Path) -> None:
    rows = "\n".join(f"station {number},{number}" for number in range(1, 2001))
    (tmp_path / "stations.csv").write_text(f"station,rainfall\n{rows}\n")
    report = await assay.research("What is the total rainfall of the stations?", sources=[str(tmp_path)])
    (claim,) = report.claims
    assert claim.text == "Sum of rainfall over 2,000 rows: 2001000"
    assert claim.verdict == "supported"
    assert "computed again from the whole table" in claim.reason
    assert 0 < len(claim.citations) <= MAX_CITED_ROWS


async def test_german_report_german_words(tmp_path: Path) -> None:
    (tmp_path / "umsatz.csv").write_text("Produkt;Umsatz (EUR)\nStuhl;1.200,50\nTisch;2.300,00\nSumme;3.500,50\n")
    report = await assay.research("Wie hoch ist der gesamte Umsatz?", sources=[str(tmp_path)])
    (claim,) = report.claims
    assert "3.500,5" in claim.text
    assert claim.verdict == "supported"


async def test_groups_are_added_up_and_checked_again(tmp_path: Path) -> None:
    rows = "Mercer,412.50\nDentalux,980\nOrbis,1310\nDentalux,1020\nMercer,388\n"
    (tmp_path / "deliveries.csv").write_text(f"supplier,amount\n{rows}")
    report = await assay.research("Which supplier gets the most?", sources=[str(tmp_path)])
    (claim,) = report.claims
    assert (claim.text, claim.verdict) == (
        "Dentalux: sum of amount 2000, the highest of 3 groups by supplier",
        "supported",
    )


async def test_groups_are_compared_though_no_row_is_found(tmp_path: Path) -> None:
    rows = "Roth;148,00\nMerck;236,50\nRoth;47,70\nMerck;412,00\n"
    (tmp_path / "bestellungen.csv").write_text(f"Lieferant;Betrag (EUR)\n{rows}")
    (tmp_path / "notiz.txt").write_text("Für das Fest wurde am meisten Geld ausgegeben, sagen alle, die dort waren.\n")
    report = await assay.research("Bei welchem Lieferanten wurde am meisten ausgegeben?", sources=[str(tmp_path)])
    assert report.claims[0].text.startswith("Merck: Summe von Betrag (EUR) 648,5, ")
    assert report.claims[0].verdict == "supported"


async def test_a_list_of_records_is_computed_over_and_checked_again(tmp_path: Path) -> None:
    shifts = (
        ("Kim", "2026-03-02", "6:30"),
        ("Lou", "2026-03-09", "4:45"),
        ("Kim", "2026-03-23", "5:15"),
        ("Kim", "2026-04-01", "7:10"),
    )
    lists = (
        f"## Shift {at}\n\n- Person: {who}\n- Date: {day}\n- Hours: {hours}\n"
        for at, (who, day, hours) in enumerate(shifts)
    )
    path = tmp_path / "shifts.md"
    path.write_text("# Time sheets\n\n" + "\n".join(lists))
    async with assay.Assay(home=tmp_path / "home") as library:
        report = await library.start("How many hours did Kim work in March?", sources=[path]).report()

    assert "Sum of Hours over 2 rows: 11:45" in report.markdown
    assert report.claims[0].verdict == "supported"
