"""A claim judged in a run: what the judge is asked, what its answer comes to, and what becomes of failures."""

from __future__ import annotations

import pytest
from evidence_of import evidence, passage, source
from judging import Judging, rules, shown

from assay.core.errors import ContextTooLong
from assay.core.messages import Price, Profile
from assay.core.sources import Surroundings
from assay.core.usage import Budget
from assay.models.script import Scene, fails, says
from assay.run.run import Run
from assay.verify.evidence import ClaimEvidence
from assay.verify.judge import has_judge

TEXT = "The northern plant employs 400 people. The southern plant employs 900 people and was founded in 1950."
PLANT = evidence(passage("S1.1", TEXT), title="Plants of the Company")
CLAIM = "The northern plant has 400 people."


async def test_the_judge_sees_the_evidence_and_the_sentence_without_its_values() -> None:
    judging = Judging()
    await judging.judged([rules("supported", A="400 people")], CLAIM, PLANT, question="A secret question")
    [request] = judging.requests
    assert (request.task, request.tool_choice, request.effort) == ("judge", "verdict", "low")
    assert request.user_texts("sentence") == ("The northern plant has {A} people.\nHidden: {A} is a number.",)
    assert "900 people" in request.user_texts("evidence")[0]
    assert "Plants of the Company" in request.user_texts("evidence")[0]
    assert "secret" not in shown(request)
    assert [message.name for message in request.messages] == ["evidence", "sentence"]


@pytest.mark.parametrize(
    ("claim", "answer", "expected"),
    [
        (CLAIM, rules("supported", A="400 people"), "supported"),
        (CLAIM, rules("supported", A="400"), "supported"),
        (CLAIM, rules("supported", A=["900 people", "400 people"]), "supported"),  # it may give several
        ("The northern plant has 900 people.", rules("supported", A="400 people"), "contradicted"),
        ("The northern plant has 900 people.", rules("partial", A="400"), "contradicted"),
        ("The northern plant has 900 people.", rules("unsupported", A="400"), "unsupported"),  # another matter
        (CLAIM, rules("supported", A="not stated"), "unsupported"),
        (CLAIM, rules("contradicted", A="not stated"), "contradicted"),
        (CLAIM, rules("unsupported", A="400"), "unsupported"),
        (CLAIM, rules("unsupported"), "unsupported"),  # a refusal stands without values
        (CLAIM, rules("unknown", A="400"), "unchecked"),
        ("400 of them work 10 km away.", rules("supported", A="400", B="not stated"), "partial"),
        ("The southern plant was founded in 1950.", rules("supported", A="1950"), "supported"),
        ("The southern plant was founded in 1951.", rules("supported", A="in 1950"), "contradicted"),
        ("The plant is old.", rules("partial"), "partial"),
    ],
)
async def test_code_compares_what_the_judge_found(claim: str, answer: Scene, expected: str) -> None:
    judged = await Judging().judged([answer], claim, PLANT)
    assert (judged.check.rule, judged.check.verdict) == ("judge", expected), judged


async def test_both_values_are_told() -> None:
    judged = await Judging().judged([rules("supported", A="400 people")], "The northern plant has 900 people.", PLANT)
    assert judged.check.reason == "the claim says '900', the evidence '400 people'"
    assert [(slot.text, slot.said, slot.outcome) for slot in judged.slots] == [("900", "400 people", "other")]
    assert judged.model == "judge"


async def test_a_value_the_evidence_does_not_have_is_asked_about_once_more() -> None:
    judging = Judging()
    script = [rules("supported", A="750 people"), rules("supported", A="400 people")]
    judged = await judging.judged(script, CLAIM, PLANT)
    assert judged.check.verdict == "supported"
    assert "the evidence does not have '750 people'" in judging.requests[1].messages[-1].text
    judged = await Judging().judged([rules("supported", A="750"), rules("contradicted", A="750")], CLAIM, PLANT)
    assert judged.check.verdict == "unchecked"
    assert "'750'" in judged.check.reason


