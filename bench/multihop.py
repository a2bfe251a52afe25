"""Questions over two or more documents: whether each document needed is cited, and whether the answer is right.

    python bench/multihop.py                                     # the reporting half, both strategies
    python bench/multihop.py --part training --show --strategy orchestrated

Each strategy is compared with a single search: the same model answering from one search (mode simple), and how often
the first eight hits of one search have all documents needed. The documents are not part of the project; they are read
from $ASSAY_DATA, else from ../shared/data.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence

from questions import corpus, linked
from questions.linked import Judged, Linked
from questions.online import Runs
from questions.scoring import Report

NO_DATA = 2


def main() -> int:
    """Derive, ask, judge."""
    options = _options()
    folder = corpus.data_folder()
    if folder is None:
        print("skipped: no documents; set ASSAY_DATA to a folder which has documents/*.jsonl.gz")
        return NO_DATA
    found = (path.name.removesuffix(".jsonl.gz") for path in sorted(folder.glob("*.jsonl.gz")))
    names = tuple(found) if options.all else tuple(corpus.SERIES)
    rows = list(corpus.read(folder, names))
    words = linked.WORDS[options.words]
    asked = linked.derive(rows, options.count, options.seed, options.part == "training", words)
    files = [folder / f"{name}.jsonl.gz" for name in names]
    for number, strategy in enumerate(options.strategy or ("orchestrated", "reflective")):
        with Runs(files, rows, strategy, options.depth) as runs:
            if not number:
                _single(runs, asked, options.show)
            _asked(strategy, asked, runs.run, options.show)
    return 0


def _single(runs: Runs, asked: Sequence[Linked], show: bool) -> None:
    _asked("a single search", asked, lambda text: runs.run(text, "simple"), show)
    shown = sum(set(each.urls) <= set(runs.hits(each.text)) for each in asked)
    print(f"  all documents needed among the {len(asked)} questions' first eight hits: {shown}", flush=True)


def _asked(name: str, asked: Sequence[Linked], run: Callable[[str], Report], show: bool) -> None:
    judged = [linked.judge(each, run(each.text)) for each in asked]
    print(_line(name, judged))
    for kind in sorted({each.asked.kind for each in judged}):
        print(_line(f"  {kind}", [each for each in judged if each.asked.kind == kind]), flush=True)
    for each in judged:
        if show and not each.evidenced:
            missing = [url for url in each.asked.urls if url not in each.report.urls]
            print(f"--- {each.asked.text}\n    gold {each.asked.gold}, not cited {missing}\n{each.report.text}\n")


def _line(name: str, judged: Sequence[Judged]) -> str:
    count, done = len(judged), Counter[str]()
    for each in judged:
        done.update(key for key in ("evidenced", "stated", "cited") if getattr(each, key))
    exact, cited = sum(each.report.exact for each in judged), sum(each.report.citations for each in judged)
    seconds = sum(each.report.seconds for each in judged) / max(count, 1)
    return (
        f"{name}: fully evidenced {done['evidenced']} of {count}, right answer stated {done['stated']}, all documents "
        f"cited {done['cited']}; citations byte-exact {exact} of {cited}; {seconds:.2f} s a question"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--part", choices=("training", "reporting"), default="reporting", help="which half of the documents"
    )
    parser.add_argument("--words", choices=tuple(linked.WORDS), default="plain", help="how the questions are worded")
    parser.add_argument("--all", action="store_true", help="search all documents, not only those with headers")
    parser.add_argument("--strategy", action="append", help="the strategy; repeat for several")
    parser.add_argument("--depth", choices=("auto", "light", "medium", "extended"), default="auto")
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
