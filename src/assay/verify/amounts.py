"""Reads amounts, dates and other tokens with digits out of running text.

The text is folded by `verify.plain`: one kind of dash, ASCII digits, single spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from itertools import chain, pairwise, starmap

import msgspec

from assay.core import measures
from assay.core.lazy import regex
from assay.core.lexicon import MONTHS, NUMBER_WORDS, ORDINALS, SCALES, TENS
from assay.core.periods import Period, periods_in
from assay.verify.number_words import BOUNDS, MONEY, Bound, Share, fiscal_years, row_measure, shares


def _any(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


_MONTH = rf"(?P<month>{_any(MONTHS)})\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?"


_DATES = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![\d.-])(?P<year>\d{4})(?P<sign>[-/.])(?P<m>\d{1,2})(?P=sign)(?P<day>\d{1,2})(?!\d|[-.]\d)",
        r"(?<![\d.-])(?P<day>\d{1,2})(?P<sign>[-/.])(?P<m>\d{1,2})(?P=sign)(?P<year>\d{4})(?!\d|[-.]\d)",
        r"(?P<year>\d{4})年(?:(?P<m>\d{1,2})月(?:(?P<day>\d{1,2})日)?)?",
        rf"(?<![\w.,]){_DAY}[ -]?(?:of |de |d'|di )?{_MONTH}(?:,?[ -](?:of |de )?(?P<year>\d{{4}}))?(?!\w)",
        rf"\b{_MONTH} {_DAY}(?!\w)(?:,? (?P<year>\d{{4}})(?!\w))?",
        rf"\b{_MONTH},?[ -](?:of |de )?(?P<year>\d{{4}})(?!\w)",
    )
)
_CJK = r"\u3040-\u30ff\u3400-\u9fff"
"""Letters of scripts without spaces, which may touch a number without being part of it."""
_LITERAL = regex(
    r"(?<![\w.])(?:\d{1,2}:\d{2}(?::\d{2})?|\d{4}(?: ?')?s"
    r"|(?!\d{1,3}(?:\.\d{3})+(?![.\d]))v?\d+(?:\.\d+){2,}|v\d+(?:\.\d+)?)(?!\w|\.\d)"
    rf"|(?<![^\W{_CJK}])(?:[^\W\d_{_CJK}]+\d[^\W{_CJK}]*|0x[0-9a-f]+)",
    re.IGNORECASE,
)
_RUN = r"\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,'_]\d+)*"
_CARDINALS = rf"(?:{_any(TENS)})(?:[- ](?:{_any(list(NUMBER_WORDS)[:9])}))?|{_any(NUMBER_WORDS)}"
_SPELT = rf"(?<!\bat )(?:{_CARDINALS}) (?:point|dot)(?: (?:zero|oh|{_CARDINALS})\b)+|{_CARDINALS}|{_any(ORDINALS)}"
_SPELT += r"|an?(?= (?:hundred|[mb]illion|thousand|trillion)\b)"

_NUMBER = regex(
    rf"(?P<front>[{re.escape('$€£¥₹')}]|\b(?:usd|eur|gbp|jpy|cny|inr) )?[ ]?"
    rf"(?:(?P<run>{_RUN})|\b(?P<word>{_SPELT})\b)"
    rf"(?P<ordinal>(?:st|nd|rd|th)\b)?"
    rf"(?:[ -]?(?P<scale>(?:{_any(name for name in SCALES if name not in measures.ONE_LETTER_SCALES)})(?![^\W\d_])\.?"
    rf"|[千万萬亿億])|(?P<letter>[kmb])(?![^\W_]))?"
    rf"(?:[ -]?(?P<unit>%|(?:{_any(name for name in measures.UNIT_NAMES if name != '%')})(?![^\W_]|[/·][^\W\d_])))?"
    rf"(?: ?(?P<back>[{re.escape('$€£¥₹元円')}]|(?:{_any(MONEY)})\b))?",
    re.IGNORECASE,
)
_BOUNDS = {bound: regex(rf"(?:{words}) ?(?:a |an |the |some )?$", re.IGNORECASE) for bound, words in BOUNDS.items()}
_ENGLISH_SCALES = frozenset(("hundred", "thousand", "million", "billion", "trillion", "bn", "mn", "tn"))
_YEAR = regex(r"1[5-9][0-9]{2}|20[0-9]{2}")
_IN_YEAR = regex(
    r"(?:\b(?:in|since|by|during|until|till|before|after|early|late|mid|year|years|fiscal|fy|spring|"
    r"summer|autumn|fall|winter|quarter|q[1-4])[ -])$",
    re.IGNORECASE,
)
_AGE = regex(r"\bage[ds]?(?: of| between)? (?:\d{1,3} ?(?:-|to|and|or) ?)?$", re.IGNORECASE)
_RANGE = regex(r" ?(?:-|to|and|or|bis|und|до|至|~) ?")


class Amount(msgspec.Struct, frozen=True, kw_only=True):
    """A number as a text states it.

    `values` are its possible readings ("1.234" may be either), `quantum` the step of its last digit, `literal` only its
    digits and point; `word` says it is spelled out. `units` are those it may have: in "10-20 %" the 10 may be bare or a
    percentage. `bound` says how a word before it bounds it ("over", "up to"), `year` that it may be a year: four digits
    alone, in a suitable place; `fiscal`, that it is a fiscal year. `terms` are the two numbers of a fraction ("one in
    five").
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
    bound: Bound = ""
    year: bool = False
    fiscal: bool = False
    word: bool = False
    ordinal: bool = False
    terms: tuple[int, ...] = ()


class Day(msgspec.Struct, frozen=True, kw_only=True):
    """A date; parts that are not stated are 0. `swappable` says that day and month may be swapped."""

    text: str
    start: int
    end: int
    year: int = 0
    month: int = 0
    day: int = 0
    swappable: bool = False


class Literal(msgspec.Struct, frozen=True, kw_only=True):
    """A token compared as it is written: a time, a decade, a version, a name with digits."""

    text: str
    start: int
    end: int


Token = Amount | Day | Literal


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[Token, ...]:
    """Every token with digits, and number words, in `text` (folded), in order, without overlaps."""
    days = chain.from_iterable(pattern.finditer(text) for pattern in _DATES)
    candidates = chain[Token | None](
        (_period(period, text) for period in periods_in(text)),
        map(_day, days),
        starmap(_fiscal_year, fiscal_years(text)),
        (Literal(text=match[0], start=match.start(), end=match.end()) for match in _LITERAL.finditer(text)),
        (_fraction(share, text) for share in shares(text)),
    )
    all_tokens: list[Token] = []
    mask = bytearray(len(text))
    for token in candidates:
        if token is not None and not any(mask[token.start : token.end]):
            all_tokens.append(token)
            mask[token.start : token.end] = b"\1" * (token.end - token.start)
    return tuple(sorted((*all_tokens, *_amounts(text, mask)), key=lambda token: token.start))


def _period(period: Period, text: str) -> Token:
    """A week, quarter or half as it is written; a fiscal year as its year, which may be written with two digits."""
    start, end = period.first, period.last
    if period.code.startswith("fy"):
        first, _, second = period.code.removeprefix("fy").partition("to")
        return _fiscal_year(start, end, f"{first}/{second[2:]}" if second else first)
    return Literal(text=text[start:end], start=start, end=end)


def _fiscal_year(start: int, end: int, year: str) -> Amount:
    values = tuple(Decimal(year[:4]) + later for later in range(2 if "/" in year else 1))
    return Amount(
        text=year, start=start, end=end, literal=year, values=values, quantum=Decimal(1), year=True, fiscal=True
    )


def _day(match: re.Match[str]) -> Day | None:
    parts = match.groupdict()
    month = MONTHS[parts["month"].lower()] if parts.get("month") else int(parts.get("m") or 0)
    day, year = int(parts.get("day") or 0), int(parts.get("year") or 0)
    swappable = parts.get("sign") in ("/", "-") and match.start("day") < match.start("year")
    if swappable and month > 12 >= day:
        month, day = day, month
    if month > 12 or day > 31:
        return None
    bare = not year and parts.get("month") in {"may", "mar", "mars", "mai", "march"}
    if bare and not match.string[: match.start()].lower().endswith(("on ", "by ", "since ", "until ")):
        return None  # "may 3" in a sentence: a month would have a capital, or such a word before it
    ambiguous = swappable and day <= 12 and month <= 12
    return Day(
        text=match[0].rstrip("."),
        start=match.start(),
        end=match.end(),
        year=year,
        month=month,
        day=day,
        swappable=ambiguous,
    )


def _fraction(share: Share, text: str) -> Amount:
    """The fraction as a percentage."""
    return Amount(
        text=text[share.start : share.end],
        start=share.start,
        end=share.end,
        literal=f"{share.count}/{share.whole}",
        values=(share.percent,),
        quantum=Decimal(1).scaleb(-9),
        units=("%",),
        bound=_bound_before(text, share.start),
        word=True,
        terms=(share.count, share.whole),
    )


def _amounts(text: str, mask: bytearray) -> list[Amount]:
    amounts: list[Amount] = []
    for match in _NUMBER.finditer(text):
        group = "run" if match["run"] else "word"
        if any(mask[match.start(group) : match.end(group)]):
            continue
        if group == "run" and "," in match["run"] and (parts := _split_number_list(match["run"])):
            position = match.start("run")
            for part in parts:
                amounts.append(_whole_amount(part, position))
                position += len(part) + 1
            continue
        amounts.append(_amount(match, text))
    return [_unit_beside(amount, text) for amount in _complete_ranges(_join_split_numbers(amounts, text), text)]


def _split_number_list(run: str) -> list[str]:
    """The numbers of a list such as "1,2,3"; empty if it is a single number."""
    return [] if _readings(run)[0] else [part for part in run.split(",") if part]


def _whole_amount(part: str, start: int) -> Amount:
    values, literal, decimals = _readings(part)
    quantum = Decimal(1).scaleb(-decimals)
    return Amount(text=part, start=start, end=start + len(part), literal=literal, values=values, quantum=quantum)


def _amount(match: re.Match[str], text: str) -> Amount:
    group = "run" if match["run"] else "word"
    number = match[group]
    values, literal, decimals = _readings(number) if match["run"] else _number_in_words(number)
    if (match["scale"] or "").lower() in _ENGLISH_SCALES:
        values = values[:1]  # 3.515 billion is not 3,515 billion
    exponent = SCALES[match["scale"].lower().rstrip(".")] if match["scale"] else 0
    negative = any(_negative(text, position) for position in (match.start("front"), match.start(group)))
    scaled_values = tuple(_times(value, exponent, negative) for value in values)
    if match["letter"]:
        scaled_values += tuple(_times(value, SCALES[match["letter"].lower()], negative) for value in values)
    front = (match["front"] or match["back"] or "").strip().lower()
    return Amount(
        text=("-" if negative else "") + match[0].strip(" ."),
        start=match.start() + (match[0][:1] == " "),
        end=match.end(),
        literal=("-" if negative else "") + literal,
        values=scaled_values,
        quantum=Decimal(1).scaleb(exponent - decimals),
        units=_units(match),
        currency=measures.CURRENCIES.get(front, ""),
        scaled=bool(exponent or match["letter"]),
        bound=_bound_before(text, match.start()),
        year=_is_year(match, text),
        word=bool(match["word"]),
        ordinal=bool(match["ordinal"]) or (match["word"] or "").lower() in ORDINALS,
    )


def _units(match: re.Match[str]) -> tuple[str, ...]:
    unit = (measures.UNIT_NAMES[match["unit"].lower()] if match["unit"] else "",)
    return (*unit, "m") if match["letter"] == "m" and not match["front"] else unit


def _bound_before(text: str, end: int) -> Bound:
    return _bound_in(text[max(0, end - 24) : end])


@lru_cache(maxsize=4096)
def _bound_in(before: str) -> Bound:
    return next((bound for bound, pattern in _BOUNDS.items() if pattern.search(before)), "")


def lead(text: str, amount: Amount) -> str:
    """The text before an amount (80 code points), without words that bound it ("more than")."""
    before = text[max(0, amount.start - 80) : amount.start]
    return _BOUNDS[amount.bound].sub("", before) if amount.bound else before


def _is_year(match: re.Match[str], text: str) -> bool:
    bare = match["run"] is not None and not (match["front"] or match["back"] or match["scale"] or match["letter"])
    if not bare or match["unit"] or match["ordinal"] or not _YEAR.fullmatch(match["run"]):
        return False
    return _IN_YEAR.search(text[max(0, match.start("run") - 12) : match.start("run")]) is not None


def _times(value: Decimal, exponent: int, negative: bool) -> Decimal:
    """`value` times ten to the `exponent`, exactly: arithmetic would round beyond 28 digits."""
    _, digits, own_exponent = value.as_tuple()
    return Decimal((int(negative), digits, int(own_exponent) + exponent))


def _negative(text: str, position: int) -> bool:
    """True if a minus stands directly before `position`, rather than a hyphen or the dash of a range."""
    return (
        position > 0
        and text[position - 1] == "-"
        and (position < 2 or not (text[position - 2].isalnum() or text[position - 2] in ")%-"))
    )


def _join_split_numbers(amounts: list[Amount], text: str) -> list[Amount]:
    """In tokenized text such as "3, 800 km" and "98. 7 per cent", both parts may be one number."""
    for index, (first, second) in enumerate(pairwise(amounts)):
        separator = text[first.end : second.start].rstrip()
        if separator not in {",", "."} or not (first.literal.isdecimal() and second.literal.isdecimal()):
            continue
        if separator == "," and (len(second.literal) != 3 or len(first.literal) > 3):
            continue
        joined_value = Decimal(f"{first.literal}{'' if separator == ',' else '.'}{second.literal}")
        units, currency = (second.units, first.currency) if first.units == ("",) else (first.units, first.currency)
        all_units = first.units if units == first.units else (*first.units, *units)
        amounts[index] = msgspec.structs.replace(
            first, values=(*first.values, joined_value), units=all_units, currency=currency
        )
        amounts[index + 1] = msgspec.structs.replace(second, values=(*second.values, joined_value), currency=currency)
    return amounts


def _complete_ranges(amounts: list[Amount], text: str) -> list[Amount]:
    """In "10-20 %" and "5 to 6 million", the unit and scale of the second number may apply to the first."""
    for index in range(len(amounts) - 1):
        first, second = amounts[index], amounts[index + 1]
        if not _RANGE.fullmatch(text, first.end, second.start):
            continue
        if first.units == ("",) and second.units != ("",):
            first = msgspec.structs.replace(first, units=("", *second.units))
        if _YEAR.fullmatch(first.text) and len(second.text) == 2 and second.text.isdecimal():
            century = Decimal(first.literal[:2] + second.text)
            amounts[index + 1] = second = msgspec.structs.replace(second, values=(*second.values, century))
        if second.scaled and not first.scaled:
            exponent = int(second.quantum.as_tuple().exponent) + _places(second.literal)
            values = first.values + tuple(_times(value, exponent, value < 0) for value in first.values)
            first = msgspec.structs.replace(first, values=values)
        amounts[index] = first
    return amounts


def _unit_beside(amount: Amount, text: str) -> Amount:
    """In "aged 15-64" and "at the age of 75", years are meant; in a row, the header may have the unit."""
    bare = amount.units == ("",) and not (amount.currency or amount.scaled or amount.ordinal or amount.year)
    sign = amount.start - (text[amount.start - 1 : amount.start] in ("+", "-", "("))
    if bare and text[max(0, sign - 2) : sign].rstrip(" ").endswith(":"):
        head = row_measure(text[text.rfind("\n", 0, sign) + 1 : sign])
        scaled_values = tuple(_times(value, head.power, value < 0) for value in amount.values) if head.power else ()
        return msgspec.structs.replace(
            amount, units=head.units, currency=head.currency, values=(*amount.values, *scaled_values)
        )
    aged = bare and _AGE.search(text[max(0, amount.start - 24) : amount.start])
    return msgspec.structs.replace(amount, units=("year",)) if aged else amount


def _places(literal: str) -> int:
    return len(literal.partition(".")[2])


def _number_in_words(word: str) -> tuple[tuple[Decimal, ...], str, int]:
    lower = word.lower().replace("-", " ")
    integer_part, _, after = lower.replace(" dot ", " point ").partition(" point ")
    value = ORDINALS.get(lower, 0) or int(lower in {"a", "an"}) or _spoken_number(integer_part)
    literal = f"{value}.{_decimals(after)}" if after else str(value)
    return (Decimal(literal),), literal, _places(literal)


def _spoken_number(words: str) -> int:
    return sum(TENS.get(part, 0) + NUMBER_WORDS.get(part, 0) for part in words.split())


def _decimals(words: str) -> str:
    """The digits after a spoken point: "five two", "fifty two" and "zero five"."""
    hyphenated = re.sub(rf"\b({_any(TENS)}) (?=(?:{_any(list(NUMBER_WORDS)[:9])})\b)", r"\1-", words)
    return "".join(str(_spoken_number(part.replace("-", " "))) for part in hyphenated.split())


_COMMAS = regex(r"(?!0,)(\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+|\d{1,3}(?:['_]\d{3})+)(\.\d+)?")
_POINTS = regex(r"(?!0\.)(\d{1,3}(?:\.\d{3})+|\d{1,3}(?: \d{3})+)(,\d+)?")
"""Digits in groups of three; the first group is never just 0, since 0.375 is not 375."""


def _readings(run: str) -> tuple[tuple[Decimal, ...], str, int]:
    """The possible values of digits and separators, their canonical digits, and the digits after the point."""
    if re.fullmatch(r"\d+(?:\.\d+)?", run) and not _POINTS.fullmatch(run):
        return (Decimal(run),), run, _places(run)
    if match := _COMMAS.fullmatch(run):
        literal = re.sub(r"[, '_]", "", match[1]) + (match[2] or "")
        return (Decimal(literal),), literal, _places(literal)
    if match := _POINTS.fullmatch(run):
        literal = re.sub(r"[. ]", "", match[1]) + (match[2] or "").replace(",", ".")
        grouped_value = Decimal(literal)
        if run.count(".") == 1 and "," not in run:
            return (Decimal(run), grouped_value), run, _places(run)
        return (grouped_value,), literal, _places(literal)
    if re.fullmatch(r"\d+,\d+", run):
        literal = run.replace(",", ".")
        return (Decimal(literal),), literal, _places(literal)
    return (), run, 0
