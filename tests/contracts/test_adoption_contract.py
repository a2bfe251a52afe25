"""What every store which knows users keeps of the promises in `core.ports.store`."""

from __future__ import annotations

import json
import time

import msgspec
import pytest
from shelf import hashes, names, pair
from sqlalchemy import select

from assay.core.errors import LeaseHeld, UsageError
from assay.core.ports import EventDraft, FileStamp, Origin
from assay.core.ports.collections import Addition
from assay.core.ports.jobs import Job, JobClaim
from assay.core.ports.store import Store
from assay.core.ports.users import ShareRow
from assay.store.sql.adoption import SqlAdoption
from assay.store.sql.tables import metadata

OLD, NEW = "/home/uploads/aaaa.upload", "/home/uploads/bbbb.upload"


def draft() -> EventDraft:
    return EventDraft(key="created", path=(), type="run.created", data=b"{}", at="2026-11-23T08:00:00.000Z")


def addition(state: str) -> Addition:
    at = "2026-11-23T08:00:00.000Z"
    return Addition(id="x1", collection="papers", name="x", sources=("/x",), created_at=at, updated_at=at, state=state)


@pytest.fixture
async def shared(stores) -> Store:
    """A store in which the local user has one of everything, and two others have something too."""
    store = stores.one
    if store.adoption is None:
        pytest.skip("in memory there are no users")
    brief = json.dumps({"owner": "", "user": "root", "question": "q", "scope": {"collections": ["papers"]}}).encode()
    for run_id, owner, thread in (("l1", "", "talk"), ("l2", "", ""), ("a1", "ana", ""), ("b1", "bob", "talk")):
        await store.journal.owned_by(owner).create(run_id, "q", brief, [draft()], thread=thread)
    await store.queue.owned_by("").enqueue("l2", "root")
    await store.shares.add(ShareRow(id="s1", hash="h1", run_id="l1", owner="", created=1.0, expires=0.0))
    local, ana, bob = (store.library.owned_by(owner) for owner in ("", "ana", "bob"))
    stamp = FileStamp(path=f"{OLD}/tide.md", size=1, mtime_ns=1, documents=tuple(hashes("tide")))
    local.add([pair("tide", url="upload://aaaa/tide.md"), pair("ebb")], "papers", [stamp])
    local.add_origins("papers", [Origin(place=f"{OLD}/tide.md", kind="files", left_out=("upload://aaaa/no.md",))])
    local.share("papers", open=False, readers=["ana", "bob"])
    local.include(hashes("tide", "ebb"), "unsorted")
    ana.add([pair("ebb", title="Ana's"), pair("flood")], "mine")
    ana.include(hashes("flood"), "unsorted")
    bob.add([pair("tide")], "papers")
    store.additions.owned_by("").put(addition("done"))
    return store


def owners(store: Store) -> set[str]:
    """Whose anything is, in any table."""
    assert isinstance(store.adoption, SqlAdoption)
    columns = [table.c.owner for table in metadata.sorted_tables if "owner" in table.c]
    with store.adoption._database.read() as connection:
        return {owner for column in columns for owner in connection.execute(select(column)).scalars()}


async def test_all_is_handed_over_and_nothing_of_others(shared, stores):
    assert "" in owners(shared)
    found = shared.adoption.belongings("", "ana")
    assert (found.runs, found.threads, found.collections, found.documents, found.links) == (2, 1, 1, 2, 1)
    assert shared.adoption.adopt("", "ana", {OLD: NEW}) == found
    assert owners(shared) == {"ana", "bob"}
    journal = stores.two.journal.owned_by("ana")
    assert [row.run_id for row in await journal.runs()] == ["a1", "l2", "l1"]
    brief = json.loads((await journal.load("l1")).brief)
    assert (brief["owner"], brief["user"], brief["scope"]) == ("ana", "ana", {"collections": ["papers"]})
    assert (await journal.latest("talk")).run_id == "l1"
    assert [each.run_id for each in await stores.two.shares.list_for_run("ana", "l1")] == ["l1"]
    assert [each.user for each in await stores.two.queue.owned_by("ana").list_runs()] == ["ana"]
    assert [each.run_id for each in await stores.two.journal.owned_by("bob").runs()] == ["b1"]
    # a second time there is nothing left
    assert shared.adoption.adopt("", "ana", {}).runs == 0


