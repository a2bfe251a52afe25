"""Every error Assay raises on purpose.

    AssayError
    ├── UsageError               the caller's input is wrong; the message names the fix
    │   ├── ConfigError          a setting is unknown or has a bad value
    │   ├── TooLittle            a budget that is too small for a report
    │   ├── Overtaken            other runs used up the day's limit while this one was prepared
    │   ├── TooMany              a user has begun as many runs as allowed
    │   ├── UnknownName          no adapter, run, document or command of that name
    │   │   └── UnknownOption    a function takes no keyword of that name
    │   ├── WrongType            a value is of a type that the argument does not take
    │   ├── EventLoopError       called without an event loop where one is needed, or inside one where none is allowed
    │   ├── NotNow               the request is impossible in the run's present state
    │   │   └── InProgress       the same request is already in progress
    │   ├── RequestDiffers       an idempotency key was used again with another request
    │   ├── TooLarge             the data sent has more bytes than allowed
    │   ├── NothingRead          none of the given files and pages has text
    │   └── NotBuilt             a named feature that this release does not have yet
    ├── NotLoggedIn              the name or password is wrong, or there were too many attempts
    ├── ProviderFailed           the login provider did not answer as expected
    ├── Failed                   a service or a limit said no: data, stored with its step and raised again on replay
    │   ├── LimitReached         budget, deadline, or an early finish
    │   ├── ModelFailed          every attempt and fallback of a model call failed
    │   │   ├── ContextTooLong   the request does not fit the model's window
    │   │   └── Refused          the model declined to answer
    │   ├── SearchError          a search provider failed
    │   │   └── SearchAway       it cannot be reached, or remains too busy
    │   ├── FetchFailed          a page or document could not be read
    │   └── ToolError            a tool could not do what it was asked (the model is told why)
    ├── ModelError               one attempt at a model failed; `run/model_call` decides what comes next
    ├── ModelUnusable            no model of a role works with the present settings: the run can be resumed
    ├── ExtractError             a file could not be turned into text
    │   ├── TooSlow              reading it took more time than allowed
    │   ├── NeedsScripts         it is a page that shows nothing without JavaScript
    │   ├── NoLetters            it consists of pictures of pages
    │   └── ReaderBroke          its reader crashed, failed, or took more memory than allowed
    ├── StoreError               the database or a blob is unusable
    │   ├── DiskFull             no space is left to store something; what is stored can be read
    │   ├── StoreClosed          the library was closed, and opens nothing any more
    │   ├── StoreAway            the database cannot be reached; it may recover
    │   ├── InUse                another process has the resource, and will release it
    │   ├── LeaseHeld            another live process executes this run
    │   ├── FenceLost            this process lost its lease; it must not write any more
    │   ├── OtherRelease         another release of Assay stored this run in a form that this one cannot continue
    │   └── NotStored            a replay reached a step that is not in the journal
    ├── IndexDamaged             the files of an index cannot be read: it is built again
    ├── PluginFailed             the code of another package, or a model given as an object, failed; it is named
    ├── NothingSearched          a run ended without having searched anything; the message names the fix
    │   └── SearchUnanswered     no search service answered: the run can be resumed, and asks again
    ├── InputNeeded              the run waits for an answer that nobody here can give
    ├── Paused                   the run's owner paused it
    └── Cancelled                the run's owner cancelled it

A bug of ours is none of these: it stays a plain exception, is never stored, and fails the run loudly.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from assay.core.name_suggestions import suggest_names


class AssayError(Exception):
    """The root of the tree; `str(error)` is a sentence for the user."""


class UsageError(AssayError):
    """The caller's input is wrong."""


class ConfigError(UsageError):
    """A setting is unknown or has a bad value."""


class TooLittle(UsageError):
    """A budget that is too small for a report."""


class Overtaken(UsageError):
    """Other runs used up the day's limit while this one was prepared; nothing of it is stored."""

    def __init__(self) -> None:
        super().__init__("other runs used up the day's limits while this one was prepared: start it again")


class TooMany(UsageError):
    """A user has begun as many runs as allowed; the next may begin in `seconds`, None if unknown."""

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


