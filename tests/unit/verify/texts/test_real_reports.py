"""Reports as models really write them: every link is found, and nearly every number has its reference."""

from __future__ import annotations

import itertools

import citations
import pytest

EVERY = 12

pytestmark = pytest.mark.skipif(not citations.DATA.is_dir(), reason="no reports with citations (set ASSAY_DATA)")


def test_every_link_and_address_is_found() -> None:
    found = [citations.read(text) for text in itertools.islice(citations.reports(), 0, None, EVERY)]
    assert len(found) > 20
    assert sum(each.links for each in found) > 100
    assert [each.links_missed + each.addresses_missed for each in found] == [0] * len(found)
    assert sum(each.undefined > 0 for each in found) < 0.1 * len(found)  # a few reports cite what they do not list
    assert all(each.cited for each in found)
