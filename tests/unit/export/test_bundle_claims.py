"""No honest claim is called wrong: what verification finds in a text says, to a bundle's check, what the text says."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.core.claims import Claim
from assay.core.report_sentences import claims
from assay.export.bundle.reports import matches_text

WORDS = st.sampled_from(
    [
        *("The tide", "rises", "7.5 m", "**twice**", "a `day()`", "[S1001.1]", "[S1.2, S2.3]", "in *May*", "&amp;"),
        *(
            "[link](http://x.y)",
            "$x^2$",
            "Größe",
            "“quoted.”",
            "e.g.",
            "½",
            "a|b",
            "<b>",
            "\\[1\\]",
            "1.",
            "http://a.b/c_d",
        ),
        *("潮汐上升七米。", "~~no~~", "![i](u)", "H<sub>2</sub>O", "[S1001.1-S1001.3]", "\n", "\t", "  "),
    ]
)
ENDS = st.sampled_from(
    [".", ". ", "! ", "? [S1001.2] ", ".\n", ".[S3.1]\n\n", "\n\n", "\n> ", "\n- ", "\n1. ", "\n## ", "\n    ", " |\n"]
)
STARTS = st.sampled_from(
    ["", "> ", "- ", "* > ", "1. ", "# ", "| a | b |\n|---|---|\n| ", "```\n", "<!-- ", "    ", "> 1. - "]
)
SENTENCES = st.tuples(st.lists(WORDS, min_size=1, max_size=7).map(" ".join), ENDS).map("".join)
REPORTS = st.tuples(STARTS, st.lists(SENTENCES, max_size=6).map("".join)).map("".join)


@settings(max_examples=scaled(60))
@given(REPORTS)
@example("> The tide rises\n> seven metres [S1001.1]. It\n> turns.\n")
@example("| Place | Tide |\n|---|---|\n| Brest | 7 m [S1001.1] |\n")
@example("- The tide\n  rises.\n  1. It *turns* [S1001.1]\n     twice.\n")
def test_every_claim_that_is_found_says_what_the_text_says(report: str) -> None:
    for found in claims(report):
        claim = Claim(id=found.id, text=found.text, start=found.start, end=found.end)
        assert matches_text(report, claim), (found.text, report[found.start : found.end])
