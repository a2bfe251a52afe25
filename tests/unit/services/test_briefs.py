"""What a caller wants of a report, and the brief it becomes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from assay.core.brief import Brief, Section
from assay.core.errors import UsageError
from assay.services.arguments import MAX_ARGUMENT_BYTES, read_text_argument
from assay.services.briefs import make_brief
from assay.settings import Settings

QUESTION = "How far does the tide rise at Brest?"


def brief_of(question: str = QUESTION, **wanted: object) -> Brief:
    return make_brief(question, Settings(), wanted)  # type: ignore[arg-type]


def test_what_is_not_said_is_taken_from_the_settings() -> None:
    brief = make_brief("Brest?", Settings(length="long", language="fr"), {})
    assert (brief.length, brief.language, brief.template, brief.instructions) == ("long", "fr", (), "")
    brief = make_brief("Brest?", Settings(length=200, language="fr"), {"length": "short", "language": "pt_br"})
    assert (brief.length, brief.language) == ("short", "pt-BR")


def test_the_brief_holds_what_files_say(tmp_path: Path) -> None:
    template, instructions = tmp_path / "t.md", tmp_path / "i.txt"
    template.write_text("## Risks\nWhat may go wrong.\n", encoding="utf-8-sig")
    instructions.write_text("For sailors.\n")
    brief = brief_of(template=template, instructions=instructions, length="300")
    template.write_text("## Other")
    assert brief.template == (Section(level=2, title="Risks", hint="What may go wrong."),)
    assert (brief.instructions, brief.length) == ("For sailors.", 300)
    assert brief_of(template="## Risks", instructions="For sailors.").instructions == "For sailors."
    assert msgspec.json.decode(msgspec.json.encode(brief), type=Brief) == brief


@pytest.mark.parametrize(
    ("question", "language"),
    [
        (QUESTION, "en"),
        ("Was ist eine Springflut und wann kommt sie?", "de"),
        ("Quelle est la hauteur de la marée à Brest ?", "fr"),
        ("ブレストの潮はどのくらい上がるか", "ja"),
        ("PEP 8", ""),
        ("What does “der die und das den von zu mit” say?", "en"),
    ],
)
def test_the_language_is_that_of_the_question(question: str, language: str) -> None:
    assert brief_of(question).language == language


@pytest.mark.parametrize("question", ["", "  \n", "?", "¿?! …"])
def test_a_question_without_a_word_is_refused(question: str) -> None:
    why = "has no words" if question.strip() else "is empty"
    with pytest.raises(UsageError, match=f"the question {why}: write one"):
        brief_of(question)


def test_what_is_no_text_is_no_question() -> None:
    for question, message in ((None, "the question is empty: write one"), (5, "the question cannot be 5: write text")):
        with pytest.raises(UsageError, match=message):
            brief_of(question)  # type: ignore[arg-type]


def test_options_of_every_type_are_taken() -> None:
    brief = brief_of(max_usd=1, max_time=None, model=["a:b"], labels={"a": "b"}, checks_off=("date",), verify=False)
    assert (brief.budget.usd, brief.models["complex"], brief.checks_off) == (1.0, ("a:b",), ("date",))


def test_a_sign_is_a_word() -> None:
    assert brief_of("🚢?").question == "🚢?"


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a length"):
        brief_of(length="endless")
    with pytest.raises(UsageError, match="german is de"):
        brief_of(language="german")
    with pytest.raises(UsageError, match="no headings"):
        brief_of(template="just text")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff\xfe\x00", "not UTF-8 text"),
        (b"## A\x00", "control characters"),
        (b" \n", "is empty"),
        (b"# x\n" * MAX_ARGUMENT_BYTES, "too large: at most 8,000 bytes"),
    ],
)
def test_files_which_hold_no_such_text_are_refused_by_name(data: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "template.md"
    file.write_bytes(data)
    with pytest.raises(UsageError, match=message) as refused:
        brief_of(template=file)
    assert str(file) in str(refused.value)


@pytest.mark.parametrize("name", ["missing.md", ".", "n" * 300, "nul\0.md"])
def test_what_is_no_file_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the file of the instructions"):
        brief_of(instructions=tmp_path / name)


def test_texts_are_measured_too() -> None:
    assert read_text_argument(None, "template") == read_text_argument("", "template") == ""
    with pytest.raises(UsageError, match="the text of the instructions is too large"):
        brief_of(instructions="word " * MAX_ARGUMENT_BYTES)
    with pytest.raises(UsageError, match="not UTF-8 text"):
        brief_of(instructions="lone \ud800 surrogate")


def test_how_far_a_report_is_repaired() -> None:
    settings = Settings(repair=False, repairs_off=("narrow",))
    brief = make_brief("Brest?", settings, {})
    assert (brief.repair, brief.repairs_off) == (False, ("narrow",))
    brief = make_brief("Brest?", settings, {"repair": True, "repairs_off": ()})
    assert (brief.repair, brief.repairs_off) == (True, ())
    assert (brief_of().repair, brief_of().repairs_off) == (True, ())
    with pytest.raises(UsageError, match="polish"):
        brief_of(repairs_off=["polish"])


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("max_usd", "cheap", "max_usd cannot be 'cheap': write a number"),
        ("max_usd", True, "max_usd cannot be True: write a number"),
        ("max_tokens", 2.5, "max_tokens cannot be 2.5: write a whole number"),
        ("fresh", "maybe", "fresh cannot be 'maybe': write True or False"),
        ("language", 5, "language cannot be 5: write text"),
        ("template", 5, "template cannot be 5: write text or a Path"),
        ("domains", "example.org", "domains cannot be 'example.org': write a list of text"),
        ("models", "ollama:x", "models cannot be 'ollama:x': write a mapping"),
        (
            "repairs_off",
            ["polish"],
            "repairs_off cannot be ['polish']: write a list of 'recite', 'narrow', 'retrieve' or 'remove'",
        ),
    ],
)
def test_a_value_of_a_wrong_type_is_told_by_the_name_of_its_option(option: str, value: object, message: str) -> None:
    with pytest.raises(UsageError) as error:
        brief_of(**{option: value})
    assert str(error.value) == message
