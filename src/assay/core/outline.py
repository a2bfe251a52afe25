"""Markdown by its headings: the sections of a report, and the templates which say what they should be."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from assay.core.blocks import Origin, read_blocks
from assay.core.brief import Section
from assay.core.errors import UsageError

MOST_HEADINGS = 60
LONGEST_TITLE = 200


class OutlineSection(msgspec.Struct, frozen=True, kw_only=True):
    """A heading and what stands below it, up to the next heading of any level; code points into the text.

    The heading's lines are `[start, body)`, what stands below it `[body, end)`.
    """

    level: int
    title: str
    start: int
    body: int
    end: int
    origin: Origin = "writer"


def outline(text: str) -> tuple[OutlineSection, ...]:
    """The headings of `text` in order; those inside lists, quotations and code are none of its own."""
    heads = [block for block in read_blocks(text) if block.kind == "heading"]
    ends = [*(head.start for head in heads), len(text)][1:]
    return tuple(
        OutlineSection(
            level=head.level,
            title=" ".join(head.content.split()),
            start=head.start,
            body=head.end,
            end=end,
            origin=head.origin,
        )
        for head, end in zip(heads, ends, strict=True)
    )


def read_template(text: str) -> tuple[Section, ...]:
    """The headings of a template, with what is said below each.

    Raises:
        UsageError: it has none, too many, one without a title, or text no heading stands above.
    """
    parts = outline(text)
    if not parts:
        raise UsageError("the template has no headings: write each on a line of its own, like “## Risks”")
    if text[: parts[0].start].strip():
        raise UsageError("the template has text above its first heading: put it below one, or into the instructions")
    if len(parts) > MOST_HEADINGS:
        raise UsageError(f"the template has {len(parts)} headings; at most {MOST_HEADINGS} can be filled")
    if any(not part.title or len(part.title) > LONGEST_TITLE for part in parts):
        raise UsageError(f"a heading of the template is empty, or longer than {LONGEST_TITLE} characters")
    return tuple(Section(level=part.level, title=part.title, hint=text[part.body : part.end].strip()) for part in parts)


_OPENING = re.compile("```|~~~|<")


def closed(text: str) -> str:
    """`text` with what it leaves open (a code fence, HTML) closed, so that a heading put after it is one."""
    if not _OPENING.search(text):
        return text
    longest = max(map(len, re.findall(r"`+|~+", text)), default=0)
    endings = ("", f"\n{'`' * longest}", f"\n{'~' * longest}", "\n-->")
    tries = (form + ending for form in (text, text.replace("<", "&lt;")) for ending in endings)
    return next((each for each in tries if _is_closed(each)), "")


def _is_closed(text: str) -> bool:
    after = f"{text}\n\n# end"
    return any(part.start == len(text) + 2 for part in outline(after)[-1:])


def leaves(template: Sequence[Section]) -> frozenset[int]:
    """The places of the headings no heading of a lower level follows: below these something is to be said."""
    after = [*(section.level for section in template[1:]), 0]
    return frozenset(at for at, section in enumerate(template) if after[at] <= section.level)


def written(template: Sequence[Section]) -> str:
    """A template as Markdown."""
    return "\n\n".join("\n\n".join(filter(None, (heading(each), each.hint))) for each in template)


def heading(section: Section) -> str:
    """The line of a heading."""
    return f"{'#' * section.level} {section.title}"
