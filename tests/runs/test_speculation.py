"""What is searched and read before anybody asks for it changes nothing of a run but how long it takes."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from killed_commands import Place
from local_web import HARBOR, PAGE, QUESTION, TIDES, LocalWeb
from msgspec.structs import replace
from research import ONE_STEP
from sampling import scaled
from web import moved, response, site

from assay import Assay
from assay.core import events as e
from assay.core.brief import ROLES, ConversationMessage
from assay.core.report import Report, build_report
from assay.core.usage import Usage
from assay.core.view import fold_events
from assay.models.script import Scripted, calls, says
from assay.settings import Settings, load

OFF = {"question": False, "names": False, "pages": False}
ON = {"question": True, "names": True, "pages": True}
TIMES = {"at", "fetched_at", "seconds", "active_seconds", "elapsed", "first_token", "speculation", "estimate"}
WORDS = ("harbor", "tides", "fishermen", "report", "measured", "record", "master", "coast")


class Ended:
    """A run which has ended, with what is said of work begun ahead put apart."""

    def __init__(self, log: Sequence[e.Envelope]) -> None:
        self.log = log
        self.report: Report = build_report(fold_events(log))
        events = [(each, e.decode(each)) for each in log]
        self.ahead = [event for _, event in events if is_ahead(event)]
        self.rest = [each for each, event in events if not is_ahead(event)]

    @property
    def unasked(self) -> Usage:
        """What was done for nothing."""
        return sum((event.usage for event in self.ahead if isinstance(event, e.UsageUpdated)), Usage())

    def kinds(self) -> set[str]:
        return {event.kind for event in self.ahead if event is not None}


def is_ahead(event: e.Event | None) -> bool:
    if isinstance(event, e.UsageUpdated):
        return event.role == "ahead"
    return isinstance(event, e.SearchExpected | e.SourceExpected)


def plain(value: Any) -> Any:
    """Plain data without times, and without who was contacted for nothing."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items() if name not in TIMES}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value.partition("; also contacted: ")[0] if isinstance(value, str) else value


def by_place(log: Sequence[e.Envelope]) -> Mapping[tuple[str, ...], list[Any]]:
    """What is said at each place of a run, in order. How places interleave, and where a stream is cut, is a matter of
    time.
    """
    found: dict[tuple[str, ...], list[Any]] = defaultdict(list)
    for each in log:
        if each.type.startswith("run.") and each.type != "run.created":
            continue  # which process did it, and how often
        data, said = plain(msgspec.json.decode(each.data)), found[each.path]
        if said and each.type.endswith(".delta") and said[-1][0] == each.type:
            data = {**data, "text": said.pop()[1]["text"] + data["text"]}
        said.append([each.type, data])
    return found


def assert_same(one: Ended, other: Ended) -> None:
    """The same is said at every place, and the report is the same."""
    there, here = by_place(one.rest), by_place(other.rest)
    assert there.keys() == here.keys()
    for path in there:
        assert there[path] == here[path], path
    assert (
        one.report.markdown.partition("; also contacted")[0] == other.report.markdown.partition("; also contacted")[0]
    )
    assert [each.id for each in one.report.sources] == [each.id for each in other.report.sources]


async def ended(web: LocalWeb, wanted: Mapping[str, object], home: Path | None = None, **options: Any) -> Ended:
    values = web.settings()
    chosen = replace(values.speculation, **wanted)
    async with Assay(replace(values, speculation=chosen), home=home) as assay:
        run = assay.start(QUESTION, web=True, **options)
        return Ended([envelope async for envelope in run])


@pytest.mark.usefixtures("unstalled")
@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
async def test_a_run_says_and_finds_the_same_with_and_without(web: LocalWeb, strategy: str) -> None:
    options = {"strategy": strategy, "depth": "medium", "mode": "deep_research"}
    without, with_it = await ended(web, OFF, **options), await ended(web, ON, **options)
    assert without.ahead == []
    assert with_it.kinds() >= {"search.expected", "source.expected"}
    assert_same(without, with_it)


