"""Which passages a sentence cites: those its markers name, and the best of a source it names as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from assay.core.markers import Marker, parse
from assay.core.sources import Passage, Source, ordinal_of
from assay.core.text import words
from assay.verify.claims import ReportSentence
from assay.verify.evidence import ClaimEvidence
from assay.verify.quotes import verbatim


class CitableIds(msgspec.Struct, frozen=True):
    """Every passage and source a marker may name, by id."""

    passages: Mapping[str, Passage]
    sources: Mapping[str, Source]

    def has(self, id: str) -> bool:
        """Whether `id` names something."""
        return id in self.passages or id in self.sources

    def cited(self, sentence: ReportSentence) -> tuple[Passage, ...]:
        """The passages `sentence` cites, in order, each once. Ids which do not exist name nothing."""
        found: dict[str, Passage] = {}
        for marker in sentence.markers:
            for id in marker.passages:
                if id in self.passages:
                    found[id] = self.passages[id]
            for id in marker.sources:
                best = self._best(id, sentence.text) if id in self.sources else None
                if best is not None:
                    found[best.id] = best
        return tuple(found.values())

    def all_cited(self, found: Sequence[ReportSentence]) -> list[tuple[ReportSentence, tuple[Passage, ...]]]:
        """Each claim of a text, or of whole blocks of it, with what it cites.

        A sentence without a marker inherits what the next sentence of its block cites which bears one: many cite at a
        paragraph's end alone. Where its words stand in one of these passages, it is that passage.
        """
        cited = [(sentence, self.cited(sentence)) for sentence in found]
        following: tuple[int, tuple[Passage, ...]] = (-1, ())
        for at in range(len(cited) - 1, -1, -1):
            sentence, own = cited[at]
            if not sentence.markers and sentence.block == following[0]:
                passage = verbatim(sentence.text, ClaimEvidence(passages=following[1], sources=self.sources))
                cited[at] = (sentence, (passage,) if passage else following[1])
            elif sentence.markers:
                following = (sentence.block, own)
        return cited

    def _best(self, source: str, text: str) -> Passage | None:
        """The passage of `source` which shares most with `text`; a word counts the more the fewer passages have it."""
        passages = [passage for passage in self.passages.values() if passage.source == source]
        vocabularies = [set(words(passage.text)) for passage in passages]
        spread = Counter(word for vocabulary in vocabularies for word in vocabulary)
        wanted = set(words(text))
        scores = [sum(1 / spread[word] for word in wanted & vocabulary) for vocabulary in vocabularies]
        best = max(range(len(passages)), key=lambda at: (scores[at], -ordinal_of(passages[at].id)), default=-1)
        return passages[best] if best >= 0 and scores[best] > 0 else None


def inherits(sentence: ReportSentence, passages: Sequence[Passage]) -> bool:
    """Whether what a sentence cites is the citation of one behind it."""
    return bool(passages) and not sentence.markers


def dropped(report: str | Sequence[Marker], shown: CitableIds) -> int:
    """How many ids the report's markers name which do not exist; what only a range implies does not count."""
    markers = parse(report) if isinstance(report, str) else report
    return sum(not shown.has(id) for marker in markers for id in marker.ids if id not in marker.implied)
