"""A source cited as a whole means the same passages, whoever asks."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.agents.findings import PASSAGES_PER_SOURCE, resolve_citations
from assay.core.citations.value_spellings import spelled_values, without_values
from assay.core.citations.whole_source import JUDGED_PASSAGES, MAX_PASSAGES, WholeSource
from assay.core.claims import Conflict, Side
from assay.core.report_sentences import claims
from assay.core.sources import Document, Passage, PassageSpan, ordinal_of, sha256
from assay.evidence.ledger import DocumentPassages, Ledger
from assay.evidence.segment import segment
from assay.phases.fields.schema import FieldSlot, Leaf
from assay.phases.fields.values import FieldAnswer, supported_field
from assay.verify import evidence_index
from assay.verify.conflicts.detection import conflicts_section
from assay.verify.evidence_index import CitableIds
from assay.verify.texts.marked_text import mark_citations
from assay.verify.texts.text_check import DocumentAccess, check_by_rules

SENTENCES = (
    "The tide at Brest rises seven metres.",
    "High water comes twice a day.",
    "The moon causes the tide.",
    "The northern plant employs 400 people.",
    "A ferry to Ouessant sails at noon.",
    "The harbour of Brest was built in 1631.",
)
TEXT = "# Brest\n\n" + "\n\n".join(SENTENCES) + "\n"
SPANS = segment(TEXT, "markdown")
STATEMENTS = st.lists(
    st.sampled_from(
        [
            *SENTENCES,
            "The tide rises at noon, when the ferry sails.",
            "The plant is older than the harbour.",
            "At Brest 400 people built the harbour in 1631, and the moon causes high water.",
        ]
    ),
    min_size=1,
    max_size=4,
)


def document() -> Document:
    return Document(
        sha256=sha256(TEXT.encode()),
        snapshot_sha256=sha256(TEXT.encode()),
        extractor="text/1",
        url="https://example.org/brest",
        title="Brest",
        name="brest.md",
        media_type="text/markdown",
        syntax="markdown",
        size=len(TEXT.encode()),
        fetched_at="",
    )


def ledger(spans: Sequence[PassageSpan] = SPANS) -> Ledger:
    held = Ledger()
    held.apply(held.register(1, [DocumentPassages(document=document(), spans=tuple(spans))]).rows)
    return held


def whole(texts: Sequence[str]) -> WholeSource:
    text = "\n\n".join(texts)
    held = Ledger()
    spans = tuple(segment(text, "markdown"))
    one = msgspec.structs.replace(document(), sha256=sha256(text.encode()), size=len(text.encode()))
    held.apply(held.register(1, [DocumentPassages(document=one, spans=spans)]).rows)
    return WholeSource(held.passages("S1001"))


def places(passages: Sequence[Passage]) -> list[int]:
    return [ordinal_of(passage.id) for passage in passages]


def access() -> DocumentAccess:
    return DocumentAccess(find=lambda _: (document(),), spans=lambda _: SPANS, text_of=lambda _: TEXT.encode())


@given(STATEMENTS, st.permutations(SPANS))
def test_the_same_citation_means_the_same_passages_by_every_way_in(
    statements: list[str], shown: Sequence[PassageSpan]
) -> None:
    held = ledger(shown)
    report = "\n\n".join(f"{statement} [S1001]" for statement in statements)
    in_a_run = [CitableIds(*held.passages_and_sources()).cited_passages(each) for each in claims(report)]
    alone = [WholeSource(held.passages("S1001")).best_passages(statement) for statement in statements]
    assert in_a_run == alone
    assert all(0 < len(passages) <= MAX_PASSAGES for passages in alone)

    with_references = "\n\n".join(f"{statement} (https://example.org/brest)" for statement in statements)
    in_a_text = check_by_rules(with_references, mark_citations(with_references), access()).pending_claims
    assert [places(each.evidence.passages) for each in in_a_text] == [places(passages) for passages in alone]

    meant = {passage.id for passages in alone for passage in passages}
    assert {passage.id for passage in resolve_citations(report, held).passages} == meant


def test_a_source_cited_by_many_claims_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[WholeSource] = []

    class Noted(WholeSource):
        def __init__(self, passages: Iterable[Passage]) -> None:
            super().__init__(passages)
            made.append(self)

    monkeypatch.setattr(evidence_index, "WholeSource", Noted)
    found = claims(" ".join(f"Plant {at} employs 400 people [S1001]." for at in range(50)))
    assert all(passages for _, passages in CitableIds(*ledger().passages_and_sources()).claims_with_passages(found))
    assert len(made) == 1


def test_a_statement_which_draws_on_several_passages_means_them_all() -> None:
    held = ledger()
    [claim] = claims("The plant employs 400 people, and the harbour of Brest was built in 1631 [S1001].")
    texts = [passage.text for passage in CitableIds(*held.passages_and_sources()).cited_passages(claim)]
    assert set(texts) == {SENTENCES[3], SENTENCES[5]}


def test_a_word_without_a_topic_weighs_less_however_rare() -> None:
    texts = ["A ferry also sails at night.", "The tide at Brest rises.", "The tide at Quimper falls.", "Brest is old."]
    source = whole(texts)
    assert places(source.best_passages("The tide at Brest also rises."))[0] == 1


def test_a_judge_is_shown_the_next_best_too() -> None:
    source = WholeSource(ledger().passages("S1001"))
    statement = "The tide at Brest rises seven metres."
    few, more = source.best_passages(statement), source.best_passages(statement, JUDGED_PASSAGES)
    assert more[: len(few)] == few
    assert len(few) < len(more) <= JUDGED_PASSAGES


def test_a_statement_means_a_passage_with_its_number_however_little_that_number_weighs() -> None:
    said = "A northern plant employs people, more than twice as many as each other plant nearby ever did before"
    for year in ("1631", "1632"):
        [claim] = claims(f"{said} {year} [S1001].")
        texts = [passage.text for passage in CitableIds(*ledger().passages_and_sources()).cited_passages(claim)]
        assert (SENTENCES[5] in texts) is (year == "1631")


def test_a_sentence_without_a_marker_means_its_own_passages_of_the_source_cited_behind_it() -> None:
    held = ledger()
    found = claims("Its plant employs 400 people. High water comes twice a day. [S1001]")
    cited = CitableIds(*held.passages_and_sources()).claims_with_passages(found)
    assert [[passage.text for passage in passages] for _, passages in cited] == [[SENTENCES[3]], [SENTENCES[1]]]


def test_a_finding_in_other_words_rests_on_the_first_passages_of_what_it_cites() -> None:
    found = resolve_citations("Das Hochwasser kommt. [S1001]", ledger(SPANS[::-1]))
    assert places(found.passages) == [span.ordinal for span in SPANS[:PASSAGES_PER_SOURCE]]
    [claim] = claims("Das Hochwasser kommt. [S1001]")
    assert CitableIds(*ledger().passages_and_sources()).cited_passages(claim) == ()


@pytest.mark.parametrize(("name", "value", "bearing"), [("highWater", "twice a day", 1), ("builtIn", 1631, 5)])
def test_a_field_may_cite_a_source_as_a_whole(name: str, value: object, bearing: int) -> None:
    slot = FieldSlot(name=name, leaf=Leaf(type="string" if isinstance(value, str) else "integer"))
    found = supported_field((name,), slot, FieldAnswer(value=value, passages=("S1001",)), "Brest", ledger())
    assert found.value == value
    assert SENTENCES[bearing] in [SPANS[ordinal_of(id)].text for id in found.passages]
    missing = supported_field((name,), slot, FieldAnswer(value=value, passages=("S1002",)), "Brest", ledger())
    assert missing.reason.startswith("what it cites does not exist")


def test_a_field_in_words_that_the_cited_source_lacks_says_so() -> None:
    slot = FieldSlot(name="colour", leaf=Leaf(type="string"))
    found = supported_field(("colour",), slot, FieldAnswer(value="purple", passages=("S1001",)), "Brest", ledger())
    assert (found.value, found.reason.partition(":")[0]) == (None, "the cited document shares no word with it")


@pytest.mark.parametrize("cites", ["[S1001]", "[S1001.1]"])
def test_a_conflict_is_not_told_again_in_the_words_of_a_source_cited_as_a_whole(cites: str) -> None:
    passages, sources = ledger().passages_and_sources()
    passage = next(each for each in passages.values() if each.text == SENTENCES[0])
    cites = cites.replace("S1001.1", passage.id)
    side = Side(passage=passage.id, source="S1001", value="seven metres")
    conflict = Conflict(text="", subject="tide", sides=(side,))
    assert SENTENCES[0] in conflicts_section([conflict], passages, sources)
    assert SENTENCES[0] not in conflicts_section([conflict], passages, sources, f"{SENTENCES[0]} {cites}")


@pytest.mark.parametrize(
    "said",
    [
        "Acme paid 1.25 million to Heron on 4 September 2020.",
        "On September 4, 2020 Heron got 1,250,000 of Acme.",
        "Am 04.09.2020 zahlte Acme 1.250.000,00 an Heron.",
        "2020-09-04: Acme, Heron, 1 250 000",
    ],
)
@pytest.mark.parametrize(
    "row", ["04.09.2020; Heron; 1.250.000,00", "2020-09-04 | Heron | 1250000", "4 Sept 2020, Heron: 1.25 million"]
)
def test_a_day_and_an_amount_are_looked_for_in_every_form(said: str, row: str) -> None:
    others = [f"Acme paid {at} to Heron in January {at}, said September, on 4 days." for at in range(2010, 2030)]
    document = "\n\n".join((*others, row, "Acme paid 1.25 to Heron. Paid were 4 on 9 May 2020.")) + "\n"
    passages = [
        Passage(
            id=f"S1001.{span.ordinal}",
            source="S1001",
            document_sha256=sha256(document.encode()),
            start=span.start,
            end=span.end,
            text=span.text,
            text_sha256=sha256(span.text.encode()),
        )
        for span in segment(document, "markdown")
    ]
    assert row in [passage.text for passage in WholeSource(passages).best_passages(said)]


@pytest.mark.parametrize(
    ("statement", "text", "left"),
    [
        ("on 4 September 2020.", "[09/12/2020, 04:10] at last", "on 4 September 2020."),
        ("on 4 September 2020.", "the 4th of September 2020", "on ."),
        ("on 4 September 2020.", "am 4. September 2020", "on ."),
        ("it cost 1,250 in May", "1250 pounds", "it cost in May"),
        ("it cost 1,250 in May", "in 250 days 1 pound", "it cost 1,250 in May"),
    ],
)
def test_the_words_of_a_value_stand_together(statement: str, text: str, left: str) -> None:
    assert " ".join(without_values(statement, text).split()) == left


def test_a_day_that_is_repeated_is_looked_for_once() -> None:
    begun = time.process_time()
    statement = "2019-03-04 " * 20_000
    assert without_values(statement, "The tide rose on 4 March 2020.") == statement
    assert time.process_time() - begun < 2


@given(st.text(alphabet="0123456789,. '-/€kmMio年月日", max_size=60))
@example("9" * 9_000)
@example("1," + "000," * 3_000 + "000 trillion")
def test_any_digits_are_read(text: str) -> None:
    for value in spelled_values(text):
        assert 0 <= value.start < value.end <= len(text)
        assert value.forms
    assert len(without_values(text, text)) == len(text)
