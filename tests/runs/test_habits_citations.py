"""However a model wraps its citations, its findings and its report are cited, checked and free of raw ids."""

from __future__ import annotations

import re

import pytest
from habitual import BLEW, ROSE, STRATEGIES, found, habitual, reports, researched, writes, written
from research import Log, Sea, whole
from sampling import crossed, sampled
from stepwise import TITLES, decides, opening, steps, tide

from assay.core import events as e
from assay.core.claims import HOLDING
from assay.core.markers import parse_markers
from assay.core.view import fold_events
from assay.export.markdown import render
from assay.models.script import Scene, says

HABITS: dict[str, str] = {
    "marker in code": "`[ID]`",
    "id in code": "`ID`",
    "parentheses": "(ID)",
    "list in parentheses": "(ID, ID)",
    "link": "[ID](https://example.org/page)",
    "link to an id": "[source](#ID)",
    "corner brackets": "【ID】",
    "corner brackets with lines": "【ID†L1-L5】",
    "two markers": "[ID][ID]",
    "caret": "^ID",
    "footnote": "[^ID]",
    "bare": "ID",
    "bold": "**[ID]**",
    "superscript": "<sup>[ID]</sup>",
    "dagger": "[ID†source]",
    "named in parentheses": "(source: ID)",
    "named in brackets": "[Source ID]",
    "escaped": "\\[ID\\]",
    "formula": "$^{[ID]}$",
    "LaTeX": "\\cite{ID}",
    "code in brackets": "[`ID`]",
    "quoted": '["ID"]',
    "tortoise shell": "〔来源：ID〕",
    "corner brackets with a number": "【1†ID】",
    "corner brackets with a list": "【ID、ID】",
    "named with a sign": "[id=ID]",
    "colon": "[ID:]",
    "kept on its line": "\u00a0[ID]",
    "may begin a line": "\u200b[ID]",
}
RAW_ID = re.compile(r"S[0-9]{4}(?:\.[0-9]+)?")


async def ran(strategy: str, script: list[Scene]) -> Log:
    log = await Sea().run(script, strategy=strategy)
    assert whole(log)
    return log


def shown(log: Log) -> str:
    """The report as its reader gets it."""
    return render(fold_events(log.envelopes))


def is_sound(log: Log) -> None:
    """Both sentences are cited and true to their sources, nothing was lost, and no id shows."""
    assert log.last(e.RunCompleted).stop_reason == "done"
    verdicts = {claim.text.rstrip("."): (claim.verdict, claim.passages) for claim in fold_events(log.envelopes).claims}
    assert verdicts == {ROSE: ("quoted", ("S1001.1",)), BLEW: ("quoted", ("S2001.1",))}
    assert not RAW_ID.search(shown(log))
    assert log.last(e.VerifySummary).summary.dropped_markers == 0


@pytest.mark.parametrize(("habit", "strategy"), crossed(HABITS, STRATEGIES))
async def test_a_habit_of_citing_is_read(habit: str, strategy: str) -> None:
    """Every wrapper by itself is read in `tests/unit/core/citations`."""
    habit = HABITS[habit]
    log = await ran(strategy, habitual(strategy, habit))
    is_sound(log)
    cited = {event.lane: [each.id for each in event.passages] for event in log.of(e.FindingAdded)}
    assert cited == {1: ["S1001.1"], 2: ["S2001.1"]}
    assert not any(event.uncited or event.dropped_markers for event in log.of(e.FindingAdded))
    streamed = "".join(event.text for event in log.of(e.ReportDelta))
    times = 2 if "][" in habit else 1
    assert [id for marker in parse_markers(streamed) for id in marker.ids] == ["S1001.1"] * times + ["S2001.1"] * times


FENCES = {
    "markdown": "```markdown\n{}\n```",
    "tildes": "~~~md\n{}\n~~~",
    "announced": "Here is the report:\n\n```markdown\n{}\n```\n",
    "nameless": "```\n{}\n```",
}


