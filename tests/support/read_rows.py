"""Tables as they are read, from rows written in one line each."""

from __future__ import annotations

from assay.core.tables.cells import ReadTable, TablePiece, read_tables


def table(head: str, *rows: str, title: str = "list.csv", language: str = "") -> ReadTable:
    """The table with these column names and rows, whose cells semicolons separate; empty cells are left out."""
    names = head.split(";")
    cells = (zip(names, row.split(";"), strict=True) for row in rows)
    lines = (" | ".join(f"{name}: {cell}" for name, cell in row if cell) for row in cells)
    (found,) = read_tables([TablePiece(str(at), line) for at, line in enumerate(lines)], title, language)
    return found


UMSATZ = table(
    "Produkt;Region;Umsatz (EUR)",
    "Stuhl;Nord;1.200,50",
    "Tisch;Nord;2.300,00",
    "Stuhl;Süd;900,25",
    "Tisch;Süd;1.100,00",
    "Summe;;5.500,75",
    title="umsatz.csv",
    language="de",
)
