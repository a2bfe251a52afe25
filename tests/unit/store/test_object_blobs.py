"""Blobs in an object store: what is done when it fails, is slow, refuses, or holds what is torn; what is kept here."""

from __future__ import annotations

import os
import time
from pathlib import Path

import object_store
import pytest
from hypothesis import given
from hypothesis import strategies as st
from object_store import Fault, S3Server

from assay.core.errors import ConfigError, StoreError
from assay.core.sources import sha256
from assay.settings import load
from assay.store.blob_cache import FULL_SHARE, CachedBlobs
from assay.store.blobs import FolderBlobs, MemoryBlobs, blob_name, blob_path
from assay.store.sql.home import open_blobs

objects = pytest.importorskip("assay.store.objects", exc_type=ConfigError)

DENIED = "<Error><Code>SignatureDoesNotMatch</Code><StringToSign>AKIDOFTHETEST s3cr3tOfTheTest</StringToSign></Error>"


@pytest.fixture
def place(s3: S3Server) -> str:
    return s3.place()


def test_a_server_which_fails_twice_is_asked_again(s3: S3Server, place: str):
    blobs = objects.ObjectBlobs(place)
    s3.faults += [Fault("PUT", 500), Fault("PUT", 503)]
    name = blobs.put(b"tide")
    s3.faults += [Fault("GET", 500)]
    assert blobs.get(name) == b"tide"
    assert [each.partition(" ")[0] for each in s3.asked] == ["HEAD", "PUT", "PUT", "PUT", "GET", "GET"]


def test_one_which_goes_on_failing_is_an_error_in_time(s3: S3Server, place: str):
    blobs = objects.ObjectBlobs(place, retry_seconds=0.5)
    s3.faults += [Fault("PUT", 503)] * 20
    started = time.monotonic()
    with pytest.raises(StoreError, match=f"{place} cannot be written: it answers 503"):
        blobs.put(b"tide")
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("method", ["HEAD", "GET", "PUT"])
def test_who_is_refused_is_told_so_and_nothing_secret_is_said(s3: S3Server, place: str, method: str):
    blobs = objects.ObjectBlobs(place)
    name = blobs.put(b"tide")
    s3.faults += [Fault(method, 403, body=DENIED)] * 3
    call = {"HEAD": lambda: blobs.has(name), "GET": lambda: blobs.get(name), "PUT": lambda: blobs.put(b"ebb")}[method]
    with pytest.raises(StoreError, match="access is refused") as error:
        call()
    assert error.value.__cause__ is None
    for secret in (object_store.SECRET, object_store.KEY):
        assert secret not in str(error.value)


def test_one_which_does_not_answer_is_an_error_in_time(s3: S3Server, place: str):
    name = objects.ObjectBlobs(place).put(b"tide")
    blobs = objects.ObjectBlobs(place, retry_seconds=0, request_seconds=1)
    s3.faults += [Fault("GET", 200, seconds=3.0)] * 2
    started = time.monotonic()
    with pytest.raises(StoreError, match="cannot be read"):
        blobs.get(name)
    assert time.monotonic() - started < 10


