"""Amounts, dates and other tokens with digits, read out of running text.

The text is folded as `verify.plain` does it: one kind of dash, ASCII digits, single spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, localcontext
from functools import lru_cache

import msgspec

# what stands around a number

_SCALES = {
    **dict.fromkeys(("hundred",), 2),
    **dict.fromkeys(("thousand", "thousands", "k", "tausend", "tsd", "mille", "mil", "тыс", "тысяч", "千"), 3),
    **dict.fromkeys(("万", "萬"), 4),
    **dict.fromkeys(("million", "millions", "mn", "mio", "millionen", "millones", "млн", "миллионов", "m"), 6),
    **dict.fromkeys(("亿", "億"), 8),
    **dict.fromkeys(("billion", "billions", "bn", "b", "mrd", "milliarden", "milliards", "млрд", "миллиардов"), 9),
    **dict.fromkeys(("trillion", "trillions", "tn", "billionen", "трлн"), 12),
}
_ONE_LETTER = frozenset("kmb")
_UNITS = {
    **dict.fromkeys(
        ("%", "percent", "per cent", "pct", "prozent", "pour cent", "por ciento", "процента", "процентов"), "%"
    ),
    **dict.fromkeys(("percentage point", "percentage points", "prozentpunkte", "pp"), "points"),
    **dict.fromkeys(("basis point", "basis points", "bps"), "basis points"),
}
_CURRENCIES = {
    **dict.fromkeys(("$", "usd", "dollar", "dollars"), "$"),
    **dict.fromkeys(("€", "eur", "euro", "euros"), "€"),
    **dict.fromkeys(("£", "gbp", "pound sterling"), "£"),
    **dict.fromkeys(("¥", "jpy", "cny", "yen", "yuan", "rmb", "円", "元"), "¥"),
    **dict.fromkeys(("₹", "inr", "rupees"), "₹"),
}
_MONEY = [name for name in _CURRENCIES if name.isalpha() and name.isascii()]
_WORDS = dict(
    zip(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen".split(),
        range(1, 20),
        strict=True,
    )
)
_TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
_ORDINALS = dict(
    zip("third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), range(3, 13), strict=True)
)
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner janvier enero gennaio januari января",
            "february feb februar février febrero febbraio februari февраля",
            "march mar märz maerz mars marzo maart марта",
            "april apr avril abril aprile апреля",
            "may mai mayo maggio mei мая",
            "june jun juni juin junio giugno июня",
            "july jul juli juillet julio luglio июля",
            "august aug août agosto augustus августа",
            "september sep sept septembre septiembre settembre сентября",
            "october oct oktober okt octobre octubre ottobre октября",
            "november nov novembre noviembre ноября",
            "december dec dezember dez décembre diciembre dicembre декабря",
        ),
        1,
    )
    for name in names.split()
}


def _any(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


_MONTH = rf"(?P<month>{_any(_MONTHS)})\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![\d.-])(?P<year>\d{4})(?P<sign>[-/.])(?P<m>\d{1,2})(?P=sign)(?P<day>\d{1,2})(?!\d|[-.]\d)",
        r"(?<![\d.-])(?P<day>\d{1,2})(?P<sign>[-/.])(?P<m>\d{1,2})(?P=sign)(?P<year>\d{4})(?!\d|[-.]\d)",
        r"(?P<year>\d{4})年(?:(?P<m>\d{1,2})月(?:(?P<day>\d{1,2})日)?)?",
        rf"(?<![\w.,]){_DAY}[ -]?(?:of |de |d'|di )?{_MONTH}(?:,?[ -](?:of |de )?(?P<year>\d{{4}}))?(?!\w)",
        rf"\b{_MONTH} {_DAY}(?!\w)(?:,? (?P<year>\d{{4}})(?!\w))?",
        rf"\b{_MONTH},?[ -](?:of |de )?(?P<year>\d{{4}})(?!\w)",
    )
)
_LITERAL = re.compile(
    r"(?<![\w.])(?:\d{1,2}:\d{2}(?::\d{2})?|\d{4}'?s|(?!\d{1,3}(?:\.\d{3})+(?![.\d]))v?\d+(?:\.\d+){2,}|v\d+(?:\.\d+)?)(?!\w|\.\d)"
    r"|(?<!\w)(?:[^\W\d_]+\d\w*|0x[0-9a-f]+)",
    re.IGNORECASE,
)
_RUN = r"\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,'_]\d+)*"
_NUMBER_WORDS = rf"(?:{_any(_TENS)})(?:[- ](?:{_any(list(_WORDS)[:9])}))?|{_any(_WORDS)}|{_any(_ORDINALS)}"
_NUMBER = re.compile(
    rf"(?P<front>[{re.escape('$€£¥₹')}]|\b(?:usd|eur|gbp|jpy|cny|inr) )?[ ]?"
    rf"(?:(?P<run>{_RUN})|\b(?P<word>{_NUMBER_WORDS})\b)"
    rf"(?P<ordinal>(?:st|nd|rd|th)\b)?"
    rf"(?:[ -]?(?P<scale>(?:{_any(name for name in _SCALES if name not in _ONE_LETTER)})(?![^\W\d_])\.?"
    rf"|[千万萬亿億])|(?P<letter>[kmb])(?![^\W_]))?"
    rf"(?:[ -]?(?P<unit>%|(?:{_any(name for name in _UNITS if name != '%')})(?![^\W\d_])))?"
    rf"(?: ?(?P<back>[{re.escape('$€£¥₹元円')}]|(?:{_any(_MONEY)})\b))?",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:about|around|roughly|nearly|almost|approximately|some|circa|ca\.?|over|more than|under|~|≈) ?$", re.I
)
_RANGE = re.compile(r" ?(?:-|to|and|or|bis|und|до|至|~) ?")


class Amount(msgspec.Struct, frozen=True, kw_only=True):
    """A number as a text states it.

    `values` are its possible readings ("1.234" may be either), `quantum` the step of its last digit, `literal` its
    digits and point alone; `word` says it is spelled out. `units` are those it may have: in "10-20 %" the 10 may
    be bare or a percentage. `about` says that it is stated as roughly so.
    """

    text: str
    start: int
    end: int
    literal: str
    values: tuple[Decimal, ...]
    quantum: Decimal
    units: tuple[str, ...] = ("",)
    currency: str = ""
    scaled: bool = False
    about: bool = False
    word: bool = False
    ordinal: bool = False


class Day(msgspec.Struct, frozen=True, kw_only=True):
    """A date; parts which are not stated are 0. `swapped` says day and month may be the other way about."""

    text: str
    start: int
    end: int
    year: int = 0
    month: int = 0
    day: int = 0
    swapped: bool = False


class Literal(msgspec.Struct, frozen=True, kw_only=True):
    """A token which counts as it is written: a time, a decade, a version, a name with digits in it."""

    text: str
    start: int
    end: int


Token = Amount | Day | Literal


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[Token, ...]:
    """Every token with digits, and number words, in `text` (folded), in order; none overlap."""
    found: list[Token] = []
    taken = bytearray(len(text))

    def take(token: Token) -> None:
        found.append(token)
        taken[token.start : token.end] = b"\1" * (token.end - token.start)

    for pattern in _DATES:
        for match in pattern.finditer(text):
            day = _day(match)
            if day and not any(taken[match.start() : match.end()]):
                take(day)
    for match in _LITERAL.finditer(text):
        if not any(taken[match.start() : match.end()]):
            take(Literal(text=match[0], start=match.start(), end=match.end()))
    for amount in _amounts(text, taken):
        take(amount)
    return tuple(sorted(found, key=lambda token: token.start))


def _day(match: re.Match[str]) -> Day | None:
    parts = match.groupdict()
    month = _MONTHS[parts["month"].lower()] if parts.get("month") else int(parts.get("m") or 0)
    day, year = int(parts.get("day") or 0), int(parts.get("year") or 0)
    swapped = parts.get("sign") in ("/", "-") and match.start("day") < match.start("year")
    if swapped and month > 12 >= day:
        month, day = day, month
    if month > 12 or day > 31:
        return None
    if not year and parts.get("month") in {"may", "mar", "mars", "mai", "march"}:
        return None  # "may 3" inside a sentence: a month would have a capital
    ambiguous = swapped and day <= 12 and month <= 12
    return Day(
        text=match[0].rstrip("."),
        start=match.start(),
        end=match.end(),
        year=year,
        month=month,
        day=day,
        swapped=ambiguous,
    )


def _amounts(text: str, taken: bytearray) -> list[Amount]:
    found: list[Amount] = []
    for match in _NUMBER.finditer(text):
        group = "run" if match["run"] else "word"
        if any(taken[match.start(group) : match.end(group)]):
            continue
        if group == "run" and "," in match["run"] and (parts := _listed(match["run"])):
            at = match.start("run")
            for part in parts:
                found.append(_whole(part, at, text))
                at += len(part) + 1
            continue
        found.append(_amount(match, text))
    return _ranged(found, text)


def _listed(run: str) -> list[str]:
    """The numbers of a run such as "1,2,3", which is no number; empty when it is one."""
    return [] if _readings(run)[0] else [part for part in run.split(",") if part]


def _whole(part: str, at: int, text: str) -> Amount:
    values, literal, places = _readings(part)
    quantum = Decimal(1).scaleb(-places)
    return Amount(text=part, start=at, end=at + len(part), literal=literal, values=values, quantum=quantum)


def _amount(match: re.Match[str], text: str) -> Amount:
    group = "run" if match["run"] else "word"
    number = match[group]
    values, literal, places = _readings(number) if match["run"] else _spelled(number)
    exponent = _SCALES[match["scale"].lower().rstrip(".")] if match["scale"] else 0
    negative = any(_negative(text, at) for at in (match.start("front"), match.start(group)))
    scaled = tuple(_times(value, exponent, negative) for value in values)
    if match["letter"]:
        scaled += tuple(_times(value, _SCALES[match["letter"].lower()], negative) for value in values)
    front = (match["front"] or match["back"] or "").strip().lower()
    return Amount(
        text=("-" if negative else "") + match[0].strip(" ."),
        start=match.start(),
        end=match.end(),
        literal=("-" if negative else "") + literal,
        values=scaled,
        quantum=Decimal(1).scaleb(exponent - places),
        units=(_UNITS[match["unit"].lower()] if match["unit"] else "",),
        currency=_CURRENCIES.get(front, ""),
        scaled=bool(exponent or match["letter"]),
        about=_ABOUT.search(text, max(0, match.start() - 20), match.start()) is not None,
        word=bool(match["word"]),
        ordinal=bool(match["ordinal"]) or (match["word"] or "").lower() in _ORDINALS,
    )


def _times(value: Decimal, exponent: int, negative: bool) -> Decimal:
    """`value` times ten to the `exponent`, exactly: arithmetic would round what has more than 28 digits."""
    _, digits, own = value.as_tuple()
    return Decimal((int(negative), digits, int(own) + exponent))


def _negative(text: str, at: int) -> bool:
    """Whether a minus stands directly before `at` (and is no hyphen, no dash of a range)."""
    return at > 0 and text[at - 1] == "-" and (at < 2 or not (text[at - 2].isalnum() or text[at - 2] in ")%-"))


def _ranged(found: list[Amount], text: str) -> list[Amount]:
    """In "10-20 %" and "5 to 6 million", what the second number has may hold of the first."""
    for at in range(len(found) - 1):
        first, second = found[at], found[at + 1]
        if not _RANGE.fullmatch(text, first.end, second.start):
            continue
        if first.units == ("",) and second.units != ("",):
            first = msgspec.structs.replace(first, units=("", *second.units))
        if second.scaled and not first.scaled:
            exponent = int(second.quantum.as_tuple().exponent) + _places(second.literal)
            values = first.values + tuple(_times(value, exponent, value < 0) for value in first.values)
            first = msgspec.structs.replace(first, values=values)
        found[at] = first
    return found


def _places(literal: str) -> int:
    return len(literal.partition(".")[2])


def _spelled(word: str) -> tuple[tuple[Decimal, ...], str, int]:
    lower = word.lower().replace("-", " ")
    value = _ORDINALS.get(lower, 0) or sum(_TENS.get(part, 0) + _WORDS.get(part, 0) for part in lower.split())
    return (Decimal(value),), str(value), 0


_COMMAS = re.compile(r"(\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+|\d{1,3}(?:['_]\d{3})+)(\.\d+)?")
_POINTS = re.compile(r"(\d{1,3}(?:\.\d{3})+|\d{1,3}(?: \d{3})+)(,\d+)?")


def _readings(run: str) -> tuple[tuple[Decimal, ...], str, int]:
    """The values a run of digits and separators may have, its canonical digits, its digits after the point."""
    if re.fullmatch(r"\d+(?:\.\d+)?", run) and not _POINTS.fullmatch(run):
        return (Decimal(run),), run, _places(run)
    if match := _COMMAS.fullmatch(run):
        literal = re.sub(r"[, '_]", "", match[1]) + (match[2] or "")
        return (Decimal(literal),), literal, _places(literal)
    if match := _POINTS.fullmatch(run):
        literal = re.sub(r"[. ]", "", match[1]) + (match[2] or "").replace(",", ".")
        grouped = Decimal(literal)
        if run.count(".") == 1 and "," not in run:
            return (Decimal(run), grouped), run, _places(run)
        return (grouped,), literal, _places(literal)
    if re.fullmatch(r"\d+,\d+", run):
        literal = run.replace(",", ".")
        return (Decimal(literal),), literal, _places(literal)
    return (), run, 0


def same(claim: Amount, evidence: Amount) -> bool:
    """Whether `evidence` states the amount of `claim`, at the precision the claim states it.

    A bare decimal counts as written (3.1 is not 3.10); an amount with a unit, a currency or a scale by its value,
    rounded as far as the claim rounds. Sign, unit and currency must agree.
    """
    if not claim.values:
        return claim.literal == evidence.literal
    if claim.currency and evidence.currency and claim.currency != evidence.currency:
        return False
    if not set(claim.units) & set(evidence.units):
        return False
    measured = claim.scaled or claim.about or claim.currency or claim.units != ("",)
    if not measured and not evidence.scaled and claim.quantum < 1 and len(claim.values) == 1:
        return claim.literal == evidence.literal or (claim.values[0] in evidence.values and evidence.quantum >= 1)
    if set(claim.values) & set(evidence.values):
        return True
    if not measured or evidence.quantum >= claim.quantum:
        return False
    return any(_rounds(value, claim) for value in evidence.values)


def _rounds(value: Decimal, claim: Amount) -> bool:
    ways = (ROUND_HALF_UP, ROUND_DOWN) if claim.about else (ROUND_HALF_UP,)
    with localcontext() as context:
        context.prec = 60
        steps = value / claim.quantum
        return any(steps.to_integral_value(way) * claim.quantum in claim.values for way in ways)
