"""Signs that a statement says what a question asks for: who did it, a reason, a measure, a time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache

from assay.core.lazy import regex
from assay.core.lexicon import NUMBER_WORDS, NUMERALS, TENS, stop_terms
from assay.core.measures import split_label
from assay.core.relevance.asking_words import MeasureKind
from assay.core.relevance.predicates import is_saying, synonyms
from assay.core.relevance.relevance_constants import NEAR_VALUE
from assay.core.relevance.topic_question import CAPITALIZING, TopicQuestion, is_unspaced, keys, near_keys

# Who did what is asked: only if a question asks who did something ("who wrote …?"), not who somebody is.

_WHO = regex(
    r"(?<!\w)(?:who|wer|qui|quién|quiénes|chi|quem)\s+(?:(?:has|have|had|hat|hatte|haben|a|ont|avait|ha|han|había|"
    r"hanno|heeft)\s+)?(?:first\s+|originally\s+|zuerst\s+)?(?P<verb>[^\W\d_]{3,})",
    re.IGNORECASE,
)
_HAPPENED = regex(
    r"(?:(?P<what>what)|when|where|why|how(?: much)?|by whom"
    r"|(?:in )?(?:what|which) (?:year|month|day|date|city|town|country))\s+"
    r"(?:was|were|is|are|did|does|do|has|have|had)\s.+\s(?P<verb>[a-z]{3,})[?\s.]*",
    re.IGNORECASE,
)
"""A question about what was done or happened, with its verb at the end: "when was the bridge opened?"."""
_CAPITAL = r"[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-Я][\w.'’-]+"
_BY = r"(?:by|par|por|pela|pelo|da|dal|dalla|door)"
BY_SOMEBODY = regex(
    rf"(?<!\w){_BY}\s(?!\w+ing\b|(?:default|hand|means|far|now|then|itself|accident|chance|définition|defecto|"
    r"ejemplo|exemple|esempio)\b)"
)
"""A doer after a passive verb; "by default" and "by using" name nobody."""
_FULL_NAME = regex(rf"(?P<first>{_CAPITAL})\s+(?:(?:van|von|de|da|di|la|le|[A-Z]\.)\s+)?(?P<last>{_CAPITAL})")
_UNFINISHED = frozenset(
    "to please will can could may must should would shall might don't not never let zu para per de di pour à".split()
)
"""Words before a verb that nobody has done: "please write a test"."""
_FORMS = (
    "pay paid payment payments, say said, lay laid, buy bought, bring brought, think thought, catch caught, "
    "teach taught, seek sought, fight fought, make made, go went gone, leave left, see saw seen, eat ate eaten, "
    "bringen brachte gebracht, denken dachte gedacht, gehen ging gegangen, stehen stand gestanden"
)
_IRREGULAR = {form: forms.split()[0] for forms in _FORMS.split(", ") for form in forms.split()}
"""The infinitive of verbs whose forms have other consonants."""
_WORD = regex(r"[^\W\d_]{2,}(?:['’]t)?")
_VOWELS = regex(r"[aeiouyäöüéèê]")
_TELLING = regex(r'[:："“„«「『]')
"""What comes before a question that somebody else asked."""


_MARKED_QUESTION = regex(
    r"\A\W*[^\W\d_]\s?\d{0,3}\s?[:：]\s*"
    r"|\A[\[(]?\d[\d.:/, T-]*(?:[ap]m)?[\])]?[\s,–-]*(?:[^\W\d_][^:：?？]{0,40}[:：]\s+)?"
    r"|\A(?-i:[A-ZÀ-ÖØ-ÞА-ЯЁ])[\w'’.-]*(?:\s+(?:(?:de|van|von|der|la)\s+)*(?-i:[A-ZÀ-ÖØ-ÞА-ЯЁ])[\w'’.-]*){0,3}[:：]\s+"
)
"""What marks a question in a FAQ ("Q:", "Q 12:"), and in a chat: a time, and who writes ("[21:05] Imre: who?")."""


def is_question(text: str) -> bool:
    """True if a text is a question and nothing else; one that tells what somebody asked is not."""
    is_marked = text.rstrip().endswith(("?", "？", "؟"))
    return is_marked and _TELLING.search(_MARKED_QUESTION.sub("", text, count=1)) is None


_FIRST_PERSON = regex(
    r"(?<![\w'’-])(?:I|[Ww]e|[Mm]y|[Oo]ur|[Ii]ch|[Ww]ir|[Mm]ein\w*|[Uu]nser\w*|[Jj]e|[Nn]ous)(?![\w-])"
)


def tells_who(question: TopicQuestion, texts: Sequence[str], spoken: Sequence[str] = ()) -> bool:
    """True if one of the texts may say who did what a question asks: it has the verb as something done, a doer
    ("by"), or a full name. What somebody says in a conversation (`spoken`) tells who said it, or did it if he says "I".

    Also if the question does not ask that, or its language writes every noun with a capital letter.
    """
    verb = asked_verb(question.text, question.analysis)
    if not verb or question.negation_language != question.language or question.language in CAPITALIZING:
        return True
    says = bool(spoken) and is_saying(verb, question.analysis)
    return (
        says
        or any(map(_FIRST_PERSON.search, spoken))
        or is_unspaced(question.text)
        or any(_may_tell_who(text, verb, question.analysis) for text in texts)
    )


def _may_tell_who(text: str, verb: str, analysis: str) -> bool:
    if BY_SOMEBODY.search(text) or any(_is_name(name, analysis) for name in _FULL_NAME.finditer(text)):
        return True
    same = synonyms(verb)
    forms = [word for word in _WORD.finditer(text) if is_same_verb(verb, word[0].casefold(), analysis)]
    return any(is_done(text, word) for word in (*forms, *(same.finditer(text) if same is not None else ())))


def is_done(text: str, verb: re.Match[str]) -> bool:
    """True if a verb is neither a request, with which a clause begins, nor what somebody is to do."""
    before = _WORD.findall(text[: verb.start()])
    begins = not before or (verb[0].islower() and text[: verb.start()].rstrip().endswith((",", ";", ":")))
    return not begins and before[-1].casefold() not in _UNFINISHED


def _is_name(match: re.Match[str], analysis: str) -> bool:
    """True if two words with a capital may be somebody's name: "SEE ALSO" and "TABLE The" are none."""
    parts = (match["first"], match["last"])
    empty = any(stop_terms(analysis).issuperset(keys(word, analysis)) for word in parts)
    return not empty and not all(map(str.isupper, parts))


