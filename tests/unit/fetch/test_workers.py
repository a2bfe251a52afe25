"""The processes which read files: what a file may do to one, and that none is left."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_readers import OddReader

from assay.core.errors import ExtractError, ReaderBroke, TooSlow
from assay.core.sources import Extracted
from assay.fetch.worker import LENGTH_BYTES, MAX_MESSAGE_BYTES, ExtractionResult, Task, receive, send
from assay.fetch.workers import Workers

SUPPORT = Path(__file__).parents[2] / "support"


@pytest.fixture
def workers() -> Iterator[Workers]:
    made = Workers(1)
    yield made
    made.close()


def read(workers: Workers, order: str) -> Extracted:
    (found,) = workers.isolate(OddReader()).extract(order.encode(), "a.odd")
    return found


def refused(workers: Workers, order: str) -> str:
    with pytest.raises(ExtractError) as caught:
        list(workers.isolate(OddReader()).extract(order.encode(), "a.odd"))
    return str(caught.value)


class PickyReader(OddReader):
    """Raises what a parser does for bytes that it cannot take."""

    isolated = False

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        yield Extracted(text="read", extractor=self.name, syntax="plain")
        int(data)


def test_a_parsers_own_error_is_told_of_a_small_file_too(workers: Workers) -> None:
    documents = workers.isolate_large(PickyReader()).extract(b"x", "a.odd")
    assert next(documents).text == "read"
    with pytest.raises(ReaderBroke, match=r"its reader odd/1 failed \(ValueError: invalid literal"):
        next(documents)
    assert workers.pids() == []


def gone(pid: int) -> bool:
    """Whether the process has ended, waiting for it a little."""
    return within(60, lambda: not Path(f"/proc/{pid}").exists() or "\nState:\tZ" in status(pid))


def status(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return "\nState:\tZ"


def within(seconds: float, true: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return False


def test_files_are_read_elsewhere_and_by_one_process(workers: Workers) -> None:
    first, second = read(workers, "one"), read(workers, "two")
    assert (first.text, second.text) == ("one", "two")
    assert first.metadata == second.metadata
    assert first.metadata["pid"] != str(os.getpid())


def test_an_isolated_extractor_looks_like_itself(workers: Workers) -> None:
    isolated = workers.isolate(OddReader())
    assert (isolated.name, isolated.suffixes, isolated.media_type) == ("odd/1", (".odd",), "text/x-odd")
    assert isolated.isolated


def test_results_come_in_order_whoever_is_first() -> None:
    workers = Workers(2)
    isolated = workers.isolate(OddReader())
    asked = [isolated.extract(f"text {number}".encode(), "a.odd") for number in range(12)]
    assert [next(each).text for each in asked] == [f"text {number}" for number in range(12)]
    workers.close()


@pytest.mark.parametrize(
    ("order", "error"), [("hang", TooSlow), ("bloat", ReaderBroke), ("crash", ReaderBroke), ("fail", ReaderBroke)]
)
def test_the_error_says_what_kind_of_failure_it_was(order: str, error: type[ExtractError]) -> None:
    workers = Workers(1, seconds=2.5 if error is TooSlow else 60)  # a busy machine takes seconds to start a reader
    with pytest.raises(error):
        list(workers.isolate(OddReader()).extract(order.encode(), "a.odd"))
    workers.close()


@pytest.mark.parametrize("order", ["hang", "spin"])
def test_a_hanging_reader_is_ended_and_replaced(order: str) -> None:
    workers = Workers(1)  # what is read next has the usual time: a busy machine takes seconds to start a reader
    with pytest.raises(ExtractError) as caught:
        list(workers.isolate(OddReader(), 2.5).extract(order.encode(), "a.odd"))
    assert str(caught.value) == "not read within 2.5 seconds; split it, or save it anew"
    assert read(workers, "next").text == "next"
    workers.close()


def test_a_crashing_reader_is_replaced(workers: Workers) -> None:
    assert refused(workers, "crash") == "its reader crashed (SIGSEGV); the file may be damaged"
    assert read(workers, "next").text == "next"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps the limit")
def test_memory_is_limited() -> None:
    workers = Workers(1, memory=1024**3)
    assert refused(workers, "bloat").startswith("reading it takes more than 1024 MB of memory")
    assert read(workers, "next").text == "next"
    workers.close()


def test_an_unexpected_error_is_told(workers: Workers) -> None:
    assert refused(workers, "fail") == "its reader failed (KeyError: 'no such thing')"
    assert read(workers, "next").text == "next"


def test_what_was_read_before_an_error_is_kept(workers: Workers) -> None:
    stream = workers.isolate(OddReader()).extract(b"partly", "a.odd")
    assert next(stream).text == "partly"
    with pytest.raises(ExtractError, match="the rest is bad"):
        next(stream)


@pytest.mark.parametrize("order", ["print", "babble"])
def test_what_a_reader_prints_is_in_nobodys_way(workers: Workers, order: str) -> None:
    assert read(workers, order).text == order


def test_a_process_which_ended_between_files_costs_none(workers: Workers) -> None:
    pid = int(read(workers, "one").metadata["pid"])
    os.kill(pid, signal.SIGKILL)
    assert gone(pid)
    assert read(workers, "two").text == "two"


def test_none_is_left_after_close() -> None:
    workers = Workers(2)
    read(workers, "one")
    (pid,) = workers.pids()
    workers.close()
    assert not Path(f"/proc/{pid}").exists()
    assert workers.pids() == []
    with pytest.raises(RuntimeError):
        workers.isolate(OddReader()).extract(b"late", "a.odd")


def test_close_does_not_wait_for_a_hanging_reader() -> None:
    workers = Workers(1, seconds=600)
    stream = workers.isolate(OddReader()).extract(b"hang", "a.odd")
    assert within(60, lambda: bool(workers.pids()))
    (pid,) = workers.pids()
    started = time.monotonic()
    workers.close()
    assert time.monotonic() - started < 60  # the reader hangs ten times as long
    assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(ExtractError):
        next(stream)


PARENT = """
import sys, time
sys.path.insert(0, sys.argv[1])
from odd_readers import OddReader
from assay.fetch.workers import Workers
workers = Workers(1)
workers.isolate(OddReader()).extract(sys.argv[2].encode(), "a.odd")
while not workers.pids():
    time.sleep(0.01)
