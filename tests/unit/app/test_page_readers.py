"""Pages of the web are read apart from this process, whatever they are, and within a time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.app import readers as module
from assay.app.readers import Readers
from assay.core.errors import ExtractError


@pytest.fixture
def readers() -> Iterator[Readers]:
    made = Readers()
    yield made
    made.close()


def test_every_kind_of_page_is_read_elsewhere(readers: Readers):
    found = readers.of_pages()
    assert {each.media_type for each in found} == {each.media_type for each in readers.extractors()}
    assert all(each.isolated for each in found)


def test_a_page_is_read(readers: Readers):
    html = next(each for each in readers.of_pages() if each.media_type == "text/html")
    (read,) = html.extract(b"<html><title>Tides</title><body><p>The tide rises.", "tides")
    assert (read.title, read.text.strip()) == ("Tides", "The tide rises.")


def test_a_page_made_to_be_slow_is_given_up(readers: Readers, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PAGE_SECONDS", 1.0)
    html = next(each for each in readers.of_pages() if each.media_type == "text/html")
    slow = b"<html><body><article>" + b"<nav><p>x</p>" * 60_000 + b"The end."
    with pytest.raises(ExtractError, match="not read within 1 seconds"):
        list(html.extract(slow, "slow"))
