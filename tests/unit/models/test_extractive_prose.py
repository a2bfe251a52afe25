"""The built-in model over prose, tables and code without headers, and over text which only shares names."""

from __future__ import annotations

import json

import pytest
from extractive_asking import found, shown

from assay.core.messages import Message, Request
from assay.core.phrases import NOTHING
from assay.models.extractive import respond
from assay.models.shown_documents.passages import quotable_sentences
from assay.models.shown_documents.shelf import ShownSources

BURJ = "# Burj Khalifa\n\nThe tower opened on 4 January 2010.\n\nIt was designed by Adrian Smith. It has 163 floors.\n"
DAM = (
    "Die Talsperre Kriebstein liegt in Sachsen. "
    "Die Staumauer der Talsperre Kriebstein wurde zwischen 1927 und 1930 errichtet."
)
PRICES = "# Pricing\n\n| Plan | Price |\n|---|---|\n| Free | $0 |\n| Team | $20 |\n| Pro | $50 |\n"
ZEN = (
    "PEP: 20\nTitle: The Zen of Python\nAuthor: Tim Peters\nStatus: Active\nCreated: 19-Aug-2004\n\nTwenty aphorisms.\n"
)
MEETING = (
    "Anna van Berg attended the meeting. Present were Anna van Berg, Bert Lund, Carl Moe, Dora Nyman and Ed Orr.\n\n"
    "| Name | Votes |\n|---|---|\n| Bert Lund | 239 |\n| Anna van Berg | 5 |\n\n"
    "Anna van Berg supports 3 proposals about loops."
)


@pytest.mark.parametrize(
    ("question", "title", "text", "expected"),
    [
        ("How much does the zorb weigh?", "zorb", "The zorb weighs 5 kg.", "The zorb weighs 5 kg."),
        ("When was the Burj Khalifa opened?", "Burj Khalifa", BURJ, "opened on 4 January 2010"),
        ("When did the Burj Khalifa open?", "Burj Khalifa", BURJ, "opened on 4 January 2010"),
        ("Who designed the Burj Khalifa?", "Burj Khalifa", BURJ, "designed by Adrian Smith"),
        ("How many floors does the Burj Khalifa have?", "Burj Khalifa", BURJ, "163 floors"),
        ("東京タワーはいつ完成しましたか", "東京タワー", "東京タワーは1958年12月に完成した。", "1958年"),
        ("متى افتتح برج خليفة؟", "برج خليفة", "برج خليفة في دبي. افتتح البرج في 4 يناير 2010.", "2010"),
        ("Wann wurde die Talsperre Kriebstein errichtet?", "Talsperre Kriebstein", DAM, "1927 und 1930"),
        ("How long does charging take?", "Manual", "# Battery\n\nCharging takes three hours.", "three hours"),
        ("青藏铁路全长多少公里？", "青藏铁路", "青藏铁路全长1956公里。它连接西宁和拉萨。", "1956"),
        ("कोणार्क मन्दिर कब बना?", "कोणार्क", "कोणार्क मन्दिर ओडिशा में है। मन्दिर तेरहवीं शताब्दी में बना।", "तेरहवीं"),
        ("गङ्गा कितनी लम्बी है?", "गङ्गा", "गङ्गा नदी 2525 किलोमीटर लम्बी है। यह समुद्र में गिरती है।", "2525"),
        (
            "Wie hoch ist der Turm von Brest?",
            "Brest",
            "Der Turm von Brest wurde 1848 gebaut. Er ist 26 Meter hoch.",
            "26 Meter hoch",
        ),
        ("珠穆朗玛峰高多少米？", "珠穆朗玛峰", "珠穆朗玛峰海拔8848米。", "8848"),
        (
            "What is the budget of project Zebra?",
            "Notes",
            "Project Zebra launched in May. The budget was $4.5 million.",
            "The budget was $4.5 million.",
        ),
        ("What does the Team plan cost?", "Pricing", PRICES, "Plan: Team | Price: $20"),
        ("Is PEP 20 superseded?", "The Zen of Python", ZEN, "Status of PEP 20 (The Zen of Python): Active"),
        ("Is PEP 20 active?", "The Zen of Python", ZEN, "Status of PEP 20 (The Zen of Python): Active"),
    ],
)
def test_what_stands_there_is_found(question: str, title: str, text: str, expected: str) -> None:
    assert expected in found(question, title, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("富士山の人口は何人ですか？", "富士山は日本で最も高い山である。標高は3776メートルである。"),
        ("How old is Anna van Berg?", MEETING),
        ("How old is Anna van Berg?", "Anna van Berg lives in Oslo. She came with 30 others."),
        ("How long is the bridge of Ulm?", "The bridge of Ulm was built by 30 men."),
        ("Which painter designed the harbor of Oslo?", MEETING),
        ("How long does the ferry to Borkum take?", "# Battery\n\nCharging takes three hours."),
    ],
)
def test_a_shared_word_is_no_answer(question: str, text: str) -> None:
    assert found(question, "Notes", text) == NOTHING


