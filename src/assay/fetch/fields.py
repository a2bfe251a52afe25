"""Reads facts about a document from its own text: title, author, date, front matter."""

from __future__ import annotations

import re
from pathlib import PurePath

import msgspec

from assay.core.document_dates import DATED_ENTRY, iso_date, stated_date
from assay.core.lazy import regex

# Titles: a document's name, as a reader would write it.

MAX_TITLE_CHARS = 300
_LINK = regex(r"!?\[([^\[\]]{0,300})\](?:\([^()]{0,1000}\)|\[[^\[\]]{0,100}\])")
_ROLE = regex(r":[a-z][\w:+.-]{0,30}:`(?:[^`<]{0,200}<)?~?!?([^`<>]{1,300})>?`")
_TAG = regex(r"</?(?:a|b|br|center|code|div|em|font|h[1-6]|i|img|p|small|span|strong|sub|sup|tt|u)\b[^<>]{0,1000}>")
_EMPHASIS = regex(r"[*`]|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)")
_DUNDER = regex(r"__\w+__")
_NONE = regex(
    r"untitled.{0,40}|no title|new (?:page|document)(?: ?\d+)?|(?:document|page|title)(?: ?\d+)?"
    r"|(?:index|default|main)\.(?:html?|php|aspx?)|https?://\S*",
    re.IGNORECASE,
)
"""Names that programs give a document without a name."""
_MADE = regex(r"microsoft word - ", re.IGNORECASE)
_MARKUP = regex(r"\.\. |<!|<\?|%|\\[a-z]+\b|#!|/\*|//")
"""The beginning of a line of markup or code, which is not a title."""


def clean_title(title: str) -> str:
    """A title without markup, on one line; "" if it is not a title: no word, or a program's placeholder."""
    text = " ".join(title[: 4 * MAX_TITLE_CHARS].split())
    if _MARKUP.match(text):
        return ""
    for pattern in (_LINK, _ROLE):
        text = pattern.sub(r"\1", text)
    text = _TAG.sub("", _MADE.sub("", text))
    if not _DUNDER.search(text):
        text = _EMPHASIS.sub("", text)
    text = " ".join(text.replace("¶", "").split())[:MAX_TITLE_CHARS].strip()
    return "" if _NONE.fullmatch(text) or not any(map(str.isalnum, text)) else text