def test_where_nobody_listens_it_says_what_to_look_at(s3: S3Server, place: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    blobs = objects.ObjectBlobs(place, retry_seconds=0.2)
    with pytest.raises(StoreError, match="AWS_ENDPOINT_URL"):
        blobs.get(sha256(b"tide"))


def test_a_bucket_which_is_not_there_is_said_to_be_missing(s3: S3Server):
    blobs = objects.ObjectBlobs("s3://nobodys/place")
    for call in (lambda: blobs.put(b"tide"), lambda: blobs.get(sha256(b"tide")), lambda: list(blobs.list_blobs())):
        with pytest.raises(StoreError, match=r"no such bucket|NoSuchBucket"):
            call()


def test_a_torn_copy_is_found_and_written_again(s3: S3Server, place: str):
    import obstore
    from obstore.store import from_url

    blobs = objects.ObjectBlobs(place)
    name = blobs.put(bytes(range(256)) * 8)
    bare = from_url(place, client_options={"allow_http": True})
    obstore.put(bare, blob_path(name), obstore.get(bare, blob_path(name)).bytes().to_bytes()[:-20])
    with pytest.raises(StoreError, match="is damaged"):
        blobs.get(name)
    blobs.put(bytes(range(256)) * 8)
    assert blobs.get(name) == bytes(range(256)) * 8


@pytest.mark.parametrize("url", ["s3://", "sftp://host/x", "https://host/x", "s3:///x"])
def test_what_is_no_address_of_a_store(url: str):
    with pytest.raises(ConfigError, match="s3://BUCKET/PREFIX"):
        load(blobs=url)


def test_what_is_no_address_is_a_folder():
    assert load(blobs="nonsense").blobs == Path("nonsense")


def test_keys_have_no_place_in_an_address():
    with pytest.raises(ConfigError) as error:
        load(blobs="s3://AKID:s3cr3t@bucket/prefix")
    assert "s3cr3t" not in str(error.value)


def test_they_can_be_listed_aged_and_removed(place: str):
    blobs = objects.ObjectBlobs(place)
    names = {blobs.put(str(number).encode()) for number in range(7)}
    assert {each.name for each in blobs.list_blobs()} == names
    one = min(names)
    assert (blobs.age(one) or 0.0) < 60
    blobs.remove(one)
    blobs.remove(one)
    assert blobs.age(one) is None
    assert {each.name for each in blobs.list_blobs()} == names - {one}


def test_what_was_read_here_is_read_here_again(s3: S3Server, place: str, tmp_path: Path):
    name = objects.ObjectBlobs(place).put(b"tide")
    blobs = open_blobs(tmp_path, place)
    s3.asked.clear()
    assert blobs.get(name) == blobs.get(name) == b"tide"
    assert len(s3.asked) == 1
    (kept,) = (tmp_path / "blob-cache").glob("??/*.zst")
    kept.write_bytes(b"damaged")
    assert blobs.get(name) == b"tide"
    assert len(s3.asked) == 2
    assert FolderBlobs(tmp_path / "blob-cache").get(name) == b"tide"


class Distant(FolderBlobs):
    """A folder which stands for a distant store."""


@pytest.mark.parametrize("limit", [0, 300, 5_000])
def test_what_is_kept_stays_below_its_limit(tmp_path: Path, limit: int):
    distant = Distant(tmp_path / "there")
    blobs = CachedBlobs(distant, tmp_path / "here", limit)
    names = [blobs.put(os.urandom(200)) for _ in range(40)]
    for name in names:
        assert blobs.get(name) == distant.get(name)
    kept = sum(path.stat().st_size for path in (tmp_path / "here").rglob("*.zst"))
    assert kept <= limit
    assert not limit or kept > FULL_SHARE * limit - 300


def test_what_was_used_last_is_kept(tmp_path: Path):
    blobs = CachedBlobs(Distant(tmp_path / "there"), tmp_path / "here", 2_000)
    first = blobs.put(os.urandom(200))
    for number in range(20):
        other = blobs.put(os.urandom(200))
        os.utime(tmp_path / "here" / blob_path(other), (number, number))
        assert blobs.get(first)
    assert (tmp_path / "here" / blob_path(first)).exists()


def test_a_full_disk_here_does_not_keep_from_reading(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "here").write_text("a file where the folder should be")
    blobs = CachedBlobs(Distant(tmp_path / "there"), tmp_path / "here", 2_000)
    assert blobs.get(blobs.put(b"tide")) == b"tide"
    assert "is not kept here" in caplog.text


@given(st.binary(max_size=40))
def test_a_place_tells_its_name(data: bytes):
    name = MemoryBlobs().put(data)
    assert blob_name(blob_path(name)) == name


@given(st.text(max_size=80))
def test_whatever_else_lies_there_has_no_name(place: str):
    assert blob_name(place) == "" or blob_path(blob_name(place)) == place