def verb_keys(question: TopicQuestion, text: str) -> dict[str, float]:
    """The key of the question's verb, if a text has another form of it ("written" for "wrote"), or, as a near key, a
    verb that says the same.
    """
    verb = asked_verb(question.text, question.analysis) or _event_verb(question.text, question.analysis)
    words = (match[0].casefold() for match in _WORD.finditer(text)) if verb else ()
    value = 1.0 if any(is_same_verb(verb, word, question.analysis) for word in words) else 0.0
    if verb and not value and (same := synonyms(verb)) is not None and same.search(text):
        value = NEAR_VALUE
    return dict.fromkeys(set(keys(verb, question.analysis)).intersection(question.keys), value) if value else {}


@lru_cache(maxsize=512)
def _event_verb(question: str, analysis: str) -> str:
    """The last word of a question when, where, why or how something happened; "" for any other."""
    match = _HAPPENED.fullmatch(question)
    verb = match["verb"] if match and match["verb"].islower() else ""
    if match and match["what"] and not is_saying(verb, analysis):
        return ""  # "what" is asked of many things
    return "" if stop_terms(analysis).issuperset(keys(verb, analysis)) else verb


@lru_cache(maxsize=512)
def asked_verb(question: str, analysis: str) -> str:
    """The verb of a question that asks who did something; "" for any other."""
    match = _WHO.search(question)
    verb = match["verb"] if match and match["verb"].islower() else ""
    return "" if stop_terms(analysis).issuperset(keys(verb, analysis)) else verb


