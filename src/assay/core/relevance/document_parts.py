"""Parts of a document that answer less, or more, than their words say: back matter, announcements, titles that ask."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

from assay.core.lazy import regex
from assay.core.lexicon import stop_terms
from assay.core.relevance.relevance_constants import BACK_MATTER_WEIGHT, OPENING_WEIGHTS, QUESTION_SHARE
from assay.core.relevance.signs import asks
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys, near_keys
from assay.core.text import sentences

_ASKS_FOR_WORKS = (
    r"\b(?:referenc|cit(?:e|es|ed|ing|ation)|bibliograph|literatur|papers?\b|articles?\b|stud(?:y|ies)\b|journal|publi|author"
    r"|w(?:ro|ri)te|written|who\b|doi\b|volume|pages?\b|quelle|studien?\b|veröffentlich|autor|wer\b|schrieb|zitier|seiten?\b"
    r"|référenc|étude|auteur|écri|revue|qui\b|estudio|escri|revista|quién|литератур|стать|автор|журнал|кто\b)|文献|文獻|论文|論文"
)
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
    (
        (
            r"(?:list\s+of\s+)?references(?:\s+cited)?|(?:selected\s+)?bibliography|(?:literature|works)\s+cited"
            r"|literatur(?:verzeichnis|angaben)?|quellen(?:verzeichnis|angaben)|einzelnachweise"
            r"|références(?:\s+bibliographiques)?|bibliographie|referencias(?:\s+bibliográficas)?|bibliografía|bibliografia"
            r"|(?:список\s+)?литератур[аы]|参考文献|參考文獻"
        ),
        _ASKS_FOR_WORKS,
    ),
)
"""What is named so, in full, as a document, its file or a heading (a heading may also be a version, with its date: a
section's number has a title behind it); and the words of a question that ask for it.
"""
_KINDS = [(regex(name, re.IGNORECASE), regex(asked, re.IGNORECASE)) for name, asked in _NAMES]
_WORKS = regex(_ASKS_FOR_WORKS, re.IGNORECASE)
_PAGES = r"(?:pp?\.\s?|S\.\s?)?[A-Za-z]?(?P<first{0}>\d{{1,7}})\s?[-–—]\s?[A-Za-z]?(?P<last{0}>\d{{1,7}})"
_ENTRY = regex(
    r"(?:^|\s)[A-ZÀ-ÞА-Я][^\W\d_]*[.,]?\s(?:(?:1[89]|20)\d{2};\s?)?(?:[Vv]ol\.\s)?\d{1,4}"
    rf"(?:\s?\((?:1[89]|20)\d{{2}}\),?\s(?:{_PAGES.format(1)}|\d{{1,7}})"
    rf"|(?:\s?\(\d{{1,4}}(?:[-–]\d{{1,4}})?\))?[,:]\s(?:no\.\s\d+,\s)?{_PAGES.format(2)})"
    r"(?:,?\s\(?(?:1[89]|20)\d{2}\)?)?[.,;]?(?:\s*(?:doi|https?)\b\S*)?\W*$",
)
"""The end of an entry of a list of works: `Ann. Tides 12 (3), 101-109, 2019.`"""
_LONGEST_END = 200
_SUBTITLE = regex(r"\s+[—–|:-]\s+")
_FILE = regex(r"([^/\\?#]+?)(?:\.\w{1,5}){0,2}(?:[?#].*)?$")


def in_back_matter(question: str, statements: Sequence[QuotableStatement]) -> list[float]:
    """What each statement loses since it stands in back matter that the question does not ask for; 0 for all if nothing
    else was found.
    """
    kinds = tuple(at for at, (_, asked) in enumerate(_KINDS) if not asked.search(question))
    inside = [_is_inside(kinds, each.title, each.address, each.heading) for each in statements]
    return [0.0 if all(inside) else BACK_MATTER_WEIGHT * each for each in inside]


def is_entry(question: str, text: str) -> bool:
    """True if a text is an entry of a list of works, which has words of other works' titles, and none is asked for.

    Its pages or its year follow the volume of a journal; a sentence that cites has more behind them.
    """
    found = _ENTRY.search(text, max(0, len(text) - _LONGEST_END))
    if found is None or _WORKS.search(question):
        return False
    first, last = (found[f"{which}1"] or found[f"{which}2"] for which in ("first", "last"))
    return first is None or len(last) < len(first) or int(first) < int(last)


@lru_cache(maxsize=16384)
def _is_inside(kinds: tuple[int, ...], title: str, address: str, heading: str) -> bool:
    file = _FILE.search(address)
    names = [_SUBTITLE.split(title, maxsplit=1)[0], *heading.split(" > ")]
    plain = [name.strip(" #¶") for name in names]
    return any(
        name.fullmatch(each)
        for name, _ in (_KINDS[at] for at in kinds)
        for each in (*plain, *(_file_name(file[1]) if file else ()))
    )


def _file_name(file: str) -> tuple[str, ...]:
    """The name of a file, unless it is that of any site's first page."""
    return () if file == "index" else (file,)


# Announcements: sentences that only say what a part of a document is about, as "This chapter introduces pumps" does.
#
# They have the words of a question, and often stand first, but answer none that does not ask about the document itself.

_PARTS = (
    r"chapters?|sections?|subsections?|appendix|appendices|articles?|guides?|manuals?|tutorials?|documents?|pages?|books?"
    r"|papers?|lessons?|kapitels?|abschnitts?|anhangs?|artikels?|handbuchs?|dokuments?|seiten?|anleitung|einführung"
    r"|chapitres?|parties?|annexes?|manuels?|tutoriels?|capítulos?|secci(?:ón|ones)|apéndices?|artículos?|guías?"
    r"|manual(?:es)?|documentos?|páginas?|глав\w*|раздел\w*|приложени\w*|стать\w*|руководств\w*|документ\w*|страниц\w*"
)
_ABOUT_A_PART = regex(rf"(?<![^\W_])(?:{_PARTS})(?![^\W_])", re.IGNORECASE)
_ANNOUNCES = regex(
    rf"\W*(?:(?:in|dans|en|в)\s+)?(?:this|these|the\s+(?:following|next|present)|diese[rsmn]?|das\s+folgende|ce(?:t|tte|s)?"
    rf"|est[ea]s?|эт\w+|данн\w+)\s+(?:[^\W\d_]+\s+)?(?:{_PARTS})(?![^\W_])"
    r"(?:[^\W_]|[\s,'’()-]){0,60}?(?<![^\W_])(?:"
    r"introduc|describ|present|discuss|explain|cover|show|provid|outlin|deal|examin|explor|summari[sz]|illustrat|review"
    r"|demonstrat|detail|address|focus|look|teach|guide|help|walk|learn|"
    r"beschrieb|beschreib|erklär|erläuter|behandel|zeig|stell|erfahr|lern|beschäftig|befass|"
    r"décri|explique|trait|montr|abord|verr|propos|descri|explica|trata|muestra|aborda|veremos|"
    r"описыва|рассматрива|рассказыва|объясня|представл|посвящ|показ)",
    re.IGNORECASE,
)


def announces(question: str, text: str) -> bool:
    """True if a text only says what a part of its document is about, and the question does not ask for such a part.

    "This section presents three schemes: linear, geometric, and by digits" says more.
    """
    found = _ANNOUNCES.match(text)
    return found is not None and ": " not in text[found.end() :] and _ABOUT_A_PART.search(question) is None


# Titles of sections that ask the question, as in a FAQ: what stands first below "Why was it moved?" answers it.

FEWEST_KEYS = 2
"""The fewest topic words of a question that a title may ask too: one word is in many titles. By hand."""


def below_titles(question: TopicQuestion, statements: Sequence[QuotableStatement]) -> list[float]:
    """What each statement gains since it is one of the first below the title that asks the question, as they stand."""
    gains = [0.0] * len(statements)
    if len(set(question.keys)) < FEWEST_KEYS:
        return gains
    sections = defaultdict[tuple[int, str], list[int]](list)
    for at, each in enumerate(statements):
        if each.heading and each.kind == "prose":
            sections[each.source, each.heading].append(at)
    shares = {section: title_share(question, section[1]) for section in sections}
    best = max(shares, key=lambda section: (shares[section], -section[0]), default=None)
    if best is not None and shares[best]:
        ordered = sorted(sections[best], key=lambda at: statements[at].place)
        for at, weight in zip(ordered, OPENING_WEIGHTS, strict=False):
            gains[at] = weight
    return gains


def title_share(question: TopicQuestion, heading: str) -> float:
    """The share of common words of a question and the last title above (Jaccard index); 0 if too few."""
    title = heading.rpartition(" > ")[2].rstrip(" ¶#")
    if not asks(title):
        return 0.0
    title = title[sentences(title)[-1][0] :]
    asked, held = set(question.keys), set(keys(title, question.analysis)) - stop_terms(question.analysis)
    near = near_keys(asked, held)
    common = {key for key in asked if key in held or key in near}
    extra = held - asked - {each for key in common for each in near.get(key, ())}
    share = len(common) / (len(asked) + len(extra))
    return share if share >= QUESTION_SHARE else 0.0
