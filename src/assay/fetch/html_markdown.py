"""Converts HTML to the text form: headings, items, table rows and code, without anything a reader would not see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.core.lazy import regex
from assay.core.tables.heads import read_head
from assay.fetch.html_tables import node_text, resolve_raised, table_grid
from assay.fetch.list_numbers import number_items
from assay.fetch.text_form import FIELD_LINE

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_TAG_DEPTH = 512
"""The most open blocks; browsers have the same limit."""
MAX_TAGS = 10_000
"""Tags of a page out of which code takes elements to look at it, but not to read it: that takes the square of their
depth, and the tags of a page made to harm all lie within each other.
"""
_BLOCKS = (
    "a(?:ddress|rticle|side)|blockquote|center|d(?:etails|ialog|ir|iv|l)|f(?:ieldset|igcaption|igure|ooter|orm)"
    "|h(?:eader|group)|m(?:ain|enu)|nav|ol|s(?:earch|ection|ummary)|table|ul"
)
_TAG = regex(rf"<(/?)(?=[abcdfhmnostu])(?:{_BLOCKS})(?=[\s/>])[^<>]*>?", re.IGNORECASE)
"""By first letters: most tags are no blocks, and are left at once."""


def limit_nesting(page: str) -> str:
    """`page` without the tags of blocks nested more than `MAX_TAG_DEPTH` deep; their text stays."""
    if page.count("<") <= MAX_TAG_DEPTH:
        return page
    pieces, position = list[str](), 0
    for start, end in _deep_tags(page):
        pieces.append(page[position:start])
        position = end
    return "".join([*pieces, page[position:]]) if pieces else page


def _deep_tags(page: str) -> Iterator[tuple[int, int]]:
    """The places of tags that open a block too many, and of the matching closing tags."""
    depth = 0
    for tag in _TAG.finditer(page):
        if tag[1]:
            beyond, depth = depth > MAX_TAG_DEPTH, max(0, depth - 1)
        else:
            beyond, depth = depth >= MAX_TAG_DEPTH, depth + 1
        if beyond:
            yield tag.span()


DROPPED_TAGS = frozenset(
    "script style noscript template svg math iframe object embed canvas audio video nav form button select input"
    " textarea head link meta dialog".split()
)
BLOCK_TAGS = frozenset(
    "html body main article section div p blockquote figure figcaption header footer aside address details summary"
    " ul ol dl dd center fieldset hgroup table thead tbody tfoot tr td th caption".split()
)
CODE_TAGS = frozenset(("code", "tt", "kbd", "samp"))
HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
HIDDEN_STYLE = regex(
    r"display\s*:\s*none|visibility\s*:\s*hidden"
    r"|(?<![\w-])(?:left|top|text-indent)\s*:\s*-(?:\d{4,}|\d{3,}em)|(?<![\w-])clip\s*:\s*rect\(\s*[01](?:px)?[\s,]",
    re.IGNORECASE,
)
"""Text that no reader sees, also far outside the page. Not what scripts or inner elements show: opacity, size 0."""
NOISE_CLASSES = frozenset(
    "headerlink navheader navfooter sphinxsidebar breadcrumb breadcrumbs id_link skiplink skip-link sr-only"
    " visually-hidden screen-reader-text mw-editsection noprint".split()
)
"""Classes of elements that are not text."""
NOISE_ROLES = frozenset(("navigation", "search", "banner"))
INNER_BLOCKS = "table, ul, ol, dl, pre, h1, h2, h3, h4"

LINE_BREAK = "\v"
MAX_INDENT_LEVEL = 12
"""Levels to which items are indented; deeper ones are not indented further, or a page of nested lists would grow
quadratically.
"""
MAX_LINK_CHARS = 300
MAX_LETTERS_BESIDE = 0.1
"""Letters beside the links of a cell, as a share of the links' letters, that may be initials of an index."""
ANCHORS = "§¶# "
"""Characters with which documentation tools link to a heading."""
_SPACES = regex(r"[\s()<>]+")


