"""Numbers of headings and items, which OpenDocument programs show and their texts do not hold."""

from __future__ import annotations

import io
from typing import Any

from odf import text
from odf.opendocument import OpenDocumentText

from assay.fetch.office.open_formats import OdtExtractor


def levels(style: Any, make: Any, *kinds: dict[str, Any]) -> Any:
    for depth, kind in enumerate(kinds, 1):
        style.addElement(make(level=depth, **kind))
    return style


def listed(*items: Any, **facts: Any) -> Any:
    """A list of texts, each alone or with the list below it."""
    made = text.List(**facts)
    for content in items:
        words, below, start = content if isinstance(content, tuple) else (content, None, None)
        item = text.ListItem(startvalue=start) if start else text.ListItem()
        item.addElement(text.P(text=words))
        if below is not None:
            item.addElement(below)
        made.addElement(item)
    return made


def read(made: Any) -> str:
    packed = io.BytesIO()
    made.save(packed)
    (found,) = OdtExtractor().extract(packed.getvalue(), "a.odt")
    return found.text


def test_headings_have_the_numbers_of_their_levels():
    made = OpenDocumentText()
    number = {"numformat": "1"}
    outline = levels(
        text.OutlineStyle(name="Outline"),
        text.OutlineLevelStyle,
        number | {"numsuffix": "."},
        number | {"displaylevels": 2},
        {"numformat": ""},
    )
    made.styles.addElement(outline)
    for name, depth in (("Parties", 1), ("Term", 1), ("Start", 2), ("Termination", 2), ("Aside", 3), ("Notices", 1)):
        made.text.addElement(text.H(outlinelevel=depth, text=name))
    made.text.addElement(text.H(outlinelevel=1, islistheader="true", text="Annex"))
    assert [line for line in read(made).split("\n") if line] == [
        *("# 1. Parties", "# 2. Term", "## 2.1 Start", "## 2.2 Termination", "### Aside", "# 3. Notices", "# Annex"),
    ]


def test_items_have_the_numbers_of_their_lists():
    made = OpenDocumentText()
    kinds = (
        {"numformat": "1", "numsuffix": ".", "startvalue": 5},
        {"numformat": "a", "numprefix": "(", "numsuffix": ")"},
    )
    made.automaticstyles.addElement(levels(text.ListStyle(name="L"), text.ListLevelStyleNumber, *kinds))
    made.automaticstyles.addElement(levels(text.ListStyle(name="B"), text.ListLevelStyleBullet, {"bulletchar": "•"}))
    inner = listed("inner", "second")
    made.text.addElement(listed(("first", inner, None), "next", ("tenth", None, 10), stylename="L"))
    made.text.addElement(text.P(text="Between."))
    made.text.addElement(listed("goes on", stylename="L", continuenumbering="true"))
    made.text.addElement(text.P(text="Between."))
    made.text.addElement(listed("anew", stylename="L"))
    made.text.addElement(text.P(text="Between."))
    made.text.addElement(listed("bullet", stylename="B"))
    assert [line for line in read(made).split("\n") if line and line != "Between."] == [
        *("- 5. first", "  - (a) inner", "  - (b) second", "- 6. next", "- 10. tenth"),
        *("- 11. goes on", "- 5. anew", "- bullet"),
    ]
