"""What a provider is told of a user: a hash, where it takes one."""

from __future__ import annotations

import msgspec
import pytest

from assay.core.messages import Message, Profile, Request
from assay.models.openai.chat_services import SERVICES
from assay.models.openai.wire import request_fields

ASKED = Request(task="plan", system="", messages=(Message(role="user", text="hello"),))


def sent(name: str, request: Request) -> dict[str, object]:
    return request_fields(request, "m", Profile(name=f"{name}:m"), SERVICES[name])


@pytest.mark.parametrize("name", SERVICES)
def test_a_hash_goes_to_services_which_take_one(name: str) -> None:
    owned = sent(name, msgspec.structs.replace(ASKED, user="0a1b"))
    assert owned.get("user") == ("0a1b" if name in ("openai", "openrouter") else None)
    assert "user" not in sent(name, ASKED)