class UnknownName(UsageError):
    """`name` is not among `known` things of `kind`; the message offers the nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str] = (), hint: str = "") -> None:
        known = sorted(known)
        super().__init__(f"no {kind} named {name!r}{suggest_names(name, known)} {hint}".rstrip())
        self.kind, self.name, self.known = kind, name, tuple(known)


class UnknownOption(UnknownName, TypeError):
    """The function `owner` takes no keyword `name`; the message offers the nearest."""

    def __init__(self, owner: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"option of {owner}", name, known)


class WrongType(UsageError, TypeError):
    """A value is of a type that the argument does not take; the message says which it takes."""


class EventLoopError(UsageError, RuntimeError):
    """Called without an event loop where one is needed, or inside one where none is allowed."""


class NotBuilt(UsageError):
    """A named feature that this release does not have yet."""


class NotNow(UsageError):
    """The request is impossible in the run's present state."""


class InProgress(NotNow):
    """The same request is already in progress."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the request with the key {key.rpartition('/')[2]!r} is in progress: ask again in a moment")


class TooLarge(UsageError):
    """The data sent has more bytes than allowed."""


class RequestDiffers(UsageError):
    """An idempotency key was used again with another request."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key.rpartition('/')[2]!r} belongs to another request: use a new key")


class NotLoggedIn(AssayError):
    """The login failed; `retry_after` is in seconds, 0 if you may try again at once."""

    def __init__(self, reason: str, retry_after: int = 0) -> None:
        super().__init__(reason)
        self.retry_after = retry_after

    @classmethod
    def locked(cls, seconds: int) -> NotLoggedIn:
        """There were too many wrong passwords."""
        return cls(f"there were too many wrong passwords: try again in {max(1, round(seconds / 60))} min", seconds)


class ProviderFailed(AssayError):
    """The login provider did not answer as expected."""


class Failed(AssayError):
    """A failure that is data: a step stores `(kind, reason)` and raises the same on replay."""

    kind: ClassVar[str] = "failed"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class LimitReached(Failed):
    """Budget, deadline or an early finish. `reason` is one of those in `core.phrases.STOP_REASONS`."""

    kind = "limit"


class ModelFailed(Failed):
    """Every attempt and every fallback of a model call failed."""

    kind = "model"


class ContextTooLong(ModelFailed):
    """The request does not fit the model's window; the loop compacts and asks again."""

    kind = "context_too_long"


class Refused(ModelFailed):
    """The model declined to answer."""

    kind = "refused"


class SearchError(Failed):
    """A search provider failed."""

    kind = "search"


class SearchAway(SearchError):
    """A search service cannot be reached, or remains too busy; it may recover."""


class FetchFailed(Failed):
    """A page or document could not be read."""

    kind = "fetch"


class ToolError(Failed):
    """A tool could not do what it was asked; the model is told the reason."""

    kind = "tool"


FAILURES: dict[str, type[Failed]] = {
    cls.kind: cls
    for cls in (Failed, LimitReached, ModelFailed, ContextTooLong, Refused, SearchError, FetchFailed, ToolError)
}


def failure(kind: str, reason: str) -> Failed:
    """The exception for a stored failure of `kind`; plain `Failed` for unknown kinds."""
    return FAILURES.get(kind, Failed)(reason)


class ModelError(AssayError):
    """One attempt at a model failed.

    `retry_after` is in seconds, None if the provider named none; `transient` says whether the same request may succeed
    later, `reached` whether anything answered at all. `usable` is False if every request will fail until a person
    changes something: starts the server, or corrects the key, the address or the model's name.
    """

    def __init__(
        self,
        reason: str,
        *,
        transient: bool = True,
        retry_after: float | None = None,
        reached: bool = True,
        usable: bool = True,
    ) -> None:
        super().__init__(reason)
        self.reason, self.transient, self.retry_after = reason, transient, retry_after
        self.reached, self.usable = reached, usable


class ModelUnusable(AssayError):
    """No model of a role works with the present settings; nothing of the call is stored, so the run can be resumed."""


