"""Parts of a document that answer less than their words say (back matter, announcements), and titles that ask."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from assay.core.lazy import regex
from assay.core.lexicon import stop_terms
from assay.core.relevance.relevance_constants import BACK_MATTER_WEIGHT, QUESTION_SHARE
from assay.core.relevance.signs import is_question
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys, near_keys
from assay.core.text import sentences

_BACK_MATTER = regex(
    r"(?:full\s+)?change[\s_-]*log|(?:list\s+of\s+|recent\s+)?changes|(?:change|release|version)\s+history"
    r"|release[\s_-]*notes|what['’]?s[\s_-]*new(?:\s+in\s.*)?|änderungen|versionshinweise|notes\s+de\s+version"
    r"|registro\s+de\s+cambios|история\s+изменений"
    r"|(?:\S+\s+)?(?:version|release|версия)\s+v?\d[\w.+~-]*.{0,40}|v?\d+(?:\.\d+)+[\w+~-]*\s*(?:[(\[—–-].{0,40})?"
    r"|(?:general\s+|alphabetical\s+|key\s?word\s+)?index|stichwortverzeichnis|índice|предметный\s+указатель"
    r"|(?:copyright\s+and\s+)?licen[cs]e(?:\s+agreement)?|copying|gnu\s.{0,40}licen[cs]e.{0,20}|lizenz|licencia|лицензия"
    r"|(?:list\s+of\s+)?references(?:\s+cited)?|(?:selected\s+)?bibliograph(?:y|ie)|bibliografía"
    r"|external\s+links|further\s+reading|web\s?links|liens\s+externes|enlaces\s+externos|weiterführende\s+literatur"
    r"|literatur(?:verzeichnis)?|quellen(?:verzeichnis)?|références|referencias|литература|参考文献|參考文獻",
    re.IGNORECASE,
)
"""What is named so, in full, as a document, its file or a heading. A heading may also be a version, with its date: a
section's number has a title behind it.
"""
_ASKS_FOR_IT = regex(
    r"\b(?:version|release|change|new|newe?st|add(?:ed)?|remov|fix|deprecat|since|updat|upgrad|introduc|bug|änder|neu|seit"
    r"|modifi|nouve|depuis|cambi|nuev|desde|верси|измен|нов|ind(?:ex|ice)|verzeichnis|licen[cs]|lizenz|лиценз|copyright"
    r"|warrant|liab|copy|copies|distribut|free\b|rights?\b|gnu\b|gpl|referenc|cit(?:e|es|ed|ing|ation)|bibliograph"
    r"|literatur|(?:read|find|learn)\s+more|further|websites?|links?\b|papers?\b|articles?\b|stud(?:y|ies)\b|journal"
    r"|publi|author|w(?:ro|ri)te|written|who\b|autor|wer\b|auteur"
    r"|qui\b|quién|автор|кто\b|(?:when\s+(?:was|were|did|has|have)|wann|quand|cuándo|когда)\b)|\d\.\d|文献|文獻|论文|論文",
    re.IGNORECASE,
)
"""Words of a question that may ask for what stands there."""
_SUBTITLE = regex(r"\s+[—–|:-]\s+")
_FILE = regex(r"([^/\\?#]+?)(?:\.\w{1,5}){0,2}(?:[?#].*)?$")


def back_matter_losses(question: str, statements: Sequence[QuotableStatement]) -> list[float]:
    """What each statement loses since it stands in back matter that the question does not ask for; 0 for all if nothing
    else was found.
    """
    inside = [_is_inside(statement.title, statement.address, statement.heading) for statement in statements]
    return [
        0.0 if all(inside) or _ASKS_FOR_IT.search(question) else BACK_MATTER_WEIGHT * is_inside for is_inside in inside
    ]


@lru_cache(maxsize=16384)
def _is_inside(title: str, address: str, heading: str) -> bool:
    file = _FILE.search(address)
    names = [_SUBTITLE.split(title, maxsplit=1)[0], *heading.split(" > ")]
    if file and file[1] != "index":  # any site's first page
        names.append(file[1])
    return any(_BACK_MATTER.fullmatch(name.strip(" #¶")) for name in names)


# Announcements: sentences that only say what a part of a document is about, as "This chapter introduces pumps" does.

_PARTS = (
    r"(?:chapter|section|appendi|article|guide|manual|tutorial|document|page|book|paper|lesson|kapitel|abschnitt|anhang|artikel"
    r"|handbuch|anleitung|chapitre|partie|annexe|capítulo|secci|artículo|guía|глав|раздел|стать|руководств)\w*"
)
_ABOUT_A_PART = regex(rf"\b{_PARTS}", re.IGNORECASE)
_ANNOUNCES = regex(
    rf"\W*(?:(?:in|dans|en|в)\s+)?(?:this|these|the\s+(?:following|next)|diese[rsmn]?|ce(?:t|tte|s)?|est[ea]s?|эт\w+)\s+"
    rf"(?:\w+\s+)?{_PARTS}[^.:;!?]{{0,60}}?\b(?:introduc|describ|present|discuss|explain|cover|show|provid|outlin|deal|explor"
    r"|summari|look|learn|beschr[ei]+b|erklär|behandel|zeig|décri|expli|trait|montr|abord|descri|trata|muestra|описыва|рассматрива)",
    re.IGNORECASE,
)


def only_announces(question: str, text: str) -> bool:
    """True if a text only says what a part of its document is about, and the question does not ask for such a part.

    "This section presents three schemes: linear, geometric, and by digits" says more.
    """
    match = _ANNOUNCES.match(text)
    return match is not None and ": " not in text[match.end() :] and _ABOUT_A_PART.search(question) is None


# Titles of sections that ask the question, as in a FAQ: what stands below "Why was it moved?" answers it.


def title_share(question: TopicQuestion, heading: str) -> float:
    """The share of common words of a question and the last title above (Jaccard index); 0 if too few."""
    title = heading.rpartition(" > ")[2].rstrip(" ¶#")
    if not is_question(title):
        return 0.0
    title = title[sentences(title)[-1][0] :]
    question_keys, title_keys = set(question.keys), set(keys(title, question.analysis)) - stop_terms(question.analysis)
    near_by_key = near_keys(question_keys, title_keys)
    common = {key for key in question_keys if key in title_keys or key in near_by_key}
    extra = title_keys - question_keys - {other_key for key in common for other_key in near_by_key.get(key, ())}
    share = len(common) / (len(question_keys) + len(extra))
    return share if share >= QUESTION_SHARE else 0.0
