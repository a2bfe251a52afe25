"""The verdicts on the claims of a text: each is checked against what it cites, in the order of a run's checks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import islice

import msgspec

from assay.core.citations.whole_source import WholeSource
from assay.core.claims import HOLDING, Check, Claim, Nearest, Summary, Verdict, summarize
from assay.core.report_sentences import ReportSentence, claims
from assay.core.sources import Document, Passage, PassageSpan, Source, content_spans, passage_of
from assay.core.translation import Phrases, gettext, join_list, ngettext, use_phrases
from assay.verify.checks import NO_CITATION, NO_SHARED_WORD
from assay.verify.claim_check import DEFAULT_RULES, CheckRules, CodeRuling, PendingClaim, RuledClaims, code_ruling
from assay.verify.evidence import ClaimEvidence
from assay.verify.evidence_index import CitedPassages, TablesOf, TextOf, compare_with_documents
from assay.verify.judge.question import MAX_PASSAGES
from assay.verify.rules.quotes import verbatim_passage
from assay.verify.texts.marked_text import MarkedText, TextReference
from assay.verify.texts.references import exported_notices


class CheckedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the text that states a fact, and the verdict on it.

    `text` is without citations; `[start, end)` are code points of the original text, `line` counts from 1. `references`
    and `passages` are ids; `rule` and `nearest` are as in `claim.checked`. `found` are the addresses of the documents
    with evidence for a sentence without citations.
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
    nearest: Nearest | None = None
    found: tuple[str, ...] = ()


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """A reference of the text, and the addresses of the given documents that it names, if any.

    `label` is the text's label in brackets, empty for a link; `listed` says whether its list has that label.
    """

    id: str
    label: str
    url: str
    title: str
    listed: bool
    documents: tuple[str, ...]


class CheckedText(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the check. `uncited` counts the claims without citations; `passages` are those used for the
    claims.
    """

    claims: tuple[CheckedClaim, ...]
    references: tuple[Named, ...]
    passages: tuple[Passage, ...]
    summary: Summary
    uncited: int

    @property
    def share(self) -> float:
        """The share of the claims that are quoted or supported, 1 if there are no claims."""
        return self.summary.grounded_count / self.summary.claims if self.claims else 1.0


class DocumentAccess(msgspec.Struct, frozen=True, kw_only=True):
    """Access to the documents: those that a reference names, their passages, texts and tables (blocking).

    Evidence for a sentence without citations is searched in `all_documents`; if that is empty, the sentence stays
    uncited. A judge is shown at least `least_passages` of a document that may be meant.
    """

    find: Callable[[TextReference], tuple[Document, ...]]
    spans: Callable[[Document], Sequence[PassageSpan]]
    text_of: TextOf
    tables_of: TablesOf = lambda _: ()
    all_documents: tuple[Document, ...] = ()
    least_passages: int = 0


class _CitedClaim(msgspec.Struct, frozen=True):
    """A claim with the passages picked for it. `lent` are passages of the next citation in its block. For a claim
    without citations, `from_search` are passages of any document.

    No passage of a `silent` claim shares a word with it: its passages are all those of its documents, for a judge, if
    they are few.
    """

    sentence: ReportSentence
    references: tuple[TextReference, ...]
    passages: tuple[Passage, ...]
    lent: bool = False
    silent: bool = False
    from_search: bool = False