class ExtractError(AssayError):
    """A file could not be turned into text; the message says why. `kind` is the short name of the failure."""

    kind: ClassVar[str] = "not text"


class TooSlow(ExtractError):
    """Reading a file took more time than allowed."""

    kind = "too slow"


class NeedsScripts(ExtractError):
    """A page shows nothing but a notice that it needs JavaScript."""

    kind = "scripts"


class NoLetters(ExtractError):
    """A document consists of pictures of pages; an extra for OCR can read them."""

    kind = "scanned"


class ReaderBroke(ExtractError):
    """The reader of a file crashed, failed, or took more memory than allowed."""

    kind = "unreadable"


EXTRACT_ERRORS: dict[str, type[ExtractError]] = {
    cls.kind: cls for cls in (ExtractError, TooSlow, NeedsScripts, NoLetters, ReaderBroke)
}


class NothingRead(UsageError):
    """No given file or page has text; `kind` is that of the last `ExtractError`, or "not text" if there was none."""

    def __init__(self, message: str, kind: str = ExtractError.kind) -> None:
        super().__init__(message)
        self.kind = kind


class StoreError(AssayError):
    """The database or a blob is unusable."""


class DiskFull(StoreError):
    """No space is left to store something; what is stored can be read."""


class StoreClosed(StoreError):
    """The library was closed; what it opened now, nobody would close."""

    def __init__(self) -> None:
        super().__init__("this Assay is closed: open another one, and close it after its last run")


class StoreAway(StoreError):
    """The database cannot be reached, or the connection broke; it may recover."""


class InUse(StoreError):
    """Another process has the resource, and will release it: try again later."""


def process_of(holder: str) -> str:
    """A holder of a lease as shown to people: without its start time, which only guards against reused numbers."""
    return holder.partition(" since ")[0]


class LeaseHeld(StoreError):
    """Another live process executes this run; `place` is its holder, as shown to people."""

    def __init__(self, run_id: str, holder: str) -> None:
        self.run_id, self.holder, self.place = run_id, holder, process_of(holder)
        super().__init__(f"run {run_id} is running in {self.place}")


class FenceLost(StoreError):
    """Another process took over this run; this one must not write any more."""


class OtherRelease(StoreError):
    """Another release of Assay stored this run in a form that this one cannot continue; the run is not changed."""

    def __init__(self, run_id: str, release: str, own_release: str, why: str) -> None:
        starter = f"assay {release}" if release else "an earlier release of assay"
        install = f"with that release (pip install assay=={release})" if release else "with that release"
        super().__init__(
            f"run {run_id} was started by {starter}, and assay {own_release} cannot go on with it: {why}; "
            f"to end it: assay runs resume {run_id} {install}"
        )


class IndexDamaged(AssayError):
    """The files of an index cannot be read; the index is built again."""


class PluginFailed(AssayError):
    """The code of another package raised an exception, or a model given as an object broke its contract."""


class NothingSearched(AssayError):
    """A run ended without having searched anything; the message says why, and what to do."""


class SearchUnanswered(NothingSearched):
    """No search service answered, so nothing was searched; the run can be resumed, and asks them again."""


class InputNeeded(AssayError):
    """The run waits on `topic` for an answer that nobody here can give; it is stored and can be resumed."""

    def __init__(self, run_id: str, topic: str) -> None:
        advice = "to approve it: assay runs approve" if topic == "plan" else "to give them: assay runs answer"
        super().__init__(f"run {run_id} waits for {topic}; {advice} {run_id}")
        self.run_id, self.topic = run_id, topic


class NotStored(StoreError):
    """A replay reached a step that is not in the journal, or has another input there; a replay does nothing new."""

    def __init__(self, step: str, *, diverged: bool) -> None:
        why = "was asked otherwise (a prompt, a model's window, or code has changed)" if diverged else "is not stored"
        super().__init__(f"the step {step} {why}")


class Paused(AssayError):
    """The run's owner paused it: calls in flight were dropped, and it can be resumed."""


class Cancelled(AssayError):
    """The run's owner cancelled it; findings are kept."""
