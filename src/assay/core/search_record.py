"""Where a run has looked: what it may say of not finding anything follows from this, and from nothing else."""

from __future__ import annotations

import msgspec

from assay.core.method import searches
from assay.core.sources import SNIPPET
from assay.core.view import Lane, RunView

LOCAL = "local"
"""The name of the search over the documents in scope."""


class Silent(msgspec.Struct, frozen=True, kw_only=True):
    """A search provider which never answered, and the last reason it gave."""

    provider: str
    reason: str


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """What a run searched and read.

    `documents` counts those in scope, -1 where the log does not say it. `providers` answered at least once and had
    something to search; `queries` counts what they were asked, `hits` the documents and pages they found. `silent` are
    those which never answered. `read` counts the documents and pages of which the run was shown text, `unreadable`
    those it could not read. `agents` counts those that were sent; `ended` are the limits and errors that
    ended some of them.
    """

    documents: int = -1
    providers: tuple[str, ...] = ()
    queries: int = 0
    hits: int = 0
    silent: tuple[Silent, ...] = ()
    read: int = 0
    unreadable: int = 0
    agents: int = 0
    ended: tuple[str, ...] = ()

    @property
    def anywhere(self) -> bool:
        """Whether the run has looked at all: a search with something to search was answered, or something was read."""
        return bool(self.providers or self.read)


def look_over(view: RunView) -> Looked:
    """What a run has searched and read by its log, as far as that goes. A search over no documents is no look."""
    made = [each for each in searches(view) if each.provider != LOCAL or view.documents]
    answered = [each for each in made if not each.failed]
    providers = tuple(dict.fromkeys(each.provider for each in answered))
    reasons = {each.provider: each.failed for each in made if each.failed and each.provider not in providers}
    return Looked(
        documents=view.documents,
        providers=providers,
        queries=len({each.query for each in answered}),
        hits=len({url for each in answered for url in each.found}),
        silent=tuple(Silent(provider=name, reason=reason) for name, reason in reasons.items()),
        read=len({each.document_sha256 for each in view.sources.values() if each.media_type != SNIPPET}),
        unreadable=len({each.url for each in view.unreadable}),
        agents=len(view.lanes),
        ended=tuple(dict.fromkeys(why for lane in view.lanes if (why := _ended(lane)))),
    )


def _ended(lane: Lane) -> str:
    """What ended an agent early: an error, or a limit by its name; "" where nothing did."""
    return lane.error or (lane.stop if lane.stop != "done" else "")
