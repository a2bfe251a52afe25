"""Word documents, opened as what they are: a zip of XML parts, and by LibreOffice where it is installed."""

import io
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import logs
import msgspec
import pytest
import repaired
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from records import record, recorded
from sampling import crossed, scaled
from shown import HOSTILE, TEXT, full

from assay.core.brief import Brief
from assay.core.clean import HARMFUL
from assay.core.errors import ConfigError
from assay.export.docx import EXPORTER

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def part(data: bytes, name: str = "word/document.xml") -> etree._Element:
    """A part of the package, parsed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return etree.fromstring(archive.read(name))


def text_of(element: etree._Element) -> str:
    return "".join(node.text or "" for node in element.iter(f"{W}t"))


def styled(document: etree._Element) -> list[tuple[str, str]]:
    """Every paragraph outside tables: its style's id and its words."""
    paragraphs = document.find(f"{W}body").findall(f"{W}p")
    styles = [paragraph.find(f"{W}pPr/{W}pStyle") for paragraph in paragraphs]
    return [("" if s is None else s.get(f"{W}val"), text_of(p)) for s, p in zip(styles, paragraphs, strict=True)]


def test_what_it_holds_in_order() -> None:
    paragraphs = styled(part(EXPORTER.render(full())))
    assert paragraphs[0] == ("Title", "What is so?")
    assert paragraphs[1] == ("Subtitle", "2025-01-02, not verified. 1 claim: 1 contradicted.")
    assert ("Heading1", "Details in 中文") in paragraphs
    assert ("ListBullet", "two items") in paragraphs
    assert ("ListNumber2", "nested first") in paragraphs
    assert ("ListContinue2", "more of it") in paragraphs
    assert ("ListNumber", "seven") in paragraphs
    assert ("Quote", "A quotation with marks.") in paragraphs
    assert ("Quote", "“Code is read often.” (page 3)") in paragraphs
    assert any(text.endswith("[⚠ contradicted]") for _, text in paragraphs)  # behind the claim it is said of
    heads = [text for style, text in paragraphs if style == "Heading1"]
    assert heads == ["Details in 中文", "Sources", "Claims to check", "What the verdicts mean"]
    after = [text for _, text in paragraphs][-9:]
    assert after[0].startswith("contradicted: the number differs (“The answer is")
    assert after[2] == "quoted: Copied word for word from its source."
    assert after[-1].endswith("It does not say that the source is right.")


@pytest.mark.parametrize("again", ["# What is so?", "## What is So", "What is so?\n==========="])
def test_no_heading_stands_twice(again: str) -> None:
    text = f"{again}\n\n### First\n\n### first\n\nIt is so [S1.1].\n\n#### Deeper\n\nSo it is [S1.1].\n"
    paragraphs = styled(part(EXPORTER.render(full(text))))
    heads = [(style, heading) for style, heading in paragraphs if style == "Title" or style.startswith("Heading")]
    assert heads[:3] == [("Title", "What is so?"), ("Heading1", "First"), ("Heading2", "Deeper")]
    assert [heading for _, heading in heads[3:]] == ["Sources", "Claims to check", "What the verdicts mean"]


def test_a_heading_which_comes_again_later_stays() -> None:
    text = "## Kiel\n\nOne [S1.1].\n\n## What is so?\n\nTwo [S1.1].\n\n## Kiel\n\nThree [S1.1].\n"
    heads = [heading for style, heading in styled(part(EXPORTER.render(full(text)))) if style == "Heading1"]
    assert heads[:3] == ["Kiel", "What is so?", "Kiel"]


def test_looks_of_text() -> None:
    first = part(EXPORTER.render(full())).find(f"{W}body").findall(f"{W}p")[2]
    looks = {
        text_of(run): {child.tag.removeprefix(W) for child in run.iterfind(f"{W}rPr/*")} for run in first.iter(f"{W}r")
    }
    assert looks["bold"] == {"b"}
    assert looks["italic"] == {"i"}
    assert looks["struck"] == {"strike"}
    assert "rFonts" in looks["code"]


