"""Questions about whole collections ("how many PEPs have status Rejected?") on the built-in model, against the headers.

    python bench/whole_collection.py            # all PEPs, all EIPs

The documents are not part of the project; they are read from $ASSAY_DATA, else from ../shared/data.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from questions import collections, corpus

import assay
from assay.phases.survey.collection import MAX_SHOWN_ROWS

NO_DATA = 2
COUNT = re.compile(r"([\d,]+) documents? match")


async def measure(folder: Path, name: str) -> None:
    """Ask every question about one set of documents; print what was right."""
    rows = list(corpus.read(folder, (name,)))
    asked = collections.derive(rows, name)
    exact = listed = right = missed = supported = claims = 0
    began = time.perf_counter()
    async with assay.Assay() as library:
        await library.add([folder / f"{name}.jsonl.gz"])
        read = time.perf_counter()
        for each in asked:
            report = await library.start(each.text).report()
            match = COUNT.match(report.markdown)
            found = {source.url for source in report.sources if source.number is not None}
            count = int(match[1].replace(",", "")) if match else 0
            exact += count == len(each.urls)
            listed += len(found)
            right += len(found & each.urls)
            missed += max(0, min(MAX_SHOWN_ROWS, len(each.urls)) - len(found & each.urls))
            supported, claims = supported + report.summary.grounded_count, claims + report.summary.claims
            if count != len(each.urls):
                print(f"    {each.text}  {count} for {len(each.urls)}")
    seconds = (time.perf_counter() - read) / len(asked)
    print(f"{name}: {len(rows)} documents read in {read - began:.1f} s; {len(asked)} questions, {seconds:.2f} s each")
    print(f"  count exact: {exact} of {len(asked)}")
    print(f"  listed: precision {right / max(1, listed):.3f}, recall {right / max(1, right + missed):.3f}", end="")
    print(f" (of the first {MAX_SHOWN_ROWS} a report lists)")
    print(f"  claims supported: {supported} of {claims}")


def main(names: Sequence[str]) -> int:
    """Measure the sets named, or all."""
    folder = corpus.data_folder()
    if folder is None:
        print("skipped: no documents; set ASSAY_DATA to a folder which has documents/*.jsonl.gz")
        return NO_DATA
    for name in names or tuple(collections.PLURAL):
        asyncio.run(measure(folder, name))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
