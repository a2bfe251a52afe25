"""A judge on this machine that supports whatever it is asked about is found out: its support counts no more."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import msgspec
import pytest

from assay import Assay
from assay.core.messages import Delta, Reply, Request, ToolCall
from assay.models.extractive import Extractive
from assay.settings import load
from assay.verify.judge.control import CONTROL_QUESTIONS, MAX_SUPPORTED
from assay.verify.texts.text_check import CheckedClaim

NAME = "own:judge"
TEXT = "The council turned the bridge down after a long debate in June."
DRAFT = "After much talk, councillors rejected a crossing ([Council](council.md))."
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


async def _checked(judge: Judge | None, folder: Path, draft: str = DRAFT) -> CheckedClaim:
    (folder / "council.md").write_text(TEXT)
    models = {NAME: judge} if judge else {}
    async with Assay(load(), home=folder / "home", models=models) as assay:
        verified = await assay.verify(draft, sources=[folder / "council.md"], model=NAME if judge else None)
    (claim,) = verified.claims
    return claim


async def _verdict(judge: Judge | None, folder: Path) -> str:
    return (await _checked(judge, folder)).verdict


def _right(sentence: str) -> str:
    return "unsupported" if any(question.sentence in sentence for question in FALSE) else "supported"


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


async def test_a_judge_that_supports_nothing_is_asked_no_control_question(tmp_path: Path) -> None:
    judge = Judge(lambda sentence: "unsupported")
    assert await _verdict(judge, tmp_path) == "unsupported"
    assert len(judge.sentences) == 1


async def test_a_hosted_judge_is_asked_none(tmp_path: Path) -> None:
    judge = Judge(lambda sentence: "supported", local=False)
    assert await _verdict(judge, tmp_path) == "supported"
    assert len(judge.sentences) == 1


async def test_a_judge_may_refuse_what_was_found_for_a_sentence_without_a_citation(tmp_path: Path) -> None:
    claim = await _checked(Judge(lambda sentence: "unsupported"), tmp_path, DRAFT.partition(" (")[0] + ".")
    assert (claim.verdict, claim.rule) == ("unsupported", "judge")
