"""Markers: every form models write, every place they are not looked for, and streams cut anywhere."""

from __future__ import annotations

import gzip
import itertools
import json
import os
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from marker_tokenizer import Tokenizer
from sampling import scaled
from work import grows_in_step

from assay.core.markers import CitationMode, Marker, parse_markers, render_markers, strip_markers
from assay.core.scanner import LOOK_AHEAD, RANGE_CAP, scan

FORMS = [
    ("[S2003.17]", ("S2003.17",)),
    ("[S2003.17, S4.2]", ("S2003.17", "S4.2")),
    ("[S3.17; S4.2]", ("S3.17", "S4.2")),
    ("[S3.17 S4.2]", ("S3.17", "S4.2")),
    ("[S3.17 and S4.2]", ("S3.17", "S4.2")),
    ("[S3.17，S4.2]", ("S3.17", "S4.2")),
    ("[[S3.17]]", ("S3.17",)),
    ("[[S3.17], [S4.2]]", ("S3.17", "S4.2")),
    ("[[S3.17][S4.2]]", ("S3.17", "S4.2")),
    ("【S3.17】", ("S3.17",)),
    ("【S3.17†L1-L5】", ("S3.17",)),
    ("［S3.17］", ("S3.17",)),
    ("［Ｓ３.１７］", ("S3.17",)),
    ("[^S3.17]", ("S3.17",)),
    ("[^S3.17, ^S4.2]", ("S3.17", "S4.2")),
    ("[s3.17]", ("S3.17",)),
    ("[ S3.17 ]", ("S3.17",)),
    ("[S3.17-S3.19]", ("S3.17", "S3.18", "S3.19")),
    ("[S3.17–S3.19]", ("S3.17", "S3.18", "S3.19")),
    ("[S3.17 - 19]", ("S3.17", "S3.18", "S3.19")),
    ("[S3.17-S3.18, S4.2]", ("S3.17", "S3.18", "S4.2")),
    ("[S3.19-S3.17]", ("S3.19", "S3.17")),
    ("[S3.17-S4.2]", ("S3.17", "S4.2")),
    ("[S3.17, S3.17]", ("S3.17",)),
    ("[S3]", ("S3",)),
    ("[S3, S4.1]", ("S4.1", "S3")),
    ("[S3-S5]", ("S3", "S4", "S5")),
]


@pytest.mark.parametrize(("form", "ids"), FORMS)
def test_forms_models_write_name_their_ids(form: str, ids: tuple[str, ...]) -> None:
    text = f"Prose before {form}. After"
    [marker] = parse_markers(text)
    assert marker.ids == ids
    assert text[marker.start : marker.end] == form


NONE = [
    "[2024]",
    "[1]",
    "arr[1]",
    "[S]",
    "[S.3]",
    "[S3.]",
    "[S3.1.2]",
    "[X3.1]",
    "[S12345678]",
    "[S3.17: page 2]",
    "[S3.17",
    "S3.17]",
    "(S3.17)",
    "【S3.17]",
    "`[S3.17]`",
    "``a ` [S3.17]``",
    "`two\nlines [S3.17]`",
    "```\n[S3.17]\n```",
    "~~~python\nx = [S3.17]\n",
    "> ```\n> [S3.17]\n> ```",
    "- ```\n  [S3.17]\n  ```",
    "````\n```\n[S3.17]\n````",
    "[S3.17](https://example.org)",
    "[S3.17](<a b> 'title')",
    "[S3.17]()",
    "![S3.17](image.png)",
    "[the text [S3.17] of a link](https://example.org/a_(b))",
    "[a](https://example.org/[S3.17])",
    "[a](x '[S3.17]')",
    "<https://example.org/[S3.17]>",
    "$x_[S3.17]$",
    "$$\nx [S3.17]\n$$",
    r"\(x [S3.17]\)",
    r"\[x [S3.17] \]",
    r"\[S3.17]",
    "[S3.17]: https://example.org",
    "  [^S3.17]: a note",
    "> [S3.17]: https://example.org",
]


@pytest.mark.parametrize("text", NONE)
def test_where_no_marker_is(text: str) -> None:
    assert parse_markers(text) == []


STILL = [
    "a stray ` here [S3.17]",
    "- a stray ` here [S3.17]\n- another ` there",
    "`a\n\nb [S3.17]`",
    "costs $5 [S3.17], or 4$ more",
    "costs US$5 [S3.17] and A$6",
    "$5 million [S3.17] against 3$",
    "the name $folder [S3.17] and that in ($record)",
    "of $folder [S3.17] or /$record it says",
    "of $folder [S3.17]\nand of x$ it says",
    "[not a link [S3.17]] here",
    "[[[[[ [S3.17]",
    "a < b [S3.17] > c",
    "[S3.17](see Table 1)",
    "[S3.17] (https://example.org)",
    "see [this][S3.17]",
    "end[S3.17]: more",
    "```` not ` closed [S3.17]",
    "```\ncode\n```\n[S3.17]",
    "```inline``` [S3.17]",
    r"\(unclosed [S3.17]",
    r"a \\[S3.17]",
    "[" + "x" * (LOOK_AHEAD + 5) + " [S3.17] ](u)",
]


