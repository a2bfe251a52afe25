"""Citations by author and year in drafts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from growth import WORST, exponent
from hypothesis import given
from hypothesis import strategies as st

from assay.core.report_sentences import claims
from assay.core.scanner import scan
from assay.core.sources import Document, sha256
from assay.evidence.segment import segment
from assay.verify.texts.author_names import begins_entry
from assay.verify.texts.catalogue import Catalogue
from assay.verify.texts.marked_text import MarkedText, citation_spans, mark_citations
from assay.verify.texts.references import read_definitions
from assay.verify.texts.text_check import CheckedText, DocumentAccess, check_by_rules

LIST = """

## References

Smith, J., Lee, K., & Jones, P. (2021). The harbour at Brest. https://example.org/x

Jones, P. & Lee, K. (2019). Crabs of the
  south. Journal 3, 4-5.
Mackerel Trust. (2024). *Landings of the southern fleet*.
World Health Organization. (2020). Fish and health.
van der Berg, A. (2018a). One.
van der Berg, A. (2018b). Two.
Rome, A. (1957). A book.
Doe, Jane. Title of a thing. Press, 2016.
Doe, John, and Kim Lee. 2017. A thing.
"""


TIDES = "# Tides at Brest\n\nThe tide at Brest rises seven metres. High water comes twice a day.\n"
DOCUMENT = Document(
    sha256=sha256(TIDES.encode()),
    snapshot_sha256="",
    extractor="t",
    url="file:///work/tides.md",
    title="Tides at Brest",
    name="tides.md",
    media_type="text/markdown",
    syntax="markdown",
    size=len(TIDES),
    fetched_at="",
)


def checked(text: str, *, everything: bool = False) -> CheckedText:
    """A text checked against one document."""
    shelf = DocumentAccess(
        find=Catalogue([DOCUMENT], "/work").find,
        spans=lambda document: segment(TIDES, document.syntax),
        text_of=lambda name: TIDES.encode(),
        all_documents=(DOCUMENT,) if everything else (),
    )
    return check_by_rules(text, mark_citations(text), shelf).with_opinions({})


def cited(marked: MarkedText) -> list[str]:
    """How the entries that a text cites begin; what is in no list, in brackets."""
    return [
        each.title.split(",")[0].split(".")[0] if each.is_defined else f"[{each.label}]" for each in marked.references
    ]


def body(marked: MarkedText) -> str:
    return claims(marked.text)[0].text


@pytest.mark.parametrize(
    ("sentence", "text", "entries"),
    [
        ("It rose by 5 (Trust, 2024).", "It rose by 5.", ["Mackerel Trust"]),
        ("It rose by 5 (Smith et al., 2021; Jones & Lee 2019, p. 12).", "It rose by 5.", ["Smith", "Jones"]),
        ("It rose by 5 (Smith *et al.*,\n2021).", "It rose by 5.", ["Smith"]),
        ("It rose by 5 [Smith et al., 2021].", "It rose by 5.", ["Smith"]),
        ("It rose by 5. (Trust, 2024)", "It rose by 5.", ["Mackerel Trust"]),
        ("It rose by 5 (see, e.g., Doe, 2016; Doe & Lee, 2017).", "It rose by 5.", ["Doe", "Doe"]),
        ("It rose by 5 (WHO, 2020).", "It rose by 5.", ["World Health Organization"]),
        ("It rose by 5 (van der Berg, 2018a, 2018b).", "It rose by 5.", ["van der Berg", "van der Berg"]),
        ("It rose by 5 (van der Berg, 2018b).", "It rose by 5.", ["van der Berg"]),
        ("It rose (5,340 tonnes; Trust, 2024).", "It rose (5,340 tonnes).", ["Mackerel Trust"]),
        ("It rose by 5 (Nobody, 2011).", "It rose by 5.", ["[Nobody, 2011]"]),
        ("Smith et al. (2021) found that crabs rose by 5.", "Crabs rose by 5.", ["Smith"]),
        ("Smith (2021) reported 5,340 tonnes of crab.", "5,340 tonnes of crab.", ["Smith"]),
        ("Smith (2021) suggested that it rose by 5.", "Smith suggested that it rose by 5.", ["Smith"]),
        ("As Jones and Lee (2019, p. 3) say, it rose.", "As Jones and Lee say, it rose.", ["Jones"]),
        ("Mackerel Trust (2024) was founded in 1900.", "Mackerel Trust was founded in 1900.", ["Mackerel Trust"]),
        ("The Treaty of Rome (1957) founded it.", "The Treaty of Rome (1957) founded it.", []),
        ("In Lyon (2021) it rose by 5.", "In Lyon (2021) it rose by 5.", []),
        ("It rose by 5 (March 2021).", "It rose by 5 (March 2021).", []),
        ("It rose by 5 (in 2021).", "It rose by 5 (in 2021).", []),
        ("It rose by 5 (Table 3, 2021).", "It rose by 5 (Table 3, 2021).", []),
        ("`It (Trust, 2024)` rose by 5.", "`It (Trust, 2024)` rose by 5.", []),
    ],
)
def test_author_and_year_with_a_list_of_references(sentence: str, text: str, entries: list[str]) -> None:
    marked = mark_citations(sentence + LIST)
    assert (body(marked), cited(marked)) == (text, entries)


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("It rose by 5 (Trust, 2024).", "It rose by 5."),
        ("It rose (5 tonnes; Trust, 2024).", "It rose (5 tonnes)."),
        ("It rose by 5 (Smith et al. 2021) as before.", "It rose by 5 as before."),
        ("It rose by 5 (Trust 2024).", "It rose by 5 (Trust 2024)."),
        ("Smith (2024) found 5 crabs.", "Smith (2024) found 5 crabs."),
        ("The Treaty of Rome (1957) founded it.", "The Treaty of Rome (1957) founded it."),
    ],
)
def test_without_a_list_they_are_outside_the_text_and_cite_nothing(sentence: str, text: str) -> None:
    marked = mark_citations(sentence)
    assert (body(marked), marked.references) == (text, ())


def test_a_place_and_a_year_stay_a_fact_where_the_text_cites_in_another_way() -> None:
    numbered = "It was founded (Rome, 1957) by six [1].\n\n## References\n\n1. Europe https://a.example\n"
    assert body(mark_citations(numbered)) == "It was founded (Rome, 1957) by six."
    assert body(mark_citations(numbered.replace("(Rome, 1957)", "(Rome et al., 1957)"))) == "It was founded by six."


def test_numbered_and_named_citations_of_one_entry_are_one_reference() -> None:
    marked = mark_citations("It rose [1]. It fell (Lee, 2020).\n\n## Sources\n\n1. Lee, K. (2020). Tides at Brest.\n")
    assert [each.label for each in marked.references] == ["1"]
    assert marked.text.count("[S1]") == 2


def test_the_words_of_a_link_that_only_name_a_work_are_no_claim() -> None:
    marked = mark_citations("It rose by 5 [Smith et al., 2021](https://a.example) and fell.")
    assert (body(marked), marked.references[0].url) == ("It rose by 5 and fell.", "https://a.example")


def test_a_claim_is_checked_against_the_document_of_the_entry() -> None:
    sentence = "The tide at Brest rises seven metres (Harbour Office, 2020)."
    found = checked(f"{sentence}\n\n## Literatur\n\nHarbour Office (2020). Tides at Brest. Brest.\n")
    assert [(each.text, each.verdict) for each in found.claims] == [("The tide at Brest rises seven metres.", "quoted")]
    assert found.references[0].documents
    assert found.uncited == 0


def test_a_name_in_no_list_is_said_to_be_missing() -> None:
    text = "The tide at Brest rises seven metres (Nobody et al., 2020).\n\n## References\n\n1. Tides at Brest\n"
    claim = checked(text).claims[0]
    assert claim.verdict == "unsupported"
    assert claim.reason == "[Nobody et al., 2020] is not in the list of references"


def test_evidence_is_searched_for_the_claim_without_the_name() -> None:
    found = checked("The tide at Brest rises seven metres (Plant, 2024).", everything=True)
    assert [(each.verdict, each.text) for each in found.claims] == [("quoted", "The tide at Brest rises seven metres.")]


@pytest.mark.parametrize(
    "line",
    [
        "Smith, J. (2021). Title.",
        "**Smith, J.** & Lee, K. (2021, March 3). Title.",
        "World Health Organization. (2020). Title.",
        "Doe, Jane. Title of a thing. Press, 2016.",
        "Doe, John, and Kim Lee. 2017. A thing.",
        "van der Berg, A. (n.d.). One.",
        "Étienne, J., Lee, K., Jones, P., Brown, Q.,",
    ],
)
def test_a_line_that_begins_an_entry(line: str) -> None:
    assert begins_entry(line)


@pytest.mark.parametrize(
    "line",
    [
        "This report rests on data of 2021, which were read in March.",
        "The figures are from the harbour (2021).",
        "All sources were read in May 2024.",
        "See also the annex (2020).",
        "    Smith, J. (2021). Code.",
        "",
    ],
)
def test_prose_in_a_list_is_no_entry(line: str) -> None:
    assert not begins_entry(line)


PIECES = st.sampled_from(
    "(|)|[|]|Smith| et al.|, |; | & | and |2021|2019a|n.d.| |\n|\n\n|Lee|found| that |. |p. 12|see |van der |[1]|*|`|"
    "- |5,340|Ж|李|https://a.example|(Smith et al., 2021)| (Lee, 2019)|Lee (2019) found |\n\n## References\n\n|"
    "Lee, K. (2019). On tides.\n".split("|")
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_places_are_in_range_in_order_and_apart(text: str) -> None:
    tokens = tuple(scan(text))
    found = citation_spans(text, read_definitions(text, tokens), tokens)
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert all(one.end <= two.start for one, two in pairwise(found))


@given(st.lists(PIECES, max_size=40).map("".join))
def test_every_claim_has_its_place_in_the_text(text: str) -> None:
    marked = mark_citations(text)
    for claim in claims(marked.text):
        assert 0 <= marked.origin(claim.start) <= marked.origin(claim.end) <= len(text)


@pytest.mark.parametrize(
    "unit",
    [
        "It rose (Smith et al., 2021). ",
        "(Smith, 2021; ",
        "(a 2021",
        "Smith and Lee ",
        "Smith, ",
        "Smith (2021) found that it rose. ",
        "Smith, J., (2021). ",
        "Smith, J. (2021). On tides.\n",
        "(" + "Smith, 2021; " * 20 + ")",
    ],
)
@pytest.mark.parametrize("end", ["", LIST])
def test_it_takes_linear_time(unit: str, end: str) -> None:
    assert exponent(mark_citations, lambda size: unit * (size // len(unit)) + end, 20_000) < WORST


def test_many_entries_and_many_citations_take_linear_time() -> None:
    def made(size: int) -> str:
        count = size // 60
        said = " ".join(f"It rose (Smith{'abcdefghij'[at % 10]}, 20{at % 90 + 10})." for at in range(count))
        return (
            said
            + "\n\n## References\n\n"
            + "\n".join(f"Smith, J. (20{at % 90 + 10}). On tides." for at in range(count))
        )

    assert exponent(mark_citations, made, 20_000) < WORST
