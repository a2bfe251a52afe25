"""Documents that people write in XML are read as pages; other XML stays source."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import ExtractError
from assay.core.sources import Extracted
from assay.evidence.segment import segment
from assay.fetch.html import HtmlExtractor
from assay.fetch.text import CodeExtractor
from assay.fetch.xml_documents import XML_DOCUMENT_SUFFIXES, is_xml_document, xml_document_page

MANUAL = """<?xml version="1.0"?>
<!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "docbookx.dtd" [
  <!ENTITY pump "Heron 7"> <!ENTITY more SYSTEM "more.xml"> <!-- ] -->
]>
<book lang="en"><bookinfo><title>The &pump;<indexterm><primary>heron</primary></indexterm></title>
<author><firstname>Ann</firstname></author></bookinfo>
<chapter><title>Tides</title><indexterm><primary>tide</primary></indexterm>
<para>The &pump; was built in the year
400. So it is <emphasis>old</emphasis>, &mdash; or <quote>ancient</quote>; see &elsewhere;&more;.<footnote><para>Not
here.</para></footnote></para>
<sect1><title>Parts</title>
<variablelist><varlistentry><term><option>--depth</option></term><listitem><para>How deep it lies.</para></listitem>
</varlistentry></variablelist>
<table><title>Seals</title><tgroup><thead><row><entry>Seal</entry><entry>Size</entry></row></thead>
<tbody><row><entry>Rubber</entry><entry><para>3 mm</para><para>or less</para></entry></row></tbody></tgroup></table>
<programlisting>heron --depth 3</programlisting>
<para>Choose <menuchoice><guimenu>File</guimenu> <guimenuitem>Open</guimenuitem></menuchoice>: 3.1 x
10<superscript>18</superscript> drops.</para></sect1></chapter></book>"""

ARTICLE = """<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><journal-meta><issn>1234</issn></journal-meta>
<article-meta><article-id>77</article-id><title-group><article-title>Seals of pumps</article-title></title-group>
<abstract><p>We looked at seals.</p></abstract></article-meta></front>
<body><sec><title>Results</title><p>Rubber lasts <italic>nine</italic> years.</p></sec></body></article>"""


def extract(text: str, name: str) -> Extracted:
    reader = CodeExtractor() if name.endswith(".xml") else HtmlExtractor()
    (found,) = reader.extract(text.encode(), name)
    return found


@pytest.mark.parametrize("name", ["manual.docbook", "manual.xml"])
def test_a_manual_in_docbook(name: str) -> None:
    found = extract(MANUAL, name)
    passages = [(span.kind, span.heading, span.text) for span in segment(found.text, found.syntax)]
    assert (found.title, found.language, found.syntax) == ("The Heron 7", "en", "markdown")
    assert passages == [
        ("heading", (), "The Heron 7"),
        ("heading", ("The Heron 7",), "Tides"),
        (
            "paragraph",
            ("The Heron 7", "Tides"),
            "The Heron 7 was built in the year 400. So it is old, — or “ancient”; see elsewhere. (Not here.)",
        ),
        ("heading", ("The Heron 7", "Tides"), "Parts"),
        ("item", ("The Heron 7", "Tides", "Parts"), "`--depth`\n  How deep it lies."),
        ("paragraph", ("The Heron 7", "Tides", "Parts"), "Seals"),
        ("row", ("The Heron 7", "Tides", "Parts"), "| Seal | Size |"),
        ("row", ("The Heron 7", "Tides", "Parts"), "| Rubber | 3 mm or less |"),
        ("code", ("The Heron 7", "Tides", "Parts"), "heron --depth 3"),
        ("paragraph", ("The Heron 7", "Tides", "Parts"), "Choose File → Open: 3.1 x 10¹⁸ drops."),
    ]


def test_an_article_in_jats() -> None:
    found = extract(ARTICLE, "article.xml")
    assert found.title == "Seals of pumps"
    assert found.text == "# Seals of pumps\n\nWe looked at seals.\n\n## Results\n\nRubber lasts nine years.\n"


def test_a_text_in_tei() -> None:
    edition = (
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><title>About the file</title></teiHeader><text><body>'
        "<div><head>The Pump</head><lg><l>It runs at night,</l><l>and by day.</l></lg>"
        "<p>A <term>seal</term> held.</p></div></body></text></TEI>"
    )
    assert extract(edition, "poem.xml").text == "# The Pump\n\nIt runs at night, and by day.\n\nA seal held.\n"


@pytest.mark.parametrize(
    "text",
    [
        '<?xml version="1.0"?><project><para>build</para></project>',
        "<book><name>data</name></book>",
        "<part><parameters><parameter>a</parameter></parameters></part>",
        "<article><second>2</second></article>",
        "<task><name>DITA</name></task>",
        "<article>",
        "no markup",
        "",
        "<!-- <book><para> -->",
    ],
)
def test_other_xml_is_data_or_stays_source(text: str) -> None:
    found = extract(text, "data.xml")
    assert found.metadata == {"format": "XML"} or (found.text, found.syntax) == (text, "code")


@pytest.mark.parametrize(
    "text",
    [
        '<db:book xmlns:db="http://docbook.org/ns/docbook"><db:para>The tide rises.</db:para></db:book>',
        '<!DOCTYPE topic PUBLIC "-//OASIS//DTD DITA Topic//EN" "topic.dtd"><topic><p>The tide rises.</p></topic>',
    ],
)
def test_a_document_is_known_by_its_elements_or_its_type(text: str) -> None:
    assert extract(text, "tide.xml").text == "The tide rises.\n"


def test_a_page_whose_address_says_xml_stays_a_page() -> None:
    page = "<html><body><h1>Tides</h1><p>The tide rises twice a day.</p></body></html>"
    (found,) = HtmlExtractor().extract(page.encode(), "tides.xml")
    assert found.text == "# Tides\n\nThe tide rises twice a day.\n"


def test_entities_do_not_multiply() -> None:
    bomb = '<!DOCTYPE book [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;">]><book><para>&b;&a;</para></book>'
    assert "<p>bxxxxxxxxxx</p>" in xml_document_page(bomb.encode(), "bomb.docbook")


def test_entities_do_not_fill_the_memory() -> None:
    bomb = f'<!DOCTYPE book [<!ENTITY a "{"x" * 1_000}">]><book><para>{"&a;" * 5_000}</para></book>'
    assert len(xml_document_page(bomb.encode(), "bomb.docbook")) < 1_100_000


def test_a_document_with_faults_is_read_as_far_as_it_goes() -> None:
    assert "Half a sentence." in extract("<sect1><title>T</title><para>Half a <b>sentence.</para>", "x.docbook").text


@given(st.text(alphabet="<>![]-?&;/ abpara\n\"'", max_size=300), st.sampled_from(XML_DOCUMENT_SUFFIXES))
def test_any_text_is_read_or_refused(text: str, suffix: str) -> None:
    with suppress(ExtractError):
        list(HtmlExtractor().extract(text.encode(), f"x{suffix}"))


@pytest.mark.parametrize("part", ["<!-- a -->", "<!DOCTYPE [", "<!DOCTYPE a>", "<?a ?>", "<![]]", "] ", "<!E "])
def test_a_beginning_made_to_take_long_does_not(part: str) -> None:
    assert not is_xml_document(part * 5_000)
