"""Calendars (iCalendar, RFC 5545) and contacts (vCard, RFC 6350) as text: for each event or person the name, and below
it what a reader sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from assay.core.clean import one_line
from assay.core.lazy import regex

MARKS = ("BEGIN:VCALENDAR", "BEGIN:VCARD")
_FOLD = regex(r"\r?\n[ \t]")
_LINE = regex(
    r"(?:[\w-]+\.)?(?P<name>[A-Za-z-]+)(?P<parameters>(?:;[^:\"\r\n]*(?:\"[^\"\r\n]*\"[^:\"\r\n]*)*)?):(?P<value>.*)"
)
_TIME = regex(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z?))?")
_ESCAPED = regex(r"\\([\\;,nN])")
_ZONE = regex(r";TZID=\"?([^;:\"]+)", re.IGNORECASE)
_COMMON_NAME = regex(r";CN=\"?([^;:\"]+)", re.IGNORECASE)
_LABELS = {
    "DTSTART": "Start",
    "DTEND": "End",
    "DUE": "Due",
    "DURATION": "Duration",
    "LOCATION": "Location",
    "STATUS": "Status",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendee",
    "RRULE": "Repeats",
    "CATEGORIES": "Categories",
    "URL": "URL",
    "TEL": "Phone",
    "EMAIL": "E-mail",
    "ORG": "Organization",
    "TITLE": "Title",
    "ROLE": "Role",
    "ADR": "Address",
    "BDAY": "Birthday",
}
_ENTRIES = ("VEVENT", "VTODO", "VJOURNAL", "VCARD")
_LISTED = ("ORG", "ADR")
"""Values of several parts, of which some may be empty."""


def read_calendar(text: str) -> str:
    """The events or contacts, each under its name; "" if there are none. Alarms, zones and pictures are omitted."""
    events: list[str] = []
    inside: list[str] = []
    lines: list[str] = []
    title = start = ""
    for name, parameters, value in _properties(text):
        if name == "BEGIN":
            inside.append(value.upper())
            if value.upper() in _ENTRIES:
                lines, title = [], ""
        elif name == "END" and inside:
            if inside.pop() in _ENTRIES:
                events.append("\n\n".join((f"# {title or 'Event'}", *lines)))
        elif not inside or inside[-1] not in _ENTRIES:
            continue
        elif name in ("SUMMARY", "FN"):
            title = one_line(value)
        elif name in ("DESCRIPTION", "NOTE"):
            lines += [one_line(part) for part in value.split("\n") if part.strip()]
        elif name in _LABELS and value.strip():
            start = value if name == "DTSTART" else start
            shown = _last_day(value) if name == "DTEND" and value != start else value
            lines.append(f"{_LABELS[name]}: {_format_value(name, parameters, shown)}")
    return "\n\n".join(events) + "\n" if events else ""


def _properties(text: str) -> Iterator[tuple[str, str, str]]:
    """The lines of a calendar, unfolded: name, parameters and value."""
    for line in _FOLD.sub("", text).splitlines():
        if match := _LINE.fullmatch(line):
            value = _ESCAPED.sub(lambda sign: "\n" if sign[1] in "nN" else sign[1], match["value"])
            yield match["name"].upper(), match["parameters"], value


def _last_day(end: str) -> str:
    """The last day of an event that ends with a day: a calendar has the one after it; a time unchanged."""
    try:
        return (date.fromisoformat(end) - timedelta(days=1)).isoformat().replace("-", "")
    except (ValueError, OverflowError):
        return end


def _format_value(name: str, parameters: str, value: str) -> str:
    """A value as a reader sees it: a time as ISO with its zone, a person by name."""
    if name in ("ORGANIZER", "ATTENDEE"):
        person, address = _COMMON_NAME.search(parameters), re.sub(r"^mailto:", "", value, flags=re.IGNORECASE)
        return f"{person[1]} <{address}>" if person else address
    if name in _LISTED:
        return ", ".join(filter(None, map(one_line, value.split(";"))))
    time = _TIME.fullmatch(value)
    if time is None:
        return one_line(value)
    year, month, day, hour, minute, _, utc = time.groups()
    zone = "UTC" if utc else (found[1] if (found := _ZONE.search(parameters)) else "")
    return " ".join(filter(None, (f"{year}-{month}-{day}", f"{hour}:{minute}" if hour else "", zone)))
