"""Real PDFs: a described set (page counts, encryption) and odd ones from bug reports; a sample of both."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from assay.core.errors import ExtractError
from assay.core.sources import Extracted
from assay.evidence.segment import segment
from assay.fetch.pdf import PdfExtractor
from assay.fetch.workers import Workers

DATA = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[4] / "shared" / "data")) / "pdf"
SAMPLES = DATA / "py-pdf-samples"
ODD = DATA / "pdfjs-odd.tar.xz"
BROKEN = "017-unreadable-meta-data/unreadablemetadata.pdf"
"""PDFium opens it no more than its readers do: its cross references are damaged."""
EVERY = 6
"""Of the odd ones, which take milliseconds each, and where they are pictures, seconds: those are read in campaigns."""

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="no PDFs (set ASSAY_DATA)")


class Described(msgspec.Struct, frozen=True):
    path: str
    encrypted: bool
    pages: int | None = None


def described() -> list[Described]:
    if not SAMPLES.is_dir():
        return []
    listed = msgspec.convert(json.loads((SAMPLES / "files.json").read_text())["data"], list[Described])
    return [each for each in listed if (SAMPLES / each.path).is_file() and (SAMPLES / each.path).stat().st_size < 1e6]


def outcome(documents: Iterable[Extracted]) -> tuple[Extracted | None, str]:
    """The document, and why not all could be read."""
    found = None
    try:
        for found in documents:  # noqa: B007  # kept where the rest cannot be read
            pass
    except ExtractError as error:
        return found, str(error)
    return found, ""


def read(path: str) -> Iterable[Extracted]:
    return PdfExtractor().extract((SAMPLES / path).read_bytes(), path)


@pytest.mark.parametrize("sample", described(), ids=lambda sample: sample.path.rpartition("/")[2])
def test_pages_and_encryption_are_as_described(sample: Described) -> None:
    found, failure = outcome(read(sample.path))
    if found is None and failure.startswith("encrypted"):
        assert sample.encrypted
    elif found is None:
        assert failure.startswith(f"no text on its {sample.pages} page")
    else:
        assert found.metadata["pages"] == str(sample.pages)
        assert ("encrypted" in found.metadata) == sample.encrypted


@pytest.mark.skipif(not (SAMPLES / BROKEN).is_file(), reason="not in this set")
def test_a_damaged_one_is_told() -> None:
    found, failure = outcome(read(BROKEN))
    assert (found, failure) == (None, "damaged, or not a PDF; open it in a viewer and save it again")


def test_arabic_reads_in_its_order() -> None:
    found, _ = outcome(read("015-arabic/habibi.pdf"))
    assert found is not None
    assert "habibi" in found.text
    assert "حَبيبي" in found.text


def odd(every: int) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(ODD) as archive:
        files = (member for member in archive if member.isfile() and member.name.endswith(".pdf"))
        for member in islice(files, 0, None, every):  # in the archive's order: going back unpacks it again
            stream = archive.extractfile(member)
            assert stream is not None
            yield member.name, stream.read()


@pytest.mark.skipif(not ODD.is_file(), reason="no odd PDFs (set ASSAY_DATA)")
@pytest.mark.parametrize(
    ("every", "scans"), [(EVERY, False), pytest.param(1, True, marks=pytest.mark.campaign)], ids=["some", "all"]
)
def test_odd_ones_are_read_or_refused_with_a_reason(every: int, scans: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not scans:
        monkeypatch.setattr("assay.fetch.workers.reads_scans", lambda: False)
    workers = Workers(2)
    isolated = workers.isolate(PdfExtractor())
    count = 0
    asked = [(name, isolated.extract(data, name)) for name, data in odd(every)]
    for name, documents in asked:
        found, failure = outcome(documents)
        assert not failure.startswith(("its reader", "not read within", "reading it")), name
        if found is None:
            assert failure, name
            continue
        count += 1
        assert int(found.metadata["pages"]) == found.text.count("\f") + 1, name
        text = found.text.encode()
        for span in segment(found.text, found.syntax):
            assert text[span.start : span.end].decode() == span.text
            assert 1 <= span.page <= int(found.metadata["pages"])
    workers.close()
    assert count > len(asked) / 2
