"""Every error Assay raises on purpose.

    AssayError
    ├── UsageError               the caller's input is wrong; the message names the fix
    │   ├── ConfigError          a setting is unknown or has a bad value
    │   ├── TooLittle            a budget which does not pay for one report
    │   ├── Overtaken            other runs took what a day had left, while this one was prepared
    │   ├── UnknownName          no adapter, run, document or command of that name
    │   │   └── UnknownOption    a function takes no keyword of that name
    │   ├── EventLoopError       called without an event loop where one is needed, or inside one where none may be
    │   ├── NotNow               the run is in another state than this needs
    │   │   └── InProgress       the same request is being done already
    │   ├── RequestDiffers       a key of a request came back with another request
    │   ├── TooLarge             what was sent has more bytes than it may
    │   ├── NothingRead          none of the files and pages given has text
    │   └── NotBuilt             a named feature which this release does not have yet
    ├── NotLoggedIn              name or password is wrong, or there were too many wrong ones
    ├── Failed                   a service or a limit said no: data, stored with its step and raised again on replay
    │   ├── LimitReached         budget, deadline, or an early finish
    │   ├── ModelFailed          every attempt and fallback of a model call failed
    │   │   ├── ContextTooLong   the request does not fit the model's window
    │   │   └── Refused          the model declined to answer
    │   ├── SearchError          a search provider failed
    │   │   └── SearchAway       it cannot be reached, or stays too busy
    │   ├── FetchFailed          a page or document could not be read
    │   └── ToolFailed           a tool could not do what it was asked (told to the model)
    ├── ModelError               one attempt at a model failed; `run/model_call` decides what comes next
    ├── ModelUnusable            no model of a role works as it is set up: nothing is stored, and the run can be resumed
    ├── ExtractError             a file could not be turned into text
    │   ├── TooSlow              reading it took more time than a file may take
    │   └── ReaderBroke          its reader crashed, failed, or took more memory than it may
    ├── StoreError               the database or a blob is unusable
    │   ├── StoreAway            the database cannot be reached; it may come back
    │   ├── LeaseHeld            another live process executes this run
    │   ├── FenceLost            this process lost its lease; it may not write any more
    │   ├── OtherRelease         another release of Assay stored this run, in a form which this one cannot go on from
    │   └── NotStored            a replay came to a step which is not in the journal
    ├── IndexDamaged             the files of an index cannot be read: it is made anew
    ├── NothingSearched          a run came to its end without having looked anywhere; the message names the fix
    ├── InputNeeded              the run waits for an answer that nobody here can give
    ├── Paused                   the run's owner paused it
    └── Cancelled                the run's owner cancelled it

A bug is none of these: it stays a plain exception, is never stored, and fails the run loudly.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar


class AssayError(Exception):
    """Root of the tree; `str(error)` is a sentence for the user."""


class UsageError(AssayError):
    """The caller's input is wrong."""


class ConfigError(UsageError):
    """A setting is unknown or has a bad value."""


class TooLittle(UsageError):
    """A budget which does not pay for one report."""


class Overtaken(UsageError):
    """Other runs took what a day had left, while this one was prepared; nothing of it is stored."""

    def __init__(self) -> None:
        super().__init__("while this run was prepared, others took what the day's limits had left: start it again")


class TooMany(UsageError):
    """A user has as many runs as he may have; in `seconds` he may begin one again, None where that is not known."""

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


NAMED = 24
"""How many known names the message about an unknown one lists."""


class UnknownName(UsageError):
    """`name` is not among `known` things of `kind`; the message offers the nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str] = (), hint: str = "") -> None:
        known = sorted(known)
        near = difflib.get_close_matches(name, known, n=1)
        message = f"no {kind} named {name!r}"
        if near:
            message += f"; did you mean {near[0]!r}?"
        elif known:
            message += f"; there is: {', '.join(known[:NAMED])}{', …' if len(known) > NAMED else ''}"
        super().__init__(f"{message} {hint}".rstrip())
        self.kind, self.name, self.known = kind, name, tuple(known)


class UnknownOption(UnknownName, TypeError):
    """The function `place` takes no keyword `name`; the message offers the nearest."""

    def __init__(self, place: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"option of {place}", name, known)


class EventLoopError(UsageError, RuntimeError):
    """Called without an event loop where one is needed, or inside one where none may be."""


class NotBuilt(UsageError):
    """A named feature which this release does not have yet."""


class NotNow(UsageError):
    """What was asked cannot be done in the state the run is in."""


class InProgress(NotNow):
    """The same request is being done already."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the request with the key {key.rpartition('/')[2]!r} is in progress: ask again in a moment")


class TooLarge(UsageError):
    """What was sent has more bytes than it may."""


