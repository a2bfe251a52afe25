"""Citations by author and year: `(Smith et al., 2021; Jones & Lee 2019, p. 12)`, `[Trust, 2024]`, `Smith (2024) found`.

A shape alone proves little: `(Rome, 1957)` may be a place and a date. So what is no citation for certain counts as one
only if the text's list of references has it, or if the text cites in this way and no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from assay.core.function_words import STOP_WORDS
from assay.core.lazy import regex
from assay.core.text import words
from assay.verify.texts.author_names import YEAR, are_names, strip_others
from assay.verify.texts.references import BARE_URL, Definition

_LEAD = (
    r"(?:see also|see|e\.g\.|i\.e\.|cf\.|also|compare|as cited in|cited in|adapted from|data from|according to|"
    r"sources?:|vgl\.|siehe auch|siehe|z\.[ ]?B\.|quellen?:|voir|cf|véase|ver|vedi)"
)
_PLACE = r"(?:pp?|pages?|S|Seiten?|chap(?:ter)?|ch|Kap|sec(?:tion)?|§+|fig(?:ure)?|Abb|table|Tab|para|vol|no|Nr)"
_TAIL = rf"(?:,?[ ]+{_PLACE}\.?[ ]?|:[ ]?)[\dA-Zivxlc]{{1,8}}(?:[ ]?[-–][ ]?\d{{1,5}})?(?:[ ]?ff?\.?)?"
_YEARS = rf"{YEAR}(?:[ ]?(?:,|&|and|und)[ ]?{YEAR}){{0,9}}"
_WORK = regex(
    rf"(?:{_LEAD},?[ ]){{0,3}}(?P<names>[^\d;]{{2,200}}?)(?P<comma>,)?[ ](?P<years>{_YEARS})(?P<tail>{_TAIL})?",
    re.IGNORECASE,
)
_MORE = regex(rf"(?P<years>{_YEARS})(?P<tail>{_TAIL})?")
_BRACKETS = regex(r"(?<!\\)(?P<open>[(\[])(?P<inner>[^()\[\]]{4,400})[)\]]")
_DATED = regex(YEAR)
_BEFORE = 120
"""The most characters of the names before a year in parentheses."""
_SAME = 5
"""The most entries that one citation names: by one author, of one year."""
_FIRST = regex(r"(?:[^\W\d_]\.[ -]?){0,4}(?P<name>[^,;(.]{1,120})")
_JOINED = regex(r",|;| & | and | und | et | y | e ")
_SHORT = regex(r"\(([^\W\d_]{2,10})\)")
_MAX_ENTRY_CHARS = 400
_MAX_YEARS = 6

Certainty = Literal["entry", "shape", "maybe", "words"]
"""Why something is taken for a citation: an entry begins so; its form; perhaps; an entry has its words."""


class CitedWork(msgspec.Struct, frozen=True, kw_only=True):
    """A work that the text cites by author and year, as `label`; `entries` are those of the list it may mean."""

    label: str
    entries: tuple[Definition, ...] = ()


class AuthorYear(msgspec.Struct, frozen=True, kw_only=True):
    """A citation by author and year at code points `[start, end)`; `sentence_text` is what belongs to the sentence
    of it.
    """

    start: int
    end: int
    works: tuple[CitedWork, ...]
    certainty: Certainty
    sentence_text: str = ""


def choose_citations(citations: Sequence[AuthorYear], *, has_others: bool) -> Iterator[AuthorYear]:
    """The citations among what may be some; `has_others` says whether the text cites in another way too."""
    style = not has_others or any(citation.certainty in ("entry", "shape") for citation in citations)
    return (citation for citation in citations if style or citation.certainty in ("entry", "shape"))


class AuthorIndex:
    """The entries of a list of references by author and year."""

    def __init__(self, entries: Iterable[Definition]) -> None:
        self._by_authors: dict[tuple[tuple[str, ...], str], list[_Entry]] = {}
        self._by_word: dict[tuple[str, str], list[_Entry]] = {}
        for entry in map(_entry, entries):
            for year in entry.years:
                for key in entry.keys:
                    _index_entry(self._by_authors.setdefault((key, year), []), entry)
                for word in entry.words:
                    _index_entry(self._by_word.setdefault((word, year), []), entry)

    def __bool__(self) -> bool:
        return bool(self._by_authors)

    def find(self, names: str, year: str, *, whole_names: bool = False) -> tuple[Definition, ...]:
        """The entries that begin with the authors `names` and have `year`.

        The first author's last word is enough, unless `whole_names`.
        """
        plain, _ = strip_others(names)
        people = [tuple(words(person)) for person in _JOINED.split(plain)]
        people = [person for person in people if person]
        if not people:
            return ()
        year = "".join(year.lower().split())
        last = {person[-1] for person in people[1:]}
        for key in dict.fromkeys((tuple(words(plain)), people[0], *(() if whole_names else (people[0][-1:],)))):
            candidates = self._by_authors.get((key, year)) or self._entries_for_letter(key, year)
            if matches := tuple(entry.definition for entry in candidates if last <= entry.words):
                return matches
        return ()

    def _entries_for_letter(self, key: tuple[str, ...], year: str) -> list[_Entry]:
        """The entries without a letter after their year, for a citation that has one."""
        base = year[:4]
        if len(year) != 5 or not base.isdecimal():
            return []
        return [entry for entry in self._by_authors.get((key, base), ()) if base in entry.written_years]

    def find_by_words(self, names: str, year: str) -> tuple[Definition, ...]:
        """The one entry that has all words of `names`, anywhere, and `year`; empty if there are several."""
        name_words = [word for word in words(strip_others(names)[0]) if len(word) > 2]
        if not name_words:
            return ()
        entries = min((self._by_word.get((word, year), []) for word in name_words), key=len)
        entries = [entry for entry in entries if set(name_words) <= entry.words]
        return (entries[0].definition,) if len(entries) == 1 else ()


class _Entry(msgspec.Struct, frozen=True):
    """An entry, the names it may be cited by, its years as written and without letters, and its words."""

    definition: Definition
    keys: tuple[tuple[str, ...], ...]
    years: frozenset[str]
    written_years: frozenset[str]
    words: frozenset[str]


def _index_entry(entries: list[_Entry], entry: _Entry) -> None:
    if len(entries) < _SAME:
        entries.append(entry)


def _entry(definition: Definition) -> _Entry:
    text = BARE_URL.sub(" ", definition.text[:_MAX_ENTRY_CHARS]).replace("*", "").replace("_", " ").strip()
    date_matches = list(_DATED.finditer(text))
    in_brackets = [match for match in date_matches if text[match.start() - 1 : match.start()] == "("][:1]
    written_years = {"".join(match[0].lower().split()) for match in (in_brackets or date_matches[:_MAX_YEARS])}
    head = text[: (in_brackets or date_matches)[0].start()] if date_matches else ""
    return _Entry(
        definition=definition,
        keys=_keys(head),
        years=frozenset((*written_years, *(year[:4] for year in written_years if year[:4].isdecimal()))),
        written_years=frozenset(written_years),
        words=frozenset(words(text)),
    )


def _keys(head: str) -> tuple[tuple[str, ...], ...]:
    """The names by which an entry may be cited that begins with `head`: all of it, its first author, short names."""
    first = _FIRST.match(head)
    name = _JOINED.split(first["name"])[0] if first else ""
    lead, all_words = tuple(words(name)), tuple(words(head))
    short = "".join(word[0] for word in name.split() if word[0].isupper()).lower()
    keys = [all_words, lead, lead[-1:], *((short_name.lower(),) for short_name in _SHORT.findall(head))]
    keys += [(short,)] if len(short) > 2 else []
    return tuple(dict.fromkeys(key for key in keys if key))


def find_author_years(text: str, start: int, end: int, index: AuthorIndex) -> Iterator[AuthorYear]:
    """What may be citations by author and year in a piece of prose, in order."""
    for match in _BRACKETS.finditer(text, start, end):
        inner = match["inner"]
        if not _DATED.search(inner) or "\n\n" in inner:
            continue
        citation = _parenthetical(match, index)
        if citation is None and match["open"] == "(":
            citation = _narrative(match, start, index)
        if citation is not None:
            yield citation


def _parenthetical(match: re.Match[str], index: AuthorIndex) -> AuthorYear | None:
    """The works that a pair of brackets names, at least in its last parts: `(5,340 tonnes; Trust, 2024)`."""
    parts = match["inner"].split(";")
    works: list[CitedWork] = []
    certain = set[Certainty]()
    citation_start = match.end("inner")
    for part, before in reversed(list(zip(parts, _authors_before(parts), strict=True))):
        work = _work(part, before)
        if work is None:
            break
        names, years, sure = work
        resolved = [_resolve_work(names, year, index, sure) for year in years]
        if not sure and any(certainty != "entry" for _, certainty in resolved):
            break
        works[:0] = [work for work, _ in resolved]
        certain.update(certainty for _, certainty in resolved)
        citation_start -= len(part) + 1
    if not works:
        return None
    best: Certainty = next(level for level in ("entry", "shape", "words", "maybe") if level in certain)
    is_whole = citation_start < match.start("inner")
    start, end = match.span() if is_whole else (citation_start, match.end("inner"))
    return AuthorYear(start=start, end=end, works=tuple(works), certainty=best)


def _authors_before(parts: Sequence[str]) -> Iterator[str]:
    """For each part, the authors that a year alone belongs to: those before it."""
    names = ""
    for part in parts:
        yield names
        if match := _WORK.fullmatch(" ".join(part.split())):
            names = match["names"]


def _work(part: str, before: str) -> tuple[str, list[str], Literal["shape", "maybe", ""]] | None:
    """Authors and years of a part, and how sure its form is that they are that; "" if only an entry can tell."""
    line = " ".join(part.split())
    continuation = _MORE.fullmatch(line) if before else None
    match = continuation or _WORK.fullmatch(line)
    if match is None:
        return None
    names = before if continuation else match["names"].strip()
    plain, has_others = strip_others(names)
    if not are_names(plain):
        return None
    years = [year_match[0] for year_match in _DATED.finditer(match["years"])]
    has_letter = any(year[-1].isalpha() for year in years)
    if has_others or match["tail"] or has_letter:
        return names, years, "shape"
    return names, years, "maybe" if continuation or match["comma"] else ""


def names_work(label: str) -> bool:
    """True if a link's words certainly only name a work: "Smith et al., 2021"."""
    work = _work(label.strip("()[] "), "") if len(label) <= _MAX_ENTRY_CHARS else None
    return work is not None and work[2] == "shape"


