"""Texts designed to take long: constructs repeated, nested and interleaved, read into passages and verified as drafts.

python bench/pathological.py                    all, at 0.1, 1 and 10 MB
python bench/pathological.py --of draft breaks  some, as drafts
python bench/pathological.py --sizes 100000,1000000 --cap 20

Seconds are processor time. The exponent is the power of the size with which they grew over the last two sizes: 1 is
linear, 2 is quadratic. A size that would probably take more than `--cap` seconds is not tried.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import math
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path

from corpus import machine

from assay import Assay
from assay.cli.main import GARBAGE_AFTER
from assay.core.errors import ExtractError
from assay.evidence.segment import segment
from assay.fetch.html import HtmlExtractor
from assay.fetch.text import CodeExtractor, CsvExtractor, JsonLinesExtractor, MarkdownExtractor, TextExtractor

SIZES = {"text": (100_000, 1_000_000, 10_000_000), "draft": (100_000, 1_000_000, 4_000_000)}
"""Characters; a draft of more is refused (`app.verification.MAX_TEXT_CHARS`)."""
AIMS = {"text": 1_000_000, "draft": 200_000}
"""Characters a second."""
CAP = 60.0
EVIDENCE = "# Tides\n\nThe tide at Brest rises 7.5 metres. In 2019 the port had 4,200 ships.\n"

READERS = {
    ".md": MarkdownExtractor,
    ".txt": TextExtractor,
    ".csv": CsvExtractor,
    ".html": HtmlExtractor,
    ".jsonl": JsonLinesExtractor,
    ".py": CodeExtractor,
}

UNITS = {
    "sentences": "The tide at Brest rises 7.5 metres in 2019. ",
    "letters": "a\n\n",
    "letter lines": "a\n",
    "words": "tide ",
    "one word": "a",
    "spaces": " ",
    "empty lines": "\n",
    "tabs": "\t",
    "cjk": "潮汐上升七米",
    "cjk sentences": "潮汐上升七米。",
    "combining": "e\u0301",
    "emoji": "👩‍👩‍👧",
    "arabic": "المد يرتفع ",
    "nul": "\x00a",
    "list items": "- a\n",
    "numbered items": "1. a\n",
    "item words": "- ",
    "star items": "* ",
    "quotes": "> a\n\n",
    "quote signs": ">",
    "quotes in a line": "> ",
    "headings": "# a\n\n",
    "heading lines": "# a\n",
    "underlines": "a\n=\n\n",
    "equals": "=",
    "equal lines": "=\n",
    "dashes": "-",
    "rules": "---\n\n",
    "stars": "*",
    "emphasis": "*a* ",
    "open emphasis": "*a ",
    "underscores": "_a ",
    "ticks": "`",
    "open ticks": "`a``b",
    "code": "`a` ",
    "fences": "```\na\n```\n\n",
    "open fences": "```\na\n",
    "tilde fences": "~~~\n",
    "indented": "    a\n\n",
    "tables": "|a|b|\n|-|-|\n|1|2|\n\n",
    "bars": "|",
    "bar lines": "|\n",
    "links": "[a](https://example.org/b) ",
    "open links": "[a](b",
    "brackets": "[",
    "closed brackets": "[]",
    "both brackets": "[[]](",
    "images": "![a](b) ",
    "bangs": "![",
    "addresses": "https://example.org/a ",
    "long address": "https://example.org/" + "a" * 50 + "/",
    "angle addresses": "<https://example.org/a> ",
    "mail": "a@b.c ",
    "references": "[a]: https://example.org\n",
    "footnotes": "a[^1]\n\n[^1]: b\n\n",
    "citations": "The tide rises [1]. ",
    "citation lists": "[1, 2, 3] ",
    "citation ranges": "[1-9] ",
    "markers": "[S1001.1] ",
    "breaks": "<br>",
    "angles": "<",
    "open tags": "<a ",
    "tags": "<b>a</b> ",
    "divs": "<div>",
    "comments": "<!-- a --> ",
    "open comments": "<!--",
    "cdata": "<![CDATA[",
    "instructions": "<?a",
    "entities": "&amp;",
    "ampersands": "&",
    "numbers": "1234567 ",
    "digits": "1",
    "decimals": "1.5, ",
    "thousands": "1,234,567.8 ",
    "percent": "7.5% ",
    "money": "$5 million ",
    "ranges": "1-2 ",
    "dates": "2019-03-04 ",
    "long dates": "4 March 2019 ",
    "times": "12:30:15 ",
    "number words": "twenty one thousand ",
    "full stops": ".",
    "abbreviations": "e.g. ",
    "initials": "A. B. ",
    "questions": "a? ",
    "ellipses": "… ",
    "quotation marks": '"a" ',
    "open quotation": '"a ',
    "curly quotation": "“a” ",
    "open curly": "“",
    "apostrophes": "it's ",
    "brackets round": "(a) ",
    "open round": "(",
    "commas": "a, ",
    "semicolons": "a; ",
    "colons": "a: b\n",
    "capitals": "Brest Ouessant ",
    "negation": "not never no ",
    "maths": "$a$ ",
    "escapes": "\\[",
    "backslashes": "\\",
    "line breaks": "a  \n",
    "definition": "a\n: b\n\n",
    "front matter": "---\na: b\n",
    "yaml keys": "a: b\n",
    "frames": "\f",
    "returns": "a\r",
    "both ends": "a\r\n",
    "separators": "a\u2028",
}
OTHERS = {
    "csv": (".csv", "a,b\n"),
    "csv cells": (".csv", "a,"),
    "csv quotes": (".csv", '"a"'),
    "csv open quote": (".csv", '"a,\n'),
    "csv empty": (".csv", ",\n"),
    "csv numbers": (".csv", "1,2.5,3\n"),
    "plain letters": (".txt", "a\n\n"),
    "plain lines": (".txt", "a\n"),
    "plain columns": (".txt", "a    b\n"),
    "plain capitals": (".txt", "TIDES\n\n"),
    "plain numbers": (".txt", "1.1 a\n"),
    "code lines": (".py", "a = 1\n"),
    "code functions": (".py", "def a():\n    pass\n\n"),
    "json lines": (".jsonl", '{"a": "b"}\n'),
    "html paragraphs": (".html", "<p>a"),
    "html breaks": (".html", "a<br>"),
    "html divs": (".html", "<div>"),
    "html closed divs": (".html", "<div>a</div>"),
    "html lists": (".html", "<ul><li>a"),
    "html cells": (".html", "<table><tr><td>a"),
    "html rows": (".html", "<tr><td>a</td></tr>"),
    "html links": (".html", "<a href=b>a</a> "),
    "html attributes": (".html", "<p a=b c=d>"),
    "html entities": (".html", "&amp;"),
    "html angles": (".html", "<"),
    "html scripts": (".html", "<script>a</script>"),
    "html quotes": (".html", "<blockquote>"),
    "html spans": (".html", "<span>a"),
    "html headings": (".html", "<h1>a</h1>"),
}


def repeated(unit: str) -> Callable[[int], str]:
    """Nothing but this."""
    return lambda size: unit * max(1, size // len(unit))


def interleaved(*units: str) -> Callable[[int], str]:
    """These, one after another, over and over."""
    whole = "".join(units)
    return lambda size: whole * max(1, size // len(whole))


def deep(line: Callable[[int], str], step: int) -> Callable[[int], str]:
    """Lines of which each is `step` characters longer than the one before."""

    def made(size: int) -> str:
        return "\n".join(line(at) for at in range(math.isqrt(max(1, 2 * size // step))))

    return made


def climbing(line: Callable[[int], str], height: int) -> Callable[[int], str]:
    """Lines which go in `height` times, and begin again."""

    def made(size: int) -> str:
        pieces, length = [], 0
        for at in cycle(range(height)):
            pieces.append(line(at))
            length += len(pieces[-1]) + 1
            if length >= size:
                return "\n".join(pieces)
        return ""

    return made


NESTED = {
    "nested lists": deep(lambda at: "  " * at + "- a", 2),
    "nested numbers": deep(lambda at: "   " * at + "1. a", 3),
    "nested quotes": deep(lambda at: "> " * at + "a", 2),
    "nested both": deep(lambda at: "> - " * at + "a", 4),
    "lists in lists": climbing(lambda at: "  " * at + "- a", 12),
    "quotes in quotes": climbing(lambda at: "> " * at + "a", 12),
    "headings in headings": climbing(lambda at: "#" * (at + 1) + " a\n", 6),
    "long fences": deep(lambda at: "`" * (at + 3), 1),
    "long ticks": deep(lambda at: "`" * at + " a", 1),
    "wide table": lambda size: "|" + "a|" * (size // 6) + "\n|" + "-|" * (size // 6) + "\n|" + "1|" * (size // 6),
    "long table": lambda size: "|a|b|\n|-|-|\n" + "|1|2|\n" * (size // 6),
    "one long item": lambda size: "- " + "a " * (size // 2),
    "one long quote": lambda size: "> " + "a. " * (size // 3),
    "one long quotation": lambda size: "“" + "a " * (size // 2) + "”",
    "one long heading": lambda size: "# " + "a " * (size // 2),
    "one long link": lambda size: "[a](" + "b" * size + ")",
    "one long bracket": lambda size: "[" + "a " * (size // 2) + "]",
    "matched brackets": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "matched emphasis": lambda size: "*" * (size // 2) + "a" + "*" * (size // 2),
    "matched rounds": lambda size: "(" * (size // 2) + ")" * (size // 2),
    "distinct references": lambda size: "\n".join(f"[{at}]: https://example.org/{at}" for at in range(size // 32)),
    "distinct citations": lambda size: " ".join(f"Tides rise [{at}]." for at in range(size // 20)),
    "distinct footnotes": lambda size: "\n\n".join(f"a[^{at}]\n\n[^{at}]: b" for at in range(size // 26)),
    "distinct links": lambda size: " ".join(f"[a](https://example.org/{at})" for at in range(size // 30)),
    "distinct words": lambda size: " ".join(f"w{at}" for at in range(size // 7)),
    "distinct numbers": lambda size: " ".join(f"{at}.5" for at in range(size // 7)),
    "distinct names": lambda size: " ".join(f"Brest{at} rises." for at in range(size // 16)),
    "number runs": lambda size: "The tide rises " + "7.5 metres and " * (size // 15) + ".",
}


CITING = {
    "authors": repeated("Smith et al. (2021) found that tides rose (Lee, 2019; Kim & Ray, 2020). "),
    "open authors": repeated("(Smith, 2021; "),
    "author entries": repeated("## References\n\nSmith, J., & Lee, K. (2021). On tides.\n\n"),
    "distinct authors": lambda size: (
        " ".join(f"It rose (Tide{at}, 2020)." for at in range(size // 60))
        + "\n\n## References\n\n"
        + "\n".join(f"Tide{at}, J. (2020). A." for at in range(size // 60))
    ),
}
"""What only drafts have: citations by author and year."""


def constructs(of: str) -> Iterator[tuple[str, str, Callable[[int], str]]]:
    """A name, the end of a file's name, and what makes the text."""
    for name, unit in UNITS.items():
        yield name, ".md", repeated(unit)
    for name, make in NESTED.items():
        yield name, ".md", make
    names = list(UNITS)
    for at in range(0, len(names), 4):
        some = [UNITS[name] for name in islice(cycle(names), at, at + 12, 3)]
        yield f"mixed {at // 4 + 1}", ".md", interleaved(*some)
    yield "all mixed", ".md", interleaved(*UNITS.values())
    if of == "draft":
        for name, make in CITING.items():
            yield name, ".md", make
    if of == "text":
        for name, (suffix, unit) in OTHERS.items():
            yield name, suffix, repeated(unit)


