"""The verdicts on the claims of a text: each held against the documents it cites, by all that needs no model."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence

import msgspec

from assay.core.claims import Check, Summary, Verdict, summarize
from assay.core.claims import Claim as Counted
from assay.core.sources import Document, Passage, Source, Span
from assay.evidence.ledger import passage_of
from assay.verify import gate
from assay.verify.checks import NO_CITATION, check
from assay.verify.claims import Sentence, claims
from assay.verify.evidence import Evidence
from assay.verify.rows import compared
from assay.verify.texts.marked import Marked, Reference
from assay.verify.texts.picking import Picker
from assay.verify.verbatim import verbatim

SILENT = Check(rule="citation", verdict="unsupported", reason="the cited document shares no word with it")


class CheckedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the text which states a fact, and the verdict on it.

    `text` is without citations; `[start, end)` are code points of the text as it was given, `line` counts from 1.
    `references` and `passages` are ids; `rule` is as in `claim.checked`.
    """

    id: str
    text: str
    line: int
    start: int
    end: int
    verdict: Verdict
    rule: str
    reason: str
    references: tuple[str, ...]
    passages: tuple[str, ...]


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """A reference of the text, and the addresses of the documents it names; none where it names none of those given.

    `label` is what the text has in brackets, empty for a link; `listed` says whether its list has that label.
    """

    id: str
    label: str
    url: str
    title: str
    listed: bool
    documents: tuple[str, ...]


class CheckedText(msgspec.Struct, frozen=True, kw_only=True):
    """What was found: `uncited` counts the claims which cite nothing; `passages` are those claims were held against."""

    claims: tuple[CheckedClaim, ...]
    references: tuple[Named, ...]
    passages: tuple[Passage, ...]
    summary: Summary
    uncited: int

    @property
    def share(self) -> float:
        """The share of the claims which are supported, 1 where there are none."""
        return self.summary.supported / self.summary.claims if self.claims else 1.0


class Shelf(msgspec.Struct, frozen=True, kw_only=True):
    """How the documents are got at: those a reference names, their passages and their texts (blocking)."""

    find: Callable[[Reference], tuple[Document, ...]]
    spans: Callable[[Document], Sequence[Span]]
    text_of: gate.TextOf


class _Cited(msgspec.Struct, frozen=True):
    """A claim with the passages picked for it; `lent` are those of the next citation of its block."""

    sentence: Sentence
    references: tuple[Reference, ...]
    passages: tuple[Passage, ...]
    lent: bool = False


def check_text(text: str, marked: Marked, shelf: Shelf, off: Collection[str] = ()) -> CheckedText:
    """Check every claim of `text`, which `marked` is with markers; rules in `off` are not asked.

    Raises:
        StoreError: a document's text is not there, or damaged.
    """
    desk = _Desk(marked, shelf)
    found = desk.cited(claims(marked.text))
    picked = {passage.id: passage for each in found for passage in each.passages}
    held = gate.documents(picked, shelf.text_of)
    cut = (frozenset(held.cut_before), frozenset(held.cut_after))
    starts = [0, *(at + 1 for at, sign in enumerate(text) if sign == "\n")]
    checked: list[CheckedClaim] = []
    for each in found:
        evidence = Evidence(passages=each.passages, sources=desk.sources, cut_before=cut[0], cut_after=cut[1])
        result = _verdict(each, evidence, desk, off)
        start, end = marked.origin(each.sentence.start), marked.origin(each.sentence.end)
        checked.append(_checked(each, result, start, end, bisect_right(starts, start)))
    return CheckedText(
        claims=tuple(checked),
        references=tuple(desk.named(reference) for reference in marked.references),
        passages=tuple(picked.values()),
        summary=summarize(Counted(id=c.id, text=c.text, start=c.start, end=c.end, verdict=c.verdict) for c in checked),
        uncited=sum(not claim.references and claim.verdict != "supported" for claim in checked),
    )


def _checked(each: _Cited, result: Check, start: int, end: int, line: int) -> CheckedClaim:
    return CheckedClaim(
        id=each.sentence.id,
        text=each.sentence.text,
        line=line,
        start=start,
        end=max(start, end),
        verdict=result.verdict,
        rule=result.rule,
        reason=result.reason,
        references=() if each.lent else tuple(reference.id for reference in each.references),
        passages=tuple(passage.id for passage in each.passages),
    )


