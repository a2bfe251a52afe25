"""How a spreadsheet program shows a number: as a percentage, with a unit or currency, in thousands, with zeros before.

The codes of such formats: ECMA-376, part 1, section 18.8.31.
"""

from __future__ import annotations

import re
from decimal import Decimal

import msgspec

from assay.core.lazy import regex

PERCENT_IDS = {"9": "0%", "10": "0.00%"}
"""Formats with a number alone. Those of currencies depend on the reader's country, and have a code if they are used."""
MAX_DECIMALS = 4
"""Decimals of a figure if the program shows fewer: sums and quotients of binary fractions have up to 17."""
MAX_PADDED_DECIMALS = 2
"""Zeros at the end up to this decimal are written as shown; 1.500 may be read as more than a thousand."""
MAX_VALUE = 10**15
MAX_AFFIX_CHARS = 30

_TOKEN = regex(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_.|(?P<fill>\*.)|\[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]'
    r"|\[(?P<bracket>[^\]]*)\]|(?P<digits>General|[0#?][0#?.,]*|\.[0#?]+,*)|(?P<sign>[-+()])|(?P<plain>.)",
    re.DOTALL,
)
_COLOUR = regex(r"black|blue|cyan|green|magenta|red|white|yellow|color ?\d+", re.IGNORECASE)
_LITERALS = frozenset("$%!^&'~{}<>=: ")
"""ASCII characters that stand for themselves; letters are those of days and times."""


class NumberFormat(msgspec.Struct, frozen=True):
    """The power of ten by which a number is shown, its least digits and its decimals, and what stands around it.

    Without `shown` it is not shown at all.
    """

    power: int = 0
    digits: int = 1
    decimals: int = 0
    before: str = ""
    behind: str = ""
    shown: bool = True

    def write(self, number: str) -> str:
        """A number as shown, but without separators of thousands, and not rounded to fewer than `MAX_DECIMALS`."""
        value = Decimal(number).scaleb(self.power)
        if not self.shown or abs(value) > MAX_VALUE:
            return number if self.shown else ""
        text = f"{abs(round(value, max(self.decimals, MAX_DECIMALS))):f}"
        whole, _, decimals = text.partition(".")
        decimals = decimals.rstrip("0").ljust(self.decimals if self.decimals <= MAX_PADDED_DECIMALS else 0, "0")
        sign = "-" if value < 0 else ""
        return f"{sign}{self.before}{whole.zfill(self.digits)}{'.' if decimals else ''}{decimals}{self.behind}"


def _has_meaning(match: re.Match[str]) -> bool:
    """True if a token is neither text nor a colour, but a condition, or part of a day, time or fraction."""
    if match["bracket"] is not None:
        return not _COLOUR.fullmatch(match["bracket"])
    return bool(match["plain"]) and match["plain"].isascii() and match["plain"] not in _LITERALS


def parse_number_format(code: str) -> NumberFormat | None:
    """A format by its code; None if it shows the number alone, or in a way not known here (fractions, conditions).

    What it shows negative numbers and zero with is that of positive ones.
    """
    if code.strip() and not code.strip("; "):
        return NumberFormat(shown=False)
    affixes, digits = ["", ""], ""
    for match in _TOKEN.finditer(code):
        text = match["quoted"] or match["escaped"] or match["currency"] or match["plain"] or ""
        if match["plain"] == ";":
            break
        if match["digits"]:
            if digits:
                return None
            digits = match["digits"]
        elif _has_meaning(match):
            return None
        else:
            affixes[bool(digits)] += " " if match["fill"] else text
    before, behind = affixes[0].lstrip(), affixes[1].rstrip()
    if not digits or max(len(before), len(behind)) > MAX_AFFIX_CHARS:
        return None
    whole, _, decimals = digits.removeprefix("General").rstrip(",").partition(".")
    thousands = len(digits) - len(digits.rstrip(",")) + len(whole) - len(whole.rstrip(","))
    made = NumberFormat(
        power=2 * (before + behind).count("%") - 3 * thousands,
        digits=max(whole.count("0"), 1),
        decimals=len(decimals),
        before=before,
        behind=behind,
    )
    return None if made == NumberFormat(decimals=made.decimals) else made
