"""Comments of texts, and the names of the fields of their forms (content controls)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.core.lazy import lazy_module, regex
from assay.fetch.office.package import parse_xml
from assay.fetch.office.word_numbers import W
from assay.fetch.text_form import TextBuilder

if TYPE_CHECKING:
    from docx.document import Document
    from lxml import etree
else:
    etree = lazy_module("lxml.etree")

MAX_QUOTED_CHARS = 60
"""The most characters shown of what a comment is on."""
MAX_NAME_CHARS = 80
DAY_CHARS = len("2026-01-05")
_FURTHER = regex(r"(?<=\w)[.!?]\s.*\Z")
"""From the end of the first sentence on, so that a comment is one sentence with what it is on."""


class WordComments:
    """The comments of a document, each written below the block that refers to it."""

    def __init__(self, document: Document, text: Callable[[etree._Element], str]) -> None:
        self._comments: dict[str, etree._Element] = {}
        self._text = text
        for relation in document.part.rels.values():
            if relation.reltype.rpartition("/")[2] == "comments" and not relation.is_external:
                comments = parse_xml(relation.target_part.blob).iterchildren(f"{W}comment")
                self._comments |= {str(comment.get(f"{W}id")): comment for comment in comments}
        self._quoted = _quoted_texts(document.element.body) if self._comments else {}

    def write(self, block: etree._Element, builder: TextBuilder) -> None:
        """Write the comments to which a block refers."""
        for reference in block.iter(f"{W}commentReference") if self._comments else ():
            key = str(reference.get(f"{W}id"))
            if (comment := self._comments.pop(key, None)) is None:
                continue
            text = " ".join(self._text(comment).split())
            if text:
                author, date = (str(comment.get(f"{W}{name}", "")) for name in ("author", "date"))
                builder.paragraph(comment_line(text, author, date, self._quoted.get(key, "")))


def comment_line(text: str, author: str, date: str, quoted: str = "") -> str:
    """A comment with who made it, and on what, if that is known: `Comment by Ann (2026-01-05) on “the roof”: …`."""
    name, day = " ".join(author.split())[:MAX_NAME_CHARS], date.strip()[:DAY_CHARS]
    parts = ("Comment", name and f"by {name}", day and f"({day})", quoted and f"on “{quoted}”")
    return f"{' '.join(filter(None, parts))}: {text}"


def _quoted_texts(body: etree._Element) -> dict[str, str]:
    """The beginning of the text that each comment is on, by its id."""
    texts: dict[str, str] = {}
    unfinished: dict[str, str] = {}
    for node in body.iter(f"{W}commentRangeStart", f"{W}commentRangeEnd", f"{W}t", f"{W}p"):
        if node.tag == f"{W}commentRangeStart":
            unfinished[str(node.get(f"{W}id"))] = ""
        elif node.tag == f"{W}commentRangeEnd":
            key = str(node.get(f"{W}id"))
            texts[key] = unfinished.pop(key, texts.get(key, ""))
        elif text := " " if node.tag == f"{W}p" else node.text or "":
            for key in tuple(unfinished):
                unfinished[key] += text
                if len(unfinished[key]) > MAX_QUOTED_CHARS:
                    texts[key] = f"{unfinished.pop(key)[:MAX_QUOTED_CHARS].rstrip()}…"
    return {key: _FURTHER.sub("…", " ".join(text.split())).rstrip(".!?") for key, text in texts.items()}


def is_placeholder(control: etree._Element) -> bool:
    """True if a content control shows only what to enter."""
    return control.tag == f"{W}sdt" and control.find(f"{W}sdtPr/{W}showingPlcHdr") is not None


def control_name(paragraph: etree._Element) -> str:
    """The name of the content control that holds a whole paragraph, or is all of it; "" if there is none."""
    above = paragraph.getparent()
    outer = above.getparent() if above is not None and above.tag == f"{W}sdtContent" else None
    if outer is not None and above is not None and len(above) == 1:
        return _alias(outer)
    inside = [child for child in paragraph if child.tag != f"{W}pPr" and "".join(child.itertext()).strip()]
    return _alias(inside[0]) if len(inside) == 1 and inside[0].tag == f"{W}sdt" else ""


def _alias(control: etree._Element) -> str:
    name = control.find(f"{W}sdtPr/{W}alias")
    return "" if name is None else " ".join(str(name.get(f"{W}val", "")).split())[:MAX_NAME_CHARS]