class TextDraft(RuledClaims, frozen=True, kw_only=True):
    """A text whose claims have been checked by the rules."""

    marked_text: MarkedText
    references: tuple[Named, ...]
    cites: Mapping[str, tuple[str, ...]]
    lines: tuple[int, ...]
    found_in: Mapping[str, tuple[str, ...]] = {}

    def with_opinions(self, opinions: Mapping[str, Check]) -> CheckedText:
        """The result of the check; `opinions` are a judge's verdicts, by claim."""
        checks = self.final_checks(opinions)
        checked_claims = tuple(self._claim(pending, checks[pending.id]) for pending in self.pending_claims)
        passages = {
            passage.id: passage
            for pending_claim in self.pending_claims
            for passage in _passages_shown(pending_claim, checks[pending_claim.id])
        }
        counted_claims = (
            Claim(id=c.id, text=c.text, start=c.start, end=c.end, verdict=c.verdict) for c in checked_claims
        )
        return CheckedText(
            claims=checked_claims,
            references=self.references,
            passages=tuple(passages.values()),
            summary=summarize(counted_claims),
            uncited=sum(not claim.references and claim.verdict not in HOLDING for claim in checked_claims),
        )

    def _claim(self, pending_claim: PendingClaim, check: Check) -> CheckedClaim:
        start, end = (
            self.marked_text.origin(pending_claim.sentence.start),
            self.marked_text.origin(pending_claim.sentence.end),
        )
        return CheckedClaim(
            id=pending_claim.id,
            text=pending_claim.sentence.text,
            line=bisect_right(self.lines, start),
            start=start,
            end=max(start, end),
            verdict=check.verdict,
            rule=check.rule,
            reason=check.reason,
            references=self.cites[pending_claim.id],
            passages=tuple(passage.id for passage in _passages_shown(pending_claim, check)),
            nearest=check.nearest,
            found=self.found_in.get(pending_claim.id, ()),
        )


def _passages_shown(pending_claim: PendingClaim, check: Check) -> tuple[Passage, ...]:
    """The passages used for a claim: none if no passage shares a word with it and no judge was asked."""
    return () if check is NO_SHARED_WORD else pending_claim.evidence.passages


def check_by_rules(
    text: str, marked_text: MarkedText, shelf: DocumentAccess, rules: CheckRules = DEFAULT_RULES
) -> TextDraft:
    """Check every claim of `text` by `rules`. `marked_text` is `text` with markers.

    Raises:
        StoreError: a document's text is missing or damaged.
    """
    desk, rules = _ReferenceDesk(marked_text, shelf), msgspec.structs.replace(rules, inherits=False)
    with use_phrases(Phrases(statements=exported_notices(marked_text.text))):
        cited_claims = desk.cited_claims(claims(marked_text.text, html=True))
    cited_passages = CitedPassages(desk.sources, shelf.tables_of)
    cited_passages.add_documents(
        compare_with_documents(
            {passage.id: passage for cited_claim in cited_claims for passage in cited_claim.passages}, shelf.text_of
        )
    )
    pending_claims: list[PendingClaim] = []
    once = dict[object, tuple[ClaimEvidence, CodeRuling]]()  # a repeated claim with the same citations is checked once
    for cited_claim in cited_claims:
        inputs = _verdict_inputs(cited_claim)
        if inputs not in once:
            pending = PendingClaim(
                cited_claim.sentence.id, cited_claim.sentence, cited_passages.claim_evidence(cited_claim.passages)
            )
            ruling = _check_by_code(cited_claim, pending, desk, rules)
            once[inputs] = (
                _narrow_evidence(pending, ruling, cited_passages, rules)
                if cited_claim.from_search
                else (pending.evidence, ruling)
            )
        pending_claims.append(PendingClaim(cited_claim.sentence.id, cited_claim.sentence, once[inputs][0]))
    return TextDraft(
        marked_text=marked_text,
        pending_claims=tuple(pending_claims),
        rulings={cited_claim.sentence.id: once[_verdict_inputs(cited_claim)][1] for cited_claim in cited_claims},
        added_checks=rules.added_checks,
        references=tuple(desk.describe(reference) for reference in marked_text.references),
        cites={c.sentence.id: () if c.lent else tuple(named.id for named in c.references) for c in cited_claims},
        found_in={
            cited_claim.sentence.id: desk.addresses(claim.evidence.passages)
            for cited_claim, claim in zip(cited_claims, pending_claims, strict=True)
            if cited_claim.from_search
        },
        lines=(0, *(position + 1 for position, sign in enumerate(text) if sign == "\n")),
    )


