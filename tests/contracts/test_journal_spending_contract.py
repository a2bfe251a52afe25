"""What every journal says of what runs have used."""

from journals import begin, hold

from assay.core.ports import Commit, RunSpending
from assay.core.usage import Usage


async def test_what_is_settled_and_held_counts_once_a_step(journal, other):
    lease = await begin(journal, "r1")
    await journal.commit(lease, Commit(holds=(hold("a", 100), hold("b", 20)), active_seconds=3.5))
    await journal.commit(lease, Commit(holds=(hold("a", 70, "settled"),), status="running"))
    (found,) = await other.spending()
    assert found == RunSpending(
        run_id="r1",
        status="running",
        brief=b'{"question":"q"}',
        active_seconds=3.5,
        usage=Usage(input_tokens=90, usd=0.2),
    )


async def test_newest_first_from_a_time_on_and_no_more_than_wanted(journal):
    for name in ("r1", "r2", "r3"):
        await begin(journal, name)
    assert [each.run_id for each in await journal.spending()] == ["r3", "r2", "r1"]
    assert [each.run_id for each in await journal.spending(limit=2)] == ["r3", "r2"]
    assert [each.usage for each in await journal.spending(limit=1)] == [Usage()]
    created = (await journal.find("r1")).created_at
    assert len(await journal.spending(since=created)) == 3
    assert len(await journal.spending(since=created[:10])) == 3
    assert await journal.spending(since="2099-01-01") == []


async def test_a_run_which_was_deleted_counts_no_more(journal):
    lease = await begin(journal, "r1")
    await journal.commit(lease, Commit(holds=(hold("a", 100, "settled"),)))
    await journal.release(lease)
    await journal.delete("r1")
    assert await journal.spending() == []
