"""Numbered parts of documents: which one a question names ("§ 5", "clause 2.2", "step 6"), and what stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from assay.core.lazy import regex
from assay.core.lexicon import MONTHS, SCALES
from assay.core.log_headings import PRERELEASE, version_above
from assay.core.plain_text import TITLE_WORDS
from assay.core.text import ends_sentence

_KINDS = {
    "section": "§+ sections? sec\\. paragraphs? para\\. abschnitt paragraf раздел\\w* sección párrafo paragraphe",
    "clause": "clause klausel cláusula",
    "article": "article artikel artículo стать\\w+",
    "chapter": "chapter kapitel chapitre capítulo глав\\w+",
    "point": "points? item ziffer punkt punto пункт\\w*",
    "step": "step schritt étape paso шаг\\w*",
    "rule": "rule regel règle regla",
    "version": "version release versión версии версия",
}
"""Words for numbered parts in English, German, Russian, Spanish and French."""
_ANY_KIND = "|".join(form for forms in _KINDS.values() for form in forms.split())
_KIND = regex("|".join(f"(?P<{name}>{'|'.join(forms.split())})" for name, forms in _KINDS.items()), re.IGNORECASE)
_NUMBER = r"\d{1,3}(?:\.\d{1,3}){0,4}"
_ASKED = regex(
    rf"(?<![\w§])(?P<kind>{_ANY_KIND})"
    rf"\s*(?:(?:no\.?|nr\.?|number|№)\s*)?(?P<number>{_NUMBER}[a-z]?)(?!\w|\s?[%€$£]|[.,/-]\d)"
    r"(?:,?\s*(?:abs(?:atz|\.)|paragraph|\()\s*(?P<inner>\d{1,2})(?!\w|[.,/-]\d)\)?)?",
    re.IGNORECASE,
)
_VERSION = regex(rf"(?<![\w.,/§-])(?:v\.?)?(?P<number>\d+(?:\.\d+){{2,4}}{PRERELEASE})(?!\w|[.,/-]\d)", re.IGNORECASE)
"""A version without a word for it; so short a number as 1.5 may be any."""
_ROMAN = regex(rf"(?<![\w§])(?:{_ANY_KIND})\s+(?-i:[IVXLC]+)\b", re.I)
_NUMBERED = regex(
    rf"^[ \t]*[*_(\[]*(?:(?P<kind>§+|[^\W\d_]{{2,}}\.?)[ ]?)??(?P<number>{_NUMBER}[a-z]?)(?P<mark>[.):]*)(?!\S)"
    r"(?P<line>.*)",
    re.MULTILINE,
)
_STEPS = ("point", "step", "rule")
"""What numbers the items of a list rather than what stands below a heading."""
_FIRST_WORD = regex(r"\s*(?P<word>[^\W\d_]+|[%€$£])\.?\s*(?P<after>.?)")
LOOKBACK_CHARS = 200
"""What of the text before a number tells whether a line begins there."""


class NumberedPart(msgspec.Struct, frozen=True):
    """A part that a question names: its kind, its number, and that of a part inside it ("" for none).

    `words` are those of the question that name it.
    """

    kind: str
    number: str
    inner: str = ""
    words: str = ""

    @property
    def is_item(self) -> bool:
        """True if its kind is that of an item of a list."""
        return self.kind in _STEPS and "." not in self.number

    def is_mentioned(self, text: str) -> bool:
        """True if a text names the part, wherever, or one by a Roman number, which may be it."""
        return _ROMAN.search(text) is not None or any(
            (found.kind, found.number) == (self.kind, self.number) for found in parts_named(text)
        )


class PartText(msgspec.Struct, frozen=True):
    """What stands in a part: the text by the index of its passage; whether a title begins it, and gives its kind."""

    texts: dict[int, str]
    titled: bool = False
    named: bool = False


def parts_named(text: str) -> Iterator[NumberedPart]:
    """The parts that a text names, in order."""
    for match in _ASKED.finditer(text):
        kind = _KIND.fullmatch(match["kind"])
        if kind is not None and kind.lastgroup is not None:
            yield NumberedPart(kind.lastgroup, match["number"].casefold(), match["inner"] or "", match[0])
    for match in _VERSION.finditer(_ASKED.sub(" ", text)):
        yield NumberedPart("version", match["number"].casefold(), words=match[0])


def texts_of(part: NumberedPart, passages: Sequence[tuple[str, Sequence[str]]]) -> list[PartText]:
    """What stands in every part of that number; `passages` are texts with the headings above, in a document's order.

    A title has what follows it up to the next number, anything else what is in its passage.
    """
    found: list[PartText] = []
    above: Sequence[str] = ()
    is_open = False
    for index, (text, headings) in enumerate(passages):
        depth = _depth(part, headings)
        if depth:
            if headings[:depth] != above and not is_open:
                found.append(PartText({}, titled=True, named=not headings[depth - 1][:1].isdigit()))
            above, is_open = headings[:depth], False
            found[-1].texts[index] = text
            continue
        start = 0
        for match in _numbered_lines(text):
            if is_open and _ends(part, match):
                found[-1].texts[index] = text[start : match.start()]
                is_open = False
            if _is_part(part, match):
                start, is_open = match.start(), True
                found.append(PartText({}, _is_title(match["line"]), named=bool(match["kind"])))
        if is_open:
            found[-1].texts[index] = text[start:]
            is_open = found[-1].titled
    return found


def inner_text(part: NumberedPart, text: PartText) -> PartText:
    """What stands in the part inside a part, "(2)" in "§ 5 (2)"; the whole text if none is asked for."""
    if not part.inner:
        return text
    inner = texts_of(NumberedPart("point", part.inner), [(each, ()) for each in text.texts.values()])
    indexes = list(text.texts)
    first = inner[0].texts if inner else {}
    return PartText({indexes[place]: each for place, each in first.items()}, named=text.named)


def _numbered_lines(text: str) -> Iterator[re.Match[str]]:
    """The lines that begin with a number of their own: not one that a sentence goes on with, or that counts."""
    for match in _NUMBERED.finditer(text):
        before = text[max(0, match.start() - LOOKBACK_CHARS) : match.start()].rstrip()
        is_start = not before or ends_sentence(before) or _is_title(before.rpartition("\n")[2])
        is_counted = not (match["mark"] or match["kind"] or "." in match["number"])
        if is_start and not _is_date_or_amount(match) and (not is_counted or _is_title(match["line"])):
            yield match


def _is_title(line: str) -> bool:
    return 0 < len(line.split()) <= TITLE_WORDS and not ends_sentence(line.rstrip())


def _depth(part: NumberedPart, headings: Sequence[str]) -> int:
    """How many headings down a part begins; 0 if it is none of them. Of versions the innermost counts."""
    if part.kind == "version":
        versions = [
            (depth, version) for depth, heading in enumerate(headings, 1) if (version := version_above(heading))
        ]
        return versions[-1][0] if versions and versions[-1][1].casefold() == part.number else 0
    return next((depth for depth, heading in enumerate(headings, 1) if _begins_part(part, heading)), 0)


def _begins_part(part: NumberedPart, heading: str) -> bool:
    match = _NUMBERED.match(heading)
    return match is not None and not _is_date_or_amount(match) and _is_part(part, match)


def _is_date_or_amount(match: re.Match[str]) -> bool:
    """True for "5 May", "5. Mai 2024", "2.2 million": the number is no part's."""
    found = _FIRST_WORD.match(match["line"])
    if match["kind"] or found is None:
        return False
    word = found["word"].casefold()
    is_date = word in MONTHS and not found["after"].isalpha()
    return is_date or (not match["mark"] and (word in SCALES or not word.isalpha()))


def _is_part(part: NumberedPart, match: re.Match[str]) -> bool:
    """True if a line begins with the number of a part, behind its kind or nothing; "(2)" is only a point."""
    if part.kind == "version":
        return version_above(match[0]).casefold() == part.number
    kind = _KIND.fullmatch(match["kind"]) if match["kind"] else None
    fits = (kind is not None and kind.lastgroup == part.kind) if match["kind"] else True
    is_point = match[0].lstrip().startswith("(")
    return match["number"].casefold() == part.number and fits and (part.kind == "point" or not is_point)


def _ends(part: NumberedPart, match: re.Match[str]) -> bool:
    """True if a numbered line is behind a part: a later number that is not one of its own.

    "§ 5a" is behind "§ 5", and "5b" behind "5a"; "5a" may be in "5".
    """
    ours, theirs = _numbers(part.number), _numbers(match["number"])
    if ours == theirs:
        return match["number"].casefold() > part.number and bool(match["kind"] or part.number[-1:].isalpha())
    return theirs[: len(ours)] != ours and theirs > ours


def _numbers(number: str) -> list[int]:
    return list(map(int, re.findall(r"\d+", number)))