class _ReferenceDesk:
    """The references of a text with their documents and passages, looked up on first use."""

    def __init__(self, marked_text: MarkedText, shelf: DocumentAccess) -> None:
        self.sources: dict[str, Source] = {}
        self._references = {reference.id: reference for reference in marked_text.references}
        self._documents = {reference.id: shelf.find(reference) for reference in marked_text.references}
        self._whole_sources: dict[str, WholeSource] = {}
        self._shelf = shelf
        self._first = len(marked_text.references) + 1

    def has(self, reference: TextReference) -> bool:
        """True if there is a document for a reference."""
        return bool(self._documents[reference.id])

    def addresses(self, passages: Sequence[Passage]) -> tuple[str, ...]:
        """The addresses of the documents of `passages`, in order."""
        return tuple(dict.fromkeys(self.sources[passage.source].url for passage in passages))

    def describe(self, reference: TextReference) -> Named:
        return Named(
            id=reference.id,
            label=reference.label,
            url=reference.url,
            title=reference.title,
            listed=reference.is_defined,
            documents=tuple(document.url for document in self._documents[reference.id]),
        )

    def cited_claims(self, sentences: Sequence[ReportSentence]) -> list[_CitedClaim]:
        """Each claim with the passages picked for it.

        A claim without a citation that occurs word for word in the next citation of its block gets that citation.
        """
        picked: list[_CitedClaim] = []
        next_citation: tuple[int, tuple[TextReference, ...]] = (-1, ())
        for sentence in reversed(sentences):
            names = dict.fromkeys(id for marker in sentence.markers for id in marker.ids)
            own_references = tuple(self._references[id] for id in names)
            if own_references:
                next_citation = (sentence.block, own_references)
            lent = next_citation[1] if not own_references and next_citation[0] == sentence.block else ()
            picked.append(self._pick_passages(sentence, own_references or lent, lent=bool(lent)))
        return picked[::-1]

    def _pick_passages(
        self, sentence: ReportSentence, references: tuple[TextReference, ...], *, lent: bool
    ) -> _CitedClaim:
        passages = tuple(
            passage
            for reference in references
            for passage in self._whole_source(reference).best_passages(sentence.text, self._shelf.least_passages)
        )
        if lent:
            passages = tuple(
                p for p in (verbatim_passage(sentence.text, ClaimEvidence(passages=passages, sources={})),) if p
            )
        if not passages and (lent or not references) and self._shelf.all_documents:
            passages = self._pool.best_passages(sentence.text, self._shelf.least_passages)
            return _CitedClaim(sentence, (), passages, from_search=True)
        silent = not passages and not lent
        if silent:
            passages = tuple(
                islice(
                    (p for reference in references for p in self._whole_source(reference).passages), MAX_PASSAGES + 1
                )
            )
            passages = passages if len(passages) <= MAX_PASSAGES else ()
        return _CitedClaim(sentence, references if passages or not lent else (), passages, lent, silent)

    def _whole_source(self, reference: TextReference) -> WholeSource:
        if reference.id not in self._whole_sources:
            self._whole_sources[reference.id] = WholeSource(self._passages(reference))
        return self._whole_sources[reference.id]

    @cached_property
    def _pool(self) -> WholeSource:
        """The passages of all documents; their sources are numbered after the references."""
        every = (
            self._passages_of(f"S{self._first + index}", document)
            for index, document in enumerate(self._shelf.all_documents)
        )
        return WholeSource(passage for passages in every for passage in passages)

    def _passages(self, reference: TextReference) -> list[Passage]:
        passages: list[Passage] = []
        for index, document in enumerate(self._documents[reference.id]):
            passages.extend(self._passages_of(reference.id if index == 0 else f"{reference.id}{index:06d}", document))
        return passages

    def _passages_of(self, source: str, document: Document) -> list[Passage]:
        self.sources[source] = _source(source, document)
        return [passage_of(source, document, span) for span in content_spans(self._shelf.spans(document))]


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


