"""What is as long as the scanner looks ahead, or a little more, reads alike in a stream and as a whole."""

from __future__ import annotations

import pytest
from marker_tokenizer import Tokenizer
from sampling import crossed

from assay.core.markers import Marker, parse_markers
from assay.core.scanner import LOOK_AHEAD

PAIRS = [("[", "]"), ("[", "](u)"), ("[a](", ")"), ("`", "`"), ("``", "``"), ("$", "$"), ("$$", "$$"), ("【", "】")]
PAIRS += [("\\(", "\\)"), ("\\[", "\\]"), ("<https://", ">"), ("[[", "]]"), ("```", "```")]


def streamed(*chunks: str) -> list[Marker]:
    tokenizer = Tokenizer()
    pieces = [piece for chunk in chunks for piece in tokenizer.feed(chunk)] + tokenizer.finish()
    return [piece for piece in pieces if isinstance(piece, Marker)]


@pytest.mark.parametrize(("pair", "behind"), crossed(PAIRS, ["", " and on", "`", "\n\nnext [S2.2]"]))
def test_a_stream_is_read_as_the_whole_is(pair: tuple[str, str], behind: str) -> None:
    opening, closing = pair
    for extra in range(-6, 7):
        inside = "[S1001.1]" + "x" * (LOOK_AHEAD + extra - len(opening) - len(closing) - len("[S1001.1]"))
        text = f"So {opening}{inside}{closing}{behind}"
        whole = parse_markers(text)
        for cut in (1, 4, 600, *range(LOOK_AHEAD - 4, len(text))):
            assert streamed(text[:cut], text[cut:]) == whole, (extra, cut)
        begins, ends = text[:30], text[LOOK_AHEAD - 30 :]
        assert streamed(*begins, text[30 : LOOK_AHEAD - 30], *ends) == whole, extra
        assert extra or streamed(*text) == whole


def test_a_bracket_of_more_than_is_looked_ahead_hides_no_marker() -> None:
    text = "[" + "x" * (2 * LOOK_AHEAD) + "](u) It rises [S1001.1]. [" + "y " * LOOK_AHEAD + "[S1001.2] ]"
    named = [("S1001.1",), ("S1001.2",)]
    assert [marker.ids for marker in parse_markers(text)] == named
    assert [marker.ids for marker in streamed(*text)] == named


def test_a_block_which_ends_where_the_look_ahead_does_ends_for_a_stream_and_for_the_whole() -> None:
    for count in range(LOOK_AHEAD - 60, LOOK_AHEAD + 10):
        text = "[" * count + "[S1.1]\n 4,200 ships.\n\n]()"
        assert streamed(*(text[at : at + 7] for at in range(0, len(text), 7))) == parse_markers(text), count
