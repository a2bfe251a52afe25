"""Edits by code that make a true claim false.

Each takes a claim, the text that it is true of, and a random generator; it returns the edited claim, or None if the
claim has nothing that it could edit.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from assay.verify.amounts import Amount, Day, tokens
from assay.verify.analyzed_text import analyze_text, fold_text
from assay.verify.rules.names import names

Mutation = Callable[[str, str, random.Random], str | None]

MONTHS = "January February March April May June July August September October November December".split()


def replaced(text: str, start: int, end: int, new: str) -> str:
    """`text` with `new` in the place of `[start, end)`."""
    return text[:start] + new + text[end:]


def _amounts(claim: str) -> list[Amount]:
    """Numbers in digits which are no years, and no part of a word."""
    return [
        token
        for token in tokens(claim)
        if isinstance(token, Amount)
        and not token.word
        and not token.ordinal
        and not re.fullmatch(r"[12]\d{3}", token.literal)
        and not re.search(r"[\w.–-]$", claim[: token.start])
        and token.literal.strip("-0.")
        and claim[token.end : token.end + 1] not in {"-", "/", "–"}
    ]


def _digits(claim: str, token: Amount) -> re.Match[str] | None:
    return re.compile(r"\d+(?:[.,]\d+)*").search(claim, token.start, token.end)


def flip_sign(claim: str, _: str, chance: random.Random) -> str | None:
    """A minus before a number, or taken away."""
    found = [(token, digits) for token in _amounts(claim) if (digits := _digits(claim, token))]
    if not found:
        return None
    _, digits = chance.choice(found)
    start = digits.start()
    return (
        claim[: start - 1] + claim[start:] if claim[start - 1 : start] == "-" else claim[:start] + "-" + claim[start:]
    )


def times_ten(claim: str, _: str, chance: random.Random) -> str | None:
    """A number times ten."""
    found = [digits for token in _amounts(claim) if (digits := _digits(claim, token))]
    if not found:
        return None
    digits = chance.choice(found)
    whole, point, rest = digits[0].partition(".")
    new = f"{whole}{rest[0]}{'.' + rest[1:] if rest[1:] else ''}" if point else f"{int(whole.replace(',', '')) * 10:,}"
    return replaced(claim, *digits.span(), new) if new.lstrip("0") != digits[0].lstrip("0") else None


def other_scale(claim: str, _: str, chance: random.Random) -> str | None:
    """Million for billion and the other way."""
    found = list(re.finditer(r"(?<=\d )(?:million|billion|thousand|trillion)\b|(?<=\d)bn\b", claim))
    if not found:
        return None
    match = chance.choice(found)
    others = [word for word in ("thousand", "million", "billion") if word != match[0]]
    return replaced(claim, *match.span(), chance.choice(others))


_UNITS = (
    "km miles metres feet",
    "kilometers miles",
    "kg pounds tonnes",
    "hours minutes days",
    "days weeks months",
    "months years weeks",
    "years months decades",
    "minutes seconds hours",
    "GB MB TB",
    "seconds minutes",
    "$ € £",
)
_SWAPS = {one: [two for two in group.split() if two != one] for group in reversed(_UNITS) for one in group.split()}


def other_unit(claim: str, _: str, chance: random.Random) -> str | None:
    """Another unit of the same dimension, or another currency, beside the same number."""
    found = list(
        re.finditer(rf"(?<=\d )(?:{'|'.join(unit for unit in _SWAPS if unit.isalpha())})\b|[$€£](?=\d)", claim)
    )
    if not found:
        return None
    match = chance.choice(found)
    return replaced(claim, *match.span(), chance.choice(_SWAPS[match[0]]))


def percent_or_points(claim: str, _: str, chance: random.Random) -> str | None:
    """Per cent for percentage points and the other way."""
    found = list(re.finditer(r"(?<=\d)(?: ?%| percentage points?| percent\b| per cent\b)", claim))
    if not found:
        return None
    match = chance.choice(found)
    return replaced(claim, *match.span(), " percent" if "point" in match[0] else " percentage points")


def next_year(claim: str, _: str, chance: random.Random) -> str | None:
    """A year one later or earlier."""
    found = list(re.finditer(r"(?<![\w,.-])(?:1[5-9]|20)\d\d(?![\w,-]|\.\d)", claim))
    if not found:
        return None
    match = chance.choice(found)
    return replaced(claim, *match.span(), str(int(match[0]) + chance.choice((-1, 1))))


def other_day(claim: str, _: str, chance: random.Random) -> str | None:
    """The day or the month of a date changed."""
    found = [token for token in tokens(claim) if isinstance(token, Day) and (token.day or token.month)]
    if not found:
        return None
    token = chance.choice(found)
    text = claim[token.start : token.end]
    month = next((name for name in MONTHS if name in text), None)
    if month:
        new = text.replace(month, chance.choice([name for name in MONTHS if name != month]))
    else:
        new = re.sub(r"(?<!\d)\d{1,2}(?!\d)", lambda match: str(int(match[0]) % 12 + 1), text, count=1)
    return replaced(claim, token.start, token.end, new) if new != text else None


def swap_numbers(claim: str, _: str, chance: random.Random) -> str | None:
    """Two numbers of one kind exchanged: the values of two rows, or of two columns."""
    found = [(token, digits) for token in _amounts(claim) if (digits := _digits(claim, token))]
    pairs = [
        (one, two)
        for at, (first, one) in enumerate(found)
        for second, two in found[at + 1 :]
        if one[0] != two[0] and first.units == second.units and first.currency == second.currency
    ]
    if not pairs:
        return None
    one, two = chance.choice(pairs)
    return claim[: one.start()] + two[0] + claim[one.end() : two.start()] + one[0] + claim[two.end() :]


def number_from_elsewhere(claim: str, passage: str, chance: random.Random) -> str | None:
    """A number replaced by another of the same kind which stands in the passage, but not in the claim."""
    mine = [(token, digits) for token in _amounts(claim) if (digits := _digits(claim, token))]
    if not mine:
        return None
    token, digits = chance.choice(mine)
    stated = set(re.findall(r"\d+(?:[.,]\d+)*", claim))
    others = sorted(
        {
            match[0]
            for other in _amounts(fold_text(passage).text)
            if other.units == token.units
            and other.currency == token.currency
            and other.scaled == token.scaled
            and (match := _digits(fold_text(passage).text, other))
            and match[0] not in stated
        }
    )
    return replaced(claim, *digits.span(), chance.choice(others)) if others else None


def other_name(claim: str, passage: str, chance: random.Random) -> str | None:
    """A name replaced by another which stands in the passage."""
    mine, theirs = _names(claim), _names(passage)
    words = {word for name in mine for word in name.split()}
    others = sorted({name for name in theirs if not words & set(name.split()) and len(name) > 2})
    if not mine or not others:
        return None
    name = chance.choice(sorted(mine))
    alike = [other for other in others if len(other.split()) == len(name.split())]
    return claim.replace(name, chance.choice(alike or others), 1)


def _names(text: str) -> set[str]:
    reading = analyze_text(text)
    found = {reading.plain.text[reading.words[one].start : reading.words[two].end] for one, two in names(reading)}
    return {name for name in found if name in text}


def two_subjects(claim: str, passage: str, chance: random.Random) -> str | None:
    """A second subject joined to the claim's first name."""
    mine = sorted(_names(claim), key=claim.find)
    others = sorted(name for name in _names(passage) if name not in claim)
    if not mine or not others:
        return None
    return claim.replace(mine[0], f"{mine[0]} and {chance.choice(others)}", 1)


