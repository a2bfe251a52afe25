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
_MOST_ENTRY = 400
_MOST_YEARS = 6

Certainty = Literal["entry", "shape", "maybe", "words"]
"""Why something is taken for a citation: an entry begins so; its form; perhaps; an entry has its words."""


class CitedWork(msgspec.Struct, frozen=True, kw_only=True):
    """A work that the text cites by author and year, as `label`; `entries` are those of the list it may mean."""

    label: str
    entries: tuple[Definition, ...] = ()


class AuthorYear(msgspec.Struct, frozen=True, kw_only=True):
    """A citation by author and year at code points `[start, end)`; `shown` is what belongs to the sentence of it."""

    start: int
    end: int
    works: tuple[CitedWork, ...]
    certainty: Certainty
    shown: str = ""


def choose_citations(found: Sequence[AuthorYear], *, others: bool) -> Iterator[AuthorYear]:
    """The citations among what may be some; `others` says whether the text cites in another way too."""
    style = not others or any(each.certainty in ("entry", "shape") for each in found)
    return (each for each in found if style or each.certainty in ("entry", "shape"))


class AuthorIndex:
    """The entries of a list of references by author and year."""

    def __init__(self, entries: Iterable[Definition]) -> None:
        self._leading: dict[tuple[tuple[str, ...], str], list[_Entry]] = {}
        self._holding: dict[tuple[str, str], list[_Entry]] = {}
        for entry in map(_entry, entries):
            for year in entry.years:
                for key in entry.keys:
                    _index_entry(self._leading.setdefault((key, year), []), entry)
                for word in entry.words:
                    _index_entry(self._holding.setdefault((word, year), []), entry)

    def __bool__(self) -> bool:
        return bool(self._leading)

    def find(self, names: str, year: str, *, whole: bool = False) -> tuple[Definition, ...]:
        """The entries that begin with the authors `names` and have `year`.

        The first author's last word is enough, unless `whole`.
        """
        plain, _ = strip_others(names)
        people = [tuple(words(one)) for one in _JOINED.split(plain)]
        people = [one for one in people if one]
        if not people:
            return ()
        year = "".join(year.lower().split())
        last = {one[-1] for one in people[1:]}
        for key in dict.fromkeys((tuple(words(plain)), people[0], *(() if whole else (people[0][-1:],)))):
            found = self._leading.get((key, year)) or self._entries_for_letter(key, year)
            if matching := tuple(each.definition for each in found if last <= each.words):
                return matching
        return ()

    def _entries_for_letter(self, key: tuple[str, ...], year: str) -> list[_Entry]:
        """The entries without a letter after their year, for a citation that has one."""
        base = year[:4]
        if len(year) != 5 or not base.isdecimal():
            return []
        return [each for each in self._leading.get((key, base), ()) if base in each.written]

    def find_by_words(self, names: str, year: str) -> tuple[Definition, ...]:
        """The one entry that has all words of `names`, anywhere, and `year`; empty if there are several."""
        wanted = [word for word in words(strip_others(names)[0]) if len(word) > 2]
        if not wanted:
            return ()
        found = min((self._holding.get((word, year), []) for word in wanted), key=len)
        found = [each for each in found if set(wanted) <= each.words]
        return (found[0].definition,) if len(found) == 1 else ()


class _Entry(msgspec.Struct, frozen=True):
    """An entry, the names it may be cited by, its years as written and without letters, and its words."""

    definition: Definition
    keys: tuple[tuple[str, ...], ...]
    years: frozenset[str]
    written: frozenset[str]
    words: frozenset[str]


def _index_entry(found: list[_Entry], entry: _Entry) -> None:
    if len(found) < _SAME:
        found.append(entry)


def _entry(definition: Definition) -> _Entry:
    text = BARE_URL.sub(" ", definition.text[:_MOST_ENTRY]).replace("*", "").replace("_", " ").strip()
    dated = list(_DATED.finditer(text))
    in_brackets = [each for each in dated if text[each.start() - 1 : each.start()] == "("][:1]
    written = {"".join(each[0].lower().split()) for each in (in_brackets or dated[:_MOST_YEARS])}
    head = text[: (in_brackets or dated)[0].start()] if dated else ""
    return _Entry(
        definition=definition,
        keys=_keys(head),
        years=frozenset((*written, *(year[:4] for year in written if year[:4].isdecimal()))),
        written=frozenset(written),
        words=frozenset(words(text)),
    )


def _keys(head: str) -> tuple[tuple[str, ...], ...]:
    """The names by which an entry may be cited that begins with `head`: all of it, its first author, short names."""
    first = _FIRST.match(head)
    name = _JOINED.split(first["name"])[0] if first else ""
    lead, whole = tuple(words(name)), tuple(words(head))
    short = "".join(word[0] for word in name.split() if word[0].isupper()).lower()
    keys = [whole, lead, lead[-1:], *((each.lower(),) for each in _SHORT.findall(head))]
    keys += [(short,)] if len(short) > 2 else []
    return tuple(dict.fromkeys(key for key in keys if key))


