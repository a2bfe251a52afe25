"""Sentences, words and token estimates of a text.

Positions are code points. Sentence ends are found by nupunkt's pre-trained Punkt model (Kiss and Strunk 2006,
"Unsupervised Multilingual Sentence Boundary Detection"), with our own rules for scripts that end sentences without a
space and for abbreviations that the model does not know.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
import string
import unicodedata
from typing import TYPE_CHECKING

from assay.core.languages import COMMON_WORDS, QUESTION_WORDS, SAMPLE_CHARS, detect_language
from assay.core.lazy import lazy_module, regex

if TYPE_CHECKING:
    import nupunkt
else:
    nupunkt = lazy_module("nupunkt")

_IN_NAME = regex(r"(?<=[a-z0-9])(?=[A-Z])|[_\W]+")
_LINE = regex(r"\S(?:.*\S)?")
_BLANK_LINE = regex(r"\n[ \t\r\f\v]*(?=\n)")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3041-\u309f\u30a1-\u30ff\u3100-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Scripts written without spaces between words: Han, kana, Thai, Lao, Khmer, Burmese."""
_UNSPACED_LETTER = regex(f"[{_UNSPACED}]")

_CLOSERS = "\"'”’»）)\\]】」』〉》*_"
_OWN_END = regex(f"(?:[。！？｡؟۔।॥]+|(?<=[{_UNSPACED}])[!?.]+(?=[{_CLOSERS}]*[{_UNSPACED}]))[{_CLOSERS}。！？｡]*")
_MAYBE_END = regex(r"[.!?…][^\w\s.!?…]*\s")
"""Each character is examined once: of a run of sentence ends only the last can have white space after it."""

# unknown to the English model: reference words, German, French, Spanish, Russian
_ABBREVIATIONS = frozenset(
    """
    fig figs eq eqs sec secs ch chap vol vols no nos art arts ref refs approx resp incl excl est ca cf al ed eds
    z.b d.h u.a o.ä bzw bspw vgl ggf evtl inkl exkl sog nr abs str bzgl dr prof hr fr st mio mrd tsd
    p.ex env réf éd av sr sra ej pág págs núm т.е т.п т.н г гг стр рис табл им ул акад проф руб тыс млн млрд см
    """.split()
)
_ALSO_WORDS = frozenset(
    ("no", "nos", "art", "arts", "al", "ch", "st", "est", "av", "г", "гг", "fr", "str", "abs", "ed")
)
"""Abbreviations that may also end a sentence: a capital after them begins one."""

_NO_ABBREVIATIONS = frozenset(
    """
    accent acres aims alike aloud arcade arrows ashore auto backs bail bank barn bays bed bets biting black bleak
    bold bombed bond book broad bull bump call cancer car century chaos chase chases cheerful chest civilization
    cliff climb closes code cold consume cow crafts cranes crazy curt deserved diodes disc divide drunk dull dusk
    dyes enter enters equal excitation expo faded fairs fish fist flag flip flourish foes found free galaxies
    galleries gracefully gunpoint hall hand hard harp hers highs holidays horse human hunts idaho info intestine
    inverter iowa jeff john joke just kerry knees lack laughter lazy lead leaps life lock luck mankind marsh
    maximized memo mess metro mills monaco month nonsense oceania oils okay onwards openers oranges parade park pen
    penny pens pin poland pollution port quantified recurs refrigeration renditions reporter reports rest
    resurrection revisited rich rites roll rounds ruin ruined sand sane saw scam scandal scatter scattering series
    shade shrug sick sinks sledgehammer sleep sneeze soar south splash stake stars stew stock story swallowed tables
    tale talent tasks taxis ten thanks threads traumas tread truncation utah vectoring victories vodka walk wall
    wave webs week west wheat wheel whites will win wings wisely woods wool works yard york
    """.split()
)
"""Words that the English model takes for abbreviations, from law reports; a capital after them begins a sentence."""
_FULL_WORD_END = regex(r"(?<![^\W_])([^\W\d_]{3,})\.[\"'”’)\]]*(?=\s+[^\w\s]*([^\W\d_]))")

