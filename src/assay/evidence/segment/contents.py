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
from assay.evidence.segment.lines import LEADER, MAX_ENTRY_LINE_CHARS, has_leaders

MAX_SENTENCE_LINKS = 12
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
    navigation = {index for run in lists for index in _link_entries(text, blocks, run)} if _has_links(text) else set()
    headings = {
        _strip_entry(text[heading_block.start : heading_block.end])
        for heading_block in blocks
        if heading_block.kind == "heading"
    } - {""}
    if headings:
        navigation.update(index for run in lists for index in _heading_entries(text, blocks, run, headings))
    if "»" in text or "›" in text:
        paragraphs = (index for index, block in enumerate(blocks) if block.kind == "paragraph")
        navigation.update(index for index in paragraphs if _is_trail(text, blocks[index]))
    navigation.update(list(_announcing_lines(text, blocks, navigation)))
    marked = list(blocks)
    for index in navigation:
        marked[index] = msgspec.structs.replace(blocks[index], kind="navigation")
    return marked


def _list_runs(blocks: Sequence[TextBlock]) -> Iterator[range]:
    """The places of blocks that may be entries of one list: adjacent ones of one kind."""
    first = 0
    for kind, group in groupby([block.kind for block in blocks]):
        indices = range(first, first := first + sum(1 for _ in group))
        if kind in _ENTRIES:
            yield indices


def _link_entries(text: str, blocks: Sequence[TextBlock], indices: Sequence[int]) -> Iterator[int]:
    """The entries of a list that are only links: several, or to pages and places nearby, or badges."""
    counts = {index: _count_links(text, blocks[index]) for index in indices}
    for only, group in groupby(indices, key=lambda index: counts[index] > 0):
        entries = list(group)
        several = len(entries) >= MIN_ENTRIES or any(counts[index] > 1 for index in entries)
        if only and not _is_enumeration(text, blocks, entries):
            yield from (index for index in entries if several or _has_near_links(text, blocks[index]))
        elif only:
            menus = {index for index in entries if counts[index] >= MIN_ENTRIES and blocks[index].kind == "paragraph"}
            yield from (index for index in entries if index in menus or _has_inner_links(text, blocks[index]))


def _is_enumeration(text: str, blocks: Sequence[TextBlock], entries: Sequence[int]) -> bool:
    """True if links are enumerated by a sentence with a colon, or lead to other sites, as references do.

    Contents lead to the same place.
    """
    if len(entries) <= MAX_SENTENCE_LINKS and _has_lead(text, blocks, entries[0]):
        return True
    external_count = sum(_AWAY.search(text, blocks[index].start, blocks[index].end) is not None for index in entries)
    return 2 * external_count > len(entries)


def _has_lead(text: str, blocks: Sequence[TextBlock], index: int) -> bool:
    """True if a list follows a sentence with a colon."""
    above = blocks[index - 1] if index else None
    return (
        above is not None and above.kind == "paragraph" and text[above.start : above.end].rstrip()[-1:] in (":", "：")
    )


def _has_links(text: str) -> bool:
    """True if a text may have a link; to look at every block for one takes longer."""
    return "](" in text or "][" in text or "`" in text or "<http" in text


def _count_links(text: str, block: TextBlock) -> int:
    """The number of links in a block; 0 if it says more than they do."""
    entry_text = text[block.start : min(block.end, block.start + MAX_ENTRY_CHARS + 1)]
    if len(entry_text) > MAX_ENTRY_CHARS or not _has_links(entry_text):
        return 0
    before = _BEFORE_LINKS.match(entry_text)
    if before is not None and _LETTERS.search(before[0]):
        return 0
    remaining, count = _LINK.subn(" ", entry_text)
    return 0 if _LETTERS.search(remaining) else count


def _has_near_links(text: str, block: TextBlock) -> bool:
    """True if the links of a block lead to pages beside this one, by addresses without a host."""
    return _NEAR.search(text, block.start, block.end) is not None


def _has_inner_links(text: str, block: TextBlock) -> bool:
    entry_text = text[block.start : block.end]
    return _POINTER.search(entry_text) is not None or _BADGE.match(entry_text) is not None


def _heading_entries(
    text: str, blocks: Sequence[TextBlock], indices: Sequence[int], headings: set[str]
) -> Iterator[int]:
    """The entries of a list if most are headings of the document, also for lines that are one block."""
    lines = {index: _lines(text, blocks[index]) for index in indices}
    for index, entry_lines in lines.items():
        if len(entry_lines) >= MIN_ENTRIES and _are_mostly_headings(entry_lines, headings):
            yield index
    entries = [index for index in indices if len(lines[index]) == 1]
    enough = len(entries) >= MIN_ENTRIES and _are_mostly_headings([lines[index][0] for index in entries], headings)
    if enough and not _has_lead(text, blocks, entries[0]):
        yield from entries


def _are_mostly_headings(lines: Sequence[str], headings: set[str]) -> bool:
    """True if `MIN_HEADINGS_SHARE` of the lines are headings; for most lists the first few lines show that they are
    not.
    """
    heading_count = len(lines)
    ends = {heading[-2:] for heading in headings}
    for line in lines:
        heading_count -= not _may_end_with(line, ends) or _strip_entry(line) not in headings
        if heading_count < MIN_HEADINGS_SHARE * len(lines):
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
    block_lines = text[block.start : block.end].splitlines()
    return [] if any(len(line) > MAX_ENTRY_LINE_CHARS for line in block_lines) else block_lines


def _strip_entry(line: str) -> str:
    """An entry or a heading in the form for comparison: without numbers, links, markup and pages."""
    line = line.strip()[:MAX_ENTRY_LINE_CHARS]
    if "](" in line:
        line = _TARGET.sub("", line)
    line = _NUMBERING.sub("", line.lstrip("["))
    if has_leaders(line):
        line = LEADER.sub("", line)
    return _SIGNS.sub(" ", line).strip().casefold()


def _is_trail(text: str, block: TextBlock) -> bool:
    """True if a paragraph is a breadcrumb trail: Home » Manual » Installing."""
    return (
        block.end - block.start <= MAX_ENTRY_LINE_CHARS and _CRUMBS.fullmatch(text, block.start, block.end) is not None
    )


def _announcing_lines(text: str, blocks: Sequence[TextBlock], navigation: Iterable[int]) -> Iterator[int]:
    """Short lines directly above contents, such as "Table of Contents"."""
    for index in navigation:
        above = blocks[index - 1] if index else None
        if above is None or above.kind != "paragraph" or above.heading != blocks[index].heading:
            continue
        label = text[above.start : min(above.end, above.start + SHORT_LABEL + 1)]
        if len(label) <= SHORT_LABEL and label.strip()[-1:] not in (*".!?。！？", ""):
            yield index - 1
