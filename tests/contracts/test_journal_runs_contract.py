"""What every journal keeps of the promises in `core.ports.Journal`: runs, their leases, their lists."""

from __future__ import annotations

import msgspec
import pytest
from journals import AT, begin, commit_of, draft, row, seqs, step

from assay.core.errors import FenceLost, LeaseHeld, StoreError, UnknownName
from assay.core.events import Envelope
from assay.core.ports import (
    Commit,
    Lease,
    Renewal,
    RunInputs,
    RunRow,
)


async def test_create_makes_a_run_with_its_first_events(journal):
    written = await journal.create("r1", "why?", b"{}", [draft("a", "first"), draft("b", "second")])

    assert written == tuple(
        Envelope(
            seq=seq,
            run_id="r1",
            at=AT,
            path=("research", "agent-1"),
            type="think.delta",
            data=msgspec.Raw(b'{"text":"%s"}' % text),
        )
        for seq, text in ((1, b"first"), (2, b"second"))
    )
    assert await journal.events("r1") == list(written)
    assert await journal.find("r1") == RunRow(
        run_id="r1",
        question="why?",
        status="created",
        created_at=AT,
        holder="",
        fence=0,
        active_seconds=0.0,
        last_seq=2,
    )


async def test_create_without_events_takes_the_clock(journal):
    await journal.create("r1", "why?", b"{}", [])
    assert (await journal.find("r1")).created_at == "2027-01-15T08:00:00.000Z"
    assert await journal.events("r1") == []


async def test_an_id_is_given_once(journal, other):
    await journal.create("r1", "why?", b"{}", [draft("a")])
    with pytest.raises(StoreError, match="r1 exists"):
        await other.create("r1", "else?", b"[]", [draft("b")])
    assert (await journal.load("r1")).brief == b"{}"
    assert await seqs(journal) == [1]


async def test_acquire_raises_the_fence_each_time(journal):
    first = await begin(journal)
    again = await journal.acquire("r1", "host:1", 30)
    assert (first.fence, again.fence) == (1, 2)
    assert again == Lease(run_id="r1", fence=2, holder="host:1")


async def test_a_live_lease_is_held_against_others(journal, other):
    await begin(journal)
    with pytest.raises(LeaseHeld) as held:
        await other.acquire("r1", "host:2", 30)
    assert held.value.holder == "host:1"
    assert (await other.find("r1")).holder == "host:1"


async def test_an_expired_lease_is_taken_over_and_the_old_one_lost(stores, journal, other):
    old = await begin(journal, ttl=5)
    stores.wall.seconds += 5.1
    assert (await other.find("r1")).holder == ""
    new = await other.acquire("r1", "host:2", 30)

    assert new.fence == old.fence + 1
    with pytest.raises(FenceLost):
        await journal.renew(old, 5)
    with pytest.raises(FenceLost):
        await journal.commit(old, commit_of("late"))
    assert [event.seq for event in await other.commit(new, commit_of("on"))] == [2]
    assert (await journal.find("r1")).holder == "host:2"


async def test_an_expired_lease_which_nobody_took_still_writes_and_renews(stores, journal):
    lease = await begin(journal, ttl=5)
    stores.wall.seconds += 60
    assert [event.seq for event in await journal.commit(lease, commit_of("a"))] == [2]
    await journal.renew(lease, 5)
    assert (await journal.find("r1")).holder == "host:1"


async def test_a_dead_holder_is_evicted_by_exactly_its_name(journal, other):
    await begin(journal, holder="host:10")
    with pytest.raises(LeaseHeld):
        await other.acquire("r1", "host:2", 30, evict="host:1")
    lease = await other.acquire("r1", "host:2", 30, evict="host:10")
    assert lease.fence == 2


async def test_acquiring_an_unknown_run_says_so(journal):
    with pytest.raises(UnknownName):
        await journal.acquire("nobody", "host:1", 30)


async def test_renewing_holds_on(stores, journal, other):
    lease = await begin(journal, ttl=5)
    for _ in range(3):
        stores.wall.seconds += 4
        assert (await journal.renew(lease, 5)).action == ""
    with pytest.raises(LeaseHeld):
        await other.acquire("r1", "host:2", 30)


