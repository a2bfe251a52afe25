"""The judge: a model that compares one claim with its evidence, and sees nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from assay.core.claims import Check
from assay.core.errors import ContextTooLong, Failed, LimitReached
from assay.core.languages import detect_language
from assay.core.messages import Reply
from assay.core.phrases import stop_reason_phrase
from assay.core.ports import Cache
from assay.core.translation import gettext as _
from assay.run.run import Run
from assay.run.steps import StepContext
from assay.run.voice import SILENT
from assay.verify.evidence import ClaimEvidence, SlotFinding
from assay.verify.judge.answers import JudgeAnswer, read_answer
from assay.verify.judge.masks import ComparedValue, compare_values, mask_values, name_scope
from assay.verify.judge.question import (
    MAX_EXHIBIT_TOKENS,
    JudgeQuestion,
    answer_check,
    answer_defect,
    build_exhibit,
    names_question,
    unchecked_claim,
)

WINDOW_SHARE = 3
"""The evidence takes at most 1/`WINDOW_SHARE` of the judge's window."""
_UNREADABLE = "no single verdict could be read in it"


class JudgeRuling(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's verdict on a claim, the values it found for the hidden ones, and the judge's name."""

    check: Check
    slots: tuple[ComparedValue, ...] = ()
    model: str = ""


class _CachedAnswer(msgspec.Struct, frozen=True):
    """An earlier answer to the same question, if there is one."""

    answer: JudgeAnswer | None = None


class _Opinion(msgspec.Struct, frozen=True):
    """An answer with the slots that follow from it, or the reason why there is none."""

    answer: JudgeAnswer | None
    slots: tuple[ComparedValue, ...] = ()
    model: str = ""
    problem: str = ""


def has_judge(run: Run) -> bool:
    """True if a model can judge, other than the built-in one, and judging is not switched off."""
    names = run.brief.models.get("judge", ())
    return bool(names) and "judge" not in run.brief.checks_off and not run.world.models[names[0]].profile.deterministic


async def ask_judge(
    run: Run, claim: str, evidence: ClaimEvidence, findings: Sequence[SlotFinding], head: Sequence[str] = ()
) -> JudgeRuling:
    """Ask the judge about `claim`, with nothing but its evidence.

    A failing model, a limit and an unusable answer leave the claim unchecked; none of these raises.

    Args:
        run: a separate place for each claim, if several are judged at once.
        claim: the sentence, without markers.
        evidence: what it cites.
        findings: findings of the deterministic checks, which say which values to hide from the judge.
        head: the header cells, for a table row.
    """
    try:
        return await _ask_about_claim(run, claim, evidence, findings, tuple(head))
    except LimitReached as limit:
        return JudgeRuling(check=unchecked_claim(stop_reason_phrase(limit.reason)))
    except ContextTooLong:
        return JudgeRuling(check=unchecked_claim(_("the evidence is too long for the judge")))
    except Failed as failed:
        return JudgeRuling(check=unchecked_claim(_("the judge failed: {why}").format(why=failed.reason)))


async def _ask_about_claim(
    run: Run, claim: str, evidence: ClaimEvidence, findings: Sequence[SlotFinding], head: tuple[str, ...]
) -> JudgeRuling:
    exhibit = build_exhibit(claim, evidence, min(MAX_EXHIBIT_TOKENS, run.profile("judge").window // WINDOW_SHARE))
    system = run.prompt("assay.verify", "judge")
    names = name_scope(run.brief.language.partition("-")[0] or detect_language(claim), evidence.texts)
    first = JudgeQuestion(claim=mask_values(claim, findings, names=names), exhibit=exhibit, system=system, head=head)
    opinion = await _get_opinion(run, first)
    differing_names = [
        slot for slot in opinion.slots if slot.kind == "name" and slot.outcome in ("other", "not stated")
    ]
    if not differing_names:
        return _opinion_ruling(opinion)
    # One thing may have several names, which code cannot know, so the judge is asked again with the names shown.
    open_names = JudgeQuestion(
        claim=mask_values(claim, findings, names="none"),
        exhibit=exhibit,
        system=system,
        doubt=names_question(differing_names),
        head=head,
    )
    second = _opinion_ruling(await _get_opinion(run, open_names))
    return msgspec.structs.replace(second, slots=(*second.slots, *differing_names))


def _opinion_ruling(opinion: _Opinion) -> JudgeRuling:
    if opinion.answer is None:
        reason = _("the judge's answer could not be used: {why}").format(why=opinion.problem)
        return JudgeRuling(check=unchecked_claim(reason), model=opinion.model)
    return JudgeRuling(check=answer_check(opinion.answer, opinion.slots), slots=opinion.slots, model=opinion.model)


async def _get_opinion(run: Run, question: JudgeQuestion) -> _Opinion:
    """The answer to a question: a known one, else the judge's, who is asked at most twice."""
    name, cache = run.brief.models["judge"][0], run.world.cache
    answer = await _recall_answer(run, cache, question.key(name)) if cache else None
    if answer is not None:
        return _examine_answer(question, answer, name)
    opinion = _Opinion(None)
    for _attempt in range(2):
        reply = await run.ask("judge", question.request(run.rules.verdict_tokens, opinion.problem), SILENT)
        opinion = _read_opinion(run, question, reply)
        if opinion.answer is not None:
            if cache and reply.model == name:
                await _store_answer(run, cache, question.key(name), opinion.answer)
            break
    return opinion


def _read_opinion(run: Run, question: JudgeQuestion, reply: Reply) -> _Opinion:
    model = run.world.models.get(reply.model)
    answer = None if model is not None and model.profile.deterministic else read_answer(reply)
    if answer is None:
        return _Opinion(None, model=reply.model, problem=_UNREADABLE)
    return _examine_answer(question, answer, reply.model)


def _examine_answer(question: JudgeQuestion, answer: JudgeAnswer, model: str) -> _Opinion:
    slots = compare_values(question.claim.hidden, answer.slots, question.exhibit.texts)
    problem = answer_defect(answer, slots)
    return _Opinion(None if problem else answer, () if problem else slots, model, problem)


async def _recall_answer(run: Run, cache: Cache, key: str) -> JudgeAnswer | None:
    async def work(_: StepContext) -> _CachedAnswer:
        data = await asyncio.to_thread(cache.recall, key)
        return _CachedAnswer() if data is None else _CachedAnswer(msgspec.json.decode(data, type=JudgeAnswer))

    return (await run.step("recall-judgement", work, returns=_CachedAnswer, input=key)).answer


async def _store_answer(run: Run, cache: Cache, key: str, answer: JudgeAnswer) -> None:
    async def work(_: StepContext) -> bool:
        await asyncio.to_thread(cache.keep, key, msgspec.json.encode(answer))
        return True

    await run.step("keep-judgement", work, returns=bool, input=key)
