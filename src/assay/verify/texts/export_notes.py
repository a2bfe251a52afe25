"""What an export of Assay's says about itself, in whatever language: its headings, and its line of counts."""

from __future__ import annotations

import re
from functools import cache

from assay.core import kinds
from assay.core.claims import VERDICTS
from assay.core.translation import gettext, labelled, ngettext
from assay.locale import LOCALES, speaking

_TITLES = ("Claims to check", "Verification", "Limits")
_NUMBER = r"[\d.,\s\u00a0\u202f]+"
_SEVERAL = (0, 1, 2, 3, 11, 100)
"""Numbers which between them need every plural there is."""


@cache
def titles() -> frozenset[str]:
    """The headings of what an export says about itself, in every language, in lower case."""
    found = set[str]()
    for locale in LOCALES:
        with speaking(locale):
            found |= {gettext(title).lower() for title in _TITLES}
    return frozenset(found)


@cache
def lists() -> frozenset[str]:
    """The heading of an export's list of sources, in every language, in lower case."""
    found = set[str]()
    for locale in LOCALES:
        with speaking(locale):
            found.add(gettext("Sources").lower())
    return frozenset(found)


def is_counts(line: str) -> bool:
    """Whether a line is the one with which an export says how its claims fared."""
    return any(pattern.fullmatch(line) for pattern in _counts())


@cache
def _counts() -> tuple[re.Pattern[str], ...]:
    return tuple(map(_counted, LOCALES))


def _counted(locale: str) -> re.Pattern[str]:
    with speaking(locale):
        claims = {ngettext("{count} claim", "{count} claims", count) for count in _SEVERAL}
        head, tail = labelled("\0", "\1").split("\1")[0].split("\0")
        words = "|".join(re.escape(kinds.verdict(name)) for name in VERDICTS)
        comma, semicolon = (re.escape(gettext(sign).strip()) for sign in (", ", "; "))
        end = re.escape(gettext("{text}.").format(text=""))
        one = re.escape(gettext("{count} {verdict}").format(count="\0", verdict="\1"))
    said = "|".join(_NUMBER.join(map(re.escape, form.split("{count}"))) for form in sorted(claims))
    one = one.replace("\0", _NUMBER).replace("\1", f"(?:{words})")
    more = rf"(?:{comma}\s*{one})*(?:\s*{semicolon}[^\n]{{1,120}})?"
    return re.compile(rf"{re.escape(head)}(?:{said}){re.escape(tail)}{one}{more}{end}", re.IGNORECASE)