HEAD_CHARS = 4_000
FRONT_MATTER = regex(r"\A\s*(---|\+\+\+)[ \t]*\r?\n(.*?)\r?\n(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
PAIR = regex(r"^([A-Za-z][\w -]{0,40}?)\s*[:=][ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
HEADER = regex(r"\A\s*((?::?[A-Z][\w-]*(?: [\w-]+){0,3}:[^\n]*\n(?:[ \t]+\S[^\n]*\n)*){2,})")
HEADINGS = (
    regex(r"^ {0,3}#{1,6}[ \t]+(?P<title>.+?)[ \t#]*$", re.MULTILINE),
    regex(r"^(?!\s)(?P<title>\S[^\r\n]{0,199})\r?\n([=\-~^\"'`#*+])\2{2,}[ \t]*$", re.MULTILINE),
    regex(r"^([=\-~^#*+])\1{2,}[ \t]*\r?\n[ \t]*(?P<title>\S[^\r\n]{0,199})\r?\n\1{3,}[ \t]*$", re.MULTILINE),
    regex(r"<h1\b[^<>]{0,500}>\s*(?P<title>.{1,1000}?)\s*</h1>", re.DOTALL | re.IGNORECASE),
)
"""Headings of Markdown (also underlined, and with a line above), and of HTML inside Markdown."""
FENCED_CODE = regex(r"^(`{3,}|~{3,}).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
BYLINE = frozenset(("author", "authors", "published", "created", "date"))
MAX_BYLINE_CHARS = 500
_ORNAMENT = regex(r"[^\w]+|\.\. _[^\n]*:|\.\. [\w-]+::[^\n]*|-\*-.*-\*-")
"""A line without a word, or a mark of reStructuredText or an editor, above a title."""
MARKUP = regex(r"[*_`]|\[([^\]]*)\]\([^)]*\)")


class Fields(msgspec.Struct, frozen=True, kw_only=True):
    """`published` is an ISO day, `other` everything else in the header, with keys in lower case."""

    title: str = ""
    author: str = ""
    published: str = ""
    language: str = ""
    other: dict[str, str] = {}


def read_fields(text: str) -> Fields:
    """Read the front matter or header lines of `text`, its first heading, and the lines directly below that."""
    head = text[:HEAD_CHARS]
    pairs = _byline(head) | _pairs(head)
    title = clean_title(pairs.pop("title", "")) or first_heading(head)
    author = pairs.pop("author", "") or pairs.pop("authors", "")
    dates = (iso_date(pairs[key]) for key in ("published", "created", "date") if key in pairs)
    published = next(filter(None, dates), "")
    return Fields(title=title, author=author, published=published, language=pairs.get("lang", "")[:2], other=pairs)


def first_heading(text: str) -> str:
    """The first heading, without markup; "" if there is none near the start."""
    heading = _heading(FENCED_CODE.sub("", FRONT_MATTER.sub("", text)))
    return clean_title(heading["title"]) if heading else ""


def _heading(text: str) -> re.Match[str] | None:
    firsts = (
        next((heading for heading in pattern.finditer(text) if clean_title(heading["title"])), None)
        for pattern in HEADINGS
    )
    matches = [match for match in firsts if match is not None]
    return min(matches, key=lambda match: match.start(), default=None)


def first_line(text: str) -> str:
    """The first line if it looks like a title: short, no sentence, and not the first of several dated entries."""
    stripped = (line.strip() for line in text[:HEAD_CHARS].splitlines())
    lines = (line for line in stripped if line and not _ORNAMENT.fullmatch(line))
    line = next(lines, "")
    if DATED_ENTRY.match(line) and DATED_ENTRY.match(next(lines, "")):
        return ""
    return clean_title(line) if len(line) <= 120 and line[-1:] not in ".,;:!?。，；：！？" else ""


FIRST_LINES = 3
"""Lines at the top of a text, without its title, that may state its date. By hand."""


def find_date(text: str, title: str, name: str) -> str:
    """The day or month that the title of a text, the lines at its top or its file's name state (`document_dates`)."""
    lines = (line.strip() for line in FRONT_MATTER.sub("", text[:HEAD_CHARS]).splitlines())
    top = [line for line in lines if line and not _ORNAMENT.fullmatch(line) and clean_title(line.strip("# ")) != title]
    return stated_date(title, top[:FIRST_LINES], name)


def title_from_name(name: str) -> str:
    """A title derived from a file's name."""
    return PurePath(name).name or name


def _pairs(head: str) -> dict[str, str]:
    front = FRONT_MATTER.match(head)
    return _read_pairs(front[2] if front else _header(head))


def _byline(head: str) -> dict[str, str]:
    """Author and date from the paragraph directly below the title: "Published: 12 March 2024"."""
    text = FRONT_MATTER.sub("", head)
    title = _heading(text)
    if title is None or text[: title.start()].strip():
        return {}
    byline = re.split(r"\n[ \t\r]*\n", text[title.end() :].lstrip()[:MAX_BYLINE_CHARS], maxsplit=1)[0]
    return {
        key: value
        for key, value in _read_pairs(MARKUP.sub(lambda match: match[1] or "", byline)).items()
        if key in BYLINE
    }


def _read_pairs(block: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for match in PAIR.finditer(block):
        pairs.setdefault(match[1].strip().lower(), match[2].strip("\"' ")[:1000])
    return pairs


def _header(head: str) -> str:
    match = HEADER.match(head)
    return re.sub(r"\n[ \t]+", " ", match[1]) if match else ""
