"""Navigation: tables of contents, menus and lists of links, which lead to content and say nothing themselves.

They are recognized by their form, in every language: entries that are only links, lines that end in leaders (`.....`)
and a page, lists whose entries are headings of the same document, breadcrumb trails. Limits chosen by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from assay.core.lazy import regex
from assay.evidence.segment.blocks import TextBlock
from assay.evidence.segment.lines import LEADER, LONGEST_ENTRY, has_leaders

MOST_ENUMERATED = 12
"""Links that one sentence enumerates; more are contents, whatever is above them."""
MIN_ENTRIES = 3
"""The least entries of a table of contents."""
MIN_HEADINGS_SHARE = 0.75
"""The share of a list's entries that are headings of the document, from which it is its table of contents."""
MAX_ENTRY_CHARS = 2_000
"""Code points of a block that may contain links; a longer one is not an entry."""
SHORT_LABEL = 40
"""Code points of a line directly above contents that only announces them."""

_LINK = regex(
    r"!?\[(?>[^\[\]]{1,300}|\[[^\[\]]{0,200}\](?:\([^()\s]{0,500}\))?+){0,9}+\]"
    r"(?:\([^()\s]{0,500}(?:\s\"[^\"]{0,200}\")?\)|\[[^\[\]]{0,100}\])"
    r"|:(?:doc|ref|mod|class|func|meth):`[^`]{1,200}`|`[^`<]{0,200}<[^`<>]{1,500}>`__?|<https?://[^<>\s]{1,500}>"
)
_BEFORE_LINKS = regex(r"[^!\[:`<]*")
"""The text before any sign with which a link may begin."""
_POINTER = regex(r"\[[^\]]{0,300}\](?:\(#[^)\s]{0,300}\)|: ?#\S{0,300})")
"""A link to a place on the same page."""
_AWAY = regex(r"[(<]https?://")
_NEAR = regex(r"\]\((?!\w{1,20}:|//)[^()\s]")
_BADGE = regex(r"\[!\[")
_LETTERS = regex(r"[^\W\d_]{2}")
_NUMBERING = regex(r"^(?:[-*+•]\s+)?(?:\(?(?:\d{1,3}(?:\.\d{1,3}){0,5}|[A-Za-z]|[ivxlcIVXLC]{1,6})[.):]*\s+)?")
_CRUMBS = regex(r"[^»›.!?\n]{1,50}(?:\s[»›]\s*[^»›.!?\n]{1,50}){2,8}")
_TARGET = regex(r"\]\([^)]{0,500}\)")
_SIGNS = regex(r"[\W_]+")
_ENTRIES = frozenset(("item", "paragraph", "row"))


def mark_navigation(text: str, blocks: Sequence[TextBlock]) -> list[TextBlock]:
    """The blocks, with navigation marked as such."""
    lists = list(_list_runs(blocks))
    found = {at for run in lists for at in _link_entries(text, blocks, run)}
    headings = {_strip_entry(text[each.start : each.end]) for each in blocks if each.kind == "heading"} - {""}
    if headings:
        found.update(at for run in lists for at in _heading_entries(text, blocks, run, headings))
    found.update(at for at, block in enumerate(blocks) if block.kind == "paragraph" and _is_trail(text, block))
    found.update(list(_announcing_lines(text, blocks, found)))
    pairs = enumerate(blocks)
    return [msgspec.structs.replace(block, kind="navigation") if at in found else block for at, block in pairs]


def _list_runs(blocks: Sequence[TextBlock]) -> Iterator[range]:
    """The places of blocks that may be entries of one list: adjacent ones of one kind."""
    first = 0
    for kind, group in groupby([block.kind for block in blocks]):
        places = range(first, first := first + sum(1 for _ in group))
        if kind in _ENTRIES:
            yield places


def _link_entries(text: str, blocks: Sequence[TextBlock], places: Sequence[int]) -> Iterator[int]:
    """The entries of a list that are only links: several, or to pages and places nearby, or badges."""
    counts = {at: _count_links(text, blocks[at]) for at in places}
    for only, group in groupby(places, key=lambda at: counts[at] > 0):
        entries = list(group)
        several = len(entries) >= MIN_ENTRIES or any(counts[at] > 1 for at in entries)
        if only and not _is_enumeration(text, blocks, entries):
            yield from (at for at in entries if several or _has_near_links(text, blocks[at]))
        elif only:
            menus = {at for at in entries if counts[at] >= MIN_ENTRIES and blocks[at].kind == "paragraph"}
            yield from (at for at in entries if at in menus or _has_inner_links(text, blocks[at]))


