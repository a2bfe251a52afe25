"""Whole runs with a judge: what it is asked about, what it sees, and what becomes of what it says."""

from __future__ import annotations

import pytest
from judging import JUDGE, verdict
from research import ONE_STEP, TIDE, Log, Sea, first_agent, planned, report_wanted, sends, whole

from assay.core import events as e
from assay.core.claims import HOLDING
from assay.core.messages import Reply, Request
from assay.models.script import Answer, Scene, Scripted, fails, says

TRUE = "The tide at Brest rises seven metres. [S1001.1]"
REPHRASED = "At Brest the sea comes up by 7 m. [S1001.1]"


def writes(*sentences: str) -> list[Scene]:
    report = "\n\n".join(sentences)
    return [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), says(report, task="write")]


class Judge:
    """Plays a run, and answers every question of a judge by `answers`: what the sentence contains, and the reply."""

    def __init__(self, script: list[Scene], answers: dict[str, Answer]) -> None:
        self._scenes, self._answers = script, answers
        self.model = Scripted(self._answer, profile=JUDGE)

    def _answer(self, request: Request) -> Answer | Scene:
        if request.task == "judge":
            sentence = request.user_texts("sentence")[0]
            return next(answer for part, answer in self._answers.items() if part in sentence)
        scene = next((scene for scene in self._scenes if scene.matches(request)), None)
        if scene is None:
            return Reply(text="")  # asked to mend what was refused
        self._scenes.remove(scene)
        return scene

    @property
    def asked(self) -> list[Request]:
        return [request for request in self.model.requests if request.task == "judge"]


async def judged(sentences: list[str], answers: dict[str, Answer], **changes: object) -> tuple[Log, Judge]:
    judge = Judge(writes(*sentences), answers)
    return await Sea().run(judge.model, **{"checks_off": (), **changes}), judge


def checks(log: Log) -> list[tuple[str, str]]:
    return [(event.rule, event.verdict) for event in log.of(e.ClaimChecked)]


async def test_the_judge_decides_what_the_rules_leave_open() -> None:
    log, judge = await judged([TRUE, REPHRASED], {"comes up": verdict("supported", A="seven metres")})
    assert sorted(checks(log)) == [("judge", "supported"), ("verbatim", "quoted")]
    [request] = judge.asked
    assert request.user_texts("sentence") == ("At Brest the sea comes up by {A}.\nHidden: {A} is a number.",)
    assert "It turns twice a day" in request.user_texts("evidence")[0]
    text = "\n".join(message.text for message in request.messages)
    assert "How far does the tide rise" not in text  # nothing of the question
    assert log.last(e.VerifySummary).summary.grounded_count == 2
    assert whole(log)


async def test_another_value_is_contradicted_whatever_the_judge_says() -> None:
    lie = "At Brest the sea comes up by a good 9 m. [S1001.1]"
    log, _ = await judged([TRUE, lie], {"comes up": verdict("supported", A="seven metres")})
    first = next(event for event in log.of(e.ClaimChecked) if event.rule != "verbatim")
    assert first.verdict in ("contradicted", "unsupported")
    assert not set(HOLDING) & {event.verdict for event in log.of(e.ClaimChecked) if event.rule == "judge"}


@pytest.mark.parametrize(
    "answer",
    [
        Reply(text="I would rather not say."),
        fails("no such key", transient=False).answer,
        Reply(text="supported? contradicted?"),
    ],
)
async def test_a_judge_which_fails_leaves_claims_unchecked_and_the_report_stands(answer: Answer) -> None:
    log, _ = await judged([TRUE, REPHRASED], {"comes up": answer})
    assert ("judge", "unchecked") in checks(log)
    assert log.last(e.VerifySummary).summary.unchecked == 1
    assert REPHRASED in log.text
    assert whole(log)


async def test_without_verification_no_judge_is_asked() -> None:
    log, judge = await judged([REPHRASED], {}, verify=False)
    assert checks(log) == [("off", "unchecked")]
    assert judge.asked == []


async def test_many_claims_are_judged_and_the_log_is_the_same_each_time() -> None:
    sentences = [f"The sea of Brest is like number {name}. [S1001.1]" for name in "abcdefghijklmnop"]
    answers: dict[str, Answer] = {"sea of Brest": verdict("supported")}
    one, judge = await judged(sentences, answers)
    two, _ = await judged(sentences, answers)
    assert len(judge.asked) == len(sentences)
    found = [sorted((event.id, event.verdict) for event in log.of(e.ClaimChecked)) for log in (one, two)]
    assert found[0] == found[1]
    assert {verdict for _, verdict in found[0]} == {"supported"}


async def test_of_a_table_row_the_judge_is_told_the_columns() -> None:
    table = "| harbour | rise of the sea |\n|---|---|\n| Brest | 7 m or so [S1001.1] |"
    log, judge = await judged([TRUE, table], {"or so": verdict("supported", A="seven metres")})
    [request] = judge.asked
    assert "It is a row of a table whose columns are: harbour | rise of the sea" in request.user_texts("sentence")[0]
    assert ("judge", "supported") in checks(log)
