"""Units of measure: their names, their dimension, and their conversion."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import NamedTuple

import msgspec

from assay.core.lazy import regex
from assay.core.lexicon import SCALES
from assay.core.text import words_of_name


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
    "concentration": (
        "1 g/l: g/l grams_per_litre grams_per_liter",
        "0.001 mg/l: mg/l milligrams_per_litre milligrams_per_liter",
        "0.000001 µg/l: µg/l μg/l micrograms_per_litre micrograms_per_liter",
        "0.000000001 ng/l: ng/l",
        "0.01 mg/dl: mg/dl",
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


def _read_measures() -> tuple[dict[str, Measure], dict[str, str]]:
    measures: dict[str, Measure] = {}
    names: dict[str, str] = {}
    for dimension, lines in _TABLE.items():
        for line in lines:
            head, _, aliases = line.partition(": ")
            factor, _, name = head.partition(" ")
            measures[name] = Measure(name, dimension, Decimal(factor))
            names |= {call.replace("_", " "): name for call in aliases.split()}
    for name, (calls, degree, offset) in _TEMPERATURES.items():
        measures[name] = Measure(name, "temperature", degree, offset)
        names |= dict.fromkeys(calls, name)
    return measures, names


CURRENCIES = {
    **dict.fromkeys(("$", "usd", "dollar", "dollars"), "$"),
    **dict.fromkeys(("€", "eur", "euro", "euros"), "€"),
    **dict.fromkeys(("£", "gbp", "pound sterling"), "£"),
    **dict.fromkeys(("¥", "jpy", "cny", "yen", "yuan", "rmb", "円", "元"), "¥"),
    **dict.fromkeys(("₹", "inr", "rupees"), "₹"),
}
"""The sign of a currency, by its names in lower case."""
MEASURES, UNIT_NAMES = _read_measures()
"""Units by their main name; and that name by every name of a unit, lower case."""


def are_comparable(first_unit: str, second_unit: str) -> bool:
    """True if both units have the same dimension."""
    first, second = MEASURES.get(first_unit), MEASURES.get(second_unit)
    return first is not None and second is not None and first.dimension == second.dimension


def convert(value: Decimal, unit: str, to: str) -> Decimal:
    """Convert `value` from `unit` to the unit `to`, which must be comparable."""
    source, target = MEASURES[unit], MEASURES[to]
    return (value * source.factor + source.offset - target.offset) / target.factor


# Conversions as people write them, and units in the labels of fields and columns.

EXACT = 12
"""A converted number with more digits than this does not end; it is rounded."""
ROUNDED = 5
"""The digits to which it is rounded, unless more are before its point."""
_AMBIGUOUS = frozenset(
    "second minute hour day week month year decade century min sec points pp percentage point foot".split()
)
"""Names of units that mean something else at the end of a label: `birth_year`, `opening_day`, `price_min`."""


def round_converted(value: Decimal) -> Decimal:
    """A converted number without digits that only come from the division."""
    if len(value.as_tuple().digits) <= EXACT:
        return value
    with localcontext() as context:
        context.prec = max(ROUNDED, value.adjusted() + 1)
        return +value


_MEASURE_WORD = regex(r"[^\W\d_]+|[$€£¥₹]")
_SIZED = CURRENCIES.keys() | SCALES.keys()
_BETWEEN_WORDS = frozenset("in of en de".split())
ONE_LETTER_SCALES = frozenset("kmb")
"""Scales that are also other words: "m" are metres, unless a currency stands before it."""


def is_measure_name(text: str) -> bool:
    """True if a text is nothing but a currency or a scale, perhaps with a unit: "£ million", "€m", "in thousands"."""
    words = {word.casefold() for word in _MEASURE_WORD.findall(text)} - _BETWEEN_WORDS
    return bool(words & (_SIZED - ONE_LETTER_SCALES)) and words <= _SIZED | UNIT_NAMES.keys()


class LabelWithUnit(NamedTuple):
    """A label without its unit, and the unit as the label writes it, "" if it has none."""

    label: str
    unit: str


def split_label(label: str) -> LabelWithUnit:
    """The unit at the end of a label: `m` of `main_span_m`, `ft` of `Height (ft)`."""
    parts = words_of_name(label)
    unit = parts[-1].lower() if len(parts) > 1 else ""
    if unit not in UNIT_NAMES or unit in _AMBIGUOUS or parts[-2].lower() == "per":  # a price per tonne is no mass
        return LabelWithUnit(label, "")
    return LabelWithUnit(label[: label.rindex(parts[-1])].rstrip(" _([-,"), parts[-1])