def test_every_citation_leads_to_a_bookmark_and_links_only_to_the_web() -> None:
    data = EXPORTER.render(full())
    document, related = part(data), part(data, "word/_rels/document.xml.rels")
    marks = {mark.get(f"{W}name") for mark in document.iter(f"{W}bookmarkStart")}
    links = list(document.iter(f"{W}hyperlink"))
    anchors = [(text_of(link), link.get(f"{W}anchor")) for link in links if link.get(f"{W}anchor")]
    assert marks == {"source-1", "source-2"}
    assert anchors == [(f"[{n}]", f"source-{n}") for n in (1, 2, 1, 1, 2, 2)]
    targets = {each.get("Id"): each.get("Target") for each in related if each.get("TargetMode") == "External"}
    assert {targets[link.get(f"{R}id")] for link in links if link.get(f"{R}id")} == {
        "https://example.org/a?b=1&c=2", "https://peps.python.org/pep-0008/",
    }  # fmt: skip


def test_an_address_too_long_for_a_link_is_text() -> None:
    data = EXPORTER.render(full(f"See [this](https://example.org/{'x' * 2_100}) [S1.1]."))
    assert any(text.startswith("See this [1]") for _, text in styled(part(data)))
    assert max(len(link.get("Target")) for link in part(data, "word/_rels/document.xml.rels")) < 2_083


def test_ordered_lists_begin_at_their_own_number() -> None:
    data = EXPORTER.render(full())
    numbers = [each.get(f"{W}val") for each in part(data).iter(f"{W}numId")]
    starts = {
        each.get(f"{W}numId"): each.find(f"{W}lvlOverride/{W}startOverride")
        for each in part(data, "word/numbering.xml").findall(f"{W}num")
    }
    assert [starts[number].get(f"{W}val") for number in numbers] == ["1", "1", "7", "7"]


def test_a_table_has_a_header_row() -> None:
    table = next(part(EXPORTER.render(full())).iter(f"{W}tbl"))
    rows = [[text_of(cell) for cell in row.findall(f"{W}tc")] for row in table.findall(f"{W}tr")]
    assert rows == [["Year", "Value"], ["2001", "5 % [2]"], ["2002", "6 %"]]
    assert [row.find(f"{W}trPr/{W}tblHeader") is not None for row in table.findall(f"{W}tr")] == [True, False, False]


def test_arabic_runs_from_right_to_left() -> None:
    [paragraph] = [p for p in part(EXPORTER.render(full())).iter(f"{W}p") if text_of(p).startswith("هذا")]
    assert paragraph.find(f"{W}pPr/{W}bidi") is not None
    assert paragraph.find(f"{W}r/{W}rPr/{W}rtl") is not None


ORDERS = {
    "pPr": "pStyle keepNext keepLines numPr pBdr bidi spacing ind contextualSpacing jc outlineLvl rPr",
    "rPr": "rStyle rFonts b bCs i iCs strike color sz szCs u rtl cs lang",
    "tblPr": "tblStyle bidiVisual tblW jc tblInd tblLayout tblLook",
    "sectPr": "headerReference footerReference type pgSz pgMar cols titlePg textDirection bidi rtlGutter docGrid",
}
"""What Word requires to come before what (ECMA-376, 17.2 to 17.6), as far as it is used."""


def test_what_is_set_from_right_to_left_is_in_the_order_of_the_format() -> None:
    arabic = "# عنوان\n\n| عربي | ب |\n|---|---|\n| ت | ث |\n\n- عربي\n\n1. عربي\n\n> عربي\n\n"
    given = full(arabic + TEXT)
    brief = Brief(question="ما هو؟", date="2025-01-02", locale="ar")
    given = msgspec.structs.replace(given, view=msgspec.structs.replace(given.view, brief=brief))
    document = part(EXPORTER.render(given))
    assert document.find(f".//{W}sectPr/{W}bidi") is not None
    assert document.find(f".//{W}tblPr/{W}bidiVisual") is not None
    for name, order in ORDERS.items():
        for element in document.iter(f"{W}{name}"):
            found = [order.split().index(child.tag.removeprefix(W)) for child in element]
            assert found == sorted(found), etree.tostring(element)


