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
        self._thresholds: list[int] = []
        self._indices: dict[str, list[int]] = defaultdict(list)
        self._accepts_all = False
        for index, statement_keys in enumerate(set(map(frozenset, keys))):
            words = [key.partition(" ")[0] for key in statement_keys if not key.startswith("#")]
            threshold = math.ceil(share * len(statement_keys)) - (len(statement_keys) - len(words))
            self._accepts_all = self._accepts_all or threshold <= 0
            self._thresholds.append(threshold)
            for word in words:
                self._indices[word].append(index)

    def is_likely(self, text: str) -> bool:
        """True if `text` has a figure, and enough words."""
        stems = _stems(text)
        if not (_DIGIT.search(text) or not text.isascii() or not _SPELLED.isdisjoint(stems)):
            return False
        if self._accepts_all:
            return True
        counts = Counter(chain.from_iterable(map(self._indices.__getitem__, self._indices.keys() & stems)))
        return any(count >= self._thresholds[index] for index, count in counts.items())


@lru_cache(maxsize=1024)
def _stems(text: str) -> frozenset[str]:
    """The stems of the words of a text; cached, since later runs on the same sources read the same texts."""
    if text.isascii():
        return frozenset(map(stem, set(_ASCII_WORD.findall(text))))
    return frozenset(map(stem, set(WORD.findall(unicodedata.normalize("NFKC", text).translate(_INVISIBLE)))))


MAX_PASSAGES = 3_000
"""Passages examined, cited ones first. Analyzing one that shares words with a cited one takes about 0.3 ms."""
MAX_CONFLICTS = 12
MAX_SIDES = 6
_TOO_COMMON = 200
"""A word that more statements than this have is not used to find pairs."""
_SHARED = 2
"""Words two statements must share to be compared at all. Both limit the work, and were chosen by hand."""


def find_conflicts(
    passages: Mapping[str, Passage],
    sources: Mapping[str, Source],
    cited_ids: Collection[str],
    groups: Mapping[str, int],
) -> tuple[Conflict, ...]:
    """Find where sources give different values of one thing, in the order of what is cited.

    Args:
        passages: every passage shown in the run, by id.
        sources: their sources, by id.
        cited_ids: ids of the passages that the report or a finding cites; each conflict includes one of them.
        groups: which documents copy one another (`verify.copies.group_by_copying`), by hash.
    """
    statements = _collect_statements(passages, sources, cited_ids)
    anchors = {index for index, statement in enumerate(statements) if statement.passage.id in cited_ids}
    apart = _disagreeing_groups(statements, anchors, groups)
    return tuple(_conflict([statements[index] for index in members]) for members in apart[:MAX_CONFLICTS])


def _are_copies(left: SourceStatement, right: SourceStatement, groups: Mapping[str, int]) -> bool:
    first, second = (
        groups.get(statement.passage.document_sha256, -1 - index) for index, statement in enumerate((left, right))
    )
    return first == second


def _collect_statements(
    passages: Mapping[str, Passage], sources: Mapping[str, Source], cited_ids: Collection[str]
) -> tuple[SourceStatement, ...]:
    """The statements of the cited passages, then similar ones of others; each place of a document once.

    Several lanes may have been shown the same place.
    """
    unique: dict[tuple[str, int, int], Passage] = {}
    for passage in sorted(passages.values(), key=lambda passage: (passage.id not in cited_ids, *_place(passage))):
        unique.setdefault((passage.document_sha256, passage.start, passage.end), passage)
    candidates = list(unique.values())[:MAX_PASSAGES]
    first = [passage for passage in candidates if passage.id in cited_ids]
    anchors = [statement for passage in first for statement in stated_values(passage, sources.get(passage.source))]
    likely = LikelyTexts((statement.value.keys for statement in anchors), ALIKE)
    other_passages = (passage for passage in candidates[len(first) :] if anchors and likely.is_likely(passage.text))
    similar = (
        statement
        for passage in other_passages
        for statement in stated_values(passage, sources.get(passage.source), likely.is_likely)
    )
    return (*anchors, *similar)


def _place(passage: Passage) -> tuple[int, int, int]:
    return lane_of_source(passage.source), int(passage.source.removeprefix("S")), ordinal_of(passage.id)


def _candidates(statements: Sequence[SourceStatement], anchors: Collection[int]) -> Iterator[tuple[int, int]]:
    """Pairs of statements that may disagree, at least one of them cited; each pair once, in order.

    They are in two documents, count the same thing, share words, and have differently written values.
    """
    indices: dict[object, list[int]] = defaultdict(list)
    kinds = [(statement.value.scope, statement.value.counted_noun) for statement in statements]
    for index, statement in enumerate(statements):
        for key in statement.value.keys:
            indices[kinds[index], key].append(index)
    identities = [(statement.passage.document_sha256, statement.value.token.text) for statement in statements]
    for index in sorted(anchors):
        document, value = identities[index]
        matches = (indices[kinds[index], key] for key in statements[index].value.keys)
        shared_counts = Counter(chain.from_iterable(members for members in matches if len(members) <= _TOO_COMMON))
        for other in sorted(other for other, count in shared_counts.items() if count >= _SHARED):
            first = other not in anchors or index < other
            if first and identities[other][0] != document and identities[other][1] != value:
                yield index, other


