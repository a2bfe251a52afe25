"""Questions that headers of PEPs, EIPs, Rust RFCs and Swift proposals answer, and some that nothing answers.

    python bench/questions.py --count 200 --negatives 50            # the reporting half, through the library
    python bench/questions.py --part training --offline --show      # the half to tune on, the model alone

The documents are not part of the project; they are read from $ASSAY_DATA, else from ../shared/data.
"""

from __future__ import annotations

import argparse

from questions import corpus, derive, scoring
from questions.offline import Harness, Shelves
from questions.online import Runs


def main() -> int:
    """Derive, ask, score."""
    options = _options()
    folder = corpus.data_folder()
    if folder is None:
        print("skipped: no documents; set ASSAY_DATA to a folder which has documents/*.jsonl.gz")
        return 0
    found = (path.name.removesuffix(".jsonl.gz") for path in sorted(folder.glob("*.jsonl.gz")))
    names = tuple(found) if options.all else tuple(corpus.SERIES)
    rows = list(corpus.read(folder, names))
    asked = derive.derive(rows, options.count, options.negatives, options.seed, options.part == "training")
    through = _offline(rows, asked, options.show) if options.offline else _online(folder, names, rows, asked, options)
    scores = list(through)
    print(scoring.summarize(scores))
    return 0


def _offline(rows, asked, show):
    harness = Harness(Shelves(rows))
    for each in asked:
        yield _scored(each, harness.run(each.text), show)


def _online(folder, names, rows, asked, options):
    files = [folder / f"{name}.jsonl.gz" for name in names]
    with Runs(files, rows, options.strategy, options.depth) as runs:
        for each in asked:
            yield _scored(each, runs.run(each.text), options.show)


def _scored(asked, report, show):
    found = scoring.score(asked, report)
    if show and not found.good:
        print(f"--- {asked.kind}: {asked.text}\n    gold {asked.gold} {asked.url}\n{report.text}\n")
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40, help="questions with an answer")
    parser.add_argument("--negatives", type=int, default=10, help="questions without")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--part", choices=("training", "reporting"), default="reporting", help="which half of the documents"
    )
    parser.add_argument("--all", action="store_true", help="search all documents, not only those with headers")
    parser.add_argument("--offline", action="store_true", help="the model alone, without the engine")
    parser.add_argument("--strategy", default="orchestrated", help="the strategy, through the library")
    parser.add_argument("--depth", choices=("auto", "light", "medium", "extended"), default="auto")
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
