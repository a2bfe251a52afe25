"""Names of languages, and detection of a text's language."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from assay.core.errors import UsageError
from assay.core.lazy import lazy_module, regex

if TYPE_CHECKING:
    import babel.core
else:
    babel = lazy_module("babel")

LANGUAGE_NAMES = {
    "ar": "Arabic",
    "bn": "Bangla",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "hy": "Armenian",
    "it": "Italian",
    "ja": "Japanese",
    "ka": "Georgian",
    "ko": "Korean",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "ta": "Tamil",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "zh": "Chinese",
}
"""The English names of the languages that `detect_language` finds: Babel's tables, which name all others, take 6 MB."""


@cache
def _locale_names(locale: str = "en") -> babel.core.Locale:
    return babel.core.Locale(locale)


def read_language(code: str) -> str:
    """Read a language code as a user gives it (`de`, `pt-BR`, `zh_Hant`) and return it in BCP 47.

    Raises:
        UsageError: there is no such language; for a language's English name the message has its code.
    """
    tag = code.strip().replace("_", "-")
    if tag in LANGUAGE_NAMES:
        return tag
    names = _locale_names()
    try:
        language, territory, script, *_ = babel.core.parse_locale(tag, sep="-")
    except ValueError:
        language, territory, script = "", None, None
    is_known = (
        language in names.languages
        and (script is None or script in names.scripts)
        and (territory is None or territory in names.territories)
    )
    if not is_known:
        raise UsageError(f"no language code {code[:40]!r}; {_code_hint(code.strip())}")
    return "-".join(part for part in (language, script, territory) if part)


def _code_hint(name: str) -> str:
    folded_name = name.casefold()
    code = next(
        (code for code, full_name in _locale_names().languages.items() if full_name.casefold() == folded_name), ""
    )
    return f"{name} is {code}" if code else "a code is like en, de or pt-BR"


def language_name(tag: str, locale: str = "en") -> str:
    """The name of a language (`German`, `Portuguese (Brazil)`) in a locale; an unknown code unchanged."""
    if locale == "en" and tag in LANGUAGE_NAMES:
        return LANGUAGE_NAMES[tag]
    names = _locale_names(locale)
    try:
        language, territory, script, *_ = babel.core.parse_locale(tag.replace("_", "-"), sep="-")
    except ValueError:
        return tag
    name = names.languages.get(language, tag)
    qualifiers = [names.scripts.get(script or ""), names.territories.get(territory or "")]
    details = ", ".join(part for part in qualifiers if part)
    return f"{name} ({details})" if details else name


COMMON = {"uk": "gb"}
"""Common names of countries that are not their code."""
NO_COUNTRIES = frozenset(("eu", "ez", "qo", "un", "xa", "xb", "zz"))
"""Codes among those of territories that stand for groups of countries, for tests, or for an unknown one."""


def read_country(code: str) -> str:
    """Return the code of a country (ISO 3166, two small letters).

    Raises:
        UsageError: there is no such country.
    """
    country = COMMON.get(code.strip().lower(), code.strip().lower())
    is_territory = len(country) == 2 and country.upper() in _locale_names().territories
    if not is_territory or country in NO_COUNTRIES:
        raise UsageError(f"no country {code[:40]!r}; write two letters, such as de or us")
    return country


def country_name(code: str) -> str:
    """The English name of a country, by its code; "" if unknown or empty."""
    return str(_locale_names().territories.get(code.upper(), ""))


# Detects a text's language by its script, and for European languages by their commonest words.

