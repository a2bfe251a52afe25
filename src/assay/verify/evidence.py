"""The evidence a claim cites, as the checks see it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from assay.core.claims import CHECKS
from assay.core.clean import local_path
from assay.core.lazy import regex
from assay.core.markers import Marker
from assay.core.sources import SNIPPET, Passage, Source, Surroundings
from assay.core.tables.cells import ReadTable
from assay.core.text import words
from assay.verify.analyzed_text import AnalyzedText, Texts, Word
from assay.verify.number_words import BOUNDS

# Chosen by hand, not by a bench; `bench mutations` and `bench grounding` measure the effect.

_NEAR = 4.0
"""The distance in words at which nearness has fallen to a half."""
_OTHER_SENTENCE = 10
_OTHER_CLAUSE = 2
"""How many words a boundary between clauses counts as."""
_COUNTED = 0.5
"""The weight of the noun after a number, often left out the second time ("40 people ... and the other 50")."""
_COMMON = 0.1
"""The weight of a word that occurs in any text."""
_TELLING = 3
"""The number of significant words of the claim that a conflict must rest on."""


class EvidenceSpan(msgspec.Struct, frozen=True):
    """A word of a passage, or all from `index` to `last`; `passage` is an index of the check's readings."""

    passage: int
    index: int
    last: int = -1


class SlotFit(msgspec.Struct, frozen=True):
    """The best place with the claim's value, the best with another, and how well each fits (0 to 1).

    `words` is the number of significant words the weighing rests on.
    """

    same: EvidenceSpan | None
    other: EvidenceSpan | None
    fits: float
    misfits: float
    words: int

    def conflicts(self, *, at_least: float, ratio: float) -> bool:
        """True if the other value fits clearly better: `at_least` so well, and `ratio` times as well as the claim's."""
        return self.words >= _TELLING and self.misfits >= at_least and self.misfits > ratio * self.fits


class SlotContext(msgspec.Struct, frozen=True):
    """The words of a claim around a slot, by stem: a weight each (their sum is 1), and how near each is (0 to 1)."""

    weights: tuple[tuple[str, float, float], ...]
    words: int

    def fit(self, evidence: Sequence[AnalyzedText], span: EvidenceSpan) -> float:
        """How well the words fit around `span`: 1 if all are as near as in the claim, 0 if none is there."""
        reading = evidence[span.passage]
        words, wide = reading.words, span.last > span.index
        fit = 0.0
        for key, weight, claim_nearness in self.weights:
            index = reading.nearest(key, span.index)
            if index is None:
                continue
            apart = _word_distance(words, index, span.index)
            if wide:
                after = reading.nearest(key, span.last)
                apart = min(apart, apart if after is None else _word_distance(words, after, span.last))
            nearness = _nearness(apart)
            fit += weight * (nearness / claim_nearness if nearness < claim_nearness else 1.0)
        return fit


def _word_distance(words: Sequence[Word], index: int, other: int) -> int:
    first, second = words[index], words[other]
    apart = abs(index - other)
    if first.clause != second.clause:  # which every other sentence contains
        apart += min(3, abs(first.clause - second.clause)) * _OTHER_CLAUSE
        apart += 0 if first.sentence == second.sentence else _OTHER_SENTENCE
    return apart


def _nearness(apart: int) -> float:
    return _NEAR / (_NEAR + apart - 1) if apart > 1 else 1.0


def slot_context(claim: AnalyzedText, slot: Sequence[int]) -> SlotContext:
    """The words of the claim around the words `slot`, in their sentence."""
    first, last = slot[0], slot[-1]
    slot_keys = {claim.words[index].key for index in slot}
    sentence = claim.words[first].sentence
    counts = claim.words[last].kind == "number"
    weights: dict[str, tuple[float, float]] = {}
    significant_words: set[str] = set()
    for index, word in enumerate(claim.words):
        if word.kind == "sign" or word.key in slot_keys or first <= index <= last or word.sentence != sentence:
            continue
        nearness = _nearness(_word_distance(claim.words, index, first if index < first else last))
        weight = _COMMON if word.common else _COUNTED if counts and index == last + 1 else 1.0
        if not word.common:
            significant_words.add(word.key)
        weights[word.key] = max((nearness * weight, nearness), weights.get(word.key, (0.0, 0.0)))
    total = sum(weight for weight, _ in weights.values()) or 1.0
    return SlotContext(
        tuple((key, weight / total, nearness) for key, (weight, nearness) in weights.items()), len(significant_words)
    )


