"""What a run says where nothing was found follows from where it has looked."""

from __future__ import annotations

import json
from typing import Any

import logs
import msgspec
import pytest
from research import ONE_STEP, ROSE, TIDE, Sea, agent, planned, report_wanted, sends
from runtime import fixed
from sampling import crossed
from stepwise import TITLES, classic, decides, opening, steps

from assay.core import events as e
from assay.core.brief import ROLES
from assay.core.errors import ModelFailed, NothingSearched, SearchError
from assay.core.messages import Request
from assay.core.ports import Hit, Query
from assay.core.report import build_report
from assay.core.search_record import Silent, summarize_searches
from assay.core.sources import SNIPPET
from assay.core.usage import Budget
from assay.core.view import RunView, fold_events
from assay.models.extractive import Extractive
from assay.models.script import Scene, Scripted, calls, fails, says

STRATEGIES = ["orchestrated", "reflective"]
NOTHING = "Nothing about this was found."


class Away:
    """A search provider nobody can reach."""

    name = "away"

    async def search(self, query: Query) -> list[Hit]:
        raise SearchError("away: cannot be reached")


def builtin() -> Scripted:
    """The built-in model under the name which plays every role."""
    return Extractive("scripted")  # type: ignore[return-value]


def one_step(strategy: str, *, query: str = "volcano", finding: str = NOTHING) -> list[Scene]:
    """A run of one step by a strategy."""
    if strategy == "reflective":
        done = decides("complete", "It was searched for.")
        return [*opening(steps(TITLES[0]), depth="light"), *classic(TITLES[0], (query,), finding), done]
    return [*planned(ONE_STEP), sends(TIDE), *agent(TIDE, query, finding), report_wanted()]


async def ended(sea: Sea, model: Any, **changes: Any) -> tuple[RunView, BaseException | None]:
    """A whole run, and what it was ended by."""
    handle = sea.start(model if isinstance(model, Scripted | Extractive) else Scripted(model), **changes)
    log = [envelope async for envelope in handle]
    try:
        await handle.wait()
    except (ModelFailed, NothingSearched) as error:
        return fold_events(log), error
    return fold_events(log), None


@pytest.mark.parametrize(("strategy", "model"), crossed(STRATEGIES, ["scripted", "built in"]))
async def test_where_no_search_was_answered_the_run_fails_and_names_the_fix(strategy: str, model: str) -> None:
    played = builtin() if model == "built in" else one_step(strategy)
    view, error = await ended(Sea(search=Away()), played, strategy=strategy)
    assert isinstance(error, NothingSearched)
    assert (view.status, view.stop_reason) == ("failed", "no_search")
    assert view.error.startswith("nothing could be searched: away (cannot be reached); check the network")
    assert not view.report.text
    looked = build_report(view).looked
    assert looked.silent == (Silent(provider="away", reason="away: cannot be reached"),)
    assert not looked.has_searched


@pytest.mark.parametrize("mode", ["simple", "web_search", "agent"])
@pytest.mark.parametrize("documents", [None, {}], ids=["nobody answers", "no documents"])
async def test_so_it_does_in_every_mode(mode: str, documents: dict[str, str] | None) -> None:
    sea = Sea(search=Away()) if documents is None else Sea(documents)
    view, error = await ended(sea, builtin(), mode=mode)
    if documents is not None and mode != "agent":
        assert error is None  # without anything to search these answer from what they know, and say so
        assert "rests on no sources" in view.report.text
        return
    assert isinstance(error, NothingSearched)
    assert "Nothing that answers" not in view.report.text


async def test_so_it_does_where_fields_are_to_be_filled() -> None:
    schema = json.dumps({"type": "object", "properties": {"rise": {"type": "integer"}}})
    view, error = await ended(Sea(search=Away()), builtin(), schema=schema)
    assert isinstance(error, NothingSearched)
    assert view.fields == ()


