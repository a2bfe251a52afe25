"""The brief of a fork: its parent's, but for what is to be otherwise."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from assay import settings
from assay.core.brief import Brief, Fork
from assay.core.errors import UsageError
from assay.core.run_options import ForkOptions
from assay.core.usage import Budget
from assay.services.briefs import make_brief
from assay.services.forks import revise_brief


def old(**changes: object) -> Brief:
    made = make_brief("Why is the sea salt?", settings.load(), {"models": {"complex": ("a:gpt-5",)}})
    return msgspec.structs.replace(made, date="2026-01-01", prompts={"phases.plan": "old"}, release="0.0.1", **changes)


def forked(wanted: ForkOptions, point: str = "write", **changes: object) -> Brief:
    return revise_brief(old(**changes), Fork(run="r", point=point), settings.load(), wanted)  # type: ignore[arg-type]


def test_what_is_not_said_stays():
    before = old(instructions="Be brief.", length=300, language="de", language_asked=True, budget=Budget(tokens=9_000))
    after = revise_brief(before, Fork(run="r", point="write"), settings.load(), {})
    differs = {name for name in Brief.__struct_fields__ if getattr(before, name) != getattr(after, name)}
    assert differs == {"fork", "prompts", "release"}
    assert after.fork == Fork(run="r", point="write")


def test_what_is_said_is_set():
    after = forked(
        {"length": "short", "language": "fr", "instructions": "List.", "verify": False, "max_tokens": 50_000}
    )
    assert (after.length, after.language, after.language_asked) == ("short", "fr", True)
    assert (after.instructions, after.verify) == ("List.", False)
    assert after.budget == Budget(tokens=50_000)


def test_a_limit_that_is_not_said_stays():
    assert forked({"max_time": 60.0}, budget=Budget(tokens=9_000, usd=1.0)).budget == Budget(
        seconds=60.0, tokens=9_000, usd=1.0
    )


def test_the_day_is_that_of_what_was_read():
    assert forked({}, "write").date == "2026-01-01"
    for point in ("plan", "research"):
        assert forked({}, point).date == datetime.now(UTC).date().isoformat()


def test_a_judge_nobody_named_goes_by_the_models_as_they_are_now():
    after = forked({"models": {"complex": ("b:claude-5",)}})
    assert after.models["complex"] == ("b:claude-5",)
    assert after.models["judge"] == ("b:claude-5",)
    assert after.models["simple"] == old().models["simple"]


def test_a_judge_somebody_named_stays():
    models = {**old().models, "judge": ("c:judge",)}
    assert forked({"models": {"complex": ("b:claude-5",)}}, models=models).models["judge"] == ("c:judge",)


@pytest.mark.parametrize(
    ("wanted", "point", "match"),
    [
        ({"depth": "light"}, "write", "--depth does not change a report"),
        ({"strategy": "reflective"}, "write", "--strategy does not change a report"),
        ({"review_plan": "required"}, "write", "--review-plan does not change a report"),
        ({"review_plan": "required"}, "research", "needs a new plan"),
        ({"language": "klingonese!"}, "write", "language"),
    ],
)
def test_what_would_change_nothing_is_refused(wanted: ForkOptions, point: str, match: str):
    with pytest.raises(UsageError, match=match):
        forked(wanted, point)


def test_the_report_of_a_schema_takes_no_template():
    with pytest.raises(UsageError, match="takes no template"):
        forked({"template": "# Winds\n"}, schema="{}")
