"""One version of the segmenter cuts the same text the same way for ever, however fast it has become."""

from __future__ import annotations

import re
from hashlib import sha256

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathological import constructs

from assay.core.sources import Syntax
from assay.evidence.segment import SEGMENTER, segment
from assay.evidence.segment import lines as shape
from assay.evidence.segment.lines import lines

CUT: dict[Syntax, str] = {
    "markdown": "800ddacaa6d0f6a4",
    "plain": "dc4134e7f4ab7aec",
    "pages": "fe24248bd61a0e30",
}
"""What every construct at 3,000 characters is cut into. Another digest needs another version."""


@pytest.mark.parametrize("syntax", CUT)
def test_a_version_cuts_every_construct_the_same_way(syntax: Syntax) -> None:
    cut = sha256()
    for _, _, make in constructs("text"):
        cut.update(msgspec.json.encode(segment(make(3_000), syntax)))
    assert (SEGMENTER, cut.hexdigest()[:16]) == ("segment/4", CUT[syntax])


@given(st.text("a-\t \u3000\x1f\n\r", max_size=40))
def test_the_indent_of_a_line_is_the_white_space_before_it(text: str) -> None:
    for line in lines(text):
        white = line.text[: len(line.text) - len(line.text.lstrip())]
        assert line.indent == len(white.expandtabs(4))


LINE = st.text("aB1 .:·#-*\t_)", max_size=12)


@given(st.lists(LINE, max_size=12).map("\n".join), st.sampled_from(sorted(CUT)))
def test_a_line_of_words_alone_is_cut_as_if_everything_had_looked_at_it(text: str, syntax: Syntax) -> None:
    at_once = segment(text, syntax)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shape, "LONE", re.compile(r"(?!)"))
        assert segment(text, syntax) == at_once
