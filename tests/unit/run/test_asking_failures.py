"""What a run does with each kind of failure of a real service: tries, fallback, breaker, probe; on a clock of ours."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager

import msgspec
import pytest
from chat_server import DONE, Answer, ChatServer, chat_server, chunk, fault, says
from runtime import ASK, ready, world
from runtime import DONE as OUTCOME
from waiting import LONG

from assay.core.brief import ROLES, Role, Timeouts
from assay.core.errors import ModelError, ModelFailed, ModelUnusable, Refused
from assay.core.events import ModelAttempted, ThinkDelta, decode
from assay.core.messages import Delta, Profile, Reply, Request
from assay.models.openai import ChatCompletions, ChatService
from assay.models.script import Scene, Scripted, fails
from assay.models.script import says as plays
from assay.run.engine import Engine, Outcome
from assay.run.model_call import MAX_TRIES
from assay.run.rate_limits import MAX_PAUSE_SECONDS, PATIENCE, PAUSE, RETURN_PAUSE
from assay.run.run import Run
from assay.run.voice import StreamHooks
from assay.store.memory import memory_store

SILENT = 0.5
"""Seconds a service may be silent which is: one which is not has all the time it needs."""
UNTIMED = Timeouts()


class Clock:
    """Stands still but for who sleeps, and for `at`, which a test moves."""

    def __init__(self) -> None:
        self.at = 1_000.0
        self.slept: list[float] = []

    def now(self) -> str:
        return "2026-01-01T00:00:00.000Z"

    def monotonic(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


class Asked:
    """Asks `bad` with the fallback `good` in one run, as often as a test likes."""

    def __init__(self, run: Run, clock: Clock) -> None:
        self._run, self.clock = run, clock
        self.silent: float | None = None

    async def __call__(self, role: Role = "analytical") -> str:
        """The name of the model which answered."""
        execution = self._run.execution
        if self.silent is not None:
            allowed = Timeouts(tokens=self.silent, first_token=self.silent)
            execution.brief = msgspec.structs.replace(execution.brief, timeouts=allowed)
        return (await self._run.ask(role, ASK, StreamHooks(deltas=lambda text: ThinkDelta(text=text)))).model


async def played(
    models: dict[str, object],
    test: Callable[[Asked], Awaitable[None]],
    *,
    names: tuple[str, ...] = ("bad", "good"),
    timeouts: Timeouts = UNTIMED,
) -> list[ModelAttempted]:
    """Run `test`; the attempts on the log."""
    clock, store = Clock(), memory_store()
    at = msgspec.structs.replace(world(), clock=clock, models=models)

    async def pipeline(run: Run) -> Outcome:
        await test(Asked(run, clock))
        return OUTCOME

    roles = dict.fromkeys(ROLES, names)
    handle = Engine(store.journal, pipeline).start(ready(at, models=roles, timeouts=timeouts))
    await handle.wait()
    events = [decode(each) for each in await store.journal.events(handle.run_id)]
    return [each for each in events if isinstance(each, ModelAttempted)]


class Counted(ChatCompletions):
    """Counts how often it is asked: a server does not see a request which is given up at once."""

    asked = 0

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        self.asked += 1
        return super().stream(request)


def service(url: str) -> Counted:
    return Counted("m", ChatService(name="bad", url=url), Profile(name="bad"))


def good() -> Scripted:
    return Scripted([plays("ok", repeat=True)], profile=Profile(name="good"))


TOKEN = chunk({"content": "Sev"})
PASSING: dict[str, Answer] = {
    "429": fault(429, "slow down"),
    "429 with Retry-After": fault(429, "slow down", **{"retry-after": "7"}),
    "500": fault(500, "broken"),
    "503": fault(503, "overloaded"),
    "a stall before the first token": Answer([5.0]),
    "a stall in the middle": Answer([TOKEN, 5.0]),
    "a cut in the middle": Answer([TOKEN], cut=True),
    "an end without a reason": Answer([TOKEN]),
    "a body which is none": Answer(["data: {not json\n\n"]),
}
FINAL: dict[str, Answer] = {
    "401": fault(401, "bad key"),
    "404": fault(404, "no such model"),
    "an empty account": fault(429, "You exceeded your quota", "insufficient_quota"),
    "429 with a long Retry-After": fault(429, "slow down", **{"retry-after": str(int(2 * PATIENCE))}),
}


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[ChatServer, dict[str, object]]]:
    with chat_server(answer) as server:
        yield server, {"bad": service(server.url), "good": good()}


@pytest.mark.parametrize("kind", [*PASSING, *FINAL])
async def test_a_failing_service_is_left_alone_probed_once_and_taken_back(kind: str) -> None:
    answer = (PASSING | FINAL)[kind]
    tries = MAX_TRIES if kind in PASSING else 1
    silent = SILENT if "stall" in kind else LONG
    with serving(answer) as (server, models):
        bad = models["bad"]
        assert isinstance(bad, Counted)

        async def test(ask: Asked) -> None:
            ask.silent = silent
            assert await ask() == "good"
            assert bad.asked == tries
            assert await ask() == "good"
            assert bad.asked == tries  # open: not asked
            ask.clock.at += max(PAUSE, 2 * PATIENCE)
            assert await ask() == "good"
            assert bad.asked == tries + 1  # half open: one probe, and no more tries
            ask.clock.at += PAUSE
            assert await ask() == "good"
            assert bad.asked == tries + 1  # open for twice as long
            ask.clock.at += MAX_PAUSE_SECONDS
            server.answers, ask.silent = [says("Seven.")], LONG
            assert await ask() == "bad"
            server.answers, ask.silent = [answer], silent
            assert await ask() == "good"
            assert bad.asked == tries + 2 + tries  # closed: it has its tries again

        await played(models, test)


async def test_nobody_at_the_address() -> None:
    models = {"bad": service("http://127.0.0.1:9/v1"), "good": good()}

    async def test(ask: Asked) -> None:
        assert await ask() == "good"
        assert ask.clock.slept == [0.5, 1.0]
        assert await ask() == "good"
        ask.clock.at += PAUSE
        assert await ask() == "good"

    attempts = await played(models, test)
    assert [each.model for each in attempts] == ["bad"] * MAX_TRIES + ["good", "good", "bad", "good"]
    assert "does not answer at http://127.0.0.1:9/v1 (connection refused)" in attempts[0].outcome


async def test_a_service_nobody_answers_at_ends_the_run_before_it_begins() -> None:
    models = {"bad": service("http://127.0.0.1:9/v1")}

    async def test(ask: Asked) -> None:
        for _ in range(3):
            with pytest.raises(ModelUnusable, match=r"^bad does not answer at .* \(connection refused\)"):
                await ask()
        assert ask.clock.slept == []

    assert await played(models, test, names=("bad",)) == []  # nothing of it is stored: it is asked anew when resumed


async def test_a_service_which_goes_away_later_fails_its_calls_alone() -> None:
    with serving(says("Seven.")) as (server, models):

        async def test(ask: Asked) -> None:
            assert await ask() == "bad"
            server.answers = [FINAL["401"]]
            with pytest.raises(ModelFailed, match="401"):
                await ask()

        attempts = await played(models, test, names=("bad",))
    assert [each.outcome.partition(":")[0] for each in attempts] == ["ok", "bad answered 401"]


@pytest.mark.parametrize("kind", ["401", "404", "an empty account", "a stall before the first token"])
async def test_what_only_a_person_can_mend_ends_the_run_before_it_begins(kind: str) -> None:
    with serving((PASSING | FINAL)[kind]) as (_, models):

        async def test(ask: Asked) -> None:
            ask.silent = SILENT if "stall" in kind else LONG
            with pytest.raises(ModelUnusable, match=r"^bad"):
                await ask()

        assert await played(models, test, names=("bad",)) == []


async def test_the_end_of_a_report_is_not_lost_for_want_of_a_judge() -> None:
    with serving(FINAL["401"]) as (_, models):

        async def test(ask: Asked) -> None:
            with pytest.raises(ModelFailed, match="401"):
                await ask("judge")

        await played(models, test, names=("bad",))


async def test_a_pause_asked_for_is_kept() -> None:
    with serving(PASSING["429 with Retry-After"]) as (_, models):

        async def test(ask: Asked) -> None:
            assert await ask() == "good"
            assert ask.clock.slept == [7.0, 7.0]

        await played(models, test)


async def test_a_breaker_opened_meanwhile_ends_the_tries() -> None:
    bad = Scripted([fails(repeat=True)], profile=Profile(name="bad"))

    async def test(ask: Asked) -> None:
        breakers = ask._run.execution.breakers
        breakers.record_failure("bad", ask.clock.at, transient=True)  # as other lanes see it
        breakers.record_failure("bad", ask.clock.at, transient=True)
        assert await ask() == "good"
        assert len(bad.requests) == 1

    await played({"bad": bad, "good": good()}, test)


async def test_a_breaker_opened_during_the_pause_ends_the_tries() -> None:
    bad = Scripted([fails(repeat=True)], profile=Profile(name="bad"))

    async def test(ask: Asked) -> None:
        sleep = ask.clock.sleep

        async def others_fail(seconds: float) -> None:
            ask._run.execution.breakers.record_failure("bad", ask.clock.at, transient=False)
            await sleep(seconds)

        ask.clock.sleep = others_fail  # type: ignore[method-assign]
        assert await ask() == "good"
        assert len(bad.requests) == 1

    await played({"bad": bad, "good": good()}, test)


async def test_the_last_model_of_a_role_keeps_its_tries() -> None:
    bad = Scripted([fails(), fails(), plays("ok"), fails(), plays("ok")], profile=Profile(name="bad"))

    async def test(ask: Asked) -> None:
        ask._run.execution.breakers.record_failure("bad", ask.clock.at, transient=False)
        assert await ask() == "bad"
        assert await ask() == "bad"

    await played({"bad": bad}, test, names=("bad",))
    assert len(bad.requests) == 5


# refusals


REFUSALS: dict[str, Answer] = {
    "content_filter": says("I", finish="content_filter"),
    "refusal": Answer([chunk({"refusal": "I cannot help with that."}), chunk({}, "stop"), DONE]),
    "400": fault(400, "The response was filtered by the content management policy.", "content_filter"),
}


@pytest.mark.parametrize("kind", REFUSALS)
async def test_a_refusal_is_the_fallbacks_turn_and_no_failure_of_the_service(kind: str) -> None:
    with serving(REFUSALS[kind]) as (server, models):

        async def test(ask: Asked) -> None:
            for times in range(1, 5):
                assert await ask() == "good"
                assert len(server.requests) == times  # asked each time, once

        attempts = await played(models, test)
    assert all("refused to answer" in each.outcome for each in attempts if each.model == "bad")
    if kind != "400":
        assert attempts[0].usage.model_calls == 1  # it is paid for


async def test_where_all_refuse_the_call_is_refused() -> None:
    declined = Scene(answer=Reply(text="No.", stop="refused"), repeat=True)
    bad = Scripted([declined], profile=Profile(name="bad"))
    other = Scripted([declined], profile=Profile(name="good"))

    async def test(ask: Asked) -> None:
        with pytest.raises(Refused, match="it refused to answer: No"):
            await ask()

    await played({"bad": bad, "good": other}, test)


async def test_one_refuses_and_the_other_fails() -> None:
    bad = Scripted([Scene(answer=Reply(stop="refused"))], profile=Profile(name="bad"))
    other = Scripted([Scene(answer=ModelError("401", transient=False))], profile=Profile(name="good"))

    async def test(ask: Asked) -> None:
        with pytest.raises(ModelFailed, match="refused to answer; good: 401") as raised:
            await ask()
        assert not isinstance(raised.value, Refused)

    await played({"bad": bad, "good": other}, test)


# time


async def test_a_stream_which_drips_for_ever_ends_and_is_not_begun_again() -> None:
    with serving(Answer([piece for _ in range(200) for piece in (TOKEN, 0.02)])) as (server, models):

        async def test(ask: Asked) -> None:
            assert await ask() == "good"
            assert len(server.requests) <= 1  # a busy machine may not have come to the first within that second

        attempts = await played(models, test, timeouts=Timeouts(total=1.0))
    assert "no whole reply in 1 s" in attempts[0].outcome


class Restarting:
    """A model of a server that is down from its second call on, for some calls."""

    def __init__(self, down: int) -> None:
        self.profile, self.asked, self._down = Profile(name="bad"), 0, down

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        self.asked += 1
        if 1 < self.asked <= 1 + self._down:
            raise ModelError("connection refused", transient=False, reached=False, usable=False)
        yield Reply(text="Seven.", model="bad")

    async def offered(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        return


async def test_a_server_that_restarts_is_waited_for() -> None:
    async def test(ask: Asked) -> None:
        assert await ask() == "bad"
        assert await ask() == "bad"
        assert ask.clock.slept == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0]

    await played({"bad": Restarting(down=6)}, test, names=("bad",))


async def test_a_server_that_is_gone_is_waited_for_once() -> None:
    model = Restarting(down=10_000)

    async def test(ask: Asked) -> None:
        assert await ask() == "bad"
        for _ in range(2):
            with pytest.raises(ModelFailed, match="connection refused"):
                await ask()
        assert Timeouts().first_token <= sum(ask.clock.slept) <= Timeouts().first_token + RETURN_PAUSE

    await played({"bad": model}, test, names=("bad",))


async def test_a_server_that_is_gone_is_not_waited_for_if_there_is_another() -> None:
    async def test(ask: Asked) -> None:
        assert await ask() == "bad"
        assert await ask() == "good"
        assert ask.clock.slept == []

    await played({"bad": Restarting(down=6), "good": good()}, test)
