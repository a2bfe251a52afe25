"""A page under two addresses of its own site counts as one source; what names another site's address does not."""

from __future__ import annotations

from local_web import HARBOR, QUESTION, TIDES, LocalWeb
from web import response

from assay import Assay
from assay.core.report import build_report
from assay.core.view import fold_events

REST = (
    "The second part of the report tells of the boats which lay in the harbor at that time. Nine of them were lost in"
    " the storm of 1839. Their owners were paid by the town. The quay was raised by two feet in the year after it, and"
    " a light was put at its end. The harbor master kept the books of all that until he died, and his daughter after"
    " him. Few of these books can be read today. One of them lies in the town hall."
)
PRINT = (
    "This page was made for print. Colours, maps and the tables of the single years are left out; whoever wants them"
    " finds them in the reading room, on the second floor, where they may be copied for a small fee on every day but"
    " Sunday."
)
"""With this a form of the page has too little of the whole page in it to be taken for a copy of it."""


def page(text: str, own: str) -> bytes:
    body = f"<main><h1>The Harbor report</h1><p>{text}</p></main>"
    head = f'<title>The Harbor report</title><link rel="canonical" href="{own}">'
    return response(f"<!doctype html><html lang=en><head>{head}</head><body>{body}</body></html>", 200)


async def groups(web: LocalWeb) -> tuple[list[set[str]], dict[str, str], list[str]]:
    """The groups of documents which are one source by their addresses, what pages call their own, and the limits."""
    async with Assay(web.settings()) as assay:
        log = [envelope async for envelope in assay.start(QUESTION, web=True)]
    view = fold_events(log)
    paths = {each.document_sha256: each.url.rpartition("/")[2] for each in view.sources.values()}
    found = {paths[each.document_sha256]: each.metadata.get("canonical", "") for each in view.sources.values()}
    named = [{paths[sha256] for sha256 in group} for group in view.copies]
    return named, found, list(build_report(view).limits)


async def test_two_forms_of_a_page_are_one_source_of_a_run(web: LocalWeb) -> None:
    own = web.there.url("/whole")
    web.there.pages["/whole"] = page(f"{HARBOR} {TIDES} {REST}", own)
    web.there.pages["/print"] = page(f"{HARBOR} {PRINT}", own)
    web.found = [
        (web.there.url(path), "The Harbor report", "The report on the tides of the old harbor", "")
        for path in ("/print", "/whole")
    ]
    found, kinds, limits = await groups(web)
    assert {"whole", "print"} in found
    assert kinds["print"] == own
    assert any("copy one another and count as one source" in limit for limit in limits)


async def test_an_address_of_another_site_is_marked_and_joins_nothing(web: LocalWeb) -> None:
    other = "https://paper.example/whole"
    web.there.pages["/whole"] = page(f"{HARBOR} {TIDES} {REST}", other)
    web.there.pages["/part"] = page(f"{HARBOR} {PRINT}", other)
    web.found = [
        (web.there.url(path), "The Harbor report", "The report on the tides of the old harbor", "")
        for path in ("/part", "/whole")
    ]
    found, kinds, _ = await groups(web)
    assert found == []
    assert kinds["whole"] == kinds["part"] == other
