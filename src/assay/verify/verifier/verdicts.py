"""The built-in verifier's verdict on a claim, with its probability and what a reader can check."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources

import msgspec

from assay.core.claims import Verdict
from assay.core.lexicon.word_lists import FUNCTION
from assay.core.translation import enumerated, labelled
from assay.core.translation import gettext as _
from assay.verify.verifier.features import features
from assay.verify.verifier.index import StemIndex, WordToken, index
from assay.verify.verifier.signs import ClaimWords, denials, is_edited, limits, opposed, sights, slots_unsaid, unsaid
from assay.verify.verifier.verifier_constants import ENGLISH_WORDS, LIKELY, LOG_ODDS_BOUND, MOST_LISTED

# The shipped model: a logistic regression and boosted trees over the features, read from `model.json`.


class Tree(msgspec.Struct, frozen=True):
    """Nodes in arrays, the root first: at a leaf `feature` is -1; a value up to `threshold` goes left."""

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    def of(self, row: Sequence[float]) -> float:
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
        scaled = zip(row, self.mean, self.scale, self.weight, strict=True)
        linear = self.bias + sum((value - mean) / scale * weight for value, mean, scale, weight in scaled)
        boosted = self.base + sum(tree.of(row) for tree in self.trees)
        return _probability(self.offset + self.slope * (linear + boosted) / 2)

    def vetoed(self, score: float) -> float:
        """The probability if a deterministic rule objects as well."""
        return _probability(math.log(score / (1 - score)) + self.veto)


def _probability(log_odds: float) -> float:
    """Between 0.001 and 0.999: words alone never make certain."""
    return 1 / (1 + math.exp(-min(LOG_ODDS_BOUND, max(-LOG_ODDS_BOUND, log_odds))))


@cache
def model() -> VerifierModel:
    """The shipped model."""
    data = resources.files(__package__).joinpath("model.json").read_bytes()
    return msgspec.json.decode(data, type=VerifierModel)


class Weighed(msgspec.Struct, frozen=True, kw_only=True):
    """`score` is the probability that the evidence supports the claim, for equal numbers of supported and unsupported
    claims.

    `verdict` is supported, unsupported or unchecked (undecided). `reasons` speak for and against it.
    """

    verdict: Verdict
    score: float
    reasons: tuple[str, ...]

    @property
    def is_likely(self) -> bool:
        """Whether the evidence supports the claim more likely than not."""
        return self.score >= LIKELY


def weigh(claim: str, evidence: str, *, doubted: bool = False) -> Weighed:
    """Weigh `claim` against `evidence`, both plain text in English, which the model knows.

    With `doubted`, a rule objects that is too often wrong to decide alone: the score is lowered, and the claim is never
    called supported.
    """
    read = index(evidence)
    seen = sights(claim, read)
    if not seen:
        return Weighed(verdict="unchecked", score=0.5, reasons=(_("the claim has no words to compare"),))
    if not _is_english(seen):
        return Weighed(verdict="unchecked", score=0.5, reasons=(_("not in English, which alone can be weighed"),))
    found = features(seen, read)
    score = model().probability(found)
    score = model().vetoed(score) if doubted else score
    edits, others = _edits(seen, read, found), _others(seen, read)
    said = sum(sight.row * len(sight.words) for sight in seen) / sum(len(sight.words) for sight in seen)
    share = _("the nearest sentences say {share} of it by weight of words").format(share=f"{said:.0%}")
    reasons = (share, *others, *edits)
    verdict = _verdict(score)
    if verdict == "supported" and (doubted or is_edited(seen, found)):
        verdict = "unchecked"
    return Weighed(verdict=verdict, score=score, reasons=reasons)


def _verdict(score: float) -> Verdict:
    if score >= model().supported:
        return "supported"
    return "unsupported" if score < model().unsupported else "unchecked"


def _is_english(seen: Sequence[ClaimWords]) -> bool:
    words = [token for sight in seen for token in sight.words]
    letters = [sign for token in words for sign in token.text if sign.isalpha()]
    latin = sum(unicodedata.name(sign, "").startswith("LATIN") for sign in letters)
    if latin < len(letters) / 2:
        return False
    return len(words) < ENGLISH_WORDS or any(token.text.lower() in FUNCTION for token in words)


def _others(seen: Sequence[ClaimWords], read: StemIndex) -> list[str]:
    """The claim's words that the evidence, or its nearest sentences, lack, for a reader."""
    new = list(dict.fromkeys(token for sight in seen for token in unsaid(sight)))
    signs = _listed(_("not in the evidence"), (token.text for token in new if not _occurs_in(token, read)))
    return signs + _listed(_("not in the nearest sentences"), (token.text for token in new if _occurs_in(token, read)))


def _edits(seen: Sequence[ClaimWords], read: StemIndex, found: Mapping[str, float]) -> list[str]:
    """Signs of an edit, for a reader.

    Words in reverse order or apart, a word replaced by its opposite or negated, a limit added or left out, a name or
    number that the nearest sentences lack: nearly all words of a false sentence may be there. Missing ordinary words
    are not a sign: rephrasing needs them.
    """
    new = (text for sight in seen for text in slots_unsaid(sight))
    signs = _listed(_("a name or number the nearest sentences lack"), new)
    for sight in seen:
        told = _("the claim says {claimed}, the evidence {said}")
        signs += [told.format(claimed=repr(ours.text), said=repr(theirs.text)) for ours, theirs in opposed(sight)]
        signs += [*_denial(sight), *_listed(_("said by only one of both"), sorted(limits(sight)))]
    if found["turned"] > 0 or found["names_turned"] > 0:
        signs.append(_("its words stand in another order in the evidence"))
    if found["same_part"] < 1:
        signs.append(_("words beside each other here stand in different sentences of the evidence"))
    return list(dict.fromkeys(signs))


def _listed(what: str, words: Iterable[str]) -> list[str]:
    every = list(dict.fromkeys(words))
    return [labelled(what, enumerated(every, MOST_LISTED))] if every else []


def _occurs_in(token: WordToken, read: StemIndex) -> bool:
    return token.stem in read.places or (not token.number and read.alike(token.stem) > 0)


def _denial(sight: ClaimWords) -> list[str]:
    more = denials(sight)
    if more > 0:
        return [_("the claim denies more than the evidence")]
    return [_("the evidence denies more than the claim")] if more < 0 else []