def to_markdown(root: LexborNode, *, links: bool = False) -> str:
    """The visible text below `root`; with `links`, also the addresses of entries that are only links. Removes the
    marks of footnotes from the tree, and adds the numbers of items to it.

    A definition's term and the beginning of its description form one item, and what follows in it is indented. If the
    first row of a table has only heads, a line follows it. The walk through deep nesting does not recurse.
    """
    resolve_raised(root)
    number_items(root)
    writer = _Writer(_layouts(root), links=links)
    above: list[tuple[LexborNode, str]] = []
    node: LexborNode | None = root
    while node is not None:
        tag = node.tag or ""
        if writer.enter(node, tag):
            above.append((node, tag))
            node = node.child
        else:
            node = node.next if above else None
        while node is None and above:
            parent, tag = above.pop()
            writer.leave(tag)
            node = parent.next if above else None
    return writer.finish()


class _Writer:
    """Collects inline text, and writes it as a block wherever one ends."""

    def __init__(self, layouts: frozenset[int], *, links: bool) -> None:
        self.layouts = layouts
        self.blocks: list[str] = []
        self.inline: list[str] = []
        self.links = links
        self.link_spans: list[tuple[int, int, str]] = []
        self.link: tuple[int, str] | None = None
        self.code = -1
        self.prefix = ""
        self.after_term = False
        self.lists: list[str] = []

    def enter(self, node: LexborNode, tag: str) -> bool:
        """Enter a node; False if its children are to be skipped."""
        if tag == "-text":
            self.inline.append(node.text_content or "")
            return False
        if tag.startswith("-") or tag == "!doctype":
            return tag == "-document"
        if tag in DROPPED_TAGS or _is_hidden(node):
            return False
        if tag == "pre":
            self._write_code(node)
            return False
        if tag == "table" and self._is_data(node):
            self._write_table(node)
            return False
        if tag == "a" and self.links and (address := _address(node)):
            self.link = (len(self.inline), address)
        elif tag in CODE_TAGS and self.code < 0 and not self.prefix.startswith("#"):
            self.code = len(self.inline)
            self.inline.append("`")
        self._open(tag)
        return True

    def _open(self, tag: str) -> None:
        """Begin an element whose children are visited."""
        if tag == "br":
            self.inline.append(LINE_BREAK)
        elif tag in HEADINGS:
            self._flush()
            self.prefix = HEADINGS[tag]
        elif tag in ("li", "dt"):
            self._flush()
            self.prefix = "  " * min(max(len(self.lists) - 1, 0), MAX_INDENT_LEVEL) + "- "
        elif tag in BLOCK_TAGS:
            self._flush()
        if tag in ("ul", "ol", "dl"):
            self.lists.append(tag)

    def _is_data(self, table: LexborNode) -> bool:
        """True if a table holds data: several cells in a row and no blocks inside; otherwise it is for layout."""
        if table.attributes.get("role") == "presentation" or table.mem_id in self.layouts:
            return False
        return any(len(row.css("td, th")) > 1 for row in table.css("tr"))

    def leave(self, tag: str) -> None:
        if tag == "a":
            self._end_link()
        elif tag in CODE_TAGS:
            self._end_code()
        if tag in ("ul", "ol", "dl"):
            self._flush()
            self.after_term = False
            del self.lists[-1:]
        if tag == "dt":
            self._flush()
            self.after_term = True
        elif tag in BLOCK_TAGS or tag in HEADINGS or tag == "li":
            self._flush()

    def finish(self) -> str:
        self._flush()
        return "".join(self.blocks).strip() + "\n"

    def _end_link(self) -> None:
        """End a link, or the part of it before a block."""
        if self.link is not None:
            start, address = self.link
            self.link_spans.append((start, len(self.inline), address))
            self.link = None

    def _end_code(self) -> None:
        """End inline code; blank code, or code with a backtick, is not marked."""
        if self.code >= 0:
            code = "".join(self.inline[self.code + 1 :])
            if code.strip() and "`" not in code:
                self.inline.append("`")
            else:
                self.inline[self.code] = ""
            self.code = -1

    def _collected_line(self) -> str:
        """The collected text on one line; as links if it is only links, and on several lines if they are fields."""
        collected = "".join(self.inline)
        if LINE_BREAK in collected and not self.prefix:
            lines = [" ".join(line.split()) for line in collected.strip().split(LINE_BREAK)]
            if len(lines) > 1 and all(map(FIELD_LINE.fullmatch, lines)):
                return f"\n{self._list_indent()}".join(lines)
        text = " ".join(collected.split())
        if self.link_spans and text and not self.prefix.startswith("#"):
            pieces: list[str] = []
            position = 0
            for start, end, address in self.link_spans:
                text_between = "".join(self.inline[position:start])
                content = " ".join("".join(self.inline[start:end]).split())
                if any(map(str.isalpha, text_between)):
                    return text
                pieces += [text_between, f"[{content}]({address})" if content else ""]
                position = end
            rest = "".join(self.inline[position:])
            if not any(map(str.isalpha, rest)):
                return " ".join("".join((*pieces, rest)).split())
        return text

    def _flush(self) -> None:
        if not self.inline:
            return
        open_link = self.link
        self._end_link()
        self._end_code()
        text = self._collected_line()
        self.inline.clear()
        self.link_spans.clear()
        if open_link is not None:
            self.link = (0, open_link[1])
        if self.prefix.startswith("#"):
            text = text.strip(ANCHORS)
        if not text:
            return
        if self.after_term and not self.prefix and self.blocks:
            self._write(self._list_indent() + text, gap="\n")
        elif self.lists and not self.prefix:
            self._write(self._list_indent() + text, gap="\n\n")
        else:
            self._write(self.prefix + text, gap="\n" if self.prefix.endswith("- ") and self._in_list() else "\n\n")
        self.prefix = ""
        self.after_term = False

    def _list_indent(self) -> str:
        return "  " * min(len(self.lists), MAX_INDENT_LEVEL + 1)

    def _in_list(self) -> bool:
        return bool(self.blocks) and self.blocks[-1].lstrip().startswith("- ")

    def _write(self, text: str, gap: str) -> None:
        self.blocks.append((gap if self.blocks else "") + text)

    def _write_code(self, node: LexborNode) -> None:
        self._flush()
        text = node.text(deep=True).strip("\n").rstrip()
        if text.strip():
            longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
            fence = "`" * max(3, longest + 1)
            inside = self._list_indent()
            self._write(f"{inside}{fence}\n{text}\n{inside}{fence}", gap="\n\n")
        self.after_term = False

    def _write_table(self, node: LexborNode) -> None:
        self._flush()
        gap = "\n\n"
        for caption in node.css("caption"):
            self._write(node_text(caption), gap="\n\n")
        rows = table_grid(node)
        link_rows = table_grid(node, _links) if self.links else rows
        names, end = read_head([] if self.links else rows)
        if end > 1:
            rows, link_rows = [names, *rows[end:]], [names, *link_rows[end:]]
        first = node.css_first("tr")
        heads = [] if first is None else first.css("td, th")
        has_header = len(heads) > 1 and all(cell.tag == "th" for cell in heads)
        for index, (cells, links) in enumerate(zip(rows, link_rows, strict=True)):
            if not any(cells):
                continue
            only = self.links and all(link or not cell for link, cell in zip(links, cells, strict=True))
            row = links if only else [cell.replace("|", "\\|") for cell in cells]
            self._write("| " + " | ".join(row) + " |", gap=gap)
            gap = "\n"
            if has_header and index == 0:
                self._write("|" + "---|" * len(cells), gap=gap)
        self.after_term = False


