"""A model is tried: what it can do, and what it cannot, is told as it is."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import msgspec
import pytest

from assay import Assay, try_model
from assay.app.model_trial import ACCEPTED
from assay.cli.main import main
from assay.core.errors import ModelFailed, UsageError
from assay.core.messages import Delta, Reply, Request, ToolCall
from assay.models.extractive import Extractive
from assay.services.claim_checks import ClaimRow, check
from assay.settings import load
from assay.verify.judge.control import CONTROL_QUESTIONS

NAME = "own:m"
Change = Callable[[Request, Reply], Reply]


class Own:
    """A model that does what the built-in one does, judges as it is told to, and is changed."""

    def __init__(self, judged: Callable[[str], str], change: Change = lambda request, reply: reply) -> None:
        self._inner, self._judged, self._change = Extractive(), judged, change
        self.profile = msgspec.structs.replace(self._inner.profile, name=NAME, deterministic=False, quotes=False)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if request.task == "judge":
            sentence = request.user_texts("sentence")[0]
            arguments = {"slots": [], "reason": "By the text.", "verdict": self._judged(sentence)}
            yield Reply(calls=(ToolCall(id="1", name="verdict", arguments=arguments),), stop="calls", model=NAME)
            return
        reply = [item async for item in self._inner.stream(request)][-1]
        assert isinstance(reply, Reply)
        yield self._change(request, reply)

    async def close(self) -> None:
        pass


def _truth(sentence: str) -> str:
    (known,) = [question.is_true for question in CONTROL_QUESTIONS if question.sentence in sentence]
    return "supported" if known else "unsupported"


def _says_yes(request: Request, reply: Reply) -> Reply:
    return msgspec.structs.replace(reply, text="Yes.") if request.task in ("find", "write", "answer") else reply


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))


async def test_a_good_model_can_do_both() -> None:
    trial = await try_model(NAME, settings=load(), models={NAME: Own(_truth)})
    assert (trial.research.stated, trial.research.facts, trial.research.error) == (2, 2, "")
    assert trial.no_answer.stop_reason == "no_evidence"
    assert (trial.judge.refused, trial.judge.accepted) == (6, 6)
    assert trial.can_research
    assert trial.can_judge
    assert trial.research.calls > 5


@pytest.mark.parametrize(
    ("answer", "refused", "accepted"), [("supported", 0, 6), ("unsupported", 6, 0), ("unknown", 6, 0)]
)
async def test_a_judge_that_always_says_the_same_is_not_usable(answer: str, refused: int, accepted: int) -> None:
    trial = await try_model(NAME, settings=load(), models={NAME: Own(lambda sentence: answer)})
    assert (trial.judge.refused, trial.judge.accepted) == (refused, accepted)
    assert not trial.can_judge
    assert trial.can_research


async def test_a_model_whose_report_code_wrote_is_not_usable() -> None:
    trial = await try_model(NAME, settings=load(), models={NAME: Own(_truth, _says_yes)})
    assert not trial.can_research
    assert trial.research.by_code or trial.research.stated < trial.research.facts
    assert trial.research.warnings


async def test_a_trial_counts_in_the_limits_of_the_day(tmp_path: Path) -> None:
    limited = load(limits={"tokens_per_day": 10**9})
    trial = await try_model(NAME, settings=limited, models={NAME: Own(_truth)})
    async with Assay(limited, home=tmp_path / "home") as assay:
        used = (await assay.used_today()).tokens
        assert not await assay.runs()
    assert used >= trial.research.tokens + trial.no_answer.tokens > 0
    with pytest.raises(UsageError, match=r"tokens \(limits.tokens_per_day\)"):
        await try_model(NAME, settings=load(limits={"tokens_per_day": used + 10}), models={NAME: Own(_truth)})


def test_the_judge_is_asked_about_every_sentence_and_the_rules_decide_none() -> None:
    rows = [ClaimRow(id=number, doc=each.text, claim=each.sentence) for number, each in enumerate(CONTROL_QUESTIONS)]
    assert {row.rule for row in check(rows)} == {"lexical"}
    assert sum(each.is_true for each in CONTROL_QUESTIONS) * 2 == len(CONTROL_QUESTIONS)
    assert not [row for row in check(rows) if row.verdict in ACCEPTED and CONTROL_QUESTIONS[int(row.id)].is_true]


def test_the_command_says_what_a_model_is_usable_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--try", "extractive"]) == 0
    shown = capsys.readouterr().out
    assert "2 of 2 facts stated and cited" in shown
    assert "usable for research\n" in shown
    assert main(["models", "--try", "extractive", "--json"]) == 0
    value = msgspec.json.decode(capsys.readouterr().out)
    assert (value["can_research"], value["can_judge"], value["research"]["facts"]) == (True, False, 2)


@pytest.mark.parametrize(
    "arguments", [["openai", "--try", "extractive"], ["--roles", "--try", "extractive"], ["--try", ""]]
)
def test_a_trial_is_of_one_model_and_of_nothing_else(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", *arguments]) == 2
    shown = capsys.readouterr()
    assert "--try tries one model" in shown.err or "no model provider named ''" in shown.err
    assert not shown.out


def test_a_model_that_does_not_answer_is_no_trial(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--try", "nosuch:m"]) == 2
    assert "no model provider named 'nosuch'" in capsys.readouterr().err


async def test_a_service_that_refuses_is_told_at_once() -> None:
    settings = load(services={"mine": {"url": "http://127.0.0.1:9"}})
    with pytest.raises(ModelFailed, match="does not answer"):
        await try_model("mine:m", settings=settings)