_MONTHS = frozenset(
    """
    januar februar märz april mai juni juli august september oktober november dezember jänner
    january february march may june july october december januari februari maart mei augustus
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    """.split()
)
_GERMAN_OPENERS = (
    "dann danach damals dabei dazu dadurch daher deshalb dies diese dieser dieses doch hier ihr ihre sein seine wir ich"
    " man so sie während wenn weil obwohl seit bei nach vor durch zwischen unter über gegen ohne bis ab am beim vom zum"
    " zur später zuvor zunächst anschließend außerdem jedoch aber denn kein keine jeder jede alle viele einige beide"
)
_ROMAN = regex(r"[IVXLC]{2,7}")
_UNIT_END = regex(r"\d\s?[ghlmst]\.(?=\s+([^\W\d_]))")
"""A number, its unit of one letter, which nupunkt takes for an initial, a full stop, and the next letter."""
_LAST_WORD = regex(r"[^\W_]+(?:\.[^\W_]+)*$")
_FIRST_WORD = regex(r"\s*[^\w\s]*([^\W_]+)")
_KEPT = 2_000
"""Code points of a paragraph whose sentence ends are cached."""


def sentences(text: str) -> list[tuple[int, int]]:
    """The spans of the sentences of `text`, without the white space around them.

    No span is blank; spans ascend and do not overlap, with only white space between them. A blank line always ends a
    sentence. The rules for all languages are always tried.
    """
    spans = []
    start = 0
    for blank in _BLANK_LINE.finditer(text):
        spans.extend(_paragraph_sentences(text, start, blank.start()))
        start = blank.end()
    spans.extend(_paragraph_sentences(text, start, len(text)))
    return spans


_STAMP = regex(r"[\[(]?\d{1,4}[-./:]\d[\d\-./:, TZ+]*[\])]?\s+")
"""The date or the time that a message in a chat or a log begins with."""
_FULL_STOPS = (".", "!", "?", "。", "！", "？", "؟", "…", "।", "｡")
_UNFINISHED = (",", ";", ":", "-", "–", "(")


def ends_sentence(line: str) -> bool:
    """True if a line ends like a sentence."""
    return line.rstrip("\"'”’“‘»›«‹)]*_`」』】）").endswith(_FULL_STOPS)


def without_stamp(line: str) -> str:
    """A line without the date or the time that it begins with."""
    return _STAMP.sub("", line, count=1)


def separate_lines(text: str) -> list[tuple[int, int]]:
    """The spans of the lines of a text in which each stands for itself, else none.

    These are messages of a chat or a log, which begin with a date or a time; and notes, whose lines all begin with a
    capital or a digit, while none ends like a sentence or with a word that another follows.
    """
    lines = [match.span() for match in _LINE.finditer(text)]
    if len(lines) < 2:
        return []
    line_texts = [text[start:end] for start, end in lines]
    if all(map(_STAMP.match, line_texts)) or all(map(_is_note, line_texts)):
        return lines
    return []


def _is_note(line: str) -> bool:
    begins_note = line[0].isupper() or line[0].isdigit()
    return begins_note and not ends_sentence(line) and not ends_unfinished(line) and len(sentences(line)) == 1


def ends_unfinished(line: str) -> bool:
    """True if something must follow a line: it ends with a comma, a colon, or a word that another follows."""
    return line.endswith(_UNFINISHED) or line.rpartition(" ")[2].casefold() in _connecting_words()


@functools.cache
def _connecting_words() -> frozenset[str]:
    """Words that another follows, in every language: a line is too short to tell which it is in."""
    return frozenset(" ".join(COMMON_WORDS.values()).split())


