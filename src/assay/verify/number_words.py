"""Words around numbers: currencies, bounds, fractions, units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, localcontext
from typing import Literal

import msgspec

from assay.core.lexicon import NUMBER_WORDS, ORDINALS

ONE_LETTER = frozenset("kmb")
CURRENCIES = {
    **dict.fromkeys(("$", "usd", "dollar", "dollars"), "$"),
    **dict.fromkeys(("€", "eur", "euro", "euros"), "€"),
    **dict.fromkeys(("£", "gbp", "pound sterling"), "£"),
    **dict.fromkeys(("¥", "jpy", "cny", "yen", "yuan", "rmb", "円", "元"), "¥"),
    **dict.fromkeys(("₹", "inr", "rupees"), "₹"),
}
MONEY = [name for name in CURRENCIES if name.isalpha() and name.isascii()]
Bound = Literal["", "about", "nearly", "over", "least", "under", "most"]
BOUNDS: dict[Bound, str] = {
    "least": r"\bat least|\bno (?:less|fewer) than|\bminimum(?: of)?|≥|>="
    r"|\b(?:mindestens|wenigstens|au moins|al menos|por lo menos|pelo menos|almeno|minstens|ten minste|co najmniej"
    r"|не менее|не меньше|как минимум|не менше)|至少|最少|少なくとも|最低",
    "most": r"\bat (?:the )?most|\bup to|\bno(?:t)? more than|\bmaximum(?: of)?|\bas (?:many|much) as|≤|<="
    r"|\b(?:höchstens|bis zu|au plus|au maximum|jusqu'à|como máximo|a lo sumo|hasta|até|no máximo|al massimo|fino a"
    r"|hoogstens|maximaal|co najwyżej|не более|не больше|максимум|не більше)|最多|至多|最大",
    "over": r"\bover|\b(?:more|greater|higher|larger) than|\babove|\bexceed(?:s|ed|ing)?|\bupwards? of|>"
    r"|\b(?:über|mehr als|plus d[e']|más de|mais de|più di|oltre|meer dan|ruim|ponad|więcej niż|более|больше|свыше"
    r"|понад|більше)|超过|超過|多于|逾",
    "under": r"\bunder|\b(?:less|fewer|lower|smaller) than|\bbelow|<"
    r"|\b(?:unter|weniger als|moins d[e']|menos de|meno di|minder dan|mniej niż|poniżej|менее|меньше|менше)"
    r"|不到|少于|不足",
    "nearly": r"\bnearly|\balmost|\bjust (?:under|short of)|\bclose to"
    r"|\b(?:fast|beinahe|nahezu|knapp|presque|près de|casi|quase|quasi|bijna|prawie|niemal|почти|майже)"
    r"|(?<!最)近|将近|接近|ほぼ",
    "about": r"\babout|\baround|\broughly|\bapprox(?:imately|\.)?|\bc(?:irc)?a\.?|\bsome|\bestimated(?: at)?|~|≈"
    r"|\b(?:etwa|ungefähr|rund|zirka|environ|à peu près|quelque|unos|unas|cerca de|alrededor de|aproximadamente"
    r"|por volta de|ongeveer|zowat|około|mniej więcej|примерно|около|приблизительно|приблизно|близько)|大约|大約|约|約",
}
"""Words directly before a number that say how exact it is; the first matching pattern counts."""


# Fractions in words: "two thirds", "half of", "one in five".

_PARTS = {"half": 2, "quarter": 4, **{word: value for word, value in ORDINALS.items() if value <= 10}}
_PLURALS = {"halves": 2, **{f"{word}s": value for word, value in _PARTS.items() if word != "half"}}
_WHOLES = {**{word: value for word, value in NUMBER_WORDS.items() if value <= 10}, "twenty": 20, "hundred": 100}
_COUNT = rf"(?:{'|'.join(list(NUMBER_WORDS)[:10])}|\d)"
_NO_PART = r"(?<!\bfirst )(?<!\bsecond )(?<!\bthird )(?<!\blatter )(?<!\blast )(?<!\bother )(?<!\ba )(?<!\bthe )"
_TIMES = r"(?:second|minute|hour|day|week|month|quarter|year|decade)s?\b"
_SHARE = re.compile(
    rf"\b(?P<count>{_COUNT})[- ](?P<plural>{'|'.join(word for word in _PLURALS if word != 'quarters')})\b"
    rf"|\b(?P<quarters>{_COUNT})(?:-quarters\b|[ ]quarters(?= of\b))"
    r"|\bone[- ](?P<one>half|third|fifth|sixth|seventh|eighth|ninth|tenth)\b"
    rf"|\b(?:an?|one)[- ](?P<of>{'|'.join(word for word in _PARTS if word != 'half')})(?= of\b)"
    rf"|{_NO_PART}\b(?P<half>half)(?= (?:of|the|all|its|their|our)\b(?! (?:a |an )?(?:the )?(?:{_TIMES}|\d)))",
    re.IGNORECASE,
)
_SIGNS = ("hal", *(word for word in _PARTS if word != "half"))
"""A text without any of these, in lower case, has no such fraction: a much faster test."""
_OUT_OF = re.compile(
    rf" (?:in|out of) (?:every |an? )?(?P<whole>{'|'.join(_WHOLES)}|10{{1,3}}|[2-9])\b"
    rf"(?! ?(?:%|per ?cent|{_TIMES})|[.,:/-]\d)",
    re.IGNORECASE,
)
_SOME = re.compile(rf"\b(?P<some>{_COUNT}|ten)\Z", re.IGNORECASE)
_REACH = 8
"""Code points before " in five" that contain the other number."""


class Share(msgspec.Struct, frozen=True):
    """`[start, end)` of a text says `count` parts of `whole`."""

    start: int
    end: int
    count: int
    whole: int

    @property
    def percent(self) -> Decimal:
        with localcontext() as context:
            context.prec = 28
            return Decimal(100 * self.count) / self.whole


def shares(text: str) -> Iterator[Share]:
    """The fractions in `text` (folded), without parts of a year and a possible count of "three quarters"."""
    lower = text.lower()
    for match in _SHARE.finditer(text) if any(sign in lower for sign in _SIGNS) else ():
        count, whole = _terms({name: value.lower() for name, value in match.groupdict().items() if value})
        if 0 < count < whole:
            yield Share(match.start(), match.end(), count, whole)
    for match in _OUT_OF.finditer(text):
        some = _SOME.search(text, max(0, match.start() - _REACH), match.start())
        if some and 0 < (count := _number(some["some"].lower())) < (whole := _number(match["whole"].lower())):
            yield Share(some.start(), match.end(), count, whole)


def _terms(parts: dict[str, str]) -> tuple[int, int]:
    if "plural" in parts:
        return _number(parts["count"]), _PLURALS[parts["plural"]]
    if "quarters" in parts:
        return _number(parts["quarters"]), 4
    (part,) = parts.values()
    return 1, _PARTS[part]


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else _WHOLES[text]


# Units of measure: their names, their dimension, and their conversion.


class Measure(msgspec.Struct, frozen=True):
    """A unit: `value * factor + offset` is the value in the base unit of its dimension."""

    name: str
    dimension: str
    factor: Decimal
    offset: Decimal = Decimal(0)


_TABLE: dict[str, tuple[str, ...]] = {
    "length": (
        "1 m: m metre metres meter meters",
        "1000 km: km kilometre kilometres kilometer kilometers kms",
        "0.01 cm: cm centimetre centimetres centimeter centimeters",
        "0.001 mm: mm millimetre millimetres millimeter millimeters",
        "0.000001 µm: µm μm micrometre micrometres micrometer micrometers micron microns",
        "0.000000001 nm: nm nanometre nanometres nanometer nanometers",
        "1609.344 mile: mile miles mi",
        "1852 nautical mile: nautical_mile nautical_miles",
        "0.9144 yard: yard yards yd",
        "0.3048 foot: foot feet ft",
        "0.0254 inch: inch inches",
    ),
    "mass": (
        "1 kg: kg kilogram kilograms kilogramme kilogrammes kilo kilos",
        "0.001 g: g gram grams gramme grammes",
        "0.000001 mg: mg milligram milligrams",
        "0.000000001 µg: µg μg mcg microgram micrograms",
        "1000 tonne: tonne tonnes metric_ton metric_tons",
        "907.18474 ton: ton tons short_ton short_tons",
        "0.45359237 pound: pound pounds lb lbs",
        "0.028349523125 ounce: ounce ounces oz",
    ),
    "time": (
        "1 second: second seconds sec secs",
        "0.001 ms: ms millisecond milliseconds",
        "0.000001 µs: µs μs microsecond microseconds",
        "0.000000001 ns: ns nanosecond nanoseconds",
        "60 minute: minute minutes min mins",
        "3600 hour: hour hours hr hrs",
        "86400 day: day days",
        "604800 week: week weeks",
        "2629800 month: month months",
        "31557600 year: year years yr yrs",
        "315576000 decade: decade decades",
        "3155760000 century: century centuries",
    ),
    "area": (
        "1 m²: m² m2 square_metre square_metres square_meter square_meters sq_m",
        "1000000 km²: km² km2 square_kilometre square_kilometres square_kilometer square_kilometers sq_km",
        "10000 hectare: hectare hectares ha",
        "4046.8564224 acre: acre acres",
        "2589988.110336 square mile: square_mile square_miles sq_mi",
        "0.09290304 square foot: square_foot square_feet sq_ft",
    ),
    "volume": (
        "1 litre: litre litres liter liters",
        "0.001 ml: ml millilitre millilitres milliliter milliliters",
        "1000 m³: m³ m3 cubic_metre cubic_metres cubic_meter cubic_meters",
        "3.785411784 gallon: gallon gallons",
        "158.987294928 barrel: barrel barrels",
    ),
    "speed": (
        "1 km/h: km/h kph kilometres_per_hour kilometers_per_hour",
        "1.609344 mph: mph miles_per_hour",
        "3.6 m/s: m/s metres_per_second meters_per_second",
        "1.852 knot: knot knots",
    ),
    "data": (
        "1 byte: byte bytes",
        "1000 kB: kb kilobyte kilobytes",
        "1000000 MB: mb megabyte megabytes",
        "1000000000 GB: gb gigabyte gigabytes",
        "1000000000000 TB: tb terabyte terabytes",
        "1024 KiB: kib",
        "1048576 MiB: mib",
        "1073741824 GiB: gib",
    ),
    "power": (
        "1 W: watt watts",
        "1000 kW: kw kilowatt kilowatts",
        "1000000 MW: mw megawatt megawatts",
        "1000000000 GW: gw gigawatt gigawatts",
        "1000000000000 TW: tw terawatt terawatts",
    ),
    "energy": (
        "1 kWh: kwh kilowatt-hour kilowatt-hours kilowatt_hours",
        "1000 MWh: mwh megawatt-hour megawatt-hours megawatt_hours",
        "1000000 GWh: gwh gigawatt-hour gigawatt-hours gigawatt_hours",
        "1000000000 TWh: twh terawatt-hour terawatt-hours terawatt_hours",
    ),
    "frequency": ("1 Hz: hz hertz", "1000 kHz: khz", "1000000 MHz: mhz megahertz", "1000000000 GHz: ghz gigahertz"),
    "share": ("1 %: % percent per_cent pct prozent pour_cent por_ciento процента процентов",),
    "points": (
        "1 points: percentage_point percentage_points prozentpunkte pp",
        "0.01 basis points: basis_point basis_points bps",
    ),
}
_TEMPERATURES = {
    "°C": (("°c", "degrees celsius", "degree celsius", "celsius"), Decimal(1), Decimal(0)),
    "°F": (("°f", "degrees fahrenheit", "fahrenheit"), Decimal(5) / 9, Decimal(-160) / 9),
}


def _read() -> tuple[dict[str, Measure], dict[str, str]]:
    measures: dict[str, Measure] = {}
    names: dict[str, str] = {}
    for dimension, lines in _TABLE.items():
        for line in lines:
            head, _, called = line.partition(": ")
            factor, _, name = head.partition(" ")
            measures[name] = Measure(name, dimension, Decimal(factor))
            names |= {call.replace("_", " "): name for call in called.split()}
    for name, (calls, degree, offset) in _TEMPERATURES.items():
        measures[name] = Measure(name, "temperature", degree, offset)
        names |= dict.fromkeys(calls, name)
    return measures, names


MEASURES, NAMES = _read()
"""Units by their main name; and that name by every name of a unit, lower case."""


def comparable(one: str, other: str) -> bool:
    """True if both units have the same dimension."""
    first, second = MEASURES.get(one), MEASURES.get(other)
    return first is not None and second is not None and first.dimension == second.dimension


def convert(value: Decimal, unit: str, to: str) -> Decimal:
    """Convert `value` from `unit` to the unit `to`, which must be comparable."""
    source, target = MEASURES[unit], MEASURES[to]
    return (value * source.factor + source.offset - target.offset) / target.factor
