"""Signs in a statement of what a question asks for: a reason, a measure, a time between two years."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from assay.core.lexicon import NUMBER_WORDS, NUMERALS, TENS
from assay.core.patterns import regex
from assay.core.relevance.asking_words import Measure
from assay.core.relevance.topic_question import is_unspaced

REASON = regex(
    r"\b(?:because|since|due to|so that|in order|therefore|reason|thus|weil|da|denn|damit|wegen|grund|потому|так как|"
    r"поскольку|чтобы|из-за|porque|debido|para|razón)\b|因为|因為|由于|由於|所以|لأن|بسبب",
    re.IGNORECASE,
)
_MEASURES: dict[Measure, tuple[str, ...]] = {
    "age": (
        r"\byears?\b|\baged?\b|\bborn\b|\b(?:is|was|turned) (?:about )?\d{1,3}(?=[.,;]|$)",
        r"\bjahren?\b|jährig|\bim alter\b|gebor|\bлет\b|\bгода?\b|возраст|родил|[岁歲]|出生|年[龄齢]|\d年",
        r"عمر|سنة|عام|ولد|\baños?\b|\bedad\b|\bnaci|\bans\b|\bâgée?|\bnée?\b|\banni\b|\bnat[oa] (?:a|il|in|nel)\b",
        r"\banos?\b|\bidade\b|\bnasc|\bjaar\b|\bcentur|jahrhundert|\bсто?лет|siglo",
    ),
    "extent": (
        r"\b(?:seconds\b|\d+[- ]second\b|(?:a|one|per) second\b|minutes?\b|hour|days?\b|week|month|year|decade|centur)",
        r"\b(?:met(?:er|re)s?\b|kilomet|miles?\b|feet\b|foot\b|inch(?:es)?\b|yards?\b)",
        r"\b(?:until|till|since (?:\d|then|\w+ \d))",
        r"\b(?:sekunde|minute|stunde|woche|monat|jahr|meter|kilometer|tage[ns]?\b|(?:einen?|am|pro|\d+\.?) tag\b)",
        r"\b(?:bis|seit)\b",
        r"\b(?:секунд|минут|час(?:а|ов|ы)?\b|дн[яей]|день|недел|месяц|год|лет|столет|метр|километр|до\b|с\b)",
        r"\b(?:segundo|minuto|hora|día|semana|mes(?:es)?\b|años?\b|siglo|metro|kilómetro|hasta\b|desde\b)",
        r"\b(?:heures?\b|jours?\b|semaine|mois\b|ans\b|siècle|mètre|jusqu|uur\b|dag(?:en)?\b|maand|jaar|jaren|eeuw)",
        r"\d\s?(?:m|km|cm|mm|ft|h|min|s|м|км)\b|[秒分时時天日周月年米里尺]|直到",
        r"دقيقة|ساعة|ساعات|يوم|أيام|شهر|أشهر|سنة|سنوات|عام|قرن|متر|حتى",
    ),
    "money": (
        r"\d\s(?:\w+\s)?(?:kron(?:a|e|en|or|er)|crowns|rupees?|pesos?|guilders?|shillings?|pence)\b|złot",
        r"\b(?:NOK|SEK|DKK|PLN|CZK|JPY|CNY|INR|CAD|AUD)\b|[€£¥₽₹₺₴₩₪₫]",
        r"\$\s?\d|\d\s?\$|dollar|\beuros?\b|\bpounds?\b|\bcents?\b|\byen\b|yuan|\bfran(?:cs?|ken)\b",
        r"\d\s?(?:\w+\s)?marks?\b",
        r"\bруб(?:л|\.)|доллар|евро|[元圆円]|美元",
        r"دولار|يورو|جنيه|dólar|\blibras?\b|\b(?:USD|EUR|GBP|CHF)\b|kostenlos|kostenfrei|gratis|umsonst|бесплатн|免费",
        r"\bfor free\b|(?<![\w-])free[\s-]of[\s-](?:charge|cost)|(?<![\w-])free\s*(?:[.,;:!?)]|$)",
        r"(?<![\w-])free\s(?:entry|admission|tickets?|delivery|shipping|samples?|cop(?:y|ies)|access|parking|meals?)\b",
        r"(?:\b(?:is|are|was|were|be|remains?)|['’]s)\s+(?:\w+ly\s+|always\s+)?free\s+(?:for|if|on|until|with|during)\b",
        r"\bno (?:charge|cost|fees?|royalt)|\bwithout (?:a |any )?(?:charge|cost|fee|payment)",
        r"(?:\bnot|n['’]t) have to pay\b",
    ),
    "share": (
        r"%|％|٪|\bper\s?cent|\bprozent|процент|por ciento|pour cent|百分|yüzde",
        r"\b(?:half|third|quarter|tenth|fifth|hälfte|drittel|viertel|половин|треть|четверть|mitad|tercio|moitié)",
    ),
}
MEASURES = {measure: regex("|".join(patterns), re.IGNORECASE) for measure, patterns in _MEASURES.items()}
"""Signs of a measure in a statement."""
_NUMBER = regex(r"\d")
_CJK_NUMBER = regex("[一二三四五六七八九十百千万亿两半]")
_ALL_OR_NONE = ("both", "neither", "none", "beide", "weder", "keiner")
"""Words that count as numbers: "neither Mercury nor Venus" are two."""
_NUMERAL = regex(rf"\b(?:{'|'.join((*NUMBER_WORDS, *TENS, *NUMERALS, *_ALL_OR_NONE))})\b", re.IGNORECASE)
_WORD = regex(r"(?<![^\W_])[^\W\d_][\w'’-]*")


_NUMERALS = {
    "fr": r"deux trois quatre cinq six sept huit neuf dix cent mille millions? tiers moitié",
    "it": r"due tre quattro cinque sei sette otto nove dieci cento mille milioni terzi metà",
    "pt": r"dois duas três quatro cinco seis sete oito nove dez cem mil milhões terços metade",
    "nl": r"twee drie vier vijf zes zeven acht negen tien honderd duizend miljoen derde helft",
    "pl": r"dw(?:a|ie|óch|ama) trz(?:y|ech) czter(?:y|ech) pię(?:ć|ciu) sze(?:ść|ściu) siedmiu siedem ośmiu"
    r" osiem dziewię(?:ć|ciu) dziesię(?:ć|ciu) sto tysi\w+ milion\w* połow\w+",
    "cs": r"dv(?:a|ě|ou) tř(?:i|í) čtyř\w* pět\w* šest\w* sedm\w* osm\w* dev(?:ět|íti) des(?:et|íti) sto"
    r" tisíc\w* milion\w* polovin\w+",
    "uk": r"дв(?:а|і|ох) тр(?:и|ьох) чотир\w* п['’]ят(?:ь|и) шість шести сім семи вісім восьми"
    r" дев['’]ят(?:ь|и) десят(?:ь|и) сто тисяч\w* мільйон\w* половин\w+",
    "fi": r"kaksi kahde\w+ kolme\w* neljä\w* viisi viide\w+ kuusi kuude\w+ seitsemä\w+ kahdeksa\w+ yhdeksä\w+"
    r" kymmene\w+ sata\w* tuhat\w* tuhan\w+ miljoon\w+ puolet",
    "sv": r"två tre fyra fem sex sju åtta nio tio hundra tusen miljon\w* hälften",
    "da": r"to tre fire fem seks syv otte ni ti hundrede tusind\w* million\w* halvdelen",
    "no": r"to tre fire fem seks sju syv åtte ni ti hundre tusen million\w* halvparten",
    "hu": r"két kettő három négy öt hat hét nyolc kilenc tíz száz\w* ezer\w* millió\w* fele",
    "id": r"dua tiga empat lima enam tujuh delapan sembilan sepuluh seratus seribu ratus\w* ribu\w* juta\w*"
    r" setengah",
    "he": r"שנ(?:י|יים|תי|תיים) שלוש\w* ארבע\w* חמי?ש\w* שש\w* שבע\w* שמונ\w+ תשע\w* עשר\w* מאה מאות אלף"
    r" אלפי\w* מיליו\w+ חצי",
    "fa": r"دو سه چهار پنج شش هفت هشت ده صد هزار\w* میلیون\w* نیم\w*",
    "bn": r"দুই দুটি তিন চার পাঁচ ছয় সাত আট নয় দশ শত হাজার লাখ লক্ষ কোটি অর্ধেক",
    "ta": r"இரண்டு மூன்று நான்கு ஐந்து ஆறு ஏழு எட்டு ஒன்பது பத்து நூறு ஆயிரம் லட்சம் கோடி பாதி",
}
"""Number words of other languages, as Unicode's CLDR spells them out; in each they are other words elsewhere."""


