"""The cited sources as neutral records, the input for the formats of reference managers."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import date
from string import ascii_lowercase
from typing import Literal, get_args
from urllib.parse import urlsplit

import msgspec

from assay.core.clean import link_target, local_path, one_line
from assay.core.lazy import regex
from assay.core.report import ReportSource, build_report
from assay.core.view import RunView
from assay.core.web_addresses import doi_of
from assay.export import report_parts

# Reads the authors that a document states: persons as family and given names if that is clear, else as written.

MAX_NAMES = 100
"""The most authors read from a document."""


class Name(msgspec.Struct, frozen=True, omit_defaults=True):
    """An author: `family` with `given` and `suffix`, or only `literal` (an organization, a name of unknown order).

    As JSON it is a name-variable of CSL.
    """

    family: str = ""
    given: str = ""
    suffix: str = ""
    literal: str = ""

    @property
    def sort_name(self) -> str:
        """`Family, Given, Suffix`, or the literal name."""
        return self.literal or ", ".join(part for part in (self.family, self.given, self.suffix) if part)

    @property
    def full(self) -> str:
        """`Given Family, Suffix`, or the literal name."""
        name = self.literal or " ".join(part for part in (self.given, self.family) if part)
        return f"{name}, {self.suffix}" if self.suffix else name


_LINK = regex(r"\[([^\[\]]{1,200})\]\([^()]{0,500}\)")
_ASIDE = regex(r"<[^<>]{0,200}>|\((?:@|[^()@]{0,100}@|https?:)[^()]{0,200}\)|\bmailto:", re.IGNORECASE)
_MAIL = regex(r"\S{1,100}@\S{1,100}\.\S{1,50}")
_BY = regex(r"^(?:by|written by|authors?:)\s+", re.IGNORECASE)
_OTHERS = regex(r"[,;]?\s*(?:\bet\s+al\b\.?|\band others\b)\s*$", re.IGNORECASE)
_AND = regex(r",?\s+(?:and|und|et|y|&)\s+")
_ORGANISATION = regex(
    r"\b(?:foundation|inc|ltd|llc|gmbh|corp|corporation|company|university|institute?|organi[sz]ation|teams?|groups?"
    r"|committee|agency|department|ministry|council|project|contributors|community|association|society|cent(?:er|re)"
    r"|office|bureau|commission|board|bank|administration|consortium|laborator(?:y|ies)|labs?|services?|editors?"
    r"|editorial|staff|authors|developers|maintainers|news|network|union|press|alliance|federation|authority|academy)\b",
    re.IGNORECASE,
)
_PARTICLES = frozenset(
    "van von de der den del della di da do dos das du la le el al bin ibn ben ten ter zu zum af av y e st.".split()
)
_SUFFIX = regex(r"(?:Jr|Sr)\.?|II|III|IV", re.IGNORECASE)
_LETTERS = r"A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff\u1e00-\u1fff"
_WORD = regex(rf"[{_LETTERS}\u0300-\u036f'’.\-]+")
_INITIALS = regex(rf"(?:[{_LETTERS}]\.?[\s\-]?){{1,4}}")
_MAX_NAME_WORDS = 5  # words


def read_names(authors: str) -> tuple[Name, ...]:
    """The authors that a document states: `Guido van Rossum <guido@…>`, `A, B and C`, `Family, Given; …`."""
    text = _BY.sub("", _without_asides(one_line(authors)))
    parts = [part.strip(" ,;") for part in text.split(";")] if ";" in text else _split_names(text)
    return tuple(read_name(part) for part in parts[:MAX_NAMES] if part.strip(" ,;.-"))


def read_name(text: str) -> Name:
    """One author, `Given Family` or `Family, Given`."""
    text = text.strip(" ,;")
    if _ORGANISATION.search(text):
        return Name(literal=text)
    pieces = [piece.strip() for piece in text.split(",") if piece.strip()]
    suffix = pieces.pop() if len(pieces) > 1 and _SUFFIX.fullmatch(pieces[-1]) else ""
    if len(pieces) == 2 and _are_name_parts(pieces[0].split()) and _are_name_parts(pieces[1].split()):
        return Name(family=pieces[0], given=pieces[1], suffix=suffix)
    if len(pieces) != 1:
        return Name(literal=text)
    return _read_ordered_name(pieces[0].split(), suffix) or Name(literal=text)


def _without_asides(text: str) -> str:
    """`text` without links, mail addresses, handles and "et al."; an address alone counts as a name."""
    plain = " ".join(_ASIDE.sub("", _LINK.sub(r"\1", text)).split())
    names = " ".join(_MAIL.sub("", plain).split()).strip(" ,;")
    if names.startswith("(") and names.endswith(")"):
        names = names[1:-1]  # "guido@example.org (Guido van Rossum)"
    return _OTHERS.sub("", names or plain or text)


def _split_names(text: str) -> list[str]:
    """The names in a list separated by commas and "and"; commas inside a name do not separate."""
    if "," not in text and _ORGANISATION.search(text):
        return [text]  # "Food and Drug Administration"
    names: list[str] = []
    for part in _AND.split(text):
        names += _join_name_pieces([piece.strip() for piece in part.split(",") if piece.strip()])
    return names


def _join_name_pieces(pieces: list[str]) -> list[str]:
    """The pieces between commas as names: `Family, I.` pairs, or a lone `Family, Given`, are one name each."""
    names: list[str] = []
    for piece in pieces:
        if names and _SUFFIX.fullmatch(piece):
            names[-1] += f", {piece}"
        else:
            names.append(piece)
    pairs = [f"{family}, {given}" for family, given in zip(names[::2], names[1::2], strict=False)]
    initials = len(names) > 1 and len(names) % 2 == 0 and all(_INITIALS.fullmatch(given) for given in names[1::2])
    is_inverted = len(names) == 2 and _is_family_name(names[0]) and not _ORGANISATION.search(names[1])
    return pairs if initials or is_inverted else names


def _is_family_name(text: str) -> bool:
    """True if `text` is only a family name: one word, with particles before it."""
    words = text.split()
    return bool(words) and all(map(_is_particle, words[:-1])) and _are_name_parts(words)


def _is_particle(word: str) -> bool:
    return word.lower() in _PARTICLES and word not in ("Al", "Ben")  # which count as given names if they are capitals


def _read_ordered_name(words: list[str], suffix: str) -> Name | None:
    """`Given Family` as a name; None if the words do not have that form."""
    if len(words) > 2 and _SUFFIX.fullmatch(words[-1]):
        suffix = words.pop()
    if not 2 <= len(words) <= _MAX_NAME_WORDS or not _are_name_parts(words) or words[0] in _PARTICLES:
        return None
    first = len(words) - 1
    while first > 1 and _is_particle(words[first - 1]):
        first -= 1
    return Name(family=" ".join(words[first:]), given=" ".join(words[:first]), suffix=suffix)


def _are_name_parts(words: list[str]) -> bool:
    """True if all words look like parts of a person's name, and not all are abbreviations."""
    capital = all(word[0].isupper() or word.lower() in _PARTICLES for word in words)
    all_capitals = len(words) > 1 and all(len(word) > 1 and word.isalpha() and word.isupper() for word in words)
    return capital and not all_capitals and all(_WORD.fullmatch(word) for word in words)


