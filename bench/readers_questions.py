"""Questions that readers have over small collections: a firm's papers, manuals, a laboratory, licences, a town.

    python bench/readers_questions.py --part training --show    # the papers and the manuals
    python bench/readers_questions.py --part held-out           # never look at what went wrong here

Twelve questions of each have an answer, four are about the same subject and have none. In the parts `subject-training`
(a pump) and `subject-held-out` (a museum, a garden society in German) five of ten have none. The parts
`records-training` and `records-second` are documents of lines with keys, in four languages; 6 of 24 have none.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from answers import nothing, opening, states
from readers.asked import QUESTIONS
from readers.collections import PARTS, files

from assay import Assay
from assay.settings import load


async def ask(name: str, show: bool) -> None:
    """Ask a collection its questions, and print the figures."""
    right, refused = 0, 0
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as folder:
        try:
            sources = [str(path) for path in files(name, Path(folder))]
        except FileNotFoundError:
            print(f"{name}: skipped, none of its documents is installed")
            return
        async with Assay(load(), home=Path(home)) as assay:
            await assay.add(sources, None)
            for question, answers in QUESTIONS[name]:
                report = await assay.start(question, sources=sources, depth="light").report()
                good = nothing(report) if answers is None else states(opening(report), answers)
                right, refused = right + (good and answers is not None), refused + (good and answers is None)
                if show and not good:
                    print(f"--- {question} {answers}\n{report.markdown}\n")
    asked = sum(answers is not None for _, answers in QUESTIONS[name])
    print(f"{name:9} answered {right} of {asked}, refused {refused} of {len(QUESTIONS[name]) - asked}", flush=True)


def main() -> int:
    """Ask the collections of a part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=(*PARTS, "all"), default="all")
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    options = parser.parse_args()
    names = [name for part, names in PARTS.items() if options.part in (part, "all") for name in names]
    for name in names:
        asyncio.run(ask(name, options.show))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
