"""The date of a document as its header, title, first lines or file name state it: "Minutes of 12 May 2026".

The first day in a header is the document's. A date in a title is more often that of its subject ("The flood of 3
December 2023"). It is the document's only if a word for a document that is of a day stands directly before it, or
before a comma or dash.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from assay.core.lazy import regex
from assay.core.lexicon import MONTHS

_NAMED = "|".join(sorted(map(re.escape, MONTHS), key=len, reverse=True))
_MONTH = rf"(?:{_NAMED})(?![^\W\d_])|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{{0,6}}"
"""A month by its name, or by a word that begins like one in English (`Febr.`, `augusti`)."""
_DATE = regex(
    r"(?<!\d)(?:"
    r"(?P<y1>\d{4})-(?P<m1>\d{2})-(?P<d1>\d{2})"
    rf"|(?P<d2>\d{{1,2}})(?:(?:st|nd|rd|th|er|\.)? (?:of |de )?|[-. ]{{1,2}})(?P<m2>{_MONTH})"
    r"(?:\.?,? (?:de |del )?|[-.,]? ?)(?P<y2>\d{4})"
    rf"|\b(?P<m3>{_MONTH})\.? (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y3>\d{{4}})"
    rf"|\b(?P<m4>{_NAMED})\b\.?,? (?:de |del )?(?P<y4>\d{{4}})(?!-)"
    r"|(?P<y5>\d{4})年(?P<m5>\d{1,2})月(?:(?P<d5>\d{1,2})日)?"
    r")(?!\d)",
    re.IGNORECASE,
)
"""Days and months as people write them, and ISO days."""
DATED_ENTRY = regex(r"\W?(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}:\d{2})(?![\d-])")
"""The beginning of a line of a log, a chat or a diary: a numeric day, or a time."""
_DOTTED = regex(r"(?<![\d.])(?P<d>\d{1,2})\. ?(?P<m>\d{1,2})\. ?(?P<y>\d{4})(?![.]?\d)")
"""A day as much of Europe writes it in figures."""
_APART = regex(r"[\d.]\Z|\d[-–—/]\Z")
"""What stands before a date that is the end of a range, or part of a longer number."""
_KIND = (
    r"minutes|agenda|report|letter|memo|memorandum|notice|notes|newsletter|bulletin|circular|draft|statement|release"
    r"|version|edition|issue|revision|meeting|session|log|date|dated|updated|revised|published|issued|approved|as at"
    r"|as of"
    r"|\w*protokoll|\w*bericht|\w*brief|\w*entwurf|\w*sitzung|niederschrift|mitteilung|fassung|ausgabe|notiz|stand|datum"
    r"|procès-verbal|compte rendu|rapport|lettre|projet|réunion|communiqué|publié"
    r"|acta|informe|carta|borrador|versión|boletín|reunión|fecha|notulen|verslag|concept|versie"
    r"|verbale|relazione|lettera|bozza|versione|ata|relatório|протокол|отч[её]т|письмо|версия|会议纪要|会议记录|报告|議事録"
)
"""Words for documents that are of a day, and for the day itself."""
_KINDS = regex(rf"(?<!\w)(?:{_KIND})(?!\w)", re.IGNORECASE)
_JOINED = regex(
    rf"(?<!\w)(?:{_KIND})(?: no\.? ?\d+)?(?:\W{{0,3}}|\s+(?:of|from|for|on|in|vom|von|aus|für|du|de|del|van|di|от|за)"
    r"(?: the| le| el| il)?\s+)\Z",
    re.IGNORECASE,
)
"""What stands before a date if a word for the document is directly before it."""
_SET_OFF = regex(r"[,:;(\[|–—]\s*\Z|\s-\s*\Z")
_ABOUT = regex(
    r"(?<!\w)(?:on|about|into|after|before|since|until|regarding|concerning|re|to|über|zu[mr]?|nach|seit|bis|sur|sobre"
    r"|over|su|о|об)(?!\w)",
    re.IGNORECASE,
)
"""Words before the subject of a document, or within a time."""
_PLACE = regex(r"[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2},(?:\s+(?:le|den|el|a|lì))?\s*\Z", re.IGNORECASE)
"""A place before the day of a letter, as "Brest, le 9 octobre 2025"."""
_ANNUAL = regex(
    r"(?<!\w)(?:annual (?:report|review|accounts)|year ?book|jahresbericht|jahrbuch|geschäftsbericht|rapport annuel"
    r"|(?:informe|memoria) anual|relazione annuale|relatório anual|jaarverslag|годовой отч[её]т|年度报告|年度報告"
    r"|年報|年报)"
    r"[\s,:(–—-]*(?:(?:for|of|für|de|del|über|за)\s+)?(?:(?:1[89]|20)\d{2}\s?[/–-]\s?)?"
    r"(?P<year>(?:(?:1[89]|20)\d{2}))\s?年?[\s).]*\Z",
    re.IGNORECASE,
)
_IN_NAME = regex(r"(?<![\d])(?P<y>(?:19|20)\d{2})(?P<mark>[-_.])(?P<m>\d{2})(?P=mark)(?P<d>\d{2})(?!\d)")
_MARKS = regex(r"[*_`#=~|\\]+")
_MAX_LINE_CHARS = 120
"""Code points of a line that may be a title, or a line with a date. By hand."""


def iso_date(text: str) -> str:
    """The first day in `text`, as ISO; "" if there is none. Reads `2001-07-05`, `5 July 2001` and `July 5, 2001`.

    Numeric days that are not ISO (`5/7/2001`) are ignored, because the month is ambiguous.
    """
    days = (day for match in _DATE.finditer(text) if len(day := _iso(match)) == len("2001-07-05"))
    return next(days, "")


def days_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Each day in `text` as code points `[start, end)` and ISO, in every form whose month is certain."""
    for match in _DATE.finditer(text):
        if len(day := _iso(match)) == len("2001-07-05"):
            yield match.start(), match.end(), day
    for match in _DOTTED.finditer(text):
        if day := _iso(match):
            yield match.start(), match.end(), day