def _resolve_work(
    names: str, year: str, index: AuthorIndex, sure: Literal["shape", "maybe", ""]
) -> tuple[CitedWork, Certainty]:
    label = f"{names}, {year}"
    if entries := index.find(names, year):
        return CitedWork(label=label, entries=entries), "entry"
    entries = index.find_by_words(names, year) if sure else ()
    if sure == "shape":
        return CitedWork(label=label, entries=entries), "shape"
    return CitedWork(label=label, entries=entries), "words" if entries else "maybe"


# Narrative citations: only those that an entry confirms.

_ENGLISH = frozenset(" ".join(STOP_WORDS.values()).split())
_POSSESSIVE = regex(r"['’]s?$")
_NARRATIVE = regex(rf"(?P<years>{_YEARS})(?P<tail>{_TAIL})?")


def _narrative(match: re.Match[str], start: int, index: AuthorIndex) -> AuthorYear | None:
    """The year in parentheses after authors that the list of references has with this year."""
    inner = _NARRATIVE.fullmatch(" ".join(match["inner"].replace(";", ",").split()))
    if inner is None or not index:
        return None
    before = match.string[max(start, match.start() - _BEFORE) : match.start()]
    if not before[-1:].isspace():
        return None
    years = [year_match[0] for year_match in _DATED.finditer(inner["years"])]
    for names in _names_before(before):
        works = [
            CitedWork(label=f"{names}, {year}", entries=index.find(names, year, whole_names=True)) for year in years
        ]
        if all(work.entries for work in works):
            start, end, sentence_text = _reporting_span(match, start, names) or (*match.span(), "")
            return AuthorYear(start=start, end=end, works=tuple(works), certainty="entry", sentence_text=sentence_text)
    return None


