"""Claim and evidence as the built-in verifier compares them: their words, and the places of each in the evidence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise

import msgspec

from assay.core.citations.value_spellings import without_values
from assay.core.claims import HOLDING, Check, Nearest
from assay.core.lazy import regex
from assay.core.lexicon import FUNCTION_WORDS, NUMBER_WORDS, ORDINALS, SCALES, TENS, stem
from assay.core.sources import Passage
from assay.core.text import sentences

# Thresholds that are not in `model.json`, which has the fitted ones of the verdicts, and on what they were fitted
# (`provenance`). These were chosen by hand; `bench/grounding.py` measures the effect (docs/verification-measured.md).
# The model was trained with them (`bench/grounding_training.py`): a change needs a new model.

MAX_PART_WORDS = 60
"""Words. Text without sentence ends (tables, code, lists) is cut into pieces of this size."""
MAX_EVIDENCE_CHARS = 400_000
"""Characters; only the beginning of longer evidence is read."""
UNKNOWN_WEIGHT = 11.0
"""The weight of a word that is not in `frequencies.txt`, in nats."""
NUMBER_WEIGHTS = (6.0, 9.0)
"""The least and the greatest weight of a number, in nats: numbers are never common words nor the rarest ones."""
ALIKE_STEMS = 0.7
"""How much of two stems must agree from their beginning (Dice's measure) to count as similar."""
COMMON_HEAD = 4
"""The first letters that similar stems share."""
MAX_PARTS = 40
"""Parts of the evidence compared with a sentence, those with most of its weight."""
PART_COST = 0.01
"""The cost of each word of a part in the ranking, in nats: of equal parts the shorter comes first."""
SHORT_REPLACEMENT = 4
"""Words of a short replacement: longer runs are other text rather than an edit."""
COPIED_ORDER = 0.7
"""A claim with this share of its best part's words in their order is a copy: differences are edits.

docs/verification.md gives it to readers.
"""
WHOLE_SENTENCE = 0.95
"""The share of a sentence, by weight, that its best part must say to be the same sentence in another order."""
MAX_LISTED_WORDS = 6
"""Words that a reason lists."""
ENGLISH_WORDS = 8
"""Words; a claim of this length without an English function word is in another language."""
LIKELY = 0.5
"""The score from which a claim is likely supported. It is not a verdict: about one in three such claims is not."""
LOG_ODDS_BOUND = 6.9
"""Keeps probabilities between 0.001 and 0.999: words alone never make certain."""

# The words of claim and evidence, as the built-in verifier compares them.

NUMBERS = {
    "zero": "0",
    **{word: str(value) for word, value in (NUMBER_WORDS | TENS).items() if word != "one"},
    **{word: str(value) for word, value in ORDINALS.items() if value <= 10},
    "twice": "2",
    "half": "0.5",
    "dozen": "12",
}
"""Words compared as the figures they stand for."""
_SCALES = {word: SCALES[word] for word in ("hundred", "thousand", "million", "billion", "trillion")}

_WORD = regex(r"\d+(?:[.,]\d+)*%?|[^\W\d_]+(?:['’][^\W\d_]+)*|[^\W_]+")
_MARKUP = regex(r"\[\d{1,3}\]|(?<!\w)-LSB-.{0,200}?-RSB-(?!\w)|(?<!\w)-[LR][RSC]B-(?!\w)|https?://\S+")
"""Text outside the sentence: numbered citations, addresses, brackets as some treebanks write them."""


class WordToken(msgspec.Struct, frozen=True, gc=False):
    """A word: as written, its stem, and its kind.

    `number` marks a figure or number word, `name` a capitalized word that does not begin its sentence, `function` a
    word that only joins others. `first` is the first word of a sentence.
    """

    text: str
    stem: str
    number: bool = False
    name: bool = False
    function: bool = False
    first: bool = False

    @property
    def content(self) -> bool:
        return not self.function


def tokens(sentence: str) -> tuple[WordToken, ...]:
    """The words of one sentence, in order."""
    word_tokens: list[WordToken] = []
    for match in _WORD.finditer(_MARKUP.sub(" ", unicodedata.normalize("NFKC", sentence))):
        word_tokens.append(_token(match[0].replace("’", "'"), not word_tokens))
    return _join_scales(word_tokens)


def _join_scales(word_tokens: list[WordToken]) -> tuple[WordToken, ...]:
    """Join a figure and the scale word after it ("3 million") into one number; the scale word also stays a word."""
    for index in range(len(word_tokens) - 1):
        figure, scale = word_tokens[index], _SCALES.get(word_tokens[index + 1].text.lower())
        if figure.number and scale and figure.stem.replace(".", "", 1).isdecimal():
            word_tokens[index] = msgspec.structs.replace(figure, stem=_figure(f"{float(figure.stem) * 10**scale:.4f}"))
    return tuple(word_tokens)


@lru_cache(maxsize=50_000)
def _token(text: str, first: bool) -> WordToken:
    lower = text.lower()
    if text[0].isdecimal():
        return WordToken(text, _figure(text), number=True, first=first)
    if lower in NUMBERS:
        return WordToken(text, NUMBERS[lower], number=True, first=first)
    bare = lower[:-2] if lower.endswith("'s") else lower
    function = bare in FUNCTION_WORDS or lower in FUNCTION_WORDS
    name = text[0].isupper() and not function and (not first or (len(text) > 1 and text.isupper()))
    return WordToken(text, stem(bare, "en"), name=name, function=function, first=first)


def _figure(text: str) -> str:
    """One form for equal numbers: `1,000.50` and `1000.5`, without a percent sign."""
    plain = re.sub(r",(?=\d{3}(?!\d))", "", text.rstrip("%")).replace(",", ".")
    if plain.count(".") == 1:
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0"


# Words that exclude each other: a table, and prefixes that reverse a word.

_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "mis", "de", "anti")
_NO_OPPOSITES = frozenset(
    """
    denois depart depend deport depress design desir detail discount discov display income index inform insid inspect
    instanc instead intend intent invest impart import impos impress improv imprint
    """.split()
)
"""Stems that only seem to begin with such a prefix."""