@lru_cache(maxsize=65536)
def is_same_verb(verb: str, word: str, analysis: str) -> bool:
    """True if a word is a form of a verb, or is made of it: "wrote", "written", "writer"."""
    ours, theirs = keys(verb, analysis), keys(word, analysis)
    if set(ours) & set(theirs) or near_keys(ours, theirs) or _is_ablaut(verb, word):
        return True
    return _infinitive(word) == _infinitive(verb)


def _infinitive(word: str) -> str:
    return _IRREGULAR.get(word) or _IRREGULAR.get(word.removesuffix("s"), word)


def _is_ablaut(first_word: str, second_word: str) -> bool:
    """True if two words have the same consonants, but for an ending: "sang" and "sung", "schrieb" and "geschrieben".

    They begin alike: "opened" is not "painted".
    """
    first = {_VOWELS.sub("", _strip_ge(word)[:1]) for word in (first_word, second_word)}
    if len(first) > 1:
        return False
    short, long = sorted((_consonants(first_word), _consonants(second_word)), key=len)
    return len(short) > 1 and long.startswith(short) and set(long[len(short) :]) <= set("nrst")


def _consonants(word: str) -> str:
    return re.sub(r"(.)\1+", r"\1", _VOWELS.sub("", _strip_ge(word)).replace("d", "t"))


def _strip_ge(word: str) -> str:
    return word.removeprefix("ge") if len(word) > 5 else word


# A reason, a measure, a time between two years.

