"""How many edits that make a true claim false the deterministic checks find, and how often they object wrongly.

True pairs of claim and passage: supported rows of the grounding sets with short documents, and sentences of the
documents with their passages. Edits: `mutating`. The checks' thresholds were set on half of the groups, chosen by hash;
the figures are for the other half (`--part train` prints those for the first).

`python -m bench mutations [--part report|train] [--missed CLASS]`
`python -m bench mutations --judge PROVIDER:NAME [--sample 25]` has a judge rate what the checks leave open (`judged`).
The data are not part of the project; they are read from $ASSAY_DATA, else from ../shared/data.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import json
import random
import re
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

import corpus
import judged
import msgspec
from mutating import BREAKING, EXACT, Mutation
from paraphrasing import FAITHFUL

from assay.core.sources import Passage, sha256
from assay.core.text import sentences
from assay.evidence.segment import segment
from assay.verify.checks import examine, veto
from assay.verify.evidence import ClaimEvidence

SETS = ("attributionbench-dev", "fever-symmetric-dev", "summedits", "qags", "factcheck-gpt")
DOCUMENTS = ("wikipedia-2wiki-passages", "owid-datasets", "peps", "owasp")
LONGEST = 2_000
A_SET = 1_500
A_CLASS = 300
"""Most edited claims of a class: enough for half a percent."""
QUOTING = ("quotation", "as it is", "typography")
"""Edits for which sentences are put in quotation marks; others would break every quotation."""

_CITED = re.compile(r" ?\[\d{1,3}\]")
"""Citations by number: a run's claims have none, and those of a text are read as what they are."""
_BRACKETS = re.compile(r"(?<!\w)-[LR][RSC]B-(?!\w)")
"""Brackets as tokenized sets write them."""

Part = Literal["train", "report"]


class Pair(msgspec.Struct, frozen=True):
    """A claim which its passage supports."""

    claim: str
    passage: str
    origin: str
    quotes: bool = False


def part_of(group: str) -> Part:
    """Which half a group of rows belongs to."""
    return "train" if hashlib.sha256(f"mutations/{group}".encode()).digest()[0] % 2 else "report"


def pairs(data: Path, part: Part, a_set: int = A_SET) -> list[Pair]:
    """True pairs of one half, at most `a_set` of each origin."""
    found: list[Pair] = []
    for name in SETS:
        found.extend(islice(_rows(data / "grounding" / f"{name}.jsonl.gz", part), a_set))
    for name in DOCUMENTS:
        found.extend(islice(_sentences(data / "documents" / f"{name}.jsonl.gz", part), a_set))
    return found


def _lines(path: Path) -> Iterator[dict[str, str]]:
    if path.is_file():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)


def _rows(path: Path, part: Part) -> Iterator[Pair]:
    for row in _lines(path):
        short = len(row["doc"]) <= LONGEST and 20 <= len(row["claim"]) <= 600
        if int(row["label"]) == 1 and short and part_of(f"{row['dataset']}/{row['group']}") == part:
            yield Pair(*plainly(row["claim"], row["doc"]), row["dataset"])


def plainly(claim: str, doc: str) -> tuple[str, str]:
    """A labelled claim without citations by number, and its text without brackets as tokenized sets write them."""
    return _CITED.sub("", claim), _BRACKETS.sub(" ", doc)


def _sentences(path: Path, part: Part) -> Iterator[Pair]:
    """Sentences of prose, two of each document at most, each with the passages around it."""
    for row in _lines(path):
        if part_of(row["id"]) != part:
            continue
        spans = [span for span in segment(row["text"][:40_000], "markdown") if span.kind == "paragraph"]
        chosen = [at for at, span in enumerate(spans) if any(sign.isdecimal() for sign in span.text)][:2]
        for at in chosen:
            around = "\n".join(span.text for span in spans[max(0, at - 1) : at + 2])
            found = [spans[at].text[start:end] for start, end in sentences(spans[at].text)]
            texts = [text for text in found if 40 <= len(text) <= 300 and _is_prose(text)]
            if texts:
                yield Pair(" ".join(texts[0].split()), around, path.name.partition(".")[0])
                yield Pair(
                    f'The document says "{" ".join(texts[0].split())}"',
                    around,
                    path.name.partition(".")[0],
                    quotes=True,
                )


def _is_prose(text: str) -> bool:
    """Whether a sentence has figures, and neither code, links nor quotations, where an edit may change nothing."""
    return any(sign.isdecimal() for sign in text) and not any(
        sign in text for sign in ("`", "](", "://", '"', "“", "[")
    )


def evidence_of(text: str) -> ClaimEvidence:
    """A text as the one passage which a claim cites."""
    data = text.encode()
    passage = Passage(
        id="S1.1",
        source="S1",
        document_sha256=sha256(data),
        start=0,
        end=len(data),
        text=text,
        text_sha256=sha256(data),
    )
    return ClaimEvidence(passages=(passage,), sources={})


def objection(claim: str, passage: str) -> str:
    """What the checks object to, empty for nothing."""
    evidence = evidence_of(passage)
    check = veto(claim, examine(claim, evidence), evidence)
    return f"{check.rule}, {check.verdict}: {check.reason}" if check else ""


class Tally(msgspec.Struct):
    """How many edited claims of a class there were, how many the checks objected to, and of how many they said that the
    passage says something else; of the others they said that what the claim says is not in it.
    """

    tried: int = 0
    seen: int = 0
    contradicted: int = 0
    rules: dict[str, int] = {}
    kept: list[tuple[str, str, str]] = []

    @property
    def share(self) -> float:
        return self.seen / self.tried if self.tried else 0.0