def _verdict_inputs(claim: _CitedClaim) -> object:
    """The values the verdict on a claim depends on."""
    sentence = claim.sentence
    cites = tuple(reference.id for reference in claim.references), tuple(passage.id for passage in claim.passages)
    return sentence.text, bool(sentence.markers), sentence.head, *cites, claim.silent


def _check_by_code(
    claim: _CitedClaim, pending_claim: PendingClaim, desk: _ReferenceDesk, rules: CheckRules
) -> CodeRuling:
    """The verdict of all checks without a model."""
    if not claim.references:
        return _uncited_verdict(pending_claim, rules) if claim.passages else CodeRuling(check=NO_CITATION)
    missing = [reference for reference in claim.references if reference.is_defined and not desk.has(reference)]
    if not any(desk.has(reference) for reference in claim.references):
        return CodeRuling(check=_absent_check(missing, claim.references))
    if claim.silent and not missing:  # a translation, or other words: a judge can decide
        return CodeRuling(check=NO_SHARED_WORD, is_open=bool(claim.passages))
    ruling = (
        CodeRuling(check=NO_SHARED_WORD)
        if claim.silent
        else code_ruling(pending_claim.sentence, pending_claim.evidence, rules)
    )
    if missing and ruling.check.verdict in ("unsupported", "unchecked"):
        return CodeRuling(check=_absent_check(missing, ()), findings=ruling.findings)
    return ruling


def _uncited_verdict(pending_claim: PendingClaim, rules: CheckRules) -> CodeRuling:
    """The verdict on a sentence without citations, by the passages that were found for it."""
    ruling = code_ruling(pending_claim.sentence, pending_claim.evidence, rules)
    if ruling.check.verdict != "unsupported":
        return ruling
    passages = len(pending_claim.evidence.passages)
    cited = ngettext("the cited passage", "the cited passages", passages)
    why = ruling.check.reason.replace(cited, ngettext("the passage", "the passages", passages))  # found, not cited
    reason = gettext("no citation, and nothing found says it: {why}").format(why=why)
    return msgspec.structs.replace(ruling, check=msgspec.structs.replace(ruling.check, reason=reason))


def _narrow_evidence(
    pending_claim: PendingClaim, ruling: CodeRuling, cited_passages: CitedPassages, rules: CheckRules
) -> tuple[ClaimEvidence, CodeRuling]:
    """The evidence that decides about a claim, of what was found for it, with the verdict by it alone.

    These are the passages any of which gives the verdict; else all without which it is another.
    """
    passages, verdict = pending_claim.evidence.passages, ruling.check.verdict
    if len(passages) < 2 or verdict not in ("quoted", "supported", "contradicted"):
        return pending_claim.evidence, ruling

    def check_with(subset: tuple[Passage, ...]) -> tuple[ClaimEvidence, CodeRuling]:
        evidence = cited_passages.claim_evidence(subset)
        return evidence, code_ruling(pending_claim.sentence, evidence, rules)

    decisive = tuple(passage for passage in passages if check_with((passage,))[1].check.verdict == verdict)
    if not decisive:
        decisive = passages
        for passage in reversed(passages):
            remaining = tuple(other for other in decisive if other is not passage)
            decisive = remaining if remaining and check_with(remaining)[1].check.verdict == verdict else decisive
    narrowed_result = check_with(decisive)
    return narrowed_result if narrowed_result[1].check.verdict == verdict else (pending_claim.evidence, ruling)


def _absent_check(missing: Sequence[TextReference], references: Sequence[TextReference]) -> Check:
    """The verdict on a claim whose documents were not given: unverifiable; references missing from the list do not
    count.
    """
    pattern = gettext("not available: {names}") if missing else gettext("{names} is not in the list of references")
    reason = pattern.format(names=join_list(map(_reference_name, missing or references)))
    return Check(rule="citation", verdict="unchecked" if missing else "unsupported", reason=reason)


def _reference_name(reference: TextReference) -> str:
    return f"[{reference.label}]" if reference.label else reference.url[:200]
