"""Calendars, rich text, subtitles and chats: what a reader of them sees, not how they are written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.sources import Extracted
from assay.evidence.segment import segment
from assay.fetch.calendars import read_calendar
from assay.fetch.rich_text import read_rich_text
from assay.fetch.subtitles import read_subtitles
from assay.fetch.text import TextExtractor


def read(text: str, name: str) -> Extracted:
    (found,) = TextExtractor().extract(text.encode(), name)
    return found


def test_an_event_has_its_name_its_times_and_its_description() -> None:
    text = """BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
SUMMARY:Council meeting\\, annual
DTSTART;TZID=Europe/Paris:20250520T090000
DTEND:20250520T080000Z
ORGANIZER;CN="Ann Lee":mailto:ann@b.example
DESCRIPTION:The first item is the bud
 get.\\nThe second are roads.
BEGIN:VALARM
DESCRIPTION:Alarm
END:VALARM
END:VEVENT
BEGIN:VEVENT
SUMMARY:Regatta
DTSTART;VALUE=DATE:20250601
END:VEVENT
END:VCALENDAR
""".replace("\n", "\r\n")
    found = read(text, "harbour.ics")
    assert (found.title, found.syntax) == ("harbour.ics", "markdown")
    assert found.text.split("\n\n") == [
        "# Council meeting, annual",
        "Start: 2025-05-20 09:00 Europe/Paris",
        "End: 2025-05-20 08:00 UTC",
        "Organizer: Ann Lee <ann@b.example>",
        "The first item is the budget.",
        "The second are roads.",
        "# Regatta",
        "Start: 2025-06-01\n",
    ]


def test_a_calendar_without_events_stays_as_it_is() -> None:
    assert read("BEGIN:VCALENDAR\nEND:VCALENDAR\n", "a.ics").text == "BEGIN:VCALENDAR\nEND:VCALENDAR\n"


def test_rich_text_is_its_paragraphs_and_rows() -> None:
    text = (
        r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}}{\*\generator Writer;}{\info{\title Hidden}}"
        r"{\b Notice}\par The office is {\v not }closed on {\i 3 May}.\par Gr\'fc\'dfe \u8364? 20\{a\}\par"
        r"\trowd Port\cell Depth\cell\row\pard{\pict 0102}End\line here}"
    )
    assert read(text, "a.rtf").text.split("\n\n") == [
        "Notice",
        "The office is closed on 3 May.",
        "Grüße € 20{a}",
        "Port | Depth",
        "End here\n",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\ansicpg932 \'93\'fa\'96\'7b", "日本"),
        (r"\ansicpg932\uc2 \u26085\'93\'fa\'96\'7b", "日本"),
        (r"\u-10179?\u-8704?", "😀"),
        (r"{\u8211}x", "–x"),
        (r"\uc-3\u8211 all of it", "–all of it"),
        (r"It is {\v not\v0 open}{\v now}.", "It is open."),
        (r"{\stylesheet\v0 Heading}Text", "Text"),
        (r"{\pict\bin4 }}{\}Text{\pict\bin-2 x}", "Text"),
    ],
)
def test_characters_of_rich_text(text: str, shown: str) -> None:
    assert read_rich_text(f"{{\\rtf1{text}}}") == f"{shown}\n"


@pytest.mark.parametrize(
    ("end", "shown"), [("20250603", "2025-06-02"), ("20250601", "2025-06-01"), ("00010101", "0001-01-01")]
)
def test_an_event_of_whole_days_ends_with_its_last(end: str, shown: str) -> None:
    event = f"BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20250601\nDTEND;VALUE=DATE:{end}\nEND:VEVENT\n"
    assert read_calendar(event) == f"# Event\n\nStart: 2025-06-01\n\nEnd: {shown}\n"


SUBTITLES = """1
00:00:01,000 --> 00:00:04,200
INTERVIEWER: How did you come
to build <i>organs</i>?

2
00:00:04,400 --> 00:00:09,000
VOSS: My uncle ran a workshop,

3
00:00:09,300 --> 00:00:14,000
and I began there in 1987.

4
00:00:15,000 --> 00:00:16,000

