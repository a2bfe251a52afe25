"""A report as it leaves the writer."""

from __future__ import annotations

import msgspec


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A report as written, with passage markers, and what its reader must know.

    `researched` says that sources were looked for, `sourced` that the text claims to rest on some; `written`, that a
    model wrote it to its end; `composed`, that code made it of records, which have to go on saying what it says.
    `streamed` is the text as it streamed, where its claims were found meanwhile: they keep their ids. `found` says that
    it answers: a text which only shows what is nearest to the question cites something too.
    """

    text: str
    limits: tuple[str, ...] = ()
    researched: bool = True
    sourced: bool = True
    written: bool = True
    composed: bool = False
    streamed: str = ""
    found: bool = True