def bind_slot(
    context: SlotContext,
    evidence: Sequence[AnalyzedText],
    spans: Iterable[EvidenceSpan],
    same: Callable[[EvidenceSpan], bool],
) -> SlotFit:
    """Weigh `spans` by the words around a slot, its `context`; `same` says which have the claim's value."""
    best: dict[bool, tuple[float, EvidenceSpan | None]] = {True: (0.0, None), False: (0.0, None)}
    for span in spans:
        fit = context.fit(evidence, span)
        kind = same(span)
        if best[kind][1] is None or fit > best[kind][0]:
            best[kind] = (fit, span)
    return SlotFit(best[True][1], best[False][1], best[True][0], best[False][0], context.words)


class ClaimEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The passages a claim cites, and their sources.

    `cut_before` and `cut_after` are ids of passages that begin or end inside a sentence of the document;
    `surroundings` has the surrounding text of passages, by id, if known. `tables` reads the whole tables of the cited
    documents; there are none if the documents are not at hand.
    """

    passages: tuple[Passage, ...]
    sources: Mapping[str, Source]
    cut_before: frozenset[str] = frozenset()
    cut_after: frozenset[str] = frozenset()
    surroundings: Mapping[str, Surroundings] = {}
    tables: Callable[[], Sequence[ReadTable]] = tuple

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that count as evidence: each passage, its headings, and its topic."""
        headings = (heading for passage in self.passages for heading in passage.above)
        return (*(passage.text for passage in self.passages), *dict.fromkeys(headings))

    @property
    def is_hearsay(self) -> bool:
        """True if only search snippets are cited, and no page itself."""
        sources = self._cited_sources()
        return bool(sources) and all(source.media_type == SNIPPET for source in sources)

    def is_unrelated(self, markers: Iterable[Marker]) -> bool:
        """True if a claim with these markers cites only whole sources, none of which shares a word with it."""
        return not self.passages and any(id in self.sources for marker in markers for id in marker.sources)

    def names(self) -> tuple[str, ...]:
        """The names of the cited sources."""
        return tuple(name for source in self._cited_sources() for name in source_names(source))

    def plain_data(self) -> tuple[object, ...]:
        """Everything a check may see of it, as plain data, without uncited data or when and where it was read."""
        surroundings = [self.surroundings.get(passage.id) for passage in self.passages]
        sources = [replace(source, fetched_at="", url=_address(source.url)) for source in self._cited_sources()]
        return self.passages, sources, sorted(self.cut_before), sorted(self.cut_after), surroundings

    def _cited_sources(self) -> list[Source]:
        ids = dict.fromkeys(passage.source for passage in self.passages)
        return [self.sources[id] for id in ids if id in self.sources]


def source_names(source: Source) -> tuple[str, ...]:
    """The title, the address, and metadata that name a document."""
    metadata_names = (value for key, value in source.metadata.items() if _NAMING.fullmatch(key))
    return tuple(name for name in (source.title, _address(source.url), *metadata_names) if name)


def _address(url: str) -> str:
    """The name in an address: for a file only its own name, since its folder says nothing about it."""
    path = local_path(url) if url.startswith(("file:", "upload:")) else None
    return url if path is None else path.rpartition("/")[2]


_NAMING = regex(r"id|name|number|title|slug|doi|isbn", re.IGNORECASE)


class FieldPassage(msgspec.Struct, frozen=True):
    """A passage that is a header field, `KEY: VALUE`; `name` has the key's words."""

    passage: Passage
    name: tuple[str, ...]
    value: str


_FIELD = regex(
    r"\s*(?:[-*+][ \t]+)?[:*_]{0,2}(?P<key>[^\W\d_][^:：\n]{0,60}?)[*_]{0,2}[ \t]*"
    r"[:：][*_]{0,2}[ \t]*(?P<value>\S.*|\n.*\S.*)",
    re.DOTALL,
)


