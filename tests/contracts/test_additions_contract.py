"""What every store keeps of the promises in `core.ports.additions`."""

from __future__ import annotations

import msgspec
import pytest

from assay.core.errors import UnknownName
from assay.core.ports import Addition, Additions


def addition(id: str, **fields: object) -> Addition:
    made = Addition(
        id=id,
        collection="sea",
        name="tides.md",
        sources=("/home/ana/tides.md",),
        created_at="2026-11-23T08:00:00.000Z",
        updated_at="2026-11-23T08:00:00.000Z",
    )
    return msgspec.structs.replace(made, **fields)


@pytest.fixture
def ana(stores) -> Additions:
    return stores.one.additions.owned_by("ana")


@pytest.fixture
def bob(stores) -> Additions:
    return stores.two.additions.owned_by("bob")


def test_an_addition_is_kept_whole(ana, stores):
    kept = addition("a1", state="done", seq=7, warnings=("one", "two"), documents=3, added=2, error="é", holder="me")
    ana.put(addition("a1"))
    ana.put(kept)
    mine = msgspec.structs.replace(kept, owner="ana")
    assert ana.find("a1") == mine == stores.two.additions.find("a1")
    assert ana.all() == [mine]


def test_one_knows_ones_own(ana, bob, stores):
    ana.put(addition("a1"))
    bob.put(addition("b1"))
    ana.put(addition("a2"))
    assert [each.id for each in ana.all()] == ["a2", "a1"]
    assert [each.id for each in ana.all(1)] == ["a2"]
    assert [each.id for each in stores.one.additions.all()] == ["a2", "b1", "a1"]
    with pytest.raises(UnknownName):
        bob.find("a1")
    bob.put(addition("a1", error="taken"))  # another's stays as it is
    assert ana.find("a1").error == ""
    assert [each.id for each in bob.all()] == ["b1"]


def test_what_ended_long_ago_is_forgotten(ana, bob):
    ana.put(addition("a1", state="done", updated_at="2026-11-01"))
    ana.put(addition("a2", state="reading", updated_at="2026-11-01"))
    ana.put(addition("a3", state="failed", updated_at="2026-11-20"))
    bob.put(addition("b1", state="done", updated_at="2026-11-01"))
    ana.forget("2026-11-10")
    assert [each.id for each in ana.all()] == ["a3", "a2"]
    assert [each.id for each in bob.all()] == ["b1"]