@pytest.mark.parametrize("text", STILL)
def test_what_only_looks_like_code_or_a_link_hides_nothing(text: str) -> None:
    assert [marker.ids for marker in parse_markers(text)] == [("S3.17",)]


def test_a_range_is_capped_and_tells_what_it_only_implies() -> None:
    [marker] = parse_markers("[S3.1-S3.9000]")
    assert len(marker.passages) == RANGE_CAP
    assert marker.passages[-1] == f"S3.{RANGE_CAP}"
    [marker] = parse_markers("[S3.17-S3.20, S3.30]")
    assert marker.implied == {"S3.18", "S3.19"}


PARTS = st.sampled_from(
    [
        *"[]()`$\\\n<>~^!:S3.17,;- a#|*【】［］{}\"'",
        "[S3.17]",
        "S3.17",
        "[[S1.1]]",
        "【S2.2】",
        "](",
        "](http://x)",
        "```",
        "```\n",
        "~~~\n",
        "\n\n",
        "\n- ",
        "$$",
        "\\(",
        "\\)",
        "\\[",
        "\\]",
        "$5 ",
        "<http:",
        "x" * 400,
        "😀é",
    ]
)
NASTY = st.lists(PARTS, max_size=40).map("".join)


def joined(pieces: list[str | Marker]) -> list[str | Marker]:
    merged: list[str | Marker] = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged


def whole(text: str) -> list[str | Marker]:
    pieces: list[str | Marker] = []
    at = 0
    for marker in parse_markers(text):
        pieces += [text[at : marker.start], marker]
        at = marker.end
    return [piece for piece in [*pieces, text[at:]] if piece != ""]


def streamed(chunks: list[str]) -> list[str | Marker]:
    tokenizer = Tokenizer()
    pieces = [piece for chunk in chunks for piece in tokenizer.feed(chunk)]
    return joined(pieces + tokenizer.finish())


