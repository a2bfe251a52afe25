"""Citations as models wrap them: every wrapper is read, code stays code, and streams may be cut anywhere."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sampling import scaled
from work import grows_in_step

from assay.core.citations.grammar import MAX_CITATION_CHARS
from assay.core.citations.prose import IsKnown
from assay.core.citations.reader import CitationReader, TextReader, citation_reading, data_reader, read_all
from assay.core.markers import parse_markers
from assay.core.scanner import LOOK_AHEAD

KNOWN = {"S1001.1", "S1001.2", "S1001.3", "S2003.17", "S1001", "S2003", "S1.1"}


def knows(id: str) -> bool:
    return id in KNOWN


def read(text: str, known: IsKnown = knows) -> str:
    return read_all(citation_reading(known), text)


def streamed(chunks: list[str], reader: TextReader) -> str:
    return "".join([*map(reader.feed, chunks), reader.finish()])


WRAPPED = [
    "`[S1001.1]`",
    "`S1001.1`",
    "``[S1001.1]``",
    "(S1001.1)",
    "((S1001.1))",
    "（S1001.1）",
    "[S1001.1](https://example.org/a_(b))",
    "[S1001.1](#ref)",
    "[1](S1001.1)",
    "[source](S1001.1)",
    "[Source S1001.1]",
    "[source: S1001.1]",
    "(source: S1001.1)",
    "(Quelle: S1001.1)",
    "(出典: S1001.1)",
    "(see passage S1001.1)",
    "[S1001.1†source]",
    "【S1001.1†L1-L5】",
    "[S1001.1, p. 4]",
    "[S1001.1: lines 3-5]",
    "【S1001.1】",
    "〔S1001.1〕",
    "{S1001.1}",
    "{{S1001.1}}",
    "<S1001.1>",
    "^S1001.1",
    "^[S1001.1]",
    "^S1001.1^",
    "[^S1001.1]",
    "[@S1001.1]",
    "#S1001.1",
    "**[S1001.1]**",
    "*(S1001.1)*",
    "_[S1001.1]_",
    "**`[S1001.1]`**",
    "<sup>[S1001.1]</sup>",
    "<sup>S1001.1</sup>",
    '<cite class="x">S1001.1</cite>',
    "<a href='#S1001.1'>[S1001.1]</a>",
    r"\[S1001.1\]",
    r"\[S1001.1]",
    r"\(S1001.1\)",
    r"\cite{S1001.1}",
    r"\textsuperscript{[S1001.1]}",
    "$^{[S1001.1]}$",
    "S1001.1",
    "[s1001.1]",
    "（Ｓ１００１.１）",
]
LISTS = [
    "(S1001.1, S2003.17)",
    "(S1001.1; S2003.17)",
    "(S1001.1 and S2003.17)",
    "([S1001.1], [S2003.17])",
    "(`S1001.1`, `S2003.17`)",
    "`[S1001.1]` `[S2003.17]`",
    "`S1001.1``S2003.17`",
    "[S1001.1][S2003.17]",
    "[[S1001.1](a), [S2003.17](b)]",
    "[S1001.1](a)[S2003.17](b)",
    "**[S1001.1]** **[S2003.17]**",
    "(S1001.1)(S2003.17)",
    "S1001.1, S2003.17",
    "(vgl. S1001.1 und S2003.17)",
    "[@S1001.1; @S2003.17]",
    "<sup>[S1001.1]</sup><sup>[S2003.17]</sup>",
]


def cited(text: str) -> list[str]:
    return [id for marker in parse_markers(text) for id in marker.ids]


@pytest.mark.parametrize("form", WRAPPED)
def test_every_wrapper_is_read(form: str) -> None:
    text = read(f"The tide rises seven metres {form}. The wind blows.")
    assert text == f"The tide rises seven metres {text[28 : text.index('. The wind')]}. The wind blows."
    assert cited(text) == ["S1001.1"]
    assert len(text) <= len("The tide rises seven metres [S1001.1, p. 4]. The wind blows.")


@pytest.mark.parametrize("form", LISTS)
def test_every_list_is_read(form: str) -> None:
    assert cited(read(f"The tide rises seven metres {form}.")) == ["S1001.1", "S2003.17"]


def test_ranges_keep_their_middle() -> None:
    assert cited(read("It rises (S1001.1–S1001.3).")) == ["S1001.1", "S1001.2", "S1001.3"]
    assert cited(read("It rises (S1001.1-3).")) == ["S1001.1", "S1001.2", "S1001.3"]
    assert cited(read("It rises [S1001.1 to S1001.3].")) == ["S1001.1", "S1001.2", "S1001.3"]
    assert read("S1001.1 to the north") == "[S1001.1] to the north"


def test_a_number_in_a_list_is_a_passage_of_the_source_before_it() -> None:
    assert read("It rises [S1001.1, 2; S2003.17].") == "It rises [S1001.1, S1001.2, S2003.17]."
    assert cited(read("It rises (S1001.1-2, 3).")) == ["S1001.1", "S1001.2", "S1001.3"]
    assert cited(read("It rises [S1001.1, 2024].")) == ["S1001.1"]
    assert read("Source: S1001.1, 2 people.") == "[S1001.1], 2 people."


SAME = [
    "The tide rises [S1001.1]. It turns [S1001.1, S2003.17], twice [S9.9].",
    "[S1001.1] first, and then [S1001.1-S1001.3]",
    "Nobody knows (S9.9), `[S9.9]`, [S9.9](url), ^S9.9 or S9.9.",
    "`arr[S1001.1]` and `table['S1001.1']`",
    "See https://example.org/S1001.1 or fig-S1001.1 or S1001.1.html or xS1001.1",
    "Table S1001.1 and Figure S1.1 are elsewhere, and the Samsung S1.1.",
    "The S1001 is a camera.",
    "*rises* [S1001.1] *falls* **bold**[S1001.1]**more**",
    "```python\nx = arr[S1001.1]\n```\n",
    "a [S3] (S3) S3 sources: none, see also (p. 4), **Sources:** x",
    "`{`, `$` and <b> are signs; 5 < 7 * 2 ^ 3 [S1001.1].",
]


@pytest.mark.parametrize("text", SAME)
def test_what_is_plain_or_code_stays(text: str) -> None:
    assert read(text) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("`x = 7 [S1001.1]` follows", "`x = 7` [S1001.1] follows"),
        ("[the tide [S1001.1]](http://x.org) turns", "[the tide](http://x.org) [S1001.1] turns"),
        ("[the tide](#S1001.1) turns", "the tide [S1001.1] turns"),
        ("$h = 7 \\quad [S1001.1]$", "$h = 7 \\quad$ [S1001.1]"),
        ("S1001.1: It rises.\n- S2003.17: It blows.", "[S1001.1] It rises.\n- [S2003.17] It blows."),
        ("It rises.\n[S1001.1]: https://x.org", "It rises.\n[S1001.1] https://x.org"),
        ("It rises.\n\nSources: S1001.1, S2003.17", "It rises.\n\n[S1001.1, S2003.17]"),
        ("潮汐上升七米S1001.1。", "潮汐上升七米[S1001.1]。"),
        ("潮汐上升七米（S1001.1）的", "潮汐上升七米[S1001.1]的"),
        ("According to S1001.1 it rises.", "According to [S1001.1] it rises."),
        ("By source S1001 it rises.", "By source [S1001] it rises."),
        ("It rises^S1001.1.", "It rises [S1001.1]."),
        ("It rises (S1001.1)(see Brest).", "It rises [S1001.1] (see Brest)."),
        ("`S1001.1`(x)", "[S1001.1] (x)"),
        ("(Tides at Brest, S1001.1)", "(Tides at Brest, [S1001.1])"),
        ("It rises (S1001.1, S1001.99).", "It rises [S1001.1, S1001.99]."),
    ],
)
def test_where_a_citation_goes(text: str, wanted: str) -> None:
    assert read(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("```markdown\n# R\n\nTide (S1001.1).\n```", "# R\n\nTide [S1001.1].\n"),
        ("Here is the report:\n\n```md\n# R\n\nTide.\n```\n", "# R\n\nTide.\n"),
        ("**Here it is:**\n~~~markdown\nTide.\n~~~\n", "Tide.\n"),
        ("````markdown\n# R\n\n```sh\nls\n```\nend\n````\n", "# R\n\n```sh\nls\n```\nend\n"),
        ("```markdown\n# R\n\n```sh\nls\n```\nend\n```\n", "# R\n\n```sh\nls\n```\nend\n"),
        ("```\n# R\n\nTide.\n```\n", "# R\n\nTide.\n"),
        ("Text.\n\n```\nTide [S1001.1].\n```\n\nMore.", "Text.\n\nTide [S1001.1].\n\nMore."),
        ("```bash\nls\n```\nText.", "```bash\nls\n```\nText."),
        ("```\nls\n```\nText.", "```\nls\n```\nText."),
        ("Run:\n\n```\nls\n```\nText.", "Run:\n\n```\nls\n```\nText."),
        ("Text.\n\n```markdown\n# An example\n```\n", "Text.\n\n```markdown\n# An example\n```\n"),
        ("```python\nx = 7  # [S1001.1]\n```\nText.", "```python\nx = 7  #\n```\n\n[S1001.1]\nText."),
        ("```python\nx = 7  # [S1001.1]", "```python\nx = 7  #\n```\n\n[S1001.1]\n"),
        ("Sure:\nText.", "Sure:\nText."),
        ("My report:\n\n```markdown\nTide.\n```\n", "My report:\n\nTide.\n"),
        ("Sure:", "Sure:"),
        ("```markdown\n# R\n\nTide, cut", "# R\n\nTide, cut"),
    ],
)
def test_fences(text: str, wanted: str) -> None:
    assert read(text) == wanted
    assert streamed(list(text), CitationReader(knows)) == wanted


@pytest.mark.parametrize(
    "text", ['```json\n{"a": 1}\n```', '~~~\n{"a": 1}\n~~~\n', 'Here it is:\n```json\n{"a": 1}\n```', '{"a": 1}\n']
)
def test_data_are_unwrapped(text: str) -> None:
    assert read_all(data_reader, text).strip() == '{"a": 1}'
    assert streamed(list(text), data_reader()).strip() == '{"a": 1}'


PARTS = st.sampled_from(
    [
        *"[]()`$\\\n<>~^!:S.,;- a#|*_【】{}\"'@†",
        "[S1001.1]",
        "S1001.1",
        "S1001",
        "[S1001.1, S2003.17]",
        "[[S1001.1]]",
        "【S2003.17】",
        "S9.9",
        "[S9.9]",
        "(source: ",
        "Source: ",
        "](",
        "](http://x)",
        "```",
        "```\n",
        "\n```markdown\n",
        "\n```python\n",
        "~~~\n",
        "\n\n",
        "\n- ",
        "$$",
        "\\(",
        "\\)",
        "\\[",
        "\\]",
        "<sup>",
        "</sup>",
        "<http:",
        "\\cite{",
        " and ",
        "†L1",
        "x" * 300,
        "😀é",
    ]
)
NASTY = st.lists(PARTS, max_size=30).map("".join) | st.sampled_from(WRAPPED + LISTS)


@settings(max_examples=scaled(200), deadline=None)
@given(st.lists(NASTY, max_size=4).map(" ".join) | st.text(max_size=60), st.data())
def test_output_does_not_depend_on_how_the_stream_was_cut(text: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    chunks = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    assert streamed(chunks, CitationReader(knows)) == read(text)


@settings(max_examples=scaled(80), deadline=None)
@given(NASTY)
def test_one_character_at_a_time_is_the_same(text: str) -> None:
    assert streamed(list(text), CitationReader(knows)) == read(text)


@settings(max_examples=scaled(100), deadline=None)
@given(NASTY | st.text(max_size=80))
def test_a_text_without_known_ids_is_never_altered(text: str) -> None:
    assume("```" not in text and "~~~" not in text)
    assert read(text, lambda _: False) == text


WORDS = st.lists(st.sampled_from(["tide", "rises", "seven", "metres", "at", "Brest"]), min_size=1, max_size=8)


@settings(max_examples=scaled(100), deadline=None)
@given(st.lists(st.tuples(WORDS.map(" ".join), st.sampled_from(WRAPPED + LISTS)), min_size=1, max_size=5), st.data())
def test_any_wrapper_after_any_sentence_is_read_however_it_streams(
    statements: list[tuple[str, str]], data: st.DataObject
) -> None:
    text = " ".join(f"The {words} {form}." for words, form in statements)
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    chunks = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    out = streamed(chunks, CitationReader(knows))
    assert cited(out) == [
        id for _, form in statements for id in (["S1001.1", "S2003.17"] if form in LISTS else ["S1001.1"])
    ]
    assert read(out) == out


def test_what_is_held_back_is_bounded() -> None:
    for opening in ("(", "[", "`", "^", "<sup>", "<b ", "(source ", "\\cite{", "**", "$x ", "【", "S", "source "):
        fed = opening + "y" * (3 * LOOK_AHEAD)
        given_out = len(CitationReader(knows).feed("# R\n\n" + fed))
        assert given_out >= LOOK_AHEAD - MAX_CITATION_CHARS, opening


@pytest.mark.parametrize(
    "unit", ["(", "[", "*", "**", "<", "<b>", "^", "(S1001.1", "[S1001.1,", "`S1001.1", "\\a{", "source: "]
)
def test_hostile_repetition_takes_work_in_step_with_its_length(unit: str) -> None:
    assert grows_in_step(read, unit * (2_000 // len(unit)))