def tally(found: list[Pair], edit: Mutation, name: str) -> Tally:
    """Edit each pair and hold the result against its passage."""
    counts = Tally()
    for at, pair in enumerate(found):
        if counts.tried >= A_CLASS:
            break
        if pair.quotes and name not in QUOTING:
            continue
        chance = random.Random(f"{name}/{at}")
        edited = edit(pair.claim, pair.passage, chance)
        if edited is None or (edited == pair.claim and name != "as it is"):
            continue
        objected = objection(edited, pair.passage)
        _count(counts, pair, edited, objected)
    return counts


def _count(counts: Tally, pair: Pair, edited: str, reason: str) -> None:
    counts.tried += 1
    counts.seen += bool(reason)
    rule, _, verdict = reason.partition(":")[0].partition(", ")
    counts.contradicted += verdict == "contradicted"
    if rule:
        counts.rules[rule] = counts.rules.get(rule, 0) + 1
    counts.kept.append((edited, reason, pair.passage))


def wrong_passages(found: list[Pair]) -> Tally:
    """Each claim beside the passage of another of the same origin."""
    counts = Tally()
    chance = random.Random(7)
    for pair in found[:: max(1, len(found) // A_CLASS)]:
        other = chance.choice([each for each in found if each.origin == pair.origin])
        if other.passage != pair.passage:
            _count(
                counts,
                msgspec.structs.replace(pair, passage=other.passage),
                pair.claim,
                objection(pair.claim, other.passage),
            )
    return counts


def milliseconds(found: list[Pair]) -> float:
    """Median CPU time of the checks for one claim whose passage was not read before."""
    times = []
    for pair in found[:: max(1, len(found) // 300)]:
        text = pair.passage + " "  # not in the cache
        started = time.process_time()
        objection(pair.claim + " ", text)
        times.append(time.process_time() - started)
    return sorted(times)[len(times) // 2] * 1e3


def put_to(name: str, part: Part, a_set: int, a_class: int) -> int:
    """Print what a judge makes of edited claims; 2 when there are no data."""
    data = corpus.DATA.parent
    if not (data / "grounding").is_dir():
        print("skipped: no data; set ASSAY_DATA to a folder with grounding/ and documents/")
        return 2
    found = [(pair.claim, pair.passage) for pair in pairs(data, part, a_set) if not pair.quotes]
    random.Random(1).shuffle(found)
    for title, edits in (("made false", BREAKING), ("left true", FAITHFUL)):
        judged.table(title, asyncio.run(judged.edited(found, edits, name, a_class)))
    return 0


def main(part: Part, missed: str, a_set: int) -> int:
    """Print the table; 2 when there are no data."""
    data = corpus.DATA.parent
    if not (data / "grounding").is_dir():
        print("skipped: no data; set ASSAY_DATA to a folder with grounding/ and documents/")
        return 2
    found = pairs(data, part, a_set)
    random.Random(1).shuffle(found)
    print(f"{len(found)} true pairs of the {part} part; {milliseconds(found):.2f} ms a claim (median, passage new)")
    tallies = {name: tally(found, edit, name) for name, edit in BREAKING.items()} | {
        "wrong passage": wrong_passages(found)
    }
    _print("made false", tallies, wanted=False, missed=missed)
    _total("all exact classes", [tallies[name] for name in EXACT])
    for title, kept in _by_origin(found).items():
        alarms = {name: tally(kept, edit, name) for name, edit in FAITHFUL.items()}
        _print(f"left true: {title}", alarms, wanted=True, missed=missed)
        _total("all", list(alarms.values()))
    return 0


def _by_origin(found: list[Pair]) -> dict[str, list[Pair]]:
    """Sentences which stand in their passage, true beyond doubt, and pairs which people called supported."""
    return {
        "documents": [pair for pair in found if pair.origin in DOCUMENTS],
        "labelled": [pair for pair in found if pair.origin not in DOCUMENTS],
    }


def _total(title: str, tallies: list[Tally]) -> None:
    tried = sum(counts.tried for counts in tallies)
    seen, contradicted = (
        sum(counts) for counts in zip(*((each.seen, each.contradicted) for each in tallies), strict=True)
    )
    print(f"  {title:<24}{tried:>6}  {seen / max(1, tried):7.1%}  contradicted {contradicted / max(1, tried):.1%}")


def _print(title: str, tallies: dict[str, Tally], *, wanted: bool, missed: str) -> None:
    print(f"{title:<26}{'tried':>6}  objected to, by rule")
    for name, counts in tallies.items():
        rules = ", ".join(f"{rule} {count}" for rule, count in sorted(counts.rules.items(), key=lambda each: -each[1]))
        print(f"  {name:<24}{counts.tried:>6}  {counts.share:7.1%}  {rules}")
        if name == missed:
            for edited, said, passage in counts.kept:
                if bool(said) == wanted:
                    print(f"    CLAIM {edited}\n    SAID {said}\n    PASSAGE {passage[:900]!r}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("train", "report"), default="report")
    parser.add_argument("--missed", default="", help="print the missed edits of this class")
    parser.add_argument("--pairs", type=int, default=A_SET, help="most pairs of each origin")
    parser.add_argument("--judge", default="", metavar="PROVIDER:NAME", help="a judge, or `oracle`: see judged.py")
    parser.add_argument("--sample", type=int, default=judged.A_CLASS, help="edited claims of each class for the judge")
    options = parser.parse_args()
    if options.judge:
        sys.exit(put_to(options.judge, options.part, options.pairs, options.sample))
    sys.exit(main(options.part, options.missed, options.pairs))
