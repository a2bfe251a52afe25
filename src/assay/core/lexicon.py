"""Words as all rules know them: tokens and stems of a language, and lists of words."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from assay.core.later import later
from assay.core.patterns import regex
from assay.core.text import pairs

if TYPE_CHECKING:
    import tantivy
else:
    tantivy = later("tantivy")


# Words that ask and connect, but name nothing.

STOP_WORDS = {
    "en": "a about all also an and any are as at be been by can could did do does for from had has have how i if in"
    " into is it its may me my not of on or our should so some such that the their them then there these they this"
    " those to was we were what when where which who whom whose why will with would you your",
    "de": "aber alle als also am an auch auf aus bei bin bis das dass dem den der des die dies diese dieser doch du"
    " durch ein eine einem einen einer er es für gegen gibt hat haben ich ihr im in ist ja kann man mit nach nicht"
    " noch nur ob oder sein seine sich sie sind so über um und uns unter vom von vor wann war waren warum was welche"
    " welcher welches wenn wer wie wird wo zu zum zur zwischen",
    "fr": "à au aux avec ce ces cette comme comment dans de des du elle en est et il ils je la le les leur leurs lui"
    " mais ne nous on où ou par pas plus pour pourquoi quand que quel quelle quelles quels qui quoi sa se ses son"
    " sont sur un une vous y",
    "es": "a al como cómo con cual cuál cuales cuándo de del desde donde dónde el ella en entre era es esta este esto"
    " fue ha hay la las lo los más no o para pero por porque qué que quién se si sin sobre son su sus un una y",
    "it": "a ai al alla che chi come con da dal del della delle dei di dove e è gli i il in la le lo ma nel nella non"
    " o per perché più quale quali quando quanto se si sono su sul un una uno",
    "pt": "a ao aos as com como da das de do dos e é em entre foi mais mas na nas no nos não o os ou para pela pelo por"
    " porque quais qual quando que quem se são sem seu sua um uma",
    "nl": "aan als bij dat de der deze die dit door een en er het hoe hun ik in is je kan met naar niet of om ook op te"
    " tot uit van voor waar waarom wanneer wat welke wie wordt zijn zo",
    "ar": "في من على إلى عن مع هل ما ماذا متى أين كيف لماذا كم أي هو هي هم هذا هذه ذلك تلك التي الذي الذين أن إن"
    " كان كانت يكون تكون قد لا لم لن كل بين عند حتى إذا لكن به بها له لها فيه فيها منه منها و أو ثم",
    "hi": "का की के को में से पर और है हैं था थी थे हो होता होती होते एक यह ये वह वे इस उस इन उन ने तो भी कि जो लिए गया गई"
    " गए किया करता करती करते करने या तक द्वारा साथ अपने अपनी अपना नहीं क्या कौन किस किसने किसे कब कहाँ कहां कैसे क्यों कितने"
    " कितना कितनी कौनसा कौनसी कुछ बाद रूप जाता जाती जाते रहा रही रहे",
    "ru": "а без был была были было быть в вам вас во вот все вы где для до его ее если есть же за и из или им их к как"
    " какая какие какой ко когда которая которые который кто ли мы на над не него нее ни но о об он она они от по под"
    " почему при с со так такой то только у уже что чтобы эта эти это этот я",
}
"""By language."""
MORE_STOP_WORDS = frozenset(
    """
    above according across actually add added adding adds after against along among aren't around because before
    being below between both brief briefly but called can't cannot come compare comparison concerning current
    currently deal deals describe described describes detail details didn't difference differences different
    document documents doesn't doing don't done during each either else ever every exactly explain far few find
    further get give given gives go handle handled handles happen happens hasn't having he her here hers him his
    however information isn't itself just kind know last let like list made main mainly make makes many mean
    means might mine more most much must name need needed needs never no nor now off once one only other
    otherwise out over overview own part parts per please point present provide really regarding s said same say
    says shall she show since something specified still summarise summarize summary t take tell than there's
    thing things through today together too towards under until up upon us use used uses using versus very via
    vs want way ways well what's whatever whether while who's within without work working works yes yet
    allem allen aller alles beschreibe bist bitte da dabei damit dann dazu dein denn dich diesem diesen dieses
    dort eines erkläre etwas euch euer funktioniert hab habe hatte hier ihm ihn ihnen ihre jede jedem jeden
    jeder jedes kein keine können macht mehr mein muss nenne ohne sehr seit soll sollte unser viele weil welchem
    welchen wem wen werden weshalb wessen wieso wieviel wir woher wohin wurde wurden
    бы весь всё да делает ей ему еще ещё её зачем каким какими каких какого каком какую кем кого кому либо нас
    ней нет них ну оно опиши про работает расскажи сколько также там тогда того тоже той том ты чего чей чем
    через чья этого этой этом является
    بعد بعض حول قبل منذ
    """.split()
)
"""More words of questions that carry no topic."""

# English words whose meaning the verifier knows: they join, deny, soften or limit.

FUNCTION = frozenset(
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
NEUTRAL = frozenset(
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
    approximately around roughly estimated reportedly allegedly expected believed thought plans planned proposed
    """.split()
)
ABSOLUTES = frozenset(
    """
    all every always never only none exclusively solely entirely completely fully totally first last best worst
    most least highest lowest largest smallest biggest oldest youngest single unique sole whole entire must
    """.split()
)
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
    **dict.fromkeys(("hundred",), 2),
    **dict.fromkeys(("thousand", "thousands", "k", "tausend", "tsd", "mille", "mil", "тыс", "тысяч", "千"), 3),
    **dict.fromkeys(("万", "萬"), 4),
    **dict.fromkeys(("million", "millions", "mn", "mio", "millionen", "millones", "млн", "миллионов", "m"), 6),
    **dict.fromkeys(("亿", "億"), 8),
    **dict.fromkeys(("billion", "billions", "bn", "b", "mrd", "milliarden", "milliards", "млрд", "миллиардов"), 9),
    **dict.fromkeys(("trillion", "trillions", "tn", "billionen", "трлн"), 12),
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


