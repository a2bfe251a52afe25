"""HTML to the text form: headings, items, table rows and code, nothing that a reader of the page would not see."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

DROPPED = frozenset(
    "script style noscript template svg math iframe object embed canvas audio video nav form button select input"
    " textarea head link meta dialog".split()
)
BLOCKS = frozenset(
    "html body main article section div p blockquote figure figcaption header footer aside address details summary"
    " ul ol dl dd center fieldset hgroup table thead tbody tfoot tr td th caption".split()
)
HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
NOISE = frozenset(
    "headerlink navheader navfooter sphinxsidebar breadcrumb breadcrumbs id_link skiplink skip-link sr-only"
    " visually-hidden screen-reader-text mw-editsection noprint".split()
)
"""Classes of what is no text."""
NOISE_ROLES = frozenset(("navigation", "search", "banner"))
INNER_BLOCKS = "table, ul, ol, dl, pre, h1, h2, h3, h4"


def to_markdown(root: LexborNode) -> str:
    """The visible text below `root`.

    A definition's term and the start of its description are one item. Deep nesting is walked, not recursed.
    """
    writer = _Writer()
    above: list[tuple[LexborNode, str]] = []
    at: LexborNode | None = root
    while at is not None:
        tag = at.tag or ""
        if writer.enter(at, tag):
            above.append((at, tag))
            at = at.child
        else:
            at = at.next if above else None
        while at is None and above:
            left, tag = above.pop()
            writer.leave(tag)
            at = left.next if above else None
    return writer.finish()


def plain(node: LexborNode) -> str:
    """The visible text of one node on one line."""
    return " ".join(node.text(deep=True).split())


class _Writer:
    """Collects inline text and writes it out as a block wherever one ends."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.inline: list[str] = []
        self.prefix = ""
        self.joined = False
        self.lists: list[str] = []

    def enter(self, node: LexborNode, tag: str) -> bool:
        """Take a node in; False when its children are not to be walked."""
        if tag == "-text":
            self.inline.append(node.text_content or "")
            return False
        if tag.startswith("-") or tag == "!doctype":
            return tag == "-document"
        if tag in DROPPED or _hidden(node):
            return False
        if tag == "pre":
            self._code(node)
            return False
        if tag == "table" and _is_data(node):
            self._table(node)
            return False
        self._open(tag)
        return True

    def _open(self, tag: str) -> None:
        """Begin an element which is walked into."""
        if tag == "br":
            self.inline.append(" ")
        elif tag in HEADINGS:
            self._flush()
            self.prefix = HEADINGS[tag]
        elif tag in ("li", "dt"):
            self._flush()
            self.prefix = "  " * max(len(self.lists) - 1, 0) + "- "
        elif tag in BLOCKS:
            self._flush()
        if tag in ("ul", "ol", "dl"):
            self.lists.append(tag)

    def leave(self, tag: str) -> None:
        if tag in ("ul", "ol", "dl"):
            self._flush()
            self.joined = False
            self.lists = self.lists[:-1]
        if tag == "dt":
            self._flush()
            self.joined = True
        elif tag in BLOCKS or tag in HEADINGS or tag == "li":
            self._flush()

    def finish(self) -> str:
        self._flush()
        return "".join(self.blocks).strip() + "\n"

    def _flush(self) -> None:
        if not self.inline:
            return
        text = " ".join("".join(self.inline).split())
        self.inline.clear()
        if not text:
            return
        if self.joined and not self.prefix and self.blocks:
            self._write("  " * len(self.lists) + text, gap="\n")
        else:
            self._write(self.prefix + text, gap="\n" if self.prefix.endswith("- ") and self._in_list() else "\n\n")
        self.prefix = ""
        self.joined = False

    def _in_list(self) -> bool:
        return bool(self.blocks) and self.blocks[-1].lstrip().startswith("- ")

    def _write(self, text: str, gap: str) -> None:
        self.blocks.append((gap if self.blocks else "") + text)

    def _code(self, node: LexborNode) -> None:
        self._flush()
        text = node.text(deep=True).strip("\n").rstrip()
        if text.strip():
            longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
            fence = "`" * max(3, longest + 1)
            self._write(f"{fence}\n{text}\n{fence}", gap="\n\n")
        self.joined = False

    def _table(self, node: LexborNode) -> None:
        self._flush()
        gap = "\n\n"
        for caption in node.css("caption"):
            self._write(plain(caption), gap="\n\n")
        for row in node.css("tr"):
            cells = [plain(cell).replace("|", "\\|") for cell in row.css("td, th")]
            if any(cells):
                self._write("| " + " | ".join(cells) + " |", gap=gap)
                gap = "\n"
        self.joined = False


def _hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style, classes = attributes.get("style"), attributes.get("class")
    if style and HIDDEN.search(style):
        return True
    if classes and not NOISE.isdisjoint(classes.lower().split()):
        return True
    return attributes.get("role") in NOISE_ROLES


def _is_data(table: LexborNode) -> bool:
    """Whether a table holds data: several cells in a row and no blocks inside, else it is there for the layout."""
    if table.attributes.get("role") == "presentation":
        return False
    inner = table.css(INNER_BLOCKS)
    if any(found.mem_id != table.mem_id for found in inner):
        return False
    return any(len(row.css("td, th")) > 1 for row in table.css("tr"))
