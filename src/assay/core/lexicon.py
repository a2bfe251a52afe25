"""Words as all rules know them: tokens and stems of a language, and lists of words."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from assay.core.function_words import STOP_WORDS
from assay.core.lazy import lazy_module, regex
from assay.core.periods import PERIOD_WORDS, spell_periods
from assay.core.text import letter_pairs

if TYPE_CHECKING:
    import tantivy
else:
    tantivy = lazy_module("tantivy")

# English words whose meaning the verifier knows: they join, deny, soften or limit.

FUNCTION_WORDS = frozenset(
    """
    a about above across after again against ago all along already also although am amid among an and another any
    are around as at away be became because become becomes been before being below beside between beyond both but
    by can could did do does doing down due during each either else ever every for from further had has have having
    he hence her here hers herself him himself his how however i if in including indeed instead into is it its
    itself just least less like many may me might more moreover most much must my myself near neither no nor not
    of off often on once one only onto or other others otherwise our ours out over own per perhaps quite rather
    said same say says shall she should since so some such than that the their theirs them themselves then there
    thereby therefore these they this those though through throughout thus to together too toward towards under
    until up upon us very via was we well were what when where whereas whether which while who whom whose why will
    with within without would yet you your yours isn't aren't wasn't weren't don't doesn't didn't
    won't can't couldn't wouldn't shouldn't hasn't haven't hadn't it's that's there's he's she's they're we're
    i'm i've you're cannot never none nobody nothing
    """.split()
)
NEUTRAL_WORDS = frozenset(
    """
    a an the of in on at by for to from with as and or that this these those it its he his she her they their them
    which who whom whose is are was were be been being am has have had having do does did into onto within also there
    then here such itself himself herself themselves upon we our you your i my us me
    """.split()
)
"""Function words that can usually be inserted without changing the meaning."""
HEDGES = frozenset(
    """
    may might could can would possibly perhaps probably likely unlikely potentially appears appear seem seems
    suggest suggests suggested some sometimes often usually generally typically mostly partly nearly almost about
    approximately around roughly estimated reportedly allegedly expect expects expected believed thought plans planned
    proposed intends intended forecast forecasts
    """.split()
)
ABSOLUTES = frozenset(
    """
    all every always never only none exclusively solely entirely completely fully totally first last best worst
    most least highest lowest largest smallest biggest oldest youngest single unique sole whole entire must
    """.split()
)
UNIVERSALS = frozenset("all every always never only none nobody exclusively solely entirely".split())
"""Those of them that leave no exception."""
QUALIFIERS = frozenset(
    """
    more less fewer over under above below than least nearly almost about around roughly approximately up former
    formerly ex alleged allegedly claimed supposed supposedly so-called proposed planned future would-be partly
    """.split()
)
"""Words that limit what follows them."""
RELATIONS = frozenset(
    """
    because due cause causes caused causing leads led lead results resulted result despite although after before
    during until since if unless more less than greater fewer higher lower better worse
    """.split()
)

# Numbers and months.

SCALES = {
    word: power
    for power, said in (
        (2, "hundred"),
        (3, "thousand thousands k tausend tsd mille milliers mil тыс тысяч 千"),
        (4, "万 萬"),
        (6, "million millions mn mio millionen millón millones млн миллионов m"),
        (8, "亿 億"),
        (9, "billion billions bn b mrd milliarde milliarden milliard milliards млрд миллиардов"),
        (12, "trillion trillions tn billionen трлн"),
    )
    for word in said.split()
}
"""The power of ten that a word multiplies by."""
NUMBER_WORDS = dict(
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
NUMERALS = (
    *"hundred thousand million billion half third quarter".split(),
    *"zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend millionen?".split(),
    *"два две три четыре пять шесть семь восемь девять десять сто тысяч\\w* миллион\\w*".split(),
    *"dos tres cuatro cinco seis siete ocho nueve diez cien mil millones".split(),
)
"""Patterns for other number words in English, German, Russian and Spanish."""
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
"""The number of each month by its full and short names, in nine languages."""

# Words that deny.

NEGATIONS = {
    "en": "no not never none nobody nothing nowhere neither nor without cannot except exception exceptions excluding"
    " fail fails failed failing lack lacks lacked lacking unable absent refuse refuses refused deny denies denied"
    " hardly barely rarely seldom reject rejects rejected impossible",
    "de": "nicht nichts kein keine keinen keinem keiner keines ohne nie niemals niemand weder außer ausgenommen"
    " ausnahme",
    "fr": "ne n pas sans aucun aucune jamais ni sauf personne",
    "es": "no sin nunca jamás ni ningún ninguno ninguna nadie nada tampoco salvo excepto",
    "it": "non senza nessun nessuno nessuna mai né niente tranne eccetto",
    "pt": "não sem nunca nem nenhum nenhuma ninguém nada exceto salvo",
    "nl": "niet geen zonder nooit noch niemand niets behalve",
    "ru": "не нет без ни никогда никто ничто нельзя кроме",
    "ar": "لا لم لن ليس ليست دون بدون غير عدم باستثناء",
    "hi": "नहीं बिना सिवाय",
}
"""Words that deny what follows them, or what precedes them, by language; English also has words ending in "n't"."""
NEGATIVES = frozenset(NEGATIONS["en"].split()) | frozenset(
    """
    isn't aren't wasn't weren't don't doesn't didn't won't can't couldn't wouldn't shouldn't hasn't haven't hadn't
    refusing denying absence false incorrect
    """.split()
)
"""These in English, and other words that reverse the meaning of a sentence."""
CJK_NEGATIONS = "不(?![同久])|[没沒无無]|未(?![来來])|非(?![洲常])"
"""Patterns: the characters also begin "different", "soon", "future", "Africa" and "very", which deny nothing."""
JAPANESE_NEGATION = "ない|ません|なし|なく|ずに"


# Words are lower-cased, stemmed (Snowball; Porter 1980, 2001) in the document's language and stripped of accents.
# Scripts written without spaces, and Korean, become overlapping pairs (the usual CJK bigrams): of characters, or of
# syllables where a script spells them with several letters and signs.


MAX_WORD_BYTES = 80
"""Bytes; longer words are hashes or encoded data that nobody searches for."""
STEMMERS = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
DEFAULT_ANALYSIS = "en"
"""The analysis of a text in an unknown language."""
UNSTEMMED = "xx"
PAIRED = regex(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
TONES = regex("[\u0e47-\u0e4c\u0e4e\u0ec8-\u0ecc\u1037\u1039\u103a\u17c9-\u17d3\u17dd]")
"""Signs inside words of South-East Asian scripts that the tokenizer takes for the end of a word: tones and killers."""
PLAIN = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else ord(" ") for code in range(256))
"""ASCII in lower case, with a space for everything but letters and digits: twice as fast as a regular expression."""
KEPT = 200_000
"""The most stems in memory for each language."""
_LEADING_ZEROS = regex(r"(?<!\d)0+(?=\d+$)")
JOINED = regex(
    "[\u093c\u094d\u09bc\u09cd\u0a3c\u0a4d\u0abc\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca][\u200c\u200d]?"
    "|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]"
)
"""Signs inside words: virama and nukta of Indic scripts, which the tokenizer takes for the end of a word; the points of
Hebrew and Arabic, which most writers leave out, and the stroke that lengthens an Arabic word.
"""
MAX_TERM_LETTERS = 6
"""Letters that are kept of a word in a language without a stemmer, so that most of its forms are one term (McNamee and
Mayfield 2004, "Character n-gram tokenization for European language text retrieval").
"""
_PERSIAN = str.maketrans("يىكةۀ", "ییکهه")
"""Arabic letters that stand for Persian ones where a keyboard has no others."""
_OTHER_DIGIT = regex(r"(?![0-9])\d|[\u066b\u066c]")


def plain_digits(text: str) -> str:
    """A text with its digits and their separators, of whatever script, as in ASCII; no length changes."""
    return text if text.isascii() else _OTHER_DIGIT.sub(_plain_digit, text)


def _plain_digit(match: re.Match[str]) -> str:
    sign = match[0]
    return {"\u066b": ".", "\u066c": ","}.get(sign) or str(unicodedata.decimal(sign))


def analysis_of(language: str) -> str:
    """The name of the analysis for a language: the language, or `xx` if it has no stemmer."""
    if language in STEMMERS:
        return language
    return DEFAULT_ANALYSIS if language in ("", "zh", "ja", "ko", "th", "lo", "km", "my") else UNSTEMMED


def terms(text: str, analysis: str) -> list[str]:
    """The index terms of `text`, in order; those of weeks, quarters and the like in one form (`core.periods`)."""
    found = _terms(text, analysis)
    return found if _period_terms(analysis).isdisjoint(found) else _terms(spell_periods(text), analysis)


@cache
def _period_terms(analysis: str) -> frozenset[str]:
    return frozenset(term for word in PERIOD_WORDS for term in _terms(word, analysis))


def _terms(text: str, analysis: str) -> list[str]:
    if text.isascii():
        return list(filter(None, map(_stem_cache(analysis).__getitem__, text.encode().translate(PLAIN).split())))
    text = JOINED.sub("", plain_digits(unicodedata.normalize("NFKC", text)))
    if PAIRED.search(text):
        text = TONES.sub("", PAIRED.sub(_pairs, text))
    if analysis != UNSTEMMED:
        return _analyzer(analysis).analyze(text)
    return list(map(_truncate, _analyzer(analysis).analyze(text.translate(_PERSIAN))))


@lru_cache(maxsize=KEPT)
def _truncate(word: str) -> str:
    """The first letters of a word, with their vowel signs; a word with a digit as it is."""
    if len(word) <= MAX_TERM_LETTERS or any(map(str.isdigit, word)):
        return word
    letters = [index for index, sign in enumerate(word) if sign.isalpha()]
    return word[: letters[MAX_TERM_LETTERS]] if len(letters) > MAX_TERM_LETTERS else word


def name_terms(text: str, analysis: str) -> list[str]:
    """The terms of a name, title or address: "pep-0006" gives `pep`, `6`."""
    return [_LEADING_ZEROS.sub("", term) for term in terms(text, analysis)]


class _StemCache(dict[bytes, str]):
    """Stems by ASCII word: the words of a library recur, so each is stemmed once."""

    def __init__(self, analysis: str) -> None:
        super().__init__()
        self._analysis, self._analyzer = analysis, _analyzer(analysis)

    def __missing__(self, word: bytes) -> str:
        if len(self) >= KEPT:
            self.clear()
        stems = self._analyzer.analyze(word.decode())
        stem = stems[0] if stems else ""
        self[word] = stem = _truncate(stem) if self._analysis == UNSTEMMED else stem
        return stem


@cache
def _stem_cache(analysis: str) -> _StemCache:
    return _StemCache(analysis)


@cache
def _analyzer(analysis: str) -> tantivy.TextAnalyzer:
    """Splits at everything but letters and digits, as `PLAIN` does for ASCII."""
    filters = tantivy.Filter
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(filters.remove_long(MAX_WORD_BYTES))
    builder = builder.filter(filters.lowercase())
    if analysis != UNSTEMMED:
        builder = builder.filter(filters.stemmer(STEMMERS[analysis]))
    return builder.filter(filters.ascii_fold()).build()


_SCRIPTS = (("\u0400", "\u04ff", "ru"), ("\u0600", "\u06ff", "ar"), ("a", "\u024f", "en"))


@lru_cache(maxsize=100_000)
def stem(word: str, analysis: str = "", *, accents: bool = False) -> str:
    """The key that all forms of a casefolded word have; without an analysis, the script decides it.

    With `accents` the key keeps them.
    """
    analysis_name = analysis or next((name for low, high, name in _SCRIPTS if low <= word[:1] <= high), UNSTEMMED)
    return "".join(_whole_words(analysis_name, accents).analyze(word)) or word


@cache
def _whole_words(analysis: str, accents: bool) -> tantivy.TextAnalyzer:
    filters = tantivy.Filter
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(filters.lowercase())
    if analysis != UNSTEMMED:
        builder = builder.filter(filters.stemmer(STEMMERS[analysis]))
    return (builder if accents else builder.filter(filters.ascii_fold())).build()


def _pairs(match: re.Match[str]) -> str:
    return f" {' '.join(letter_pairs(match[0]))} "


@cache
def stop_terms(language: str) -> frozenset[str]:
    """The stop words of a language as index terms; of an analysis, those of its language.

    Those of `xx` are of all languages without a stemmer, but for Latin letters: one's stop words are another's names.
    """
    analysis = analysis_of(language)
    if language in STOP_WORDS or analysis != UNSTEMMED:
        return frozenset(terms(STOP_WORDS.get(language) or STOP_WORDS.get(analysis, ""), analysis))
    words = (word for name in STOP_WORDS.keys() - STEMMERS.keys() for word in STOP_WORDS[name].split())
    return frozenset(terms(" ".join(word for word in words if not word.isascii() and word[0] > "\u024f"), UNSTEMMED))


# Negations: which clauses of a text have one, and what the first one of a question denies.

_CLAUSE = regex(
    r"(?<![.,;:!?])[.,;:!?]++(?=\s|$)|[|()–—。，；：！？、؟،؛।]"
    r"|(?<!\w)(?:but|that|which|who|whose|aber|sondern|während|mais|tandis|pero|sino|mientras|maar|но|а|который|которые)(?!\w)",
    re.IGNORECASE,
)
"""Where a clause ends: at a mark, or before a word that begins another."""
_AFFIXED = regex(r"(?:un|non|dis|in|im)-?(?P<end>\w{4,})|(?P<start>\w{3,})(?:less|-free|los|frei)")


@cache
def _negation(language: str) -> re.Pattern[str]:
    """The negations of a language; of one that is not known, those of all."""
    negations = NEGATIONS.get(language) or " ".join(NEGATIONS.values())
    forms = "|".join(map(re.escape, negations.split()))
    return re.compile(rf"(?<!\w)(?:{forms}|\w+n['’]t)(?!\w)|{CJK_NEGATIONS}|{JAPANESE_NEGATION}", re.IGNORECASE)


def clauses(text: str, language: str) -> list[tuple[str, bool]]:
    """The clauses of a text, and whether each has a negation."""
    pieces = [piece for piece in _CLAUSE.split(text) if piece and not piece.isspace()]
    return [(piece, _negation(language).search(piece) is not None) for piece in pieces]


def denied_parts(text: str, language: str) -> tuple[str, str]:
    """The words after the first negation of a text in its clause, and those before it there; empty without one."""
    for piece in _CLAUSE.split(text):
        if match := _negation(language).search(piece):
            return piece[match.end() :], piece[: match.start()]
    return "", ""


def without_affix(word: str) -> str:
    """A word without the affix that denies it ("unsupported", "keyless"); "" if it has none."""
    match = _AFFIXED.fullmatch(word.casefold())
    return (match["end"] or match["start"]) if match else ""
