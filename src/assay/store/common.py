"""Shared by the memory and the SQL store: labels, listeners, owners, and rules that must agree in both."""

from __future__ import annotations

import copy
import difflib
import threading
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Protocol, Self, TypeVar

import msgspec

from assay.core.errors import StoreError, UnknownName
from assay.core.events import Envelope
from assay.core.ports import Action, EventDraft, ModelUsage, RunSpending, RunStatus
from assay.core.ports.collections import SLASH
from assay.core.ports.lists import read_label
from assay.core.sources import Document, sha256
from assay.core.usage import Usage

T = TypeVar("T")
WallClock = Callable[[], float]
"""Wall-clock time in seconds since 1970, as `time.time`: leases are compared between processes."""

MAX_FOUND = 20
"""The most documents that `Library.find` returns."""

HASH_PREFIX = 8
"""The least characters of a hash by which a document is found."""

NAMED, LAST_REFERENCE = 5, "last"
"""How many runs an error names; what names the newest one where an id is expected."""

_MAX_REFERENCE_CHARS = 4000


# Labels of runs as one text, in which a label is found exactly.


class _LabelledBrief(msgspec.Struct, frozen=True):
    labels: dict[str, str] = {}


def given_labels(brief: bytes) -> dict[str, str]:
    """The labels that a run began with."""
    try:
        return msgspec.json.decode(brief, type=_LabelledBrief).labels
    except msgspec.MsgspecError:  # of another release
        return {}


def labels_text(labels: dict[str, str]) -> str:
    """Labels as one text: those of a JSON object, each between two commas; "" for none."""
    return f",{msgspec.json.encode(labels, order='sorted').decode()[1:-1]}," if labels else ""


def read_labels_text(text: str) -> dict[str, str]:
    """The labels of such a text."""
    return msgspec.json.decode(f"{{{text[1:-1]}}}", type=dict[str, str]) if text else {}


def label_marks(label: str) -> tuple[str, ...]:
    """Texts of which one occurs in the labels of any run that has `label`.

    A quotation mark inside a name or a value is escaped, so that no text looks like the beginning of a label.
    """
    name, value = read_label(label)
    name_mark = f",{msgspec.json.encode(label).decode()}:"
    if "=" not in label:
        return (name_mark,)
    return (name_mark, f",{msgspec.json.encode(name).decode()}:{msgspec.json.encode(value).decode()},")


# Listeners for runs whose log has grown.

Listener = Callable[[str], None]


