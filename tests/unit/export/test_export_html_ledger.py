"""What the page tells of each claim: how it differs from its passage, what it was before, what was taken out."""

from __future__ import annotations

import repaired
from selectolax.lexbor import LexborHTMLParser, LexborNode

from assay.export.html import render
from assay.export.html.evidence_section import linked_reason
from assay.export.html.markup import gather_material

PAGE = LexborHTMLParser(render(repaired.view()))


def text(node: LexborNode | None) -> str:
    assert node is not None
    return " ".join(node.text().split())


def texts(selector: str) -> list[str]:
    return [text(node) for node in PAGE.css(selector)]


def test_the_words_which_differ_are_marked_on_both_sides_and_read_out() -> None:
    assert texts("#claim-1 .compared em") == ["(only in the report: nine)", "(only in the passage: seven)"]
    assert texts("#claim-1 .compared .who") == ["The report:", "Quote 1.1:"]
    assert PAGE.css_first("#claim-1 details.compare").attributes.keys() >= {"open"}


def test_a_claim_which_stands_in_its_passage_is_not_compared() -> None:
    assert PAGE.css_first("#claim-2 .compare") is None


def test_what_speaks_against_a_claim_is_quoted() -> None:
    assert "Speaks against it: At Brest the tide rises six metres." in texts("#claim-1 .quoted")


def test_a_revised_claim_says_what_it_was_and_why_it_was_revised() -> None:
    [found] = texts("#claim-2 .versions li")
    assert (
        found == "contradicted was: High water comes three times a day., because the passage says twice (three, twice)"
    )


def test_sentences_taken_out_have_their_verdict_and_the_reason() -> None:
    taken = "unsupported Ships sank in 1999. (nothing supports it): 1999 is not there"
    assert taken in texts(".glance .box li")


def test_the_fields_of_a_typed_answer_are_a_table() -> None:
    assert texts("section[aria-labelledby=fields] thead th") == ["Field", "Value", "Verdict", "Why"]
    rows = [[text(cell) for cell in row.css("th, td")] for row in PAGE.css("section[aria-labelledby=fields] tbody tr")]
    assert [row[0] for row in rows] == ["rise.metres", "harbour_master"]
    assert rows[1][3] == "no passage <names> *anyone*"
    assert "#fields" in [link.attributes["href"] for link in PAGE.css("nav a")]


def test_a_reason_names_the_quotes_of_the_page_and_no_ids_of_the_run() -> None:
    assert texts("#claim-1 .reason") == ["the claim says 'nine metres', Quote 1.1 says 'seven metres'"]
    assert texts("#claim-2 .reason") == ["verbatim in Quote 1.2"]
    link = PAGE.css_first("#claim-2 .reason a")
    assert link is not None
    assert PAGE.css_first(link.attributes["href"] or "") is not None
    names = {link.attributes["aria-label"] for link in PAGE.css(".quoted a")}
    assert names == {f"Quote {number}" for number in texts(".quoted a")}  # what is seen is what is read out


def test_a_reason_names_what_is_in_the_page() -> None:
    material = gather_material(repaired.view(), "numbers")
    assert linked_reason(material, "S9999.1 says <no>") == "<bdi>S9999.1 says &lt;no&gt;</bdi>"  # it is not in the page
    assert linked_reason(material, "") == ""


def test_sentences_taken_out_are_folded_and_what_is_to_be_checked_is_not() -> None:
    opened = {text(box.css_first("summary")).partition(" (")[0]: "open" in box.attributes for box in PAGE.css(".box")}
    assert (opened["Claims to check"], opened["Sentences taken out"]) == (True, False)


def test_the_page_says_what_its_verdicts_mean() -> None:
    rows = dict(zip(texts(".legend dt"), texts(".legend dd"), strict=True))
    assert list(rows) == ["quoted", "supported", "partial", "unsupported", "contradicted", "unchecked"]
    assert rows["quoted"] == "Copied word for word from its source."
    assert "It does not say that the source is right." in texts(".legend p")[0]
