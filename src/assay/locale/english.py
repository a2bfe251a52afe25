"""Translates back into English what code said in the language of a report.

Commands and all progress are in English; a report, and what the log has for it, is in its own language. Who shows a
warning or a reason from a log asks here for the English.
"""

from __future__ import annotations

import io
import re
from functools import cache, lru_cache

import msgspec
from msgspec.structs import replace

from assay.core import events
from assay.core.events import Envelope, Event
from assay.core.lazy import lazy_module, regex
from assay.core.translation import ENGLISH
from assay.locale import LOCALES, read_compiled

mofile = lazy_module("babel.messages.mofile")

MAX_DEPTH = 8
"""How deep texts within texts are translated: a reason in a notice in a warning."""
_PLACE = regex(r"\{(\w+)\}")


class _Message(msgspec.Struct, frozen=True):
    """A translated message with places for other texts, and its English: for one thing, and for several."""

    pattern: re.Pattern[str]
    singular: str
    plural: str


def in_english(text: str, locale: str) -> str:
    """A text by code in a locale, in English; what is in no message of its catalogue stays as it is."""
    return text if locale in ("", ENGLISH) or locale not in LOCALES else _translate(text, locale)


_SAID_BY_CODE: dict[type[Event], str] = {
    events.AgentFailed: "error",
    events.ClarifyAnswered: "assumptions",
    events.ConflictFound: "text",
    events.ToolFailed: "reason",
    events.Warned: "message",
}
"""The fields of events in which code speaks the language of the report."""


class EnglishEvents:
    """Reads the events of a run, one after another, with what code said in the language of the report in English."""

    def __init__(self) -> None:
        self._locale = ""

    def decode(self, envelope: Envelope) -> Event | None:
        """The event, None if it is of an unknown kind; the first says the language of all."""
        event = events.decode(envelope)
        if isinstance(event, events.RunCreated):
            self._locale = event.brief.locale
            scope = replace(event.brief.scope, label=self._say(event.brief.scope.label))
            return replace(event, brief=replace(event.brief, scope=scope))
        if event is None or not (name := _SAID_BY_CODE.get(type(event))):
            return event
        said = getattr(event, name)
        english = self._say(said) if isinstance(said, str) else tuple(map(self._say, said))
        return replace(event, **{name: english})

    def _say(self, text: str) -> str:
        return in_english(text, self._locale)


@lru_cache(maxsize=4096)  # a live view asks for the same texts again and again
def _translate(text: str, locale: str, depth: int = MAX_DEPTH) -> str:
    for message in _messages(locale) if depth else ():
        if match := message.pattern.fullmatch(text):
            parts = {name: _translate_part(name, part, locale, depth - 1) for name, part in match.groupdict().items()}
            return (message.singular if parts.get("count") == "1" else message.plural).format(**parts)
    return text


def _translate_part(name: str, text: str, locale: str, depth: int) -> str:
    if name == "count" and (digits := "".join(filter(str.isdecimal, text))):
        return f"{int(digits):,}"
    return _translate(text, locale, depth)


@cache
def _messages(locale: str) -> tuple[_Message, ...]:
    """The messages of a locale, those with the most words of their own first."""
    found: dict[str, _Message] = {}
    for entry in mofile.read_mo(io.BytesIO(read_compiled(locale))):
        ids = (entry.id,) if isinstance(entry.id, str) else tuple(entry.id)
        for string in (entry.string,) if isinstance(entry.string, str) else entry.string:
            if not ids[0] or not _PLACE.sub("", string).strip():
                continue
            for ours, english in _variants(string, ids):
                names = set(_PLACE.findall(ours))
                if names >= set(_PLACE.findall(english[-1])):
                    found.setdefault(ours, _Message(_pattern(ours), english[0], english[-1]))
    by_words = sorted(found, key=lambda ours: -len(_PLACE.sub("", ours)))
    return tuple(found[ours] for ours in by_words)


def _variants(string: str, ids: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """A message as it may stand in a text: as an end (one that begins with a space), or as a part of a sentence."""
    if ids[0].startswith(" "):
        return [("{before}" + string, tuple("{before}" + id for id in ids))]
    inner = string.rstrip(".。।")
    if inner == string or "{" in string:
        return [(string, ids)]
    return [(string, ids), (inner[:1].lower() + inner[1:], tuple(id[:1].lower() + id[1:].rstrip(".") for id in ids))]


def _pattern(message: str) -> re.Pattern[str]:
    """The pattern of a message; as a rule, the text for a place ends where what follows it in the message first stands.

    So a long text is not tried in all its divisions. A number, or a text that is repeated, may stand further on.
    """
    beginning, *rest = _PLACE.split(message)
    names, ends = rest[::2], rest[1::2]
    parts = [re.escape(beginning)]
    for index, (name, end) in enumerate(zip(names, ends, strict=True)):
        words = r"\d[\d\W]*?" if name == "count" else ".+?"
        part = f"(?P={name})" if name in names[:index] else f"(?P<{name}>{words})"
        further = names[index + 1 :][:1]
        is_first = further and further[0] != "count" and further[0] not in names[: index + 1]
        parts.append(f"(?>{part}{re.escape(end)})" if is_first else part + re.escape(end))
    return re.compile("".join(parts), re.DOTALL)
