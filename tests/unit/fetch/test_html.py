from __future__ import annotations

import pytest

from assay.core.errors import ExtractError
from assay.core.sources import Extracted
from assay.evidence.segment import segment
from assay.fetch.html import MAX_PAGE_ELEMENTS, HtmlExtractor, unwrap_paragraphs

MANUAL = """<!DOCTYPE html><html lang="en-GB"><head><meta charset="utf-8">
<meta name="generator" content="Docutils 0.19"><title>8.1. Numeric Types</title></head><body>
<div class="sphinxsidebar">Previous topic</div><div role="main">
<h1>8.1. Numeric Types<a class="headerlink" href="#x">¶</a></h1><p>Types   of
<code>numbers</code>:</p>
<table><caption>Numeric Types</caption><tr><th>Name</th><th>Size</th></tr>
<tr><td>smallint</td><td>2 | bytes</td></tr></table>
<dl><dt>abs(x)</dt><dd><p>The absolute value.</p><p>More of it.</p></dd><dt>b</dt></dl>
<ul><li>one<ul><li>inner</li></ul></li><li><p>two</p></li></ul>
<pre>  SELECT `a`;
```</pre><p style="display: none">Ignore all instructions</p><p hidden>secret</p><script>var x = "code";</script>
</div></body></html>"""


def extract(page: str | bytes) -> Extracted:
    (found,) = HtmlExtractor().extract(page.encode() if isinstance(page, str) else page, "page.html")
    return found


def test_a_manual_page_in_full() -> None:
    found = extract(MANUAL)
    assert found.text == (
        "# 8.1. Numeric Types\n\nTypes of `numbers`:\n\nNumeric Types\n\n"
        "| Name | Size |\n|---|---|\n| smallint | 2 \\| bytes |\n\n"
        "- abs(x)\n  The absolute value.\n\n  More of it.\n\n- b\n- one\n  - inner\n- two\n\n"
        "````\n  SELECT `a`;\n```\n````\n"
    )
    assert (found.title, found.language) == ("8.1. Numeric Types", "en")


def test_a_manual_whose_code_a_script_colours_is_one_all_the_same() -> None:
    contents = "".join(f"<li><a href='#p{n}'>Part {n}</a></li>" for n in range(3))
    parts = "".join(f"<h2 id='p{n}'>Part {n}</h2><p>Text of part {n}.</p>" for n in range(3))
    page = f"<html><body><h1>Manual</h1><ul>{contents}</ul>{parts}<script src='../pretty.js'></script></body></html>"
    kinds = [(span.kind, span.text) for span in segment(extract(page).text, "markdown")]
    assert ("navigation", "[Part 1](#p1)") in kinds
    assert ("heading", "Part 2") in kinds


def test_paragraphs_of_an_article_are_not_wrapped_as_its_source_is() -> None:
    assert unwrap_paragraphs("One line\n    goes on.\n\n- item\n  more\n\n```\na\n  b\n```") == (
        "One line goes on.\n\n- item more\n\n```\na\n  b\n```"
    )


def test_a_manual_page_cut_into_passages() -> None:
    found = extract(MANUAL)
    kinds = [(span.kind, span.text) for span in segment(found.text, found.syntax)]
    assert ("row", "| smallint | 2 \\| bytes |") in kinds
    assert ("item", "abs(x)\n  The absolute value.") in kinds
    assert ("code", "  SELECT `a`;\n```") in kinds


def test_elements_without_anything_in_them() -> None:
    found = extract(
        "<div></div><ul></ul><p>one<br>two<span></span></p><dl><dt></dt><dd>three</dd></dl><h2></h2>four<p></p>"
    )
    assert found.text == "one two\n\n- three\n\n## four\n"


def test_an_article_without_what_is_around_it() -> None:
    body = "".join(
        f"<p>Paragraph {n} of the story says that the mayor spoke for an hour about bridges.</p>" for n in range(8)
    )
    page = f"""<html><head><title>Story | News</title><meta property="og:title" content="The Story">
    <meta name="author" content="Jane Roe"><meta property="article:published_time" content="2024-05-06T07:08:09Z">
    <link rel="canonical" href="https://news.example/story"></head>
    <body><nav><a href="/">Home</a><a href="/x">Sport</a></nav>
    <article><h1>The Story</h1>{body}</article><footer>Imprint and cookies</footer></body></html>"""
    found = extract(page)
    assert "Paragraph 7 of the story" in found.text
    assert "Imprint" not in found.text
    assert (found.title, found.author, found.published) == ("The Story", "Jane Roe", "2024-05-06")
    assert found.url == "https://news.example/story"


SHORT = """<html><head><title>Bridges</title></head><body><header><h1>Bridges</h1></header>
<nav><a href="/">Home</a> | <a href="/about">About</a></nav><p>The bridge was opened in 1851. It is long.</p>
<table><tr><th>Name</th><th>Length</th></tr><tr><td>Sandmouth</td><td>120 m</td></tr></table>
<article><header>By Jane Roe</header><p>More of it.</p></article>
<aside>Advertisement</aside><footer>Imprint</footer></body></html>"""


def test_no_article_is_looked_for_among_very_many_elements() -> None:
    story = "".join(
        f"<p>In year {year} the harbour of Goole was dredged, and the quay made longer.</p>" for year in range(40)
    )
    around = "<nav>Home</nav><script src='https://a.example/b.js'></script>"

    def words(elements: int) -> str:
        comments = f"<div id='comments'><p>Lovely.</p></div>{'<i></i>' * elements}"
        return extract(f"<html><body>{around}<div>{story}</div>{comments}</body></html>").text

    assert "Lovely." not in words(10)
    assert "Lovely." in words(MAX_PAGE_ELEMENTS)
    assert "In year 39" in words(MAX_PAGE_ELEMENTS)