REASON = regex(
    r"\b(?:because|since|due to|so that|in order|therefore|reason|thus|weil|da|denn|damit|wegen|grund|потому|так как|"
    r"поскольку|чтобы|из-за|porque|debido|para|razón)\b|因为|因為|由于|由於|所以|لأن|بسبب",
    re.IGNORECASE,
)
_OFTEN_WORDS = (
    "once twice thrice times every always never rarely seldom sometimes (?:in)?frequently occasionally often "
    "intervals? (?:ir)?regularly periodic(?:ally)? continuous(?:ly)? constantly hourly daily nightly "
    "(?:bi|semi)?(?:week|month|annual)ly fortnightly quarterly yearly annual biennial hertz "
    "(?:mon|tues|wednes|thurs|fri|satur|sun)days "
    r"(?:ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|mehr|viel)mal(?:s|ig\w*)? mal jede[mnrs]? immer "
    "nie niemals selten manchmal oft häufig ständig (?:un)?regelmäßig (?:mon|diens|donners|frei|sams|sonn)tags "
    "mittwochs раза? дважды трижды всегда никогда редко часто иногда регулярно постоянно двічі тричі завжди ніколи "
    "рідко vez veces cada siempre nunca diariamente regularmente vezes sempre raramente volta volte ogni mai spesso "
    "fois chaque toujours jamais souvent rarement parfois régulièrement keer maal elke? iedere? altijd nooit zelden "
    r"vaak soms razy? zawsze nigdy rzadko często \w+krotnie dziennie \w+krát denně týdně měsíčně ročně vždy nikdy "
    r"kerran kertaa joka aina harvoin usein \w+välein gång gånger varje varannan varannat alltid aldrig altid hvert? "
    r"ganger? minden mindig soha ritkán naponta hetente havonta évente óránként percenként \w+-?sz[oeö]r kali setiap "
    "tiap selalu jarang פעם פעמים פעמיים כל תמיד"
)
_OFTEN_STARTS = (
    "täglich nächtlich stündlich minütlich wöchentlich monatlich vierteljährlich jährlich кажд кожн "
    "еже(?:секунд|минут|час|днев|сут|нощ|недел|месяч|кварт|год) що(?:секунд|хвил|годин|дн|ден|тиж|міс|рок|річ) diari "
    "diári semanal settimanal mensual mensal mensil anual annual quotidian quotidien giornalier journali "
    "hebdomadaire mensuel annuel trimestr dagelijks wekelijks maandelijks jaarlijks każd codzien tygodniow miesięczn "
    "roczn corocz každ päivittäin viikoittain kuukausittain vuosittain daglig vecko månatlig månedlig årlig ugentlig "
    "ukentlig"
)
_OFTEN_PHRASES = (
    r"\b(?:each|per) (?:second|minute|hour|day|night|morning|evening|week|month|quarter|season|year|decade|time)\b"
    r"|\b(?:time|seconds|minutes|hours|days|weeks|months|years) between\b|\d\s?[kMGкМГ]?(?:Hz|Гц)\b"
    r"|\d-?(?:mal|krát)\b"
    r"|\balle\s(?:\d+|\w+)\s(?:sekunden|minuten|stunden|tage|wochen|monate|jahre)\b"
    r"|\b(?:am tag|im monat|im jahr|in der woche|pro (?:sekunde|minute|stunde|tag|nacht|woche|monat|jahr))\b"
    r"|\bв (?:секунду|минуту|час|день|сутки|неделю|месяц|год)\b|\ba (?:menudo|veces)\b|\btod[oa]s [lo][oa]?s\b"
    r"|\b(?:al|por|ao) (?:día|mes|año|segundo|minuto|hora|semana|dia|mês|ano|secondo|giorno|mese)\b"
    r"|\ball['’](?:ora|anno)\b|\b(?:after|nach|après|через) (?:\w+ ){1,2}(?:hours|days|weeks|months|years|stunden|"
    r"tagen|wochen|monaten|jahren|heures|jours|semaines|mois|ans|час|дн|недел|месяц|год|лет)"
    r"|\btou(?:s|tes) les\b|\bpar (?:seconde|minute|heure|jour|semaine|mois|an)\b|\bom de\b|\bom (?:dagen|året)\b"
    r"|\bco (?:\d|dzień|tydzień|miesiąc|rok|godzin|minut)|\bper (?:detik|menit|jam|hari|minggu|tahun|uur|dag|jaar)\b"
    r"|[每毎]|[一二两三四五六七八九十百千数\d]\s?[次回度遍]|天天|[经經]常|[总總]是|[从從]不|很少|赫[兹茲]|ごと|おき|たびに|いつも|頻繁"
    r"|매\s?(?:일|주|월|년|달|시간)|마다|\d\s?[번회]|[한두세네]\s?번|항상|자주|ครั้ง|ทุก|เสมอ"
)
_OFTEN = rf"\b(?:{'|'.join(_OFTEN_WORDS.split())})\b|\b(?:{'|'.join(_OFTEN_STARTS.split())})|{_OFTEN_PHRASES}"
"""Signs of how often something happens, in the languages of which `asking_words` knows how to ask it."""
_MEASURES: dict[MeasureKind, tuple[str, ...]] = {
    "age": (
        r"\byears?\b|\baged?\b|\bborn\b|\b(?:is|was|turned) (?:about )?\d{1,3}(?=[.,;]|$)",
        r"\bjahren?\b|jährig|\bim alter\b|gebor|\bлет\b|\bгода?\b|возраст|родил|[岁歲]|出生|年[龄齢]|\d年",
        r"عمر|سنة|عام|ولد|\baños?\b|\bedad\b|\bnaci|\bans\b|\bâgée?|\bnée?\b|\banni\b|\bnat[oa] (?:a|il|in|nel)\b",
        r"\banos?\b|\bidade\b|\bnasc|\bjaar\b|\bcentur|jahrhundert|\bсто?лет|siglo",
    ),
    "extent": (
        r"\b(?:seconds\b|\d+[- ]second\b|(?:a|one|per) second\b|minutes?\b|hour|days?\b|week|month|year|decade|centur)",
        r"\b(?:(?:milli|centi|kilo)?met(?:er|re)s?\b|miles?\b|feet\b|foot\b|inch(?:es)?\b|yards?\b)",
        r"\b(?:until|till|since (?:\d|then|\w+ \d))",
        r"\b(?:sekunde|minute|stunde|woche|monat|jahr|meter|kilometer|tage[ns]?\b|(?:einen?|am|pro|\d+\.?) tag\b)",
        r"\b(?:bis|seit)\b",
        r"\b(?:секунд|минут|час(?:а|ов|ы)?\b|дн[яей]|день|недел|месяц|год|лет|столет|метр|километр|до\b|с\b)",
        r"\b(?:segundo|minuto|hora|día|semana|mes(?:es)?\b|años?\b|siglo|metro|kilómetro|hasta\b|desde\b)",
        r"\b(?:heures?\b|jours?\b|semaine|mois\b|ans\b|siècle|mètre|jusqu|uur\b|dag(?:en)?\b|maand|jaar|jaren|eeuw)",
        r"\d\s?(?:m|km|cm|mm|ft|h|min|s|м|км)\b|[秒分时時天日周月年米里尺]|直到",
        r"دقيقة|ساعة|ساعات|يوم|أيام|شهر|أشهر|سنة|سنوات|عام|قرن|متر|حتى",
    ),
    "frequency": (_OFTEN,),
    "money": (
        r"\d\s(?:\w+\s)?(?:kron(?:a|e|en|or|er)|crowns|rupees?|pesos?|guilders?|shillings?|pence)\b|złot",
        r"\b(?:NOK|SEK|DKK|PLN|CZK|JPY|CNY|INR|CAD|AUD)\b|[€£¥₽₹₺₴₩₪₫]",
        r"\$\s?\d|\d\s?\$|dollar|\beuros?\b|\bpounds?\b|\bcents?\b|\byen\b|yuan|\bfran(?:cs?|ken)\b",
        r"\d\s?(?:\w+\s)?marks?\b|\b\d{1,2}(?:p|ct)\b|¢",
        r"\bруб(?:л|\.)|доллар|евро|[元圆円]|美元",
        r"دولار|يورو|جنيه|dólar|\blibras?\b|\b(?:USD|EUR|GBP|CHF)\b|kostenlos|kostenfrei|gratis|umsonst|бесплатн|免费",
        r"\bfor free\b|(?<![\w-])free[\s-]of[\s-](?:charge|cost)|(?<![\w-])free\s*(?:[.,;:!?)]|$)",
        r"(?<![\w-])free\s(?:entry|admission|tickets?|delivery|shipping|samples?|cop(?:y|ies)|access|parking|meals?)\b",
        r"(?:\b(?:is|are|was|were|be|remains?)|['’]s)\s+(?:\w+ly\s+|always\s+)?free\s+(?:for|if|on|until|with|during)\b",
        r"\bno (?:charge|cost|fees?|royalt)|\bwithout (?:a |any )?(?:charge|cost|fee|payment)",
        r"(?:\bnot|n['’]t) have to pay\b",
    ),
    "weight": (
        r"\d\s?(?:kg|g|mg|µg|t|lbs?|oz|кг|г|т)\b|\bkilos?\b|\b(?:kilo|milli|micro)?gram|\btonn?es?\b|\btons?\b|\bpounds?\b",
        r"\bounces?\b|gramm|\bpfund\b|\bzentner\b|килограмм|\bграмм|тонн|фунт|[克吨噸斤]|\bquilos?\b|toneladas?|gramos?\b|\blibras?\b",
        r"\blivres?\b|\bchili\b|tonnellat|\bgrammi\b|tonelad|\bpond\b|كيلو|غرام|طن",
    ),
    "temperature": (
        r"°|\d\s?[CFK]\b|celsius|fahrenheit|\bkelvin|degree|\bgrad\b|градус|[度℃℉]|\bgrados?\b|degré|\bgradi\b|graden",
    ),
    "loudness": (r"\d\s?dB|decibel|dezibel|децибел|分贝|decibelio|décibel",),
    "voltage": (r"\d\s?[kKmMµ]?V(?:AC|DC)?\b|\bvolts?\b|вольт|伏|voltios?\b|\bvoltow?\b",),
    "share": (
        r"%|％|٪|\bper\s?cent|\bprozent|процент|por ciento|pour cent|百分|yüzde",
        r"\b(?:half|third|quarter|tenth|fifth|hälfte|drittel|viertel|половин|треть|четверть|mitad|tercio|moitié)",
    ),
}
MEASURES = {measure: regex("|".join(patterns), re.IGNORECASE) for measure, patterns in _MEASURES.items()}
"""Signs of a measure in a statement."""