def _paragraph_sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Sentences of one paragraph, `text[start:end]`."""
    paragraph = text[start:end]
    own_ends = () if paragraph.isascii() else (match.end() for match in _OWN_END.finditer(paragraph))
    cuts = sorted({*_cached_cuts(paragraph), *own_ends, len(paragraph)})
    spans = []
    last = 0
    for cut in cuts:
        piece = paragraph[last:cut]
        if piece.strip():
            content_start = last + len(piece) - len(piece.lstrip())
            spans.append((start + content_start, start + last + len(piece.rstrip())))
        last = cut
    return spans


def _cached_cuts(paragraph: str) -> tuple[int, ...]:
    if not _MAYBE_END.search(paragraph):
        return ()
    return _sentence_cuts(paragraph) if len(paragraph) <= _KEPT else _sentence_cuts.__wrapped__(paragraph)


@functools.lru_cache(maxsize=512)
def _sentence_cuts(paragraph: str) -> tuple[int, ...]:
    """Cached for short paragraphs: those of passages and reports are needed again and again."""
    cuts = (end for _, end in nupunkt.sent_spans(paragraph))
    units = (match.end() for match in _UNIT_END.finditer(paragraph) if match[1].isupper())
    words = (match.end() for match in _FULL_WORD_END.finditer(paragraph) if _ends_full_word(match))
    return (*(cut for cut in cuts if cut < len(paragraph) and not _is_false_cut(paragraph, cut)), *units, *words)


def _ends_full_word(match: re.Match[str]) -> bool:
    return match[2].isupper() and match[1].casefold() in _NO_ABBREVIATIONS


def _is_false_cut(paragraph: str, cut: int) -> bool:
    """True if a cut is false: after an abbreviation, an ordinal, a short word or a Roman numeral before lower case."""
    last, first = _word_before(paragraph, cut), _FIRST_WORD.match(paragraph, cut)
    if not last or first is None:
        return False
    before, after = last.casefold(), first[1]
    if before.isdigit():
        return (len(before) <= 2 and after.casefold() in _MONTHS) or (len(before) <= 3 and _is_noun(paragraph, after))
    if before in _ABBREVIATIONS:
        return after[0].islower() or after[0].isdigit() or before not in _ALSO_WORDS
    if _ROMAN.fullmatch(last):
        return after[0].islower()
    return len(before) <= 3 and "." not in before and after[0].islower() and not before.isascii()


def _word_before(paragraph: str, cut: int) -> str:
    """The word whose period, perhaps with a bracket after it, is the last sign before a cut; "" if there is none."""
    before = paragraph[max(0, cut - 40) : cut].rstrip()
    if before.endswith((")", "]")):
        before = before[:-1]
    if not before.endswith(".") or before[-2:-1].isspace():
        return ""
    match = _LAST_WORD.search(before[:-1].rpartition(" ")[2])
    return match[0] if match else ""


def _is_noun(paragraph: str, word: str) -> bool:
    """True if the capital of a word after a number means nothing, as in German nouns: "des 18. Jahrhunderts".

    A word that often begins German sentences and questions counts as the beginning of one.
    """
    return _detected(paragraph[:SAMPLE_CHARS]) == "de" and word.casefold() not in _german_openers()


_detected = functools.lru_cache(maxsize=8)(detect_language)
"""Cached, since a list needs it at each of its numbers."""


@functools.cache
def _german_openers() -> frozenset[str]:
    return frozenset(f"{COMMON_WORDS['de']} {QUESTION_WORDS['de']} {_GERMAN_OPENERS}".split())


_ASCII_WORD = regex(r"[a-z0-9]+(?:'(?=[a-z])[a-z0-9]+)?")
"""Matches what `_word_pattern` finds in lower-case ASCII text, in a fifth of the time."""


@functools.cache
def _word_pattern() -> re.Pattern[str]:
    """Runs of letters, digits and their combining marks, which Python's word class leaves out; unspaced runs apart.

    Every combining mark is below U+3100, except a few of dead scripts.
    """
    marks = "".join(
        re.escape(chr(code)) for code in range(0x300, 0x3100) if unicodedata.category(chr(code)) in {"Mn", "Mc"}
    )
    spaced_letter = f"(?:(?![{_UNSPACED}])[^\\W_]|[{marks}])"
    return re.compile(f"({spaced_letter}+(?:['’](?=[^\\W\\d_]){spaced_letter}+)?)|((?:[{_UNSPACED}])+)")


def is_unspaced(text: str) -> bool:
    """True if `text` has a letter of a script written without spaces between words."""
    return _UNSPACED_LETTER.search(text) is not None


def words(text: str) -> list[str]:
    """Casefolded NFKC words of `text`, for matching.

    Words of unspaced scripts are overlapping `letter_pairs`. Hyphens, dots and
    underscores separate: "EIP-1559" is `["eip", "1559"]`. A possessive "'s" is removed.
    """
    if text.isascii():
        return _ascii_words(text)
    word_list: list[str] = []
    # No word crosses the end of a line, and in a page with few special characters most lines are ASCII.
    for ascii_only, lines in itertools.groupby(text.split("\n"), str.isascii):
        word_list += (_ascii_words if ascii_only else _other_words)("\n".join(lines))
    return word_list


_PLAIN_WORD = regex(r"[a-z0-9]+(?:['’](?=[a-z])[a-z0-9]+)?")
"""The same with a typographic apostrophe allowed."""
_SIGNS = regex("[\xa0§©«®¶·»×\u2010-\u2015\u2018\u201c-\u201e\u2022\u2026\u2190-\u21ff\u2500-\u257f]+")
"""Characters that NFKC never makes part of a word: most lines that are not ASCII have only a few of these."""


def words_of_name(name: str) -> list[str]:
    """The words of a property's or a column's name, as written: those of `createdAt` are "created" and "At"."""
    return [part for part in _IN_NAME.split(name) if part]


_ASCII_WORD_CHARS = "".join(char.lower() if char.isalnum() or char == "'" else " " for char in map(chr, range(128)))
"""Maps characters that separate ASCII words to spaces: then they are found in half the time that a pattern takes."""


def _ascii_words(text: str) -> list[str]:
    word_list = text.translate(_ASCII_WORD_CHARS).split()
    if "'" not in text:
        return word_list
    plain_words: list[str] = []
    for word in word_list:
        if "'" in word:
            plain_words += (match.removesuffix("'s") for match in _ASCII_WORD.findall(word))
        else:
            plain_words.append(word)
    return plain_words


def _other_words(text: str) -> list[str]:
    plain = _SIGNS.sub(" ", text)
    if plain.replace("’", "").isascii():
        return [_strip_possessive(word) for word in _PLAIN_WORD.findall(plain.lower())]
    folded = unicodedata.normalize("NFKC", text).casefold()
    if folded.isalnum() and not is_unspaced(folded):  # one word, which the pattern need not be compiled for
        return [folded]
    word_list = []
    for spaced_word, run in _word_pattern().findall(folded):
        if spaced_word:
            word_list.append(_strip_possessive(spaced_word))
        else:
            word_list.extend(letter_pairs(run))
    return word_list


_SYLLABIC = regex("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_SYLLABLE = regex(
    "[\u0e40-\u0e44\u0ec0-\u0ec4]?.(?:[\u1039\u17d2].|"
    "[\u0e30-\u0e3a\u0e45\u0e47-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u17dd])*"
)
"""A consonant with the vowels and signs that are written around it and the consonants stacked below it."""


def letter_pairs(run: str) -> list[str]:
    """The overlapping pairs of a run of letters in an unspaced script; a single letter as itself.

    Pairs of characters; in Thai, Lao, Burmese and Khmer, where a character is only a sound, of syllables as they are
    written (after the "Thai character clusters" of Theeramunkong et al. 2000, "Character cluster based Thai
    information retrieval").
    """
    units = _SYLLABLE.findall(run) if _SYLLABIC.search(run) else run
    return ["".join(units[index : index + 2]) for index in range(max(1, len(units) - 1))]


def _strip_possessive(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s") if word[-1] == "s" else word


_DENSE = regex(rb"[A-Za-z0-9+/=_-]{24,}")
_DIGITS = string.digits.encode()
_LETTERS = string.ascii_letters.encode() + b" "
_PACKED = bytes(ord("x" if chr(code) in f"{string.ascii_letters}{string.digits}+/=_-" else " ") for code in range(256))
"""Maps characters of long unbroken runs to x, and all others to spaces, so that a run is found at once."""


_COUNTED = 16_000
"""Code points of a text whose estimate is cached."""


def estimate_tokens(text: str) -> int:
    """About how many tokens a model's tokenizer makes of `text`, on the safe side (rather more than fewer).

    English counts 3.5 characters per token, most digits and symbols one each, other alphabets 0.6 per letter, Chinese
    and the like one and a half per character, long unbroken runs (hashes, base64) two characters per token.
    """
    return _count_tokens(text) if len(text) <= _COUNTED else _count_tokens.__wrapped__(text)


@functools.lru_cache(maxsize=512)
def _count_tokens(text: str) -> int:
    """Cached, since each request of a conversation holds the messages of the one before."""
    if text.isascii():
        plain, other_tokens = text.encode(), 0.0
        ascii_length = len(plain)
    else:
        plain = text.encode("ascii", "replace")
        ascii_length = len(text.encode("ascii", "ignore"))
        foreign = len(text) - ascii_length
        foreign_bytes = len(text.encode("utf-8", "surrogatepass")) - ascii_length
        other_tokens = (
            0.9 * foreign_bytes - 1.2 * foreign
        )  # 0.6, 1.5 and 2.4 for a character of two, three and four bytes
    without_letters = plain.translate(None, _LETTERS)
    letters = len(plain) - len(without_letters)
    digits = len(without_letters) - len(without_letters.translate(None, _DIGITS))
    dense = sum(map(len, _DENSE.findall(plain))) if b"x" * 24 in plain.translate(_PACKED) else 0
    signs = ascii_length - letters - digits
    return math.ceil(letters / 3.5 + digits * 0.7 + signs * 0.8 + other_tokens + dense * 0.25)
