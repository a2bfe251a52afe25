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
    word_count = sum(lengths)
    values = {
        name: sum(row[name] * length for row, length in zip(rows, lengths, strict=True)) / word_count
        for name in rows[0]
    }
    values |= {f"{name}_worst": min(row[name] for row in rows) for name in _WORST}
    values |= {f"{name}_most": max(row[name] for row in rows) for name in _MOST}
    values |= {f"{name}_sum": sum(row[name] for row in rows) for name in _SUMMED}
    values["sentences"] = len(rows)
    values["words"] = word_count
    values["evidence_words"] = math.log1p(sum(len(part) for part in index.parts))
    values["evidence_parts"] = math.log1p(len(index.parts))
    return values


def _sentence(sight: ClaimWords, index: StemIndex) -> dict[str, float]:
    values: dict[str, float] = {}
    for group in _GROUPS:
        values |= group(sight, index)
    return values


def _coverage(sight: ClaimWords, index: StemIndex) -> Mapping[str, float]:
    alike = missing = heaviest = names = 0.0
    for token, weight in sight.weighted_words:
        similarity = (
            1.0 if token.stem in index.parts_by_stem else 0.0 if token.number else index.stem_similarity(token.stem)
        )
        alike += weight * similarity
        if not similarity:
            missing, heaviest, names = missing + 1, max(heaviest, weight), names + token.name
    count = len(sight.weighted_words)
    best = {token.stem for token in sight.best}
    return {
        "said_document": sight.share(index.parts_by_stem.keys()),
        "said_alike": alike / sight.total,
        "said_best": sight.single,
        "said_second": sight.second,
        "said_row": sight.row,
        "said_two": sight.two,
        "counted_document": sum(token.stem in index.parts_by_stem for token, _ in sight.weighted_words) / count,
        "counted_best": sum(token.stem in best for token, _ in sight.weighted_words) / count,
        "missing": missing,
        "missing_share": missing / count,
        "missing_weight": heaviest,
        "names_missing": names,
        "telling": count,
        "mean_weight": sight.total / count,
    }


def _slots(sight: ClaimWords, index: StemIndex) -> Mapping[str, float]:
    near_stems = {token.stem for token in sight.nearby_words}
    names = [token.stem for token, _ in sight.weighted_words if token.name]
    numbers = [token.stem for token, _ in sight.weighted_words if token.number]
    other_numbers = {token.stem for token in sight.nearby_words if token.number}.difference(numbers)
    elsewhere = sum(number not in near_stems for number in numbers)
    return {
        "names": len(names),
        "names_said": _share([name in index.parts_by_stem for name in names]),
        "names_near": _share([name in near_stems for name in names]),
        "names_turned": _reversals(
            [name for name in names if name in near_stems], [token.stem for token in sight.best]
        ),
        "numbers": len(numbers),
        "numbers_missing": sum(number not in index.parts_by_stem for number in numbers),
        "numbers_elsewhere": elsewhere,
        "numbers_conflict": float(elsewhere > 0 and bool(other_numbers)),
    }


def _reversals(claim_names: list[str], part_stems: list[str]) -> float:
    """How many neighbouring names of the claim are in reverse order in the best part."""
    first = {stem: index for index, stem in reversed(list(enumerate(part_stems)))}
    return sum(
        first[name] > first[next_name]
        for name, next_name in pairwise(claim_names)
        if name in first and next_name in first
    )


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
            alike += any(_of_a_kind(their_token, our_token) for their_token in theirs for our_token in ours)
    content = [token.stem for token in sight.content]
    near_matcher = SequenceMatcher(
        None, [token.stem for token in sight.nearby_words if token.content], content, autojunk=False
    )
    return {
        "aligned": sum(equal) / len(stems),
        "aligned_best": sum(equal) / max(1, len(sight.best)),
        "aligned_content": sum(block.size for block in near_matcher.get_matching_blocks()) / len(content),
        "longest_run": max(equal) / len(stems),
        "replaced": replaced,
        "replaced_alike": alike,
        "inserted": inserted / len(sight.weighted_words),
        "deleted": deleted / max(1, len(sight.best)),
        "best_words": len(sight.best),
    }


def _of_a_kind(token: WordToken, other: WordToken) -> bool:
    return token.stem != other.stem and ((token.number and other.number) or (token.name and other.name))


def _pairs(sight: ClaimWords, index: StemIndex) -> Mapping[str, float]:
    """The signs whether words that are together in the claim are together in the evidence."""
    stems = [token.stem for token in sight.words]
    content = [token.stem for token in sight.content]
    adjacent_pairs = list(pairwise(content))
    pairs = [
        (set(index.parts_by_stem[stem]), index.parts_by_stem[other_stem])
        for stem, other_stem in [*adjacent_pairs, *zip(content, content[2:], strict=False)]
        if stem != other_stem and stem in index.parts_by_stem and other_stem in index.parts_by_stem
    ]
    are_near = [any({part - 1, part, part + 1} & parts for part in other_parts) for parts, other_parts in pairs]
    return {
        "neighbours": _share([pair in index.neighbours for pair in pairwise(stems)]),
        "content_neighbours": _share([pair in index.skipgrams for pair in adjacent_pairs]),
        "turned": sum(pair not in index.skipgrams and pair[::-1] in index.skipgrams for pair in adjacent_pairs),
        "same_part": _share([not parts.isdisjoint(other_parts) for parts, other_parts in pairs]),
        "near_pairs": _share(are_near),
        "apart": are_near.count(False),
    }


def _sense(sight: ClaimWords, index: StemIndex) -> Mapping[str, float]:
    ours, best, near_spellings = (
        word_spellings(token_list) for token_list in (sight.words, sight.best, sight.nearby_words)
    )
    claim_denies, evidence_denies = not ours.isdisjoint(NEGATIVES), not best.isdisjoint(NEGATIVES)
    function = [token.text.lower() in near_spellings for token in sight.words if token.function]
    return {
        "negation": claim_denies,
        "negation_differs": claim_denies != evidence_denies,
        "negation_added": claim_denies and near_spellings.isdisjoint(NEGATIVES),
        "negation_dropped": evidence_denies and not claim_denies,
        "hedges_added": len((ours & HEDGES) - near_spellings),
        "hedges_dropped": len((best & HEDGES) - ours),
        "absolutes_added": len((ours & ABSOLUTES) - near_spellings),
        "absolutes_dropped": len((best & ABSOLUTES) - ours),
        "relations_added": len((ours & RELATIONS) - near_spellings),
        "function_said": _share(function),
        "opposed_near": len(opposed_words(sight)),
        "opposed": sum(
            token.stem not in index.parts_by_stem and any(stem in index.parts_by_stem for stem in opposites(token.stem))
            for token in words_with_opposites(sight)
        ),
    }


def _signs(sight: ClaimWords, index: StemIndex) -> Mapping[str, float]:
    return {
        "slots_unsaid": len(unsaid_slots(sight)),
        "limits": len(unshared_limits(sight)),
        "denials": abs(extra_negations(sight)),
    }


def _share(flags: Sequence[bool]) -> float:
    """The share of `flags` that is true; 1 if it is empty."""
    return sum(flags) / len(flags) if flags else 1.0


_GROUPS: tuple[Callable[[ClaimWords, StemIndex], Mapping[str, float]], ...] = (
    _coverage,
    _slots,
    _alignment,
    _pairs,
    _sense,
    _signs,
)
