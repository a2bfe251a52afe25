"""Whether what a claim puts in quotation marks stands in the evidence, word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from assay.core.scanner import scan
from assay.core.sources import Passage
from assay.verify.evidence import Evidence
from assay.verify.findings import Finding, Slot
from assay.verify.plain import plain


class Quote(msgspec.Struct, frozen=True):
    """A quotation; `places` are where its parts stand: passage id and code points `[start, end)` of its text."""

    text: str
    places: tuple[tuple[str, int, int], ...] = ()

    @property
    def found(self) -> bool:
        return bool(self.places)


_PAIRS = re.compile(
    r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|»([^«»]+)«|「([^「」]+)」|『([^『』]+)』|"
    r"(?<![\w\d])\"([^\"]+)\"(?!\w)"
)
_LEFT_OUT = re.compile(r"\s*(?:\[[^\]]*\]|\(\.\.\.\)|\.\.\.)\s*")
_EDGES = " .,;:!?"


def find(claim: str, evidence: Evidence) -> Iterator[Finding]:
    """A finding for each quotation of the claim; one which stands nowhere in the evidence is a veto."""
    for quote in quotes(claim, evidence.passages, evidence.names()):
        at = max(0, claim.find(quote.text))
        yield Finding(
            rule="quote",
            slot=Slot(quote.text, at, at + len(quote.text)),
            outcome="stated" if quote.found else "absent",
            passage=quote.places[0][0] if quote.found else "",
            veto=not quote.found,
        )


def quotes(claim: str, passages: Sequence[Passage], names: Sequence[str] = ()) -> tuple[Quote, ...]:
    """The quotations of `claim`, each with where it stands in one of `passages`.

    They are compared after Unicode normalisation, without Markdown; case counts. What is left out ("...") or put in
    ("[sic]") divides a quotation into parts, which must follow one another in one passage. In what looks like a title
    case does not count, and one of `names` (the cited documents' titles) may be quoted too.
    """
    return tuple(_find(quote, passages, names) for quote in _quoted(claim))


def _quoted(claim: str) -> Iterator[str]:
    """What stands between quotation marks; marks inside code and links are none."""
    marks = "".join(
        claim[token.start : token.end] if token.kind == "text" else "x" * (token.end - token.start)
        for token in scan(claim)
    )
    for match in _PAIRS.finditer(marks):
        group = next(at for at, text in enumerate(match.groups(), 1) if text is not None)
        quote = claim[match.start(group) : match.end(group)]
        if any(sign.isalnum() for sign in quote):
            yield quote.strip()


def _find(quote: str, passages: Sequence[Passage], names: Sequence[str]) -> Quote:
    parts = [part.strip(_EDGES) for part in _LEFT_OUT.split(plain(quote).text)]
    parts = [part for part in parts if any(sign.isalnum() for sign in part)]
    for passage in passages:
        places = _places(parts, passage)
        if places:
            return Quote(quote, places)
    title = " ".join(parts)
    if _is_title(title):
        for passage in passages:
            at = plain(passage.text).text.casefold().find(title.casefold())
            if at >= 0:
                return Quote(quote, ((passage.id, *plain(passage.text).place(at, at + len(title))),))
    named = any(title in plain(name).text for name in names)
    return Quote(quote, ((passages[0].id, 0, 0),) if named and passages else ())


def _is_title(text: str) -> bool:
    """Whether it looks like what something is called: a few words, each with a capital but the small ones."""
    found = text.split()
    return len(found) <= 6 and all(word[:1].isupper() or len(word) <= 3 for word in found)


def _places(parts: Sequence[str], passage: Passage) -> tuple[tuple[str, int, int], ...]:
    """Where `parts` stand in `passage`, in order and as whole words; empty when one does not."""
    text = plain(passage.text)
    places = []
    at = 0
    for part in parts:
        match = re.compile(rf"(?<!\w){re.escape(part)}(?!\w)" if part.isascii() else re.escape(part)).search(
            text.text, at
        )
        if match is None:
            return ()
        places.append((passage.id, *text.place(match.start(), match.end())))
        at = match.end()
    return tuple(places)
