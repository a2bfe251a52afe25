"""What an Office document says of itself, without what a program's empty template says in its place."""

from __future__ import annotations

import datetime
from typing import Protocol

from assay.fetch.text_form import clean

LONGEST = 300
PROGRAMS = frozenset(("apache poi", "openpyxl", "python-docx", "python-pptx", "un-named", "unknown"))
"""Authors, casefolded, that are programs or nobody."""
TEMPLATES = frozenset(("2013-01-27T09:14:16", "2013-12-23T23:15:00"))
"""When the empty templates of python-pptx and python-docx were made: documents made from them keep these times."""


class CoreProperties(Protocol):
    """The properties that both libraries read."""

    @property
    def author(self) -> str: ...
    @property
    def created(self) -> datetime.datetime | None: ...


def author_of(facts: CoreProperties) -> str:
    """The author, empty if it is a program."""
    named = clean(facts.author or "").strip()[:LONGEST]
    return "" if named.casefold() in PROGRAMS else named


def created_on(facts: CoreProperties) -> str:
    """The day of its creation (ISO 8601), empty if it is unknown, invalid or that of a template."""
    try:
        made = facts.created
    except ValueError:
        return ""
    if made is None or made.replace(tzinfo=None).isoformat(timespec="seconds") in TEMPLATES:
        return ""
    return made.date().isoformat()
