"""`assay verify --model`: a judge behind HTTP for texts of one's own, and for reports of runs."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from judging import judging_server, verdict
from research import ONE_STEP, TIDE, first_agent, planned, report_wanted, sends

from assay import Assay
from assay.cli.main import main
from assay.core.brief import Role
from assay.core.errors import UsageError
from assay.core.messages import Profile, Reply
from assay.models.script import Scripted, says
from assay.verify.judge.control import CONTROL_QUESTIONS

TIDES = "# Tides\n\nThe tide at Brest rises seven metres. It turns twice a day.\n\nThe moon causes most of it.\n"
REPORT = """\
The tide at Brest rises seven metres [1]. Most of that is the work of our satellite [1].

Whoever waits for twelve hours sees it change once [1]. At Brest it is nine metres [1].

## References

1. [Tides](tides.md)
"""
CONTROLS = sum(not question.is_true for question in CONTROL_QUESTIONS)
ALIKE = ("poets", "sailors", "monks", "pilots", "bakers", "smiths", "weavers", "tailors", "millers", "fishers")


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a text and what it cites, and a home of its own."""
    (tmp_path / "tides.md").write_text(TIDES)
    (tmp_path / "report.md").write_text(REPORT)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configured(there: Path, url: str) -> None:
    (there / "config.toml").write_text(f'[services.mine]\nurl = "{url}"\nkey = "k"\n')


def rules(ruling: str, sentence: str, evidence: str) -> Reply:
    return verdict(ruling)