def test_hostile_text_is_only_text() -> None:
    data = EXPORTER.render(full(HOSTILE + " [S2.1]\n\n" + TEXT))
    document = part(data)
    words = text_of(document)
    assert words.count('#read("/etc/passwd") #panic()') >= 4  # text, title, author, quote
    assert "<script>alert(1)</script>" in words
    assert not HARMFUL.search(words)
    assert {element.tag.partition("}")[0] for element in document.iter()} == {W.rstrip("}")}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert not any(
            "javascript" in archive.read(name).decode("latin-1") for name in archive.namelist() if "rels" in name
        )


def test_the_same_run_gives_the_same_bytes_and_says_when_it_was() -> None:
    data = EXPORTER.render(full())
    assert data == EXPORTER.render(full())
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    core = {each.tag.partition("}")[2]: each.text for each in part(data, "docProps/core.xml")}
    assert (core["title"], core["creator"], core["lastModifiedBy"]) == ("What is so?", "Assay", "Assay")
    assert core["created"] == core["modified"] == "2025-01-02T03:00:18Z"


@pytest.mark.parametrize(("name", "mode"), crossed(sorted(logs.SCENARIOS), ["numbers", "markers"]))
def test_every_run_can_be_written(name: str, mode: str) -> None:
    log = logs.SCENARIOS[name]().events
    for count in (0, len(log)):
        part(EXPORTER.render(recorded(log[:count]), mode))


@settings(max_examples=scaled(12), deadline=None)
@given(st.text(max_size=300) | st.lists(st.sampled_from(["- a\n", "1. b\n", "  ", "> ", "|a|\n|-|\n|b|\n", "# h\n", "```\n", "\n", "[S1.1]", "\ufffe", "&#1;"]), max_size=25).map("".join))  # fmt: skip # noqa: E501
def test_any_text_makes_a_document_whose_links_lead_somewhere(text: str) -> None:
    document = part(EXPORTER.render(full(text)))
    marks = {mark.get(f"{W}name") for mark in document.iter(f"{W}bookmarkStart")}
    assert {link.get(f"{W}anchor") for link in document.iter(f"{W}hyperlink") if link.get(f"{W}anchor")} <= marks


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
def test_libreoffice_reads_it(tmp_path: Path) -> None:
    (tmp_path / "report.docx").write_bytes(EXPORTER.render(full()))
    command = [
        "soffice",
        "--headless",
        "--convert-to",
        "txt:Text (encoded):UTF8",
        "--outdir",
        str(tmp_path),
        str(tmp_path / "report.docx"),
    ]
    subprocess.run(command, check=True, timeout=300, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
    read = (tmp_path / "report.txt").read_text(encoding="utf-8-sig")
    assert "Details in 中文" in read
    assert "“Code is read often.” (page 3)" in read


def test_without_python_docx_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docx", None)
    monkeypatch.delitem(sys.modules, "assay.export.word", raising=False)
    with pytest.raises(ConfigError, match=r"pip install 'assay\[docx\]'"):
        EXPORTER.render(full())


def test_the_fields_of_a_typed_answer_are_a_table() -> None:
    document = part(EXPORTER.render(record(repaired.view())))
    assert ("Heading1", "Fields") in styled(document)
    table = document.findall(f".//{W}tbl")[-1]
    rows = [[text_of(cell) for cell in row.iter(f"{W}tc")] for row in table.iter(f"{W}tr")]
    assert rows[0] == ["Field", "Value", "Verdict", "Why"]
    assert [row[0] for row in rows[1:]] == ["rise.metres", "harbour_master"]
    assert rows[2][3] == "no passage <names> *anyone*"
