"""Keeps private documents on this machine: a run is refused before anything is sent.

A document is private if any private collection contains it, whatever else it is in; so is a conversation in which
private documents were read.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Mapping, Sequence

import msgspec

from assay import plugins
from assay.core.brief import Brief
from assay.core.errors import UsageError
from assay.core.ports import Journal, Library, Model
from assay.core.view import fold_events
from assay.core.web_addresses import BadUrl, parse_url
from assay.phases.method import WEB
from assay.services.providers import provider_access
from assay.settings import Settings

MAX_NAMED = 3
CLOUD = ("-cloud", ":cloud")
"""How names of models end that a local server forwards to a remote one (Ollama)."""


class RemoteUse(msgspec.Struct, frozen=True):
    """The models of a run that are not on this machine, and whether it uses the web."""

    hosted_models: tuple[str, ...]
    web: bool


async def mark_private(journal: Journal, library: Library, brief: Brief) -> Brief:
    """The brief, with its scope marked if it includes private documents or earlier text based on them."""
    parent = brief.fork.run if brief.fork else brief.parent  # what a fork's parent continued may be gone
    before = [parent] if parent else []
    if brief.thread and (latest := await journal.latest(brief.thread)) is not None:
        before.append(latest.run_id)
    private = brief.scope.private or bool(await asyncio.to_thread(library.private_among, brief.scope.collections))
    for run_id in dict.fromkeys(before):
        private = private or await _was_private(journal, library, run_id)
    return msgspec.structs.replace(brief, scope=msgspec.structs.replace(brief.scope, private=private))


def add_recipients(settings: Settings, brief: Brief, models: Mapping[str, Model]) -> Brief:
    """The brief with where private documents may go, if its owner allows that."""
    if not (brief.scope.private and brief.allow_private):
        return msgspec.structs.replace(brief, private_to=())
    destinations = run_destinations(settings, brief, models)
    return msgspec.structs.replace(
        brief, private_to=(*destinations.hosted_models, *([WEB] if destinations.web else ()))
    )


async def _was_private(journal: Journal, library: Library, run_id: str) -> bool:
    """True if a run had private documents, by its brief and by what it read; later marks count too."""
    earlier = msgspec.json.decode((await journal.load(run_id)).brief, type=Brief)
    if earlier.scope.private:
        return True
    read_by_it = [source.document_sha256 for source in fold_events(await journal.events(run_id)).sources.values()]
    return bool(await asyncio.to_thread(library.private_among, earlier.scope.collections, read_by_it))


def check_private(brief: Brief, library: Library, destinations: RemoteUse) -> None:
    """Refuse to take private documents elsewhere.

    Raises:
        UsageError: the run would, and nobody has allowed it.
    """
    if brief.allow_private or not (destinations.hosted_models or destinations.web):
        return
    names = library.private_among(brief.scope.collections)
    if not names and not brief.scope.private:
        return
    subject = (
        f"private documents are in scope (of {', '.join(names)})" if names else "this goes on from private documents"
    )
    raise UsageError(f"{subject}, and {_destinations_text(destinations)}; --allow-private allows it. Nothing was sent")


async def private_names(journal: Journal, library: Library, run_id: str) -> tuple[str, ...]:
    """The private part of what a run read: its collections, or a word for deleted ones."""
    brief = msgspec.json.decode((await journal.load(run_id)).brief, type=Brief)
    names = await asyncio.to_thread(library.private_among, brief.scope.collections)
    return tuple(names) or (("a run before it",) if await _was_private(journal, library, run_id) else ())


def check_judge(settings: Settings, name: str, model: Model, private: Sequence[str]) -> None:
    """Refuse a remote judge for `private` collections.

    Raises:
        UsageError: it would see private documents, and nobody has allowed it.
    """
    if private and not is_local(settings, name, local=model.profile.local):
        where = _destinations_text(RemoteUse((name,), web=False))
        subject = f"the judge would see private documents (of {', '.join(private)})"
        raise UsageError(f"{subject}, and {where}; --allow-private allows it. Nothing was sent")


def _destinations_text(destinations: RemoteUse) -> str:
    parts = []
    if destinations.hosted_models:
        names = ", ".join(destinations.hosted_models[:MAX_NAMED])
        verb = "are" if len(destinations.hosted_models) > 1 else "is"
        parts.append(f"{names} {verb} not on this machine: name a local model (--model ollama:NAME, or extractive)")
    if destinations.web:
        parts.append("what is searched for on the web may tell of them: leave it alone with --offline")
    return ", and ".join(parts)


def run_destinations(settings: Settings, brief: Brief, models: Mapping[str, Model]) -> RemoteUse:
    """Where a run would send what it reads."""
    hosted_models = (name for name, model in models.items() if not is_local(settings, name, local=model.profile.local))
    return RemoteUse(tuple(hosted_models), brief.scope.web)


def is_local(settings: Settings, name: str, *, local: bool) -> bool:
    """True if a model or embedder is on this machine: by its own claim, its address, and no forwarding."""
    url = provider_access(settings, name).url
    passed_on: Sequence[str] = CLOUD if plugins.split(name)[0] == "ollama" else ()
    return local and (not url or is_loopback(url)) and not name.endswith(tuple(passed_on))


def is_loopback(url: str) -> bool:
    """True if an address is on this machine."""
    try:
        host = parse_url(url).host
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except (BadUrl, ValueError):
        return False