def test_lines_with_a_key_each_say_one_thing() -> None:
    text = "Ruritania.\n\nGeography - Area: 1,234 sq km\nGeography - Coast: 56 km\nPeople - Language: Ruritanian\n"
    assert found("Which language do the people of Ruritania speak?", "Ruritania", text).startswith(
        "People - Language: Ruritanian ["
    )
    assert found("How long is the coast of Ruritania?", "Ruritania", text).startswith("Geography - Coast: 56 km [")


def test_rows_of_a_table_but_not_its_heads_nor_other_rows_answer() -> None:
    assert found("What does the Team plan cost?", "Pricing", PRICES).count("|") == 1


def test_a_verb_with_its_object_comes_first() -> None:
    pep = (
        "PEP: 703\nTitle: Optional Lock\nStatus: Final\n\n"
        "A call of list.remove takes the lock of the list.\n\nThis proposal lets a build remove the GIL from Python.\n"
    )
    answer = found("Does PEP 703 remove the GIL?", "Optional Lock", pep)
    assert "remove the GIL" in answer.splitlines()[0]


def test_the_sentence_before_one_that_points_back_is_quoted_with_it() -> None:
    text = "The sixth field is called pass. This field decides the order of the checks. Other fields do not matter."
    answer = found("Which field decides the order of the checks?", "Notes", text)
    assert answer.splitlines()[0].startswith("The sixth field is called pass.")
    apart = text.replace(". This", ".\n\nThis")
    assert found("Which field decides the order of the checks?", "Notes", apart).startswith("This field decides")


def _shown(text: str) -> str:
    passages = "\n".join(f"[S1.{at}] {each}" for at, each in enumerate(text.strip().split("\n\n")))
    return f"## S1 Notes <https://notes.example>\n{passages}"


def test_a_question_of_a_document_is_the_heading_of_what_answers_it() -> None:
    text = (
        "Why do you not use Holmconf?\n\nWe want to keep the package small.\n\nIt is portable.\n\nA third line.\n\n"
        "Where is the manual?\n\nSee the file with the long name.\n"
    )
    (book,) = ShownSources([_shown(text)]).books
    assert [each.heading for each in book.sentences] == [
        "",
        "Why do you not use Holmconf?",
        "Why do you not use Holmconf?",
        "",
        "",
        "Where is the manual?",
    ]
    assert "keep the package small" in found("Why do you not use Holmconf?", "Notes", text).splitlines()[0]


def test_a_glossary_at_the_top_of_a_document_defines_its_terms() -> None:
    text = "ballast: heavy stuff that keeps a ship upright\n\nkeel: the lowest beam\n\nBallast was taken in Hull.\n"
    assert found("What is ballast?", "Terms", text).startswith("ballast: heavy stuff that keeps a ship upright [")
    assert found("Where was ballast taken?", "Terms", text).startswith("Ballast was taken in Hull. [")


MIXED = (
    "Der Turm von Brest ist alt. Er wurde 1848 gebaut. Der Turm hat eine Treppe. Die Treppe ist aus Stein. Im Turm ist "
    "ein Museum. Das Museum ist montags zu.\n\nYou install Marvin with the command setup. On a Saturday it is open. "
    "How do they keep it on a hill? I do not know how it was built.\n"
)


def test_a_question_is_read_in_the_language_of_the_sentences_with_its_words() -> None:
    assert "the command setup" in found("How do I install Marvin?", "Notes", MIXED)
    assert found("How do I install Marvin on a Raspberry Pi?", "Notes", MIXED) == NOTHING


def steps(question: str) -> list[str]:
    messages = (
        Message(role="user", name="question", text=question),
        Message(role="user", name="rules", text='{"min_steps":3,"max_steps":6}'),
    )
    text, _ = respond(Request(task="plan", system="", messages=messages))
    return [step["title"] for step in json.loads(text)["steps"]]


def test_plans_have_no_fragments() -> None:
    assert len(steps("What does Assay keep when a run crashes?")) == 1
    assert steps("Who wrote PEP 8 and which PEPs introduced type hints?") == [
        "Who wrote PEP 8",
        "which PEPs introduced type hints?",
    ]


def test_a_command_is_no_sentence_and_one_told_of_in_prose_is() -> None:
    commands = "assay runs prune --older-than 30d --dry-run\nassay runs prune --keep 100 and some more of it"
    assert quotable_sentences("S1.1", commands) == ()
    text = "Runs are kept unless `--older-than 30d` or `--keep 100` says otherwise."
    assert [sentence.text for sentence in quotable_sentences("S1.2", text)] == [text]