def has_measure(measure: MeasureKind, text: str) -> bool:
    """True if a text has a measure of this kind; also if none is asked for."""
    return measure == "" or MEASURES[measure].search(_UNDER_HEAD.sub(_with_unit, text)) is not None


_UNDER_HEAD = regex(r": [+\-−]?\d[\d.,'’\u00a0\u202f]*(?=\s*(?:$|\|))", re.MULTILINE)
"""A plain number under a head, which may end in its unit: `weight_kg: 23`, `Price (EUR): 99`."""
MAX_UNIT_CHARS = 40
"""Letters of a unit."""
_LAST = regex(r"([^\W\d_]+|[^\w\s()])\)?\Z")


def _with_unit(match: re.Match[str]) -> str:
    """The number under a head with the unit or currency of the head behind it."""
    head = match.string[: match.start()].rpartition("|")[2].rpartition("\n")[2].rstrip("* ")
    last = _LAST.search(head[-MAX_UNIT_CHARS:])
    if last is None or not (split_label(head).unit or MEASURES["money"].search(f"1 {last[1]}")):
        return match[0]
    return f"{match[0]} {last[1]}"


_NUMBER = regex(r"\d")
_CJK_NUMBER = regex("[一二三四五六七八九十百千万亿两半]")
_ALL_OR_NONE = ("both", "neither", "none", "beide", "weder", "keiner")
"""Words that count as numbers: "neither Mercury nor Venus" are two."""
_NUMERAL = regex(rf"\b(?:{'|'.join((*NUMBER_WORDS, *TENS, *NUMERALS, *_ALL_OR_NONE))})\b", re.IGNORECASE)
_SIGN_WORD = regex(r"(?<![^\W_])[^\W\d_][\w'’-]*")


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
    match = _NUMBER.search(text) or _NUMERAL.search(text)
    if not match and (numerals := _numerals(language)) is not None:
        match = numerals.search(text)
    return bool(match or (is_unspaced(text) and _CJK_NUMBER.search(text)))


