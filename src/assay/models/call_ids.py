"""The ids of tool calls in a history, as services accept them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from assay.core.messages import Message


def with_accepted_ids(messages: Iterable[Message], ids: str) -> Iterator[Message]:
    """The messages, with call ids that match `ids` ("": any do), each used for one call only.

    A history may have ids of other makers' models, which a fallback's service refuses, and ids made for calls without
    one, which are the same in every turn. Such an id is replaced, by the same one in every request. A result without
    its call has no `call_id` afterwards; services refuse it, so it must be sent as a user's words.
    """
    used: set[str] = set()
    latest: dict[str, str] = {}
    for message in messages:
        if message.calls:
            calls = []
            for call in message.calls:
                latest[call.id] = _acceptable_id(call.id, ids, used)
                used.add(latest[call.id])
                calls.append(replace(call, id=latest[call.id]))
            yield replace(message, calls=tuple(calls))
        elif message.role == "tool":
            yield replace(message, call_id=latest.get(message.call_id, ""))
        else:
            yield message


def _acceptable_id(id: str, ids: str, used: set[str]) -> str:
    """`id`, or one derived from it that every service accepts: nine letters and digits."""
    candidate, times = id, 0
    while not candidate or candidate in used or (ids and not re.fullmatch(ids, candidate)):
        candidate = hashlib.sha256((id + "\n" * times).encode()).hexdigest()[:9]
        times += 1
    return candidate
