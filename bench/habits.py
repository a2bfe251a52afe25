"""Whole runs on a model service with the habits of real ones: `python bench/habits.py [--seeds 200]`.

A server on loopback speaks OpenAI's format and gives right answers with the habits of real models and services:
thinking before the answer, marked or not; calls in words, with odd arguments, of tools that do not exist; JSON and
reports in fences; citations in other brackets; streams that break, or end without a reason; refused parameters. Each
seed is a run in each strategy, through the public library, over two documents that contain the answer.

The bench counts failures: a report that is lost, or says that nothing was found; a passage's id or the model's thinking
in a report; a wrong exit code. Right is 0, or 5 if the service gave an empty report every time, so that code composed
the report. A run's habits are printed with its failures.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from habitual_service import DOCUMENTS, FACTS, MODELS, QUESTION, THOUGHT_SIGN, Service, serving
from weak_habits import WEAK

from assay import Assay
from assay.cli.run_watch import exit_code
from assay.cli.terminal import Exit
from assay.core.errors import AssayError
from assay.core.report import build_report
from assay.settings import load

TRIES = 2
"""How often a report is asked for."""
RAW_ID = re.compile(r"\bS\d+\.\d+\b")


class Ended(NamedTuple):
    """A run: what is wrong with it, and the habits its service had."""

    seed: int
    strategy: str
    wrong: tuple[str, ...]
    habits: Counter[str]


async def played(seed: int, strategy: str, *, plain: bool = False, citing: bool = True, weak: str = "none") -> Ended:
    """One whole run on a `Service`."""
    service = Service(seed, strategy, plain=plain, citing=citing, weak=WEAK.get(weak, MODELS["none"]))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in DOCUMENTS.items():
            (Path(folder) / name).write_text(text)
        async with serving(service) as url:
            settings = load(services={"mine": {"url": url}}, model="mine:m", search={"offline": True})
            async with Assay(settings, home=Path(folder) / "home") as assay:
                paths = [Path(folder) / name for name in DOCUMENTS]
                handle = assay.start(QUESTION, sources=paths, strategy=strategy, mode="deep_research", depth="medium")
                error = ""
                try:
                    await handle.report()
                except AssayError as failed:
                    error = str(failed)
                view = await assay.view(handle.run_id)
    report = build_report(view)
    silent = view.stop_reason == "unwritten" and service.habits["write: empty"] >= TRIES
    return Ended(seed, strategy, tuple(_wrong(report.markdown, exit_code(view), error, silent=silent)), service.habits)


def _wrong(text: str, code: Exit, error: str, *, silent: bool) -> Iterable[str]:
    if code == Exit.NO_EVIDENCE:
        yield "false: nothing was found"
    elif code != (Exit.LIMIT if silent else Exit.DONE):
        yield f"exit {int(code)} {error[:200]}".strip()
    missing = [fact for fact, _ in FACTS.values() if fact not in text]
    if missing:
        yield f"lost of the report: {', '.join(missing)}" if len(missing) < len(FACTS) else "lost report"
    if RAW_ID.search(text):
        yield "raw id in the report"
    if THOUGHT_SIGN in text:
        yield "thinking in the report"


def play_weak_models() -> int:
    """Play each habit of a weak model in both strategies; return the number of runs in which anything went wrong."""
    wrong = 0
    for weak in WEAK:
        for strategy in ("orchestrated", "reflective"):
            ended = asyncio.run(played(0, strategy, plain=True, weak=weak))
            by_code = ended.wrong == (f"exit {int(Exit.LIMIT)}",)  # all facts, in a report that code composed
            wrong += bool(ended.wrong) and not by_code
            result = "right, by code" if by_code else "; ".join(ended.wrong) or "right"
            print(f"{weak:28} {strategy:13} {result}", flush=True)
    print(f"{wrong} of {2 * len(WEAK)} runs went wrong")
    return wrong


def main(arguments: Sequence[str]) -> int:
    """Play the seeds and print what went wrong; 1 where anything did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--plain-citations", action="store_true", help="the model cites in the requested form")
    parser.add_argument("--weak", action="store_true", help="a weak model instead, with one habit a run")
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)
    if options.weak:
        return int(bool(play_weak_models()))
    counts: Counter[str] = Counter()
    habits: Counter[str] = Counter()
    for seed in range(options.first, options.first + options.seeds):
        for strategy in ("orchestrated", "reflective"):
            ended = asyncio.run(played(seed, strategy, citing=not options.plain_citations))
            habits.update(ended.habits)
            counts.update(each.partition(" of ")[0][:40] for each in ended.wrong)
            if ended.wrong:
                print(f"seed {seed} {strategy}: {'; '.join(ended.wrong)}\n  {dict(ended.habits)}", flush=True)
    print(f"{2 * options.seeds} runs, {len(habits)} kinds of habits, {sum(habits.values())} times")
    print("\n".join(f"{count:4} {what}" for what, count in counts.most_common()) or "nothing went wrong")
    return int(bool(counts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
