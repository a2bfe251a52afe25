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
    run: Run, held: EvidenceIndex, rules: CheckRules, checked: ClaimResult, passages: Sequence[Passage], *, asks: bool
) -> ClaimResult | None:
    """The claim with another citation that supports it; None if none does.

    Without a judge, a claim with no or a wrong citation may get a passage to which no rule objects and whose words make
    it likely; it is `unchecked` then. A contradicted claim needs support elsewhere, and keeps its citation as evidence
    against it. With `asks` False no judge is called: only what code certifies counts.
    """
    open_ways: list[tuple[ReportSentence, ClaimEvidence]] = []
    for evidence in _other_citations(held, checked, passages[:TRIED]):
        sentence = with_markers(checked.sentence, [passage.id for passage in evidence.passages])
        check, findings = await asyncio.to_thread(decide_by_code, sentence, evidence, rules)
        if check is not None and check.verdict in HOLDING:
            after = ClaimResult(id=checked.id, sentence=sentence, evidence=evidence, check=check, findings=findings)
            return _add_dispute(checked, after)
        if check is None:
            open_ways.append((sentence, evidence))
    if rules.judged:
        open_ways = open_ways[: JUDGED if asks else 0]
    tried: list[ClaimResult] = []
    for sentence, evidence in open_ways:
        tried.append(await check_claim(run, checked.id, sentence, evidence, rules))
        if tried[-1].check.verdict in HOLDING:
            return _add_dispute(checked, tried[-1])
    return _likeliest_citation(rules, checked, tried)


def _add_dispute(before: ClaimResult, after: ClaimResult) -> ClaimResult:
    """Add what contradicted the claim before as evidence against it."""
    if before.check.verdict != "contradicted":
        return after
    against = tuple(each for each in before.evidence.passages if each.id not in after.passages)
    return msgspec.structs.replace(after, against=against)


def _likeliest_citation(rules: CheckRules, checked: ClaimResult, tried: Sequence[ClaimResult]) -> ClaimResult | None:
    """The likeliest of the undecided citations, if nothing better can be had."""
    if rules.judged or checked.check.verdict != "unsupported" or checked.check.rule == "lexical":
        return None
    scored = [(_score(each), each) for each in tried if each.check.verdict == "unchecked"]
    best = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    return best[1] if best[0] >= LIKELY else None


def _score(checked: ClaimResult) -> float:
    return weigh(checked.sentence.text, "\n\n".join(checked.evidence.texts)).score


def _other_citations(held: EvidenceIndex, checked: ClaimResult, passages: Sequence[Passage]) -> Iterator[ClaimEvidence]:
    """The passages the claim may cite instead: each passage alone, then pairs of its own and the best of them."""
    for passage in passages:
        yield held.claim_evidence([passage])
    if passages and checked.evidence.passages and checked.check.verdict != "contradicted":
        yield held.claim_evidence([*checked.evidence.passages[:2], passages[0]])
    if len(passages) > 1:
        yield held.claim_evidence(passages[:2])


def with_markers(sentence: ReportSentence, ids: Sequence[str]) -> ReportSentence:
    """The sentence with one marker of these passages in place of its own; its place is not known yet."""
    return msgspec.structs.replace(sentence, markers=tuple(parse_markers(f"[{', '.join(ids)}]")))


# Narrowing: a model says again, in one sentence, only what the passages say about a claim.

LONGEST = 1_500
"""Code points of a readable sentence."""
NOTHING = regex(r"[\W_]*nothing[\W_]*", re.IGNORECASE)
_BLOCK = regex(r"(?:[-*+>|]|#{1,6}|\d{1,3}[.)])[ \t]+")
_FENCE = regex(r"```[a-z]*")

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
    run: Run, report: str, checked: ClaimResult, passages: Sequence[Passage], sources: Mapping[str, Source]
) -> ReportSentence | None:
    """The sentence as rewritten by the writer's model, with markers; None if it cannot or will not.

    Raises:
        LimitReached, ModelFailed: there is no answer.
    """
    request = Request(
        task="revise",
        system=run.prompt("assay.verify", "revise"),
        messages=_messages(report, checked, passages, sources),
        tool_choice="none",
        max_tokens=run.rules.revision_tokens,
        effort="low",
    )
    known = {passage.id for passage in passages}
    reply = await run.ask("complex", request, StreamHooks(thinking=False, reading=citation_reading(known.__contains__)))
    return read_rewrite(reply.text, checked, passages)


def _messages(
    report: str, checked: ClaimResult, passages: Sequence[Passage], sources: Mapping[str, Source]
) -> tuple[Message, ...]:
    sentence = " ".join(report[checked.sentence.start : checked.sentence.end].split())
    cited = f" [{', '.join(checked.passages)}]" if checked.passages else ""
    by_source: defaultdict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        by_source[passage.source].append(passage)
    evidence = "\n\n".join(format_source(sources[id], of) for id, of in by_source.items() if id in sources)
    messages = (
        ("sentence", f"{sentence}{cited}"),
        ("objection", f"{checked.check.verdict}: {checked.check.reason}"),
        ("evidence", evidence),
    )
    return tuple(Message(role="user", name=name, text=text) for name, text in messages)


