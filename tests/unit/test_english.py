"""What code said in the language of a report, in English again."""

import re

import messages
import pytest

from assay.core.phrases import STOP_REASONS, stop_reason_phrase
from assay.core.translation import gettext, ngettext
from assay.locale import LOCALES, use_locale
from assay.locale.english import in_english

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