async def test_leases_renewed_together_have_most_of_their_time_and_an_answer_if_there_is_news(stores, journal, other):
    names = ("ra", "rb", "rc", "rd", "re")
    leases = [await begin(journal, name, ttl=8) for name in names]
    await journal.release(leases[1])
    stores.wall.seconds += 1.9  # they have as much left as is promised
    assert {lease: type(each) for lease, each in (await journal.renew_all(leases, 8)).items()} == {leases[1]: FenceLost}
    stores.wall.seconds += 6.2
    assert [(await other.find(name)).holder for name in names] == [""] * 5  # nothing was written
    await other.acquire("rc", "host:2", 30)
    await other.control("rd", "finish")
    await other.post("re", "answer", b"1")
    gone = msgspec.structs.replace(leases[0], run_id="nobody")
    answers = await journal.renew_all([*leases, gone], 8)
    assert {lease.run_id: str(each) for lease, each in answers.items() if isinstance(each, FenceLost)} == {
        name: f"run {name} was taken over from host:1: this process may not write it any more"
        for name in ("rb", "rc", "nobody")
    }
    wanted = {lease.run_id: each for lease, each in answers.items() if isinstance(each, Renewal)}
    assert wanted == {"rd": ("finish", 0), "re": ("", 1)}
    stores.wall.seconds += 7.9
    held = [(await other.find(name)).holder for name in names]
    assert held == ["host:1", "", "host:2", "host:1", "host:1"]
    assert await journal.renew_all([], 8) == {}


async def test_leases_looked_at_again_and_again_answer_what_changed_meanwhile(stores, journal, other):
    leases = [await begin(journal, name, ttl=20) for name in ("ra", "rb", "rc", "rd")]

    async def looked() -> dict[str, object]:
        first, second = [
            {
                lease.run_id: str(each) if isinstance(each, FenceLost) else each
                for lease, each in (await journal.renew_all(leases, 20)).items()
            }
            for _ in range(2)
        ]
        assert first == second
        return first

    assert await looked() == {}
    await other.control("ra", "finish")
    assert await looked() == {"ra": Renewal("finish", 0)}
    await journal.post("rb", "answer", b"1")
    assert await looked() == {"ra": Renewal("finish", 0), "rb": Renewal("", 1)}
    await other.acquire("rc", "host:2", 20, evict="host:1")
    assert set(await looked()) == {"ra", "rb", "rc"}
    await journal.release(leases[3])
    assert set(await looked()) == {"ra", "rb", "rc", "rd"}
    assert set(await journal.renew_all(leases[:1], 20)) == {leases[0]}


async def test_leases_are_renewed_together_before_the_first_ends_and_none_is_shortened(stores, journal, other):
    leases = [await begin(journal, "ra", ttl=8), await begin(journal, "rb", ttl=30)]
    stores.wall.seconds += 1.5
    leases.append(await begin(journal, "rc", ttl=8))
    for _ in range(2):
        assert await journal.renew_all(leases, 8) == {}
    stores.wall.seconds += 1  # the first one has less than three quarters left
    for _ in range(2):
        assert await journal.renew_all(leases, 8) == {}
    stores.wall.seconds += 7.5
    assert [(await other.find(name)).holder for name in ("ra", "rb", "rc")] == ["host:1"] * 3
    stores.wall.seconds += 1
    assert [(await other.find(name)).holder for name in ("ra", "rb", "rc")] == ["", "host:1", ""]


async def test_a_released_lease_is_free_at_once_and_not_renewed(journal, other):
    lease = await begin(journal)
    await journal.release(lease)
    assert (await other.find("r1")).holder == ""
    with pytest.raises(FenceLost):  # a heartbeat that comes late must not bring it back
        await journal.renew(lease, 30)
    assert (await other.acquire("r1", "host:2", 30)).fence == 2


async def test_releasing_a_lost_lease_does_nothing(stores, journal, other):
    old = await begin(journal, ttl=1)
    stores.wall.seconds += 2
    await other.acquire("r1", "host:2", 30)
    await journal.release(old)
    assert (await journal.find("r1")).holder == "host:2"


async def test_release_comes_after_the_commits_before_it(journal):
    lease = await begin(journal)
    pending = journal.commit(lease, commit_of("a"))
    await journal.release(lease)
    assert len(await pending) == 1


async def test_events_come_after_a_number_and_at_most_so_many(journal, other):
    lease = await begin(journal)
    await journal.commit(lease, commit_of(*"abcdef"))
    assert [event.seq for event in await other.events("r1", after=3)] == [4, 5, 6, 7]
    assert [event.seq for event in await other.events("r1", after=3, limit=2)] == [4, 5]
    assert await other.events("r1", after=7) == []
    assert await other.events("r1", limit=0) == []


async def test_control_is_set_by_anybody_and_read_by_renewing(journal, other):
    lease = await begin(journal)
    for action in ("pause", "", "finish"):
        await other.control("r1", action)
        assert (await journal.renew(lease, 30)).action == action


@pytest.mark.parametrize("later", ["finish", "pause", ""])
async def test_cancel_is_never_weakened(journal, other, later):
    lease = await begin(journal)
    await other.control("r1", "finish")
    await other.control("r1", "cancel")
    await journal.control("r1", later)
    assert (await journal.renew(lease, 30)).action == "cancel"