@settings(max_examples=scaled(200))
@given(NASTY | st.text(max_size=60), st.data())
def test_output_does_not_depend_on_how_the_stream_was_cut(text: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    chunks = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    assert streamed(chunks) == whole(text)


@settings(max_examples=scaled(100))
@given(NASTY)
def test_one_character_at_a_time_is_the_same(text: str) -> None:
    assert streamed(list(text)) == whole(text)


@given(NASTY)
def test_pieces_tile_the_text(text: str) -> None:
    at = 0
    for token in scan(text):
        assert token.start == at < token.end
        at = token.end
    assert at == len(text)


def test_what_is_held_back_is_bounded() -> None:
    for opening in ("[", "`", "$x", "\\(", "<http://", "[a](", "``` ", "【"):
        tokenizer = Tokenizer()
        fed = opening + "y" * (2 * LOOK_AHEAD)
        given_out = sum(len(piece) for piece in tokenizer.feed(fed) if isinstance(piece, str))
        assert given_out >= LOOK_AHEAD - 10, opening


@pytest.mark.parametrize(
    "unit", ["[", "]", "`", "``` ", "$", "$x ", "\\(", "\\(\n", "<a:", "[a](", "[[a", "(", "【", "[`$\\("]
)
def test_hostile_repetition_takes_work_in_step_with_its_length(unit: str) -> None:
    assert parse_markers(unit * (60_000 // len(unit))) == []
    assert grows_in_step(parse_markers, unit * (4_000 // len(unit)))


# rendering

KNOWN = {"S3.17": 1, "S3.18": 1, "S4.1": 2, "S5": 3}
LINKS = {1: ("One", "https://one.example/a"), 2: ("Two", "https://two.example")}


@pytest.mark.parametrize(
    ("raw", "mode", "expected"),
    [
        ("Foo [S3.17]. Bar [S4.1].", "numbers", "Foo [1]. Bar [2]."),
        ("Foo [S3.17, S4.1, S5].", "numbers", "Foo [1] [2] [3]."),
        ("Foo [S3.17] [S3.18].", "numbers", "Foo [1]."),
        ("Foo [S3.17][S3.18][S4.1].", "numbers", "Foo [1] [2]."),
        ("Foo [S3.17] bar [S3.18].", "numbers", "Foo [1] bar [1]."),
        ("Foo [S9.9]. [S9.9] Bar", "numbers", "Foo. Bar"),
        ("[S9.9] Foo\n[S9.9]  bar", "numbers", "Foo\nbar"),
        ("Foo [S9.9, S4.1].", "numbers", "Foo [2]."),
        ("Wow![S3.17]", "numbers", "Wow! [1]"),
        ("a[0][S3.17][b]", "numbers", "a[0] [1] [b]"),
        ("In [1] and [7], arr[ 2 ]", "numbers", "In \\[1] and [7], arr\\[ 2 ]"),
        ("[1]: https://evil.example", "numbers", "\\[1]: https://evil.example"),
        ("[1](https://a.example) `[1]`", "numbers", "[1](https://a.example) `[1]`"),
        ("[x [1] y](https://a.example)", "numbers", "[x \\[1] y](https://a.example)"),
        ("Foo [S3.17, S4.1].", "footnotes", "Foo [^1] [^2]."),
        ("Foo [S3.17][S3.18].", "footnotes", "Foo [^1]."),
        ("Wow![S3.17] x^[S4.1]", "footnotes", "Wow! [^1] x^ [^2]"),
        ("a[0][S3.17](b c)", "footnotes", "a[0] [^1] (b c)"),
        ("[S3.17]: b", "footnotes", "[S3.17]: b"),
        ("x\n[S9.9] [S3.17] : b\n- [S4.1]", "footnotes", "x\n[^1] : b\n- [^2]"),
        ("In [1], [^1], [^7] and [^x]", "footnotes", "In [1], \\[^1], \\[^7] and [^x]"),
        ("[^2]: https://evil.example", "footnotes", "\\[^2]: https://evil.example"),
        ("Foo [s3.17; S9.9] [1].", "markers", "Foo [S3.17] [1]."),
        ("Foo [S3.17, S4.1].", "none", "Foo."),
        ("Foo [S3.17].", "links", "Foo ([One](https://one.example/a))."),
        ("Foo [S3.17, S4.1].", "links", "Foo ([One](https://one.example/a); [Two](https://two.example))."),
        ("Foo [S5].", "links", "Foo (3)."),
    ],
)
def test_rendering(raw: str, mode: CitationMode, expected: str) -> None:
    assert render_markers(raw, KNOWN, mode, LINKS).text == expected


def test_hostile_titles_and_addresses_cannot_leave_their_link() -> None:
    links = {
        1: ("a](http://evil) \n`x", "https://x.example/ (y)<z>"),
        2: ("t", "javascript:alert(1)"),
        3: ("u", "http://["),
    }
    text = render_markers("[S3.17] [S4.1] [S5]", KNOWN, "links", links).text
    assert text == r"([a\](http://evil) \`x](https://x.example/%20%28y%29%3Cz%3E)) (t) (u)"
    html = MarkdownIt().render(text)
    assert html.count("<a ") == 1


def test_strip_takes_the_space_before() -> None:
    assert strip_markers("Foo [S3.17]. Bar [S1] [S2.2]!") == "Foo. Bar!"


RENDER_TEXT = st.lists(
    PARTS | st.sampled_from(["[S3.17]", " [S4.1]", " [S9.9]", "[S3.18] ", "[1]", "word "]), max_size=30
)
MODES = st.sampled_from(get_args(CitationMode))


@settings(max_examples=scaled(150))
@given(RENDER_TEXT.map("".join), MODES)
def test_positions_ascend_and_copied_characters_are_the_same(raw: str, mode: CitationMode) -> None:
    rendered = render_markers(raw, KNOWN, mode, LINKS)
    places = [rendered.position(at) for at in range(len(raw) + 1)]
    assert places == sorted(places)
    assert places[-1] == len(rendered.text)
    inside = {at for marker in parse_markers(raw) for at in range(marker.start, marker.end)}
    for at, sign in enumerate(raw):
        if at not in inside and places[at + 1] == places[at] + 1:
            assert rendered.text[places[at]] == sign
            assert rendered.origin(places[at]) == at
    kept = "".join(sign for at, sign in enumerate(raw) if at not in inside)
    if mode == "none":
        assert "".join(rendered.text.split()) == "".join(kept.split())


@settings(max_examples=scaled(150))
@given(
    st.lists(
        st.sampled_from(
            ["word ", "[1]", "[2]", "[x]", "!", "[S3.17]", "[S4.1]", "[S9.9]", " ", "\n", ": ", "(x)", "(x y)"]
        )
    ).map("".join)
)
def test_only_markers_become_references(raw: str) -> None:
    assume("[x]:" not in raw)  # a definition of the text's own, which Markdown never shows
    rendered = render_markers(raw, KNOWN, "numbers", {}).text
    definitions = "\n\n[1]: https://one.example\n[2]: https://two.example\n"
    html = MarkdownIt().render(rendered + definitions)
    expected = len(_numbers(raw))
    assert html.count('<a href="https://') == expected
    assert '<img src="https://' not in html


def _numbers(raw: str) -> list[int]:
    """The display numbers a reader should see, adjacent duplicates once."""
    shown: list[int] = []
    seen: set[int] = set()
    last = 0
    for marker in parse_markers(raw):
        if raw[last : marker.start].strip(" \t"):
            seen = set()
        for name in marker.ids:
            if name in KNOWN and KNOWN[name] not in seen:
                shown.append(KNOWN[name])
                seen.add(KNOWN[name])
        last = marker.end
    return shown


# reports as models really write them

DATA = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[4] / "shared" / "data")) / "citations"


@pytest.mark.skipif(not DATA.is_dir(), reason="no citation data (set ASSAY_DATA)")
def test_real_reports_hold_no_marker() -> None:
    texts = []
    for file in sorted(DATA.rglob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            texts += [value for line in lines for value in json.loads(line).values() if isinstance(value, str)]
    assert sum(map(len, texts)) > 1_000_000
    assert [marker for text in texts for marker in parse_markers(text)] == []