def verified(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    arguments = ["verify", "report.md", "--in", "tides.md", "--model", "mine:m", "--json", *options]
    assert main(arguments) in (0, 3)
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def test_a_model_judges_what_the_rules_leave_open_and_is_remembered(
    there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with judging_server() as server:
        configured(there, server.url)
        found = verified(capsys)
        asked = len(server.requests)
        again = verified(capsys)
        assert len(server.requests) == asked > 0
    rules = [(claim["rule"], claim["verdict"]) for claim in found["claims"]]
    assert rules[0] == ("verbatim", "quoted")
    assert rules[1] == ("judge", "supported")
    assert rules[3] == ("number", "contradicted")  # no judge is asked where a rule decides
    assert (found["model"], found["usage"]["model_calls"]) == ("mine:m", asked + CONTROLS)
    assert again["claims"] == found["claims"]
    assert again["usage"] == {}
    assert found["summary"]["supported"] == sum(claim["verdict"] == "supported" for claim in found["claims"])


def test_what_it_took_is_said(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with judging_server() as server:
        configured(there, server.url)
        assert main(["verify", "report.md", "--in", "tides.md", "--model", "mine:m"]) == 0
    assert "judged by mine:m: " in capsys.readouterr().err


def test_the_judge_decides_what_a_build_is_told(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (there / "report.md").write_text("Most of that is the work of our satellite ([Tides](tides.md)).\n")
    for ruling, code in (("supported", 0), ("unsupported", 3)):
        with judging_server(partial(rules, ruling)) as server:
            configured(there, server.url)
            home = str(there / f"home-{ruling}")
            arguments = ["verify", "report.md", "--in", "tides.md", "--model", "mine:m", "--home", home]
            assert main([*arguments, "--strict"]) == code
    assert not (there / "home").exists()


@pytest.mark.parametrize("by", ["option", "settings"])
def test_a_judge_takes_no_more_than_it_may(there: Path, capsys: pytest.CaptureFixture[str], by: str) -> None:
    claims_text = [f"Some {who} say that our satellite does most of it ([Tides](tides.md)).\n" for who in ALIKE]
    (there / "report.md").write_text("\n".join(claims_text))
    with judging_server() as server:
        configured(there, server.url)
        if by == "settings":
            with (there / "config.toml").open("a") as file:
                file.write("[limits]\ntokens = 5000\n")
        found = verified(capsys, *(("--max-tokens", "5000") if by == "option" else ()))
        asked = len(server.requests)
    assert 0 < asked < len(ALIKE)
    assert 0 < found["usage"]["input_tokens"] + found["usage"]["output_tokens"] <= 5000
    open_ones = [claim for claim in found["claims"] if claim["verdict"] == "unchecked"]
    assert len(open_ones) == len(ALIKE) - asked
    assert {claim["reason"] for claim in open_ones} == {"the token limit was reached"}


async def test_a_limit_of_money_wants_a_price(there: Path) -> None:
    unpriced = Scripted([], profile=Profile(name="unpriced", local=True))
    async with Assay(models={"unpriced": unpriced}) as assay:
        with pytest.raises(UsageError, match=r'\[catalogue\."unpriced"\]'):
            await assay.verify(REPORT, sources=["tides.md"], model="unpriced", max_usd=1.0)
    assert unpriced.requests == []


def test_a_model_which_fails_leaves_claims_unchecked(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configured(there, "http://127.0.0.1:9/v1")
    found = verified(capsys)
    assert found["claims"][1]["verdict"] == "unchecked"
    assert found["claims"][1]["reason"].startswith("the judge failed")
    assert found["claims"][0]["verdict"] == "quoted"


@pytest.mark.parametrize(("model", "message"), [("extractive", "cannot judge"), ("nowhere:m", "nowhere")])
def test_a_model_which_cannot_judge(there: Path, capsys: pytest.CaptureFixture[str], model: str, message: str) -> None:
    assert main(["verify", "report.md", "--in", "tides.md", "--model", model]) == 2
    assert message in capsys.readouterr().err


# a run's report


def writes(report: str) -> Scripted:
    scenes = [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), says(report, task="write")]
    return Scripted(scenes, profile=Profile(name="w", local=True))


async def run(assay: Assay) -> str:
    models: dict[Role, list[str]] = {"simple": ["w"], "analytical": ["w"], "complex": ["w"], "judge": ["extractive"]}
    handle = assay.start("How far does the tide rise?", sources=["tides.md"], models=models, repair=False)
    view = await handle.view()
    return view.run_id


async def test_a_run_is_judged_once_more(there: Path) -> None:
    text = "The tide at Brest rises seven metres. [S1001.1] Our satellite does most of the work. [S1001.1]\n"
    with judging_server() as server:
        configured(there, server.url)
        async with Assay(home=there / "home", models={"w": writes(text)}) as assay:
            run_id = await run(assay)
            before = await assay.recheck(run_id)
            found = await assay.recheck(run_id, model="mine:m")
            asked = len(server.requests)
            again = await assay.recheck(run_id, model="mine:m")
            assert len(server.requests) == asked
    assert [claim.now for claim in before.claims] == [claim.before for claim in before.claims]
    assert (before.model, found.model, found.usage.model_calls) == ("", "mine:m", asked + CONTROLS)
    assert asked == 1
    changed = [claim for claim in found.claims if claim.now != claim.before]
    assert [(claim.rule, claim.now) for claim in changed] == [("judge", "supported")]
    assert again.claims == found.claims


async def test_a_judge_elsewhere_is_refused_what_is_private(there: Path) -> None:
    profile = Profile(name="hosted", local=False)
    text = "The tide at Brest rises seven metres. [S1001.1] Our satellite does most of the work. [S1001.1]\n"
    hosted = Scripted([], profile=profile)
    async with Assay(home=there / "home", models={"w": writes(text), "hosted": hosted}) as assay:
        await assay.add("tides.md", "secret")
        await assay.mark("secret", private=True)
        run_id = await run(assay)
        with pytest.raises(UsageError, match="--allow-private allows it"):
            await assay.recheck(run_id, model="hosted")
        with pytest.raises(UsageError, match="--allow-private allows it"):
            await assay.verify(REPORT, sources=["tides.md"], model="hosted")
    assert hosted.requests == []


async def test_what_is_private_in_the_home_is_so_for_a_text_checked_apart_from_it(there: Path) -> None:
    hosted = Scripted([], profile=Profile(name="hosted", local=False))
    async with Assay(home=there / "home") as assay:
        await assay.add("tides.md", "secret")
        await assay.mark("secret", private=True)
    async with Assay(models={"hosted": hosted}) as assay:
        with pytest.raises(UsageError, match="of secret"):
            await assay.verify(REPORT, sources=["tides.md"], model="hosted", answers=there / "home")
    assert hosted.requests == []
