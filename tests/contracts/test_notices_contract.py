"""Notices about works, against a server which speaks Crossref's format."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sampling import scaled
from web import Site, response, site

from assay.core.errors import SearchError
from assay.core.sources import Notice
from assay.search.web.http import SearchAccess
from assay.search.web.scholarship import CrossrefNotices

RETRACTED = {
    "status": "ok",
    "message-type": "work",
    "message": {
        "DOI": "10.1016/s0140-6736(97)11096-0",
        "title": ["A work"],
        "updated-by": [
            {
                "DOI": "10.1016/s0140-6736(10)60175-4",
                "type": "retraction",
                "label": "Retraction",
                "source": "retraction-watch",
                "updated": {"date-parts": [[2010, 2, 6]], "timestamp": 1265414400000},
            },
            {"DOI": "10.1016/x", "type": "Expression of Concern", "updated": {"date-parts": [[2004]]}},
        ],
    },
}
PLAIN = {"status": "ok", "message": {"DOI": "10.1000/182", "title": ["Another"]}}


@pytest.fixture
async def there() -> AsyncIterator[Site]:
    async with site() as made:
        made.pages |= {
            "/works/10.1016%2Fs0140-6736%2897%2911096-0": response(json.dumps(RETRACTED)),
            "/works/10.1000%2F182": response(json.dumps(PLAIN)),
            "/works/10.1000%2Fodd": response('{"message": {"updated-by": "none"}}'),
        }
        yield made


def desk(there: Site) -> CrossrefNotices:
    return CrossrefNotices(SearchAccess(url=there.url("").rstrip("/"), pause=0.0))


async def test_a_retracted_work_and_one_with_a_concern(there: Site):
    made = desk(there)
    found = await made.find_notices("10.1016/s0140-6736(97)11096-0")
    await made.close()
    assert found == (
        Notice(kind="retraction", doi="10.1016/s0140-6736(10)60175-4", date="2010-02-06"),
        Notice(kind="expression_of_concern", doi="10.1016/x", date="2004"),
    )
    assert [each.withdraws for each in found] == [True, False]


async def test_a_work_without_notices_and_one_nobody_knows(there: Site):
    made = desk(there)
    assert await made.find_notices("10.1000/182") == ()
    assert await made.find_notices("10.9999/none") == ()
    await made.close()


async def test_an_answer_which_cannot_be_read(there: Site):
    made = desk(there)
    with pytest.raises(SearchError, match="cannot be read"):
        await made.find_notices("10.1000/odd")
    await made.close()


async def test_nobody_there():
    made = CrossrefNotices(SearchAccess(url="http://127.0.0.1:9", pause=0.0))
    with pytest.raises(SearchError, match="cannot be reached"):
        await made.find_notices("10.1000/182")
    await made.close()


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["message", "updated-by", "type", "DOI", "updated", "date-parts"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@settings(max_examples=scaled(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reply=JSON)
async def test_any_answer_is_notices_or_a_named_failure(there: Site, reply: object):
    there.pages["/works/10.1%2Fx"] = response(json.dumps(reply))
    made = desk(there)
    try:
        found = await made.find_notices("10.1/x")
    except SearchError:
        found = ()
    finally:
        await made.close()
    assert all(isinstance(each, Notice) for each in found)