class RequestDiffers(UsageError):
    """A key which stands for one request came back with another."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key.rpartition('/')[2]!r} stands for another request: take a new key")


class NotLoggedIn(AssayError):
    """Nobody was logged in; `retry_after` is in seconds, 0 where another try is free."""

    def __init__(self, reason: str, retry_after: int = 0) -> None:
        super().__init__(reason)
        self.retry_after = retry_after

    @classmethod
    def locked(cls, seconds: int) -> NotLoggedIn:
        """There were too many wrong passwords."""
        minutes = max(1, round(seconds / 60))
        return cls(f"there were too many wrong passwords: try again in {minutes} min", seconds)


class ProviderFailed(AssayError):
    """The provider of logins did not answer as it should."""


class Failed(AssayError):
    """A failure which is data: a step stores `(kind, reason)` and raises the same on replay."""

    kind: ClassVar[str] = "failed"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class LimitReached(Failed):
    """Budget, deadline or an early finish. `reason` is one of those in `core.endings.STOP_REASONS`."""

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
    """A search service cannot be reached, or stays too busy; it may come back."""


class FetchFailed(Failed):
    """A page or document could not be read."""

    kind = "fetch"


class ToolError(Failed):
    """A tool could not do what it was asked; the reason is told to the model."""

    kind = "tool"


FAILURES: dict[str, type[Failed]] = {
    cls.kind: cls
    for cls in (Failed, LimitReached, ModelFailed, ContextTooLong, Refused, SearchError, FetchFailed, ToolError)
}


def failure(kind: str, reason: str) -> Failed:
    """The exception a stored failure of `kind` is raised as (unknown kinds: plain `Failed`)."""
    return FAILURES.get(kind, Failed)(reason)


class ModelError(AssayError):
    """One attempt at a model failed.

    `retry_after` is in seconds, None when the provider named none; `transient` says whether the same
    request may succeed later, `reached` whether anybody answered at all. `usable` is False where every request
    will fail until a person changes something: starts the server, corrects the key, the address or the model's name.
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
    """No model of a role works as it is set up; nothing of the call is stored, so that the run can be resumed."""


class ExtractError(AssayError):
    """A file could not be turned into text; the message says why. `kind` is how the failure of a page is called."""

    kind: ClassVar[str] = "not text"


class TooSlow(ExtractError):
    """Reading a file took more time than one may take."""

    kind = "too slow"


class NoLetters(ExtractError):
    """A document holds pictures of pages only; whoever has an extra for that can read them."""

    kind = "scanned"


class ReaderBroke(ExtractError):
    """What reads a file crashed over it, failed, or took more memory than it may."""

    kind = "unreadable"


EXTRACT_ERRORS: dict[str, type[ExtractError]] = {
    cls.kind: cls for cls in (ExtractError, TooSlow, NoLetters, ReaderBroke)
}


class NothingRead(UsageError):
    """None of the files and pages given has text; `kind` is that of the last `ExtractError`, "not text" without one."""

    def __init__(self, message: str, kind: str = ExtractError.kind) -> None:
        super().__init__(message)
        self.kind = kind


class StoreError(AssayError):
    """The database or a blob is unusable."""


class StoreAway(StoreError):
    """The database cannot be reached, or went away in the middle; it may come back."""


class InUse(StoreError):
    """Another process has what is wanted, and lets go of it by itself: later it can be had."""


class LeaseHeld(StoreError):
    """Another live process executes this run."""

    def __init__(self, run_id: str, holder: str) -> None:
        self.run_id, self.holder = run_id, holder
        super().__init__(f"run {run_id} is running in {self.place}")

    @property
    def place(self) -> str:
        """The holder for a reader: its start, which tells it from a later process of the same number, left out."""
        return self.holder.partition(" since ")[0]


class FenceLost(StoreError):
    """Another process took this run over; nothing more may be written by this one."""


class OtherRelease(StoreError):
    """Another release of Assay stored this run in a form which this one cannot go on from; nothing of it is changed."""

    def __init__(self, run_id: str, release: str, own: str, why: str) -> None:
        by = f"assay {release}" if release else "an earlier release of assay"
        install = f"with that release (pip install assay=={release})" if release else "with that release"
        super().__init__(
            f"run {run_id} was started by {by}, and assay {own} cannot go on with it: {why}; "
            f"to end it: assay runs resume {run_id} {install}"
        )


class IndexDamaged(AssayError):
    """The files of an index cannot be read: it is made anew."""


class NothingSearched(AssayError):
    """A run came to its end without having looked anywhere; the message says why, and what to do."""


class InputNeeded(AssayError):
    """The run waits on `topic` for an answer that nobody here can give; it is stored and can be resumed."""

    def __init__(self, run_id: str, topic: str) -> None:
        way = (
            f"to approve it: assay runs approve {run_id}"
            if topic == "plan"
            else f"to give them: assay runs answer {run_id}"
        )
        super().__init__(f"run {run_id} waits for {topic}; {way}")
        self.run_id, self.topic = run_id, topic


class NotStored(StoreError):
    """A replay came to a step which is not in the journal, or not with this input; it does nothing anew."""

    def __init__(self, step: str, *, diverged: bool) -> None:
        why = "was asked otherwise (a prompt, a model's window, or code has changed)" if diverged else "is not stored"
        super().__init__(f"the step {step} {why}")


class Paused(AssayError):
    """The run's owner paused it: calls in flight were let go, and it can be resumed."""


class Cancelled(AssayError):
    """The run's owner cancelled it; findings are kept."""
