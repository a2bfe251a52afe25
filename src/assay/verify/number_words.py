"""The words which stand around numbers: scales, currencies, number words, months."""

from __future__ import annotations

from typing import Literal

SCALES = {
    **dict.fromkeys(("hundred",), 2),
    **dict.fromkeys(("thousand", "thousands", "k", "tausend", "tsd", "mille", "mil", "тыс", "тысяч", "千"), 3),
    **dict.fromkeys(("万", "萬"), 4),
    **dict.fromkeys(("million", "millions", "mn", "mio", "millionen", "millones", "млн", "миллионов", "m"), 6),
    **dict.fromkeys(("亿", "億"), 8),
    **dict.fromkeys(("billion", "billions", "bn", "b", "mrd", "milliarden", "milliards", "млрд", "миллиардов"), 9),
    **dict.fromkeys(("trillion", "trillions", "tn", "billionen", "трлн"), 12),
}
ONE_LETTER = frozenset("kmb")
CURRENCIES = {
    **dict.fromkeys(("$", "usd", "dollar", "dollars"), "$"),
    **dict.fromkeys(("€", "eur", "euro", "euros"), "€"),
    **dict.fromkeys(("£", "gbp", "pound sterling"), "£"),
    **dict.fromkeys(("¥", "jpy", "cny", "yen", "yuan", "rmb", "円", "元"), "¥"),
    **dict.fromkeys(("₹", "inr", "rupees"), "₹"),
}
MONEY = [name for name in CURRENCIES if name.isalpha() and name.isascii()]
WORDS = dict(
    zip(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen".split(),
        range(1, 20),
        strict=True,
    )
)
TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
ORDINALS = dict(
    zip("third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), range(3, 13), strict=True)
)
MONTHS = {
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

Bound = Literal["", "about", "nearly", "over", "least", "under", "most"]
BOUNDS: dict[Bound, str] = {
    "least": r"\bat least|\bno (?:less|fewer) than|\bminimum(?: of)?|≥|>=",
    "most": r"\bat (?:the )?most|\bup to|\bno(?:t)? more than|\bmaximum(?: of)?|\bas (?:many|much) as|≤|<=",
    "over": r"\bover|\b(?:more|greater|higher|larger) than|\babove|\bexceed(?:s|ed|ing)?|\bupwards? of|>",
    "under": r"\bunder|\b(?:less|fewer|lower|smaller) than|\bbelow|<",
    "nearly": r"\bnearly|\balmost|\bjust (?:under|short of)|\bclose to",
    "about": r"\babout|\baround|\broughly|\bapprox(?:imately|\.)?|\bc(?:irc)?a\.?|\bsome|\bestimated(?: at)?|~|≈",
}
"""Words directly before a number which say how exactly it is meant; the first whose pattern fits holds."""
