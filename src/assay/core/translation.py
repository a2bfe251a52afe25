"""The language of code's own sentences in a report: gettext's functions over the current catalogue.

A catalogue is current for a run or an export and for what they start (a context variable: parallel runs do not see each
other's). `assay.locale` loads catalogues. Without one the messages are English.

Code records each sentence that it adds to a report with `record_statement`. So a sentence is known as code's own
because it was recorded, in whatever language, and not because it looks like one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from gettext import NullTranslations
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from assay.core.lazy import lazy_module, regex
from assay.core.text import sentences

if TYPE_CHECKING:
    from babel import dates, numbers
else:
    dates, numbers = lazy_module("babel.dates"), lazy_module("babel.numbers")

ENGLISH = "en"
RIGHT_TO_LEFT = frozenset(("ar", "fa", "he", "ur", "ps", "sd", "ug", "yi", "ckb", "dv"))
"""The languages whose script runs from right to left (CLDR, `characterOrder`)."""
_MARKUP = regex(r"[*_`#]+")


Statement = Literal["notice", "date", "missing"]
"""A statement of code in a report: a notice, the date of the answer, the heading of what could not be found."""


class Phrases:
    """A catalogue. `statements` has the sentences and headings that code stated, in plain words, by kind."""

    def __init__(
        self,
        locale: str = ENGLISH,
        catalogue: NullTranslations | None = None,
        statements: Mapping[str, Statement] = MappingProxyType({}),
    ) -> None:
        self.locale = locale
        self.catalogue = catalogue or NullTranslations()
        self.statements = dict(statements)


_SPEECH: ContextVar[Phrases] = ContextVar("speech")
_SILENT = Phrases()


def current_phrases() -> Phrases:
    """The current catalogue; English if there is none."""
    return _SPEECH.get(_SILENT)


@contextmanager
def use_phrases(phrases: Phrases) -> Iterator[Phrases]:
    """Use a catalogue in the block, and in every task that begins in it."""
    token = _SPEECH.set(phrases)
    try:
        yield phrases
    finally:
        _SPEECH.reset(token)


def gettext(message: str) -> str:
    """A message in the current language."""
    return current_phrases().catalogue.gettext(message)


def ngettext(singular: str, plural: str, count: int) -> str:
    """A message with a number, in the plural form that the current language has for it."""
    return current_phrases().catalogue.ngettext(singular, plural, count)


def N_(message: str) -> str:  # noqa: N802 - gettext's own name, which extraction looks for
    """Mark a message that is translated where it is used."""
    return message


# code's own sentences


def record_statement(text: str, kind: Statement = "notice") -> str:
    """Return `text`, recorded as code's own, so that it needs no source."""
    phrases = current_phrases()
    if phrases is not _SILENT:
        phrases.statements |= {
            plain: kind
            for part in (text, *(text[start:end] for start, end in sentences(text)))
            if (plain := _plain_text(part))
        }
    return text


def statement_kind(text: str) -> Statement | None:
    """The kind of statement that a sentence or heading by code is, None if it is not by code."""
    return current_phrases().statements.get(_plain_text(text)) if current_phrases().statements else None


def statements_in(text: str) -> dict[str, Statement]:
    """Code's own sentences and headings that occur in `text`."""
    lines = [_plain_text(line) for line in text.splitlines()]
    return {
        phrase: kind
        for phrase, kind in sorted(current_phrases().statements.items())
        if any(phrase in line for line in lines)
    }


def _plain_text(text: str) -> str:
    return " ".join(_MARKUP.sub(" ", text).split())


# figures, dates, lists


def format_number(value: int) -> str:
    """A whole number with its groups of digits."""
    phrases = current_phrases()
    return f"{value:,}" if phrases.locale == ENGLISH else numbers.format_decimal(value, locale=_babel_locale(phrases))


def format_day(iso: str) -> str:
    """A day in words (`2 January 2025`); anything but an ISO date unchanged."""
    try:
        day = date.fromisoformat(iso[:10])
    except ValueError:
        return iso
    phrases = current_phrases()
    if phrases.locale == ENGLISH:
        return f"{day.day} {day:%B %Y}"
    return dates.format_date(day, "long", locale=_babel_locale(phrases))


def format_report_date(iso: str) -> str:
    """A date in a sentence of the report: ISO in English, in words in other languages."""
    return iso if current_phrases().locale == ENGLISH else format_day(iso)


def _babel_locale(phrases: Phrases) -> str:
    return phrases.locale.replace("-", "_")


def count_phrase(singular: str, plural: str) -> Callable[[int], str]:
    """Says a number of things in the current language, by a message with its plural, which extraction looks for."""
    return lambda count: ngettext(singular, plural, count).format(count=format_number(count))


def join_list(parts: Iterable[str]) -> str:
    """`A, B, C`, with the comma of the current language."""
    return gettext(", ").join(parts)


def join_some(parts: Iterable[str], limit: int) -> str:
    """`A, B and 3 more`: at most `limit` of the parts, and how many are left out."""
    all_parts = list(parts)
    text = join_list(all_parts[:limit])
    if len(all_parts) <= limit:
        return text
    return ngettext("{parts} and {count} more", "{parts} and {count} more", len(all_parts) - limit).format(
        parts=text, count=format_number(len(all_parts) - limit)
    )


def label_text(label: str, text: str) -> str:
    """`Label: text`, with the colon of the current language."""
    return gettext("{label}: {text}").format(label=label, text=text)


def colon_text() -> str:
    """The text between a label and its content."""
    return label_text("", "")


def quote_text(text: str) -> str:
    """`text` in the quotation marks of the current language."""
    return gettext("“{text}”").format(text=text)


def is_right_to_left(language: str) -> bool:
    """True if a language (BCP 47) is written from right to left."""
    return language.partition("-")[0] in RIGHT_TO_LEFT