def find_author_years(text: str, start: int, end: int, index: AuthorIndex) -> Iterator[AuthorYear]:
    """What may be citations by author and year in a piece of prose, in order."""
    for match in _BRACKETS.finditer(text, start, end):
        inner = match["inner"]
        if not _DATED.search(inner) or "\n\n" in inner:
            continue
        found = _parenthetical(match, index)
        if found is None and match["open"] == "(":
            found = _narrative(match, start, index)
        if found is not None:
            yield found


def _parenthetical(match: re.Match[str], index: AuthorIndex) -> AuthorYear | None:
    """The works that a pair of brackets names, at least in its last parts: `(5,340 tonnes; Trust, 2024)`."""
    parts = match["inner"].split(";")
    works: list[CitedWork] = []
    certain = set[Certainty]()
    cut = match.end("inner")
    for part, before in reversed(list(zip(parts, _authors_before(parts), strict=True))):
        work = _work(part, before)
        if work is None:
            break
        names, years, sure = work
        found = [_resolve_work(names, year, index, sure) for year in years]
        if not sure and any(certainty != "entry" for _, certainty in found):
            break
        works[:0] = [each for each, _ in found]
        certain.update(certainty for _, certainty in found)
        cut -= len(part) + 1
    if not works:
        return None
    best: Certainty = next(each for each in ("entry", "shape", "words", "maybe") if each in certain)
    whole = cut < match.start("inner")
    start, end = match.span() if whole else (cut, match.end("inner"))
    return AuthorYear(start=start, end=end, works=tuple(works), certainty=best)


def _authors_before(parts: Sequence[str]) -> Iterator[str]:
    """For each part, the authors that a year alone belongs to: those before it."""
    names = ""
    for part in parts:
        yield names
        if named := _WORK.fullmatch(" ".join(part.split())):
            names = named["names"]


def _work(part: str, before: str) -> tuple[str, list[str], Literal["shape", "maybe", ""]] | None:
    """Authors and years of a part, and how sure its form is that they are that; "" if only an entry can tell."""
    line = " ".join(part.split())
    more = _MORE.fullmatch(line) if before else None
    found = more or _WORK.fullmatch(line)
    if found is None:
        return None
    names = before if more else found["names"].strip()
    plain, others = strip_others(names)
    if not are_names(plain):
        return None
    years = [each[0] for each in _DATED.finditer(found["years"])]
    lettered = any(year[-1].isalpha() for year in years)
    if others or found["tail"] or lettered:
        return names, years, "shape"
    return names, years, "maybe" if more or found["comma"] else ""


def names_work(label: str) -> bool:
    """True if a link's words certainly only name a work: "Smith et al., 2021"."""
    work = _work(label.strip("()[] "), "") if len(label) <= _MOST_ENTRY else None
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
    years = [each[0] for each in _DATED.finditer(inner["years"])]
    for names in _names_before(before):
        works = [CitedWork(label=f"{names}, {year}", entries=index.find(names, year, whole=True)) for year in years]
        if all(work.entries for work in works):
            start, end, shown = _reporting_span(match, start, names) or (*match.span(), "")
            return AuthorYear(start=start, end=end, works=tuple(works), certainty="entry", shown=shown)
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
    at = match.start() - len(names) - 1
    if verb is None or at < start or text[at : match.start() - 1] != names:
        return None
    if not _BEGINNING.search(text, max(start, text.rfind("\n", 0, at) + 1, at - 20), at):
        return None
    word = verb["word"]
    return at, verb.end(), word[:1].upper() + word[1:]


def _names_before(before: str) -> Iterator[str]:
    """The names at the end of a text: as many words as may be names, then only those after the last comma."""
    taken: list[str] = []
    for token in reversed(before.replace("*", "").split()):
        word = token.rstrip(",")
        ended = bool(taken) and len(word) > 2 and word[-1] in ".!?:;)" and word != "al."
        if ended or not (are_names(f"{word} X") or word in ("and", "&", "und", "et", "y", "e", "of", "the", "for")):
            break
        taken.insert(0, token)
    while taken and taken[0].lower() in _ENGLISH and (len(taken) > 1):
        yield from _author_names(taken)
        taken.pop(0)
    yield from _author_names(taken)
    after = [at for at, token in enumerate(taken) if token.endswith(",")]
    if after:
        yield from _author_names(taken[after[-1] + 1 :])


def _author_names(taken: Sequence[str]) -> Iterator[str]:
    names = _POSSESSIVE.sub("", " ".join(taken))
    if names and are_names(strip_others(names)[0]):
        yield names
