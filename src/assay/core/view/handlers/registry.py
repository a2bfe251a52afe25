"""The handlers of events, by kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from assay.core import events as e
from assay.core.view.state import ViewState

Handler = Callable[[ViewState, e.Envelope, Any], None]
HANDLERS: dict[str, Handler] = {}

H = TypeVar("H", bound=Handler)


def on(*kinds: type[e.Event]) -> Callable[[H], H]:
    """Register the handler of these kinds."""

    def register(handler: H) -> H:
        HANDLERS.update(dict.fromkeys((kind.kind for kind in kinds), handler))
        return handler

    return register
