"""After a search of the web an agent is told, once, to open pages: what it was shown are excerpts."""

from __future__ import annotations

import msgspec
from research import ONE_STEP, ROSE, TIDE, Log, Sea, document, planned, report_wanted, sends, whole
from stepwise import requests

from assay.agents.loop import OPEN_PAGES
from assay.core.ports import Hit, Query
from assay.core.sources import SNIPPET, Snapshot
from assay.models.script import Scene, calls, says

FOUND = "Tides of the world. The tide at Brest rises seven metres, it is said.\n"


class Web(Sea):
    """A search whose hits are excerpts of pages, as a provider of the web gives them."""

    def __init__(self) -> None:
        super().__init__()
        self.store.blobs.put(FOUND.encode())
        page = {"url": "https://tides.example/world", "media_type": SNIPPET, "syntax": "plain"}
        excerpt = msgspec.structs.replace(document("excerpt", FOUND), **page)
        snapshot = Snapshot(
            sha256=excerpt.snapshot_sha256, url=excerpt.url, media_type=SNIPPET, size=excerpt.size, fetched_at=""
        )
        self.store.library.add([(snapshot, excerpt)], "unsorted")
        self.search = Excerpts(Hit(document=excerpt, score=1.0, spans=self.reader.spans(excerpt)))  # type: ignore[assignment]


class Excerpts:
    """Finds one excerpt for whatever is asked."""

    name = "web"

    def __init__(self, hit: Hit) -> None:
        self.hit = hit

    async def search(self, query: Query) -> list[Hit]:
        return [self.hit]


def script(*turns: Scene) -> list[Scene]:
    found = ROSE.replace(".1]", ".0]")
    return [
        *planned(ONE_STEP),
        sends(TIDE),
        *turns,
        says(found, task="find"),
        report_wanted(),
        says(found, task="write"),
    ]


def notes(log: Log) -> list[str]:
    """What notes each turn of the agent holds."""
    return ["".join(request.user_texts("note")) for request in requests(log.model, "research")]


async def test_it_is_told_once() -> None:
    search = [calls(("search", {"query": f"tide {turn}"}), task="research", turn=turn) for turn in range(2)]
    log = await Web().run(script(*search, says("done", task="research", turn=2)))
    assert whole(log)
    assert notes(log) == ["", OPEN_PAGES, OPEN_PAGES]  # it stays in the history


async def test_who_opens_pages_with_the_search_is_not_told() -> None:
    both = calls(("search", {"query": "tide"}), ("open", {"documents": ["tides.md"]}), task="research", turn=0)
    log = await Web().run(script(both, says("done", task="research", turn=1)))
    assert notes(log) == ["", ""]


async def test_over_documents_nobody_is_told() -> None:
    search = calls(("search", {"query": "tide"}), task="research", turn=0)
    titled = {"tides.txt": "The tide at Brest rises seven metres."}
    log = await Sea(titled).run(script(search, says("done", task="research", turn=1)))
    assert notes(log) == ["", ""]