PAGES = st.lists(st.sampled_from(["there", "slow", "moved", "gone", "empty"]), min_size=1, max_size=5)


def built(web: LocalWeb, kinds: Sequence[str]) -> None:
    """A web of so many pages on the harbor, which may be slow, elsewhere, gone, or without text."""
    web.found, web.there.asked = [], []
    for number, kind in enumerate(kinds):
        path, word = f"/page-{number}", WORDS[number]
        text = f"{HARBOR} {TIDES} Of the {word} the log of 18{40 + number} says {number + 2}.{number} metres."
        there = response(PAGE.format(f"Harbor {word}", text), Content_Type="text/html")
        web.there.pages |= {
            path: {"slow": [0.05, there], "moved": moved(f"{path}-new"), "gone": response(status=404)}.get(kind, there),
            f"{path}-new": there,
        }
        if kind == "empty":
            web.there.pages[path] = response("<html></html>", Content_Type="text/html")
        web.found.append((web.there.url(path), f"Harbor {word}", f"The {word} of the old harbor and its tides", ""))


@settings(max_examples=scaled(6), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kinds=PAGES, strategy=st.sampled_from(["orchestrated", "reflective"]), switched=st.sets(st.sampled_from([*OFF])))
def test_whatever_the_web_is_like_the_run_is_the_same(kinds: list[str], strategy: str, switched: set[str]) -> None:
    async def both() -> None:
        async with site() as there:
            web = LocalWeb(there)
            built(web, kinds)
            options = {"strategy": strategy, "depth": "light", "mode": "deep_research"}
            without = await ended(web, OFF, **options)
            with_it = await ended(web, dict.fromkeys(OFF, False) | dict.fromkeys(switched, True), **options)
            assert_same(without, with_it)
            read, searched = with_it.report.usage.pages, with_it.report.usage.searches
            assert with_it.unasked.pages <= max(5, 0.15 * read)
            assert with_it.unasked.searches <= max(2, 0.15 * searched)

    asyncio.run(both())


@pytest.mark.parametrize("switch", OFF)
async def test_each_kind_is_switched_alone(web: LocalWeb, switch: str) -> None:
    done = await ended(web, OFF | {switch: True}, depth="light", mode="deep_research")
    text = {"search.expected"} if switch != "pages" else {"source.expected"}
    assert done.kinds() - {"usage.updated"} == text


@pytest.mark.parametrize(
    ("wanted", "options"),
    [({"share": 0.0}, {}), ({}, {"max_pages": 20, "max_searches": 50})],
    ids=["no share", "counted"],
)
async def test_nothing_is_begun_which_may_use_up_a_limit(web: LocalWeb, wanted: Any, options: Any) -> None:
    done = await ended(web, wanted, depth="light", mode="deep_research", **options)
    assert done.ahead == []
    assert done.report.usage.searches


async def test_what_comes_in_a_conversation_is_not_searched_as_it_stands(web: LocalWeb) -> None:
    before = (
        ConversationMessage(by="user", text="Tell me of the harbor."),
        ConversationMessage(by="assistant", text="Which one?"),
    )
    done = await ended(web, ON | {"names": False}, depth="light", mode="deep_research", said=before)
    assert "search.expected" not in done.kinds()


async def test_a_provider_with_a_key_is_asked_ahead_where_that_is_wanted(web: LocalWeb) -> None:
    web.there.pages["/search"] = response(json.dumps({"organic": []}), Content_Type="application/json")
    service = {"url": web.there.url("").rstrip("/")}
    for paid in (False, True):
        values = load(
            search={"providers": "serper", "services": {"serper": service}},
            web={"allow": "127.0.0.1"},
            keys={"serper": "k"},
            speculation=ON | {"paid": paid},
        )
        async with Assay(values) as assay:
            run = assay.start(QUESTION, web=True, depth="light", mode="deep_research")
            done = Ended([envelope async for envelope in run])
        assert ("search.expected" in done.kinds()) == paid