class _Desk:
    """The references of a text with their documents and passages, looked up when they are first asked for."""

    def __init__(self, marked: Marked, shelf: Shelf) -> None:
        self.sources: dict[str, Source] = {}
        self._references = {reference.id: reference for reference in marked.references}
        self._documents = {reference.id: shelf.find(reference) for reference in marked.references}
        self._pickers: dict[str, Picker] = {}
        self._shelf = shelf

    def has(self, reference: Reference) -> bool:
        """Whether there is a document for it."""
        return bool(self._documents[reference.id])

    def named(self, reference: Reference) -> Named:
        return Named(
            id=reference.id,
            label=reference.label,
            url=reference.url,
            title=reference.title,
            listed=reference.is_defined,
            documents=tuple(document.url for document in self._documents[reference.id]),
        )

    def cited(self, found: Sequence[Sentence]) -> list[_Cited]:
        """Each claim with the passages picked for it.

        A claim without a citation which stands word for word in what the next citation of its block names has that.
        """
        cited: list[_Cited] = []
        following: tuple[int, tuple[Reference, ...]] = (-1, ())
        for sentence in reversed(found):
            names = dict.fromkeys(id for marker in sentence.markers for id in marker.ids)
            own = tuple(self._references[id] for id in names)
            if own:
                following = (sentence.block, own)
            lent = following[1] if not own and following[0] == sentence.block else ()
            cited.append(self._picked(sentence, own or lent, lent=bool(lent)))
        return cited[::-1]

    def _picked(self, sentence: Sentence, references: tuple[Reference, ...], *, lent: bool) -> _Cited:
        passages = tuple(passage for each in references for passage in self._picker(each).pick(sentence.text))
        if lent:
            passages = tuple(p for p in (verbatim(sentence.text, Evidence(passages=passages, sources={})),) if p)
        return _Cited(sentence, references if passages or not lent else (), passages, lent)

    def _picker(self, reference: Reference) -> Picker:
        if reference.id not in self._pickers:
            self._pickers[reference.id] = Picker(list(self._passages(reference)))
        return self._pickers[reference.id]

    def _passages(self, reference: Reference) -> list[Passage]:
        found: list[Passage] = []
        for at, document in enumerate(self._documents[reference.id]):
            source = reference.id if at == 0 else f"{reference.id}{at:06d}"
            self.sources[source] = _source(source, document)
            found.extend(passage_of(source, document, span) for span in self._shelf.spans(document))
        return found


def _source(id: str, document: Document) -> Source:
    return Source(
        id=id,
        document_sha256=document.sha256,
        snapshot_sha256=document.snapshot_sha256,
        url=document.url,
        title=document.title,
        media_type=document.media_type,
        fetched_at=document.fetched_at,
        metadata=document.metadata,
        author=document.author,
        published=document.published,
    )


def _verdict(each: _Cited, evidence: Evidence, desk: _Desk, off: Collection[str]) -> Check:
    if not each.references:
        return NO_CITATION
    missing = [reference for reference in each.references if reference.is_defined and not desk.has(reference)]
    if not any(desk.has(reference) for reference in each.references):
        return _absent(missing, each.references)
    sentence = each.sentence
    table = compared(sentence.text, sentence.head, evidence, off)
    result = table or (check(sentence.text, evidence, marked=True, off=off) if evidence.passages else SILENT)
    return _absent(missing, ()) if missing and result.verdict in ("unsupported", "unchecked") else result


def _absent(missing: Sequence[Reference], references: Sequence[Reference]) -> Check:
    """What cites documents which were not given cannot be checked; what the list of references lacks is none."""
    if missing:
        named = ", ".join(_called(reference) for reference in missing)
        return Check(rule="citation", verdict="unchecked", reason=f"not available: {named}")
    named = ", ".join(_called(reference) for reference in references)
    return Check(rule="citation", verdict="unsupported", reason=f"{named} is not in the list of references")


def _called(reference: Reference) -> str:
    return f"[{reference.label}]" if reference.label else reference.url[:200]
