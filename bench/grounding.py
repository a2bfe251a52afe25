"""The built-in verifier on claims that people labelled: how often it is right, and how fast it is.

python -m bench grounding            the report part: balanced accuracy and AUROC per set, precision of the verdicts,
                                     and what becomes of the claims that people called supported
python -m bench grounding --judge PROVIDER:NAME [ROWS]    the same with a judge (judged.py), ROWS of each set
python bench/grounding.py train      trains on the training part and writes the shipped model (needs scikit-learn)
python bench/grounding.py edits      true claims made false by code (bench/mutations.py): how many are called supported
python bench/grounding.py speed      a report of 200 claims; rows a second

The data are read from $ASSAY_DATA, else from ../shared/data beside the project.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import judged
from corpus import machine
from labelled import DATA, EDITED, MACRO, Row, in_training, rows
from mutating import BREAKING
from mutations import pairs
from paraphrasing import FAITHFUL

from assay.core.claims import HOLDING, Verdict
from assay.services.claim_checks import ClaimRow
from assay.verify.claim_check import decide
from assay.verify.verifier.index import LIKELY, index_evidence
from assay.verify.verifier.verdicts import load_model, weigh

NO_DATA = 2
CLAIMS = 200
A_SET = 400
EDITED_A_WAY = 300


class Outcome(NamedTuple):
    """What was decided about a row, what it is, and how far the nearest simple measure goes."""

    label: bool
    verdict: Verdict
    score: float
    words: float


class Measured(NamedTuple):
    """Of a set: balanced accuracy at 0.5 and area under the ROC curve, and the same of plain word coverage."""

    accuracy: float
    area: float
    plain_accuracy: float
    plain_area: float


def main(arguments: Sequence[str]) -> int:
    if not DATA.is_dir():
        print("skipped: no labelled claims; set ASSAY_DATA to a folder which has grounding/*.jsonl.gz")
        return NO_DATA
    match list(arguments):
        case ["train"]:
            from grounding_training import train  # noqa: PLC0415 (scikit-learn is asked for here alone)

            print(train([row for row in rows() if in_training(row)]))
        case ["edits"]:
            edits()
        case ["speed"]:
            speed()
        case ["--judge", name, *count]:
            judged_report(name, int(count[0]) if count else A_SET // 20)
        case []:
            report([row for row in rows() if not in_training(row)])
        case other:
            print(f"grounding takes nothing, --judge, train, edits or speed, not {' '.join(other)}", file=sys.stderr)
            return 1
    return 0


def report(found: Sequence[Row]) -> None:
    """Print the table, the macro-averages, and how the verdicts hold."""
    began = time.process_time()
    outcomes: dict[str, list[Outcome]] = {}
    for row in found:
        outcomes.setdefault(row.dataset, []).append(_outcome(row))
    took = time.process_time() - began
    _print(outcomes)
    print(f"{len(found) / took:,.0f} rows a second of CPU; {machine()}")


def judged_report(name: str, a_set: int) -> None:
    """The same table with what a judge makes of a sample, at most `a_set` rows of each set."""
    chosen: dict[str, list[Row]] = {}
    every = [row for row in rows() if not in_training(row)]
    random.Random(0).shuffle(every)
    for row in every:
        if len(chosen.setdefault(row.dataset, [])) < a_set:
            chosen[row.dataset].append(row)
    sample = [row for each in chosen.values() for row in each]
    claims = [ClaimRow(id=at, doc=row.doc, claim=row.claim) for at, row in enumerate(sample)]
    began = time.process_time()
    found, used = asyncio.run(judged.verdicts(claims, name))
    took = time.process_time() - began
    outcomes: dict[str, list[Outcome]] = {}
    for row, checked in zip(sample, found, strict=True):
        outcome = Outcome(row.label, checked.verdict, checked.score, coverage(row.claim, row.doc))
        outcomes.setdefault(row.dataset, []).append(outcome)
    _print(outcomes)
    print(
        f"judged by {name}: {used.model_calls} calls, {used.tokens:,} tokens; {took / len(sample) * 1e3:.1f} ms a row"
    )


def _print(outcomes: Mapping[str, Sequence[Outcome]]) -> None:
    measured = {name: _measured(each) for name, each in outcomes.items()}
    print(f"{'set':<18} {'rows':>5}  bal.acc  AUROC   words: bal.acc  AUROC   supported right   unsupported right")
    for name in sorted(outcomes, key=lambda name: (name not in MACRO, name)):
        print(f"{name:<18} {len(outcomes[name]):>5}  {_line(measured[name])}   {_verdicts(outcomes[name])}")
    for title, names in (("macro of seven", MACRO), ("edited of them", EDITED), ("all sets", tuple(outcomes))):
        each = [measured[name] for name in names if name in measured]
        whole = [outcome for name in names for outcome in outcomes.get(name, ())]
        print(f"{title:<18} {len(whole):>5}  {_line(_mean(each))}   {_verdicts(whole)}")
    of_macro = [outcomes[name] for name in MACRO if name in outcomes]
    print(f"macro of seven, balanced accuracy: {_at_the_verdict(of_macro):.3f} at the verdict (quoted or supported,")
    print(f"or not), {_mean([measured[name] for name in MACRO if name in measured]).accuracy:.3f} at likely (0.5)")
    print(f"with three bands, undecided claims counted as one half: {_in_bands(of_macro):.3f}")
    _reliability(of_macro)
    _lost([outcome for one in of_macro for outcome in one])


def _lost(outcomes: Sequence[Outcome]) -> None:
    """What becomes of the claims that people called supported, and of the others."""
    for title, label in (("supported", True), ("not supported", False)):
        found = Counter(_fate(each) for each in outcomes if each.label == label)
        said = ", ".join(f"{fate} {count / found.total():.0%}" for fate, count in found.most_common())
        print(f"of {found.total():,} claims {title}: {said}")


def _fate(outcome: Outcome) -> str:
    if outcome.verdict != "unchecked":
        return outcome.verdict
    if outcome.score >= load_model().supported:
        return "held back by a sign of an edit"
    return "undecided, likely" if outcome.score >= LIKELY else "undecided, unlikely"


def _outcome(row: Row) -> Outcome:
    decided = decide(row.claim, row.doc)
    return Outcome(row.label, decided.verdict, decided.score, coverage(row.claim, row.doc))


def _at_the_verdict(sets: Sequence[Sequence[Outcome]]) -> float:
    return statistics.mean(
        balanced([each.label for each in one], [float(each.verdict in HOLDING) for each in one], 0.5) for one in sets
    )


def _in_bands(sets: Sequence[Sequence[Outcome]]) -> float:
    """Balanced accuracy where an undecided claim is half called supported and half not."""
    return statistics.mean(
        statistics.mean(
            statistics.mean(
                _verdict_value(each) if each.label else 1 - _verdict_value(each) for each in one if each.label == side
            )
            for side in (True, False)
        )
        for one in sets
    )


def _verdict_value(outcome: Outcome) -> float:
    return 1.0 if outcome.verdict in HOLDING else 0.5 if outcome.verdict == "unchecked" else 0.0


def _reliability(sets: Sequence[Sequence[Outcome]]) -> None:
    """What is predicted and what is observed, by tenths of the score; sets and labels weigh the same."""
    tenths: dict[int, list[tuple[float, Outcome]]] = {}
    for one in sets:
        labels = [each.label for each in one]
        for each in one:
            tenths.setdefault(int(each.score * 10), []).append((1 / labels.count(each.label), each))
    for tenth, found in sorted(tenths.items()):
        whole = sum(weight for weight, _ in found)
        predicted = sum(weight * each.score for weight, each in found) / whole
        observed = sum(weight * each.label for weight, each in found) / whole
        print(f"score from {tenth / 10}: {len(found):>5} rows, predicted {predicted:.2f}, observed {observed:.2f}")


def coverage(claim: str, doc: str) -> float:
    """The baseline: which share of a claim's words stands anywhere in the document."""
    words = claim.lower().split()
    there = set(doc.lower().split())
    return sum(word in there for word in words) / len(words) if words else 0.0