def guessing(web: LocalWeb) -> Settings:
    """Settings under which everything is begun ahead which may be."""
    values = web.settings()
    return replace(values, speculation=replace(values.speculation, **ON))


async def test_what_nobody_asks_for_is_counted_apart(web: LocalWeb) -> None:
    """The model of this run opens nothing, and words a query of its own."""
    scenes = [
        calls(("generate_plan", {"complexity": "simple"}), task="triage"),
        calls(("search", {"query": "tides"}), task="background"),
        says(ONE_STEP, task="plan"),
        calls(("research_agent", {"task": "Tides"}), task="orchestrate", turn=0),
        calls(("generate_report", {}), task="orchestrate"),
        calls(("search", {"query": "fishermen"}), task="research", turn=0),
        says("done", task="research"),
        says("The highest tide is on record. [S1]", repeat=True),
    ]
    async with Assay(guessing(web), models={"mine": Scripted(scenes)}) as assay:
        roles = {role: ["mine"] for role in ROLES}
        run = assay.start("How high is the tide?", web=True, models=roles, depth="light", verify=False)
        done = Ended([envelope async for envelope in run])
        again = await assay.replay(run.run_id)
    assert (done.unasked.searches, done.unasked.pages) == (1, 3)
    assert done.report.usage.pages == 3
    assert again.differences == ()


async def test_who_was_asked_for_nothing_is_said(web: LocalWeb) -> None:
    scenes = [calls(("answer", {"text": "Hello!"}), task="triage", repeat=True)]
    async with Assay(guessing(web), models={"mine": Scripted(scenes)}) as assay:
        run = assay.start("How are you today?", web=True, models={role: ["mine"] for role in ROLES})
        done = Ended([envelope async for envelope in run])
    assert done.unasked.searches == 1
    assert any("also contacted: searxng" in limit for limit in done.report.limits)


async def killed(place: Place, web: LocalWeb, at: int) -> int:
    """A command which is killed as the web is asked for the `at`-th time, and resumed; how often it was asked."""
    service = f"[search.services.searxng]\nurl = '{web.there.url('').rstrip('/')}'\n"
    config = f"[search]\nproviders = ['searxng']\n{service}[web]\nallow = ['127.0.0.1']\n"
    config += "[speculation]\nquestion = true\nnames = true\n"
    place.write("config.toml", config)
    words = (QUESTION, "--web", "--depth", "light", "--mode", "deep_research", "-q")
    process, before = place.started(*words), len(web.there.asked)
    while process.poll() is None:
        if at and len(web.there.asked) - before >= at:
            process.kill()
        await asyncio.sleep(0.002)
    if at:
        assert await asyncio.to_thread(place.ran, "runs", "resume", "last") == 0, place.output()
    return len(web.there.asked) - before


async def ended_in(place: Place) -> Ended:
    """What the run in a home came to, without what was taken back."""
    async with Assay(load(), home=place.home) as assay:
        log = await assay.events((await assay.runs())[0].run_id)
    events = [(each, e.decode(each)) for each in log]
    dropped = {seq for _, event in events if isinstance(event, e.StepRestarted) for seq in event.dropped}
    return Ended([each for each, event in events if each.seq not in dropped and not isinstance(event, e.StepRestarted)])


async def test_a_run_which_was_killed_comes_to_the_same(web: LocalWeb, tmp_path: Path) -> None:
    without = await ended(web, OFF, home=tmp_path / "without", depth="light", mode="deep_research")
    for at in (1, 3, 5):
        place = Place(tmp_path / str(at))
        place.folder.mkdir()
        await killed(place, web, at)
        assert_same(without, await ended_in(place))