_TURNS = {
    "rose": "fell",
    "increased": "decreased",
    "increase": "decrease",
    "grew": "shrank",
    "gained": "lost",
    "higher": "lower",
    "more": "less",
    "growth": "decline",
    "increasing": "decreasing",
    "rise": "fall",
    "raised": "reduced",
    "rising": "falling",
    "climbed": "dropped",
    "up": "down",
    "expanded": "contracted",
}
_TURNED = _TURNS | {down: up for up, down in _TURNS.items()}


def flip_direction(claim: str, _: str, chance: random.Random) -> str | None:
    """Rose for fell, more for less."""
    found = [match for match in re.finditer(r"\b[a-z]+\b", claim) if match[0] in _TURNED]
    if not found:
        return None
    match = chance.choice(found)
    return replaced(claim, *match.span(), _TURNED[match[0]])


def negate(claim: str, _: str, chance: random.Random) -> str | None:
    """A "not" put in, or taken out."""
    there = re.search(r" not\b(?! only)", claim)
    if there:
        return replaced(claim, *there.span(), "")
    found = list(re.finditer(r"\b(?:is|are|was|were|has been|have been|can|will|should|must|may)\b(?! not)", claim))
    if not found:
        return None
    match = chance.choice(found[:1])
    return replaced(claim, match.end(), match.end(), " not")