Kind = Literal[
    "article-journal", "paper-conference", "book", "chapter", "thesis", "report", "dataset", "webpage", "document"
]
"""The type of a source, as in CSL 1.0.2."""
Day = tuple[int, ...]
"""A date as far as it is known: year; year and month; or year, month and day."""


class BibliographyEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A cited source. Every text is one line without control characters, empty if unknown.

    `key` is ASCII and unique in a report; `doi` has no prefix; `url` is http or https, percent-encoded; `path` is that
    of a local file; `note` has the number of the source in the report.
    """

    key: str
    number: int
    kind: Kind
    title: str
    authors: tuple[Name, ...] = ()
    container: str = ""
    publisher: str = ""
    issued: Day = ()
    accessed: Day = ()
    doi: str = ""
    url: str = ""
    path: str = ""
    note: str = ""


def references(view: RunView) -> tuple[BibliographyEntry, ...]:
    """The cited sources of a report, in the order of their numbers."""
    sources = report_parts.cited_sources(build_report(view))
    question = one_line(view.question)
    entries = [_read(source, question) for source in sources]
    return tuple(
        msgspec.structs.replace(reference, key=key)
        for reference, key in zip(entries, _make_unique(map(_key, entries)), strict=True)
    )


def _read(source: ReportSource, question: str) -> BibliographyEntry:
    facts = _normalized_metadata(source.metadata)
    url, path = link_target(source.url) or "", local_path(source.url)
    doi = doi_of(source.metadata, source.url)
    container = one_line(facts.get("container-title") or facts.get("journal") or facts.get("publication") or "")
    number = source.number or 0
    return BibliographyEntry(
        key="",
        number=number,
        kind=_kind(source, facts.get("type", ""), doi),
        title=one_line(source.title) or one_line(path or source.url),
        authors=read_names(source.author),
        container=container or one_line(facts.get("site_name", "")) or _host(url),
        publisher=one_line(facts.get("publisher", "")),
        issued=read_day(source.published),
        accessed=read_day(source.fetched_at),
        doi=doi,
        url=url,
        path=one_line(path or "") if not url else "",
        note=f"Cited as [{number}] in the report on: {question}" if question else f"Cited as [{number}]",
    )


_PREFIXES = ("citation_", "dc.", "og:", "prism.")


def _normalized_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """Metadata by normalized names, whatever vocabulary the page uses."""
    facts: dict[str, str] = {}
    for key, value in metadata.items():
        name = key.strip().lower()
        for prefix in _PREFIXES:
            name = name.removeprefix(prefix)
        facts.setdefault(_SYNONYMS.get(name, name), value)
    return facts


_SYNONYMS = {
    "journal_title": "journal",
    "journal-title": "journal",
    "publicationname": "publication",
    "booktitle": "container-title",
    "container_title": "container-title",
    "conference_title": "container-title",
    "sitename": "site_name",
    "site-name": "site_name",
}

# the type of a source

_KINDS: dict[str, Kind] = {
    **{kind: kind for kind in get_args(Kind) if kind != "document"},
    "journal-article": "article-journal",
    "proceedings-article": "paper-conference",
    "book-chapter": "chapter",
    "dissertation": "thesis",
}
_PRINTED = ("application/pdf", "application/msword", "application/vnd.openxmlformats-officedocument.wordprocessingml")
_DATA = ("text/csv", "text/tab-separated-values", "application/vnd.ms-excel", "application/json")


def _kind(source: ReportSource, type_name: str, doi: str) -> Kind:
    """The type that the document states, else the likely one by DOI, address and media type."""
    if type_name.strip().lower() in _KINDS:
        return _KINDS[type_name.strip().lower()]
    if doi:
        return "article-journal"
    media = source.media_type.partition(";")[0].strip().lower()
    if media.startswith(_PRINTED):
        return "report"
    if media.startswith(_DATA) and link_target(source.url) is None:
        return "dataset"
    return "webpage" if link_target(source.url) is not None else "document"


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.") if url else ""


# Dates

_DAY = regex(r"\s*([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?(?:[T\s].*)?", re.DOTALL)


def read_day(text: str) -> Day:
    """An ISO date as far as it is known and valid: `2024`, `2024-05`, `2024-05-31T…`; else ()."""
    match = _DAY.fullmatch(text)
    if not match:
        return ()
    parts = tuple(int(part) for part in match.groups() if part)
    try:
        date(*(*parts, 1, 1)[:3])
    except ValueError:
        return ()
    return parts


# keys

_DULL = frozenset(
    "a an the of on in for to and or is are how what why with by from about der die das le la les".split()
)


def _key(reference: BibliographyEntry) -> str:
    """Author, year and first significant word of the title, in ASCII: `rossum2001style`; never empty."""
    author = reference.authors[0] if reference.authors else Name()
    author_name = _ascii(author.family.split()[-1] if author.family else author.literal)
    words = [word for word in (_ascii(word) for word in reference.title.split()) if word]
    significant = [word for word in words if len(word) > 3 and word not in _DULL and not word.isdecimal()]
    title_word = (significant or words or [""])[0]
    year = f"{reference.issued[0]:04d}" if reference.issued else "nd"
    site = _ascii(_host(reference.url).rpartition(".")[0].rpartition(".")[2])
    return f"{author_name[:20] or site[:20] or 'source'}{year}{title_word[:20]}"


def _ascii(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]", "", plain.lower())


def _make_unique(keys: Iterable[str]) -> list[str]:
    """`keys`, with a, b, c … after equal ones, so that no two are equal."""
    all_keys = list(keys)
    used_keys: set[str] = {key for key in all_keys if all_keys.count(key) == 1}
    unique_keys = []
    for key in all_keys:
        unique = key if key in used_keys and all_keys.count(key) == 1 else _unused_key(key, used_keys)
        used_keys.add(unique)
        unique_keys.append(unique)
    return unique_keys


def _unused_key(key: str, used_keys: set[str]) -> str:
    lengths = itertools.count(1)
    endings = ("".join(letters) for length in lengths for letters in itertools.product(ascii_lowercase, repeat=length))
    return next(key + ending for ending in endings if key + ending not in used_keys)
