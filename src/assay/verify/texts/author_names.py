"""Names of authors, as citations and lists of references write them."""

from __future__ import annotations

from assay.core.lazy import regex
from assay.core.lexicon import MONTHS

YEAR = r"(?:(?:1[5-9]|20)\d\d[a-z]?(?![\w%])|n\.[ \t]?d\.)"
"""A year of publication, with the letter that tells apart works of one year; or none ("n.d.")."""
_MAX_AUTHOR_WORDS = 14
"""The most words of the authors in a citation: organizations have long names."""
_MAX_HEAD_CHARS = 300
"""The most characters of a reference before its year: papers have many authors."""

_PARTICLES = frozenset(
    "al bin da dal de del della den der di do dos du el ibn la le ten ter van von zu zum zur".split()
)
_SMALL = _PARTICLES | frozenset("and des die e et for für in las les los of on or the to und y & + i och og en".split())
_NEVER = frozenset(MONTHS) | frozenset(
    """spring summer autumn fall winter early mid late about around since until before after figure fig table tab
    section chapter appendix equation version act law usd eur gbp jpy chf cny fy est estimate updated accessed
    retrieved forecast projected monday tuesday wednesday thursday friday saturday sunday""".split()
)
"""Words that stand before a year and name no author."""
_WORD = regex(r"(?:[^\W\d_]|&)[\w.'’&/‐‑-]*")
_OTHERS = regex(r",?[ \t\n]+(?:et[ \t\n]+al\.?|u\.[ \t]?a\.|and (?:colleagues|others|co-?workers))(?![\w])")


def strip_others(names: str) -> tuple[str, bool]:
    """`names` without "et al." at their end, and whether it was there."""
    plain = names.replace("*", "").strip()
    match = _OTHERS.search(plain[-20:])
    if match is None or match.end() < len(plain[-20:].rstrip(" ,")):
        return plain, False
    return plain[: len(plain) - len(plain[-20:]) + match.start()], True


def are_names(text: str) -> bool:
    """True if every word of `text` may be a part of authors' names: capitalized, or small as "van" and "of" are."""
    name_words = [word.strip(',.;:()"“”*_') for word in text.split()]
    name_words = [word for word in name_words if word]
    if not 0 < len(name_words) <= _MAX_AUTHOR_WORDS or any(word.lower().rstrip(".") in _NEVER for word in name_words):
        return False
    small = name_words[0].lower() in _SMALL - _PARTICLES and not name_words[0][0].isupper()
    return not small and is_name(name_words[-1]) and all(is_name(word) or word in _SMALL for word in name_words)


def is_name(word: str) -> bool:
    """True if a word is written as a name: with a capital, perhaps after "al-" or "d'", or in a script without case."""
    if not _WORD.fullmatch(word):
        return False
    letters = [sign for sign in word if sign.isalpha()]
    return bool(letters) and (not word[0].islower() or any(sign.isupper() for sign in letters[1:4]))


# Entries of a list of references without number or bullet: "Smith, J., & Lee, K. (2021). …".

_CAPITAL = r"[^\W\d_a-zß-ÿ]"
_SURNAME = rf"{_CAPITAL}[\w'’‐‑-]{{0,60}}"
_INITIALS = regex(rf"[ \t]{{0,3}}[*_]{{0,3}}{_SURNAME}(?:[ \t]{_SURNAME}){{0,3}},[ \t]+{_CAPITAL}\.")
_DATED = regex(rf"\((?:{YEAR}|in press|forthcoming|o\.[ \t]?J\.)|[.,][ \t]+{YEAR}[.:,;]")
_FULL_NAME = regex(rf"[ \t]{{0,3}}{_SURNAME},[ \t]+{_SURNAME}\.[ \t]+\S[^\n]{{0,400}}\b{YEAR}")
_GOES_ON = (",", "&", " and", " und", " et")


def begins_entry(line: str) -> bool:
    """True if a line of a list of references begins an entry with its authors."""
    if _INITIALS.match(line) or _FULL_NAME.match(line):
        return True
    date_match = _DATED.search(line[:_MAX_HEAD_CHARS])
    head = line[: date_match.start()] if date_match else ""
    return date_match is not None and len(line) - len(line.lstrip()) <= 3 and are_names(head)


def continues_authors(line: str) -> bool:
    """True if a list of authors goes on after this line of an entry."""
    return line.rstrip().endswith(_GOES_ON)
