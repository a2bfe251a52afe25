"""What is asked of a page of a PDF, and where a passage stands on it; PDFium is not loaded for these."""

from __future__ import annotations

import msgspec


class PageAsked(msgspec.Struct, frozen=True, kw_only=True):
    """Page `number` (from 1): its picture, `width` dots wide; or, without a width, the places of a passage.

    `before` is what stands on the page before the passage: where its words come more than once, it tells which are
    meant.
    """

    number: int
    width: int = 0
    passage: str = ""
    before: str = ""


class PageBox(msgspec.Struct, frozen=True, kw_only=True):
    """A rectangle on a page, in shares of its width and height, from the upper left corner."""

    left: float
    top: float
    width: float
    height: float


class PagePlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Where a passage stands on page `number`, which is `width` by `height` points: a box for each line of it.

    Without boxes the page holds no letters there: it was scanned, or is printed in another order than it is read.
    """

    number: int
    width: float
    height: float
    boxes: tuple[PageBox, ...] = ()
