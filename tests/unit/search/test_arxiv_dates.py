"""What a feed says when something was published, whatever it says."""

from __future__ import annotations

import pytest

from assay import plugins

FEED = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/1</id><title>Tides</title>'
    "<published>{}</published></entry></feed>"
)
DATES = {
    "2019-03-04T17:00:00Z": "2019-03-04",
    "2019-03": "2019-03",
    "2019": "2019",
    "": "",
    "soon": "",
    "2019-99-99": "",
    "2019-02-30T00:00:00Z": "",
    "0000-00-00": "",
    "20190304": "",
    "9999999999999999999-01-01": "",
    "2019-01-01T00:00:00+" + "9" * 40: "",
    "①②③④": "",
    "²⁰¹⁹": "",
    "2019-01-01" * 1_000: "",
}


@pytest.mark.parametrize("date", DATES)
def test_a_date_is_read_or_there_is_none(date: str) -> None:
    (hit,) = plugins.load("searches", "arxiv")().hits(FEED.format(date).encode())
    assert (hit.url, hit.title, hit.published) == ("https://arxiv.org/abs/1", "Tides", DATES[date])