def has_name(text: str) -> float:
    """1 if a word other than the first is written as a name; a half if the script has no capitals."""
    if not any(letter.isupper() or letter.islower() for letter in text):
        return 0.5
    return float(any(word[0][0].isupper() for word in _SIGN_WORD.finditer(text) if word.start()))


_YEARS = regex(
    r"(?<![\d.,])(?P<first>1\d{3}|20\d{2})(?:\s?[-–—~～]\s?|年?(?:到|至|から|まで)"
    r"|,?\s(?:to|till|until|through|bis|à|jusqu['’](?:à|en)|al?|hasta|até|tot|до|по|إلى|حتى)"
    r"(?:\s(?:\d{1,2}(?:st|nd|rd|th|\.)?|[^\W\d_]+\.?),?){0,3}\s)(?P<last>1\d{3}|20\d{2})(?!\d|[.,]\d)"
)


def stated_times(text: str) -> list[tuple[int, int]]:
    """The first and last year of each time that a text bounds by years: "from April 2013 until April 2015"."""
    times = ((int(match["first"]), int(match["last"])) for match in _YEARS.finditer(text))
    return [time for time in times if time[0] < time[1]]


_DATE = regex(r"(?<!\d)1\d{3}(?!\d)|(?<!\d)20\d{2}(?!\d)|\d{1,2}[./]\d{1,2}[./]\d{2,4}")


def as_sign(value: float | bool) -> float:
    """A truth from 0 to 1 as a feature: -1 for no, 1 for yes."""
    return 2.0 * float(value) - 1.0


def kind_features(question: TopicQuestion, text: str) -> tuple[float, float, float, float, float]:
    """For a number, a date, a name, a reason: 1 if the question asks for it and `text` has it, -1 if not; 0 if the
    question asks for another kind. Last, 1 if it asks for a number and there is none.

    The number that says how often may be a word: "daily".
    """
    kind, often = question.answer_kind, question.measure == "frequency"
    number = has_measure("frequency", text) if often else has_number(text, question.language)
    return (
        as_sign(number) if kind == "number" else 0.0,
        as_sign(bool(_DATE.search(text)) or (number and 0.3)) if kind == "date" else 0.0,
        as_sign(has_name(text)) if kind == "name" else 0.0,
        float(bool(REASON.search(text))) if kind == "reason" else 0.0,
        float(not number) if kind == "number" else 0.0,
    )