def read(text: str, suffix: str) -> None:
    """A text into passages, as documents are read."""
    with suppress(ExtractError):  # nothing to read, or too little
        for document in READERS[suffix]().extract(text.encode(), f"text{suffix}"):
            segment(document.text, document.syntax)


async def _verified(text: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        evidence = Path(folder) / "tides.md"
        evidence.write_text(EVIDENCE)
        async with Assay(home=Path(folder) / "home") as assay:
            await assay.verify(
                "The tide rises [1].\n\n[1]: tides.md\n", sources=[evidence], folder=folder
            )  # all is loaded
            began = time.process_time()
            await assay.verify(text, sources=[evidence], folder=folder)
            return time.process_time() - began


def taken(of: str, text: str, suffix: str) -> float:
    """Seconds of the processor."""
    if of == "draft":
        return asyncio.run(_verified(text))
    read(UNITS["sentences"], suffix)
    began = time.process_time()
    read(text, suffix)
    return time.process_time() - began


def measured(of: str, make: Callable[[int], str], suffix: str, size: int, cap: float) -> tuple[int, float] | None:
    """Characters and seconds, in a process of its own; None where `cap` seconds were not enough."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (int(cap) + 3, int(cap) + 4))
        try:
            text = make(size)
            os.write(theirs, f"{len(text)} {taken(of, text, suffix)}".encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        output = pipe.read()
    os.waitpid(child, 0)
    if not output:
        return None
    length, seconds = output.split()
    return int(length), float(seconds)


def main() -> int:
    """Print a table."""
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    words.add_argument("names", nargs="*", help="constructs (all)")
    words.add_argument("--of", choices=("text", "draft"), action="append")
    words.add_argument("--sizes", help="characters, separated by commas")
    words.add_argument("--cap", type=float, default=CAP, help="seconds one text may take")
    words.add_argument("--slow", action="store_true", help="print only texts that miss the aim or grow too fast")
    given = words.parse_args()
    gc.set_threshold(GARBAGE_AFTER, 20, 20)  # as in a command
    print(machine())
    for of in given.of or ("text", "draft"):
        sizes = [int(each) for each in given.sizes.split(",")] if given.sizes else SIZES[of]
        print(f"\n| {of} | {' | '.join(f'{size / 1e6:g} MB' for size in sizes)} | grows by | kB/s |")
        print("|---" * (len(sizes) + 3) + "|")
        for name, suffix, make in constructs(of):
            if not given.names or name in given.names:
                _row(of, name, _rows(of, make, suffix, sizes, given.cap), len(sizes), slow=given.slow)
    return 0


def _rows(
    of: str, make: Callable[[int], str], suffix: str, sizes: list[int], cap: float
) -> list[tuple[int, float] | None]:
    found: list[tuple[int, float] | None] = []
    for size in sizes:
        last = found[-1] if found else (size, 0.0)
        if last is None or last[1] * size / last[0] > 2 * cap:
            break
        found.append(measured(of, make, suffix, size, cap))
    return found


def _row(of: str, name: str, found: list[tuple[int, float] | None], columns: int, *, slow: bool) -> None:
    figures = [each for each in found if each]
    grows = rate = math.nan
    if len(figures) > 1 and figures[-2][1] > 0.005:
        grows = math.log(figures[-1][1] / figures[-2][1]) / math.log(figures[-1][0] / figures[-2][0])
    if figures:
        rate = figures[-1][0] / max(figures[-1][1], 0.001)
    if slow and len(figures) == len(found) and rate >= AIMS[of] and not grows > 1.25:
        return
    cells = [f"{each[1]:.2f} s" if each else "too long" for each in found]
    cells += ["not tried"] * (columns - len(cells))
    print(f"| {name} | {' | '.join(cells)} | {grows:.2f} | {rate / 1000:,.0f} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
