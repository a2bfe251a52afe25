"""Reading the authors a document states: persons as family and given names where that is plain, else as it is written.

Which part of a name is the family's is a guess (W3C, "Personal names around the world"), so it is made only for what
has the form of names in Latin, Greek or Cyrillic script; anything else stays whole, which every citation style allows.
"""

from __future__ import annotations

import re

import msgspec

from assay.core.clean import one_line

MOST = 100
"""Authors read of one document."""


class Name(msgspec.Struct, frozen=True):
    """An author: `family` with `given` and `suffix`, or `literal` alone (an organisation, a name of unknown order)."""

    family: str = ""
    given: str = ""
    suffix: str = ""
    literal: str = ""

    @property
    def sorted(self) -> str:
        """`Family, Given, Suffix`, or the literal name."""
        return self.literal or ", ".join(part for part in (self.family, self.given, self.suffix) if part)

    @property
    def said(self) -> str:
        """`Given Family, Suffix`, or the literal name."""
        whole = self.literal or " ".join(part for part in (self.given, self.family) if part)
        return f"{whole}, {self.suffix}" if self.suffix else whole


_LINK = re.compile(r"\[([^\[\]]{1,200})\]\([^()]{0,500}\)")
_ASIDE = re.compile(r"<[^<>]{0,200}>|\((?:@|[^()@]{0,100}@|https?:)[^()]{0,200}\)|\bmailto:", re.IGNORECASE)
_MAIL = re.compile(r"\S{1,100}@\S{1,100}\.\S{1,50}")
_BY = re.compile(r"^(?:by|written by|authors?:)\s+", re.IGNORECASE)
_OTHERS = re.compile(r"[,;]?\s*(?:\bet\s+al\b\.?|\band others\b)\s*$", re.IGNORECASE)
_AND = re.compile(r",?\s+(?:and|und|et|y|&)\s+")
_ORGANISATION = re.compile(
    r"\b(?:foundation|inc|ltd|llc|gmbh|corp|corporation|company|university|institute?|organi[sz]ation|teams?|groups?"
    r"|committee|agency|department|ministry|council|project|contributors|community|association|society|cent(?:er|re)"
    r"|office|bureau|commission|board|bank|administration|consortium|laborator(?:y|ies)|labs?|services?|editors?"
    r"|editorial|staff|authors|developers|maintainers|news|network|union|press|alliance|federation|authority|academy)\b",
    re.IGNORECASE,
)
_PARTICLES = frozenset(
    "van von de der den del della di da do dos das du la le el al bin ibn ben ten ter zu zum af av y e st.".split()
)
_SUFFIX = re.compile(r"(?:Jr|Sr)\.?|II|III|IV", re.IGNORECASE)
_LETTERS = r"A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff\u1e00-\u1fff"
_WORD = re.compile(rf"[{_LETTERS}\u0300-\u036f'’.\-]+")
_INITIALS = re.compile(rf"(?:[{_LETTERS}]\.?[\s\-]?){{1,4}}")
_LONGEST_NAME = 5  # words


def read_names(stated: str) -> tuple[Name, ...]:
    """The authors in what a document states: `Guido van Rossum <guido@…>`, `A, B and C`, `Family, Given; …`."""
    text = _BY.sub("", _without_asides(one_line(stated)))
    parts = [part.strip(" ,;") for part in text.split(";")] if ";" in text else _listed(text)
    return tuple(read_name(part) for part in parts[:MOST] if part.strip(" ,;.-"))


def read_name(text: str) -> Name:
    """One author, `Given Family` or `Family, Given`."""
    text = text.strip(" ,;")
    if _ORGANISATION.search(text):
        return Name(literal=text)
    pieces = [piece.strip() for piece in text.split(",") if piece.strip()]
    suffix = pieces.pop() if len(pieces) > 1 and _SUFFIX.fullmatch(pieces[-1]) else ""
    if len(pieces) == 2 and _plain(pieces[0].split()) and _plain(pieces[1].split()):
        return Name(family=pieces[0], given=pieces[1], suffix=suffix)
    if len(pieces) != 1:
        return Name(literal=text)
    return _in_order(pieces[0].split(), suffix) or Name(literal=text)


def _without_asides(text: str) -> str:
    """`text` without links, mail addresses, handles and "et al."; an address alone is a name after all."""
    plain = " ".join(_ASIDE.sub("", _LINK.sub(r"\1", text)).split())
    named = " ".join(_MAIL.sub("", plain).split()).strip(" ,;")
    if named.startswith("(") and named.endswith(")"):
        named = named[1:-1]  # "guido@example.org (Guido van Rossum)"
    return _OTHERS.sub("", named or plain or text)


def _listed(text: str) -> list[str]:
    """The names in a list which commas and "and" part, commas inside a name left alone."""
    if "," not in text and _ORGANISATION.search(text):
        return [text]  # "Food and Drug Administration"
    found: list[str] = []
    for part in _AND.split(text):
        found += _parted([piece.strip() for piece in part.split(",") if piece.strip()])
    return found


def _parted(pieces: list[str]) -> list[str]:
    """Pieces between commas as names: `Family, I.` pairs and a lone `Family, Given` are one name each."""
    found: list[str] = []
    for piece in pieces:
        if found and _SUFFIX.fullmatch(piece):
            found[-1] += f", {piece}"
        else:
            found.append(piece)
    pairs = [f"{family}, {given}" for family, given in zip(found[::2], found[1::2], strict=False)]
    initials = len(found) > 1 and len(found) % 2 == 0 and all(_INITIALS.fullmatch(given) for given in found[1::2])
    inverted = len(found) == 2 and _family(found[0]) and not _ORGANISATION.search(found[1])
    return pairs if initials or inverted else found


def _family(text: str) -> bool:
    """Whether `text` is a family name alone: one word, particles before it."""
    words = text.split()
    return bool(words) and all(map(_particle, words[:-1])) and _plain(words)


def _particle(word: str) -> bool:
    return word.lower() in _PARTICLES and word not in ("Al", "Ben")  # which are given names, where they are capital


def _in_order(words: list[str], suffix: str) -> Name | None:
    """`Given Family` as a name, None where the words do not have that form."""
    if len(words) > 2 and _SUFFIX.fullmatch(words[-1]):
        suffix = words.pop()
    if not 2 <= len(words) <= _LONGEST_NAME or not _plain(words) or words[0] in _PARTICLES:
        return None
    first = len(words) - 1
    while first > 1 and _particle(words[first - 1]):
        first -= 1
    return Name(family=" ".join(words[first:]), given=" ".join(words[:first]), suffix=suffix)


def _plain(words: list[str]) -> bool:
    """Whether all words look like parts of a person's name, and not all like abbreviations."""
    capital = all(word[0].isupper() or word.lower() in _PARTICLES for word in words)
    shouted = len(words) > 1 and all(len(word) > 1 and word.isalpha() and word.isupper() for word in words)
    return capital and not shouted and all(_WORD.fullmatch(word) for word in words)
