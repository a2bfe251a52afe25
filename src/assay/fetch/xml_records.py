"""XML of no vocabulary that is known as a tree of keys and values; property lists as what they hold."""

from __future__ import annotations

import plistlib
import re
from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING
from xml.parsers.expat import ExpatError

from assay.core.lazy import lazy_module, regex
from assay.fetch.data_trees import MAX_DEPTH, DataBranch, DataEntry, tree_of
from assay.fetch.xml_documents import ROOT, SNIFFED_CHARS, element_name, replace_entities

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = lazy_module("lxml.etree")

_COMMENT = regex(r"<!--((?:(?!-->).)*+)-->", re.DOTALL)
_BARE_SIGN = regex(r"&(?!#?\w{1,30};)")
"""An ampersand that should have been escaped, and often is not."""
_SCHEMA = "{http://www.w3.org/2001/XMLSchema-instance}"
_PLIST_ERRORS = (ValueError, AttributeError, IndexError, ArithmeticError, ExpatError)
"""What the library raises for property lists that are not built as it expects."""


def read_xml(text: str) -> DataBranch | None:
    """The tree of XML; None if it is none, or too deep."""
    root = ROOT.match(text[:SNIFFED_CHARS])
    if root is None:
        return None
    if root["name"] == "plist":
        return _property_list(text)
    start = root.start("root")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    elements = _BARE_SIGN.sub("&amp;", replace_entities(text, start))
    try:
        tree = _branch([etree.fromstring(elements.encode(), parser)], 0)
    except (etree.XMLSyntaxError, ValueError):
        return None
    tree.entries[0].comments = [" ".join(match[1].split()) for match in _COMMENT.finditer(text, 0, start)]
    return tree


def _property_list(text: str) -> DataBranch | None:
    """The tree of a property list of Apple's, without its comments."""
    try:
        tree = tree_of(plistlib.loads(text.encode(), fmt=plistlib.FMT_XML))
    except _PLIST_ERRORS:
        return None
    return tree if isinstance(tree, DataBranch) else None


def _branch(nodes: Iterable[etree._Element], depth: int) -> DataBranch:
    """What elements hold: those of one name that follow one another are a list."""
    if depth > MAX_DEPTH:
        raise ValueError("too deep")
    branch, comments = DataBranch(), list[str]()
    for name, group in groupby(nodes, element_name):
        same = list(group)
        if not name:
            comments += [" ".join((node.text or "").split()) for node in same if node.tag is etree.Comment]
            continue
        entries = [_list(name, same, depth)] if len(same) > 1 else _element(name, same[0], depth)
        entries[0].comments, comments = comments, []
        branch.entries += entries
    branch.comments = comments
    return branch


def _element(name: str, node: etree._Element, depth: int) -> list[DataEntry]:
    """The entries of a single element: its text, and its attributes beside that."""
    attributes, value = _attributes(node), _value(node, depth)
    if isinstance(value, str) and value:
        return [DataEntry(name, value), *(DataEntry(f"{name}.{each.key}", each.value) for each in attributes)]
    return [DataEntry(name, _with_attributes(attributes, value) if attributes or value else "")]


def _list(name: str, nodes: list[etree._Element], depth: int) -> DataEntry:
    items: list[DataEntry] = []
    values = [(_attributes(node), _value(node, depth)) for node in nodes]
    is_plain = all(isinstance(value, str) and not attributes for attributes, value in values)
    for attributes, value in values:
        if is_plain:
            items.append(DataEntry("", value))
            continue
        text = [DataEntry(name, value)] if isinstance(value, str) and value else []
        items.append(DataEntry("", _with_attributes([*attributes, *text], value)))
    return DataEntry(name, DataBranch(items, is_list=True))


def _with_attributes(attributes: list[DataEntry], value: str | DataBranch) -> DataBranch:
    if isinstance(value, str):
        return DataBranch(attributes)
    return DataBranch([*attributes, *value.entries], comments=value.comments)


def _value(node: etree._Element, depth: int) -> str | DataBranch:
    """What an element holds: its text if there is some beside its elements, else these."""
    children = node.getchildren()
    own_text = " ".join("".join([node.text or "", *(child.tail or "" for child in children)]).split())
    if not any(map(element_name, children)):
        return own_text
    return " ".join(str(node.xpath("string()")).split()) if own_text else _branch(children, depth + 1)


def _attributes(node: etree._Element) -> list[DataEntry]:
    named = ((str(name), str(value)) for name, value in node.items())
    return [DataEntry(name.rpartition("}")[2], value) for name, value in named if not name.startswith(_SCHEMA)]