LONGEST = 80
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
DEFAULT = "en"
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
DIGITS = regex(r"0+(?=\d+$)")
JOINED = regex("[\u093c\u094d\u09bc\u09cd\u0a3c\u0a4d\u0abc\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca][\u200c\u200d]?")
"""Signs inside words of Indic scripts that the tokenizer takes for the end of a word: virama and nukta."""


def analysis_of(language: str) -> str:
    """The name of the analysis for a language: the language, or `xx` if it has no stemmer."""
    if language in STEMMERS:
        return language
    return DEFAULT if language in ("", "zh", "ja", "ko", "th", "lo", "km", "my") else UNSTEMMED


def terms(text: str, analysis: str) -> list[str]:
    """The index terms of `text`, in order."""
    if text.isascii():
        return list(filter(None, map(_stem_cache(analysis).__getitem__, text.encode().translate(PLAIN).split())))
    text = JOINED.sub("", unicodedata.normalize("NFKC", text))
    if PAIRED.search(text):
        text = TONES.sub("", PAIRED.sub(_pairs, text))
    return _analyzer(analysis).analyze(text)


def name_terms(text: str, analysis: str) -> list[str]:
    """The terms of a name, title or address: "pep-0006" gives `pep`, `6`."""
    return [DIGITS.sub("", term) for term in terms(text, analysis)]


class _StemCache(dict[bytes, str]):
    """Stems by ASCII word: the words of a library recur, so each is stemmed once."""

    def __init__(self, analysis: str) -> None:
        super().__init__()
        self._analyzer = _analyzer(analysis)

    def __missing__(self, word: bytes) -> str:
        if len(self) >= KEPT:
            self.clear()
        found = self._analyzer.analyze(word.decode())
        stem = self[word] = found[0] if found else ""
        return stem


@cache
def _stem_cache(analysis: str) -> _StemCache:
    return _StemCache(analysis)


@cache
def _analyzer(analysis: str) -> tantivy.TextAnalyzer:
    """Splits at everything but letters and digits, as `PLAIN` does for ASCII."""
    filters = tantivy.Filter
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(filters.remove_long(LONGEST))
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
    known = analysis or next((name for low, high, name in _SCRIPTS if low <= word[:1] <= high), UNSTEMMED)
    return "".join(_whole_words(known, accents).analyze(word)) or word


@cache
def _whole_words(analysis: str, accents: bool) -> tantivy.TextAnalyzer:
    filters = tantivy.Filter
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(filters.lowercase())
    if analysis != UNSTEMMED:
        builder = builder.filter(filters.stemmer(STEMMERS[analysis]))
    return (builder if accents else builder.filter(filters.ascii_fold())).build()


def _pairs(match: re.Match[str]) -> str:
    return f" {' '.join(pairs(match[0]))} "


@cache
def stop_terms(analysis: str) -> frozenset[str]:
    """The stop words of a language as index terms."""
    words = STOP_WORDS.get("hi" if analysis == UNSTEMMED else analysis, "")
    return frozenset(terms(words, analysis))


# Negations: which clauses of a text have one, and what the first one of a question denies.

_CLAUSE = regex(
    r"[.,;:!?]+(?=\s|$)|[|()–—。，；：！？、؟،؛।]"
    r"|(?<!\w)(?:but|that|which|who|whose|aber|sondern|während|mais|tandis|pero|sino|mientras|maar|но|а|который|которые)(?!\w)",
    re.IGNORECASE,
)
"""Where a clause ends: at a mark, or before a word that begins another."""
_AFFIXED = regex(r"(?:un|non|dis|in|im)-?(?P<end>\w{4,})|(?P<start>\w{3,})(?:less|-free|los|frei)")


@cache
def _negation(language: str) -> re.Pattern[str]:
    """The negations of a language; of one that is not known, those of all."""
    known = NEGATIONS.get(language) or " ".join(NEGATIONS.values())
    forms = "|".join(map(re.escape, known.split()))
    return re.compile(rf"(?<!\w)(?:{forms}|\w+n['’]t)(?!\w)|{CJK_NEGATIONS}|{JAPANESE_NEGATION}", re.IGNORECASE)


def clauses(text: str, language: str) -> list[tuple[str, bool]]:
    """The clauses of a text, and whether each has a negation."""
    pieces = [piece for piece in _CLAUSE.split(text) if piece and not piece.isspace()]
    return [(piece, _negation(language).search(piece) is not None) for piece in pieces]


def denied_parts(text: str, language: str) -> tuple[str, str]:
    """The words after the first negation of a text in its clause, and those before it there; empty without one."""
    for piece in _CLAUSE.split(text):
        if found := _negation(language).search(piece):
            return piece[found.end() :], piece[: found.start()]
    return "", ""


def without_affix(word: str) -> str:
    """A word without the affix that denies it ("unsupported", "keyless"); "" if it has none."""
    found = _AFFIXED.fullmatch(word.casefold())
    return (found["end"] or found["start"]) if found else ""
