"""Letting go of everything, also where something does not want to be let go of."""

from __future__ import annotations

import pytest

from assay import Assay
from assay.models.extractive.model import Extractive


class Stubborn(Extractive):
    """A model whose service fails while it is let go of."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.closed = False

    async def close(self) -> None:
        self.closed = True
        raise OSError(f"{self.profile.name} does not close")


async def test_all_are_closed_and_the_error_is_raised_then(monkeypatch: pytest.MonkeyPatch) -> None:
    assay, models = Assay(), [Stubborn("one"), Stubborn("two")]
    assay._context.made_models.update({model.profile.name: model for model in models})
    closed: list[str] = []
    close = type(assay._context.store).close
    store = assay._context.store

    async def noted() -> None:
        closed.append("store")
        await close(store)

    monkeypatch.setattr(type(assay._context.store), "close", lambda _: noted())
    with pytest.raises(OSError, match="does not close") as raised:
        await assay.close()
    assert all(model.closed for model in models)
    assert closed == ["store"]
    assert isinstance(raised.value.__context__, OSError)
