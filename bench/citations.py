"""Citations as models really write them: how many the reader of `assay verify FILE` finds in 298 reports, and how fast.

Then the same reports with ids of a run in place of their numbers, in their own forms and in those of other models: how
many a run's reader finds, how many the reader of plain markers finds, and what is changed needlessly.

python -m bench citations

To compare, markdown-it counts the links, and a regular expression the addresses. The data are read from $ASSAY_DATA,
else from ../shared/data beside the project.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from corpus import machine
from markdown_it import MarkdownIt

from assay.core.citations.reader import CitationReader, citation_reading, read_all
from assay.core.markers import strip_markers
from assay.core.report_sentences import claims
from assay.core.scanner import scan
from assay.verify.texts.marked_text import CitationSpan, mark_citations
from assay.verify.texts.references import read_definitions

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
    by_author: int
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
    marked = mark_citations(text)
    seconds = time.perf_counter() - began
    known = read_definitions(text, tuple(scan(text))).entries
    ours = {place.url for place in marked.citations} | {each.url for each in known}
    covered = [(place.start, place.end) for place in marked.citations] + [(each.start, each.end) for each in known]
    for form in (_IMAGE, _CODE):  # which cite nothing
        covered += [match.span() for match in form.finditer(text)]
    addresses = [match.start() for match in _ADDRESS.finditer(text)]
    there, sentences = links(text), claims(marked.text)
    return Read(
        links=len(there),
        links_missed=sum(url not in ours for url in there),
        addresses=len(addresses),
        addresses_missed=sum(not any(start <= at < end for start, end in covered) for at in addresses),
        places=len(marked.citations),
        entries=len(known),
        named=len(marked.references),
        undefined=sum(not each.is_defined for each in marked.references),
        by_author=sum(bool(place.works) for place in marked.citations),
        claims=len(sentences),
        cited=sum(bool(sentence.markers) for sentence in sentences),
        seconds=seconds,
    )


# ids of a run in the place of the reports' numbers

_LABEL = re.compile(r"(?<![\d.])[0-9]{1,3}(?![\d.])")
_RAW = re.compile(r"S1001\.[0-9]{1,3}")
HABITS = (
    "`[{}]`", " `{}`", "({})", "(source: {})", "[{}](https://example.org/page)", "[source](#{})", "【{}†L1-L5】",
    "[{0}][{0}]", "^{}", "[^{}]", " {}", "**[{}]**", "<sup>[{}]</sup>", "[{}†source]", "[Source {}]", "\\[{}\\]",
)  # fmt: skip
PIECE = 7
"""Characters of a stream at a time."""


class Cited(NamedTuple):
    """A report in a run's ids: how many it names, those plain markers hold, those the run's reader finds."""

    ids: int
    plain: int
    read: int
    differs: int
    seconds: float


def in_ids(text: str, places: Sequence[CitationSpan], habit: str = "") -> str:
    """The text with its numbered citations as ids, in their own form or in another."""
    parts, last = [], 0
    for place in places:
        cited = text[place.start : place.end]
        label, target = cited.rpartition("](")[::2] if "](" in cited else (cited, "")
        found = _LABEL.findall(label)
        if not found or not re.fullmatch(r"[\s\[\]【】^,;，、\-–—\d]*", label):
            continue
        new = _LABEL.sub(lambda number: f"S1001.{int(number[0])}", label) + (f"]({target}" if target else "")
        parts += [text[last : place.start], habit.format(f"S1001.{int(found[0])}") if habit else new]
        last = place.end
    return "".join((*parts, text[last:]))


def knows(id: str) -> bool:
    """Whether an id is of the run these reports are said to come from."""
    return id.partition(".")[0] == "S1001"


def read_ids(text: str) -> Cited:
    """What is read of a report in ids."""
    began = time.perf_counter()
    read = read_all(citation_reading(knows), text)
    seconds = time.perf_counter() - began
    reader = CitationReader(knows)
    pieces = "".join([reader.feed(text[at : at + PIECE]) for at in range(0, len(text), PIECE)]) + reader.finish()
    ids = len(_RAW.findall(text))
    return Cited(
        ids=ids,
        plain=ids - len(_RAW.findall(strip_markers(text))),
        read=ids - len(_RAW.findall(strip_markers(read))),
        differs=pieces != read,
        seconds=seconds,
    )


def of_runs(texts: list[str]) -> None:
    """Print what a run's reader finds in the reports."""
    untouched = sum(read_all(citation_reading(lambda _: False), text) == text for text in texts)
    print(f"without ids of a run: {untouched} of {len(texts)} reports stay as they are")
    places = [mark_citations(text).citations for text in texts]
    own = [in_ids(text, there) for text, there in zip(texts, places, strict=True)]
    others = [
        in_ids(text, there, HABITS[at % len(HABITS)])
        for at, (text, there) in enumerate(zip(texts, places, strict=True))
    ]
    for name, made in (("in their own forms", own), ("in 16 other forms", others)):
        found = [read_ids(text) for text in made]
        total = Cited(*(sum(column) for column in zip(*found, strict=True)))
        times = sorted(each.seconds * 1000 for each in found)
        print(f"ids {name}: {total.ids:,}; in plain markers {total.plain:,}, found by a run's reader {total.read:,}; "
              f"{total.differs} reports differ as streams; "
              f"median {statistics.median(times):.1f} ms")  # fmt: skip


def main() -> int:
    if not DATA.is_dir():
        print("skipped: no reports; set ASSAY_DATA to a folder which has citations/*.jsonl.gz")
        return NO_DATA
    texts = list(reports())
    found = [read(text) for text in texts]
    total = Read(*(sum(column) for column in zip(*found, strict=True)))
    times = sorted(each.seconds * 1000 for each in found)
    print(machine())
    print(f"{len(found)} reports, {total.places:,} citations, {total.entries:,} entries in lists of references")
    print(f"links: {total.links:,}, missed {total.links_missed}; addresses: {total.addresses:,}, "
          f"missed {total.addresses_missed}")  # fmt: skip
    dangling = sum(each.undefined > 0 for each in found)
    print(f"{total.named:,} citations, {total.undefined} of them in no list ({dangling} reports)")
    print(f"{total.by_author:,} by author and year ({sum(each.by_author > 0 for each in found)} reports)")
    print(f"{total.claims:,} claims, {total.cited:,} of them cite something")
    print(f"reading a report: median {statistics.median(times):.1f} ms, longest {times[-1]:.1f} ms")
    of_runs(texts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