def read_field(passage: Passage) -> FieldPassage | None:
    """The field that a passage is, if it is one."""
    match = _FIELD.fullmatch(passage.text)
    if match is None or "\n\n" in passage.text:
        return None
    name = tuple(words(match["key"]))
    return FieldPassage(passage, name, match["value"].strip()) if 0 < len(name) <= 6 else None


# Findings of the deterministic checks about a claim: one record for each slot they checked.

RULES: tuple[str, ...] = (*CHECKS, "derived")
"""Our checks that find something; `derived` is a recomputed figure, and never objects."""
Outcome = Literal["stated", "conflict", "absent", "failed"]
"""The result for a slot; `failed` says that a check of another package failed, and says nothing about the claim."""


class ClaimSlot(msgspec.Struct, frozen=True, gc=False):
    """A place in the claim: its words as written, code points `[start, end)` of the claim's text."""

    text: str
    start: int
    end: int


class SlotFinding(msgspec.Struct, frozen=True, kw_only=True):
    """The finding of `rule` about `slot`.

    `said` is what the evidence says instead, as written, empty if it says nothing or the same; `passage` is the id of
    that passage. `veto` says that this finding alone makes the claim unsupported. Without it, a conflict or absence is
    only a sign, since small number words and names are often expressed in other words; a conflict of dates (a fiscal
    year for a calendar year) leaves the claim unchecked. A `certain` one decides about a rephrased sentence too, where
    others of its rule are too often wrong.
    """

    rule: str
    slot: ClaimSlot
    outcome: Outcome
    said: str = ""
    passage: str = ""
    veto: bool = False
    certain: bool = False


def word_slot(claim: AnalyzedText, index: int) -> ClaimSlot:
    """The slot that is one word of a claim."""
    return ClaimSlot(claim.words[index].text, *claim.origin(index, index))


def conflict_finding(rule: str, slot: ClaimSlot, texts: Texts, span: EvidenceSpan) -> SlotFinding:
    """The finding that the evidence has the words at `span` instead, which alone makes the claim unsupported."""
    reading = texts.readings[span.passage]
    text = reading.plain.text[reading.words[span.index].start : reading.words[max(span.index, span.last)].end]
    passage = texts.passages[span.passage]
    return SlotFinding(rule=rule, slot=slot, outcome="conflict", said=text, passage=passage, veto=True)


# A claim with the numbers of its evidence: "almost nine percent" is 8.9 % if the evidence says so.


_BOUND = regex(rf"(?:{'|'.join(BOUNDS.values())})\s*\Z", re.IGNORECASE)
_REACH = 24
"""Code points before a number that may contain its bound."""


def reword_numbers(claim: str, findings: Iterable[SlotFinding], *, adding: bool = True) -> str:
    """`claim` with each number that the evidence writes differently as in the evidence, without its bound.

    A computed number is left out: the evidence has only what it was computed from.
    Without `adding`, a number stays if the evidence only says more ("24 March 2025" for 2025).
    """
    stated_findings = (
        finding
        for finding in findings
        if finding.rule in ("number", "date", "derived") and finding.outcome == "stated" and finding.said
    )
    replacements = {
        finding.slot: "" if finding.rule == "derived" else finding.said
        for finding in stated_findings
        if adding or finding.rule == "derived" or not set(words(finding.slot.text)) < set(words(finding.said))
    }
    for slot in sorted(replacements, key=lambda slot: -slot.start):
        before = claim[: slot.start]
        match = _BOUND.search(before, max(0, len(before) - _REACH))
        claim = f"{before[: match.start()] if match else before}{replacements[slot]}{claim[_end(claim, slot) :]}"
    return claim


def _end(claim: str, slot: ClaimSlot) -> int:
    """The end of a number; a slot may include a full stop."""
    return slot.start + len(slot.text) if claim.startswith(slot.text, slot.start) else slot.end


def text_evidence(text: str) -> ClaimEvidence:
    """Evidence in which `text` is the only cited passage."""
    data = text.encode(errors="surrogatepass")
    digest = hashlib.sha256(data).hexdigest()
    passage = Passage(
        id="the text", source="the text", document_sha256=digest, start=0, end=len(data), text=text, text_sha256=digest
    )
    return ClaimEvidence(passages=(passage,), sources={})