def _links(cell: LexborNode) -> str:
    """The links of a cell with hardly a letter beside them; else ""."""
    links = [(node_text(link).replace("|", "\\|"), _address(link)) for link in cell.css("a[href]")]
    inside = sum(map(_letter_count, (text for text, _ in links)))
    if not inside or _letter_count(node_text(cell)) - inside > MAX_LETTERS_BESIDE * inside:
        return ""
    return " ".join(f"[{text}]({address})" if address else text for text, address in links if text)


def _letter_count(text: str) -> int:
    return sum(map(str.isalpha, text))


def _address(link: LexborNode) -> str:
    """A link's address in a form safe in Markdown; "" if it leads nowhere."""
    address = _SPACES.sub("", link.attributes.get("href") or "")[:MAX_LINK_CHARS]
    return "" if address.lower().startswith(("javascript:", "data:")) else address


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style, classes = attributes.get("style"), attributes.get("class")
    if style and HIDDEN_STYLE.search(style):
        return True
    if classes and not NOISE_CLASSES.isdisjoint(classes.lower().split()):
        return True
    return attributes.get("role") in NOISE_ROLES


def _layouts(root: LexborNode) -> frozenset[int]:
    """The tables with blocks inside; each is found once, however deeply they are nested."""
    layouts, seen = set[int](), set[int]()
    for block in root.css(INNER_BLOCKS):
        above = block.parent
        while above is not None and above.mem_id not in seen:
            seen.add(above.mem_id)
            if above.tag == "table":
                layouts.add(above.mem_id)
            above = above.parent
    return frozenset(layouts)