def _measured(outcomes: Sequence[Outcome]) -> Measured:
    labels = [outcome.label for outcome in outcomes]
    scores, words = [outcome.score for outcome in outcomes], [outcome.words for outcome in outcomes]
    return Measured(
        balanced(labels, scores, 0.5), area(labels, scores), balanced(labels, words, 0.7), area(labels, words)
    )


def balanced(labels: Sequence[bool], scores: Sequence[float], cut: float) -> float:
    """The mean of the shares of either label which are on their side of `cut`."""
    return statistics.mean(
        sum((score >= cut) == side for label, score in zip(labels, scores, strict=True) if label == side)
        / max(1, labels.count(side))
        for side in (True, False)
    )


def area(labels: Sequence[bool], scores: Sequence[float]) -> float:
    """The probability that a supported claim scores above another one (Mann-Whitney; a tie counts one half)."""
    ranked = sorted(scores)
    last = {score: at for at, score in enumerate(ranked, 1)}
    first = {score: len(ranked) - at for at, score in enumerate(reversed(ranked))}
    positive = sum(labels)
    total = sum((first[score] + last[score]) / 2 for label, score in zip(labels, scores, strict=True) if label)
    pairs = positive * (len(labels) - positive)
    return (total - positive * (positive + 1) / 2) / pairs if pairs else 0.5


