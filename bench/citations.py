"""Citations as models really write them: what the reader of `assay verify FILE` finds in 298 reports, and how fast.

python -m bench citations

Links are counted a second time by markdown-it, addresses by a regular expression. The data are looked for in
$ASSAY_DATA, else in ../shared/data beside the project.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from corpus import machine
from markdown_it import MarkdownIt

from assay.verify.claims import claims
from assay.verify.texts.marked import mark
from assay.verify.texts.references import definitions

NO_DATA = 2
DATA = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[2] / "shared" / "data")) / "citations"
_IMAGE = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)")
_CODE = re.compile(r"```.*?```", re.DOTALL)
_ADDRESS = re.compile(r"https?://")


class Read(NamedTuple):
    """A report: links and addresses there are, those which were not found; citations, entries, and seconds."""

    links: int
    links_missed: int
    addresses: int
    addresses_missed: int
    places: int
    entries: int
    named: int
    undefined: int
    claims: int
    cited: int
    seconds: float


def reports() -> Iterator[str]:
    """The texts of all reports."""
    for file in sorted(DATA.rglob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            yield from (json.loads(line)["article"] for line in lines)


def links(text: str) -> list[str]:
    """Where the links of a text lead to, as markdown-it reads it."""
    tokens = (child for token in MarkdownIt("commonmark").parse(text) for child in token.children or ())
    return [str(token.attrs["href"]) for token in tokens if token.type == "link_open"]


def read(text: str) -> Read:
    """What the reader finds in a report, beside what there is."""
    began = time.perf_counter()
    marked = mark(text)
    seconds = time.perf_counter() - began
    known = definitions(text).all
    ours = {place.url for place in marked.places} | {each.url for each in known}
    covered = [(place.start, place.end) for place in marked.places] + [(each.start, each.end) for each in known]
    for form in (_IMAGE, _CODE):  # which cite nothing
        covered += [match.span() for match in form.finditer(text)]
    addresses = [match.start() for match in _ADDRESS.finditer(text)]
    there, sentences = links(text), claims(marked.text)
    return Read(
        links=len(there),
        links_missed=sum(url not in ours for url in there),
        addresses=len(addresses),
        addresses_missed=sum(not any(start <= at < end for start, end in covered) for at in addresses),
        places=len(marked.places),
        entries=len(known),
        named=len(marked.references),
        undefined=sum(not each.is_defined for each in marked.references),
        claims=len(sentences),
        cited=sum(bool(sentence.markers) for sentence in sentences),
        seconds=seconds,
    )


def main() -> int:
    if not DATA.is_dir():
        print("skipped: no reports; set ASSAY_DATA to a folder which has citations/*.jsonl.gz")
        return NO_DATA
    found = [read(text) for text in reports()]
    total = Read(*(sum(column) for column in zip(*found, strict=True)))
    times = sorted(each.seconds * 1000 for each in found)
    print(machine())
    print(f"{len(found)} reports, {total.places:,} citations, {total.entries:,} entries in lists of references")
    print(f"links: {total.links:,}, missed {total.links_missed}; addresses: {total.addresses:,}, "
          f"missed {total.addresses_missed}")  # fmt: skip
    dangling = sum(each.undefined > 0 for each in found)
    print(f"{total.named:,} things cited, {total.undefined} of them in no list ({dangling} reports)")
    print(f"{total.claims:,} claims, {total.cited:,} of them cite something")
    print(f"reading a report: median {statistics.median(times):.1f} ms, longest {times[-1]:.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