def whole_date(text: str) -> str:
    """The day or month that all of `text` is, as ISO; "" for any other text."""
    match = _DATE.fullmatch(text) or _DOTTED.fullmatch(text)
    return _iso(match) if match is not None else ""


def stated_date(title: str, lines: Iterable[str], name: str = "") -> str:
    """An ISO day or month, "" if none is certain; the lines count before the title, the title before the name.

    Args:
        title: the title, or the first line.
        lines: the lines after it.
        name: the file's name.
    """
    dates = (*(_date_of_line(line) for line in lines), _date_of_line(title, of_title=True), _date_of_name(name))
    return next(filter(None, dates), "")


def year_of_subject(title: str) -> str:
    """The year that an annual report is about, by its title; "" for other titles.

    It says of when its statements are, but not when it appeared: often a year later.
    """
    match = _ANNUAL.search(title[:_MAX_LINE_CHARS])
    return match["year"] if match else ""


def _date_of_line(text: str, *, of_title: bool = False) -> str:
    """The only date of a line, at its beginning or end, if it is the document's."""
    line = " ".join(_MARKS.sub(" ", text[: 2 * _MAX_LINE_CHARS]).split()).strip("()[]. ")
    if len(line) > _MAX_LINE_CHARS:
        return ""
    dates = [match for form in (_DATE, _DOTTED) for match in form.finditer(line) if _is_apart(line, match)]
    if len(dates) != 1:
        return ""
    before, after = line[: dates[0].start()], line[dates[0].end() :].strip(" ,:;–—-|")
    if before and after:
        return ""
    is_own = _is_of_document(before, of_title=of_title) if before else not after or _begins_with_kind(after)
    return _iso(dates[0]) if is_own else ""


def _is_apart(line: str, date: re.Match[str]) -> bool:
    """True if a date is neither the end of a range nor part of a longer number, and its year that of a document."""
    is_complete = not _APART.search(line[: date.start()]) and not line.startswith("-", date.end())
    return is_complete and 1500 <= int(_parts(date)["y"]) < 2100


def _is_of_document(before: str, *, of_title: bool) -> bool:
    """True if what stands before a date at the end of a line makes it the document's."""
    if _JOINED.search(before):
        kind = list(_KINDS.finditer(before))[-1]
        return not _ABOUT.search(before[: kind.start()])
    if _SET_OFF.search(before) and (kinds := list(_KINDS.finditer(before))):
        return not _ABOUT.search(before[kinds[0].end() :])
    return not of_title and _PLACE.fullmatch(before) is not None


def _begins_with_kind(after: str) -> bool:
    match = _KINDS.search(after)
    return match is not None and not _ABOUT.search(after[: match.start()])


def _date_of_name(name: str) -> str:
    """The only ISO day in a file's name."""
    matches = list(_IN_NAME.finditer(PurePath(name).name))
    return _iso(matches[0]) if len(matches) == 1 else ""


def _parts(match: re.Match[str]) -> dict[str, str]:
    """The year, month and day (`y`, `m`, `d`) of a date as it is written."""
    return {key[0]: value for key, value in match.groupdict().items() if value}


def _iso(match: re.Match[str]) -> str:
    """A day or a month as ISO; "" if the calendar has none such."""
    parts = _parts(match)
    month = parts["m"].casefold()
    number = int(month) if month.isdigit() else MONTHS.get(month) or MONTHS.get(month[:3], 0)
    try:
        day = datetime.date(int(parts["y"]), number, int(parts.get("d", 1)))
    except ValueError:
        return ""
    return day.isoformat() if "d" in parts else day.isoformat()[:7]