@cache
def _numerals(language: str) -> re.Pattern[str] | None:
    forms = unicodedata.normalize("NFKC", _NUMERALS.get(language, ""))
    return re.compile(rf"(?<!\w)(?:{'|'.join(forms.split())})(?!\w)", re.IGNORECASE) if forms else None


def has_number(text: str, language: str = "") -> bool:
    """True if a text has a number, in digits or in words of the language."""
    written = _NUMBER.search(text) or _NUMERAL.search(text)
    if not written and (own := _numerals(language)) is not None:
        written = own.search(text)
    return bool(written or (is_unspaced(text) and _CJK_NUMBER.search(text)))


def has_name(text: str) -> float:
    """1 if a word other than the first is written as a name; a half if the script has no capitals."""
    if not any(letter.isupper() or letter.islower() for letter in text):
        return 0.5
    return float(any(word[0][0].isupper() for word in _WORD.finditer(text) if word.start()))


_YEARS = regex(
    r"(?<![\d.,])(?P<first>1\d{3}|20\d{2})(?:\s?[-–—~～]\s?|年?(?:到|至|から|まで)"
    r"|,?\s(?:to|till|until|through|bis|à|jusqu['’](?:à|en)|al?|hasta|até|tot|до|по|إلى|حتى)"
    r"(?:\s(?:\d{1,2}(?:st|nd|rd|th|\.)?|[^\W\d_]+\.?),?){0,3}\s)(?P<last>1\d{3}|20\d{2})(?!\d|[.,]\d)"
)


def stated_times(text: str) -> list[tuple[int, int]]:
    """The first and last year of each time that a text bounds by years: "from April 2013 until April 2015"."""
    found = ((int(match["first"]), int(match["last"])) for match in _YEARS.finditer(text))
    return [time for time in found if time[0] < time[1]]