class Listeners:
    """A set of callbacks; they may be added, removed and called from several threads."""

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()
        self._lock = threading.Lock()

    def add(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` from now on; call the result to stop that."""
        with self._lock:
            self._listeners = (*self._listeners, listener)
        return lambda: self._remove(listener)

    def notify(self, run_ids: Iterable[str]) -> None:
        """Report that the logs of these runs have grown."""
        listeners = self._listeners
        for run_id in run_ids:
            for listener in listeners:
                listener(run_id)

    @property
    def any(self) -> bool:
        return bool(self._listeners)

    def _remove(self, listener: Listener) -> None:
        with self._lock:
            self._listeners = tuple(registered for registered in self._listeners if registered is not listener)


# Rows as one owner sees them.


class OwnedView:
    """The rows of one owner, or of all if the owner is None."""

    _owner: str | None = None

    def owned_by(self, owner: str | None) -> Self:
        """Return the same rows as one owner sees them; see the port."""
        view = copy.copy(self)
        view._owner = owner
        return view


# runs


class _Scope(msgspec.Struct, frozen=True):
    collections: tuple[str, ...] = ()


class _Brief(msgspec.Struct, frozen=True):
    scope: _Scope = _Scope()


def collections_text(brief: bytes) -> str:
    """The collections in a brief, each between two line ends; "" for none."""
    try:
        names = collections_of(brief)
    except msgspec.MsgspecError:  # of another release
        return ""
    return join_lines(*names) if names else ""


def collections_of(brief: bytes) -> tuple[str, ...]:
    """The collections in a brief.

    Raises:
        msgspec.MsgspecError: it has another form, of another release.
    """
    return msgspec.json.decode(brief, type=_Brief).scope.collections


def join_lines(*names: str) -> str:
    """Names between line ends, which no name contains."""
    return "\n" + "".join(f"{name}\n" for name in names)


class _Run(Protocol):
    run_id: str
    status: RunStatus
    brief: bytes
    active_seconds: float


def run_spending(run: _Run, amounts: Iterable[Usage]) -> RunSpending:
    """The usage of a run, from its steps' holds and spending."""
    return RunSpending(
        run_id=run.run_id,
        status=run.status,
        brief=run.brief,
        active_seconds=run.active_seconds,
        usage=sum(amounts, Usage()),
    )


def envelopes(run_id: str, drafts: Sequence[EventDraft], first: int) -> tuple[Envelope, ...]:
    """The drafts as in the log, numbered from `first`."""
    return tuple(
        Envelope(
            seq=seq,
            run_id=run_id,
            at=draft.at,
            path=draft.path,
            type=draft.type,
            data=msgspec.Raw(draft.data),
        )
        for seq, draft in enumerate(drafts, first)
    )


def created_at(drafts: Sequence[EventDraft], wall: WallClock) -> str:
    """When a run was created: its first event's time, so that list and log agree."""
    return drafts[0].at if drafts else iso(wall())


def iso(seconds: float) -> str:
    """ISO 8601 UTC with milliseconds and `Z`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def next_control(current: Action, requested: Action) -> Action:
    """The control row after `requested`: a cancel is never overruled."""
    return current if current == "cancel" else requested


def new_drafts(drafts: Sequence[EventDraft], stored_keys: Container[str] = ()) -> list[EventDraft]:
    """The drafts whose key is not stored yet, each key once: the first one counts."""
    seen: set[str] = set()
    new = []
    for draft in drafts:
        if draft.key not in seen and draft.key not in stored_keys:
            seen.add(draft.key)
            new.append(draft)
    return new


def resolve_run_id(reference: str, candidates: Sequence[str], run_ids: Iterable[str]) -> str:
    """The one run id in `candidates`, the ids that begin with `reference`.

    Raises:
        UnknownName: there is none (the message suggests the nearest of `run_ids`, newest first, or names the newest),
        or
            more than one (it names some).
    """
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise UnknownName("run", reference, hint=f"(more than one begins so: {_some_ids(candidates)})")
    run_ids = list(run_ids)
    suggestions = difflib.get_close_matches(reference, [*run_ids, LAST_REFERENCE] if run_ids else [], n=1)
    newest = f"(the newest: {_some_ids(run_ids)})" if run_ids else "(there are no runs yet)"
    raise UnknownName("run", reference, suggestions, "" if suggestions else newest)


def _some_ids(ids: Sequence[str]) -> str:
    return ", ".join(ids[:NAMED]) + (", …" if len(ids) > NAMED else "")


def unknown_run(run_id: str) -> UnknownName:
    """The error for a full id that does not exist."""
    return UnknownName("run", run_id)


def run_exists(run_id: str) -> StoreError:
    """The error for an id that exists already."""
    return StoreError(f"run {run_id} exists already: use another id")


class _Attempt(msgspec.Struct, frozen=True):
    """The part of an event about a model call that is read."""

    model: str
    usage: Usage = Usage()


def usage_by_model(attempts: Iterable[tuple[str, str, str, bytes]], *, daily: bool = False) -> list[ModelUsage]:
    """The usage by owner and model, from events with their owners, runs and times, in order."""
    runs: dict[tuple[str, str, str], set[str]] = {}
    used: dict[tuple[str, str, str], Usage] = {}
    for owner, run_id, created_at, data in attempts:
        attempt = msgspec.json.decode(data, type=_Attempt)
        key = created_at[: len("2026-11-01")] if daily else "", owner, attempt.model
        runs.setdefault(key, set()).add(run_id)
        used[key] = used.get(key, Usage()) + attempt.usage
    return [
        ModelUsage(day=key[0], owner=key[1], model=key[2], runs=len(runs[key]), usage=used[key]) for key in sorted(used)
    ]


# documents


def reference_to(owner: str, name: str, *, alone: bool) -> str:
    """Another owner's collection as OWNER/NAME. `alone`: the view of all calls those of the local user by name."""
    return name if alone and not owner and SLASH not in name else f"{owner}{SLASH}{name}"


def split_reference(reference: str) -> tuple[str, str]:
    """The owner and the name in such a reference."""
    owner, separator, name = reference.partition(SLASH)
    return (owner, name) if separator else ("", reference)


def collection_of_set(documents: Iterable[str]) -> tuple[str, list[str]]:
    """The name of the collection of exactly these documents, and their hashes sorted."""
    hashes = sorted(set(documents))
    return f"set-{sha256(chr(10).join(hashes).encode())[:16]}", hashes


def fold_text(text: str) -> str:
    """`text` for look-ups: one Unicode form, no case, single spaces, no NUL (SQL text functions end there)."""
    return " ".join(unicodedata.normalize("NFC", text).replace("\0", " ").casefold().split())


def document_lookup_text(document: Document) -> str:
    """Name, URL and title for look-ups, each on a line between line breaks."""
    return lookup_text(document.name, document.url, document.title)


def lookup_text(name: str, url: str, title: str) -> str:
    """The same, of a document that has these."""
    return f"\n{fold_text(name)}\n{fold_text(url)}\n{fold_text(title)}\n"


def lookup_reference(text: str) -> str:
    """A reference in the form for `rank`; empty if nothing can match it.

    Bytes of a path that are not UTF-8 are written as in stored names. A program's halves of surrogate pairs match
    nothing.
    """
    try:
        folded = fold_text(text.encode(errors="surrogateescape").decode(errors="replace"))
    except UnicodeEncodeError:
        return ""
    return folded if len(folded) <= _MAX_REFERENCE_CHARS else ""


def rank(reference: str, sha: str, looked_up: str) -> int | None:
    """How well a folded reference names a document: 0 exactly, 1 by the start of its hash, 2 in part, None not at
    all.
    """
    if reference == sha or f"\n{reference}\n" in looked_up:
        return 0
    if len(reference) >= HASH_PREFIX and sha.startswith(reference):
        return 1
    return 2 if reference in looked_up else None


def by_frequency(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Name → count, the most frequent first, equal ones by name; without empty names."""
    entries = [(name, count) for name, count in counts if name]
    return dict(sorted(entries, key=lambda entry: (-entry[1], entry[0])))


def files_of(documents: Iterable[str], files: Iterable[tuple[str, Sequence[str]]]) -> dict[str, tuple[str, ...]]:
    """The files, as paths with the documents they gave, by each of some documents."""
    hashes, paths_by_hash = set(documents), defaultdict[str, set[str]](set)
    for path, path_hashes in files:
        for sha in hashes.intersection(path_hashes):
            paths_by_hash[sha].add(path)
    return {sha: tuple(sorted(paths)) for sha, paths in paths_by_hash.items()}


def unknown_document(sha: str) -> UnknownName:
    """The error for a hash that is not in the library."""
    return UnknownName("document", sha)


# Blobs of a distant store.

AT_ONCE = 8
"""Blobs that `put_at_once` stores at the same time."""


def put_at_once(put: Callable[[bytes], str], contents: Sequence[bytes]) -> list[str]:
    """Store several with `put`, at the same time, since each waits for its requests; return their hashes."""
    if len(contents) < 2:
        return [put(data) for data in contents]
    with ThreadPoolExecutor(min(len(contents), AT_ONCE), "assay-blobs") as pool:
        return list(pool.map(put, contents))
