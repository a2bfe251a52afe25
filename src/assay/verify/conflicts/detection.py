"""Finds conflicts among the passages of a run.

Each passage that the report or a finding cites is compared with all other shown passages that share words with it: a
source that disagrees matters even if nobody cited it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from assay.core.claims import Conflict, Side
from assay.core.clean import one_line
from assay.core.lazy import regex
from assay.core.lexicon import NUMBER_WORDS, ORDINALS, SCALES, TENS
from assay.core.report_sentences import claims
from assay.core.sources import Passage, Source, lane_of_source, ordinal_of
from assay.core.text import sentences
from assay.core.translation import N_
from assay.core.translation import gettext as _
from assay.verify.analyzed_text import WORD, fold_text, stem
from assay.verify.conflicts.disagreement import ALIKE, disagree
from assay.verify.conflicts.statements import SourceStatement, stated_values
from assay.verify.evidence_index import CitableIds

# Which texts may state what a cited passage states, by their words, before they are analyzed.

_SPELLED = frozenset(stem(word) for word in (*NUMBER_WORDS, *TENS, *ORDINALS, *SCALES))
_ASCII_WORD = regex(r"(?:[A-Za-z]\.){2,}|[A-Za-z]+(?:'[A-Za-z]+)?")
"""Matches what `WORD` finds in ASCII text, except symbols, in half the time."""
_DIGIT = regex(r"\d")
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))


class LikelyTexts:
    """Texts that share enough words with one of some statements.

    Args:
        keys: the comparison keys of each statement; a key that is not a word (a number, a version) begins with "#", and
            one of a word and a number has a space between them.
        share: the least share of its keys that another statement must have.
    """

    def __init__(self, keys: Iterable[Collection[str]], share: float) -> None:
        self._needed: list[int] = []
        self._places: dict[str, list[int]] = defaultdict(list)
        self._all = False
        for at, own in enumerate(set(map(frozenset, keys))):
            words = [key.partition(" ")[0] for key in own if not key.startswith("#")]
            needed = math.ceil(share * len(own)) - (len(own) - len(words))
            self._all = self._all or needed <= 0
            self._needed.append(needed)
            for word in words:
                self._places[word].append(at)

    def is_likely(self, text: str) -> bool:
        """True if `text` has a figure, and enough words."""
        found = _stems(text)
        if not (_DIGIT.search(text) or not text.isascii() or not _SPELLED.isdisjoint(found)):
            return False
        if self._all:
            return True
        counts = Counter(chain.from_iterable(map(self._places.__getitem__, self._places.keys() & found)))
        return any(count >= self._needed[at] for at, count in counts.items())


@lru_cache(maxsize=1024)
def _stems(text: str) -> frozenset[str]:
    """The stems of the words of a text; cached, since later runs on the same sources read the same texts."""
    if text.isascii():
        return frozenset(map(stem, set(_ASCII_WORD.findall(text))))
    return frozenset(map(stem, set(WORD.findall(unicodedata.normalize("NFKC", text).translate(_INVISIBLE)))))


MOST_PASSAGES = 3_000
"""Passages examined, cited ones first. Analyzing one that shares words with a cited one takes about 0.3 ms."""
MOST_CONFLICTS = 12
MOST_SIDES = 6
_TOO_COMMON = 200
"""A word that more statements than this have is not used to find pairs."""
_SHARED = 2
"""Words two statements must share to be compared at all. Both limit the work, and were chosen by hand."""


def find_conflicts(
    passages: Mapping[str, Passage], sources: Mapping[str, Source], cited: Collection[str], groups: Mapping[str, int]
) -> tuple[Conflict, ...]:
    """Find where sources give different values of one thing, in the order of what is cited.

    Args:
        passages: every passage shown in the run, by id.
        sources: their sources, by id.
        cited: ids of the passages that the report or a finding cites; each conflict includes one of them.
        groups: which documents copy one another (`verify.copies.group_by_copying`), by hash.
    """
    stated = _collect_statements(passages, sources, cited)
    anchors = {at for at, each in enumerate(stated) if each.passage.id in cited}
    apart = _disagreeing_groups(stated, anchors, groups)
    return tuple(_conflict([stated[at] for at in members]) for members in apart[:MOST_CONFLICTS])


def _are_copies(one: SourceStatement, other: SourceStatement, groups: Mapping[str, int]) -> bool:
    first, second = (groups.get(each.passage.document_sha256, -1 - at) for at, each in enumerate((one, other)))
    return first == second


def _collect_statements(
    passages: Mapping[str, Passage], sources: Mapping[str, Source], cited: Collection[str]
) -> tuple[SourceStatement, ...]:
    """The statements of the cited passages, then similar ones of others; each place of a document once.

    Several lanes may have been shown the same place.
    """
    seen: dict[tuple[str, int, int], Passage] = {}
    for passage in sorted(passages.values(), key=lambda each: (each.id not in cited, *_place(each))):
        seen.setdefault((passage.document_sha256, passage.start, passage.end), passage)
    kept = list(seen.values())[:MOST_PASSAGES]
    first = [passage for passage in kept if passage.id in cited]
    anchors = [each for passage in first for each in stated_values(passage, sources.get(passage.source))]
    likely = LikelyTexts((each.said.keys for each in anchors), ALIKE)
    rest = (passage for passage in kept[len(first) :] if anchors and likely.is_likely(passage.text))
    others = (
        each for passage in rest for each in stated_values(passage, sources.get(passage.source), likely.is_likely)
    )
    return (*anchors, *others)


def _place(passage: Passage) -> tuple[int, int, int]:
    return lane_of_source(passage.source), int(passage.source.removeprefix("S")), ordinal_of(passage.id)


def _candidates(stated: Sequence[SourceStatement], anchors: Collection[int]) -> Iterator[tuple[int, int]]:
    """Pairs of statements that may disagree, at least one of them cited; each pair once, in order.

    They are in two documents, count the same thing, share words, and have differently written values.
    """
    places: dict[object, list[int]] = defaultdict(list)
    kinds = [(each.said.scope, each.said.counted_noun) for each in stated]
    for at, each in enumerate(stated):
        for key in each.said.keys:
            places[kinds[at], key].append(at)
    written = [(each.passage.document_sha256, each.said.token.text) for each in stated]
    for at in sorted(anchors):
        document, value = written[at]
        found = (places[kinds[at], key] for key in stated[at].said.keys)
        shared = Counter(chain.from_iterable(others for others in found if len(others) <= _TOO_COMMON))
        for other in sorted(other for other, count in shared.items() if count >= _SHARED):
            first = other not in anchors or at < other
            if first and written[other][0] != document and written[other][1] != value:
                yield at, other


def _disagreeing_groups(
    stated: Sequence[SourceStatement], anchors: Collection[int], groups: Mapping[str, int]
) -> list[list[int]]:
    """Groups of statements connected by disagreement, in order; each statement is in one group.

    Two that are already connected by others are not compared, since that would change nothing.
    """
    together: dict[int, list[int]] = {}
    for one, other in _candidates(stated, anchors):
        first, second = together.get(one, [one]), together.get(other, [other])
        if first is second:
            continue
        if disagree(stated[one], stated[other], copies=_are_copies(stated[one], stated[other], groups)):
            joined = [*first, *second]
            together |= dict.fromkeys(joined, joined)
    unique = {id(members): sorted(members) for members in together.values()}
    return sorted(unique.values())


def _conflict(group: Sequence[SourceStatement]) -> Conflict:
    kept = _one_per_source(group)
    sides = tuple(
        Side(
            value=each.said.written_form,
            passage=each.passage.id,
            source=each.passage.source,
            date=each.source.published if each.source else "",
        )
        for each in kept
    )
    subject, measure = _shared_words(kept)
    values = " or ".join(dict.fromkeys(side.value for side in sides))
    about = " ".join(filter(None, (subject, measure)))
    return Conflict(text=fold_text(f"{values} ({about})").text, subject=subject, measure=measure, sides=sides)


def _one_per_source(group: Sequence[SourceStatement]) -> list[SourceStatement]:
    """Keep one statement per source and value; if there are more sides than are shown, every value keeps one."""
    sides: dict[tuple[str, str], SourceStatement] = {}
    for each in group:
        sides.setdefault((each.passage.document_sha256, each.said.written_form), each)
    values: dict[str, SourceStatement] = {}
    for each in sides.values():
        values.setdefault(each.said.written_form, each)
    first = list(values.values())
    return [*first, *(each for each in sides.values() if each not in first)][:MOST_SIDES]


def _shared_words(group: Sequence[SourceStatement]) -> tuple[str, str]:
    """The names that all sides have, and their other common words, as the first writes them."""
    first = group[0].said
    shared = frozenset.intersection(*(each.said.keys for each in group))
    named = [word.text for word in first.reading.words if word.key in shared and word.key in first.names]
    others = [word.text for word in first.reading.words if word.key in shared and word.key in first.telling]
    return " ".join(dict.fromkeys(named)), " ".join(dict.fromkeys(others))


# How a report shows that sources disagree: a section written by code.

TITLE = N_("Where sources disagree")
LONGEST_NAME = 80


def conflicts_section(
    found: Sequence[Conflict], passages: Mapping[str, Passage], sources: Mapping[str, Source], report: str = ""
) -> str:
    """The section that shows `found`, with its heading; empty if nothing can be shown.

    What `report` says already, in the words of a passage cited there, is not repeated.
    """
    shown = CitableIds(passages, sources)
    stated = {(fold_text(each.text).text, cited.id) for each in claims(report) for cited in shown.cited_passages(each)}
    texts = [text for each in found if (text := _conflict_text(each, passages, sources, stated))]
    return "\n\n".join((f"## {_(TITLE)}", *texts)) if texts else ""


def conflict_summary(conflict: Conflict, sources: Mapping[str, Source]) -> str:
    """A conflict as one sentence, for a text that must not be added to."""
    return _("Sources disagree: {values}.").format(values=_values(conflict, sources))


def _conflict_text(
    conflict: Conflict,
    passages: Mapping[str, Passage],
    sources: Mapping[str, Source],
    stated: Collection[tuple[str, str]],
) -> str:
    """A conflict in Markdown; empty if a sentence would not be read back as the claim it is."""
    every = [(side, _stating_sentence(side, passages[side.passage].text)) for side in conflict.sides]
    quoted = [(side, sentence) for side, sentence in every if (fold_text(sentence).text, side.passage) not in stated]
    items = "\n".join(f"- {sentence} [{side.passage}]" for side, sentence in quoted if sentence)
    values = _values(conflict, sources)
    text = f"{values}:\n\n{items}" if quoted else _("Which holds: {values}?").format(values=values)  # not a claim
    read = [fold_text(claim.text).text for claim in claims(f"## {_(TITLE)}\n\n{text}")]
    return text if read == [fold_text(sentence).text for _, sentence in quoted] else ""


def _values(conflict: Conflict, sources: Mapping[str, Source]) -> str:
    stated: dict[str, list[str]] = {}
    for side in conflict.sides:
        stated.setdefault(_flat(side.value), []).append(_source_label(side, sources))
    return _(" or ").join(f"{value} ({'; '.join(places)})" for value, places in stated.items())


def _source_label(side: Side, sources: Mapping[str, Source]) -> str:
    """A source and its date, without characters that end a sentence or have a meaning in Markdown."""
    source = sources.get(side.source)
    called = one_line(source.title or source.url.rpartition("/")[2]) if source else ""
    name = _flat(called)[:LONGEST_NAME].strip() or side.source
    date = side.date or _("no date")
    return f"{name}, {date}"


def _flat(text: str) -> str:
    return " ".join(re.sub(r"[^\w ,'’$€£¥₹%°/+.-]|_|[.](?!\d)", " ", one_line(text)).split())


def _stating_sentence(side: Side, text: str) -> str:
    """The sentence of a passage that states a side's value, on one line; empty if it contains line breaks."""
    for start, end in sentences(text):
        sentence = " ".join(text[start:end].split()).lstrip("*-•# ")
        if side.value in sentence:
            return sentence
    return ""