@pytest.mark.parametrize(("strategy", "model"), crossed(STRATEGIES, ["scripted", "built in"]))
async def test_where_there_are_no_documents_the_run_fails_and_names_the_fix(strategy: str, model: str) -> None:
    played = builtin() if model == "built in" else [calls(("generate_plan", {}), task="triage")]
    view, error = await ended(Sea({}), played, strategy=strategy)
    assert isinstance(error, NothingSearched)
    assert view.error.startswith("nothing was searched: there are no documents in the default collection; add some")
    assert build_report(view).looked.documents == 0


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "finding", [f"{NOTHING[:-1]} in the documents that I read.", "The sources do not state the rise."]
)
async def test_who_finds_nothing_is_asked_once_and_believed(strategy: str, finding: str) -> None:
    """Its words are those of its prompt: it says how to word that nothing was found."""
    view, error = await ended(Sea(), one_step(strategy, query="tide Brest", finding=finding), strategy=strategy)
    assert error is None
    assert (view.stop_reason, view.warnings) == ("no_evidence", ())
    assert [lane.stop for lane in view.lanes] == ["done"]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_for_a_model_which_ignores_its_tools_code_searches(strategy: str) -> None:
    """Its findings rest on what was found, and what it says from memory is no finding."""

    def talk(request: Request) -> Scene:
        match request.task:
            case "triage":
                return says("", task="triage")
            case "plan":
                return says(ONE_STEP)
            case "find":
                return says(ROSE)
            case "write":
                return says("It rises seven metres. [S1001.1]")
        return says("I know all about the tide.")

    view, error = await ended(Sea(), Scripted(talk), strategy=strategy, depth="medium")
    assert error is None
    assert view.stop_reason == "done"
    assert "seven metres" in view.report.text
    assert any("made no tool call" in warning.message for warning in view.warnings)
    assert summarize_searches(view).queries >= 1


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_where_every_agent_fails_the_run_fails(strategy: str) -> None:
    broken = Scene(answer=fails("no quota", transient=False).answer, task="research", repeat=True)
    find = Scene(answer=fails("no quota", transient=False).answer, task="find", repeat=True)
    first = opening(steps(TITLES[0])) if strategy == "reflective" else [*planned(ONE_STEP), sends(TIDE)]
    text = [decides("continue", repeat=True)] if strategy == "reflective" else [report_wanted(repeat=True)]
    view, error = await ended(Sea(), [*first, broken, find, *text], strategy=strategy)
    assert isinstance(error, ModelFailed)
    assert "every agent failed" in view.error
    assert view.error.endswith("no quota; resume the run later, or choose another model (--model)")
    assert "Nothing that answers" not in view.report.text


@pytest.mark.parametrize(("strategy", "model"), crossed(STRATEGIES, ["scripted", "built in"]))
async def test_who_has_looked_says_where_and_who_gave_no_answer(strategy: str, model: str) -> None:
    """The documents were searched, a second provider was silent: the report says both."""
    sea = Sea()
    played = builtin() if model == "built in" else Scripted(one_step(strategy))
    world = sea.world(played)
    made = sea.brief(
        models=dict.fromkeys(ROLES, (played.profile.name,)), strategy=strategy, question="Why do volcanoes erupt?"
    )

    handle = sea.engine().start(fixed(made, msgspec.structs.replace(world, searches=(sea.search, Away()))))
    log = [envelope async for envelope in handle]
    await handle.wait()
    view = fold_events(log)
    assert view.stop_reason == "no_evidence"
    assert view.report.text.startswith("Nothing that answers this question was found in the default collection")
    assert view.report.text.endswith("without an answer from away (cannot be reached).")
    looked = summarize_searches(view)
    assert (looked.documents, looked.providers, looked.silent[0].provider) == (2, ("words",), "away")


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_run_ended_before_it_looked_says_that(strategy: str) -> None:
    log = await Sea().run([], budget=Budget(seconds=1e-6), strategy=strategy)
    assert log.text.startswith(
        "Nothing was searched, so it is unknown whether there is an answer; research was cut short"
    )
    assert log.last(e.RunCompleted).stop_reason == "time"


@pytest.mark.parametrize(("documents", "anywhere"), [(0, False), (2, True), (None, True)])
def test_a_search_over_no_documents_is_no_look(documents: int | None, anywhere: bool) -> None:
    log = logs.Log()
    logs.begin(log, "Is it so?")
    if documents is not None:  # an older log does not say it
        log.add("", e.ScopeCounted(documents=documents))
    log.add("research", e.SearchPerformed(query="so", provider="local", results=0))
    assert summarize_searches(fold_events(log.events)).has_searched is anywhere


def test_a_page_which_was_read_is_a_look_and_the_words_of_a_search_engine_are_none() -> None:
    log = logs.Log()
    logs.begin(log, "Is it so?")
    log.add("research", e.SourceAdded(source=msgspec.structs.replace(logs.source("S1"), media_type=SNIPPET)))
    assert not summarize_searches(fold_events(log.events)).has_searched
    log.add("research", e.SourceAdded(source=logs.source("S2")))
    assert summarize_searches(fold_events(log.events)).read == 1
