"""Text to index terms: one analysis for documents and queries.

Words are lower-cased, stemmed (Snowball; Porter 1980, 2001) in the document's language and stripped of accents.
Scripts written without spaces, and Korean, become overlapping pairs of characters (the usual CJK bigrams).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from assay.core.later import later

if TYPE_CHECKING:
    import tantivy
else:
    tantivy = later("tantivy")
LONGEST = 80
"""Bytes; longer words are hashes or encoded data, which nobody searches for."""
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
"""How a text of unknown language is stemmed."""
UNSTEMMED = "xx"
PAIRED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
PLAIN = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else ord(" ") for code in range(256))
"""ASCII in lower case, with a space for whatever is no letter or digit: half the time of a regular expression."""
KEPT = 200_000
"""Stems kept in memory for each language."""
DIGITS = re.compile(r"0+(?=\d+$)")
JOINED = re.compile(
    "[\u093c\u094d\u09bc\u09cd\u0a3c\u0a4d\u0abc\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca][\u200c\u200d]?"
)
"""Signs inside the words of Indic scripts which the tokenizer takes for the end of a word: virama and nukta."""


def analysis_of(language: str) -> str:
    """The name of the analysis for a language: the language, or `xx` where there is no stemmer for it."""
    if language in STEMMERS:
        return language
    return DEFAULT if language in ("", "zh", "ja", "ko", "th") else UNSTEMMED


def terms(text: str, analysis: str) -> list[str]:
    """The index terms of `text`, in order."""
    if text.isascii():
        return list(filter(None, map(_known(analysis).__getitem__, text.encode().translate(PLAIN).split())))
    text = JOINED.sub("", unicodedata.normalize("NFKC", text))
    if PAIRED.search(text):
        text = PAIRED.sub(_pairs, text)
    return _analyzer(analysis).analyze(text)


def name_terms(text: str, analysis: str) -> list[str]:
    """The terms of a name, title or address: "pep-0006" gives `pep`, `6`."""
    return [DIGITS.sub("", term) for term in terms(text, analysis)]


class _Known(dict[bytes, str]):
    """Stems by ASCII word: the words of a library come again and again, so each is stemmed once."""

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
def _known(analysis: str) -> _Known:
    return _Known(analysis)


@cache
def _analyzer(analysis: str) -> tantivy.TextAnalyzer:
    """Cuts at everything that is no letter or digit, as `PLAIN` does for ASCII."""
    filters = tantivy.Filter
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(filters.remove_long(LONGEST))
    builder = builder.filter(filters.lowercase())
    if analysis != UNSTEMMED:
        builder = builder.filter(filters.stemmer(STEMMERS[analysis]))
    return builder.filter(filters.ascii_fold()).build()


def _pairs(match: re.Match[str]) -> str:
    run = match[0]
    return " " + " ".join(run[at : at + 2] for at in range(max(1, len(run) - 1))) + " "


# Words which ask and connect, but name nothing.

WORDS = {
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


@cache
def stop_terms(analysis: str) -> frozenset[str]:
    """The stop words of a language as index terms."""
    words = WORDS["hi" if analysis == UNSTEMMED else analysis] if analysis in {*WORDS, UNSTEMMED} else ""
    return frozenset(terms(words, analysis))
