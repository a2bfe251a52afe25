"""Words for the values that templates show (states, counts, sums, times), in the language of the page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Protocol

from markupsafe import Markup, escape
from starlette.requests import Request

from assay.core.lazy import lazy_module, regex
from assay.core.translation import ENGLISH, N_, current_phrases, format_number, gettext, ngettext
from assay.locale import LOCALES

# The language of the page: the user's choice, else the first one available that the browser asks for.

LANGUAGE = "assay-language"
"""The cookie with the user's choice of language; without it, the browser decides."""
NAMES = {
    "en": "English",
    "ar": "العربية",
    "de": "Deutsch",
    "es": "Español",
    "fr": "Français",
    "hi": "हिन्दी",
    "it": "Italiano",
    "ja": "日本語",
    "ko": "한국어",
    "nl": "Nederlands",
    "pl": "Polski",
    "pt": "Português",
    "ru": "Русский",
    "tr": "Türkçe",
    "uk": "Українська",
    "zh": "中文",
}
"""Each language by its own name."""


def language_of(request: Request) -> str:
    """The language of the response to a request."""
    language = chosen_language(request)
    return language or next(_browser_languages(request.headers.get("accept-language", "")), ENGLISH)


def chosen_language(request: Request) -> str:
    """The language that the user chose, "" if it is the browser's."""
    language = request.cookies.get(LANGUAGE, "")
    return language if language in LOCALES else ""


def _browser_languages(header: str) -> Iterator[str]:
    """The available languages that a browser accepts, preferred ones first."""
    weighted: list[tuple[float, str]] = []
    for part in header[:500].split(","):
        name, _, quality = part.partition(";")
        language = name.strip().partition("-")[0].lower()
        if language in LOCALES:
            weighted.append((_weight(quality), language))
    yield from (language for weight, language in sorted(weighted, key=lambda each: -each[0]) if weight > 0)


def _weight(quality: str) -> float:
    """`q=0.8` as a number; 1 if it is missing."""
    try:
        return float(quality.strip().removeprefix("q=") or 1)
    except ValueError:
        return 0.0


numbers, dates = lazy_module("babel.numbers"), lazy_module("babel.dates")

_STATES = {
    "created": N_("queued"),
    "queued": N_("queued"),
    "running": N_("running"),
    "waiting": N_("waiting"),
    "paused": N_("paused"),
    "completed": N_("completed"),
    "failed": N_("failed"),
    "cancelled": N_("cancelled"),
    "exhausted": N_("ended at a limit"),
    "planned": N_("to come"),
    "finished": N_("finished"),
    "stopped": N_("stopped"),
    "reading": N_("being read"),
    "done": N_("done"),
}
_ROLES = {"reader": N_("reader"), "member": N_("member"), "admin": N_("admin")}
_MEASURES = {
    "usd": N_("money"),
    "tokens": N_("tokens"),
    "seconds": N_("time"),
    "searches": N_("searches"),
    "pages": N_("pages"),
    "agents": N_("agents"),
}
_EVERY = {
    "w": (N_("every week"), N_("every {count} weeks")),
    "d": (N_("every day"), N_("every {count} days")),
    "h": (N_("every hour"), N_("every {count} hours")),
    "m": (N_("every minute"), N_("every {count} minutes")),
}


class HasRunStatus(Protocol):
    """A run in a list."""

    @property
    def status(self) -> str: ...
    @property
    def queued(self) -> object: ...
    @property
    def executed(self) -> object: ...


def translate(message: str, **values: object) -> Markup:
    """A message with values in their places, each escaped."""
    return escape(gettext(message)).format(**values)


_KINDS = regex(r" \(readable: [^)]*\)")


def without_kinds(message: str) -> str:
    """A message about a file that cannot be read, without the names of the hundred kinds that can."""
    return _KINDS.sub("", message)


def sentence(message: str) -> str:
    """A message, begun as a sentence is: `no run has …` → `No run has …`. A name at its beginning stays as it is."""
    text = without_kinds(gettext(message) if message else "")
    return text[:1].upper() + text[1:] if text.partition(" ")[0].rstrip(",:;").isalpha() else text


def format_count(count: int, singular: str, plural: str) -> str:
    """`1 source`, `2,000 sources`."""
    return ngettext(singular, plural, count).format(count=format_number(count))


def status_word(status: str) -> str:
    """The state of a run, an agent or an addition, in a word."""
    return gettext(_STATES.get(status, status))


def run_status(run: HasRunStatus) -> str:
    """The state of a run in a list; one that nobody executes yet is queued."""
    waits = run.queued and run.status in ("created", "running") and not run.executed
    return status_word("queued" if waits else run.status)


def role_word(role: str) -> str:
    """A user's role."""
    return gettext(_ROLES.get(role, role))


def measure_word(measure: str) -> str:
    """Something that has a limit."""
    return gettext(_MEASURES.get(measure, measure))


def interval_words(code: str) -> str:
    """`2w` as an interval in words: `every 2 weeks`."""
    count, unit = code[:-1], code[-1:]
    if not count.isdecimal() or unit not in _EVERY:
        return gettext("every {time}").format(time=code)
    singular, plural = _EVERY[unit]
    if count == "1":
        return gettext(singular)
    return gettext(plural).format(count=format_number(int(count)))


def money(usd: float) -> str:
    """`$0.42`; small amounts to a hundredth of a cent."""
    small = 0 < usd < 0.1
    if current_phrases().locale == ENGLISH:
        return f"${usd:.4f}" if small else f"${usd:,.2f}"
    shape = "#,##0.0000 ¤" if small else None
    return str(
        numbers.format_currency(usd, "USD", shape, locale=current_phrases().locale, currency_digits=shape is None)
    )


def decimal(value: float) -> str:
    """A number with one decimal."""
    language = current_phrases().locale
    return (
        f"{value:,.1f}"
        if language == ENGLISH
        else str(numbers.format_decimal(round(value, 1), "#,##0.0", locale=language))
    )


def duration(seconds: float) -> str:
    """`8 s`, `6 min 5 s`, `2 h 10 min`."""
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    minutes, remaining_seconds = divmod(total, 60)
    if minutes < 60:
        return f"{minutes} min {remaining_seconds} s" if remaining_seconds and minutes < 10 else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def time_ago(iso: str, now: datetime | None = None) -> str:
    """The time since a moment, in words."""
    try:
        moment = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
    minutes = int(seconds // 60)
    if minutes >= 1440:
        return format_count(minutes // 1440, "{count} day ago", "{count} days ago")
    if minutes >= 60:
        return format_count(minutes // 60, "{count} hour ago", "{count} hours ago")
    return format_count(minutes, "{count} minute ago", "{count} minutes ago") if minutes >= 1 else gettext("just now")


def format_moment(iso: str) -> str:
    """A moment (UTC) to the minute: `2026-11-02 14:05`."""
    language = current_phrases().locale
    try:
        moment = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return (
        f"{moment:%Y-%m-%d %H:%M}"
        if language == ENGLISH
        else str(dates.format_datetime(moment, "short", locale=language))
    )


def moment_element(iso: str) -> Markup:
    """A moment as an element, in UTC; a script of the page shows it in the reader's time zone."""
    return Markup('<time data-moment="{}">{} UTC</time>').format(iso, format_moment(iso))


def short_day(iso: str) -> str:
    """A day in figures: `2026-11-02`."""
    language = current_phrases().locale
    try:
        moment = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return iso[:10] if language == ENGLISH else str(dates.format_date(moment.date(), "medium", locale=language))