async def test_messages_wait_in_order_by_topic(journal, other):
    await begin(journal)
    await begin(journal, "r2")
    await other.post("r1", "answers", b"1")
    await journal.post("r1", "answers", b"2")
    await other.post("r1", "plan", b"3")
    await other.post("r2", "answers", b"4")
    assert await journal.inbox("r1", "answers") == [b"1", b"2"]
    assert await journal.inbox("r1", "answers") == [b"1", b"2"]  # reading takes nothing away
    assert await journal.inbox("r1", "plan") == [b"3"]
    assert await journal.inbox("r1", "else") == []


async def test_runs_are_listed_newest_first(journal, other):
    assert await journal.runs() == []
    for name in ("b", "c", "a"):
        await begin(journal, name)
    assert [run.run_id for run in await other.runs()] == ["a", "c", "b"]
    assert [run.run_id for run in await other.runs(limit=2)] == ["a", "c"]
    assert (await other.runs(limit=1))[0] == await journal.find("a")


async def test_find_by_id_by_its_start_and_last(journal):
    for name in ("ab12", "ab34", "ab", "cd"):
        await begin(journal, name)
    for reference, found in (("ab12", "ab12"), ("ab1", "ab12"), ("ab", "ab"), ("c", "cd"), ("last", "cd")):
        assert (await journal.find(reference)).run_id == found


async def test_a_start_of_several_ids_lists_them(journal):
    for name in ("ab12", "ab34", "cd"):
        await begin(journal, name)
    with pytest.raises(UnknownName, match=r"more than one begins so: ab12, ab34\)"):
        await journal.find("ab")


async def test_an_unknown_one_is_told_the_newest_and_not_all(journal):
    for name in "abcdefgh":
        await begin(journal, name)
    with pytest.raises(UnknownName, match=r"no run named 'xyz' \(the newest: h, g, f, e, d, …\)$"):
        await journal.find("xyz")


async def test_a_slip_in_the_word_for_the_newest_is_recognized(journal):
    await begin(journal, "k3v9")
    with pytest.raises(UnknownName, match=r"no run named 'lst'; did you mean 'last'\?$"):
        await journal.find("lst")


async def test_what_names_no_run_is_unknown(journal):
    await begin(journal, "ab12")
    for reference in ("", "AB", "x%", "_b12", "ab12 ", "a" * 5000, "\0"):
        with pytest.raises(UnknownName):
            await journal.find(reference)


async def test_last_of_no_run_says_there_is_none(journal):
    with pytest.raises(UnknownName, match="no runs yet"):
        await journal.find("last")


async def test_the_newest_run_of_a_thread(journal, other):
    await journal.create("r1", "why?", b"{}", [draft("a")], "sea")
    await journal.create("r2", "how?", b"{}", [draft("a")])
    await journal.create("r3", "when?", b"{}", [draft("a")], "sea")
    await journal.create("r4", "who?", b"{}", [draft("a")], "Sea")
    newest = await other.latest("sea")
    assert newest == await journal.find("r3")
    assert newest.thread == "sea"
    assert (await journal.find("r2")).thread == ""
    assert await journal.latest("") is None
    assert await journal.latest("none") is None
    await journal.delete("r3")
    assert (await journal.latest("sea")).run_id == "r1"


async def test_what_a_run_is_given_is_stored_with_it(journal, other):
    given = RunInputs(steps=(step("a"), step("b", b"2")), ledger=(row("S1001"), row("S1002", b"[]", lane=2)))
    await journal.create("r1", "why?", b"{}", [draft("a"), draft("b", step="fork")], inputs=given)
    memory = await other.load("r1")
    assert memory.steps == {"a": step("a"), "b": step("b", b"2")}
    assert memory.ledger == given.ledger
    assert [(event.key, event.step) for event in memory.events] == [("a", ""), ("b", "fork")]
    lease = await journal.acquire("r1", "host:1", 30)
    await journal.commit(lease, Commit(steps=(step("b", b"3"),), events=(draft("c"),), ledger=(row("S1003"),)))
    after = await other.load("r1")
    assert after.steps == {"a": step("a"), "b": step("b", b"3")}
    assert [each.id for each in after.ledger] == ["S1001", "S1002", "S1003"]
    assert await seqs(other) == [1, 2, 3]


async def test_an_id_given_out_twice_leaves_what_the_first_was_given(journal, other):
    await journal.create("r1", "why?", b"{}", [draft("a")], inputs=RunInputs(steps=(step("a"),)))
    with pytest.raises(StoreError, match="r1 exists"):
        await other.create(
            "r1", "else?", b"[]", [draft("b")], inputs=RunInputs(steps=(step("b"),), ledger=(row("S1001"),))
        )
    memory = await journal.load("r1")
    assert (set(memory.steps), memory.ledger) == ({"a"}, ())