@pytest.mark.parametrize(
    "code",
    [
        ">>> parser.add_argument('bar', nargs='?', type=int, default=42)\n>>> parser.print_help()\nusage: prog [bar]",
        "$ make install\nThe files have been copied to the folder. Run the tests now.",
        "async def update(value: str) -> None:\n    # What the caller does with it.",
        "@recursive_repr(fillvalue='...')",
        "def query(\n    on_error: Callable[[int, Exception], None]) -> None:",
    ],
)
def test_code_is_no_prose(code: str) -> None:
    assert quotable_sentences("S1.1", code) == ()


def test_a_passage_cut_from_a_longer_sentence_does_not_begin_with_its_comma() -> None:
    text = ", a building which is to become a school, and the Regenstein Library, the largest building on campus."
    assert [sentence.text for sentence in quotable_sentences("S1.3", text)] == [text.removeprefix(", ")]


CONTRACT = (
    "2. Term and termination\n2.1 Duration\nThis agreement begins on 1 April 2023 and runs for three years.\n"
    "2.2 Notice\n"
    "Either party may terminate this agreement with six months' notice to the end of a quarter.\n\n"
    "4. Liability\nThe Contractor's liability is limited to GBP 250,000 for each event.\n"
)


def test_a_numbered_title_is_above_its_sentences_and_no_part_of_them() -> None:
    said = found("What is the limit of liability?", "Agreement", CONTRACT, "plain")
    assert said.startswith("The Contractor's liability is limited to GBP 250,000 for each event. [")
    assert found("How long does the agreement run?", "Agreement", CONTRACT, "plain").startswith(
        "This agreement begins "
    )
    (book,) = ShownSources([shown("Agreement", CONTRACT, "plain")]).books
    assert [each.heading for each in book.sentences][:2] == [
        "Term and termination Duration",
        "Term and termination Notice",
    ]


FAQ = (
    "Q:  What do the letters XZ mean?\n\nA:  Nothing. They are just two letters of the suffix.\n\n"
    "Q:  Do the tools read .7z files?\n\nA:  No. Use another program to handle these files.\n"
)


def test_questions_of_a_document_may_be_marked_by_a_letter() -> None:
    (book,) = ShownSources([_shown(FAQ)]).books
    assert book.fields == ()
    said = found("What do the letters XZ mean?", "Tools", FAQ, "plain")
    assert said.startswith("A: Nothing. They are just two letters of the suffix. [")
    assert found("Can the tools read .7z files?", "Tools", FAQ, "plain").startswith("A: No. Use another program ")


PATIENTS = (
    "How do I cancel an appointment?\n\nCall us until 24 hours before. Later cancellations cost 35 pounds.\n\n"
    "How long does an implant take?\n\nFrom the first visit to the crown it takes four months.\n"
)


def test_a_price_of_something_else_is_no_answer() -> None:
    assert found("What does a crown cost?", "Questions", PATIENTS) == NOTHING
    assert "35 pounds" in found("What does a late cancellation cost?", "Questions", PATIENTS)


def test_who_is_to_pay_is_no_price() -> None:
    drain = "Frain asked the council to widen the drain. It agreed, but the park has to pay a third of the costs."
    assert found("What does it cost to widen the drain?", "Notes", drain) == NOTHING
    drain += " To widen it costs 900 pounds."
    assert "900 pounds" in found("What does it cost to widen the drain?", "Notes", drain)


def test_a_title_that_is_the_name_of_a_thing_does_not_bar_other_documents() -> None:
    tools = "## S1 Widget <file:///widget>\n[S1.0] Widget packs folders of any size. It was written in Hull."
    other = "## S2 Questions <file:///faq>\n[S2.0] Does Widget read tapes?\n[S2.1] Widget reads tapes of two makers."
    messages = (
        Message(role="user", name="brief", text=json.dumps({"question": "Which tapes does Widget read?"})),
        Message(role="user", name="task", text="Which tapes does Widget read?"),
        Message(role="tool", text=f"{tools}\n{other}"),
    )
    said = respond(Request(task="find", system="", messages=messages))[0]
    assert said.startswith("Widget reads tapes of two makers. [S2.1]")


def test_a_number_at_the_end_of_a_sentence_begins_no_item() -> None:
    text = (
        "Years with two zeros are leap years only if they are divisible by\n400. So the year 1900 was none, they say."
    )
    (sentence,) = quotable_sentences("S1.1", text)
    assert "divisible by 400." in sentence.text
    counted = "3. The pump is switched on.\n4. The valve is opened by hand."
    assert len(quotable_sentences("S1.1", counted)) == 2


def test_a_link_is_a_title_and_says_nothing() -> None:
    link = "[Lee, Ann (2004). The pumps of the north are all old. Harbour Press.](https://example.org/pumps)"
    assert quotable_sentences("S1.1", link) == ()
