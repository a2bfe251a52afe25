"""Threads, clarification and questions about a run through the library, in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from research import ONE_STEP, ROSE, TIDE, TIDES, agent, report_wanted, sends

from assay import Assay, RunHandle
from assay.core import phrases
from assay.core.brief import ROLES, Brief, ConversationMessage, GivenAnswer
from assay.core.errors import Cancelled, InputNeeded, UnknownName, UsageError
from assay.core.view import Clarification, RunView, Writing
from assay.locale import LOCALES, use_locale
from assay.models.script import Scene, Scripted, calls, says
from assay.services.threads import messages, translate_label
from assay.settings import Settings

QUESTION = "How far does the tide rise at Brest?"


def script() -> list[Scene]:
    return [
        says("Which Brest?\nSpring tide?", task="triage"),
        calls(("search", {"query": "tide Brest"}), task="background"),
        says(ONE_STEP, task="plan"),
        sends(TIDE),
        *agent(TIDE, "tide Brest", ROSE),
        report_wanted(),
        says(ROSE, task="write"),
    ]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "tides.md").write_text(TIDES)
    return tmp_path / "tides.md"


class Library:
    """An Assay in memory whose every role is played by one script."""

    def __init__(self, scenes: list[Scene]) -> None:
        self.model = Scripted(scenes)
        self.assay = Assay(models={"scripted": self.model})
        self.models: dict[Any, tuple[str, ...]] = dict.fromkeys(ROLES, ("scripted",))


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Library:
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    return Library(script())


async def test_a_run_waits_is_answered_and_goes_on(library: Library, notes: Path) -> None:
    async with library.assay as assay:
        run = assay.start(QUESTION, sources=[notes], ask="required", models=library.models, thread="sea")
        with pytest.raises(InputNeeded, match=f"assay runs answer {run.run_id}"):
            await run.report()
        for wrong in (["a", "b", "c"], {"Who?": "me"}):
            with pytest.raises(UsageError, match="do not fit the 2 questions"):
                await assay.answer(run.run_id, wrong)
        assert not await assay.is_answered("last")
        await assay.answer("last", {"spring tide": "yes"})
        assert await assay.is_answered(run.run_id)
        with pytest.raises(UsageError, match="already has its answers"):
            await assay.answer("last", ["again"])
        report = await (await assay.resume(run.run_id)).report()
        assert report.status == "completed"
        view = await assay.view(run.run_id)
        assert view.clarification.answers == ("", "yes")
        assert (await assay.find(run.run_id)).thread == "sea"
        with pytest.raises(UsageError, match="does not wait for answers"):
            await assay.answer("last", ["late"])


async def test_answers_given_at_the_start_are_never_asked_for(library: Library, notes: Path) -> None:
    async with library.assay as assay:
        run = assay.start(QUESTION, sources=[notes], ask="required", models=library.models, answers=["Brittany", ""])
        report = await run.report()
        assert "Not asked: Spring tide? The usual reading was assumed." in report.limits
        assert (await assay.view(run.run_id)).clarification.answers == ("Brittany", "")


async def test_without_a_handler_nothing_is_asked(library: Library, notes: Path) -> None:
    async with library.assay as assay:
        report = await assay.start(QUESTION, sources=[notes], models=library.models).report()
        assert len([limit for limit in report.limits if limit.startswith("Not asked:")]) == 2


async def test_a_question_about_a_run_in_memory(library: Library, notes: Path) -> None:
    async with library.assay as assay:
        first = assay.start(QUESTION, sources=[notes], models=library.models)
        await first.report()
        library.model._scenes += [
            calls(("generate_plan", {"follow_up": "clarification"}), task="triage"),
            says("The tide at Brest rises seven metres. [S1001.1]", task="answer"),
        ]
        answer = await assay.ask(first.run_id, "How far?", models=library.models).report()
        assert (answer.mode, answer.stop_reason, answer.verified) == ("simple", "done", True)
        assert answer.usage.searches == 0
        with pytest.raises(UnknownName):
            await assay.ask("nobody", "How far?", models=library.models).report()
        with pytest.raises(UsageError, match="printable"):
            await assay.start(QUESTION, thread="a\nb", models=library.models).report()


def test_of_questions_nobody_was_asked_only_those_are_told_which_had_an_answer() -> None:
    brief = Brief(question="How far?", date="2026-01-01", answers=(GivenAnswer(text="x"),))
    asked = Clarification(questions=("Which Brest?", "When?"), answers=("Brittany", ""))
    assert messages(RunView(brief=brief, clarification=asked)) == (
        ConversationMessage(by="user", text="How far?"),
        ConversationMessage(by="assistant", text="Which Brest?", questions=True),
        ConversationMessage(by="user", text="Which Brest? — Brittany"),
    )
    alone = Clarification(questions=("Which Brest?",), assumptions=("Not asked: Which Brest?",))
    assert messages(RunView(brief=brief, clarification=alone)) == (ConversationMessage(by="user", text="How far?"),)


def test_what_was_said_in_a_run() -> None:
    brief = Brief(question="How far?", date="2026-01-01", ask="optional", answers=(GivenAnswer(text="x"),))
    asked = Clarification(questions=("Which Brest?", "When?"), answers=("Brittany", ""))
    view = RunView(brief=brief, clarification=asked, report=Writing(text="Seven metres. [S1.1]\n", state="finished"))
    assert messages(view) == (
        ConversationMessage(by="user", text="How far?"),
        ConversationMessage(by="assistant", text="Which Brest?\nWhen?", questions=True),
        ConversationMessage(by="user", text="Which Brest? — Brittany"),
        ConversationMessage(by="assistant", text="Seven metres."),
    )
    assert messages(RunView(brief=brief)) == (ConversationMessage(by="user", text="How far?"),)


@given(st.sampled_from(LOCALES), st.sampled_from(LOCALES), st.integers(0, 20_000))
def test_the_name_of_a_scope_is_said_in_the_language_of_the_run_that_goes_on(one: str, other: str, count: int) -> None:
    with use_locale(one):
        earlier = f"notes ({phrases.documents(count)})"
    with use_locale(other):
        assert translate_label(earlier) == f"notes ({phrases.documents(count)})"


def test_other_names_of_scopes_stay() -> None:
    with use_locale("de"):
        assert translate_label("92 documents") == "92 Dokumente"
        assert translate_label("the default collection (3 documents)") == "die Standardsammlung (3 Dokumente)"
        assert translate_label("notes (old)") == "notes (old)"
        assert translate_label("") == ""


async def test_a_run_of_a_thread_searches_the_documents_of_the_one_before(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/quay.md").write_text(
        "The quay of Brest was opened in 1912. It cost 3 million francs.\n", "utf-8"
    )
    async with Assay(Settings()) as assay:
        await assay.start("When was the quay of Brest opened?", sources=[tmp_path / "notes"], thread="sea").report()
        view = await assay.start("What did the quay of Brest cost?", thread="sea").view()
        asked = await assay.ask(view.run_id, "When was it opened?").view()
        third = await assay.start("How long is the quay of Brest?", thread="sea").view()
    assert "3 million francs" in view.report.text
    assert view.brief is not None
    assert asked.brief is not None
    assert third.brief is not None
    assert not view.brief.parent
    assert not view.brief.scope.web
    assert not asked.brief.scope.collections
    assert third.brief.scope.collections == view.brief.scope.collections
    assert "notes (1 document)" in view.brief.scope.label


async def stopped(run: RunHandle) -> None:
    """Cancel a run as soon as it exists."""
    async for _ in run.events():
        break
    run.cancel()
    with pytest.raises(Cancelled):
        await run.report()


async def test_last_is_the_newest_run_that_has_what_is_asked_for(library: Library, notes: Path) -> None:
    async with library.assay as assay:
        first = assay.start(QUESTION, sources=[notes], ask="never", models=library.models)
        await first.report()
        cancelled = assay.start("And at noon?", sources=[notes], models=library.models)
        await stopped(cancelled)
        assert (await assay.find("last")).run_id == cancelled.run_id
        for having in ("report", "evidence"):
            assert (await assay.find("last", having)).run_id == first.run_id
        continued = assay.start("And at Cherbourg?", continues="last", models=library.models)
        await stopped(continued)
        assert (brief := (await continued.view()).brief) is not None
        assert brief.parent == first.run_id


async def test_last_is_the_newest_run_where_none_has_what_is_asked_for(library: Library, notes: Path) -> None:
    async with library.assay as assay:
        for question in ("Which?", QUESTION):
            run = assay.start(question, sources=[notes], models=library.models)
            await stopped(run)
        assert (await assay.find("last", "report")).run_id == run.run_id
