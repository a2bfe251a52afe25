"""Remedies for a failing claim: another passage, a narrower sentence, or new evidence from the tools."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar

import msgspec

from assay.core.citations.reader import citation_reading
from assay.core.claims import HOLDING
from assay.core.clean import HARMFUL
from assay.core.errors import Failed, LimitReached
from assay.core.events import SourceAdded, ToolFailed, ToolFinished, ToolStarted
from assay.core.lazy import regex
from assay.core.markers import parse_markers
from assay.core.messages import Message, Request
from assay.core.passage_context import format_source
from assay.core.ports import LedgerRow
from assay.core.report_sentences import ReportSentence, read_sentences
from assay.core.sources import SNIPPET, Passage, Source
from assay.core.text import words
from assay.evidence.ledger import Ledger
from assay.run.protocols import Observation
from assay.run.run import Branch, Run
from assay.run.steps import StepContext
from assay.run.voice import StreamHooks
from assay.verify.analyzed_text import COMMON, Word, analyze_text
from assay.verify.claim_check import CheckRules, ClaimResult, RepairMeans, check_claim, decide_by_code
from assay.verify.evidence import ClaimEvidence
from assay.verify.evidence_index import EvidenceIndex
from assay.verify.verifier.verdicts import weigh

TRIED = 3
"""Passages tried for one claim."""
JUDGED = 2
"""How many new citations that code cannot decide are shown to the judge."""
LIKELY = 0.5
"""The word score from which a passage is better than the rejected one, though nothing is certain."""


async def find_other_citation(
    run: Run,
    evidence_index: EvidenceIndex,
    rules: CheckRules,
    result: ClaimResult,
    passages: Sequence[Passage],
    *,
    asks: bool,
) -> ClaimResult | None:
    """The claim with another citation that supports it; None if none does.

    Without a judge, a claim with no or a wrong citation may get a passage to which no rule objects and whose words make
    it likely; it is `unchecked` then. A contradicted claim needs support elsewhere, and keeps its citation as evidence
    against it. With `asks` False no judge is called: only what code certifies counts.
    """
    open_citations: list[tuple[ReportSentence, ClaimEvidence]] = []
    for evidence in _other_citations(evidence_index, result, passages[:TRIED]):
        sentence = with_markers(result.sentence, [passage.id for passage in evidence.passages])
        check, findings = await asyncio.to_thread(decide_by_code, sentence, evidence, rules)
        if check is not None and check.verdict in HOLDING:
            after = ClaimResult(id=result.id, sentence=sentence, evidence=evidence, check=check, findings=findings)
            return _add_dispute(result, after)
        if check is None:
            open_citations.append((sentence, evidence))
    if rules.uses_judge:
        open_citations = open_citations[: JUDGED if asks else 0]
    results: list[ClaimResult] = []
    for sentence, evidence in open_citations:
        results.append(await check_claim(run, result.id, sentence, evidence, rules))
        if results[-1].check.verdict in HOLDING:
            return _add_dispute(result, results[-1])
    return _likeliest_citation(rules, result, results)


def _add_dispute(before: ClaimResult, after: ClaimResult) -> ClaimResult:
    """Add what contradicted the claim before as evidence against it."""
    if before.check.verdict != "contradicted":
        return after
    against = tuple(passage for passage in before.evidence.passages if passage.id not in after.passages)
    return msgspec.structs.replace(after, against=against)


def _likeliest_citation(rules: CheckRules, result: ClaimResult, results: Sequence[ClaimResult]) -> ClaimResult | None:
    """The likeliest of the undecided citations, if nothing better can be had."""
    if rules.uses_judge or result.check.verdict != "unsupported" or result.check.rule == "lexical":
        return None
    scored_results = [(_score(candidate), candidate) for candidate in results if candidate.check.verdict == "unchecked"]
    best = max(scored_results, key=lambda pair: pair[0], default=(0.0, None))
    return best[1] if best[0] >= LIKELY else None


def _score(result: ClaimResult) -> float:
    return weigh(result.sentence.text, "\n\n".join(result.evidence.texts)).score


def _other_citations(
    evidence_index: EvidenceIndex, result: ClaimResult, passages: Sequence[Passage]
) -> Iterator[ClaimEvidence]:
    """The passages the claim may cite instead: each passage alone, then pairs of its own and the best of them."""
    for passage in passages:
        yield evidence_index.claim_evidence([passage])
    if passages and result.evidence.passages and result.check.verdict != "contradicted":
        yield evidence_index.claim_evidence([*result.evidence.passages[:2], passages[0]])
    if len(passages) > 1:
        yield evidence_index.claim_evidence(passages[:2])


def with_markers(sentence: ReportSentence, ids: Sequence[str]) -> ReportSentence:
    """The sentence with one marker of these passages in place of its own; its place is not known yet."""
    return msgspec.structs.replace(sentence, markers=tuple(parse_markers(f"[{', '.join(ids)}]")))


# Narrowing: a model says again, in one sentence, only what the passages say about a claim.

MAX_SENTENCE_CHARS = 1_500
"""Code points of a readable sentence."""
NOTHING = regex(r"[\W_]*nothing[\W_]*", re.IGNORECASE)
_BLOCK = regex(r"(?:[-*+>|]|#{1,6}|\d{1,3}[.)])[ \t]+")
_FENCE = regex(r"```[a-z]*")
_ANNOUNCED = regex(r"[\W_]*((?:[^\W\d]+[ '’-]){0,7}[^\W\d]+)[*_]{0,3}\s*[:：][*_]{0,3}\s*(?=\S)")
"""A few words and a colon before a sentence ("**Corrected sentence:**")."""
_WRAPPED = regex(r"([\"“„«*_'])(?P<text>.+?)[\"”“»*_'](?P<markers>(?:\s*\[[^\[\]]*\])*\.?)")
"""A sentence in quotation marks or emphasis, its markers inside or behind."""

HEDGES = regex(
    r"\b(?:may|might|could|can|perhaps|possibly|maybe|presumably|probably|likely|reportedly|allegedly|supposedly|"
    r"apparently|seemingly|arguably|potentially|purportedly|roughly|around|about|approximately|nearly|almost|"
    r"(?:it )?(?:seems?|appears?)(?: that)?|suggests?|"
    r"(?:some|several|certain|various) (?:sources?|reports?|accounts?|people|experts?)|"
    r"is said to|are said to|according to some|in some cases|"
    r"vielleicht|möglicherweise|angeblich|offenbar|vermutlich|wohl|peut-être|apparemment|prétendument|quizás?|"
    r"posiblemente|supuestamente|forse|presumibilmente)\b",
    re.IGNORECASE,
)
"""Words that make a sentence safe without making it true: a new version may only have those of its passages."""


async def narrow_claim(
    run: Run, report: str, result: ClaimResult, passages: Sequence[Passage], sources: Mapping[str, Source]
) -> ReportSentence | None:
    """The sentence as rewritten by the writer's model, with markers; None if it cannot or will not.

    Raises:
        LimitReached, ModelFailed: there is no answer.
    """
    request = Request(
        task="revise",
        system=run.prompt("assay.verify", "revise"),
        messages=_messages(report, result, passages, sources),
        tool_choice="none",
        max_tokens=run.rules.revision_tokens,
        effort="low",
    )
    shown_ids = {passage.id for passage in passages}
    reply = await run.ask(
        "complex", request, StreamHooks(thinking=False, reader_factory=citation_reading(shown_ids.__contains__))
    )
    return read_rewrite(reply.text, result, passages)


def _messages(
    report: str, result: ClaimResult, passages: Sequence[Passage], sources: Mapping[str, Source]
) -> tuple[Message, ...]:
    sentence = " ".join(report[result.sentence.start : result.sentence.end].split())
    citation = f" [{', '.join(result.passages)}]" if result.passages else ""
    by_source: defaultdict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        by_source[passage.source].append(passage)
    evidence = "\n\n".join(
        format_source(sources[id], source_passages) for id, source_passages in by_source.items() if id in sources
    )
    messages = (
        ("sentence", f"{sentence}{citation}"),
        ("objection", f"{result.check.verdict}: {result.check.reason}"),
        ("evidence", evidence),
    )
    return tuple(Message(role="user", name=name, text=text) for name, text in messages)


def read_rewrite(reply: str, result: ClaimResult, passages: Sequence[Passage]) -> ReportSentence | None:
    """The claim in a reply; None if there is none, or several, or it cites what it was not shown, or hedges."""
    text = _bare_sentence(_FENCE.sub(" ", HARMFUL.sub("", reply)), result.sentence.text)
    if not text or len(text) > MAX_SENTENCE_CHARS or NOTHING.fullmatch(text) or _BLOCK.match(text) or "|" in text:
        return None
    sentences = read_sentences(text)
    if len(sentences) != 1 or not sentences[0].id:
        return None
    ids = {id for marker in sentences[0].markers for id in marker.ids}
    passages_by_id = {passage.id: passage for passage in passages}
    if not ids or not ids.issubset(passages_by_id):
        return None
    before = result.sentence.text
    if adds_hedge(before, sentences[0].text, [passages_by_id[id].text for id in ids]):
        return None
    return None if words(before) == words(sentences[0].text) and ids == set(result.passages) else sentences[0]


def _bare_sentence(reply: str, before: str) -> str:
    """The sentence on one line, without what models put around it: an announcement, quotation marks, emphasis, a note.

    Words before a colon are none if the sentence `before` has them all: "Norway: exports fell".
    """
    cited = [paragraph for paragraph in reply.split("\n\n") if parse_markers(paragraph)]
    text = " ".join((cited[0] if len(cited) == 1 else reply).split())
    if len(text) > 2 * MAX_SENTENCE_CHARS:
        return text
    match = _ANNOUNCED.match(text)
    if match and not text[match.end()].islower() and not set(words(match[1])).issubset(words(before)):
        text = text[match.end() :]
    while (match := _WRAPPED.fullmatch(text)) and text[0] != before[:1] and _is_one_pair(match):
        text = f"{match['text']}{match['markers']}"
    return text.strip()


def _is_one_pair(wrapped: re.Match[str]) -> bool:
    """True if the signs around a text belong together: not in '"a" and "b"'."""
    signs = f"{wrapped[1]}{wrapped.string[wrapped.end('text')]}"
    return not any(sign in wrapped["text"].strip(signs) for sign in signs)


def adds_hedge(before: str, after: str, passages: Sequence[str]) -> bool:
    """True if `after` has a hedging word that neither `before` nor any cited passage has."""
    text = " ".join((before, *passages)).casefold()
    allowed_hedges = {hedge[0].casefold() for hedge in HEDGES.finditer(text)}
    return any(hedge[0].casefold() not in allowed_hedges for hedge in HEDGES.finditer(after))


def rewritten_text(reply: ReportSentence, passages: Sequence[str]) -> str:
    """A new version as written into the report: its words, then one marker."""
    return f"{reply.text} [{', '.join(passages)}]"


# A few searches for what a claim says, and the pages they find.

MAX_CLAIMS = 6
"""Claims of one report that are searched for."""
TERMS = 12
MIN_TERMS = 3
RESULTS = 5
PAGES = 2
"""Pages read for one claim, if a search returns only snippets."""


class ClaimSearchRows(msgspec.Struct, frozen=True):
    """The ledger rows that a search for a claim added."""

    step_tag: ClassVar[str] = "looked"

    rows: tuple[LedgerRow, ...]


async def search_for_claims(
    run: Run, evidence_index: EvidenceIndex, means: RepairMeans, claims: Sequence[ClaimResult]
) -> bool:
    """Search for failing claims; return whether anything new was found.

    After a limit or a failing tool, the claims are repaired with what there is.
    """
    if "search" not in means.tools:
        return False
    before = set(evidence_index.sources), set(evidence_index.passages)
    branches = (Branch(claim.id, partial(_search_for_claim, means=means, claim=claim)) for claim in claims[:MAX_CLAIMS])
    search_results = await run.gather(*branches)
    for claim, observations in zip(claims, search_results, strict=False):
        await _register_results(run, means.ledger, claim.id, observations)
    passages, sources = means.ledger.passages_and_sources()
    evidence_index.add(passages.values(), sources.values())
    return (set(evidence_index.sources), set(evidence_index.passages)) != before


async def _search_for_claim(run: Run, *, means: RepairMeans, claim: ClaimResult) -> list[Observation]:
    """The results of the searches for a claim, and the pages they name."""
    observations: list[Observation] = []
    for number, query in enumerate(queries(claim.sentence.text)):
        observation = await _call(run, means, f"search-{number}", "search", {"query": query, "limit": RESULTS})
        if observation is None:
            continue
        observations.append(observation)
        pages = [excerpt.document.url for excerpt in observation.shown if excerpt.document.media_type == SNIPPET][
            :PAGES
        ]
        if pages and "open" in means.tools:
            page_observation = await _call(run, means, f"open-{number}", "open", {"documents": pages, "find": query})
            observations += [page_observation] if page_observation is not None else []
    return observations


async def _call(
    run: Run, means: RepairMeans, call: str, tool: str, arguments: Mapping[str, object]
) -> Observation | None:
    run.emit(ToolStarted(call=call, tool=tool, arguments=msgspec.json.encode(arguments).decode()))
    try:
        observation = await means.tools[tool].run(run.child(call), means.ledger, arguments)
    except LimitReached as limit:
        run.emit(ToolFailed(call=call, tool=tool, reason=f"limit reached: {limit.reason}"))
        return None
    except Failed as failed:
        run.emit(ToolFailed(call=call, tool=tool, reason=failed.reason))
        return None
    run.emit(ToolFinished(call=call, tool=tool, summary=observation.summary))
    return observation


async def _register_results(run: Run, ledger: Ledger, claim: str, observations: Sequence[Observation]) -> None:
    """Give ids to what the searches showed, claim by claim: the same ids on every replay."""
    excerpts = [excerpt for observation in observations for excerpt in observation.shown]
    if not excerpts:
        return

    async def register(step_context: StepContext) -> ClaimSearchRows:
        registration = ledger.register(run.lane, excerpts, queries=(), pages=())
        for source in registration.sources:
            step_context.emit(SourceAdded(source=source))
        step_context.record(*registration.rows)
        return ClaimSearchRows(registration.rows)

    step_input = [(excerpt.document.sha256, [span.ordinal for span in excerpt.spans]) for excerpt in excerpts]
    ledger.apply((await run.child(claim).step("keep", register, returns=ClaimSearchRows, input=step_input)).rows)


def queries(claim: str) -> list[str]:
    """One or two queries for what a claim says: its significant words, or for a long one those of each half."""
    significant_words = [
        word for word in analyze_text(claim).words if word.kind != "sign" and word.text.casefold() not in COMMON
    ]
    if len(significant_words) <= TERMS:
        return [_query(significant_words)] if len(significant_words) >= MIN_TERMS else []
    middle = len(significant_words) // 2
    return [_query(significant_words[:middle][:TERMS]), _query(significant_words[middle:][:TERMS])]


def _query(significant_words: Sequence[Word]) -> str:
    return " ".join(dict.fromkeys(word.text for word in significant_words))
