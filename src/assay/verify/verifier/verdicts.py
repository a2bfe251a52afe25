"""The built-in verifier's verdict on a claim, with its probability and what a reader can check."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources

import msgspec

from assay.core.claims import Verdict
from assay.core.languages import ASKED, COMMON_WORDS, LANGUAGES, SAMPLE_CHARS, detect_language
from assay.core.lexicon import ABSOLUTES, FUNCTION_WORDS, HEDGES, NEGATIVES, RELATIONS
from assay.core.text import words
from assay.core.translation import gettext as _
from assay.core.translation import join_some, label_text
from assay.verify.verifier.features import features
from assay.verify.verifier.index import (
    ENGLISH_WORDS,
    LIKELY,
    LOG_ODDS_BOUND,
    MAX_LISTED_WORDS,
    StemIndex,
    WordToken,
    index_evidence,
)
from assay.verify.verifier.signs import (
    ClaimWords,
    claim_words,
    extra_negations,
    is_edited,
    opposed_words,
    unsaid_slots,
    unsaid_words,
    unshared_limits,
)

# The shipped model: a logistic regression and boosted trees over the features, read from `model.json`.


class Tree(msgspec.Struct, frozen=True):
    """Nodes in arrays, the root first: at a leaf `feature` is -1; a value up to `threshold` goes left."""

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    def evaluate(self, row: Sequence[float]) -> float:
        node = 0
        while (feature := self.feature[node]) >= 0:
            node = self.left[node] if row[feature] <= self.threshold[node] else self.right[node]
        return self.value[node]


class VerifierModel(msgspec.Struct, frozen=True, kw_only=True):
    """`mean`, `scale`, `weight` and `bias` are the regression's, `trees` and `base` the boosted trees'.

    The mean of both log-odds is calibrated by `slope` and `offset` (Platt 1999), for equal numbers of supported and
    unsupported claims. `veto` is added to the log-odds of a claim to which a deterministic rule objects. From
    `supported` on a claim is called supported, below `unsupported` unsupported. `provenance` says what each was fitted
    on.
    """

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weight: tuple[float, ...]
    bias: float
    base: float
    trees: tuple[Tree, ...]
    slope: float
    offset: float
    veto: float
    supported: float
    unsupported: float
    provenance: dict[str, str] = {}

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability that a claim with these features is supported."""
        row = [float(features[name]) for name in self.features]
        terms = zip(row, self.mean, self.scale, self.weight, strict=True)
        linear = self.bias + sum((value - mean) / scale * weight for value, mean, scale, weight in terms)
        tree_score = self.base + sum(tree.evaluate(row) for tree in self.trees)
        return _probability(self.offset + self.slope * (linear + tree_score) / 2)

    def vetoed_probability(self, score: float) -> float:
        """The probability if a deterministic rule objects as well."""
        return _probability(math.log(score / (1 - score)) + self.veto)


def _probability(log_odds: float) -> float:
    """Between 0.001 and 0.999: words alone never make certain."""
    return 1 / (1 + math.exp(-min(LOG_ODDS_BOUND, max(-LOG_ODDS_BOUND, log_odds))))


@cache
def load_model() -> VerifierModel:
    """The shipped model."""
    data = resources.files(__package__).joinpath("model.json").read_bytes()
    return msgspec.json.decode(data, type=VerifierModel)


class WeighedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """`score` is the probability that the evidence supports the claim, for equal numbers of supported and unsupported
    claims.

    `verdict` is supported, unsupported or unchecked (undecided). `reasons` speak for and against it, or say why it
    could not be compared.
    """

    verdict: Verdict
    score: float
    reasons: tuple[str, ...]
    is_compared: bool = True

    @property
    def is_likely(self) -> bool:
        """True if the evidence supports the claim more likely than not."""
        return self.score >= LIKELY


def weigh(claim: str, evidence: str, *, is_doubted: bool = False) -> WeighedClaim:
    """Weigh `claim` against `evidence`, both plain text in English, which the model knows.

    With `is_doubted`, a rule objects that is too often wrong to decide alone: the score is lowered, and the claim is
    never called supported.
    """
    index = index_evidence(evidence)
    sights = claim_words(claim, index)
    if not sights:
        reasons: tuple[str, ...] = (_("the claim has no words to compare"),)
        return WeighedClaim(verdict="unchecked", score=0.5, reasons=reasons, is_compared=False)
    if not _is_english(sights) or _is_in_another_language(claim) or _is_in_another_language(evidence):
        reasons = (_("not in English, the only language that can be weighed"),)
        return WeighedClaim(verdict="unchecked", score=0.5, reasons=reasons, is_compared=False)
    claim_features = features(sights, index)
    score = load_model().probability(claim_features)
    score = load_model().vetoed_probability(score) if is_doubted else score
    missing = _missing_words(sights)
    edits, unsaid = _edits(sights, claim_features, {token.text for token in missing}), _unsaid_words(missing, index)
    average = sum(sight.row * len(sight.words) for sight in sights) / sum(len(sight.words) for sight in sights)
    share = _("the nearest sentences have {share} of its words").format(share=f"{average:.0%}")
    reasons = (share, *unsaid, *edits)
    verdict = _verdict(score)
    if verdict == "supported" and (is_doubted or is_edited(sights, claim_features)):
        verdict = "unchecked"
    return WeighedClaim(verdict=verdict, score=score, reasons=reasons)


