"""Model calls begun while the decision on them is made change nothing of a run but how long it takes."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from research import BLEW, MISTRAL, PLAN, REPORT, ROSE, TIDE, Log, Sea, agent, planned, report_wanted, sends
from sampling import scaled
from side_by_side import assert_same, by_place, died_and_resumed, unasked
from simulated_time import simulated

from assay.core import events as e
from assay.core.brief import ROLES, Speculation
from assay.core.messages import Price, Profile, Reply, Request
from assay.core.sources import sha256
from assay.core.usage import Budget, Usage
from assay.core.view import fold_events
from assay.models.script import Scene, Scripted, turn

QUICK = Profile(name="quick", price=Price(input=1.0, output=2.0))
SMALL = msgspec.structs.replace(QUICK, window=8_192, max_output=2_000)
ON, OFF = Speculation(calls=True), Speculation()
NOTHING = "The documents do not say where it blows from. [S2001.1]"
LONG = (
    " ".join(f"Fact {at} of the tide at Brest in the year of the great storm. [S1001.1]" for at in range(170)),
    " ".join(f"Fact {at} of the mistral, of which sailors tell so much. [S2001.1]" for at in range(170)),
)
USED = Usage(model_calls=1, input_tokens=20_000, output_tokens=100)


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """What the models of a run will say: whom the orchestrator sends, what is found, and how that is judged."""

    answers: bool = False
    cycles: tuple[tuple[str, ...], ...] = ((TIDE, MISTRAL),)
    findings: tuple[str, str] = (ROSE, BLEW)
    judged: tuple[str, ...] = ("answered", "answered")
    slow: str = ""
    reflected: str = "continue"

    def play(self, request: Request) -> Scene:
        """A reply that depends on nothing but the request."""
        played = self._scene(request)
        assert isinstance(played.answer, Reply)
        reply = msgspec.structs.replace(played.answer, usage=USED)
        return msgspec.structs.replace(played, answer=reply, delay=0.02 if request.task == self.slow else 0.002)

    def _scene(self, request: Request) -> Scene:
        opening = {scene.task: scene for scene in planned(PLAN)}
        match request.task:
            case "triage" if self.answers:
                return scene_of("answer", text="Hello!")
            case "triage" | "background" | "plan" as task:
                return opening[task]
            case "orchestrate":
                at = turn(request)
                return sends(*self.cycles[at]) if at < len(self.cycles) else report_wanted()
            case "assess":
                parts = [{"part": at, "status": status} for at, status in enumerate(self.judged, 1)]
                return Scene(answer=Reply(text=json.dumps({"parts": parts})))
            case "reflect":
                parts = [{"part": at, "status": status} for at, status in enumerate(self.judged, 1)]
                found = {"reasoning": "So it is.", "decision": self.reflected, "changes": [], "coverage": parts}
                return Scene(answer=Reply(text=json.dumps(found)))
            case "write" if "only the beginning" in request.user_texts("rules")[0]:
                return Scene(answer=Reply(text=f"{ROSE}\n\n{BLEW}"))
            case "write":
                return Scene(answer=Reply(text=f"{REPORT}\n\nIt was asked {sha256(msgspec.json.encode(request))}."))
        return self._work(request)

    def _work(self, request: Request) -> Scene:
        (message,) = request.user_texts("task")
        at = int("mistral" in message)
        scenes = agent("", ("tide Brest", "mistral")[at], self.findings[at])
        return scenes[2] if request.task == "find" else scenes[min(turn(request), 1)]


def scene_of(tool: str, **arguments: str) -> Scene:
    (call,) = (Scene(answer=each.answer) for each in planned()[:1])
    assert isinstance(call.answer, Reply)
    made = msgspec.structs.replace(call.answer.calls[0], name=tool, arguments=arguments)
    return Scene(answer=Reply(calls=(made,), stop="calls"))


async def ran(plot: Plot, speculation: Speculation, profile: Profile = QUICK, **changes: Any) -> Log:
    return await Sea().run(Scripted(plot.play, profile=profile), speculation=speculation, **changes)


def asked(log: Log) -> Counter[str]:
    return Counter(request.task for request in log.model.requests)


CYCLES = st.sampled_from([((TIDE, MISTRAL),), ((TIDE,), (MISTRAL,)), ((TIDE,),), ((TIDE, MISTRAL), (TIDE,)), ()])
PLOTS = st.builds(
    Plot,
    answers=st.sampled_from([False, False, False, True]),
    cycles=CYCLES,
    findings=st.tuples(st.just(ROSE), st.sampled_from([BLEW, NOTHING])),
    judged=st.tuples(*[st.sampled_from(["answered", "partly", "not"])] * 2),
    reflected=st.sampled_from(["continue", "continue", "complete", "adjust"]),
    slow=st.sampled_from(["", "reflect", "triage", "background", "orchestrate", "assess", "write"]),
)


@settings(max_examples=scaled(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plot=PLOTS, assess=st.booleans(), strategy=st.sampled_from(["orchestrated", "orchestrated", "reflective"]))
def test_whatever_the_models_say_the_run_is_the_same(plot: Plot, assess: bool, strategy: str) -> None:
    async def both() -> None:
        options = {"strategy": strategy, "assess": assess, "depth": "medium"}
        without, with_it = await ran(plot, OFF, **options), await ran(plot, ON, **options)
        assert_same(without.envelopes, with_it.envelopes)
        assert unasked(without.envelopes) == Usage()
        more = asked(with_it) - asked(without)
        assert asked(without) - asked(with_it) == Counter()
        lost = unasked(with_it.envelopes)
        assert lost.model_calls == more.total()
        done = fold_events(with_it.envelopes).usage.total
        assert lost.tokens <= max(3_000, 0.15 * (done.tokens - lost.tokens)) + USED.tokens * more.total()

    simulated(both())


async def test_what_follows_is_begun_while_it_is_decided_and_asked_only_once() -> None:
    without, with_it = await ran(Plot(slow="assess"), OFF, assess=True), await ran(Plot(slow="assess"), ON, assess=True)
    tasks = [request.task for request in without.model.requests]
    ahead = [request.task for request in with_it.model.requests]
    assert tasks[:2] == ["triage", "background"]
    assert tasks[-3:] == ["orchestrate", "assess", "write"]
    assert Counter(tasks) == Counter(ahead)
    assert unasked(with_it.envelopes) == Usage()
    assert_same(without.envelopes, with_it.envelopes)


async def test_the_report_that_was_begun_is_dropped_where_something_is_open() -> None:
    plot = Plot(judged=("answered", "partly"), slow="assess")
    without, with_it = await ran(plot, OFF, assess=True), await ran(plot, ON, assess=True)
    assert asked(with_it) - asked(without) == Counter({"write": 1})
    first, second = (request for request in with_it.model.requests if request.task == "write")
    assert '"status":"partly"' not in first.user_texts("coverage")[0]
    assert '"status":"partly"' in second.user_texts("coverage")[0]
    assert unasked(with_it.envelopes).model_calls == 1
    assert_same(without.envelopes, with_it.envelopes)


@pytest.mark.parametrize("budget", [Budget(tokens=10**7), Budget(usd=100.0)])
async def test_nothing_is_begun_which_may_use_up_a_limit(budget: Budget) -> None:
    plot = Plot(judged=("answered", "partly"), slow="assess")
    done = await ran(plot, ON, assess=True, budget=budget)
    assert asked(done)["write"] == 1
    assert unasked(done.envelopes) == Usage()


async def test_the_parts_of_a_long_report_are_written_at_once() -> None:
    plot = Plot(findings=LONG)
    without, with_it = await ran(plot, OFF, SMALL), await ran(plot, ON, SMALL)
    assert asked(without)["write"] == asked(with_it)["write"] >= 2
    assert_same(without.envelopes, with_it.envelopes)
    assert unasked(with_it.envelopes) == Usage()
    (streamed,) = by_place(with_it.envelopes)["write", "report.delta"]
    assert streamed.count("It was asked") == asked(with_it)["write"] - 1
    assert with_it.written.startswith(f"{ROSE}\n\n{BLEW}")  # one pass over both gives the beginning


async def killed(plot: Plot, last: int, profile: Profile) -> list[e.Envelope]:
    """The log of a run that died at a write and was taken up by another process."""
    sea = Sea()
    model = Scripted(plot.play, profile=profile)
    roles = dict.fromkeys(ROLES, (profile.name,))
    made = sea.brief(models=roles, speculation=ON, assess=True)
    return await died_and_resumed(sea, model, made, last)


@settings(max_examples=scaled(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(last=st.integers(2, 110), plot=PLOTS, parts=st.booleans())
def test_a_run_that_was_killed_comes_to_the_same(last: int, plot: Plot, parts: bool) -> None:
    async def both() -> None:
        there = msgspec.structs.replace(plot, findings=LONG) if parts else plot
        profile = SMALL if parts else QUICK
        without = await ran(there, OFF, profile, assess=True)
        events = await killed(there, last, profile)
        assert [each.seq for each in events] == list(range(1, len(events) + 1))
        assert_same(without.envelopes, events)

    simulated(both())
