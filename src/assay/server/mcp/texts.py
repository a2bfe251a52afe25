"""A run's findings as texts in pages: clients cut off what is longer than some 25,000 tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from assay.core.report import Report, build_report
from assay.core.text import sentences
from assay.core.view import RunView
from assay.export.markdown import render

PAGE = 24_000
"""Code points of a page: some 6,000 tokens, and 12,000 where a script takes more of them."""

Part = Literal["report", "summary", "claims", "sources"]


class Page(msgspec.Struct, frozen=True):
    """A page of a text, and the number of the next one; None after the last."""

    text: str
    following: int | None


def first_page(view: RunView) -> tuple[str, bool]:
    """The first page of a report, and whether there are more."""
    pages = list(_pages(render(view)))
    return pages[0], len(pages) > 1


def page_of(text: str, number: int) -> Page | None:
    """Page `number` (from 1) of a text, which ends with a paragraph where it can; None where there is none."""
    pages = list(_pages(text))
    if not 1 <= number <= len(pages):
        return None
    return Page(pages[number - 1], number + 1 if number < len(pages) else None)


def part_of(view: RunView, part: Part) -> str:
    """A part of a run's report as Markdown."""
    if part == "report":
        return render(view)
    report = build_report(view)
    if part == "summary":
        return _summary(report)
    return _claims(report) if part == "claims" else _sources(report)


def _pages(text: str) -> Iterator[str]:
    while len(text) > PAGE:
        end = _end(text[:PAGE])
        yield text[:end]
        text = text[end:]
    yield text


def _end(text: str) -> int:
    """Where a page of at most this text ends: after a paragraph, a sentence, or anywhere."""
    if (paragraph := text.rfind("\n\n", PAGE // 2)) > 0:
        return paragraph + 2
    ends = [end for _, end in sentences(text) if PAGE // 2 < end < len(text)]
    return ends[-1] if ends else len(text)


def _summary(report: Report) -> str:
    """The report up to its first heading after the answer, and its headings."""
    lines = report.markdown.strip().splitlines()
    headings = [place for place, line in enumerate(lines) if line.startswith("#")]
    later = [place for place in headings if any(line.strip() and not line.startswith("#") for line in lines[:place])]
    answer = "\n".join(lines[: later[0]] if later else lines).strip()
    outline = "\n".join(f"- {lines[place].lstrip('# ')}" for place in later)
    return f"{answer}\n\nSections:\n{outline}" if outline else answer


def _claims(report: Report) -> str:
    return "\n".join(
        f"- {claim.id} ({claim.verdict}{f': {claim.reason}' if claim.reason else ''}): {claim.text}"
        f"{''.join(f' [{number}]' for number in dict.fromkeys(each.number for each in claim.citations))}"
        for claim in report.claims
    )


def _sources(report: Report) -> str:
    cited = [source for source in report.sources if source.number is not None]
    read = [source for source in report.sources if source.number is None]
    lines = [f"{source.number}. {source.title}: {source.url}" for source in cited]
    lines += [f"- read, not cited: {source.title}: {source.url}" for source in read]
    return "\n".join(lines)
