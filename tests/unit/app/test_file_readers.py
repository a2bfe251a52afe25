"""Files are read within bounds: large ones apart from this process, which has an end and is given no keys."""

from __future__ import annotations

import gzip
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from assay.app import components as app_readers
from assay.app.components import LazyReaders
from assay.core.errors import ExtractError, TooSlow
from assay.core.ports import Extractor
from assay.core.sources import SYNTAXES, Syntax
from assay.evidence.documents import Texts, cut_all, segment_utf8
from assay.evidence.segment import PassageCutter
from assay.fetch import text as texts
from assay.fetch import workers as processes
from assay.fetch.workers import MIN_APART_BYTES, Workers
from assay.settings.environment import reader_environment

SECRETS = {"OPENAI_API_KEY": "sk-open", "ASSAY_PROVIDERS_X_KEY": "sk-mine", "AWS_SECRET_ACCESS_KEY": "aws"}
LARGE = {
    ".html": b"<p>The tide rises.</p>\n",
    ".csv": b"place,metres\nBrest,7.5\n",
    ".md": b"The tide rises.\n\n",
    ".txt": b"The tide rises.\n\n",
    ".py": b"tide = 7.5\n",
}
PARAGRAPHS = b"<p>a</p>" * (MIN_APART_BYTES // 8)


@pytest.fixture
def readers() -> Iterator[LazyReaders]:
    made = LazyReaders()
    yield made
    made.close()


@pytest.fixture(scope="module")
def started() -> Iterator[LazyReaders]:
    """Readers whose process lives, for all tests which only use it."""
    made = LazyReaders()
    begun(made)
    yield made
    made.close()


def children() -> list[int]:
    """The processes which this one started and which live."""
    return [each.pid for each in psutil.Process().children()]


def of(readers: LazyReaders, suffix: str) -> Extractor:
    return next(each for each in readers.extractors() if suffix in each.suffixes)


def test_a_large_file_is_read_elsewhere_and_to_the_same(readers: LazyReaders) -> None:
    """One process reads those of every kind."""
    before = set(children())
    for suffix, small in LARGE.items():
        assert list(of(readers, suffix).extract(small, f"a{suffix}"))
    assert set(children()) == before
    for suffix, small in LARGE.items():
        reader, large = of(readers, suffix), small * (MIN_APART_BYTES // len(small) + 1)
        elsewhere = list(reader.extract(large, f"a{suffix}"))
        assert len(set(children()) - before) == 1
        assert elsewhere == list(reader._here.extract(large, f"a{suffix}")), suffix  # type: ignore[attr-defined]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_process_which_reads_files_is_given_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LC_NUMERIC", "C")
    before = set(children())
    readers = LazyReaders()
    list(of(readers, ".html").extract(PARAGRAPHS, "a.html"))
    (pid,) = set(children()) - before
    given = dict(each.split(b"=", 1) for each in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") if each)
    readers.close()
    assert given == {name.encode(): value.encode() for name, value in reader_environment().items()}
    assert given[b"LC_NUMERIC"] == b"C"
    assert not any(value.encode() in given.values() for value in SECRETS.values())


@pytest.mark.parametrize("suffix", LARGE)
def test_a_large_file_which_takes_too_long_is_given_up(
    suffix: str, readers: LazyReaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "MIN_APART_BYTES", 1)
    workers = Workers(1, seconds=0.01)  # less than any process takes to start
    with pytest.raises(TooSlow, match=r"not read within 0\.01 seconds; split it, or save it anew"):
        list(workers.isolate_large(of(readers, suffix)._here).extract(LARGE[suffix] * 9, f"a{suffix}"))  # type: ignore[attr-defined]
    workers.close()


def test_rows_have_an_end_however_short_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MAX_ROWS", 5_000)
    data = gzip.compress(b'{"text": "The tide rises."}\n' * 3 + b"\n" * 100_000)
    assert len(data) < 500
    read = texts.JsonLinesExtractor().extract(data, "a.jsonl.gz")
    assert [next(read).text for _ in range(3)] == ["The tide rises."] * 3
    with pytest.raises(ExtractError, match="more than 5,000 rows; split it"):
        next(read)


def test_bad_rows_are_counted_and_the_first_are_named() -> None:
    with pytest.raises(
        ExtractError, match=r"^900 rows could not be read \(row 1: no `text`.* and 897 more\)$"
    ) as found:
        list(texts.JsonLinesExtractor().extract(b"{}\n" * 900, "a.jsonl"))
    assert len(str(found.value)) < 200


PAGE = "# Tides\n\nThe tide at Brest rises seven metres – twice a day.\n\n- one\n- two\n\n" * 300


def begun(readers: LazyReaders) -> int:
    """The process which reads files, once it has read one."""
    before = set(children())
    list(of(readers, ".html").extract(PARAGRAPHS, "a.html"))
    (pid,) = set(children()) - before
    return pid


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_long_text_is_cut_elsewhere_as_it_is_here(syntax: Syntax, readers: LazyReaders, started: LazyReaders) -> None:
    text = PAGE.encode()
    here = segment_utf8(text, syntax)
    assert readers.segment(text, syntax) == here  # no process of theirs lives
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app_readers, "segment_utf8", None)  # who would cut it here now fails
        found = started.segment(text, syntax)
    assert found == here


def test_a_short_text_is_cut_here(started: LazyReaders) -> None:
    assert started.segment(b"The tide rises.", "plain")[0].text == "The tide rises."


def test_where_the_process_is_gone_a_text_is_cut_all_the_same(readers: LazyReaders) -> None:
    os.kill(begun(readers), signal.SIGKILL)
    assert readers.segment(PAGE.encode(), "markdown") == segment_utf8(PAGE.encode(), "markdown")
    readers.close()
    assert readers.segment(PAGE.encode(), "markdown") == segment_utf8(PAGE.encode(), "markdown")


def test_a_full_batch_of_texts_is_cut_elsewhere_as_it_is_here(readers: LazyReaders) -> None:
    before = set(children())
    few: Texts = [(PAGE.encode(), "markdown"), ("– naïve –".encode(), "plain")]
    many: Texts = [(PAGE.encode() + bytes([65 + number]), syntax) for number, syntax in enumerate(SYNTAXES * 4)]
    assert readers.begin_segmenting(few)() == cut_all(few)
    assert set(children()) == before
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app_readers, "cut_all", None)  # who would cut it here now fails
        waiting = [readers.begin_segmenting(many) for _ in range(3)]
        found = [wait() for wait in waiting]
        assert readers.begin_segmenting(few)() == cut_all(few)  # by a process which lives already
    assert found == [cut_all(many)] * 3


def test_a_batch_whose_process_is_gone_is_cut_all_the_same(readers: LazyReaders) -> None:
    many: Texts = [(PAGE.encode(), "markdown")] * 20
    os.kill(begun(readers), signal.SIGSTOP)
    wait = readers.begin_segmenting(many)
    readers.close()
    assert wait() == cut_all(many)
    assert readers.begin_segmenting(many)() == cut_all(many)


def test_a_syntax_there_is_not_is_refused() -> None:
    with pytest.raises(ExtractError, match="no syntax 'text'"):
        list(PassageCutter().extract(b"a", "text"))
