"""What every store which knows users keeps of the promises in `core.ports.users` and `core.ports.shares`."""

from __future__ import annotations

import pytest

from assay.core.ports.users import Credential, ShareRow, ShareStore, UserRow, UserStore


@pytest.fixture
def users(stores) -> UserStore:
    if stores.one.users is None:
        pytest.skip("in memory nobody else could know them")
    return stores.one.users


@pytest.fixture
def shares(stores) -> ShareStore:
    if stores.one.shares is None:
        pytest.skip("in memory no server could show them")
    return stores.one.shares


def user(name: str, subject: str = "") -> UserRow:
    return UserRow(name=name, role="member", password="", created=1.5, subject=subject)


def share(hash: str, run_id: str, owner: str = "ana", created: float = 1.0) -> ShareRow:
    return ShareRow(id=hash[:2], hash=hash, run_id=run_id, owner=owner, created=created, expires=0.0)


async def test_an_account_is_linked_once(users, stores):
    for name in ("ana", "bob"):
        assert await users.add(user(name))
    assert not await users.add(user("ana", "issuer 9"))
    assert await users.link("ana", "issuer 1")
    assert not await users.link("ana", "issuer 2")
    assert not await users.link("nobody", "issuer 3")
    assert await stores.two.users.find_by_subject("issuer 1") == user("ana", "issuer 1")
    assert await users.find_by_subject("issuer 2") is None
    assert await users.find_by_subject("") is None  # bob has none
    assert await users.remove("ana")
    assert await users.find_by_subject("issuer 1") is None


async def test_what_was_shared_with_a_removed_user_is_not_for_the_next_of_that_name(users, stores):
    await users.add(user("bob"))
    ana, bob = (stores.one.library.owned_by(name) for name in ("ana", "bob"))
    ana.mark("papers", private=False)
    ana.share("papers", open=False, readers=["bob", "cleo"])
    assert [row.name for row in bob.collections()] == ["ana/papers"]
    assert await users.remove("bob")
    await users.add(user("bob"))
    assert bob.collections() == []
    assert ana.collections()[0].readers == ("cleo",)


async def test_a_credential_is_kept_once(users, stores):
    await users.add(user("ana"))
    kept = Credential(kind="login", id="", hash="h", owner="ana", created=1.0, expires=9.0)
    assert await users.add_credential(kept)
    assert not await stores.two.users.add_credential(kept)
    await users.drop_expired(10.0)
    assert await users.add_credential(kept)


async def test_links_are_found_by_hash_and_forgotten(shares, stores):
    every = [share("aa1", "r1"), share("bb2", "r1", created=2.0), share("cc3", "r2"), share("dd4", "r1", "bob")]
    for each in every:
        await shares.add(each)
    assert await stores.two.shares.find_by_hash("aa1") == every[0]
    assert await shares.find_by_hash("aa") is None
    assert await shares.list_for_run("ana", "r1") == every[:2]
    assert await shares.drop("bob", "r1", "aa") == 0
    assert await shares.drop("ana", "r2", "aa") == 0
    assert await shares.drop("ana", "r1", "aa") == 1
    assert await shares.find_by_hash("aa1") is None
    await shares.drop_owner("bob")
    assert await shares.find_by_hash("dd4") is None
    await shares.drop_runs([f"none-{number}" for number in range(1_200)] + ["r1"])
    assert [await shares.find_by_hash(each.hash) for each in every] == [None, None, every[2], None]
    await shares.drop_runs([])
