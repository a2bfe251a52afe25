"""The bundle of a run: what is in it, that it is the same every time, and that other programs read it."""

from __future__ import annotations

import io
import zipfile

import logs
import msgspec
import pytest
from bundles import bundle_of_two_agents, failing, members_of, record_of_two_agents
from records import recorded

from assay.core.errors import StoreError
from assay.core.sources import sha256
from assay.core.view import fold_events
from assay.export import markdown
from assay.export.bundle import EXPORTER, check_bundle
from assay.export.bundle.contents import BundleMember, Manifest, installed_release, pack
from assay.store.memory import MemoryBlobs


async def test_what_is_in_it() -> None:
    record = await record_of_two_agents()
    members = members_of(EXPORTER.render(record))
    documents = {each.sha256 for each in record.library.documents(["default"])}
    assert list(members) == ["MANIFEST.json", *sorted(members.keys() - {"MANIFEST.json"})]
    assert {name for name in members if "/" in name} == {
        *(f"documents/{each}.txt" for each in documents),
        *(f"snapshots/{each}" for each in documents),
    }
    assert members["report.md"] == markdown.EXPORTER.render(record)
    assert members["events.jsonl"].count(b"\n") == len(record.log)
    assert all(sha256(members[f"documents/{each}.txt"]) == each for each in documents)


async def test_the_manifest_lists_every_other_member() -> None:
    members = members_of(await bundle_of_two_agents("links"))
    manifest = msgspec.json.decode(members.pop("MANIFEST.json"), type=Manifest)
    assert (manifest.format, manifest.release, manifest.citations) == ("assay.bundle/1", installed_release(), "links")
    assert {each.name: (each.sha256, each.size) for each in manifest.members} == {
        name: (sha256(data), len(data)) for name, data in members.items()
    }


async def test_another_program_reads_it() -> None:
    data = await bundle_of_two_agents()
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        assert opened.testzip() is None
        assert {info.filename: opened.read(info) for info in opened.infolist()} == members_of(data)
        assert {(info.compress_type, info.date_time, info.external_attr >> 16) for info in opened.infolist()} == {
            (zipfile.ZIP_STORED, (1980, 1, 1, 0, 0, 0), 0o100644)
        }


async def test_the_same_record_gives_the_same_bytes() -> None:
    record = await record_of_two_agents()
    assert EXPORTER.render(record) == EXPORTER.render(record)


@pytest.mark.parametrize("mode", ["numbers", "footnotes", "links", "markers", "none"])
async def test_a_fresh_bundle_holds(mode: str) -> None:
    found = check_bundle(await bundle_of_two_agents(mode), "r.zip")
    assert found.ok
    assert found.verified
    assert {each.name for each in found.checks if each.checked == 0} == set()
    assert [each.notes for each in found.checks if each.notes] == []


async def test_of_a_run_which_is_not_done_it_holds_as_far_as_it_went() -> None:
    whole = await record_of_two_agents()
    for count in range(1, len(whole.log), 5):
        log = whole.log[:count]
        record = msgspec.structs.replace(whole, view=fold_events(log), log=log)
        found = check_bundle(EXPORTER.render(record))
        assert found.ok, found.checks
        assert found.verified is False


def test_a_document_which_is_gone_is_named() -> None:
    with pytest.raises(StoreError, match="is not in the library"):
        EXPORTER.render(recorded(logs.two_agents().events))


async def test_a_text_which_is_gone_is_named() -> None:
    record = msgspec.structs.replace(await record_of_two_agents(), blobs=MemoryBlobs())
    with pytest.raises(StoreError, match="no blob"):
        EXPORTER.render(record)


async def test_a_report_without_citations_needs_no_documents() -> None:
    record = recorded(logs.no_evidence().events)
    assert [name for name in members_of(EXPORTER.render(record)) if "/" in name] == []
    assert failing(EXPORTER.render(record)) == []


class _Huge(bytes):
    """Bytes which say that they are 3 GiB."""

    def __len__(self) -> int:
        return 3 << 30


def test_what_would_need_zip64_is_refused() -> None:
    with pytest.raises(StoreError, match="at most 4 GiB"):
        pack([BundleMember("a", _Huge()), BundleMember("b", _Huge())])
    with pytest.raises(StoreError, match="65,534 members"):
        pack([BundleMember(f"m{at}", b"") for at in range(65_535)])
