"""Several who watch the same runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.core.events import Envelope
from assay.core.ports import Fact, SpanKind, Watch, WatchedSpan


class Several:
    """Implements `core.ports.Watch`: tells each of them."""

    def __init__(self, watches: Sequence[Watch]) -> None:
        self._watches = tuple(watches)

    def begin(
        self, kind: SpanKind, name: str, at: int, within: WatchedSpan | None, facts: Mapping[str, Fact]
    ) -> WatchedSpan:
        """Each gets the outer span it made itself."""
        outer = within.spans if isinstance(within, _Each) else (None,) * len(self._watches)
        each = zip(self._watches, outer, strict=True)
        return _Each(tuple(watch.begin(kind, name, at, own, facts) for watch, own in each))

    def heard(self, envelopes: Sequence[Envelope]) -> None:
        """Each hears the same."""
        for watch in self._watches:
            watch.heard(envelopes)

    def close(self) -> None:
        """One after the other."""
        for watch in self._watches:
            watch.close()


class _Each:
    """A stretch as each of them has it."""

    def __init__(self, spans: tuple[WatchedSpan, ...]) -> None:
        self.spans = spans

    def end(self, facts: Mapping[str, Fact], error: str) -> None:
        """It is over for all."""
        for span in self.spans:
            span.end(facts, error)