def _opposites_lines() -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """The stems left and right of each bar."""
    text = resources.files(__package__).joinpath("opposites.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line.startswith("#") and "|" in line:
            left, right = (frozenset(stem(word, "en") for word in side.split()) for side in line.split("|"))
            yield left, right


@cache
def opposites_table() -> dict[str, frozenset[str]]:
    """The opposites of each stem, in both directions."""
    table: dict[str, set[str]] = {}
    for left, right in _opposites_lines():
        for stems, opposite_stems in ((left, right), (right, left)):
            for key in stems:
                table.setdefault(key, set()).update(opposite_stems - {key})
    return {key: frozenset(excluded) for key, excluded in table.items()}


@cache
def _senses_table() -> dict[str, frozenset[str]]:
    """The stems on the same side of a line of the table of opposites."""
    table: dict[str, frozenset[str]] = {}
    for line in _opposites_lines():
        for side in line:
            table |= {key: table.get(key, frozenset()) | side for key in side}
    return table


def same_sense(key: str) -> frozenset[str]:
    """A stem with those that say nearly the same or are forms of it ("sell", "sold")."""
    return _senses_table().get(key, frozenset((key,)))


@cache
def opposites(key: str) -> frozenset[str]:
    """Stems that exclude the stem `key`: those in the table, and itself with or without a reversing prefix."""
    prefixed = {prefix + key for prefix in _PREFIXES if len(key) > 3} - _NO_OPPOSITES
    bare = {key[len(prefix) :] for prefix in _PREFIXES if key.startswith(prefix) and len(key) - len(prefix) > 3}
    return opposites_table().get(key, frozenset()) | prefixed | (frozenset() if key in _NO_OPPOSITES else bare)


class StemIndex(msgspec.Struct, frozen=True, gc=False):
    """`parts` are sentences or pieces of them; `parts_by_stem` the parts that contain each stem, ascending.

    `neighbours` are pairs of adjacent stems, including function words; `skipgrams` pairs of content stems with at most
    one content word between them; `heads` the stems by their first letters.
    """

    parts: tuple[tuple[WordToken, ...], ...]
    parts_by_stem: dict[str, tuple[int, ...]]
    neighbours: frozenset[tuple[str, str]]
    skipgrams: frozenset[tuple[str, str]]
    heads: dict[str, tuple[str, ...]]

    def around(self, part: int, reach: int = 1) -> tuple[WordToken, ...]:
        """The words of a part and of `reach` parts before and after it."""
        return tuple(
            token for nearby_part in self.parts[max(0, part - reach) : part + reach + 1] for token in nearby_part
        )

    def stem_similarity(self, stem: str) -> float:
        """How much of `stem` the most similar stem shares from its beginning (Dice's measure), 0 below 0.7."""
        similarity = max(
            (_shared_beginning(stem, candidate) for candidate in self.heads.get(stem[:COMMON_HEAD], ())), default=0.0
        )
        return similarity if similarity >= ALIKE_STEMS else 0.0


@lru_cache(maxsize=16)
def index_evidence(evidence: str) -> StemIndex:
    """Index `evidence`; the latest results are cached."""
    parts = tuple(_parts(evidence[:MAX_EVIDENCE_CHARS]))
    parts_by_stem: dict[str, list[int]] = {}
    for index, part in enumerate(parts):
        for key in dict.fromkeys(token.stem for token in part):
            parts_by_stem.setdefault(key, []).append(index)
    heads: dict[str, list[str]] = {}
    for key in parts_by_stem:
        if len(key) >= COMMON_HEAD and not key[0].isdecimal():
            heads.setdefault(key[:COMMON_HEAD], []).append(key)
    stems = [token.stem for part in parts for token in part]
    content = [token.stem for part in parts for token in part if token.content]
    return StemIndex(
        parts=parts,
        parts_by_stem={key: tuple(members) for key, members in parts_by_stem.items()},
        neighbours=frozenset(pairwise(stems)),
        skipgrams=frozenset([*pairwise(content), *zip(content, content[2:], strict=False)]),
        heads={head: tuple(members) for head, members in heads.items()},
    )


def _parts(text: str) -> list[tuple[WordToken, ...]]:
    pieces: list[tuple[WordToken, ...]] = []
    for start, end in sentences(text):
        words = tokens(text[start:end])
        pieces.extend(words[offset : offset + MAX_PART_WORDS] for offset in range(0, len(words), MAX_PART_WORDS))
    return pieces


def _shared_beginning(first: str, second: str) -> float:
    same = next(
        (index for index, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
    return 2 * same / (len(first) + len(second))


def weight(token: WordToken) -> float:
    """The weight of a word: its inverse document frequency over sentences, in nats; for numbers between 6 and 9."""
    frequency_weight = _weights().get(token.stem, UNKNOWN_WEIGHT)
    least, most = NUMBER_WEIGHTS
    return min(most, max(least, frequency_weight)) if token.number else frequency_weight


@cache
def _weights() -> dict[str, float]:
    """The shipped table: each line has a weight in tenths of nats, and its stems."""
    text = resources.files(__package__).joinpath("frequencies.txt").read_text(encoding="utf-8")
    weights = {}
    for line in text.splitlines():
        tenths, *stems = line.split()
        weights.update(dict.fromkeys(stems, int(tenths) / 10))
    return weights


# The passage nearest to a claim, and what it lacks: where nothing is certain, a reader looks there.

_LISTED = 8


def add_nearest(check: Check, claim: str, passages: Sequence[Passage]) -> Check:
    """`check` with the nearest of `passages`, if the claim does not hold and there is one."""
    if check.verdict in HOLDING or check.nearest is not None:
        return check
    nearest = nearest_passage(claim, passages)
    return msgspec.structs.replace(check, nearest=nearest) if nearest else check


def nearest_passage(claim: str, passages: Sequence[Passage]) -> Nearest | None:
    """The passage with most of the claim's words by weight, the first of equals; None if no word is shared."""
    claim_tokens = _content_tokens(claim)
    best, best_weight = None, 0.0
    for passage in passages:
        missing = _missing_words(claim, claim_tokens, passage)
        shared_weight = sum(map(weight, claim_tokens)) - sum(map(weight, missing))
        if shared_weight > best_weight:
            missing_texts = tuple(token.text for token in missing[:_LISTED])
            best, best_weight = Nearest(passage=passage.id, missing=missing_texts), shared_weight
    return best


def _content_tokens(claim: str) -> list[WordToken]:
    """The distinct words, numbers and names of a claim, in order."""
    distinct: dict[str, WordToken] = {}
    for start, end in sentences(claim):
        for token in tokens(claim[start:end]):
            if token.content:
                distinct.setdefault(token.stem, token)
    return list(distinct.values())


def _missing_words(claim: str, claim_tokens: Sequence[WordToken], passage: Passage) -> list[WordToken]:
    text = " \n".join((passage.text, *passage.above))
    index = index_evidence(text)
    other_stems = {token.stem for token in _content_tokens(without_values(claim, text))}
    return [
        token
        for token in claim_tokens
        if token.stem in other_stems
        and token.stem not in index.parts_by_stem
        and (token.number or not index.stem_similarity(token.stem))
    ]
