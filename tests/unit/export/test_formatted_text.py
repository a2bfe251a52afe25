"""Markdown as blocks."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from shown import full

from assay.core.clean import HARMFUL, link_target
from assay.core.markers import CitationMode
from assay.export.formatted_text import (
    MAX_DEPTH,
    Code,
    FormattedBlock,
    Heading,
    Items,
    Line,
    Paragraph,
    Piece,
    Quote,
    Rule,
    Table,
    make_line,
    read_formatted,
)  # fmt: skip
from assay.export.report_parts import ReportBody, numbered_mode, read_body, read_text

BODY = read_body(full().view, "numbers")


def read_markdown(markdown: str) -> tuple[FormattedBlock, ...]:
    """`markdown` in the place of a report's text."""
    return read_formatted(ReportBody(report=BODY.report, text=read_text(markdown, (), ())), "numbers")


def lines(blocks: tuple[FormattedBlock, ...]) -> list[Line]:
    """Every line of text in these blocks."""
    found = []
    for block in blocks:
        match block:
            case Heading() | Paragraph():
                found.append(block.line)
            case Items():
                found += [each for item in block.items for each in lines(item)]
            case Quote():
                found += lines(block.blocks)
            case Table():
                found += [cell for row in block.rows for cell in row]
            case Code():
                found.append(make_line(Piece(text=block.text, code=True)))
    return found


def depth(blocks: tuple[FormattedBlock, ...]) -> int:
    """How deep blocks lie in one another."""
    inner = [block.blocks for block in blocks if isinstance(block, Quote)]
    inner += [item for block in blocks if isinstance(block, Items) for item in block.items]
    return 1 + max(map(depth, inner), default=-1)


def test_kinds_of_blocks() -> None:
    blocks = read_formatted(BODY, "numbers")
    assert [type(block) for block in blocks] == [
        Paragraph, Heading, Items, Items, Table, Quote, Code, Rule, Paragraph,
    ]  # fmt: skip
    _, heading, bullets, numbered, table, quote, code, _, last = blocks
    assert (heading.level, heading.line.text) == (1, "Details in 中文")
    assert (bullets.ordered, numbered.ordered, numbered.start) == (False, True, 7)
    assert isinstance(bullets.items[1][1], Items)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["Year", "Value"],
        ["2001", "5 % [2]"],
        ["2002", "6 %"],
    ]
    assert quote.blocks[0].line.text == "A quotation with marks."
    assert code.text == "def f(x):\n    return x  # two  spaces"
    assert last.line.rtl
    assert not heading.line.rtl


def test_pieces_have_their_looks() -> None:
    [paragraph] = read_markdown("a **b *c*** `d` ~~e~~ [f **g**](https://e.org/?a=1&b=2)  \nh\ni")
    shown = [
        (piece.text, "".join(sign for sign in ("bold", "italic", "struck", "code", "link") if getattr(piece, sign)))
        for piece in paragraph.line.pieces
        if piece.text != " "
    ]
    assert shown == [
        ("a ", ""), ("b ", "bold"), ("c", "bolditalic"), ("d", "code"), ("e", "struck"), ("f ", "link"),
        ("g", "boldlink"), ("\n", ""), ("h", ""), ("i", ""),
    ]  # fmt: skip
    assert {piece.link for piece in paragraph.line.pieces} == {"", "https://e.org/?a=1&b=2"}


def test_citations_are_numbers_ids_or_nothing() -> None:
    view = full().view
    modes: tuple[CitationMode, ...] = ("numbers", "footnotes", "links", "markers", "none")
    shown = {mode: lines(read_formatted(read_body(view, numbered_mode(mode)), mode)) for mode in modes}
    cites = {mode: [piece for each in found for piece in each.pieces if piece.cite] for mode, found in shown.items()}
    assert [piece.text for piece in cites["numbers"]] == ["[1]", "[2]", "[1]", "[1]", "[2]", "[2]"]
    assert cites["footnotes"] == cites["links"] == cites["numbers"]
    assert [piece.text for piece in cites["markers"]] == [
        "[S1.1]", "[S2.1]", "[S1.1]", "[S1.1]", "[S2.1]", "[S2.1]",
    ]  # fmt: skip
    assert cites["none"] == []


