"""The regions of one run as they were rendered last, and which of them changed when."""

from __future__ import annotations

from time import perf_counter

import msgspec
from markupsafe import Markup

from assay.core.translation import ENGLISH
from assay.core.view import RunView
from assay.locale import speaking_page
from assay.server.page.regions import regions_of

SHARE = 20.0
"""A region is rendered again after so many times as long as that took last: a run takes little of a core."""


class RenderedRegions(msgspec.Struct, frozen=True):
    """What a look at a run came to: the regions which are other than before, whether some have to wait, and until
    which event they tell.
    """

    fresh: dict[str, Markup]
    late: bool
    seq: int


class Board:
    """The regions of one run, rendered. `edition` counts how often any of them became another one.

    `settled` is the number of the last event which all of them tell of; `late` says that some wait to be rendered.
    """

    def __init__(self, language: str = ENGLISH) -> None:
        self.language = language
        self.html: dict[str, Markup] = {}
        self.edition, self.settled, self.late = 0, 0, False
        self._changed: dict[str, int] = {}
        self._made_of: dict[str, object] = {}
        self._not_before: dict[str, float] = {}

    def render(self, view: RunView, *, at_once: bool = False, dear: bool = True) -> RenderedRegions:
        """Render what has changed and may be rendered again by now; `at_once` all of it, without `dear` what is cheap.

        It takes a while: call it from a worker thread.
        """
        late, fresh = False, {}
        for region in regions_of(view):
            made_of = region.made_of(view)
            if region.name in self.html and self._made_of[region.name] == made_of:
                continue
            began = perf_counter()
            if not at_once and (region.dear > dear or began < self._not_before.get(region.name, 0.0)):
                late = True
                continue
            with speaking_page(self.language):
                html = region.render(view)
            self._made_of[region.name] = made_of
            self._not_before[region.name] = perf_counter() + SHARE * (perf_counter() - began)
            if self.html.get(region.name) != html:
                fresh[region.name] = html
        return RenderedRegions(fresh, late, view.last_seq)

    def put(self, rendered: RenderedRegions) -> bool:
        """Take what was rendered; whether anything is another one."""
        self.late = rendered.late
        if not rendered.late:
            self.settled = rendered.seq
        if rendered.fresh:
            self.edition += 1
            self.html |= rendered.fresh
            self._changed |= dict.fromkeys(rendered.fresh, self.edition)
        return bool(rendered.fresh)

    def since(self, edition: int) -> tuple[tuple[str, Markup], ...]:
        """The names and regions which changed after an edition."""
        wanted = [name for name, changed in self._changed.items() if changed > edition]
        if "team" in wanted:  # which has the agents in it
            wanted = [name for name in wanted if not name.startswith("lane-")]
        return tuple((name, self.html[name]) for name in wanted)


def screen_of(view: RunView, language: str = ENGLISH) -> dict[str, Markup]:
    """Every region by its name, rendered."""
    return Board(language).render(view, at_once=True).fresh
