"""A model says again, in one sentence, only what the passages say of a claim's matter."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from assay.core.citations.reader import citing
from assay.core.clean import HARMFUL
from assay.core.messages import Message, Request
from assay.core.passage_context import show
from assay.core.sources import Passage, Source
from assay.core.text import words
from assay.run.prompt_files import prompt
from assay.run.run import Run
from assay.run.voice import StreamHooks
from assay.verify.claim_check import ClaimResult
from assay.verify.claims import ReportSentence, read

LONGEST = 1_500
"""Code points of a sentence somebody will read."""
NOTHING = re.compile(r"[\W_]*nothing[\W_]*", re.IGNORECASE)
_BLOCK = re.compile(r"(?:[-*+>|]|#{1,6}|\d{1,3}[.)])[ \t]+")
_FENCE = re.compile(r"```[a-z]*")

HEDGES = re.compile(
    r"\b(?:may|might|could|can|perhaps|possibly|maybe|presumably|probably|likely|reportedly|allegedly|supposedly|"
    r"apparently|seemingly|arguably|potentially|purportedly|roughly|around|about|approximately|nearly|almost|"
    r"(?:it )?(?:seems?|appears?)(?: that)?|suggests?|"
    r"(?:some|several|certain|various) (?:sources?|reports?|accounts?|people|experts?)|"
    r"is said to|are said to|according to some|in some cases|"
    r"vielleicht|möglicherweise|angeblich|offenbar|vermutlich|wohl|peut-être|apparemment|prétendument|quizás?|"
    r"posiblemente|supuestamente|forse|presumibilmente)\b",
    re.IGNORECASE,
)
"""Words which make a sentence safe without making it true: a new version has only those its passages have."""


async def narrowed(
    run: Run, report: str, checked: ClaimResult, passages: Sequence[Passage], sources: Mapping[str, Source]
) -> ReportSentence | None:
    """The sentence as the writer's model says it anew, with its markers; None where it cannot, or will not do.

    Raises:
        LimitReached, ModelFailed: there is no answer.
    """
    request = Request(
        task="revise",
        system=prompt("assay.verify", "revise"),
        messages=_messages(report, checked, passages, sources),
        tool_choice="none",
        max_tokens=run.rules.revision_tokens,
        effort="low",
    )
    known = {passage.id for passage in passages}
    reply = await run.ask("complex", request, StreamHooks(thinking=False, reading=citing(known.__contains__)))
    return accepted(reply.text, checked, passages)


def _messages(
    report: str, checked: ClaimResult, passages: Sequence[Passage], sources: Mapping[str, Source]
) -> tuple[Message, ...]:
    sentence = " ".join(report[checked.sentence.start : checked.sentence.end].split())
    cited = f" [{', '.join(checked.passages)}]" if checked.passages else ""
    by_source: defaultdict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        by_source[passage.source].append(passage)
    evidence = "\n\n".join(show(sources[id], of) for id, of in by_source.items() if id in sources)
    said = (
        ("sentence", f"{sentence}{cited}"),
        ("objection", f"{checked.check.verdict}: {checked.check.reason}"),
        ("evidence", evidence),
    )
    return tuple(Message(role="user", name=name, text=text) for name, text in said)


def accepted(reply: str, checked: ClaimResult, passages: Sequence[Passage]) -> ReportSentence | None:
    """The one claim a reply holds; None where it holds none, or several, or cites what it was not shown, or hedges."""
    text = " ".join(_FENCE.sub(" ", HARMFUL.sub("", reply)).split()).strip()
    if not text or len(text) > LONGEST or NOTHING.fullmatch(text) or _BLOCK.match(text) or "|" in text:
        return None
    found = read(text)
    if len(found) != 1 or not found[0].id:
        return None
    ids = {id for marker in found[0].markers for id in marker.ids}
    known = {passage.id: passage for passage in passages}
    if not ids or not ids.issubset(known):
        return None
    before = checked.sentence.text
    if hedged(before, found[0].text, [known[id].text for id in ids]):
        return None
    return None if same(before, found[0].text) and ids == set(checked.passages) else found[0]


def hedged(before: str, after: str, passages: Sequence[str]) -> bool:
    """Whether `after` has a word which only makes it safer, and neither `before` nor any passage it cites has it."""
    told = " ".join((before, *passages)).casefold()
    kept = {hedge[0].casefold() for hedge in HEDGES.finditer(told)}
    return any(hedge[0].casefold() not in kept for hedge in HEDGES.finditer(after))


def same(before: str, after: str) -> bool:
    """Whether two sentences have the same words."""
    return words(before) == words(after)


def text_of(reply: ReportSentence, passages: Sequence[str]) -> str:
    """A new version as it is written into the report: its words, then one marker."""
    return f"{reply.text} [{', '.join(passages)}]"