def _verdict(score: float) -> Verdict:
    if score >= load_model().supported:
        return "supported"
    return "unsupported" if score < load_model().unsupported else "unchecked"


def _is_english(sights: Sequence[ClaimWords]) -> bool:
    words = [token for sight in sights for token in sight.words]
    letters = [sign for token in words for sign in token.text if sign.isalpha()]
    latin = sum(unicodedata.name(sign, "").startswith("LATIN") for sign in letters)
    if latin < len(letters) / 2:
        return False
    spelt = {token.text.lower() for token in words}
    return not spelt.isdisjoint(FUNCTION_WORDS) or (len(words) < ENGLISH_WORDS and not any(map(_is_foreign, spelt)))


@lru_cache(maxsize=1024)
def _is_in_another_language(text: str) -> bool:
    """True if a text has more common words of another language than English function words, which may be few."""
    language = detect_language(text)
    if language in ("", "en"):
        return False
    spelt = [word.lower() for word in words(text[:SAMPLE_CHARS])]
    theirs = frozenset(COMMON_WORDS.get(language, "").split())
    return language not in COMMON_WORDS or sum(word in theirs for word in spelt) > sum(
        word in FUNCTION_WORDS for word in spelt
    )


def _is_foreign(word: str) -> bool:
    """True for a common word of other languages only: "sind"."""
    languages = {*LANGUAGES.get(word, ()), *ASKED.get(word, ())}
    return bool(languages) and "en" not in languages


def _missing_words(sights: Sequence[ClaimWords]) -> list[WordToken]:
    """The claim's words that the nearest sentences lack, without those that only join others ("where", "than")."""
    unsaid = dict.fromkeys(token for sight in sights for token in unsaid_words(sight))
    return [token for token in unsaid if not token.function or token.text.lower() in _MEANINGFUL]


def _unsaid_words(new: Sequence[WordToken], index: StemIndex) -> list[str]:
    """The claim's words that the evidence, or its nearest sentences, lack, for a reader."""
    signs = _reason(_("not in the evidence"), (token.text for token in new if not _occurs_in(token, index)))
    return signs + _reason(_("not in the nearest sentences"), (token.text for token in new if _occurs_in(token, index)))


_MEANINGFUL = ABSOLUTES | HEDGES | NEGATIVES | RELATIONS


def _edits(
    sights: Sequence[ClaimWords], claim_features: Mapping[str, float], told_words: Collection[str] = ()
) -> list[str]:
    """Signs of an edit, for a reader.

    Words in reverse order or apart, a word replaced by its opposite or negated, a limit added or left out, a name or
    number that the nearest sentences lack: nearly all words of a false sentence may be there. Missing ordinary words
    are not a sign: rephrasing needs them. `told_words` are not told again.
    """
    new = (text for sight in sights for text in unsaid_slots(sight) if text not in told_words)
    signs = _reason(_("a name or number the nearest sentences lack"), new)
    for sight in sights:
        pattern = _("the claim says {claimed}, the evidence {said}")
        signs += [
            pattern.format(claimed=repr(ours.text), said=repr(theirs.text)) for ours, theirs in opposed_words(sight)
        ]
        signs += [
            *_denial(sight),
            *_reason(
                _("only in the claim or only in the evidence"), _untold(sorted(unshared_limits(sight)), told_words)
            ),
        ]
    if claim_features["turned"] > 0 or claim_features["names_turned"] > 0:
        signs.append(_("its words stand in another order in the evidence"))
    if claim_features["same_part"] < 1:
        signs.append(_("words that stand together here are in different sentences of the evidence"))
    return list(dict.fromkeys(signs))


def _untold(found: Iterable[str], told_words: Collection[str]) -> list[str]:
    told = {word.lower() for word in told_words}
    return [word for word in found if word not in told]


def _reason(label: str, words: Iterable[str]) -> list[str]:
    every = list(dict.fromkeys(words))
    return [label_text(label, join_some(every, MAX_LISTED_WORDS))] if every else []


def _occurs_in(token: WordToken, index: StemIndex) -> bool:
    return token.stem in index.parts_by_stem or (not token.number and index.stem_similarity(token.stem) > 0)


def _denial(sight: ClaimWords) -> list[str]:
    extra = extra_negations(sight)
    if extra > 0:
        return [_("the claim denies something that the evidence does not")]
    return [_("the evidence denies something that the claim does not")] if extra < 0 else []