async def test_support_without_the_values_asked_for_is_none() -> None:
    judged = await Judging().judged([rules("supported"), rules("supported")], CLAIM, PLANT)
    assert judged.check.verdict == "unchecked"
    judged = await Judging().judged([rules("supported"), rules("supported", A="400")], CLAIM, PLANT)
    assert judged.check.verdict == "supported"


async def test_prose_is_read_and_what_cannot_be_read_is_asked_for_once_more() -> None:
    claim = "The plant is old."
    judged = await Judging().judged([says("NOT SUPPORTED")], claim, PLANT)
    assert judged.check.verdict == "unsupported"
    judged = await Judging().judged([says("Verdict: supported")], claim, PLANT)
    assert judged.check.verdict == "supported"
    judged = await Judging().judged([says("well, well"), says("supported or contradicted")], claim, PLANT)
    assert judged.check.verdict == "unchecked"
    assert judged.check.reason == "the judge's answer could not be used: no single verdict could be read in it"
    judged = await Judging().judged([says(""), rules("partial")], claim, PLANT)
    assert judged.check.verdict == "partial"


async def test_support_in_prose_does_not_spare_the_values() -> None:
    judged = await Judging().judged([says("supported"), says("supported")], CLAIM, PLANT)
    assert judged.check.verdict == "unchecked"


NAMES = evidence(passage("S1.1", "Ada Lovelace met Charles Babbage in London. She wrote to the Royal Society."))


async def test_another_name_is_asked_about_openly() -> None:
    judging = Judging()
    script = [rules("supported", A="Charles Babbage", B="London"), rules("contradicted", "it was Babbage")]
    judged = await judging.judged(script, "Ada Lovelace met Charles Dickens in London.", NAMES)
    assert judged.check.verdict == "contradicted"
    first, second = (request.user_texts("sentence")[0] for request in judging.requests)
    assert "Dickens" not in first
    assert "Charles Dickens" in second
    assert '"Charles Dickens" and "Charles Babbage"' in second
    assert [(slot.text, slot.said) for slot in judged.slots] == [("Charles Dickens", "Charles Babbage")]


async def test_the_same_under_another_name_is_supported() -> None:
    script = [rules("supported", A="Royal Society"), rules("supported")]
    judged = await Judging().judged(script, "Ada Lovelace wrote to Britain's Academy.", NAMES)
    assert judged.check.verdict == "supported"


async def test_what_stands_around_a_passage_is_shown_and_values_may_stand_there() -> None:
    around = {"S1.1": Surroundings(id="S1.1", before="In Lyon:", after="It was built for 12 million euros.")}
    found = ClaimEvidence(passages=PLANT.passages, sources={"S1": source("S1", "Plants")}, surroundings=around)
    judging = Judging()
    judged = await judging.judged([rules("supported", A="12 million euros")], "It cost 12 million euros.", found)
    assert judged.check.verdict == "supported"
    assert "Before the passage: In Lyon:" in judging.requests[0].user_texts("evidence")[0]


# failures


async def test_a_failing_judge_leaves_the_claim_unchecked() -> None:
    judged = await Judging().judged([fails("no such key", transient=False)], CLAIM, PLANT)
    assert judged.check.verdict == "unchecked"
    assert "no such key" in judged.check.reason
    judged = await Judging().judged([Scene(answer=ContextTooLong("too long"))], CLAIM, PLANT)
    assert judged.check.reason == "the evidence is too long for the judge"


async def test_a_limit_leaves_the_claim_unchecked() -> None:
    judged = await Judging().judged([], CLAIM, PLANT, budget=Budget(seconds=0.0001))
    assert judged.check.verdict == "unchecked"
    assert judged.check.reason == "the time limit was reached"


async def test_the_built_in_model_is_no_judge() -> None:
    async def asked(run: Run) -> bool:
        return has_judge(run)

    assert await Judging().within([], asked)
    assert not await Judging().within([], asked, checks_off=("judge",))
    built_in = Profile(name="extractive", price=Price(input=0.0, output=0.0), deterministic=True)
    assert not await Judging(profile=built_in).within([], asked)
    judged = await Judging(profile=built_in).judged([says("supported"), says("supported")], "The plant is old.", PLANT)
    assert judged.check.verdict == "unchecked"
