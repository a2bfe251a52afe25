"""A model that plays a list of replies: for tests, and for crash tests in a real child process.

Each scene states the request it answers (by task, text that the request contains, predicate, turn), so agents that run
concurrently get the same replies whatever their timing. `requests` keeps the requests received.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay.core.clean import error_words
from assay.core.errors import ConfigError, ContextTooLong, ModelError
from assay.core.messages import (
    CallDelta,
    CallDone,
    Delta,
    Price,
    Profile,
    Reply,
    Request,
    Task,
    TextDelta,
    ThinkingDelta,
    ToolCall,
)
from assay.core.ports import Access
from assay.core.usage import Usage

Answer = Reply | ModelError | ContextTooLong
CHUNK = 12


class ScriptExhausted(LookupError):
    """No scene answers a request. The script is wrong, not the model, so this is not a `ModelError`."""


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """One answer, and the request it is for.

    `contains` must occur in the system text or a message; `turn` is the number of assistant messages so far. An error
    in `answer` is raised after `before_failing` characters of `partial`. `hang` is awaited before the first token, or
    after `partial` if there is one. A scene is used once, or any number of times with `repeat`.
    """

    answer: Answer
    task: Task | None = None
    contains: str = ""
    turn: int | None = None
    when: Callable[[Request], bool] | None = None
    partial: str = ""
    delay: float = 0.0
    hang: asyncio.Event | None = None
    repeat: bool = False
    log: str = ""

    def matches(self, request: Request) -> bool:
        return (
            (self.task is None or self.task == request.task)
            and (self.turn is None or self.turn == turn(request))
            and any(self.contains in text for text in (request.system, *(message.text for message in request.messages)))
            and (self.when is None or self.when(request))
        )


def turn(request: Request) -> int:
    """How many replies the request already contains."""
    return sum(message.role == "assistant" for message in request.messages)


def says(text: str, **scene: Any) -> Scene:
    """Create a scene that answers with `text`; `scene` are further fields of `Scene`."""
    return Scene(answer=Reply(text=text), **scene)


def calls(*pairs: tuple[str, Mapping[str, Any]], text: str = "", **scene: Any) -> Scene:
    """Create a scene that calls tools: `calls(("search", {"query": "x"}), task="research")`."""
    tool_calls = tuple(
        ToolCall(id=f"call-{index}", name=name, arguments=dict(args)) for index, (name, args) in enumerate(pairs)
    )
    return Scene(answer=Reply(text=text, calls=tool_calls, stop="calls"), **scene)


def fails(
    reason: str = "overloaded", *, transient: bool = True, retry_after: float | None = None, **scene: Any
) -> Scene:
    """Create a scene in which the attempt fails, after streaming `partial` if it is given."""
    return Scene(answer=ModelError(reason, transient=transient, retry_after=retry_after), **scene)


class Scripted:
    """Plays `script`: scenes, or a function from a request to its answer.

    The first unused scene that matches answers. `requests` are the requests received, in order. If no scene has the
    task `assess`, that request is declined, and code judges coverage.
    """

    def __init__(
        self,
        script: Sequence[Scene] | Callable[[Request], Answer | Scene],
        *,
        profile: Profile | None = None,
        chunk: int = CHUNK,
    ) -> None:
        self._script = script if callable(script) else None
        self._scenes: list[Scene] = [] if callable(script) else list(script)
        self._profile = profile or Profile(name="scripted", price=Price(input=0.0, output=0.0), deterministic=True)
        self._chunk = chunk
        self._judges = callable(script) or any(scene.task in ("assess", None) for scene in script)
        self.requests: list[Request] = []

    @property
    def profile(self) -> Profile:
        """The configured profile; by default a free model with a window of 128,000 tokens."""
        return self._profile

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The scenes that may still be played; empty if the script is a function."""
        return tuple(self._scenes)

    @property
    def unused(self) -> tuple[Scene, ...]:
        """The scenes that no request used, without those that repeat."""
        return tuple(scene for scene in self._scenes if not scene.repeat)

    async def offered(self) -> tuple[str, ...]:
        return (self._profile.name,)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Play the scene for `request`.

        Raises:
            ModelError, ContextTooLong: the scene says so.
            ScriptExhausted: no scene answers this request.
        """
        if request.task == "assess" and not self._judges:
            raise ModelError("the script has no scene that judges coverage", transient=False)
        self.requests.append(request)
        scene = self._next_scene(request)
        if scene.log:
            _log(scene.log, request)
        if scene.delay:
            await asyncio.sleep(scene.delay)
        for piece in _pieces(scene.partial, self._chunk):
            yield TextDelta(piece)
        if scene.hang is not None:
            await scene.hang.wait()
        if not isinstance(scene.answer, Reply):
            raise scene.answer
        for delta in _deltas(scene.answer, self._chunk, streamed_text=scene.partial):
            yield delta
            await asyncio.sleep(0)
        yield _complete_reply(scene.answer, self._profile.name)

    def _next_scene(self, request: Request) -> Scene:
        if self._script is not None:
            answer = self._script(request)
            return answer if isinstance(answer, Scene) else Scene(answer=answer)
        for index, scene in enumerate(self._scenes):
            if scene.matches(request):
                if not scene.repeat:
                    del self._scenes[index]
                return scene
        raise ScriptExhausted(f"no scene for task {request.task!r}, turn {turn(request)}")


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _deltas(reply: Reply, size: int, streamed_text: str) -> list[Delta]:
    text = reply.text.removeprefix(streamed_text)
    return [
        *(ThinkingDelta(piece) for piece in _pieces(reply.thinking, size)),
        *(TextDelta(piece) for piece in _pieces(text, size)),
        *(delta for index, call in enumerate(reply.calls) for delta in _call_deltas(index, call, size)),
    ]


def _call_deltas(index: int, call: ToolCall, size: int) -> list[Delta]:
    """A call as services stream it: the name, the arguments in pieces, and the complete call."""
    text = call.malformed or msgspec.json.encode(call.arguments).decode()
    parts = (CallDelta(index, piece) for piece in _pieces(text, size))
    return [CallDelta(index, name=call.name, id=call.id), *parts, CallDone(index, call)]


def _complete_reply(reply: Reply, name: str) -> Reply:
    usage = reply.usage if reply.usage != Usage() else Usage(model_calls=1, output_tokens=1 + len(reply.text) // 3)
    return msgspec.structs.replace(reply, usage=usage, model=reply.model or name)


# scripts in files


class _ReplyRow(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    text: str = ""
    calls: list[_CallRow] = []
    thinking: str = ""


class _CallRow(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    name: str
    arguments: dict[str, Any] = {}
    id: str = ""


class _SceneRow(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    reply: _ReplyRow | None = None
    error: str = ""
    task: Task | None = None
    contains: str = ""
    turn: int | None = None
    delay_ms: float = 0.0
    log: str = ""


def load(path: Path) -> list[Scene]:
    """Read the scenes of a JSON file: a list of `{reply: {text, calls}, task?, contains?, turn?, delay_ms?, log?}`.

    In place of `reply`, `error` is a failure after which no other attempt helps. Scenes repeat, and are distinguished
    only by task, text and turn, so a process that resumes a run continues where the last one was killed. Each call
    appends a line to its scene's `log` file.

    Raises:
        ConfigError: the file cannot be read, or is not such a list.
    """
    try:
        rows = msgspec.json.decode(path.read_bytes(), type=list[_SceneRow])
    except (OSError, msgspec.DecodeError) as error:
        reason = error_words(error)
        raise ConfigError(f"the script {path} cannot be read ({reason}): check its name and its JSON") from error
    if any((row.reply is None) == (not row.error) for row in rows):
        raise ConfigError(f"cannot read the script {path}: give each scene either a reply or an error")
    return [_scene(row) for row in rows]


def _scene(row: _SceneRow) -> Scene:
    return Scene(
        answer=_reply(row.reply) if row.reply else ModelError(row.error, transient=False),
        task=row.task,
        contains=row.contains,
        turn=row.turn,
        delay=row.delay_ms / 1000,
        log=row.log,
        repeat=True,
    )


def _reply(row: _ReplyRow) -> Reply:
    tool_calls = tuple(
        ToolCall(id=call.id or f"call-{index}", name=call.name, arguments=call.arguments)
        for index, call in enumerate(row.calls)
    )
    return Reply(text=row.text, calls=tool_calls, thinking=row.thinking, stop="calls" if tool_calls else "end")


def _log(path: str, request: Request) -> None:
    """Write one line per call, in a single write, so that several processes can share the file."""
    line = msgspec.json.encode({"task": request.task, "turn": turn(request), "pid": os.getpid()}) + b"\n"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def create(name: str, access: Access) -> Scripted:
    """Create the model named `scripted:/path/to/script.json`.

    Raises:
        ConfigError: no script is named, or it cannot be read.
    """
    _, _, path = name.partition(":")
    if not path:
        raise ConfigError("the scripted model needs a file: scripted:/path/to/script.json")
    if access.url:
        raise ConfigError("services.scripted is the name of a model for tests; choose another name for your service")
    profile = Profile(name=name, price=Price(input=0.0, output=0.0), deterministic=True)
    return Scripted(load(Path(path)), profile=profile)