def read_rewrite(reply: str, checked: ClaimResult, passages: Sequence[Passage]) -> ReportSentence | None:
    """The claim in a reply; None if there is none, or several, or it cites what it was not shown, or hedges."""
    text = " ".join(_FENCE.sub(" ", HARMFUL.sub("", reply)).split()).strip()
    if not text or len(text) > LONGEST or NOTHING.fullmatch(text) or _BLOCK.match(text) or "|" in text:
        return None
    found = read_sentences(text)
    if len(found) != 1 or not found[0].id:
        return None
    ids = {id for marker in found[0].markers for id in marker.ids}
    known = {passage.id: passage for passage in passages}
    if not ids or not ids.issubset(known):
        return None
    before = checked.sentence.text
    if adds_hedge(before, found[0].text, [known[id].text for id in ids]):
        return None
    return None if has_same_words(before, found[0].text) and ids == set(checked.passages) else found[0]


def adds_hedge(before: str, after: str, passages: Sequence[str]) -> bool:
    """True if `after` has a hedging word that neither `before` nor any cited passage has."""
    text = " ".join((before, *passages)).casefold()
    kept = {hedge[0].casefold() for hedge in HEDGES.finditer(text)}
    return any(hedge[0].casefold() not in kept for hedge in HEDGES.finditer(after))


def has_same_words(before: str, after: str) -> bool:
    """True if two sentences have the same words."""
    return words(before) == words(after)


def rewritten_text(reply: ReportSentence, passages: Sequence[str]) -> str:
    """A new version as written into the report: its words, then one marker."""
    return f"{reply.text} [{', '.join(passages)}]"


# A few searches for what a claim says, and the pages they find.

MOST_CLAIMS = 6
"""Claims of one report that are searched for."""
TERMS = 12
LEAST_TERMS = 3
RESULTS = 5
PAGES = 2
"""Pages read for one claim, if a search returns only snippets."""


class ClaimSearchRows(msgspec.Struct, frozen=True):
    """The ledger rows that a search for a claim added."""

    step_tag: ClassVar[str] = "looked"

    rows: tuple[LedgerRow, ...]


async def search_for_claims(run: Run, held: EvidenceIndex, means: RepairMeans, claims: Sequence[ClaimResult]) -> bool:
    """Search for failing claims; return whether anything new was found.

    After a limit or a failing tool, the claims are repaired with what there is.
    """
    if "search" not in means.tools:
        return False
    before = set(held.sources), set(held.passages)
    branches = (Branch(each.id, partial(_search_for_claim, means=means, claim=each)) for each in claims[:MOST_CLAIMS])
    found = await run.gather(*branches)
    for each, seen in zip(claims, found, strict=False):
        await _register_results(run, means.ledger, each.id, seen)
    passages, sources = means.ledger.passages_and_sources()
    held.add(passages.values(), sources.values())
    return (set(held.sources), set(held.passages)) != before


async def _search_for_claim(run: Run, *, means: RepairMeans, claim: ClaimResult) -> list[Observation]:
    """The results of the searches for a claim, and the pages they name."""
    seen: list[Observation] = []
    for place, query in enumerate(queries(claim.sentence.text)):
        found = await _call(run, means, f"search-{place}", "search", {"query": query, "limit": RESULTS})
        if found is None:
            continue
        seen.append(found)
        pages = [each.document.url for each in found.shown if each.document.media_type == SNIPPET][:PAGES]
        if pages and "open" in means.tools:
            opened = await _call(run, means, f"open-{place}", "open", {"documents": pages, "find": query})
            seen += [opened] if opened is not None else []
    return seen


async def _call(
    run: Run, means: RepairMeans, call: str, tool: str, arguments: Mapping[str, object]
) -> Observation | None:
    run.emit(ToolStarted(call=call, tool=tool, arguments=msgspec.json.encode(arguments).decode()))
    try:
        found = await means.tools[tool].run(run.child(call), means.ledger, arguments)
    except LimitReached as limit:
        run.emit(ToolFailed(call=call, tool=tool, reason=f"limit reached: {limit.reason}"))
        return None
    except Failed as failed:
        run.emit(ToolFailed(call=call, tool=tool, reason=failed.reason))
        return None
    run.emit(ToolFinished(call=call, tool=tool, summary=found.summary))
    return found


async def _register_results(run: Run, ledger: Ledger, claim: str, seen: Sequence[Observation]) -> None:
    """Give ids to what the searches showed, claim by claim: the same ids on every replay."""
    shown = [each for one in seen for each in one.shown]
    if not shown:
        return

    async def register(step_context: StepContext) -> ClaimSearchRows:
        added = ledger.register(run.lane, shown, queries=(), pages=())
        for source in added.sources:
            step_context.emit(SourceAdded(source=source))
        step_context.record(*added.rows)
        return ClaimSearchRows(added.rows)

    asked = [(each.document.sha256, [span.ordinal for span in each.spans]) for each in shown]
    ledger.apply((await run.child(claim).step("keep", register, returns=ClaimSearchRows, input=asked)).rows)


def queries(claim: str) -> list[str]:
    """One or two queries for what a claim says: its significant words, or for a long one those of each half."""
    telling = [each for each in analyze_text(claim).words if each.kind != "sign" and each.text.casefold() not in COMMON]
    if len(telling) <= TERMS:
        return [_query(telling)] if len(telling) >= LEAST_TERMS else []
    middle = len(telling) // 2
    return [_query(telling[:middle][:TERMS]), _query(telling[middle:][:TERMS])]


def _query(telling: Sequence[Word]) -> str:
    return " ".join(dict.fromkeys(word.text for word in telling))
