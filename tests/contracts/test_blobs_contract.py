"""What every blob store keeps of the promises in `core.ports.Blobs`."""

from __future__ import annotations

import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.core.errors import StoreError
from assay.core.ports import Blobs
from assay.core.sources import sha256


@pytest.fixture
def blobs(stores) -> Blobs:
    return stores.one.blobs


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=2000))
def test_bytes_come_back_by_their_hash(blobs, data):
    name = blobs.put(data)
    assert name == sha256(data)
    assert blobs.get(name) == data
    assert blobs.has(name)


def test_storing_again_changes_nothing(blobs, stores):
    assert blobs.put(b"same") == stores.two.blobs.put(b"same")
    assert blobs.get(sha256(b"same")) == b"same"


def test_large_and_repetitive_data(blobs):
    data = b"ab" * 2_000_000
    assert blobs.get(blobs.put(data)) == data


@pytest.mark.parametrize("name", ["0" * 64, "", "../../etc/passwd", "A" * 64, "0" * 63 + "\n", "zz"])
def test_what_is_not_there_is_an_error(blobs, name):
    assert not blobs.has(name)
    with pytest.raises(StoreError):
        blobs.get(name)


def test_threads_may_store_at_once(blobs):
    contents = [f"{n % 25}".encode() * 1000 for n in range(100)]

    def store(part: list[bytes]) -> None:
        for data in part:
            assert blobs.get(blobs.put(data)) == data

    threads = [threading.Thread(target=store, args=(contents[n::4],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(blobs.has(sha256(data)) for data in contents)
