"""Letting go of everything, also where something does not want to be let go of."""

from __future__ import annotations

import pytest

from assay import Assay
from assay.models.extractive import Extractive


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


class Noted:
    """Something which is closed, and in which order."""

    def __init__(self, name: str, closed: list[str]) -> None:
        self._name, self._closed = name, closed

    def close(self) -> None:
        self._closed.append(self._name)


async def test_the_index_ends_its_work_while_there_are_readers() -> None:
    assay, closed = Assay(), list[str]()
    assay._context.parts |= {name: Noted(name, closed) for name in ("readers", "search")}
    await assay.close()
    assert closed == ["search", "readers"]