print(workers.pids()[0], flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("order", ["idle", "hang"])
def test_none_outlives_its_parent_however_that_ends(order: str) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(SUPPORT), order], stdout=subprocess.PIPE)
    try:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.5)
        assert Path(f"/proc/{pid}").exists()
    finally:
        parent.kill()
        parent.communicate()
    assert gone(pid)


@given(st.binary(max_size=500), st.text(st.characters(codec="utf-8"), max_size=20))
def test_messages_come_through(data: bytes, name: str) -> None:
    stream = io.BytesIO()
    task = Task(extractor="a:B", name=name, data=data, seconds=1.0)
    send(stream, task)
    stream.seek(0)
    assert receive(stream, Task) == task
    with pytest.raises(EOFError):
        receive(stream, Task)


@given(st.binary(max_size=60))
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises((EOFError, ValueError)):
        receive(io.BytesIO(data), Task)


def test_a_document_of_the_wrong_shape_is_refused() -> None:
    body = msgspec.msgpack.encode({"documents": [{"text": 5}]})
    with pytest.raises(ValueError, match="text"):
        receive(io.BytesIO(len(body).to_bytes(LENGTH_BYTES, "big") + body), ExtractionResult)


def test_a_message_longer_than_any_may_be_is_not_read() -> None:
    with pytest.raises(ValueError, match="a message of"):
        receive(io.BytesIO((MAX_MESSAGE_BYTES + 1).to_bytes(LENGTH_BYTES, "big")), ExtractionResult)
