"""Messages of one thread, minutes, amendments: the later one first, messages with their days; others as they are."""

from __future__ import annotations

import time

import pytest

from assay.models.extractive.answers import select_answers
from assay.models.extractive.reports import _leading_units
from assay.models.questions.question import analyze
from assay.models.shown_documents.shelf import QuotableUnit, ShownSources
from assay.models.shown_documents.threads import with_days

FIRST = "The launch of the Otter is on Thursday at ten, at the east quay."
LATER = "The launch of the Otter is moved to Friday at eleven."
DATES = ("Mon, 3 Mar 2025 09:00:00 +0000", "Tue, 4 Mar 2025 15:00:00 +0100")


def message(number: int, subject: str, date: str, *lines: str) -> str:
    passages = [f"Date: {date}", f"Subject: {subject}", *lines] if date else list(lines)
    shown = "\n".join(f"[S100{number}.{at}] {line}" for at, line in enumerate(passages))
    return f"## S100{number} {subject} <file:///{number}.eml> (2025-03-0{number + 2})\n{shown}"


def answers(*shown: str, question: str = "When is the launch of the Otter?") -> list[str]:
    return [unit.text for unit in select_answers(analyze(question), ShownSources(["\n".join(shown)]))]


@pytest.mark.parametrize("reply", ["Re: ", "RE: Re: ", "AW: ", "Re[2]: "])
def test_what_a_later_message_says_comes_first_with_both_days(reply: str) -> None:
    thread = message(1, "The Otter", DATES[0], FIRST), message(2, f"{reply}The Otter", DATES[1], LATER)
    for shown in (thread, thread[::-1]):
        assert answers(*shown) == [
            LATER,
            f"Date of {reply}The Otter: {DATES[1]}",
            FIRST,
            f"Date of The Otter: {DATES[0]}",
        ]


def test_a_date_stands_behind_all_sentences_of_its_message_and_the_opening_has_both() -> None:
    more = "The launch of the Otter takes an hour."
    units = [
        QuotableUnit(text=text, passages=(f"S100{number}.2",), source=f"S100{number}", context_keys=frozenset())
        for number, text in ((2, LATER), (2, more), (1, FIRST), (3, "The Otter is a boat."))
    ]
    thread = message(1, "The Otter", DATES[0], FIRST), message(2, "Re: The Otter", DATES[1], LATER, more)
    dated = with_days(units, ShownSources(["\n".join(thread)]).books, 3)
    dates = [f"Date of Re: The Otter: {DATES[1]}", f"Date of The Otter: {DATES[0]}"]
    texts = [LATER, more, dates[0], FIRST, dates[1], "The Otter is a boat."]
    assert [unit.text for unit in dated] == texts
    assert [unit.text for unit in _leading_units(dated, 1)] == texts[:-1]
    assert with_days(units, ShownSources(["\n".join(thread)]).books, 2) == units  # of one message of the thread only


def test_without_their_headers_messages_are_in_the_order_of_their_days() -> None:
    assert answers(message(1, "The Otter", "", FIRST), message(2, "Re: The Otter", "", LATER)) == [LATER, FIRST]


def test_a_time_without_a_place_is_in_utc_and_one_that_is_none_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    later = message(2, "Re: The Otter", "Mon, 3 Mar 2025 10:00:00 -0000", LATER)
    try:
        assert answers(message(1, "The Otter", DATES[0], FIRST), later)[0] == LATER
    finally:
        monkeypatch.undo()
        time.tzset()
    never = message(2, "Re: The Otter", "Mon, 1 Jan 0001 00:00:00 +1400", LATER)
    assert set(answers(message(1, "The Otter", DATES[0], FIRST), never)) >= {FIRST, LATER}


def test_messages_without_a_subject_are_no_thread() -> None:
    assert answers(message(1, "", DATES[0], FIRST), message(2, "Re:", DATES[1], LATER))[0] == FIRST


def test_a_quotation_and_a_message_about_something_else_come_not_first() -> None:
    reply = message(2, "Re: The Otter", DATES[1], f"> {FIRST}", "I like the Otter.")
    assert answers(message(1, "The Otter", DATES[0], FIRST), reply)[0] == FIRST


def test_documents_of_one_title_are_no_thread_without_a_reply() -> None:
    assert answers(message(1, "The Otter", DATES[0], FIRST), message(2, "The Otter", DATES[1], LATER))[0] == FIRST


def minutes(number: int, title: str, day: str, *lines: str) -> str:
    shown = "\n".join(f"[S100{number}.{at}] {line}" for at, line in enumerate(lines))
    return f"## S100{number} {title} <file:///{number}.md> ({day})\n{shown}"


FEE, NEW_FEE = "The fee for a mooring is 20 euros a month.", "From May on members pay a fee of 25 euros for a mooring."


@pytest.mark.parametrize(
    ("title", "later"),
    [
        ("Minutes of the board, 14 January 2025", "Minutes of the board, 8 April 2025"),
        ("Minutes of the board", "Minutes of the board"),
        ("Lease of the mooring", "Amendment 1 to the lease of the mooring"),
    ],
)
def test_later_minutes_and_amendments_come_first(title: str, later: str) -> None:
    shown = minutes(1, title, "2025-01-14", FEE), minutes(2, later, "2025-04-08", "Tea was served.", NEW_FEE)
    for order in (shown, shown[::-1]):
        assert answers(*order, question="How much is the fee for a mooring?")[:2] == [NEW_FEE, FEE]


@pytest.mark.parametrize(
    ("title", "day", "line", "question"),
    [
        ("Minutes of the board", "2024-04-08", NEW_FEE, "How much is the fee for a mooring?"),
        ("Rules of the harbour", "2025-04-08", NEW_FEE, "How much is the fee for a mooring?"),
        ("Minutes of the board", "2025-04-08", "The fee for a mooring is high.", "How much is the fee for a mooring?"),
        ("Minutes of the board", "2025-04-08", NEW_FEE, "Is the fee for a mooring 20 euros a month?"),
    ],
)
def test_other_documents_keep_their_order(title: str, day: str, line: str, question: str) -> None:
    shown = minutes(1, "Minutes of the board", "2025-01-14", FEE), minutes(2, title, day, line)
    assert answers(*shown, question=question)[0] == FEE


@pytest.mark.parametrize(
    ("more", "count"),
    [("Since 1 March 2025 it is 25 euros.", 2), ("Since then it rains.", 1), ("It was paid to 3 masters.", 1)],
)
def test_a_sentence_that_says_since_when_it_is_otherwise_follows(more: str, count: int) -> None:
    shown = minutes(1, "Mooring", "2025-04-08", f"The fee for a mooring was 20 euros a month. {more}")
    found = answers(shown, question="How much is the fee for a mooring?")
    assert found == ["The fee for a mooring was 20 euros a month.", more][:count]
