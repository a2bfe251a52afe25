"""The built-in verifier's verdict on a claim, with its probability and what a reader can check."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from importlib import resources
from itertools import pairwise

import msgspec

from assay.core.claims import Verdict
from assay.core.lexicon import ABSOLUTES, FUNCTION_WORDS, HEDGES, NEGATIVES, RELATIONS
from assay.core.translation import gettext as _
from assay.core.translation import join_some, label_text
from assay.verify.verifier.index import (
    ENGLISH_WORDS,
    LIKELY,
    LOG_ODDS_BOUND,
    MOST_LISTED,
    SHORT_REPLACEMENT,
    StemIndex,
    WordToken,
    index_evidence,
    opposites,
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
    word_spellings,
    words_with_opposites,
)

_WORST = ("said_document", "said_alike", "said_best", "said_row", "aligned", "longest_run", "neighbours", "near_pairs")
_MOST = ("missing_weight", "opposed_near", "replaced", "negation_differs", "numbers_missing")
_SUMMED = (
    "missing",
    "names_missing",
    "numbers_missing",
    "numbers_elsewhere",
    "opposed_near",
    "opposed",
    "replaced_alike",
    "slots_unsaid",
    "limits",
    "denials",
)


def features(sights: Sequence[ClaimWords], index: StemIndex) -> dict[str, float]:
    """The features of a claim, by name; `sights` is not empty."""
    rows = [_sentence(sight, index) for sight in sights]
    lengths = [len(sight.words) for sight in sights]
    whole = sum(lengths)
    found = {
        name: sum(row[name] * length for row, length in zip(rows, lengths, strict=True)) / whole for name in rows[0]
    }
    found |= {f"{name}_worst": min(row[name] for row in rows) for name in _WORST}
    found |= {f"{name}_most": max(row[name] for row in rows) for name in _MOST}
    found |= {f"{name}_sum": sum(row[name] for row in rows) for name in _SUMMED}
    found["sentences"] = len(rows)
    found["words"] = whole
    found["evidence_words"] = math.log1p(sum(len(part) for part in index.parts))
    found["evidence_parts"] = math.log1p(len(index.parts))
    return found


def _sentence(sight: ClaimWords, index: StemIndex) -> dict[str, float]:
    found: dict[str, float] = {}
    for group in _GROUPS:
        found |= group(sight, index)
    return found


def _coverage(sight: ClaimWords, index: StemIndex) -> Mapping[str, float]:
    alike = missing = heaviest = names = 0.0
    for token, weight in sight.telling:
        near = 1.0 if token.stem in index.places else 0.0 if token.number else index.stem_similarity(token.stem)
        alike += weight * near
        if not near:
            missing, heaviest, names = missing + 1, max(heaviest, weight), names + token.name
    count = len(sight.telling)
    best = {token.stem for token in sight.best}
    return {
        "said_document": sight.share(index.places.keys()),
        "said_alike": alike / sight.total,
        "said_best": sight.single,
        "said_second": sight.second,
        "said_row": sight.row,
        "said_two": sight.two,
        "counted_document": sum(token.stem in index.places for token, _ in sight.telling) / count,
        "counted_best": sum(token.stem in best for token, _ in sight.telling) / count,
        "missing": missing,
        "missing_share": missing / count,
        "missing_weight": heaviest,
        "names_missing": names,
        "telling": count,
        "mean_weight": sight.total / count,
    }


def _slots(sight: ClaimWords, index: StemIndex) -> Mapping[str, float]:
    near = {token.stem for token in sight.near}
    names = [token.stem for token, _ in sight.telling if token.name]
    numbers = [token.stem for token, _ in sight.telling if token.number]
    others = {token.stem for token in sight.near if token.number}.difference(numbers)
    elsewhere = sum(number not in near for number in numbers)
    return {
        "names": len(names),
        "names_said": _share([name in index.places for name in names]),
        "names_near": _share([name in near for name in names]),
        "names_turned": _reversals([name for name in names if name in near], [token.stem for token in sight.best]),
        "numbers": len(numbers),
        "numbers_missing": sum(number not in index.places for number in numbers),
        "numbers_elsewhere": elsewhere,
        "numbers_conflict": float(elsewhere > 0 and bool(others)),
    }


def _reversals(claimed: list[str], others: list[str]) -> float:
    """How many neighbouring names of the claim are in reverse order in the best part."""
    first = {stem: at for at, stem in reversed(list(enumerate(others)))}
    return sum(first[one] > first[other] for one, other in pairwise(claimed) if one in first and other in first)


def _alignment(sight: ClaimWords, index: StemIndex) -> Mapping[str, float]:
    """Align the claim with the best part (difflib's matching blocks); what is between them was replaced."""
    stems = [token.stem for token in sight.words]
    matcher = SequenceMatcher(None, [token.stem for token in sight.best], stems, autojunk=False)
    equal = [size for _, _, size in matcher.get_matching_blocks()]
    replaced = alike = inserted = deleted = 0
    for kind, start, end, claim_start, claim_end in matcher.get_opcodes():
        theirs = [token for token in sight.best[start:end] if token.content]
        ours = [token for token in sight.words[claim_start:claim_end] if token.content]
        inserted += len(ours) * (kind == "insert")
        deleted += len(theirs) * (kind == "delete")
        if kind == "replace" and 0 < len(theirs) <= SHORT_REPLACEMENT and 0 < len(ours) <= SHORT_REPLACEMENT:
            replaced += 1
            alike += any(_of_a_kind(one, other) for one in theirs for other in ours)
    content = [token.stem for token in sight.content]
    near = SequenceMatcher(None, [token.stem for token in sight.near if token.content], content, autojunk=False)
    return {
        "aligned": sum(equal) / len(stems),
        "aligned_best": sum(equal) / max(1, len(sight.best)),
        "aligned_content": sum(block.size for block in near.get_matching_blocks()) / len(content),
        "longest_run": max(equal) / len(stems),
        "replaced": replaced,
        "replaced_alike": alike,
        "inserted": inserted / len(sight.telling),
        "deleted": deleted / max(1, len(sight.best)),
        "best_words": len(sight.best),
    }


def _of_a_kind(one: WordToken, other: WordToken) -> bool:
    return one.stem != other.stem and ((one.number and other.number) or (one.name and other.name))


def _pairs(sight: ClaimWords, index: StemIndex) -> Mapping[str, float]:
    """The signs whether words that are together in the claim are together in the evidence."""
    stems = [token.stem for token in sight.words]
    content = [token.stem for token in sight.content]
    beside = list(pairwise(content))
    pairs = [
        (set(index.places[one]), index.places[other])
        for one, other in [*beside, *zip(content, content[2:], strict=False)]
        if one != other and one in index.places and other in index.places
    ]
    near = [any({at - 1, at, at + 1} & places for at in others) for places, others in pairs]
    return {
        "neighbours": _share([pair in index.neighbours for pair in pairwise(stems)]),
        "content_neighbours": _share([pair in index.skipping for pair in beside]),
        "turned": sum(pair not in index.skipping and pair[::-1] in index.skipping for pair in beside),
        "same_part": _share([not places.isdisjoint(others) for places, others in pairs]),
        "near_pairs": _share(near),
        "apart": near.count(False),
    }


def _sense(sight: ClaimWords, index: StemIndex) -> Mapping[str, float]:
    ours, best, near = (word_spellings(each) for each in (sight.words, sight.best, sight.near))
    denied, denying = not ours.isdisjoint(NEGATIVES), not best.isdisjoint(NEGATIVES)
    function = [token.text.lower() in near for token in sight.words if token.function]
    return {
        "negation": denied,
        "negation_differs": denied != denying,
        "negation_added": denied and near.isdisjoint(NEGATIVES),
        "negation_dropped": denying and not denied,
        "hedges_added": len((ours & HEDGES) - near),
        "hedges_dropped": len((best & HEDGES) - ours),
        "absolutes_added": len((ours & ABSOLUTES) - near),
        "absolutes_dropped": len((best & ABSOLUTES) - ours),
        "relations_added": len((ours & RELATIONS) - near),
        "function_said": _share(function),
        "opposed_near": len(opposed_words(sight)),
        "opposed": sum(
            token.stem not in index.places and any(each in index.places for each in opposites(token.stem))
            for token in words_with_opposites(sight)
        ),
    }


def _signs(sight: ClaimWords, index: StemIndex) -> Mapping[str, float]:
    return {
        "slots_unsaid": len(unsaid_slots(sight)),
        "limits": len(unshared_limits(sight)),
        "denials": abs(extra_negations(sight)),
    }


def _share(held: Sequence[bool]) -> float:
    """The share of `held` that is true; 1 if it is empty."""
    return sum(held) / len(held) if held else 1.0


_GROUPS: tuple[Callable[[ClaimWords, StemIndex], Mapping[str, float]], ...] = (
    _coverage,
    _slots,
    _alignment,
    _pairs,
    _sense,
    _signs,
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
        scaled = zip(row, self.mean, self.scale, self.weight, strict=True)
        linear = self.bias + sum((value - mean) / scale * weight for value, mean, scale, weight in scaled)
        boosted = self.base + sum(tree.evaluate(row) for tree in self.trees)
        return _probability(self.offset + self.slope * (linear + boosted) / 2)

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

    `verdict` is supported, unsupported or unchecked (undecided). `reasons` speak for and against it.
    """

    verdict: Verdict
    score: float
    reasons: tuple[str, ...]

    @property
    def is_likely(self) -> bool:
        """True if the evidence supports the claim more likely than not."""
        return self.score >= LIKELY


def weigh(claim: str, evidence: str, *, doubted: bool = False) -> WeighedClaim:
    """Weigh `claim` against `evidence`, both plain text in English, which the model knows.

    With `doubted`, a rule objects that is too often wrong to decide alone: the score is lowered, and the claim is never
    called supported.
    """
    read = index_evidence(evidence)
    seen = claim_words(claim, read)
    if not seen:
        return WeighedClaim(verdict="unchecked", score=0.5, reasons=(_("the claim has no words to compare"),))
    if not _is_english(seen):
        return WeighedClaim(
            verdict="unchecked", score=0.5, reasons=(_("not in English, the only language that can be weighed"),)
        )
    found = features(seen, read)
    score = load_model().probability(found)
    score = load_model().vetoed_probability(score) if doubted else score
    edits, others = _edits(seen, read, found), _unsaid_words(seen, read)
    average = sum(sight.row * len(sight.words) for sight in seen) / sum(len(sight.words) for sight in seen)
    share = _("the nearest sentences have {share} of its words").format(share=f"{average:.0%}")
    reasons = (share, *others, *edits)
    verdict = _verdict(score)
    if verdict == "supported" and (doubted or is_edited(seen, found)):
        verdict = "unchecked"
    return WeighedClaim(verdict=verdict, score=score, reasons=reasons)


def _verdict(score: float) -> Verdict:
    if score >= load_model().supported:
        return "supported"
    return "unsupported" if score < load_model().unsupported else "unchecked"


def _is_english(seen: Sequence[ClaimWords]) -> bool:
    words = [token for sight in seen for token in sight.words]
    letters = [sign for token in words for sign in token.text if sign.isalpha()]
    latin = sum(unicodedata.name(sign, "").startswith("LATIN") for sign in letters)
    if latin < len(letters) / 2:
        return False
    return len(words) < ENGLISH_WORDS or any(token.text.lower() in FUNCTION_WORDS for token in words)


def _unsaid_words(seen: Sequence[ClaimWords], read: StemIndex) -> list[str]:
    """The claim's words that the evidence, or its nearest sentences, lack, for a reader."""
    new = list(dict.fromkeys(token for sight in seen for token in unsaid_words(sight)))
    signs = _reason(_("not in the evidence"), (token.text for token in new if not _occurs_in(token, read)))
    return signs + _reason(_("not in the nearest sentences"), (token.text for token in new if _occurs_in(token, read)))


def _edits(seen: Sequence[ClaimWords], read: StemIndex, found: Mapping[str, float]) -> list[str]:
    """Signs of an edit, for a reader.

    Words in reverse order or apart, a word replaced by its opposite or negated, a limit added or left out, a name or
    number that the nearest sentences lack: nearly all words of a false sentence may be there. Missing ordinary words
    are not a sign: rephrasing needs them.
    """
    new = (text for sight in seen for text in unsaid_slots(sight))
    signs = _reason(_("a name or number the nearest sentences lack"), new)
    for sight in seen:
        pattern = _("the claim says {claimed}, the evidence {said}")
        signs += [
            pattern.format(claimed=repr(ours.text), said=repr(theirs.text)) for ours, theirs in opposed_words(sight)
        ]
        signs += [
            *_denial(sight),
            *_reason(_("only in the claim or only in the evidence"), sorted(unshared_limits(sight))),
        ]
    if found["turned"] > 0 or found["names_turned"] > 0:
        signs.append(_("its words stand in another order in the evidence"))
    if found["same_part"] < 1:
        signs.append(_("words that stand together here are in different sentences of the evidence"))
    return list(dict.fromkeys(signs))


def _reason(what: str, words: Iterable[str]) -> list[str]:
    every = list(dict.fromkeys(words))
    return [label_text(what, join_some(every, MOST_LISTED))] if every else []


def _occurs_in(token: WordToken, read: StemIndex) -> bool:
    return token.stem in read.places or (not token.number and read.stem_similarity(token.stem) > 0)


def _denial(sight: ClaimWords) -> list[str]:
    more = extra_negations(sight)
    if more > 0:
        return [_("the claim denies something that the evidence does not")]
    return [_("the evidence denies something that the claim does not")] if more < 0 else []