@pytest.mark.parametrize("habit", sampled(HABITS, 5))
async def test_a_habit_of_citing_is_read_in_an_answer_without_a_plan(habit: str) -> None:
    text = f"{ROSE} {HABITS[habit].replace('ID', 'S1.1')}."
    log = await Sea().run([says(text, task="answer")], mode="simple")
    (claim,) = fold_events(log.envelopes).claims
    assert (claim.verdict, claim.passages) == ("quoted", ("S1.1",))
    assert not re.search(r"S1\.1", shown(log))
    assert log.last(e.RunCompleted).stop_reason == "done"


@pytest.mark.parametrize("habit", sampled(HABITS, 5))
async def test_a_habit_of_citing_is_read_in_an_analysis(habit: str) -> None:
    plan = steps(TITLES[0], "What the rise means", type="analysis", needs_search=False)
    one, _ = found(HABITS[habit])
    script = [
        *opening(plan),
        *tide(),
        decides("continue"),
        says(one, task="analyze"),
        decides("continue"),
        says(one, task="write"),
    ]
    log = await ran("reflective", script)
    analysis = log.of(e.FindingAdded)[-1]
    assert [passage.id for passage in analysis.passages] == ["S1001.1"]
    assert not analysis.dropped_markers
    assert [marker.ids for marker in parse_markers(analysis.text)] == [("S1001.1",)] * len(parse_markers(analysis.text))


@pytest.mark.parametrize(("fence", "strategy"), crossed(FENCES, STRATEGIES))
async def test_a_fence_around_everything_is_taken_away(fence: str, strategy: str) -> None:
    fence = FENCES[fence]
    one, two = found("[ID]")
    script = researched(strategy, [reports(fence.format(one))], [reports(fence.format(two))])
    log = await ran(strategy, [*script, writes(fence.format(written("[ID]")))])
    is_sound(log)
    for event in [*log.of(e.ReportDelta), *log.of(e.FindingDelta)]:  # the live view shows none, either
        assert "```" not in event.text
        assert "~~~" not in event.text
        assert "Here is" not in event.text


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_citations_at_a_paragraphs_end_count_for_its_sentences_once_checked(strategy: str) -> None:
    one, two = found("[ID]")
    text = f"{ROSE}. The harbour was built by Romans. It turns twice a day. [S1001.1, S1001.2]"
    log = await ran(strategy, [*researched(strategy, [reports(one)], [reports(two)]), writes(text)])
    verdicts_logged = {event.text: event.inherited for event in log.of(e.ClaimFound)}
    assert verdicts_logged[f"{ROSE}."]
    assert verdicts_logged["The harbour was built by Romans."]
    assert not verdicts_logged["It turns twice a day."]
    verdicts = {claim.text: claim.verdict for claim in fold_events(log.envelopes).claims}
    assert verdicts[f"{ROSE}."] == "quoted"
    assert verdicts.get("The harbour was built by Romans.", "unchecked") not in (*HOLDING, "partial")


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_findings_which_never_cite_keep_what_the_agent_was_shown(strategy: str) -> None:
    _, two = found("[ID]")
    bare = f"{ROSE}, and it turns twice a day."
    script = researched(strategy, [reports(bare), reports(bare)], [reports(two)])
    log = await ran(strategy, [*script, writes(written("[ID]"))])
    first, second = sorted(log.of(e.FindingAdded), key=lambda event: event.lane)
    assert first.uncited
    assert "S1001.1" in [each.id for each in first.passages]
    assert not second.uncited
    (request,) = [each for each in log.model.requests if each.task == "write"]
    message = "\n".join(request.user_texts("findings"))
    assert "Not cited by the agent" in message
    assert "S1001.1" in message
    is_sound(log)
    parts = {each.part: each.status for each in log.of(e.CoverageAssessed)[0].coverage}
    assert parts["Tide at Brest"] == "partly"


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_ids_which_do_not_exist_are_dropped_and_counted(strategy: str) -> None:
    one, two = found("(source: ID, S1001.99)")
    script = researched(strategy, [reports(one)], [reports(two)])
    log = await ran(strategy, [*script, writes(written("(ID, S1001.98)"))])
    assert [event.dropped_markers for event in log.of(e.FindingAdded)] == [1, 1]
    assert log.last(e.VerifySummary).summary.dropped_markers == 2
    assert not RAW_ID.search(shown(log))