def _disagreeing_groups(
    statements: Sequence[SourceStatement], anchors: Collection[int], groups: Mapping[str, int]
) -> list[list[int]]:
    """Groups of statements connected by disagreement, in order; each statement is in one group.

    Two that are already connected by others are not compared, since that would change nothing.
    """
    together: dict[int, list[int]] = {}
    for index, other in _candidates(statements, anchors):
        first, second = together.get(index, [index]), together.get(other, [other])
        if first is second:
            continue
        if disagree(
            statements[index], statements[other], copies=_are_copies(statements[index], statements[other], groups)
        ):
            merged = [*first, *second]
            together |= dict.fromkeys(merged, merged)
    unique = {id(members): sorted(members) for members in together.values()}
    return sorted(unique.values())


def _conflict(group: Sequence[SourceStatement]) -> Conflict:
    statements = _one_per_source(group)
    sides = tuple(
        Side(
            value=statement.value.written_form,
            passage=statement.passage.id,
            source=statement.passage.source,
            date=statement.source.published if statement.source else "",
        )
        for statement in statements
    )
    subject, measure = _shared_words(statements)
    values = " or ".join(dict.fromkeys(side.value for side in sides))
    topic = " ".join(filter(None, (subject, measure)))
    return Conflict(text=fold_text(f"{values} ({topic})").text, subject=subject, measure=measure, sides=sides)


def _one_per_source(group: Sequence[SourceStatement]) -> list[SourceStatement]:
    """Keep one statement per source and value; if there are more sides than are shown, every value keeps one."""
    sides: dict[tuple[str, str], SourceStatement] = {}
    for statement in group:
        sides.setdefault((statement.passage.document_sha256, statement.value.written_form), statement)
    values: dict[str, SourceStatement] = {}
    for statement in sides.values():
        values.setdefault(statement.value.written_form, statement)
    first = list(values.values())
    return [*first, *(statement for statement in sides.values() if statement not in first)][:MAX_SIDES]


def _shared_words(group: Sequence[SourceStatement]) -> tuple[str, str]:
    """The names that all sides have, and their other common words, as the first writes them."""
    first = group[0].value
    shared_keys = frozenset.intersection(*(statement.value.keys for statement in group))
    names = [word.text for word in first.reading.words if word.key in shared_keys and word.key in first.names]
    other_words = [
        word.text for word in first.reading.words if word.key in shared_keys and word.key in first.significant_words
    ]
    return " ".join(dict.fromkeys(names)), " ".join(dict.fromkeys(other_words))


# How a report shows that sources disagree: a section written by code.

TITLE = N_("Where sources disagree")
MAX_NAME_CHARS = 80


def conflicts_section(
    conflicts: Sequence[Conflict], passages: Mapping[str, Passage], sources: Mapping[str, Source], report: str = ""
) -> str:
    """The section that shows `conflicts`, with its heading; empty if nothing can be shown.

    What `report` says already, in the words of a passage cited there, is not repeated.
    """
    citable_ids = CitableIds(passages, sources)
    reported = {
        (fold_text(claim.text).text, passage.id)
        for claim in claims(report)
        for passage in citable_ids.cited_passages(claim)
    }
    texts = [text for conflict in conflicts if (text := _conflict_text(conflict, passages, sources, reported))]
    return "\n\n".join((f"## {_(TITLE)}", *texts)) if texts else ""


def conflict_summary(conflict: Conflict, sources: Mapping[str, Source]) -> str:
    """A conflict as one sentence, for a text that must not be added to."""
    return _("Sources disagree: {values}.").format(values=_values(conflict, sources))


def _conflict_text(
    conflict: Conflict,
    passages: Mapping[str, Passage],
    sources: Mapping[str, Source],
    reported: Collection[tuple[str, str]],
) -> str:
    """A conflict in Markdown; empty if a sentence would not be read back as the claim it is."""
    every = [(side, _stating_sentence(side, passages[side.passage].text)) for side in conflict.sides]
    quotations = [
        (side, sentence) for side, sentence in every if (fold_text(sentence).text, side.passage) not in reported
    ]
    items = "\n".join(f"- {sentence} [{side.passage}]" for side, sentence in quotations if sentence)
    values = _values(conflict, sources)
    text = f"{values}:\n\n{items}" if quotations else _("Which holds: {values}?").format(values=values)  # not a claim
    claim_texts = [fold_text(claim.text).text for claim in claims(f"## {_(TITLE)}\n\n{text}")]
    return text if claim_texts == [fold_text(sentence).text for _, sentence in quotations] else ""


def _values(conflict: Conflict, sources: Mapping[str, Source]) -> str:
    labels_by_value: dict[str, list[str]] = {}
    for side in conflict.sides:
        labels_by_value.setdefault(_flat(side.value), []).append(_source_label(side, sources))
    return _(" or ").join(f"{value} ({'; '.join(labels)})" for value, labels in labels_by_value.items())


def _source_label(side: Side, sources: Mapping[str, Source]) -> str:
    """A source and its date, without characters that end a sentence or have a meaning in Markdown."""
    source = sources.get(side.source)
    title = one_line(source.title or source.url.rpartition("/")[2]) if source else ""
    name = _flat(title)[:MAX_NAME_CHARS].strip() or side.source
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