def _is_enumeration(text: str, blocks: Sequence[TextBlock], entries: Sequence[int]) -> bool:
    """True if links are enumerated by a sentence with a colon, or lead to other sites, as references do.

    Contents lead to the same place.
    """
    if len(entries) <= MOST_ENUMERATED and _has_lead(text, blocks, entries[0]):
        return True
    away = sum(_AWAY.search(text, blocks[at].start, blocks[at].end) is not None for at in entries)
    return 2 * away > len(entries)


def _has_lead(text: str, blocks: Sequence[TextBlock], at: int) -> bool:
    """True if a list follows a sentence with a colon."""
    above = blocks[at - 1] if at else None
    return (
        above is not None and above.kind == "paragraph" and text[above.start : above.end].rstrip()[-1:] in (":", "：")
    )


def _count_links(text: str, block: TextBlock) -> int:
    """The number of links in a block; 0 if it says more than they do."""
    said = text[block.start : min(block.end, block.start + MAX_ENTRY_CHARS + 1)]
    if len(said) > MAX_ENTRY_CHARS or not ("](" in said or "][" in said or "`" in said or "<http" in said):
        return 0
    before = _BEFORE_LINKS.match(said)
    if before is not None and _LETTERS.search(before[0]):
        return 0
    rest, count = _LINK.subn(" ", said)
    return 0 if _LETTERS.search(rest) else count


def _has_near_links(text: str, block: TextBlock) -> bool:
    """True if the links of a block lead to pages beside this one, by addresses without a host."""
    return _NEAR.search(text, block.start, block.end) is not None


def _has_inner_links(text: str, block: TextBlock) -> bool:
    said = text[block.start : block.end]
    return _POINTER.search(said) is not None or _BADGE.match(said) is not None


def _heading_entries(
    text: str, blocks: Sequence[TextBlock], places: Sequence[int], headings: set[str]
) -> Iterator[int]:
    """The entries of a list if most are headings of the document, also for lines that are one block."""
    lines = {at: _lines(text, blocks[at]) for at in places}
    for at, found in lines.items():
        if len(found) >= MIN_ENTRIES and _are_mostly_headings(found, headings):
            yield at
    entries = [at for at in places if len(lines[at]) == 1]
    enough = len(entries) >= MIN_ENTRIES and _are_mostly_headings([lines[at][0] for at in entries], headings)
    if enough and not _has_lead(text, blocks, entries[0]):
        yield from entries


def _are_mostly_headings(lines: Sequence[str], headings: set[str]) -> bool:
    """True if `MIN_HEADINGS_SHARE` of the lines are headings; for most lists the first few lines show that they are
    not.
    """
    known = len(lines)
    ends = {heading[-2:] for heading in headings}
    for line in lines:
        known -= not _may_end_with(line, ends) or _strip_entry(line) not in headings
        if known < MIN_HEADINGS_SHARE * len(lines):
            return False
    return True


def _may_end_with(line: str, ends: set[str]) -> bool:
    """True if the bare line may end with one of `ends`, as its last two letters tell; Roman numerals may be a page."""
    end = line.rstrip()[-2:].lower()
    return len(end) < 2 or not (end.isascii() and end.isalpha()) or end in ends or end[-1] in "ivxlc"


def _lines(text: str, block: TextBlock) -> list[str]:
    """The lines of a block that may be entries of contents; empty if one is too long for that."""
    if block.end - block.start > MAX_ENTRY_CHARS:
        return []
    found = text[block.start : block.end].splitlines()
    return [] if any(len(line) > LONGEST_ENTRY for line in found) else found


def _strip_entry(line: str) -> str:
    """An entry or a heading in the form for comparison: without numbers, links, markup and pages."""
    line = line.strip()[:LONGEST_ENTRY]
    if "](" in line:
        line = _TARGET.sub("", line)
    line = _NUMBERING.sub("", line.lstrip("["))
    if has_leaders(line):
        line = LEADER.sub("", line)
    return _SIGNS.sub(" ", line).strip().casefold()


def _is_trail(text: str, block: TextBlock) -> bool:
    """True if a paragraph is a breadcrumb trail: Home » Manual » Installing."""
    return block.end - block.start <= LONGEST_ENTRY and _CRUMBS.fullmatch(text, block.start, block.end) is not None


def _announcing_lines(text: str, blocks: Sequence[TextBlock], found: Iterable[int]) -> Iterator[int]:
    """Short lines directly above contents, such as "Table of Contents"."""
    for at in found:
        above = blocks[at - 1] if at else None
        if above is None or above.kind != "paragraph" or above.heading != blocks[at].heading:
            continue
        said = text[above.start : min(above.end, above.start + SHORT_LABEL + 1)]
        if len(said) <= SHORT_LABEL and said.strip()[-1:] not in (*".!?。！？", ""):
            yield at - 1
