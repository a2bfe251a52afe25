"""PDFs, opened by pdfium: their text, pages, outline, links, and that nothing in a report is ever run."""

import ctypes
import sys
from collections.abc import Iterator

import logs
import pypdfium2
import pypdfium2.raw as pdfium
import pytest
from citing import citing, page
from hypothesis import given, settings
from hypothesis import strategies as st
from records import recorded
from sampling import scaled
from shown import HOSTILE, TEXT, full

from assay.core.errors import ConfigError
from assay.export.pdf import EXPORTER

LEGEND = (0, "What the verdicts mean")
TEXT_AND_HOSTILE = HOSTILE + " [S2.1]\n\n" + TEXT


def words(data: bytes) -> str:
    """The text of all pages, on one line."""
    document = pypdfium2.PdfDocument(data)
    pages = [document[at].get_textpage().get_text_range() for at in range(len(document))]
    return " ".join(" ".join(pages).replace("\ufffe", "").replace("\u200b", "").split())


def links(data: bytes) -> Iterator[str]:
    """Where every link goes: an address, or `page N` of this file."""
    document = pypdfium2.PdfDocument(data)
    for number in range(len(document)):
        sheet = document[number]  # pdfium's links live no longer than their page
        at, link = ctypes.c_int(0), pdfium.FPDF_LINK()
        while pdfium.FPDFLink_Enumerate(sheet.raw, at, link):
            target = pdfium.FPDFLink_GetDest(document.raw, link)
            if target:
                yield f"page {pdfium.FPDFDest_GetDestPageIndex(document.raw, target) + 1}"
                continue
            action = pdfium.FPDFLink_GetAction(link)
            size = pdfium.FPDFAction_GetURIPath(document.raw, action, None, 0)
            address = ctypes.create_string_buffer(size)
            pdfium.FPDFAction_GetURIPath(document.raw, action, address, size)
            yield address.value.decode()


def test_what_it_says_in_order() -> None:
    read = words(EXPORTER.render(full()))
    parts = [
        "What is so?", "2025-01-02, not verified. 1 claim: 1 contradicted.",
        "The answer is bold, italic, code and struck [1].",
        "A link too [2] [1].", "• one item [1]", "1. nested first", "7. seven", "Year Value 2001 5 % [2] 2002 6 %",
        "A quotation with marks.", "def f(x): return x", "Sources 1. Style Guide, Guido van Rossum",
        "retrieved 2025-01-01 “Code is read often.” (page 3)",
        "Claims to check • contradicted: the number differs",
        "What the verdicts mean • quoted: Copied word for word from its source. • supported:",
        "It does not say that the source is right.",
    ]  # fmt: skip
    places = [read.find(part) for part in parts]
    assert -1 not in places, parts[places.index(-1)]
    assert places == sorted(places)


def test_outline_and_properties() -> None:
    document = pypdfium2.PdfDocument(EXPORTER.render(full()))
    titles = [item.get_title() for item in document.get_toc()]
    assert titles == ["Details in 中文", "Sources", "Claims to check", "What the verdicts mean"]
    facts = document.get_metadata_dict()
    assert (facts["Title"], facts["Author"], facts["CreationDate"]) == ("What is so?", "Assay", "D:20250102030018Z")


def test_no_heading_stands_twice() -> None:
    text = "# What is so?\n\n### First\n\n### first\n\nIt is so [S1.1].\n\n#### Deeper\n\nSo it is [S1.1].\n"
    document = pypdfium2.PdfDocument(EXPORTER.render(full(text)))
    titles = [(item.level, item.get_title()) for item in document.get_toc()]
    assert titles == [(0, "First"), (1, "Deeper"), (0, "Sources"), (0, "Claims to check"), LEGEND]


def test_citations_lead_into_the_file_and_links_to_the_web() -> None:
    assert sorted(links(EXPORTER.render(full("One [S1.1], two [S2.1; S1.1].\n"))))[-3:] == ["page 1"] * 3
    assert set(links(EXPORTER.render(full()))) == {
        "page 1",
        "https://example.org/a?b=1&c=2",
        "https://peps.python.org/pep-0008/",
    }


def test_an_address_too_long_for_a_link_is_text() -> None:
    data = EXPORTER.render(full(f"See [this](https://example.org/{'x' * 9_000}) [S1.1]."))
    assert "See this [1]" in words(data)


def test_hostile_text_is_only_text() -> None:
    data = EXPORTER.render(full(TEXT_AND_HOSTILE))
    read = words(data)
    assert read.count('#read("/etc/passwd") #panic() \\input{/etc/passwd} $x^2$ <script>alert(1)</script>') >= 2
    assert "root:" not in read
    assert not any("javascript" in target for target in links(data))
    assert b"/JavaScript" not in data


def test_arabic_and_chinese_do_not_vanish() -> None:
    """Without a font for a script its signs are boxes, and the file says so; the words can still be copied."""
    data = EXPORTER.render(full("العربية و 测试测试测试 [S2.1].\n"))
    read = words(data)
    assert "العربية" in read
    assert "测试" in read


def test_signs_without_any_font_are_told() -> None:
    text = "of the signs in this report are drawn as boxes"
    assert text in words(EXPORTER.render(full("Nobody draws \U00030010\U00030011 [S1.1].\n")))
    assert text not in words(EXPORTER.render(citing(page(), text="Everybody draws Ω, Я, ß and é [S1.1].\n")))


def test_long_reports_have_numbered_pages_and_long_words_stay_on_them() -> None:
    text = "\n\n".join(f"Paragraph {n} {'word ' * 80}[S1.1]." for n in range(60)) + "\n\n`" + "x" * 400 + "` [S1.1]\n"
    document = pypdfium2.PdfDocument(EXPORTER.render(full(text)))
    assert len(document) > 5
    for number in range(len(document)):
        read = document[number].get_textpage()
        assert f"{number + 1} / {len(document)}" in read.get_text_range()
        width = document[number].get_width()
        assert all(read.get_charbox(at)[2] <= width for at in range(read.count_chars()))


def test_the_same_run_gives_the_same_bytes() -> None:
    assert EXPORTER.render(full()) == EXPORTER.render(full())


@pytest.mark.parametrize("name", sorted(logs.SCENARIOS))
def test_every_run_can_be_set(name: str) -> None:
    log = logs.SCENARIOS[name]().events
    for count in (0, len(log)):
        assert len(pypdfium2.PdfDocument(EXPORTER.render(recorded(log[:count])))) == 1


@settings(max_examples=scaled(10), deadline=None)
@given(st.text(max_size=200) | st.lists(st.sampled_from(["- a\n", "1. b\n", "999999999. c\n", "  ", "> ", "|a|\n|-|\n|b|\n", "###### h\n", "```\n", "\n", "[S1.1]", "#a ", "$b$ ", "@c "]), max_size=25).map("".join))  # fmt: skip # noqa: E501
def test_any_text_is_set(text: str) -> None:
    assert len(pypdfium2.PdfDocument(EXPORTER.render(full(text)))) >= 1


def test_without_typst_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(ConfigError, match=r"pip install 'assay\[pdf\]'"):
        EXPORTER.render(full())
