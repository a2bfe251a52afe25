"""Sentences read from a stream equal those of the whole text, however it was cut."""

from __future__ import annotations

import itertools

from growth import WORST, exponent
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.core.report_sentences import read_sentences
from assay.verify.proofreader import SentenceStream

PIECES = (
    *(
        "The mill of Aru grinds 40 tons a day.",
        " It was built in 1741.",
        "Status of EIP 7: Final",
        "Overall, so it is.",
    ),
    *("See below.", "e.g. ", "Mr. ", "…", "“Quoted. Twice.”", "他在1741年。", "a", " ", "\\", "**", "_", "&amp;", "!"),
    *(" [S1001.1]", "[S1.2, S3]", "【S1.1】", "[^S1.2]", "[S2]\n", "[S1", ".1]", "[", "]", "(", ")"),
    *(
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "\t",
        "\x0b",
        "\u2028",
        "\x00",
        "# Head\n",
        "## Not found\n",
        "---\n",
        "===\n",
        "-",
        "=",
    ),
    *("- ", "+ ", "* item 5\n", "1. ", "2) ", "> ", "    ", "```\n", "~~~", "`code. Not`", "`", "``", "$x. y$", "$"),
    *(
        "| a | b |\n",
        "|---|---|\n",
        "| x 5 [S1.1] | y |\n",
        "| lone",
        "|",
        "--",
        "[x]: /url\n",
        "[link](http://a.b/c. d)",
    ),
    *("<div>\n", "</div>", "<!-- ", " -->\n", "<b>", "<?php", "?>", "<![CDATA["),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
BLOCKS = (
    "A mill stood in Aru in 1741. [S1.1]",
    "It was small. It burnt down in 1803. [S1.2]",
    "## The mill",
    "- One of 5. [S1.1]",
    "- Two of 6",
    "| a | b |\n|---|---|\n| c 5 [S1.1] | d |\n| e 6 | f |",
    "[S1.3]",
    "> Said in 1900.\n> [S1.1]",
    "```\nx. y\n```",
    "1. First in 1900.\n\n   [S1.1]\n2. Second.",
    "Head\n====",
    "Part\n---",
    "[S1.1] [S1.2]",
    "*[S1.4]*",
)
PROSE = st.lists(st.sampled_from(BLOCKS), max_size=14).map("\n\n".join)


def streamed(text: str, cuts: list[int]) -> tuple[object, ...]:
    stream = SentenceStream()
    found: list[object] = []
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    for start, end in itertools.pairwise(edges):
        found.extend(stream.feed(text[start:end]))
    return (*found, *stream.end())


@settings(max_examples=scaled(60), deadline=None)
@given(TEXTS, st.lists(st.integers(0, 10_000), max_size=60))
@example("A.\n\n[S1.1]\n\nB in 5.", [4, 6, 9, 11])
@example("#\n\n- a 5\n\n## \nb 6\n\nc", list(range(30)))
def test_any_cut_of_any_text_gives_the_same_sentences(text: str, cuts: list[int]) -> None:
    assert streamed(text, cuts) == read_sentences(text)


@settings(max_examples=scaled(60), deadline=None)
@given(PROSE)
def test_sign_by_sign_gives_the_same_sentences(text: str) -> None:
    assert streamed(text, list(range(len(text)))) == read_sentences(text)


def test_a_sentence_is_given_when_the_next_block_has_begun() -> None:
    stream = SentenceStream()
    assert stream.feed("The mill grinds 40 tons. [S1.1] It is old.") == ()
    assert stream.feed("\n\n") == ()
    assert [each.id for each in stream.feed("T")] == ["c1", "c2"]
    assert stream.feed("here are 3 mills.\n===") == ()
    (heading,) = stream.feed("\nAnd")  # the line below made it one
    assert (heading.role, heading.id) == ("structure", "")
    assert [each.id for each in stream.feed(" 4 were there before.")] == []
    assert [(each.id, each.text) for each in stream.end()] == [("c3", "And 4 were there before.")]


def test_rows_of_a_table_are_given_one_after_the_other() -> None:
    stream = SentenceStream()
    assert stream.feed("| mill | tons |\n|---|---|\n") == ()
    assert [each.text for each in stream.feed("| Aru | 40 [S1.1] |\n| Brest")] == ["mill | tons"]
    assert [each.id for each in stream.feed(" | 50 |\n| Lorient | 60 |\n")] == ["c1", "c2"]
    assert [(each.id, each.head) for each in stream.end()] == [("c3", ("mill", "tons"))]


def test_a_block_of_markers_belongs_to_the_sentence_before() -> None:
    stream = SentenceStream()
    assert stream.feed("The mill grinds 40 tons.\n\n[S1.1]\n") == ()
    (mill,) = stream.feed("\nIt")
    assert [marker.ids for marker in mill.markers] == [("S1.1",)]


def test_a_long_list_is_read_in_about_linear_time() -> None:
    def fed(items: int) -> None:
        stream = SentenceStream()
        for number in range(items):
            stream.feed(f"- The mill {number} of Aru grinds 40 tons a day and closes at 9. [S1001.1]\n")
        stream.end()

    assert exponent(fed, int, 160) < WORST
