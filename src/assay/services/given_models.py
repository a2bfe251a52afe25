"""Models given to the library as objects: what breaks the contract of `Model` is named, with the model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import TypeVar

import msgspec

from assay.core.errors import AssayError, ModelError, PluginFailed, WrongType
from assay.core.messages import CallDelta, CallDone, Delta, Profile, Reply, Request, Retracted, TextDelta, ThinkingDelta
from assay.core.ports import Model
from assay.core.ports.models import DescribableModel, LearningModel
from assay.services.argument_types import describe_value

OURS = "assay."
T = TypeVar("T", bound=msgspec.Struct)
STREAMED = (TextDelta, ThinkingDelta, CallDelta, CallDone, Retracted, Reply)
STREAM_FORM = "`async def stream(self, request)`, which yields deltas and then one Reply"


def guard_models(models: Mapping[str, Model]) -> dict[str, Model]:
    """The models, each of another package held to the contract.

    Raises:
        WrongType: a name is not text, or an object is no model.
    """
    return {_check_name(name): _guard(name, model) for name, model in models.items()}


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not name.strip():
        raise WrongType(f"models cannot have the name {name!r}: write text, such as 'mine'")
    return name


def _guard(name: str, model: Model) -> Model:
    subject = f"the model {name!r} ({type(model).__qualname__})"
    if isinstance(model, type):
        raise WrongType(f"the model {name!r} is the class {model.__qualname__}: write an object of it")
    if not callable(getattr(model, "stream", None)):
        raise WrongType(f"{subject} has no `stream`: write {STREAM_FORM}")
    guarded = GivenModel(subject, model)
    try:
        _ = guarded.profile
    except (PluginFailed, ModelError) as error:
        raise WrongType(str(error)) from error
    is_known = type(model).__module__.startswith(OURS) or isinstance(model, DescribableModel | LearningModel)
    return model if is_known else guarded


class GivenModel:
    """A model of another package; implements `core.ports.Model`."""

    def __init__(self, subject: str, model: Model) -> None:
        self._subject, self._model = subject, model

    @property
    def profile(self) -> Profile:
        with self._name_errors("profile"):
            profile = self._model.profile
        if not isinstance(profile, Profile):
            raise PluginFailed(
                f"{self._subject}: its `profile` is {describe_value(profile)}; write a Profile of assay.core.messages"
            )
        return self._check_fields(profile, "profile")

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """See `Model.stream`.

        Raises:
            PluginFailed: the model breaks the contract.
        """
        with self._name_errors("stream"):
            stream: object = self._model.stream(request)
            if not isinstance(stream, AsyncGenerator):
                if isinstance(stream, Coroutine):  # nobody awaits it
                    stream.close()
                raise PluginFailed(
                    f"{self._subject}: its `stream` returned {describe_value(stream)}; write {STREAM_FORM}"
                )
            async with aclosing(stream) as items:
                async for item in items:
                    if not isinstance(item, STREAMED):
                        raise PluginFailed(
                            f"{self._subject}: its `stream` yielded {describe_value(item)}; write {STREAM_FORM}"
                        )
                    yield self._check_fields(item, "stream")

    def _check_fields(self, value: T, method: str) -> T:
        """The value, whose fields have the types of its class."""
        try:
            return msgspec.convert(msgspec.structs.asdict(value), type(value))
        except msgspec.ValidationError as error:
            kind = type(value).__name__
            raise PluginFailed(f"{self._subject}: correct the {kind} of its `{method}`: {error}") from error

    async def offered(self) -> tuple[str, ...]:
        with self._name_errors("offered"):
            return await self._model.offered()

    async def close(self) -> None:
        with self._name_errors("close"):
            await self._model.close()

    @contextmanager
    def _name_errors(self, method: str) -> Iterator[None]:
        """Within the block an error names the model; one of the system is a failure of its service."""
        try:
            yield
        except OSError as error:
            raise ModelError(f"its `{method}` raised {_describe_error(error)}") from error
        except Exception as error:
            if isinstance(error, AssayError):
                raise
            problem = f"its `{method}` raised {_describe_error(error)}"
            raise PluginFailed(
                f"{self._subject}: {problem}; for a failure of its service raise ModelError of assay.core.errors"
            ) from error


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