def _mean(each: Sequence[Measured]) -> Measured:
    return Measured(*(statistics.mean(column) for column in zip(*each, strict=True)))


def _line(found: Measured) -> str:
    return f"{found.accuracy:>7.3f} {found.area:>6.3f} {found.plain_accuracy:>16.3f} {found.plain_area:>6.3f}"


def _verdicts(outcomes: Sequence[Outcome]) -> str:
    supported = [outcome.label for outcome in outcomes if outcome.verdict in HOLDING]
    refused = [not outcome.label for outcome in outcomes if outcome.verdict in ("unsupported", "contradicted")]
    return f"{_right(supported):>15}   {_right(refused):>15}"


def _right(called: Sequence[bool]) -> str:
    return f"{sum(called)}/{len(called)} {sum(called) / len(called):.0%}" if called else "none"


def edits() -> None:
    """Ways of making a true claim false, and some which leave it true: how many of the results pass as supported."""
    found = pairs(DATA.parent, "report", A_SET)
    random.Random(0).shuffle(found)
    for title, ways in (("false", BREAKING), ("still true", FAITHFUL)):
        totals = [0, 0]
        for name, edit in ways.items():
            chance = random.Random(0)
            edited = ((edit(pair.claim, pair.passage, chance), pair) for pair in found)
            made = list(islice(((text, pair) for text, pair in edited if text and text != pair.claim), EDITED_A_WAY))
            passed = sum(decide(text, pair.passage).verdict in HOLDING for text, pair in made)
            totals = [totals[0] + passed, totals[1] + len(made)]
            print(f"{title:<10} {name:<24} {passed:>4} of {len(made)} supported")
        print(f"{title:<10} {'all':<24} {totals[0]:>4} of {totals[1]} supported")


def speed() -> None:
    """200 claims of the report part, each against its own short text; then whole rows, their rules included."""
    found = [row for row in rows() if not in_training(row) and len(row.doc) < 2_000][:CLAIMS]
    weigh("A first claim loads the tables.", "A first text.")
    index_evidence.cache_clear()
    for what, work in (("words alone", weigh), ("with the rules", decide)):
        began = time.process_time()
        for row in found:
            work(row.claim, row.doc)
        took = time.process_time() - began
        print(f"{len(found)} claims, {what}: {took:.2f} s of CPU, {took / len(found) * 1000:.1f} ms a claim")
    print(machine())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