_QUANTIFIERS = {
    "all": "some",
    "most": "few",
    "some": "all",
    "every": "no",
    "many": "few",
    "few": "many",
    "always": "never",
    "never": "always",
    "first": "last",
    "last": "first",
    "largest": "smallest",
    "best": "worst",
    "highest": "lowest",
    "before": "after",
    "after": "before",
    "usually": "rarely",
    "often": "never",
}


def other_quantifier(claim: str, _: str, chance: random.Random) -> str | None:
    """All for some, first for last, before for after."""
    found = [match for match in re.finditer(r"\b[a-z]+\b", claim) if match[0] in _QUANTIFIERS]
    if not found:
        return None
    match = chance.choice(found)
    return replaced(claim, *match.span(), _QUANTIFIERS[match[0]])


def drop_qualifier(claim: str, _: str, chance: random.Random) -> str | None:
    """A word which bounds or softens the claim left out."""
    found = list(
        re.finditer(
            r"\b(?:up to|at least|at most|more than|less than|fewer than|nearly|almost|only|sometimes|usually|often|"
            r"most(?= \w+s\b)|some(?= \w+s\b)|partly|allegedly|reportedly|potentially|possibly) ",
            claim,
        )
    )
    return replaced(claim, *chance.choice(found).span(), "") if found else None


def edit_quotation(claim: str, _: str, chance: random.Random) -> str | None:
    """A word inside quotation marks replaced by another form of it, or left out."""
    quote = re.search(r'(?:^|(?<= ))[“"]([^“”"]{12,})[”"](?!\w)', claim)
    if quote is None:
        return None
    found = list(re.compile(r"\b[a-z]{4,}\b(?= \w)").finditer(claim, *quote.span(1)))
    if not found:
        return None
    match = chance.choice(found)
    new = chance.choice(("", match[0] + "s", match[0][::-1]))
    return replaced(claim, *match.span(), new)


BREAKING: dict[str, Mutation] = {
    "sign": flip_sign,
    "times ten": times_ten,
    "scale": other_scale,
    "unit": other_unit,
    "percent or points": percent_or_points,
    "year": next_year,
    "day or month": other_day,
    "quotation": edit_quotation,
    "swapped numbers": swap_numbers,
    "number from elsewhere": number_from_elsewhere,
    "name": other_name,
    "two subjects": two_subjects,
    "direction": flip_direction,
    "negation": negate,
    "quantifier": other_quantifier,
    "dropped qualifier": drop_qualifier,
}
"""Edits which make a claim false, by class."""

EXACT = ("sign", "times ten", "scale", "unit", "percent or points", "year", "day or month", "quotation")
"""The classes in which code alone should see nearly everything."""
