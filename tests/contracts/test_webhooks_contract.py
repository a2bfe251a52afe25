"""Webhooks in the store: nothing is missed, nothing is noted twice, and two processes never send the same."""

from __future__ import annotations

import asyncio

import pytest

from assay.core.ports import Commit, EventDraft, Journal, RunInputs
from assay.core.ports.users import UserRow
from assay.core.ports.webhooks import Delivery, NewEvents, Webhook, WebhookStore

# What is in memory has no server.
pytestmark = pytest.mark.parametrize("stores", ["sqlite", "postgres"], indirect=True)

TYPES = ("run.completed", "run.waiting")
AT = "2026-11-01T08:00:00.000Z"


@pytest.fixture
def webhooks(stores) -> WebhookStore:
    return stores.one.webhooks


@pytest.fixture
def ana(stores) -> Journal:
    return stores.one.journal.owned_by("ana")


def hook(id: str, owner: str = "ana") -> Webhook:
    return Webhook(id=id, owner=owner, url="https://a.example/hook", secret="whsec_x", events=("run.finished",))


def draft(key: str, type: str) -> EventDraft:
    return EventDraft(key=key, path=(), type=type, data=b"{}", at=AT)


async def begun(journal: Journal, run_id: str) -> None:
    await journal.create(run_id, "?", b"{}", [draft("created", "run.created")])


async def commit_event(journal: Journal, run_id: str, type: str, status) -> None:
    lease = await journal.acquire(run_id, "host:1", 30)
    await journal.commit(lease, Commit(events=(draft(type, type),), status=status))
    await journal.release(lease)


def event_types(found: list[NewEvents]) -> list[tuple[str, list[str]]]:
    return [(news.run_id, [event.type for event in news.events]) for news in found]


async def noted(webhooks: WebhookStore) -> list[tuple[str, list[str]]]:
    found = await webhooks.unsent_events(TYPES, 10)
    await webhooks.record_deliveries({news.number: news.last_seq for news in found}, [])
    return event_types(found)


async def test_what_happens_after_a_webhook_was_made_is_news_once(stores, webhooks, ana) -> None:
    for run_id in ("old", "going", "failed"):
        await begun(ana, run_id)
    await commit_event(ana, "old", "run.completed", "completed")
    await commit_event(ana, "failed", "run.failed", "failed")
    assert await noted(webhooks) == []
    made = await webhooks.add(hook("w1"))
    assert made.created == stores.wall.seconds
    assert await noted(webhooks) == []
    await begun(ana, "new")
    await begun(stores.one.journal.owned_by("bob"), "bobs")
    await commit_event(stores.one.journal.owned_by("bob"), "bobs", "run.completed", "completed")
    for run_id in ("going", "new", "failed"):
        await commit_event(ana, run_id, "run.completed", "completed")
    assert event_types(await stores.two.webhooks.unsent_events(TYPES, 2)) == [
        ("going", ["run.completed"]),
        ("failed", ["run.completed"]),
    ]
    every = [(run_id, ["run.completed"]) for run_id in ("going", "failed", "new")]
    assert await noted(webhooks) == every
    assert await noted(stores.two.webhooks) == []


async def test_a_run_which_waits_and_goes_on_is_news_twice(webhooks, ana) -> None:
    await webhooks.add(hook("w1"))
    await begun(ana, "r")
    await commit_event(ana, "r", "run.waiting", "waiting")
    assert await noted(webhooks) == [("r", ["run.waiting"])]
    await commit_event(ana, "r", "run.resumed", "running")
    assert await noted(webhooks) == []
    await commit_event(ana, "r", "run.completed", "completed")
    assert await noted(webhooks) == [("r", ["run.completed"])]
    await ana.delete("r")
    assert await noted(webhooks) == []


async def test_a_delivery_is_kept_once_and_sent_by_one(stores, webhooks) -> None:
    await webhooks.add(hook("w1"))
    made = [Delivery(id=f"evt_{n}", webhook="w1", type="run.finished", body=b"{}") for n in range(6)]
    await webhooks.record_deliveries({}, [*made, Delivery(id="evt_x", webhook="gone", type="run.finished", body=b"{}")])
    await stores.two.webhooks.record_deliveries({}, made)
    both = await asyncio.gather(webhooks.claim(4, 30), stores.two.webhooks.claim(4, 30))
    ids = sorted(delivery.id for part in both for delivery, _ in part)
    assert ids == [each.id for each in made]
    assert await webhooks.claim(9, 30) == []
    stores.wall.seconds += 31  # who had them has died
    again = await webhooks.claim(9, 30)
    assert {(delivery.attempts, webhook.secret) for delivery, webhook in again} == {(2, "whsec_x")}
    await webhooks.record_outcome("evt_0", "sent", status=204)
    await webhooks.record_outcome("evt_1", "waiting", status=500, error="refused", wait=5)
    await webhooks.record_outcome("evt_0", "waiting")  # what was sent stays sent
    by_id = {each.id: each for each in await stores.two.webhooks.deliveries("w1", 10)}
    assert (by_id["evt_0"].state, by_id["evt_0"].status) == ("sent", 204)
    assert (by_id["evt_1"].state, by_id["evt_1"].status, by_id["evt_1"].error) == ("waiting", 500, "refused")
    stores.wall.seconds += 6
    assert [delivery.id for delivery, _ in await webhooks.claim(9, 30)] == ["evt_1"]
    assert await webhooks.drop_settled(100) == 0
    stores.wall.seconds += 100
    assert await webhooks.drop_settled(100) == 1
    assert len(await webhooks.deliveries("w1", 10)) == 5