_REPORTS = regex(
    r"\s(?:(?:have |has |also )?(?:found|reported|showed|shown|stated|noted|observed|concluded)|"
    r"finds?|reports?|shows?|states?|notes?|observes?|concludes?)(?:\sthat)?\s(?P<word>[^\s\[\](){}*_`$<>|\\]+)(?=\s)"
)
_BEGINNING = regex(r"(?:^|[.!?…][\])\"”’]{0,3}\s)[ \t>]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?\Z", re.MULTILINE)


def _reporting_span(match: re.Match[str], start: int, names: str) -> tuple[int, int, str] | None:
    """The span of "Smith (2024) found that mackerel" at the beginning of a sentence, of which only "Mackerel" stays.

    What authors are said to have found is the statement to check, and in their own text nobody names them. Verbs that
    weaken ("suggested") stay, as does a name that is not followed by such a verb: it may be what the sentence is about.
    """
    text, verb = match.string, _REPORTS.match(match.string, match.end())
    names_start = match.start() - len(names) - 1
    if verb is None or names_start < start or text[names_start : match.start() - 1] != names:
        return None
    if not _BEGINNING.search(text, max(start, text.rfind("\n", 0, names_start) + 1, names_start - 20), names_start):
        return None
    word = verb["word"]
    return names_start, verb.end(), word[:1].upper() + word[1:]


def _names_before(before: str) -> Iterator[str]:
    """The names at the end of a text: as many words as may be names, then only those after the last comma."""
    name_tokens: list[str] = []
    for token in reversed(before.replace("*", "").split()):
        word = token.rstrip(",")
        is_end = bool(name_tokens) and len(word) > 2 and word[-1] in ".!?:;)" and word != "al."
        if is_end or not (are_names(f"{word} X") or word in ("and", "&", "und", "et", "y", "e", "of", "the", "for")):
            break
        name_tokens.insert(0, token)
    while name_tokens and name_tokens[0].lower() in _ENGLISH and (len(name_tokens) > 1):
        yield from _author_names(name_tokens)
        name_tokens.pop(0)
    yield from _author_names(name_tokens)
    after = [index for index, token in enumerate(name_tokens) if token.endswith(",")]
    if after:
        yield from _author_names(name_tokens[after[-1] + 1 :])


def _author_names(name_tokens: Sequence[str]) -> Iterator[str]:
    names = _POSSESSIVE.sub("", " ".join(name_tokens))
    if names and are_names(strip_others(names)[0]):
        yield names
