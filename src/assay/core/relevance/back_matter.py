"""Back matter: lists of changes, indexes and licences, which have everybody's words and answer few questions.

A changelog mentions everything in passing ("reword the help of prune"), an index names everything, and a licence is
about all works alike. They answer only who asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from assay.core.patterns import regex
from assay.core.relevance.relevance_constants import BACK_MATTER_WEIGHT
from assay.core.relevance.topic_question import QuotableStatement

_NAMES = (
    (
        (
            r"(?:full\s+)?change[\s_-]*log|(?:list\s+of\s+|recent\s+)?changes|(?:change|release|version)\s+history"
            r"|release[\s_-]*notes|what['’]?s[\s_-]*new(?:\s+in\s.*)?|änderungen|änderungsprotokoll|versionshinweise"
            r"|journal\s+des\s+modifications|notes\s+de\s+version|registro\s+de\s+cambios|notas\s+de\s+la\s+versión"
            r"|история\s+изменений|список\s+изменений"
            r"|(?:\S+\s+)?(?:version|release|версия)\s+v?\d[\w.+~-]*.{0,40}|v?\d+(?:\.\d+)+[\w+~-]*\s*(?:[(\[—–-].{0,40})?"
        ),
        (
            r"\b(?:version|release|change|new|newe?st|add(?:ed)?|remov|fix|deprecat|since|updat|upgrad|introduc|bug|änder|neu"
            r"|seit|modifi|nouve|depuis|cambi|nuev|novedad|desde|верси|измен|нов)|\d\.\d"
            r"|\b(?:when\s+(?:was|were|did|has|have)|wann|quand|cuándo|когда)\b"
        ),
    ),
    (
        (
            r"(?:general\s+|alphabetical\s+|key\s?word\s+)?index|stichwortverzeichnis|sachregister|index\s+général|índice"
            r"(?:\s+alfabético)?|предметный\s+указатель"
        ),
        r"\bind(?:ex|ice)|verzeichnis|register|índice|указател",
    ),
    (
        (
            r"(?:copyright\s+and\s+)?licen[cs]e(?:\s+agreement)?|copying|terms\s+of\s+(?:the\s+)?licen[cs]e"
            r"|gnu\s.{0,40}licen[cs]e.{0,20}|lizenz|licencia|лицензия"
        ),
        r"licen[cs]|lizenz|licenci|лиценз|copyright|warrant|liab|copy|copies|distribut|redistribut|free\b|rights?\b|gnu\b|gpl",
    ),
)
"""What is named so, in full, as a document, its file or a heading (a heading may also be a version, with its date: a
section's number has a title behind it); and the words of a question that ask for it.
"""
_KINDS = [(regex(name, re.IGNORECASE), regex(asked, re.IGNORECASE)) for name, asked in _NAMES]
_SUBTITLE = regex(r"\s+[—–|:-]\s+")
_FILE = regex(r"([^/\\?#]+?)(?:\.\w{1,5}){0,2}(?:[?#].*)?$")


def in_back_matter(question: str, statements: Sequence[QuotableStatement]) -> list[float]:
    """What each statement loses since it stands in back matter that the question does not ask for; 0 for all if nothing
    else was found.
    """
    kinds = tuple(at for at, (_, asked) in enumerate(_KINDS) if not asked.search(question))
    inside = [_is_inside(kinds, each.title, each.address, each.heading) for each in statements]
    return [0.0 if all(inside) else BACK_MATTER_WEIGHT * each for each in inside]


@lru_cache(maxsize=16384)
def _is_inside(kinds: tuple[int, ...], title: str, address: str, heading: str) -> bool:
    file = _FILE.search(address)
    names = [_SUBTITLE.split(title, maxsplit=1)[0], *heading.split(" > ")]
    plain = [name.strip(" #¶") for name in names]
    return any(
        name.fullmatch(each)
        for name, _ in (_KINDS[at] for at in kinds)
        for each in (*plain, *(_named(file[1]) if file else ()))
    )


def _named(file: str) -> tuple[str, ...]:
    """The name of a file, unless it is that of any site's first page."""
    return () if file == "index" else (file,)