SAMPLE_CHARS = 2_000
SCRIPTS = (
    ("ja", regex(r"[\u3040-\u30ff]")),
    ("ko", regex(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", regex(r"[\u3400-\u9fff\uf900-\ufaff]")),
    ("ru", regex(r"[\u0400-\u04ff]")),
    ("ar", regex(r"[\u0600-\u06ff\u0750-\u077f]")),
    ("he", regex(r"[\u0590-\u05ff]")),
    ("el", regex(r"[\u0370-\u03ff\u1f00-\u1fff]")),
    ("hi", regex(r"[\u0900-\u097f]")),
    ("bn", regex(r"[\u0980-\u09ff]")),
    ("ta", regex(r"[\u0b80-\u0bff]")),
    ("th", regex(r"[\u0e00-\u0e7f]")),
    ("ka", regex(r"[\u10a0-\u10ff]")),
    ("hy", regex(r"[\u0530-\u058f]")),
)
_PERSIAN, _ARABIC = regex("[پچژگیکۀ]"), regex("[يكةىأإؤ]")
"""Letters that only Persian has, and only Arabic: an Arabic text may have a foreign name."""
COMMON_WORDS = {
    "en": "the of and to in is that for it as was with be by on not this are or from at which but have an they you a"
    " has had were their his its also will can all been when if more",
    "de": "der die und das den von zu mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat",
    "fr": "le la les de et des en un une du est que pour qui dans ne sur au par il pas plus ce avec sont cette aux",
    "es": "el la los las de y que en un una es por con para del se no su al lo como más pero sus fue este son",
    "pt": "o os as de e que do da em um uma para com não é por se na no dos das mais como ao foi pelo são sua",
    "it": "il di e che la in un è per una non del con si da le dei i sono al come della nel alla più anche gli",
    "nl": "de het een van en in is dat op te zijn met voor niet aan er ook als bij door maar wordt naar uit worden",
    "sv": "och att det som en på är av för med den till inte om ett han var jag från men kan har de vi eller",
    "da": "og at det som en på er af for med den til ikke om et han var jeg fra men kan har de vi eller blev",
    "no": "og at det som en på er av for med den til ikke om et han var jeg fra men kan har de vi eller ble",
    "fi": "ja on ei että se oli hän mutta ovat kun myös ole tai niin kuin joka sekä sen hänen olla",
    "pl": "i w na z się do nie jest że to o jak po przez za od dla są oraz ale był przy tym jego lub",
    "cs": "a v se na je že s z do o i to k ve pro za by od jako po které byl jsou ale jeho nebo",
    "ro": "de și în a la cu pe nu este din care o un pentru ce sunt mai se că prin fost sau lui după",
    "hu": "a az és hogy nem is egy van volt de meg ez csak már mint vagy el még lehet ki azt szerint",
    "tr": "ve bir bu da de için ile olarak olan çok daha gibi en kadar sonra ne var değil her ama veya",
}
QUESTION_WORDS = {
    "en": "what who whom whose which when where why how does did do is are was were can could should would will may any"
    " there i my me we our you your it list name compare explain describe summarize find tell show give between about",
    "de": "was wer wen wem wessen welche welcher welches wann wo woher wohin warum weshalb wieso wie gibt hat kann soll"
    " wurde wurden sind ist ich mein wir man nenne vergleiche erkläre beschreibe zwischen über",
    "fr": "quel quelle quels quelles qui quoi quand où pourquoi comment combien est sont je mon mes nous peut compare"
    " explique décris entre lequel laquelle",
    "es": "qué quién quiénes cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas yo mi puedo hay compara"
    " explica describe entre sobre",
    "pt": "qual quais quem quando onde quanto quanta quantos quantas como eu meu posso há compare explique"
    " descreva entre",
    "it": "quale quali qual chi cosa quando dove perché quanto quanta quanti quante come io mio posso confronta spiega"
    " descrivi tra",
    "nl": "wat wie welke welk wanneer waar waarom hoe hoeveel ik mijn wij kan vergelijk beschrijf tussen over",
    "sv": "vad vem vilken vilket vilka när varför hur jag min vi mellan om var",
    "da": "hvad hvem hvilken hvilket hvilke hvornår hvor hvorfor hvordan jeg min mellem om",
    "no": "hva hvem hvilken hvilket hvilke når hvor hvorfor hvordan jeg min mellom om",
    "fi": "mikä mitä mitkä kuka ketkä milloin missä miksi miten kuinka minä minun voiko onko välillä montako paljonko",
    "pl": "co kto jaki jaka jakie kiedy gdzie dlaczego ile czy który która które mój mogę między porównaj",
    "cs": "co kdo jaký jaká jaké kdy kde proč kolik jak který která které můj mohu mezi porovnej",
    "ro": "ce cine când unde cum cât câte câți câtă care eu meu pot între despre compară",
    "hu": "mi ki melyik mikor hol miért hogyan mennyi hány milyen én között hasonlítsd",
    "tr": "kim kimdir ne nedir hangi hangisi nerede nasıl neden niçin kaç mi mı mu mü midir zaman kadar arasında"
    " tarafından ben benim karşılaştır",
    "vi": "gì ai nào khi đâu sao thế bao nhiêu mấy là của và có không được những các trong cho với một này như từ về"
    " người tại vì đã bởi ở",
}
"""Words that begin questions, or are frequent in them."""
LANGUAGES: dict[str, list[str]] = {}
"""The languages of a common word."""
for _language, _words in COMMON_WORDS.items():
    for _word in _words.split():
        LANGUAGES.setdefault(_word, []).append(_language)


def _weights() -> dict[str, dict[str, float]]:
    """What each common word of questions counts for each language."""
    common = {language: set(COMMON_WORDS.get(language, "").split()) for language in QUESTION_WORDS}
    question_words = {language: set(words.split()) for language, words in QUESTION_WORDS.items()}
    weights: dict[str, dict[str, float]] = {}
    for word in set().union(*common.values(), *question_words.values()):
        languages = [name for name in QUESTION_WORDS if word in common[name] | question_words[name]]
        weights[word] = {name: (1 + (word in question_words[name])) / len(languages) for name in languages}
    return weights


ASKED = _weights()
TOKEN = regex(r"\b[^\W\d_]+\b")
"""A word: not the W of 2025-W18, nor the A of a cell's place."""
MIN_COMMON_WORDS, MIN_COMMON_SHARE, MIN_TEXT_WEIGHT = 3, 0.08, 0.75
"""Of a text: the least number of its common words, their share, and the least of them if a word of several languages
counts by so much less. "a" and "i" say little of a text, and one word alone, however often, says nothing.
"""
MIN_QUESTION_WEIGHT, LEAD = 1.5, 1.5
"""Of a question: the least weight of its common words, and how many times that of any other language it must be."""


def detect_language(text: str) -> str:
    """The language of `text` as ISO 639-1, "" if unknown. Reads the first 2,000 characters."""
    sample = text[:SAMPLE_CHARS]
    if not sample.isascii():
        language = _script_language(sample)
        if language:
            return language
    return _detect_by_words(sample)


def question_language(text: str) -> str:
    """The language of a question as ISO 639-1, "" if unknown: by its script, else by its common words.

    A question is short. So a word counts by how few languages have it ("do" and "a" are words of English, and of
    Czech), and twice in a language whose questions use it.
    """
    sample = text[:SAMPLE_CHARS]
    if not sample.isascii() and (script_language := _script_language(sample)):
        return script_language
    weights = dict.fromkeys(QUESTION_WORDS, 0.0)
    for word in TOKEN.findall(sample.lower()):
        for language, weight in ASKED.get(word, {}).items():
            weights[language] += weight
    second_highest, highest = sorted(weights.values())[-2:]
    return (
        max(weights, key=weights.__getitem__)
        if highest >= MIN_QUESTION_WEIGHT and highest >= LEAD * second_highest
        else ""
    )


def _script_language(sample: str) -> str:
    """The language of the script of at least a third of the letters; kana among many more kanji is Japanese."""
    letters = sum(map(str.isalpha, sample))
    counts = {language: len(script.findall(sample)) for language, script in SCRIPTS}
    if counts["ja"] * 20 > counts["zh"] and (counts["ja"] + counts["zh"]) * 3 > letters:
        return "ja" if counts["ja"] else ""
    best = max(counts, key=lambda language: counts[language])
    if counts[best] * 3 <= letters or not counts[best]:
        return ""
    if best == "ru" and re.search(r"[іїєґ]", sample, re.IGNORECASE):
        return "uk"
    if best == "ar" and len(_PERSIAN.findall(sample)) > len(_ARABIC.findall(sample)):
        return "fa"
    return best


def _detect_by_words(sample: str) -> str:
    tokens = Counter(TOKEN.findall(sample.lower()))
    total = tokens.total()
    if not total:
        return ""
    hits: Counter[str] = Counter()
    weights: dict[str, float] = {}
    for word in sorted(tokens.keys() & LANGUAGES.keys()):
        for language in LANGUAGES[word]:
            hits[language] += tokens[word]
            weights[language] = weights.get(language, 0.0) + tokens[word] / len(LANGUAGES[word])
    best = max(sorted(hits), key=lambda language: (round(weights[language], 9), hits[language]), default="")
    several = sum(best in LANGUAGES.get(word, ()) for word in tokens) > 1
    enough = (
        several and hits[best] >= max(MIN_COMMON_WORDS, MIN_COMMON_SHARE * total) and weights[best] >= MIN_TEXT_WEIGHT
    )
    return best if enough else ""
