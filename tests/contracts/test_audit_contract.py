"""The audit log: the newest first, found by who and what, kept for a while."""

from __future__ import annotations

import pytest

from assay.core.ports.users import AuditEntry, AuditFilter, AuditLog

# What is in memory has no users.
pytestmark = pytest.mark.parametrize("stores", ["sqlite", "postgres"], indirect=True)


@pytest.fixture
def audit(stores) -> AuditLog:
    return stores.one.audit


def entry(actor: str, action: str = "log_in", **more) -> AuditEntry:
    return AuditEntry(actor=actor, action=action, **more)


async def test_entries_are_read_page_by_page(stores, audit: AuditLog) -> None:
    for number in range(5):
        await audit.add(entry("ana", subject=f"s{number}\0", address="::1", status=200, via="token"))
        stores.wall.seconds += 1
    first = await stores.two.audit.page(AuditFilter(), 3)
    assert [each.subject for each in first] == ["s4\0", "s3\0", "s2\0"]
    rest = await audit.page(AuditFilter(), 3, first[-1].number)
    assert [each.subject for each in rest] == ["s1\0", "s0\0"]
    assert rest[-1] == entry(
        "ana",
        subject="s0\0",
        address="::1",
        status=200,
        via="token",
        at=stores.wall.seconds - 5,
        number=rest[-1].number,
    )


async def test_entries_are_found_by_who_what_and_when(stores, audit: AuditLog) -> None:
    begun = stores.wall.seconds
    for actor, action in (("ana", "log_in"), ("bob", "log_in"), ("ana", "add_user")):
        await audit.add(entry(actor, action))
        stores.wall.seconds += 10

    async def found(**wanted) -> list[tuple[str, str]]:
        return [(each.actor, each.action) for each in await audit.page(AuditFilter(**wanted), 10)]

    assert await found(actor="ana") == [("ana", "add_user"), ("ana", "log_in")]
    assert await found(action="log_in") == [("bob", "log_in"), ("ana", "log_in")]
    assert await found(since=begun + 10, until=begun + 20) == [("bob", "log_in")]


async def test_old_entries_go_and_so_do_too_many(stores, audit: AuditLog) -> None:
    await audit.add(entry("old"))
    stores.wall.seconds += 100
    for number in range(4):
        await audit.add(entry(f"new{number}"))
    assert await audit.drop(50, 100) == 1
    assert await audit.drop(50, 2) == 2
    assert [each.actor for each in await audit.page(AuditFilter(), 10)] == ["new3", "new2"]
