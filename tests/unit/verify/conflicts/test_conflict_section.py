"""How a report tells that sources disagree."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.core.claims import Conflict, Side
from assay.core.report_sentences import read_sentences
from assay.core.sources import Passage, Source, sha256
from assay.phases.source_comparison import relevant_conflicts
from assay.verify.conflicts.detection import TITLE, conflict_summary, conflicts_section
from assay.verify.evidence import ClaimEvidence
from assay.verify.rules.quotes import verbatim_passage

SENTENCES = ("The tower is 330 metres tall.", "At 324 metres, the tower is small.")


def passages(*texts: str) -> dict[str, Passage]:
    made = [
        Passage(
            id=f"S{at}001.1",
            source=f"S{at}001",
            document_sha256=sha256(text.encode()),
            start=0,
            end=len(text.encode()),
            text=text,
            text_sha256=sha256(text.encode()),
        )
        for at, text in enumerate(texts, 1)
    ]
    return {each.id: each for each in made}


def sources(*titles: str) -> dict[str, Source]:
    return {
        f"S{at}001": Source(
            id=f"S{at}001",
            document_sha256="",
            snapshot_sha256="",
            url="",
            title=title,
            media_type="",
            fetched_at="",
        )
        for at, title in enumerate(titles, 1)
    }


def conflict(*values: str, dates: tuple[str, ...] = ("", "")) -> Conflict:
    sides = (
        Side(value=value, passage=f"S{at}001.1", source=f"S{at}001", date=date)
        for at, (value, date) in enumerate(zip(values, dates, strict=True), 1)
    )
    return Conflict(text="", sides=tuple(sides))


def test_values_sources_and_dates_stand_above_the_sentences() -> None:
    text = conflicts_section(
        [conflict("330 metres", "324 metres", dates=("2021-03-04", ""))],
        passages(*SENTENCES),
        sources("Tower guide", "City page"),
    )
    assert text == (
        "## Where sources disagree\n\n"
        "330 metres (Tower guide, 2021-03-04) or 324 metres (City page, no date):\n\n"
        "- The tower is 330 metres tall. [S1001.1]\n"
        "- At 324 metres, the tower is small. [S2001.1]"
    )


def test_every_sentence_is_a_claim_which_stands_word_for_word_in_its_passage() -> None:
    held = passages(f"First this. {SENTENCES[0]}", SENTENCES[1])
    text = conflicts_section([conflict("330 metres", "324 metres")], held, sources("A", "B"))
    stated = [sentence for sentence in read_sentences(text) if sentence.id]
    for sentence, passage in zip(stated, held.values(), strict=True):
        assert verbatim_passage(sentence.text, ClaimEvidence(passages=(passage,), sources={})) is passage


def test_what_cannot_be_told_as_sentences_is_left_out() -> None:
    held = passages("- 330 metres | tall\n- 12", "At 324 metres, the tower is small.")
    assert conflicts_section([conflict("331 metres", "324 metres")], held, sources("A", "B")) == ""
    assert conflicts_section([], {}, {}) == ""


def test_in_one_sentence_for_a_text_which_has_a_form_of_its_own() -> None:
    found = conflict_summary(conflict("330 metres", "324 metres"), sources("Tower guide", ""))
    assert found == "Sources disagree: 330 metres (Tower guide, no date) or 324 metres (S2001, no date)."


def test_a_value_which_two_sources_state_is_named_once() -> None:
    held = passages(*SENTENCES, SENTENCES[1])
    found = conflict("330 metres", "324 metres", "324 metres", dates=("", "", ""))
    text = conflicts_section([found], held, sources("A", "B", "C"))
    assert "\n330 metres (A, no date) or 324 metres (B, no date; C, no date):\n" in text
    assert text.count("\n- ") == 3


def test_what_the_report_says_already_is_not_said_again() -> None:
    found, held, named = [conflict("330 metres", "324 metres")], passages(*SENTENCES), sources("A", "B")
    text = conflicts_section(found, held, named, f"# Tower\n\n{SENTENCES[0]} [S1001.1]")
    assert SENTENCES[0] not in text
    assert text.endswith(f"- {SENTENCES[1]} [S2001.1]")
    cited_elsewhere = conflicts_section(found, held, named, f"{SENTENCES[0]} [S2001.1]")
    assert cited_elsewhere == conflicts_section(found, held, named)


def test_values_whose_sentences_all_stand_in_the_report_are_told_as_a_question() -> None:
    report = f"{SENTENCES[0]} [S1001.1] {SENTENCES[1]} [S2001.1]"
    text = conflicts_section([conflict("330 metres", "324 metres")], passages(*SENTENCES), sources("A", "B"), report)
    assert text == "## Where sources disagree\n\nWhich holds: 330 metres (A, no date) or 324 metres (B, no date)?"
    assert not [sentence for sentence in read_sentences(text) if sentence.id]


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_title_becomes_a_claim_or_a_heading(one: str, other: str) -> None:
    text = conflicts_section([conflict("330 metres", "324 metres")], passages(*SENTENCES), sources(one, other))
    found = read_sentences(text)
    assert [sentence.text for sentence in found if sentence.id] == list(SENTENCES)
    assert next(sentence.text for sentence in found) == TITLE
    assert text.count("\n") == 5


SUBJECT = Conflict(text="", subject="Acme", measure="conductivity glass", sides=())


def test_a_conflict_about_something_else_than_what_is_asked_and_told_is_left_out() -> None:
    told = ["The melting point of Acme glass is 900 °C."]
    assert relevant_conflicts([SUBJECT], "What is the melting point of Acme?", told) == ()
    assert relevant_conflicts([SUBJECT], "What is the conductivity of Acme?", told) == (SUBJECT,)


def test_a_conflict_stays_if_the_question_is_wide_or_its_words_are_not_the_reports() -> None:
    told = ["The melting point of Acme glass is 900 °C."]
    for question in ("What is known about Acme?", "How tall is Acme?", "Compare glasses", "", "Acme"):
        assert relevant_conflicts([SUBJECT], question, told) == (SUBJECT,)
    unmeasured = Conflict(text="", subject="Acme", sides=())
    assert relevant_conflicts([unmeasured], "What is the melting point of Acme?", told) == (unmeasured,)