async def test_documents_are_his_once_and_lie_where_his_lie(shared, stores):
    before = dict(stores.two.library.owned_by("").documents_after(0, 100))
    shared.adoption.adopt("", "ana", {OLD: NEW})
    ana, bob = (stores.two.library.owned_by(owner) for owner in ("ana", "bob"))
    assert names(ana.documents(["papers"])) == ["tide", "ebb"]
    assert sorted(names(ana.documents(["unsorted"]))) == ["ebb", "flood", "tide"]
    assert ana.document(*hashes("ebb")).title == "Ana's"
    assert ana.document(*hashes("tide")).url == "upload://bbbb/tide.md"
    tide = [row for row, document in before.items() if document.sha256 == hashes("tide")[0]]
    assert [document.sha256 for document in ana.documents_at(tide).values()] == hashes("tide")
    (origin,) = ana.origins("papers")
    assert (origin.place, origin.left_out) == (f"{NEW}/tide.md", ("upload://bbbb/no.md",))
    assert ana.stamps([f"{NEW}/tide.md"]) != {}
    assert ana.stamps([f"{OLD}/tide.md"]) == {}
    assert next(row.readers for row in ana.collections() if row.name == "papers") == ("bob",)
    assert names(bob.documents(["ana/papers"])) == ["tide", "ebb"]
    assert names(bob.documents(["papers"])) == ["tide"]
    assert stores.two.library.owned_by("").collections() == []


async def test_what_both_have_by_one_name_is_in_the_way(shared):
    assert shared.adoption.belongings("", "bob").clashes == ("a collection 'papers'", "a conversation 'talk'")
    with pytest.raises(UsageError, match="both have a collection 'papers', a conversation 'talk'"):
        shared.adoption.adopt("", "bob", {OLD: NEW})
    assert owners(shared) == {"", "ana", "bob", "root"}
    assert shared.library.owned_by("").origins("papers")[0].place == f"{OLD}/tide.md"


async def test_what_somebody_works_on_is_not_handed_over(shared, stores):
    shared.additions.owned_by("").put(addition("reading"))
    with pytest.raises(UsageError, match="still being read"):
        shared.adoption.adopt("", "ana", {})
    shared.additions.owned_by("").put(addition("done"))
    at = "2026-11-23T08:00:00.000Z"
    stores.wall.seconds = time.time()
    await shared.jobs.put([Job(id="j1", kind="add", name="j", created_at=at, updated_at=at)])
    job = await shared.jobs.claim(JobClaim(holder="host:1", ttl=30, kinds=("add",)))
    with pytest.raises(UsageError, match="job j1"):
        shared.adoption.adopt("", "ana", {})
    await shared.jobs.update(msgspec.structs.replace(job, state="done"))
    await shared.journal.acquire("l1", "host:1", 30)
    with pytest.raises(LeaseHeld):
        shared.adoption.adopt("", "ana", {})
    assert "" in owners(shared)


async def test_jobs_which_name_files_of_the_machine_stay(shared):
    at = "2026-11-23T08:00:00.000Z"
    kinds = {"j1": "sync", "j2": "export", "j3": "add"}
    await shared.jobs.put(
        [Job(id=id, kind=kind, name=id, created_at=at, updated_at=at, state="failed") for id, kind in kinds.items()]
    )
    shared.adoption.adopt("", "ana", {OLD: NEW})
    found = {id: (await shared.jobs.find(id)).owner for id in kinds}
    assert found == {"j1": "ana", "j2": "", "j3": ""}
