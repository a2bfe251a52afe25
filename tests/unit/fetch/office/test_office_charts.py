"""Figures of charts, as their file has them."""

from __future__ import annotations

from io import BytesIO

import docx
import pytest
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from lxml import etree

from assay.fetch.office.charts import chart_rows
from assay.fetch.office.microsoft import DocxExtractor


def rows(categories: str, *values: str) -> list[list[str]]:
    points = "".join(f'<c:pt idx="{at}"><c:v>{value}</c:v></c:pt>' for at, value in enumerate(values))
    series = f"<c:ser>{categories}<c:val><c:numRef><c:numCache>{points}</c:numCache></c:numRef></c:val></c:ser>"
    return chart_rows(etree.fromstring(f"<c:chart {nsdecls('c')}>{series}</c:chart>"))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("0.30000000000000004", "0.3"),
        ("23315081234567.8", "23315081234567.8"),
        ("1234567890123456", "1234567890123456"),
        ("0.00001", "0.00001"),
        ("-5E-3", "-0.005"),
        ("1e999", "1e999"),
        ("NaN", "NaN"),
        ("#N/A", "#N/A"),
    ],
)
def test_a_figure(written: str, shown: str) -> None:
    assert rows("", written)[1:] == [["1", shown]]


def test_categories_in_groups() -> None:
    inner = "".join(f'<c:pt idx="{at}"><c:v>Q{at % 2 + 1}</c:v></c:pt>' for at in range(4))
    outer = '<c:pt idx="0"><c:v>2023</c:v></c:pt><c:pt idx="2"><c:v>2024</c:v></c:pt>'
    levels = "".join(f"<c:lvl>{level}</c:lvl>" for level in (inner, outer))
    found = rows(
        f"<c:cat><c:multiLvlStrRef><c:multiLvlStrCache>{levels}</c:multiLvlStrCache></c:multiLvlStrRef></c:cat>",
        *"5678",
    )
    assert [row[0] for row in found[1:]] == ["2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2"]


def test_a_damaged_chart_is_left_out() -> None:
    written = docx.Document()
    part = Part(PackURI("/word/charts/chart1.xml"), "application/xml", b"<c:chart", written.part.package)
    number = written.part.relate_to(part, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/chart")
    drawing = f'<w:r {nsdecls("w")}><w:drawing><c:chart {nsdecls("c", "r")} r:id="{number}"/></w:drawing></w:r>'
    written.add_paragraph("Ships came in.")._p.append(parse_xml(drawing))
    data = BytesIO()
    written.save(data)
    (found,) = DocxExtractor().extract(data.getvalue(), "a.docx")
    assert found.text == "Ships came in.\n"
