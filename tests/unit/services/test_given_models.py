"""A model given as an object which breaks the contract is named, with what it broke."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay import Assay, settings
from assay.core.errors import ModelError, PluginFailed, WrongType
from assay.core.messages import Reply, Request, TextDelta
from assay.core.ports.models import LearningModel
from assay.models.extractive import Extractive
from assay.services.given_models import guard_models

PROFILE = msgspec.structs.replace(Extractive().profile, name="mine", quotes=False)


class Own:
    """A model whose `stream` is `answer`."""

    profile = PROFILE

    def __init__(self, answer: Callable[[Request], Any]) -> None:
        self.stream = answer


def yielding(*items: object) -> Callable[[Request], Any]:
    async def stream(_: Request) -> AsyncGenerator[object, None]:
        for item in items:
            if isinstance(item, Exception):
                raise item
            yield item

    return stream


async def coroutine(_: Request) -> Reply:
    return Reply(text="yes")


class Profiled(Own):
    def __init__(self, profile: object) -> None:
        super().__init__(coroutine)
        self.profile = profile  # type: ignore[assignment]


class Unloaded(Own):
    @property
    def profile(self) -> Any:  # type: ignore[override]
        raise RuntimeError("not loaded")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (None, r"'mine' \(NoneType\) has no `stream`"),
        (Own, "'mine' is the class Own: write an object of it"),
        (object(), r"'mine' \(object\) has no `stream`"),
        (Profiled(None), "its `profile` is None; write a Profile of assay.core.messages"),
        (Profiled("gpt"), "its `profile` is 'gpt'; write a Profile"),
        (
            Profiled(msgspec.structs.replace(PROFILE, window="8k")),
            "correct the Profile of its `profile`: Expected `int`",
        ),
        (Unloaded(coroutine), "its `profile` raised RuntimeError: not loaded"),
    ],
)
def test_what_is_no_model_is_refused_at_once(tmp_path: Path, model: Any, message: str) -> None:
    with pytest.raises(WrongType, match=message):
        Assay(settings.load(), home=tmp_path / "home", models={"mine": model})


@pytest.mark.parametrize("name", [3, "", " "])
def test_a_model_has_a_name(tmp_path: Path, name: Any) -> None:
    with pytest.raises(WrongType, match="write text"):
        Assay(settings.load(), home=tmp_path / "home", models={name: Extractive()})


async def answered(tmp_path: Path, stream: Callable[[Request], Any]) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n\nThe bridge was opened in 1851.\n")
    async with Assay(settings.load(), home=tmp_path / "home", models={"mine": Own(stream)}, model="mine") as assay:  # type: ignore[dict-item]
        wanted: Any = {"mode": "deep_research", "depth": "light"}
        await assay.start("When was the bridge opened?", sources=tmp_path / "notes.md", **wanted).report()


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (lambda _: None, "its `stream` returned None; write `async def stream"),
        (coroutine, "its `stream` returned <coroutine"),
        (lambda _: iter([Reply(text="yes")]), "returned <list_iterator"),
        (lambda: None, "its `stream` raised TypeError"),
        (yielding("yes"), "its `stream` yielded 'yes'; write"),
        (yielding({"text": "yes"}), "yielded {'text': 'yes'}"),
        (yielding(TextDelta(b"yes")), "correct the TextDelta of its `stream`: Expected `str`, got `bytes`"),  # type: ignore[arg-type]
        (yielding(Reply(text=None)), "correct the Reply of its `stream`: Expected `str`, got `null` - at `\\$.text`"),  # type: ignore[arg-type]
        (yielding(Reply(usage=5)), "correct the Reply of its `stream`: .* at `\\$.usage`"),  # type: ignore[arg-type]
        (
            yielding(KeyError("choices")),
            "its `stream` raised KeyError: 'choices'; for a failure of its service raise ModelError",
        ),
    ],
)
async def test_what_breaks_the_contract_is_named_with_the_model(
    tmp_path: Path, stream: Callable[[Request], Any], message: str
) -> None:
    with pytest.raises(PluginFailed, match=r"^the model 'mine' \(Own\): .*" + message):
        await answered(tmp_path, stream)


@pytest.mark.parametrize("error", [ConnectionRefusedError("nobody listens"), TimeoutError()])
async def test_an_error_of_the_system_is_a_failure_of_the_service(error: Exception) -> None:
    """So it is retried, and another model takes its place."""
    model = guard_models({"mine": Own(yielding(error))})["mine"]
    with pytest.raises(ModelError, match=f"its `stream` raised {type(error).__name__}") as failed:
        async for _ in model.stream(Request(task="answer", system="", messages=())):
            pass
    assert failed.value.transient


def test_a_model_that_learns_from_refusals_goes_on_to() -> None:
    class Learning(Own):
        def learn(self, refusal: str) -> None: ...

    assert isinstance(guard_models({"mine": Learning(yielding(Reply(text="yes")))})["mine"], LearningModel)