async def test_a_clock_that_was_set_back_holds_no_message(stores, webhooks) -> None:
    await webhooks.add(hook("w1"))
    stores.wall.seconds += 10 * 86_400.0
    await webhooks.record_deliveries({}, [Delivery(id="evt_0", webhook="w1", type="run.finished", body=b"{}")])
    stores.wall.seconds -= 10 * 86_400.0
    assert [delivery.id for delivery, _ in await webhooks.claim(9, 30)] == ["evt_0"]
    assert await webhooks.claim(9, 30) == []
    await webhooks.record_outcome("evt_0", "waiting", wait=86_400)
    assert await webhooks.claim(9, 30) == []


async def test_nothing_is_sent_to_what_is_gone(stores, webhooks, ana) -> None:
    await webhooks.add(hook("w1"))
    await webhooks.add(hook("w2"))
    await webhooks.record_deliveries(
        {}, [Delivery(id=f"e{n}", webhook=f"w{n}", type="run.finished", body=b"{}") for n in (1, 2)]
    )
    assert not await webhooks.remove("bob", "w1")
    assert await webhooks.remove("ana", "w1")
    await webhooks.disable("w2", "gone")
    assert await webhooks.claim(9, 30) == []
    [left] = await stores.two.webhooks.all("ana")
    assert (left.id, left.disabled) == ("w2", "gone")
    assert [(each.state, each.error) for each in await webhooks.deliveries("w2", 9)] == [("failed", "gone")]
    await begun(ana, "r")
    await commit_event(ana, "r", "run.completed", "completed")
    assert await noted(webhooks) == []


async def test_webhooks_go_with_their_user(stores, webhooks) -> None:
    for name in ("ana", "bob"):
        await stores.one.users.add(UserRow(name=name, role="member", password="", created=0.0))
        await webhooks.add(hook(f"w-{name}", name))
    await stores.one.users.remove("ana")
    assert [each.id for each in await webhooks.all()] == ["w-bob"]


async def test_a_run_is_made_with_its_webhook_and_takes_it_along(stores, webhooks, ana) -> None:
    await ana.create("r", "?", b"{}", [draft("created", "run.created")], inputs=RunInputs(webhook=hook("w1")))
    await begun(ana, "other")
    for run_id in ("r", "other"):
        await commit_event(ana, run_id, "run.waiting", "waiting")
    assert await webhooks.all("ana") == []
    [kept] = await webhooks.all("ana", "r")
    assert (kept.run, kept.created, kept.secret) == ("r", stores.wall.seconds, "whsec_x")
    assert await webhooks.find("ana", "w1") == kept
    assert await webhooks.find("bob", "w1") is None
    await webhooks.add(hook("w2"))  # one of all runs, which is told of what comes: it hides nothing of the run's own
    assert await noted(webhooks) == [("r", ["run.waiting"])]
    for run_id in ("r", "other"):
        await commit_event(ana, run_id, "run.completed", "completed")
    assert await noted(stores.two.webhooks) == [("r", ["run.completed"]), ("other", ["run.completed"])]
    assert [each.id for each in await webhooks.all()] == ["w2"]
    await webhooks.record_deliveries({}, [Delivery(id="evt_1", webhook="w1", type="run.finished", body=b"{}")])
    assert [each.id for each in await webhooks.all()] == ["w1", "w2"]  # it has still to be told
    await webhooks.record_outcome("evt_1", "sent")
    stores.wall.seconds += 1_000
    assert await webhooks.drop_settled(10_000) == 0
    assert len(await webhooks.all("ana", "r")) == 1
    assert await webhooks.drop_settled(500) == 1
    assert await webhooks.all("ana", "r") == []


async def test_a_run_which_is_deleted_has_no_webhook(webhooks, ana) -> None:
    await ana.create("r", "?", b"{}", [draft("created", "run.created")], inputs=RunInputs(webhook=hook("w1")))
    await webhooks.record_deliveries({}, [Delivery(id="evt_1", webhook="w1", type="run.waiting", body=b"{}")])
    await ana.delete("r")
    assert await webhooks.find("ana", "w1") is None
    assert await webhooks.claim(5, 30) == []