def test_nothing_acts() -> None:
    blocks = read_markdown(
        "[a](javascript:x) ![b](data:image/png;base64,x) <script>d</script> &#8238;e &#27;[31m &#xFFFF; [f](file:///g)"
    )
    [paragraph] = blocks
    assert not any(piece.link for piece in paragraph.line.pieces)
    assert not HARMFUL.search(paragraph.line.text)
    assert "\uffff" not in paragraph.line.text
    assert "<script>d</script>" in paragraph.line.text


def test_deep_nesting_is_lifted_and_loses_nothing() -> None:
    assert depth(read_markdown("> " * 50 + "deep")) <= MAX_DEPTH
    assert [each.text for each in lines(read_markdown("> " * 12 + "deep"))] == ["deep"]
    assert depth(read_markdown("".join("  " * n + "- x\n" for n in range(15)))) <= MAX_DEPTH


MARKDOWN = st.lists(
    st.sampled_from([*"#*_`[]()<>|~-+. \n\\&;!1a", "\n\n", "- ", "> ", "1. ", "|a|b|\n|-|-|\n|c|d|\n", "```\n", "](http://e.org)",
                     "&#8238;", "&#x1b;", "\u202e", "\ufffe", "中", "ا", "](javascript:x)", "<b>"]), max_size=30,
).map("".join)  # fmt: skip


@given(MARKDOWN)
def test_any_markdown_is_read_into_clean_lines(markdown: str) -> None:
    blocks = read_markdown(markdown)
    assert depth(blocks) <= MAX_DEPTH
    for each in lines(blocks):
        for piece in each.pieces:
            assert piece.text
            assert not HARMFUL.search(piece.text) or piece.text == "\n"
            assert not piece.link or link_target(piece.link) is not None
    for block in blocks:
        if isinstance(block, Table):
            assert len({len(row) for row in block.rows}) == 1


@given(st.text(st.sampled_from("abc déf 中文 ا"), min_size=1).filter(str.strip))
def test_plain_text_is_kept(text: str) -> None:
    words = text.split()
    assert " ".join(each.text for each in lines(read_markdown(" ".join(words)))).split() == words


def test_a_notice_is_known_by_its_block_wherever_it_is_shown() -> None:
    dated = "*As of 2026-01-02.*"
    view = full(f"The tide rises. [S1.1]\n\n{dated}\n\n> {dated}\n\n- As of 2026-01-02. It rises. [S1.1]\n").view
    report = msgspec.structs.replace(view.report, stated={"As of 2026-01-02.": "date"})
    known = msgspec.structs.replace(view, report=report)
    modes: tuple[CitationMode, ...] = ("numbers", "links", "none")
    for mode in modes:
        body = read_body(known, mode)
        assert [leaf.origin for leaf in body.text.prose_blocks()] == ["writer", "engine:date", "engine:date", "writer"]
        found, notice, quote, items = read_formatted(body, mode)
        assert isinstance(quote, Quote)
        assert isinstance(items, Items)
        shown = (found, notice, *quote.blocks, *items.items[0])
        assert [isinstance(each, Paragraph) and each.notice for each in shown] == [False, True, True, False]
        assert {leaf.origin for leaf in read_body(view, mode).text.prose_blocks()} == {"writer"}


def test_a_notice_is_known_although_a_sign_in_it_is_escaped_where_it_is_shown() -> None:
    text = "Nothing was found about [1] <img>."
    view = full(f"The tide rises. [S1.1]\n\n*{text}*\n").view
    report = msgspec.structs.replace(view.report, stated={text: "notice"})
    known = msgspec.structs.replace(view, report=report, claims=())
    body = read_body(known, "numbers")
    assert "\\[1] \\<img>" in body.report.markdown
    assert [(block.notice, block.line.text) for block in read_formatted(body, "numbers")[1:]] == [(True, text)]
