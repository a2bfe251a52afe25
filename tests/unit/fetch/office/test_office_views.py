"""Spreadsheets as a reader sees them: formats of numbers, hidden rows and columns."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from office_files import book, changed

from assay.core.errors import ExtractError
from assay.core.sources import Extracted
from assay.fetch.office.number_formats import parse_number_format
from assay.fetch.office.xlsx import OdsExtractor, XlsxExtractor

CATCH = (("Fish", "Share", "Price"), ("Cod", 0.19, 12.5), ("Hake", 0.07, 1234.5), ("Ling", 0.7400, 9))


def read(rows: Sequence[Sequence[object]], finish: Callable[[Any], None]) -> list[str]:
    (found,) = XlsxExtractor().extract(book({"S": rows}, finish=finish), "b.xlsx")
    return [line.rpartition(" | cells")[0] for line in found.text.split("\n\n")]


@pytest.mark.parametrize(
    ("code", "number", "shown"),
    [
        ("0%", "0.19", "19%"),
        ("0.00%", "0.07", "7.00%"),
        ("0%", "0.12345678", "12.3457%"),
        ('#,##0.00\\ "€"', "1234.5", "1234.50 €"),
        ("[$€-407] #,##0", "-12", "-€ 12"),
        ('_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)', "-3.5", "-$ 3.50"),
        ("[$CHF-807]\\ 0.00;[Red]-[$CHF-807]\\ 0.00", "8", "CHF 8.00"),
        ('0.0" kg"', "7", "7.0 kg"),
        ('General" km"', "7.25", "7.25 km"),
        ('#,##0.0,,"M"', "12345678", "12.3457M"),
        ("00000", "1067", "01067"),
        ("$#,##0.00", "1e-05", "$0.00"),
        ('0.0" kg"', "1e+20", "1e+20"),
        (";;;", "5", ""),
    ],
)
def test_a_number_as_its_format_shows_it(code: str, number: str, shown: str):
    found = parse_number_format(code)
    assert found is not None
    assert found.write(number) == shown


@pytest.mark.parametrize(
    "code", ["", "General", "0", "#,##0.00", "yyyy-mm-dd", "# ?/?", "0.00E+00", "[h]:mm", "000-0000", "[>9]0.0;0", "@"]
)
def test_formats_that_add_nothing_or_are_not_known(code: str):
    assert parse_number_format(code) is None


@given(st.text('0#?.,%"\\_*[]$€-; gE@/', max_size=20), st.floats(-1e9, 1e9))
def test_any_code_and_number_is_read(code: str, number: float):
    found = parse_number_format(code)
    assert found is None or isinstance(found.write(repr(number)), str)


def test_cells_have_their_percent_signs_and_currencies_and_the_head_is_found():
    def finish(sheet: Any) -> None:
        for row in (2, 3, 4):
            sheet[f"B{row}"].number_format, sheet[f"C{row}"].number_format = "0%", '#,##0.00\\ "€"'

    assert read([["Catch"], [], *CATCH, []], lambda _: None)[1] == "Fish: Cod | Share: 0.19 | Price: 12.5"
    assert read(CATCH, finish) == [
        "Fish: Cod | Share: 19% | Price: 12.50 €",
        "Fish: Hake | Share: 7% | Price: 1234.50 €",
        "Fish: Ling | Share: 74% | Price: 9.00 €",
    ]


def test_a_text_in_a_cell_with_a_number_format_stays_as_it_is():
    def finish(sheet: Any) -> None:
        sheet["B2"].number_format = "0%"

    assert read([["Fish", "Share"], ["Cod", "0.19"], ["Hake", 3]], finish)[0] == "Fish: Cod | Share: 0.19"


def test_hidden_rows_and_columns_are_left_out_and_named():
    def finish(sheet: Any) -> None:
        sheet.row_dimensions[3].hidden = sheet.column_dimensions["B"].hidden = True

    (found,) = XlsxExtractor().extract(book({"S": CATCH}, finish=finish), "b.xlsx")
    assert found.text == "Fish: Cod | Price: 12.5 | cells: A2:C2\n\nFish: Ling | Price: 9 | cells: A4:C4\n"
    assert found.metadata == {
        "sheet": "S",
        "rows": "3",
        "columns": "Fish, Price",
        "hidden rows": "3",
        "hidden columns": "B",
    }


def test_rows_of_a_filter_or_a_folded_group_are_read():
    def filtered(sheet: Any) -> None:
        sheet.auto_filter.ref = "A1:C4"
        sheet.auto_filter.add_filter_column(0, ["Cod"])
        sheet.row_dimensions[3].hidden = True

    def grouped(sheet: Any) -> None:
        sheet.row_dimensions.group(3, 3, hidden=True)
        sheet.column_dimensions.group("B", "B", hidden=True)

    def table(sheet: Any) -> None:
        from openpyxl.worksheet.filters import AutoFilter, FilterColumn, Filters
        from openpyxl.worksheet.table import Table

        column = FilterColumn(colId=0, filters=Filters(filter=["Cod"]))
        sheet.add_table(Table(displayName="T", ref="A1:C4", autoFilter=AutoFilter(ref="A1:C4", filterColumn=[column])))
        sheet.row_dimensions[3].hidden = True

    for finish in (filtered, grouped, table):
        assert "Fish: Hake | Share: 0.07 | Price: 1234.5" in read(CATCH, finish)


def test_a_book_with_a_part_missing_is_read_by_its_values():
    def finish(sheet: Any) -> None:
        sheet.row_dimensions[3].hidden = True
        sheet["B2"].number_format = "0%"

    relations = """<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
    <Relationship Id="rId1" Target="../tables/t.xml" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/table"/>
    </Relationships>"""
    data = changed(book({"S": CATCH}, finish=finish), {"xl/worksheets/_rels/sheet1.xml.rels": relations})
    (found,) = XlsxExtractor().extract(data, "b.xlsx")
    assert found.text.startswith("Fish: Cod | Share: 0.19 | Price: 12.5")


def test_an_open_document_sheet_as_a_reader_sees_it():
    found = read_open_sheet(
        [
            ("", ["Fish", "Secret", "Share", "Price"]),
            ("", ["Cod", 1, ("percentage", 0.19, ""), ("currency", 12.5, "EUR")]),
            ("collapse", ["Old", 1, 2, 3]),
            ("filter", ["Hake", 1, ("percentage", 0.07, ""), ("currency", 9, "EUR")]),
        ]
    )
    assert found.text.split("\n\n") == [
        "Fish: Cod | Share: 19% | Price: 12.5 EUR | cells: A2:D2",
        "Fish: Hake | Share: 7% | Price: 9 EUR | cells: A4:D4\n",
    ]
    assert found.metadata["hidden rows"] == "3"
    assert found.metadata["hidden columns"] == "B"


def read_open_sheet(rows: Sequence[tuple[str, Sequence[Any]]]) -> Extracted:
    """A sheet whose second column is hidden, with 1,048,000 hidden rows below these."""
    from odf import table, text
    from odf.opendocument import OpenDocumentSpreadsheet

    made, sheet, packed = OpenDocumentSpreadsheet(), table.Table(name="S"), io.BytesIO()
    for visibility in ("visible", "collapse", "visible", "visible"):
        sheet.addElement(table.TableColumn(visibility=visibility))
    for visibility, values in (*rows, ("collapse", [""])):
        row = table.TableRow(visibility=visibility or "visible", numberrowsrepeated=1 if values[0] else 1_048_000)
        for value in values:
            kind, number, currency = value if isinstance(value, tuple) else ("float", value, "")
            if isinstance(value, str):
                cell = table.TableCell(valuetype="string") if value else table.TableCell()
                cell.addElement(text.P(text=value))
            else:
                facts = {"currency": currency} if currency else {}
                cell = table.TableCell(valuetype=kind, value=number, **facts)
            row.addElement(cell)
        sheet.addElement(row)
    made.spreadsheet.addElement(sheet)
    made.save(packed)
    (found,) = OdsExtractor().extract(packed.getvalue(), "b.ods")
    return found


# formulas

SHEET = "xl/worksheets/sheet1.xml"


def with_cells(cells: str, workbook: str = "<calcPr/>") -> tuple[str, str]:
    """The lines of a sheet with a head of three columns above these cells, and the warning."""
    head = "".join(f'<c r="{letter}1" t="inlineStr"><is><t>{letter.lower()}</t></is></c>' for letter in "ABC")
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    rows = f'<row r="1">{head}</row><row r="2"><c r="A2"><v>3</v></c>{cells}</row>'
    parts: dict[str, str | bytes] = {SHEET: f"<worksheet {space}><sheetData>{rows}</sheetData></worksheet>"}
    data = book({"S": [("a",)]})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        known = archive.read("xl/workbook.xml").decode()
    parts["xl/workbook.xml"] = re.sub(r"<calcPr[^>]*/>", workbook, known)
    found = XlsxExtractor().extract(changed(data, parts), "b.xlsx")
    document = next(found)
    with suppress(StopIteration):
        try:
            next(found)
        except ExtractError as error:
            return document.text.strip(), str(error)
    return document.text.strip(), ""


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        ('<c r="B2"><f>A2*2</f></c>', "b: =A2*2 (not computed)"),
        ('<c r="B2"><f>A2*2</f><v></v></c>', "b: =A2*2 (not computed)"),
        ('<c r="B2"><f t="shared" si="0"/><v/></c>', "b: (not computed)"),
        ('<c r="B2"><f>A2|1</f></c>', "b: =A2¦1 (not computed)"),
        ('<c r="B2"><f>A2*2</f><v>6</v></c>', "b: 6"),
        ('<c r="B2"><f>A2*0</f><v>0</v></c>', "b: 0"),
        ('<c r="B2" t="str"><f>IF(A2,"","x")</f><v></v></c>', ""),
        ('<c r="B2"/>', ""),
    ],
)
def test_a_formula_stands_where_nothing_was_computed(cells: str, shown: str):
    text, warning = with_cells(f'{cells}<c r="C2"><v>1</v></c>')
    assert text == f"a: 3 | {shown + ' | ' if shown else ''}c: 1 | cells: A2:C2"
    assert warning == (
        "1 formula without a stored value; save it anew in a program for spreadsheets" * ("(not" in shown)
    )


def test_zeros_of_a_program_that_computes_nothing_are_no_values():
    cells = '<c r="B2"><f>A2*2</f><v>0</v></c><c r="C2"><v>0</v></c>'
    text, warning = with_cells(cells, '<calcPr calcId="1" fullCalcOnLoad="1"/>')
    assert text == "a: 3 | b: =A2*2 (not computed) | c: 0 | cells: A2:C2"
    assert warning.startswith("1 formula")


CELLS = st.tuples(
    st.sampled_from(["", "<f>1+1</f>", "<f/>", "<f>&amp;|</f>"]),
    st.sampled_from(["", "<v/>", "<v>7777</v>"]),
)


@given(CELLS, CELLS, st.sampled_from(["", ' t="str"', ' t="n"', ' r="B2"', ' r="ZZ9"']))
def test_no_formula_is_silently_empty(first: tuple[str, str], second: tuple[str, str], attributes: str):
    cells = f"<c{attributes}>{''.join(first)}</c><c>{''.join(second)}</c>"
    text, warning = with_cells(cells)
    assert ("(not computed)" in text) <= bool(warning)
    assert ("7777" in text) == ("7777" in cells)