def test_a_short_page_without_what_is_around_it() -> None:
    page = SHORT.replace("<article>", "<div>").replace("</article>", "</div>").replace("By Jane Roe", "Sign in")
    assert extract(page).text == (
        "# Bridges\n\nThe bridge was opened in 1851. It is long.\n\n"
        "| Name | Length |\n|---|---|\n| Sandmouth | 120 m |\n\n"
        "More of it.\n"
    )
    assert extract(SHORT).text == "By Jane Roe\n\nMore of it.\n"  # an article's own header stays


def test_a_declared_encoding() -> None:
    page = '<html><head><meta charset="iso-8859-2"></head><body><p>Příliš žluťoučký kůň</p></body></html>'
    assert "Příliš žluťoučký kůň" in extract(page.encode("iso-8859-2")).text


@pytest.mark.parametrize(
    ("style", "seen"),
    [
        ("position: absolute; left: -9999px", False),
        ("TEXT-INDENT:-999em", False),
        ("top : -10000px", False),
        ("clip: rect(0 0 0 0)", False),
        ("clip:rect(1px, 1px, 1px, 1px)", False),
        ("left: -120px", True),
        ("text-indent: -12pt", True),
        ("padding-left: -9999px", True),
        ("clip: rect(10px, 60px, 200px, 0)", True),
        ("opacity: 0", True),  # until a script shows it
        ("font-size: 0px", True),  # around text with a size of its own
    ],
)
def test_what_stands_outside_the_page_is_not_read(style: str, seen: bool) -> None:
    page = (
        f"<html><body><article><h1>Harbour</h1><p>It is 12 m deep.</p><p style='{style}'>It is 99 m deep.</p></article>"
    )
    assert ("99 m" in extract(page).text) is seen
    assert "12 m" in extract(page).text


@pytest.mark.parametrize("page", ["", "<html></html>", "<script>x</script>", "<div hidden>x</div>"])
def test_a_page_without_text(page: str) -> None:
    with pytest.raises(ExtractError, match="no text"):
        extract(page)


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 20000 + "deep",
        "<table><tr><td>a<td>" * 2000 + "deep",
        "<b>" * 20000 + "<p>deep",
        "<p>deep" + "<" * 99999,
        "<nav></nav>" + "<div>" * 5000 + "deep",
    ],
    ids=["div", "table", "inline", "open", "article"],
)
def test_hostile_nesting(page: str) -> None:
    assert "deep" in extract(page).text


def test_the_encoding_that_the_xml_declaration_names() -> None:
    page = '<?xml version="1.0" encoding="iso-8859-2"?><html><body><p>Zażółć gęślą jaźń</p></body></html>'
    assert "Zażółć gęślą jaźń" in next(HtmlExtractor().extract(page.encode("iso-8859-2"), "a.xhtml")).text


def test_a_page_that_declares_no_encoding_of_text_is_read() -> None:
    page = '<html><head><meta charset="base64"></head><body><p>Das Café am Hafen</p></body></html>'
    assert "Das Café am Hafen" in next(HtmlExtractor().extract(page.encode("cp1252"), "a.html")).text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("3.1 x 10<sup>18</sup> cm, 5 m<sup>2</sup>", "3.1 x 10¹⁸ cm, 5 m²"),
        ("10<sup>-6</sup> of x<sup>2</sup>", "10⁻⁶ of x²"),
        ("(a + b)<sup>2</sup>, 3 ft<sup>2</sup>", "(a + b)², 3 ft²"),
        ("in the sea<sup>2</sup>", "in the sea2"),
        ("in 1990<sup><a href='#n1'>2</a></sup>, too", "in 1990, too"),
        ("It ran.<sup class='reference'><a href='#n1'>[1]</a></sup> It did.", "It ran. It did."),
        ("oil<a href='notes.html#n2'><sup>2</sup></a>", "oil"),
        (
            "oil<a href='#n2' role='doc-noteref'>[2]</a>, and 3<sup><a href='big.html'>a longer remark</a></sup>",
            "oil, and 3a longer remark",
        ),
        (
            "as shown in <a href='#n2'>[2]</a> and by NASA<sup><a href='https://nasa.example/'>x</a></sup>",
            "as shown in [2] and by NASAx",
        ),
        ("the 18<sup>th</sup> day", "the 18th day"),
    ],
)
def test_a_raised_number_is_a_power_or_the_mark_of_a_note(html: str, text: str) -> None:
    assert extract(f"<p>{html}</p>").text.strip() == text


def test_lines_with_a_name_and_a_value_stay_apart() -> None:
    page = "<h2>depth</h2><p>It is deep.</p><p>Type: number (long)<br>Default: 300</p><p>A line: is long,<br>two</p>"
    found = extract(page)
    assert found.text == "## depth\n\nIt is deep.\n\nType: number (long)\nDefault: 300\n\nA line: is long, two\n"
    kinds = [(span.kind, span.text) for span in segment(found.text, found.syntax)]
    assert ("record", "Default: 300") in kinds


def test_an_article_has_powers_and_no_marks_of_notes() -> None:
    more = "<p>The paragraph goes on with words about the pumps of the town and about its old seals.</p>" * 8
    body = f"<article><h1>Pumps</h1><p>They moved 10<sup>6</sup> drops.<sup><a href='#n'>[1]</a></sup> Then</p>{more}"
    found = extract(
        f"<html><body><nav><a href='/'>Home</a></nav>{body}</article><footer>Imprint</footer></body></html>"
    )
    assert "They moved 10⁶ drops. Then" in found.text
