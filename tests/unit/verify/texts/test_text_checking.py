"""A text's claims against documents: references matched, passages picked, verdicts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.citations.whole_source import MAX_PASSAGES, WholeSource
from assay.core.claims import HOLDING, Check
from assay.core.errors import StoreError
from assay.core.sources import Document, PassageSpan, sha256
from assay.evidence.segment import segment
from assay.locale import use_locale
from assay.verify.checks import NO_SHARED_WORD
from assay.verify.texts.catalogue import Catalogue
from assay.verify.texts.marked_text import TextReference, mark_citations
from assay.verify.texts.text_check import CheckedText, DocumentAccess, TextDraft, check_by_rules

TIDES = "# Tides at Brest\n\nThe tide at Brest rises seven metres. High water comes twice a day.\n"
PLANTS = "# Plants\n\nThe northern plant employs 400 people.\n\nThe southern plant employs 900 people.\n"
FOLDER = "/home/me/work"


def document(text: str, url: str, title: str) -> Document:
    return Document(
        sha256=sha256(text.encode()),
        snapshot_sha256=sha256(text.encode()),
        extractor="text/1",
        url=url,
        title=title,
        name=url.rpartition("/")[2],
        media_type="text/markdown",
        syntax="markdown",
        size=len(text.encode()),
        fetched_at="2025-01-01T00:00:00.000Z",
    )


GIVEN = {
    TIDES: document(TIDES, f"file://{FOLDER}/docs/tides.md", "Tides at Brest"),
    PLANTS: document(PLANTS, "https://www.example.org/plants/?utm_source=x", "The plants of the north"),
}
TEXTS = {one.sha256: text for text, one in GIVEN.items()}


def shelf(
    documents: Sequence[Document] = tuple(GIVEN.values()),
    texts: Mapping[str, str] = TEXTS,
    everything: Sequence[Document] = (),
) -> DocumentAccess:
    def spans(one: Document) -> tuple[PassageSpan, ...]:
        return segment(texts[one.sha256], one.syntax)

    def text_of(sha256: str) -> bytes:
        if sha256 not in texts:
            raise StoreError("not there")
        return texts[sha256].encode()

    return DocumentAccess(
        find=Catalogue(documents, FOLDER).find, spans=spans, text_of=text_of, all_documents=tuple(everything)
    )


def checked(text: str, documents: Sequence[Document] = tuple(GIVEN.values())) -> CheckedText:
    return check_by_rules(text, mark_citations(text), shelf(documents)).with_opinions({})


def verdicts(text: str) -> list[str]:
    return [claim.verdict for claim in checked(text).claims]


@pytest.mark.parametrize(
    "cited",
    [
        "[t](docs/tides.md)",
        "[t](./docs/tides.md#top)",
        "[t](/home/me/work/docs/tides.md)",
        "[t](file:///home/me/work/docs/tides.md)",
        "[t](tides.md)",
        "[1]\n\n[1]: docs/tides.md",
        "[^1]\n\n[^1]: Tides at Brest, retrieved 2025-01-01",
        "[1]\n\n## Sources\n\n1. Harbour Office (2020). Tides at Brest. Brest: self-published.",
        "[1]\n\n## Sources\n\n1. See tides.md, page 3",
    ],
)
def test_a_reference_names_a_document_by_path_name_or_title(cited: str) -> None:
    found = checked(
        f"The tide at Brest rises seven metres ({cited}).\n"
        if cited.startswith("[t]")
        else f"The tide at Brest rises seven metres {cited}\n"
    )
    assert [each.documents for each in found.references] == [(GIVEN[TIDES].url,)]
    assert found.claims[0].verdict == "quoted"


@pytest.mark.parametrize(
    "cited",
    [
        "[tides.md]",
        "【tides.md】",
        "[tides.md, p. 3]",
        "[Tides.md:12-14]",
        "[docs/tides.md]",
        "[source: tides.md; tides.md]",
        "(tides.md, page 3)",
        "(Quelle: tides.md)",
        "(Source: tides.md, S. 2)",
        "[tides.md, Folie 3]",
        "[tides.md，第3页]",
        "[tides.md، ص 3؛ tides.md]",
    ],
)
def test_a_file_in_brackets_is_a_citation(cited: str) -> None:
    found = checked(f"The tide at Brest rises seven metres {cited}.")
    assert [each.documents for each in found.references] == [(GIVEN[TIDES].url,)]
    assert [claim.verdict for claim in found.claims] == ["quoted"]


@pytest.mark.parametrize(
    "aside", ["(tides.md)", "[see tides]", "[e.g.]", "(tides.md, which is long, says so)", "[x.y]"]
)
def test_a_file_that_a_sentence_speaks_of_is_no_citation(aside: str) -> None:
    assert not checked(f"The tide at Brest {aside} rises seven metres.").references


def test_a_file_that_is_not_given_is_named() -> None:
    found = checked("The tide at Brest rises seven metres [waves.pdf, p. 2].")
    assert (found.claims[0].verdict, found.claims[0].reason) == ("unchecked", "not available: [waves.pdf]")


@pytest.mark.parametrize(
    "url",
    ["https://www.example.org/plants/", "http://example.org/plants?utm_medium=mail", "https://example.org/plants#n"],
)
def test_addresses_are_compared_as_pages(url: str) -> None:
    assert verdicts(f"The northern plant employs 400 people ({url}).") == ["quoted"]


def test_another_page_is_not_available() -> None:
    found = checked("The northern plant employs 400 people (https://example.org/other/plants).")
    assert (found.claims[0].verdict, found.claims[0].reason[:14]) == ("unchecked", "not available:")


def test_each_claim_has_its_verdict_its_line_and_its_place() -> None:
    text = (
        "The tide at Brest rises seven metres [1].\nIt rises nine metres at Brest [1].\n\n"
        "The southern plant employs 400 people [2]. Ships left on 3 May 2021. Rome has 12 gates [9].\n\n"
        "## References\n\n1. docs/tides.md\n2. https://example.org/plants\n"
    )
    found = checked(text)
    assert [(each.line, each.verdict, each.rule) for each in found.claims] == [
        (1, "quoted", "verbatim"),
        (2, "contradicted", "number"),
        (4, "contradicted", "number"),
        (4, "unsupported", "citation"),
        (4, "unsupported", "citation"),
    ]
    assert text[found.claims[3].start : found.claims[3].end] == "Ships left on 3 May 2021."
    assert (found.uncited, found.summary.claims, found.share) == (1, 5, 0.2)
    assert "[9] is not in the list" in found.claims[4].reason
    assert {id for each in found.claims for id in each.passages} == {passage.id for passage in found.passages}


def test_one_of_several_sources_is_enough_and_a_missing_one_leaves_it_open() -> None:
    listed = "\n\n## References\n\n1. docs/tides.md\n2. https://nowhere.example/\n"
    assert verdicts(f"The tide at Brest rises seven metres [1, 2].{listed}") == ["quoted"]
    assert verdicts(f"Ferries to Ouessant sailed on 4 May 1999 [1, 2].{listed}") == ["unchecked"]
    assert verdicts(f"Ferries to Ouessant sailed on 4 May 1999 [1].{listed}") == ["unsupported"]


def test_the_citation_at_the_end_of_a_quoted_paragraph_holds_for_its_sentences() -> None:
    text = "The tide at Brest rises seven metres. High water comes twice a day ([t](docs/tides.md))."
    assert verdicts(text) == ["quoted", "quoted"]
    text = "The tide at Brest rises eight metres. High water comes twice a day ([t](docs/tides.md))."
    assert verdicts(text) == ["unsupported", "quoted"]


def test_a_text_without_claims_and_one_without_anything() -> None:
    assert (checked("# A title\n").claims, checked("").share) == ((), 1.0)


def test_the_picked_passages_share_the_claims_rare_words() -> None:
    passages = [*checked("x [t](tides.md) 1.").passages]
    assert len(passages) <= MAX_PASSAGES
    many = checked("The southern plant employs 900 people [p](https://example.org/plants).")
    assert "southern" in many.passages[0].text
    assert WholeSource([]).best_passages("anything") == ()


def test_titles_of_one_word_are_not_looked_for_inside_a_reference() -> None:
    one = document(TIDES, "file:///x/y.md", "Introduction")
    reference = TextReference(id="S1", label="1", title="An Introduction to tides", text="An Introduction to tides")
    assert Catalogue([one], "/").find(reference) == ()


def test_all_documents_of_one_file_name_are_found_each_once_however_many() -> None:
    many = [document(f"Page {at}.", f"https://example.org/{at}/index.html", f"Page {at}") for at in range(20_000)]
    started = time.process_time()
    catalogue = Catalogue(many, "/")
    assert time.process_time() - started < 10  # 0.5 s; with a look through all of that name for each: 20 s
    catalogue.add(many[0], "https://example.org/moved/index.html")
    reference = TextReference(id="S1", label="1", text="index.html, read on Monday")
    assert catalogue.find(reference) == tuple(many)


def drafted(text: str, body: str) -> TextDraft:
    one = document(body, f"file://{FOLDER}/docs/tides.md", "Tides at Brest")
    return check_by_rules(text, mark_citations(text), shelf([one], {one.sha256: body}))


def test_a_claim_which_shares_no_word_with_its_document_is_the_judges() -> None:
    [found] = (made := drafted("Das Wasser steigt dort um 7 Meter ([t](docs/tides.md)).", TIDES)).open_claims()
    assert "rises seven metres" in " ".join(found.evidence.texts)
    alone = made.with_opinions({})
    assert [(claim.verdict, claim.reason, claim.passages) for claim in alone.claims] == [
        ("unsupported", NO_SHARED_WORD.reason, ())
    ]
    assert alone.passages == ()
    judged = made.with_opinions({found.id: Check(rule="judge", verdict="supported", reason="it says so")})
    assert judged.claims[0].verdict == "supported"
    assert judged.claims[0].passages == tuple(passage.id for passage in judged.passages)


def test_a_long_document_without_a_common_word_is_not_shown_to_a_judge() -> None:
    long = "# Tides\n\n" + "\n\n".join(f"High water number {at} comes at noon." for at in range(100, 140))
    made = drafted("Das Wasser steigt um 7 Meter ([t](docs/tides.md)).", long)
    assert made.open_claims() == ()
    assert [claim.reason for claim in made.with_opinions({}).claims] == [NO_SHARED_WORD.reason]


def sought(text: str) -> CheckedText:
    """`text` checked, with evidence looked for where it cites nothing."""
    return check_by_rules(text, mark_citations(text), shelf(everything=tuple(GIVEN.values()))).with_opinions({})


def test_evidence_is_found_for_sentences_which_cite_nothing() -> None:
    found = sought(
        "The tide at Brest rises seven metres. The northern plant has 400 employees. "
        "The tide at Brest rises nine metres. Volcanoes erupt on Java.\n"
    )
    tide, plant, wrong, absent = found.claims
    assert (tide.verdict, tide.found) == ("quoted", (GIVEN[TIDES].url,))
    assert plant.verdict in ("supported", "unchecked")
    assert plant.found == (GIVEN[PLANTS].url,)
    assert (wrong.verdict, wrong.rule) == ("contradicted", "number")
    assert wrong.nearest is not None
    assert "nine" in wrong.nearest.missing
    assert (absent.verdict, absent.reason, absent.passages) == ("unsupported", "no citation", ())
    assert found.uncited == sum(claim.verdict not in HOLDING for claim in found.claims)
    assert all(passage in {each.id for each in found.passages} for claim in found.claims for passage in claim.passages)


def test_documents_that_decide_nothing_about_a_sentence_are_not_named_with_it() -> None:
    body = "The ferry of Brest sails at noon, in spring too."
    ferry = document(body, "https://example.org/ferry", "Ferry")
    held = shelf(texts={**TEXTS, ferry.sha256: body}, everything=(*GIVEN.values(), ferry))
    text = "The tide at Brest rises nine metres in spring. The tide at Brest rises seven metres."
    wrong, right = check_by_rules(text, mark_citations(text), held).with_opinions({}).claims
    assert (wrong.verdict, wrong.found) == ("contradicted", (GIVEN[TIDES].url,))
    assert (right.verdict, right.found) == ("quoted", (GIVEN[TIDES].url,))


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The firm paid 620,000 euros to Heron on 14 January 2022.", "supported"),
        ("The firm paid 0.62 million euros to Heron on January 14, 2022.", "supported"),
        ("The firm paid 620,000 dollars to Heron on 14 January 2022.", "contradicted"),
        ("The firm paid 620,000 euros to Heron on 16 January 2022.", "contradicted"),
    ],
)
def test_a_row_says_it_though_invoices_and_letters_have_more_of_the_words(claim: str, verdict: str) -> None:
    rows = "".join(f"| {day:02}.03.2021 | Pump Works {day} | {day}.100,00 |\n" for day in range(1, 29))
    table = f"| Day | Payee | Amount (EUR) |\n|---|---|---|\n{rows}| 14.01.2022 | Heron Ltd | 620.000,00 |\n"
    invoice = "Invoice of 10 January 2022: the firm owes Heron 620,000 euros, to be paid by the firm.\n"
    letter = "The firm paid on 20 January 2021, said the firm's letter to Heron.\n\nOn 14 May 2022 the firm paid.\n"
    texts = [invoice, letter, table]
    given = [document(text, f"https://example.org/{at}", f"Paper {at}") for at, text in enumerate(texts)]
    held = shelf(texts={one.sha256: text for one, text in zip(given, texts, strict=True)}, everything=given)
    (found,) = check_by_rules(claim, mark_citations(claim), held).with_opinions({}).claims
    assert found.verdict == verdict
    if verdict == "supported":
        assert "https://example.org/2" in found.found


def test_a_sentence_which_cites_is_held_against_what_it_cites_alone() -> None:
    found = sought("The northern plant employs 400 people ([t](docs/tides.md)). High water comes twice a day.\n")
    cites, cites_nothing = found.claims
    assert cites.verdict not in HOLDING
    assert (cites.found, cites_nothing.found) == ((), (GIVEN[TIDES].url,))
    assert cites_nothing.verdict == "quoted"
    assert [passage.partition(".")[0] for passage in cites_nothing.passages] == ["S2"]
    assert [each.id for each in found.references] == ["S1"]


@given(st.lists(st.sampled_from([*TIDES.split("\n\n")[1].strip().split(". "), "It snows.", "So it is"]), max_size=4))
def test_looking_for_evidence_changes_no_sentence_and_loses_none(sentences: list[str]) -> None:
    text = " ".join(f"{each.rstrip('.')}." for each in sentences)
    plain, found = checked(text), sought(text)
    assert [(each.id, each.text, each.start) for each in plain.claims] == [
        (each.id, each.text, each.start) for each in found.claims
    ]
    assert {each.id for each in plain.claims if each.verdict in HOLDING} <= {
        each.id for each in found.claims if each.verdict in HOLDING
    }


def test_passages_found_for_a_sentence_that_cites_nothing_are_not_called_cited() -> None:
    (found,) = sought("The tide at Brest rose in 1931.\n").claims
    assert found.reason.startswith("no citation, and nothing found says it: the date 1931 is not in the passage")


NAMES = ("Annual Report 2023.docx", "Copy of Annual Report 2023.docx", "tides.md", "Tides of Brest v2.final (2).pdf")
NAMED = {name: document(name, f"file://{FOLDER}/in/{name.replace(' ', '%20')}", f"Title {name[:4]}") for name in NAMES}


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("Annual Report 2023.docx", NAMES[0]),
        ("annual  report 2023.DOCX, p. 4", NAMES[0]),
        ("The Trust: in/Annual Report 2023.docx (accessed 3 May 2024)", NAMES[0]),
        ("Copy of Annual Report 2023.docx", NAMES[1]),
        ("Annual Report 2023", NAMES[0]),
        ("Tides of Brest v2.final (2).pdf", NAMES[3]),
        ("tides.md", NAMES[2]),
        ("Old Annual Report 2023", ""),
        ("xAnnual Report 2023.docx", ""),
        ("Annual Report 2024.docx", ""),
    ],
)
def test_a_reference_names_a_file_whose_name_has_spaces(entry: str, name: str) -> None:
    [reference] = mark_citations(f"It rises [1].\n\n## References\n\n1. {entry}\n").references
    found = Catalogue(NAMED.values(), FOLDER).find(reference)
    assert [each.name.replace("%20", " ") for each in found] == [name] * bool(name)


def test_a_file_is_found_however_its_system_stores_accents() -> None:
    one = document("x", f"file://{FOLDER}/Re%CC%81sume%CC%81%20port.txt", "")
    [reference] = mark_citations("It rises [1].\n\n## Sources\n\n1. Résumé port.txt\n").references
    assert Catalogue([one], FOLDER).find(reference) == (one,)


def test_one_name_without_its_ending_for_two_files_names_neither() -> None:
    several = [document(kind, f"file://{FOLDER}/report.{kind}", "") for kind in ("pdf", "docx")]
    reference = TextReference(id="S1", label="1", title="Report", text="Report")
    assert Catalogue(several, "/").find(reference) == ()
    assert Catalogue(several[:1], "/").find(reference) == (several[0],)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "The tide at Brest rose in 1931.\n",
            "kein Verweis, und nichts Gefundenes sagt es: das Datum 1931 steht nicht in",
        ),
        ("It rose (https://example.org/other).", "nicht verfügbar: https://example.org/other"),
        ("It rose in 1931 [9].\n\nIt rises [1].\n\n[1] tides.md\n", "[9] steht nicht in der Liste der Quellen"),
    ],
)
def test_a_reason_is_in_the_language_of_who_asks(text: str, reason: str) -> None:
    with use_locale("de"):
        found = sought(text).claims[0]
    assert found.reason.startswith(reason)
    assert "zitierten" not in found.reason
