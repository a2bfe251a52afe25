"""A judge on this machine that supports whatever it is asked about is found out: its support counts no more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from functools import partial
from pathlib import Path

import msgspec
import pytest
from judging import JUDGE, Judging, rules

from assay import Assay
from assay.core.brief import ROLES
from assay.core.errors import ModelError
from assay.core.messages import Delta, Reply, Request, ToolCall
from assay.core.ports import Model
from assay.models.extractive import Extractive
from assay.models.script import Scene
from assay.run.run import Run
from assay.settings import load
from assay.verify.judge.control import CONTROL_QUESTIONS, MAX_SUPPORTED, is_trusted
from assay.verify.texts.text_check import CheckedClaim

NAME = "own:judge"
TEXT = "The council turned the bridge down after a long debate in June."
REWORDED = "After much talk, councillors rejected a crossing"
DRAFT = f"{REWORDED} ([Council](council.md))."
MODELS = dict.fromkeys(ROLES, "rewording") | {"judge": NAME}
FALSE = [question for question in CONTROL_QUESTIONS if not question.is_true]


class Judge:
    """Answers as told, and counts what it is asked."""

    def __init__(self, answer: Callable[[str], str], *, local: bool = True) -> None:
        profile = Extractive().profile
        self.profile = msgspec.structs.replace(profile, name=NAME, deterministic=False, quotes=False, local=local)
        self.sentences: list[str] = []
        self._answer = answer

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        sentence = request.user_texts("sentence")[0]
        self.sentences.append(sentence)
        arguments = {"slots": [], "reason": "By the text.", "verdict": self._answer(sentence)}
        yield Reply(calls=(ToolCall(id="1", name="verdict", arguments=arguments),), stop="calls", model=NAME)

    async def close(self) -> None:
        pass


class Rewording(Extractive):
    """Writes its report in other words, with the citations that it would have."""

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        reply = [item async for item in super().stream(request)][-1]
        if isinstance(reply, Reply) and request.task in ("write", "answer"):
            marker = reply.text[reply.text.index("[S") : reply.text.index("]") + 1]
            reply = msgspec.structs.replace(reply, text=f"{REWORDED} {marker}.")
        yield reply


async def _checked(judge: Judge | None, folder: Path, draft: str = DRAFT) -> CheckedClaim:
    (folder / "council.md").write_text(TEXT)
    models = {NAME: judge} if judge else {}
    async with Assay(load(), home=folder / "home", models=models) as assay:
        verified = await assay.verify(draft, sources=[folder / "council.md"], model=NAME if judge else None)
    (claim,) = verified.claims
    return claim


async def _verdict(judge: Judge | None, folder: Path) -> str:
    return (await _checked(judge, folder)).verdict


def _is_control(sentence: str) -> bool:
    return any(question.sentence in sentence for question in FALSE)


def _right(sentence: str) -> str:
    return "unsupported" if _is_control(sentence) else "supported"


async def test_what_supports_everything_supports_nothing(tmp_path: Path) -> None:
    judge = Judge(lambda sentence: "supported")
    assert await _verdict(judge, tmp_path) == await _verdict(None, tmp_path) != "supported"
    assert len(judge.sentences) == 1 + len(FALSE)


async def test_the_answers_to_the_questions_are_remembered(tmp_path: Path) -> None:
    judge = Judge(_right)
    assert await _verdict(judge, tmp_path) == "supported"
    assert len(judge.sentences) == 1 + len(FALSE)
    assert await _verdict(judge, tmp_path) == "supported"
    assert len(judge.sentences) == 1 + len(FALSE)


@pytest.mark.parametrize(("wrong", "verdict"), [(MAX_SUPPORTED, "supported"), (MAX_SUPPORTED + 1, "unsupported")])
async def test_one_slip_is_allowed(wrong: int, verdict: str, tmp_path: Path) -> None:
    slips = [question.sentence for question in FALSE[:wrong]]
    judge = Judge(lambda sentence: "supported" if any(slip in sentence for slip in slips) else _right(sentence))
    assert await _verdict(judge, tmp_path) == verdict


async def test_what_it_does_not_answer_earns_no_trust(tmp_path: Path) -> None:
    judge = Judge(lambda sentence: "unclear" if _is_control(sentence) else "supported")
    assert await _verdict(judge, tmp_path) == await _verdict(None, tmp_path) != "supported"


async def test_a_replay_computes_the_same_course(tmp_path: Path) -> None:
    """The warning belongs to the questions, whenever a claim that streams leads to them."""
    (tmp_path / "council.md").write_text(TEXT)
    models: dict[str, Model] = {NAME: Judge(lambda sentence: "supported"), "rewording": Rewording()}
    async with Assay(load(), home=tmp_path / "home", models=models) as assay:
        run = assay.start(
            "What did the council do about the bridge?", sources=tmp_path / "council.md", models=MODELS, web=False
        )
        await run.report()
        replayed = await assay.replay(run.run_id)
        warned = [warning.message for warning in (await assay.view(run.run_id)).warnings]
    assert (replayed.differences, replayed.same_report) == ((), True)
    assert len([message for message in warned if NAME in message]) == 1


@pytest.mark.parametrize("local_first", [True, False])
async def test_who_answers_in_the_place_of_another_is_asked_as_what_it_is(tmp_path: Path, local_first: bool) -> None:
    """The first judge does not answer: a hosted one in its place is asked no control question, a local one is."""
    (tmp_path / "council.md").write_text(TEXT)

    def away(sentence: str) -> str:
        raise ModelError("no quota", transient=False)

    judge = Judge(lambda sentence: "supported", local=not local_first)
    models: dict[str, Model] = {"first": Judge(away, local=local_first), NAME: judge, "rewording": Rewording()}
    roles = MODELS | {"judge": ("first", NAME)}
    question = "What did the council do about the bridge?"
    async with Assay(load(), home=tmp_path / "home", models=models) as assay:
        run = assay.start(question, sources=tmp_path / "council.md", models=roles, web=False)
        report = await run.report()
    assert any(claim.verdict == "supported" for claim in report.claims) is local_first
    assert any(_is_control(sentence) for sentence in judge.sentences) is not local_first


async def test_a_claim_dropped_while_the_questions_are_asked_ends_none_of_them() -> None:
    may_answer, asked = asyncio.Event(), asyncio.Event()

    def answer(request: Request) -> Scene:
        if _is_control(request.user_texts("sentence")[0]):
            asked.set()
            return msgspec.structs.replace(rules("unsupported"), hang=may_answer)
        return rules("supported")

    judging = Judging(profile=msgspec.structs.replace(JUDGE, local=True))

    async def body(run: Run) -> bool:
        first = run.in_background("first", partial(is_trusted, model=JUDGE.name))
        await asked.wait()
        first.cancel()
        await asyncio.sleep(0)
        may_answer.set()
        return await is_trusted(run.child("second"), JUDGE.name)

    assert await judging.within(answer, body)
    assert len(judging.requests) == len(FALSE)


async def test_a_judge_that_supports_nothing_is_asked_no_control_question(tmp_path: Path) -> None:
    judge = Judge(lambda sentence: "unsupported")
    assert await _verdict(judge, tmp_path) == "unsupported"
    assert len(judge.sentences) == 1


async def test_a_hosted_judge_is_asked_none(tmp_path: Path) -> None:
    judge = Judge(lambda sentence: "supported", local=False)
    assert await _verdict(judge, tmp_path) == "supported"
    assert len(judge.sentences) == 1


async def test_a_judge_may_refuse_what_was_found_for_a_sentence_without_a_citation(tmp_path: Path) -> None:
    claim = await _checked(Judge(lambda sentence: "unsupported"), tmp_path, f"{REWORDED}.")
    assert (claim.verdict, claim.rule) == ("unsupported", "judge")
