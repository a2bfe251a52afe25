"""Edits by code that leave a true claim true, of the same kinds as those of `mutating`."""

from __future__ import annotations

import random
import re

from mutating import MONTHS, Mutation, replaced


def number_format(claim: str, _: str, chance: random.Random) -> str | None:
    """A number written another way: 1,000,000 and 1 million, 5 % and 5 percent."""
    if match := re.search(r"(?<![\w.,-])\d{1,3},?000,000(?![\w,.])", claim):
        return replaced(claim, *match.span(), f"{int(match[0].replace(',', '')) // 10**6} million")
    if match := re.search(r"(?<![\w.,-])(\d{1,3}) million\b", claim):
        return replaced(claim, *match.span(), f"{match[1]},000,000")
    if match := re.search(r"(?<=\d) ?%|(?<=\d) per ?cent\b", claim):
        return replaced(claim, *match.span(), " percent" if "%" in match[0] else "%")
    if match := re.search(r"(?<![\w.,-])\d{1,3},\d{3}(?![\w,.])", claim):
        return replaced(claim, *match.span(), match[0].replace(",", chance.choice(("", " "))))
    return None


def date_format(claim: str, _: str, chance: random.Random) -> str | None:
    """A date written another way."""
    months = "|".join(MONTHS)
    if match := re.search(rf"\b({months}) (\d{{1,2}}),? (\d{{4}})\b", claim):
        forms = (f"{match[2]} {match[1]} {match[3]}", f"{match[3]}-{MONTHS.index(match[1]) + 1:02}-{int(match[2]):02}")
        return replaced(claim, *match.span(), chance.choice(forms))
    if match := re.search(rf"\b(\d{{1,2}}) ({months}) (\d{{4}})\b", claim):
        return replaced(claim, *match.span(), f"{match[2]} {match[1]}, {match[3]}")
    return None


def clause_order(claim: str, _: str, chance: random.Random) -> str | None:
    """A clause at the beginning put at the end."""
    match = re.fullmatch(
        r"((?:In|On|At|After|Before|During|According to|As of|By|For) [^,.;]{3,60}), ([^.;]{15,})\.", claim
    )
    return f"{match[2][0].upper()}{match[2][1:]} {match[1][0].lower()}{match[1][1:]}." if match else None


_SYNONYMS = {
    "said": "stated",
    "began": "started",
    "started": "began",
    "bought": "purchased",
    "large": "big",
    "about": "around",
    "approximately": "roughly",
    "show": "demonstrate",
    "shows": "demonstrates",
    "helps": "aids",
    "located": "situated",
    "near": "close to",
    "also": "additionally",
    "however": "nevertheless",
    "used": "employed",
    "uses": "employs",
    "announced": "declared",
    "usually": "generally",
    "main": "principal",
    "several": "a number of",
    "film": "movie",
    "increased": "rose",
    "decreased": "fell",
    "nearly": "almost",
    "became": "turned into",
    "people": "persons",
    "while": "whereas",
    "released": "published",
    "made": "created",
    "created": "made",
    "called": "named",
}


def synonym(claim: str, _: str, chance: random.Random) -> str | None:
    """A word replaced by another of the same meaning."""
    found = [match for match in re.finditer(r"\b[a-z]+\b", claim) if match[0] in _SYNONYMS]
    if not found:
        return None
    match = chance.choice(found)
    return replaced(claim, *match.span(), _SYNONYMS[match[0]])


def typography(claim: str, _: str, chance: random.Random) -> str | None:
    """Curly quotation marks, long dashes and narrow spaces for plain ones."""
    new = re.sub(r"\"([^\"]*)\"", "“\\1”", claim).replace("'", "’").replace(" - ", " – ")
    new = re.sub(r"(?<=\d) (?=%|[a-z])", "\u202f", new)
    return new if new != claim else None


FAITHFUL: dict[str, Mutation] = {
    "as it is": lambda claim, _passage, _chance: claim,
    "number format": number_format,
    "date format": date_format,
    "clause order": clause_order,
    "synonym": synonym,
    "typography": typography,
}
"""Edits which leave a claim true."""
