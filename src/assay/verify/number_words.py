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
"""Words directly before a number which say how exactly it is meant; the first whose pattern fits holds."""
