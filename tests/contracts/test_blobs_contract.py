"""What every blob store keeps of the promises in `core.ports.Blobs`."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.core.errors import StoreError
from assay.core.ports import Blobs
from assay.core.sources import sha256
from assay.store.blobs import FolderBlobs, MemoryBlobs
from assay.store.sql.home import open_blobs


@pytest.fixture(params=["memory", "folder", "object store", "object store, cached"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Blobs, Blobs]:
    """The same blobs twice, as two processes would have them."""
    if request.param == "memory":
        one = MemoryBlobs()
        return one, one
    if request.param == "folder":
        return FolderBlobs(tmp_path), FolderBlobs(tmp_path)
    place = request.getfixturevalue("s3").place()
    from assay.store.objects import ObjectBlobs

    if request.param == "object store":
        return ObjectBlobs(place), ObjectBlobs(place)
    return open_blobs(tmp_path / "one", place), open_blobs(tmp_path / "two", place)


@pytest.fixture
def blobs(opened: tuple[Blobs, Blobs]) -> Blobs:
    return opened[0]


@settings(max_examples=scaled(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=2000))
def test_bytes_come_back_by_their_hash(blobs, data):
    name = blobs.put(data)
    assert name == sha256(data)
    assert blobs.get(name) == data
    assert blobs.has(name)


@settings(max_examples=scaled(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(many=st.lists(st.binary(max_size=200), max_size=12))
def test_several_are_stored_together_and_named_in_order(opened, many):
    one, two = opened
    assert one.put_all(many) == [sha256(data) for data in many]
    assert [two.get(sha256(data)) for data in many] == many


def test_storing_again_changes_nothing(opened):
    one, two = opened
    assert one.put(b"same") == two.put(b"same")
    assert one.get(sha256(b"same")) == two.get(sha256(b"same")) == b"same"


def test_what_one_process_stores_another_reads(opened):
    one, two = opened
    assert two.get(one.put(b"from one")) == b"from one"
    assert two.has(sha256(b"from one"))


def test_large_and_repetitive_data(blobs):
    data = b"ab" * 2_000_000
    assert blobs.get(blobs.put(data)) == data


@pytest.mark.parametrize("name", ["0" * 64, "", "../../etc/passwd", "A" * 64, "0" * 63 + "\n", "zz"])
def test_what_is_not_there_is_an_error(blobs, name):
    assert not blobs.has(name)
    with pytest.raises(StoreError):
        blobs.get(name)


def test_threads_may_store_at_once(blobs):
    contents = [f"{n % 10}".encode() * 1000 for n in range(40)]

    def store(part: list[bytes]) -> None:
        for data in part:
            assert blobs.get(blobs.put(data)) == data

    threads = [threading.Thread(target=store, args=(contents[n::4],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(blobs.has(sha256(data)) for data in contents)
