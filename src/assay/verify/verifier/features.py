"""The features of a claim beside its evidence, from which the built-in verifier weighs it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from assay.core.lexicon import ABSOLUTES, HEDGES, NEGATIVES, RELATIONS
from assay.verify.verifier.index import (
    SHORT_REPLACEMENT,
    StemIndex,
    WordToken,
    opposites,
)
from assay.verify.verifier.signs import (
    ClaimWords,
    extra_negations,
    opposed_words,
    unsaid_slots,
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