"""


def test_sentences_of_subtitles_stand_behind_their_times() -> None:
    lines = [
        "[00:00:01] INTERVIEWER: How did you come to build organs?",
        "[00:00:04] VOSS: My uncle ran a workshop, and I",
    ]
    found = read(SUBTITLES, "talk.srt")
    assert found.text == f"{lines[0]}\n{lines[1]} began there in 1987.\n"
    assert found.title == "talk.srt"
    assert [span.text for span in segment(found.text, found.syntax)] == found.text.splitlines()
    web = "WEBVTT\n\nNOTE x\n\nintro\n00:01.000 --> 00:04.200 align:start\n<v Ann Lee>Good <b>day</b>.</v>\n"
    assert read(web, "talk.vtt").text == "[00:01] Ann Lee: Good day.\n"
    times = ("00:01.000 --> 00:02.000", "00:02.000 --> 00:03.000", "00:03.000 --> 00:04.000")
    cues = zip(times, ("Ann Lee>I take lime,", "Ann Lee>mixed with hair,", "Ben Ode>or tiles."), strict=True)
    web = "WEBVTT\n\n" + "\n\n".join(f"{time}\n<v {said}" for time, said in cues)
    assert read(web, "talk.vtt").text == "[00:01] Ann Lee: I take lime, mixed with hair,\n[00:03] Ben Ode: or tiles.\n"
    assert read("WEBVTT\n\nNothing is said.\n", "talk.vtt").text == "WEBVTT\n\nNothing is said.\n"


def test_a_contact_has_its_name_and_how_to_reach_it() -> None:
    card = """BEGIN:VCARD
VERSION:3.0
N:Olsen;Greta;;;
FN:Greta Olsen
ORG:Olsen Marine;Repairs
item1.TEL;TYPE=WORK:+47 22 55 01 77
ADR;TYPE=WORK:;;Havnegata 3;Bergen;;5003;Norway
NOTE:Prefers calls\\nbefore noon
PHOTO;ENCODING=b:aGk=
END:VCARD
"""
    assert read(card + card.replace("Greta Olsen", "Iver Dahl"), "staff.vcf").text.split("\n\n")[:6] == [
        "# Greta Olsen",
        "Organization: Olsen Marine, Repairs",
        "Phone: +47 22 55 01 77",
        "Address: Havnegata 3, Bergen, 5003, Norway",
        "Prefers calls",
        "before noon",
    ]


def test_a_notebook_has_its_texts_its_code_and_what_that_printed() -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]},
        {"output_type": "execute_result", "data": {"text/plain": "31.4", "image/png": "aGk="}},
        {"output_type": "display_data", "data": {"image/png": "aGk="}},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# Yield\n", "The mean was 31.4 kg."]},
        {"cell_type": "code", "source": "print(```)", "outputs": outputs},
        {"cell_type": "raw", "source": "left out"},
    ]
    found = read(json.dumps({"cells": cells, "nbformat": 4}), "yield.ipynb")
    assert found.text == (
        "# Yield\nThe mean was 31.4 kg.\n\n````\nprint(```)\n````\n\n```\na\nb\n```\n\n```\n31.4\n```\n"
    )
    assert (found.syntax, found.title) == ("markdown", "yield.ipynb")


def test_code_of_nothing_but_ticks_is_fenced() -> None:
    ticks = "`" * 300_000
    found = read(json.dumps({"cells": [{"cell_type": "code", "source": ticks}]}), "a.ipynb")
    assert found.text == f"{ticks}`\n{ticks}\n{ticks}`\n"


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"cells": 1}', '{"cells": []}', '{"cells": [{"cell_type": "raw"}]}', "x"]
)
def test_what_is_no_notebook_stays_as_it_is(text: str) -> None:
    assert read(text, "a.ipynb").text == text


def test_each_message_of_a_chat_is_a_passage() -> None:
    lines = [
        "[12.02.25, 09:14] Nora: The pump stopped",
        "[12.02.25, 09:16] Emil: Why?",
        "again",
        "[12.02.25, 09:21] Nora: Ice",
    ]
    texts = [span.text for span in segment("\n".join(lines), "plain")]
    assert texts == [lines[0], "\n".join(lines[1:3]), lines[3]]
    prose = "In 2024 it rose.\n12:30 was the time\n13:30 was another"
    assert len(segment(prose, "plain")) == 1


@given(st.text("0123:,. -><v\n", max_size=80))
def test_any_subtitles_are_read(text: str) -> None:
    assert isinstance(read_subtitles(f"WEBVTT\n{text}"), str)


@given(st.text("{}\\'af0u8 \n*parv", max_size=60))
def test_any_rich_text_is_read(text: str) -> None:
    assert read_rich_text("{\\rtf1" + text).endswith("\n")


@given(st.text('BEGIN:VTED\n;="\\,0', max_size=80))
def test_any_calendar_is_read(text: str) -> None:
    assert isinstance(read_calendar(f"BEGIN:VCALENDAR\n{text}"), str)
