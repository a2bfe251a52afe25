"""Text extraction from web pages: trafilatura's own evaluation (pieces of text to keep, and pieces to drop).

python bench/extraction.py    about 884 pages; the text is compared without its Markdown signs

Tuning uses one half of the pages, chosen by the hash of their bytes; the figures are for both halves.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath

from corpus import machine

from assay.core.errors import ExtractError
from assay.fetch.html import HtmlExtractor

DATA = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[2] / "shared" / "data")) / "extraction"
PAGES = DATA / "trafilatura-eval"
NO_DATA = 2
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
SIGNS = re.compile(r"\*\*|__|\*|`|^#+ |^[-*] |^> |\\(?=[^\w\s])", re.MULTILINE)


def main() -> int:
    """Print the figures."""
    if not PAGES.is_dir():
        print(f"no pages in {PAGES} (set ASSAY_DATA)")
        return NO_DATA
    halves = {"tuned on": Counter[str](), "held out": Counter[str]()}
    seconds: list[float] = []
    for data, wanted, unwanted in _pages():
        begun = time.process_time()
        text = _text(data)
        seconds.append(time.process_time() - begun)
        half = halves["held out" if sha256(data).digest()[0] >> 4 & 1 else "tuned on"]
        half["kept"] += sum(piece in text for piece in wanted)
        half["lost"] += sum(piece not in text for piece in wanted)
        half["left"] += sum(piece in text for piece in unwanted)
        half["pages"] += 1
    print(machine())
    for name, counted in {"all": halves["tuned on"] + halves["held out"], **halves}.items():
        print(f"{name}: {_scores_line(counted)}")
    print(f"processor time a page: median {statistics.median(seconds) * 1000:.0f} ms, slowest {max(seconds):.2f} s")
    return 0


def _scores_line(counted: Counter[str]) -> str:
    kept = counted["kept"]
    precision, recall = kept / (kept + counted["left"]), kept / (kept + counted["lost"])
    f = 2 * precision * recall / (precision + recall)
    return f"{counted['pages']} pages, precision {precision:.3f}, recall {recall:.3f}, F {f:.4f}"


def _pages() -> Iterator[tuple[bytes, list[str], list[str]]]:
    rows = json.loads((PAGES / "evaldata.json").read_text(encoding="utf-8")).values()
    with tarfile.open(PAGES / "tests-eval.tar.xz") as packed:
        wanted = {PurePosixPath(row["file"]).name: row for row in rows}
        for member in packed:  # in their order: going back would unpack everything before once more
            row = wanted.get(PurePosixPath(member.name).name)
            file = packed.extractfile(member) if row is not None else None
            if row is not None and file is not None:
                yield file.read(), row["with"], row["without"]


def _text(data: bytes) -> str:
    try:
        text = next(HtmlExtractor().extract(data, "page.html")).text
    except ExtractError:
        return ""
    return SIGNS.sub("", LINK.sub(r"\1", text))


if __name__ == "__main__":
    sys.exit(main())
