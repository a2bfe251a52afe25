"""What code said in the language of a report, in English again."""

import re

import logs
import messages
import pytest
from msgspec.structs import replace

from assay.core import events
from assay.core.brief import Brief
from assay.core.milestones import detail_line, milestone_line, progress_lines
from assay.core.phrases import STOP_REASONS, stop_reason_phrase
from assay.core.translation import gettext, ngettext
from assay.locale import LOCALES, use_locale
from assay.locale.english import EnglishEvents, in_english

TRANSLATED = LOCALES[1:]
PLACES = re.compile(r"\{(\w+)\}")


def filled(text: str) -> str:
    """A message with something in each of its places."""
    return PLACES.sub(lambda place: "7" if place[1] == "count" else f"Zz{place[1]}", text)


@pytest.mark.parametrize("locale", TRANSLATED)
def test_every_message_of_a_catalogue_is_its_english_again(locale: str) -> None:
    stored = [message for message in messages.stored(locale) if message.id and not message.pluralizable]
    english: dict[str, set[str]] = {}
    for message in stored:
        english.setdefault(filled(message.string), set()).add(filled(message.id))
    wrong = {
        text: in_english(text, locale)
        for text, ids in english.items()
        if text.strip() == text and len(text) > 3 and in_english(text, locale) not in ids
    }
    assert len(wrong) <= len(english) // 50, wrong  # where several messages fit, the words may be those of another


@pytest.mark.parametrize("locale", TRANSLATED)
def test_what_is_put_together_is_too(locale: str) -> None:
    with use_locale(locale):
        documents = ngettext("{count} document", "{count} documents", 1234).format(count="1.234")
        label = f"{gettext('the default collection')} ({documents}){gettext(' and the web')}"
        reasons = {stop_reason_phrase(name): name for name in STOP_REASONS}
        warning = gettext("the search was ended: {why}").format(why=stop_reason_phrase("tokens"))
    assert in_english(label, locale) == "the default collection (1,234 documents) and the web"
    assert in_english(warning, locale).endswith(": the token limit was reached")
    for text, name in reasons.items():
        assert in_english(text, locale).casefold() == stop_reason_phrase(name).casefold()


def test_what_is_no_message_stays() -> None:
    for text in ("Der Hafen ist tief.", "papers/ (alt)", "", "wikipedia cannot be reached"):
        assert in_english(text, "de") == text
    assert in_english("wörtlich in S1001.3", "") == in_english("wörtlich in S1001.3", "xx") == "wörtlich in S1001.3"
    assert in_english("wörtlich in S1001.3", "de") == "verbatim in S1001.3"
    assert in_english("papers/ (1 Dokument)", "de") == "papers/ (1 document)"


@pytest.mark.parametrize("locale", TRANSLATED)
def test_texts_that_fit_many_messages_are_read_in_linear_time(locale: str) -> None:
    """Rows of dots as in a table of contents, and signs that stand between the places of messages."""
    for text in ("." * 5_000, "a; b, c: d (e) " * 500, "„a“ von b; c, d: e (f) – 7 " * 300, "1 ." * 1_000 + "x"):
        assert in_english(text, locale)


def test_a_run_is_told_in_english() -> None:
    with use_locale("de"):
        label = f"{gettext('the default collection')}{gettext(' and the web')}"
        failed = stop_reason_phrase("tokens")
        left_out = gettext("a search provider was left out: {why}").format(why="brave")
        disagreement = gettext("Sources disagree: {values}.").format(values="7 m or 8 m")
        question = gettext("Not asked: {question} The usual reading was assumed.").format(question="Which Brest?")
    log = logs.Log()
    brief = Brief(question="Wie tief?", date="2025-01-02", locale="de", models={})
    log.add("", events.RunCreated(brief=replace(brief, scope=replace(brief.scope, label=label))))
    for event in (
        events.Warned(message=left_out),
        events.AgentFailed(lane=2, error=failed),
        events.ToolFailed(call="a", tool="read", reason=failed),
        events.ConflictFound(text=disagreement),
        events.ClarifyAnswered(assumptions=(question,)),
        events.AgentStarted(lane=2, task=left_out),
    ):
        log.add("research", event)
    log.unknown()
    decode = EnglishEvents().decode
    read = [decode(envelope) for envelope in log.events]
    assert [milestone_line(event) or detail_line(event) for event in read[1:-1] if event] == [
        "warning: a search provider was left out: brave",
        "agent 2 failed: the token limit was reached",
        "read failed: the token limit was reached",
        "sources disagree: Sources disagree: 7 m or 8 m.",
        "assuming: Not asked: Which Brest? The usual reading was assumed.",
        f"agent 2 started: {left_out}",  # a model's words
    ]
    assert read[-1] is None
    assert progress_lines(log.events[0], 0, EnglishEvents().decode) == [
        f"run {logs.RUN}: searching the default collection and the web"
    ]
