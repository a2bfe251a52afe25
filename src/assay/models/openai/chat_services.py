"""The services known by name: where they are, and in what they differ from one another."""

from __future__ import annotations

import httpx2
import msgspec

from assay.core.errors import ConfigError
from assay.core.ports import Access


class ChatService(msgspec.Struct, frozen=True, kw_only=True):
    """A service.

    `url` is the base of its API, `key` the name of the setting which holds its key, empty where none is wanted; `local`
    says that it runs on this machine and costs nothing. `keyed` says that requests with one beginning can be sent to
    one cache by a key, `tells` that it takes a word by which to tell users apart.

    How it is asked: `output` is the request's field for the most output tokens, `counts` whether it counts tokens only
    when told to. `required` is its word for a call of any tool, `chooses` says that a model can be kept from calling
    tools it is told of. `ids` tells the call ids it accepts, all where empty; `bridged` says that no user speaks right
    after a tool, and that an empty message is refused.

    Reasoning: `graded` tells the models whose effort can be named (all where empty), `effort` the one word for it where
    there is no other, `silenced` those which reason unless told not to; `parted` asks for the reasoning apart from the
    answer. Each is a pattern for the beginning of a model's name.
    """

    name: str
    url: str
    key: str = ""
    local: bool = False
    keyed: bool = False
    tells: bool = False
    output: str = "max_tokens"
    counts: bool = True
    required: str = "required"
    chooses: bool = True
    ids: str = ""
    bridged: bool = False
    graded: str = ""
    effort: str = ""
    silenced: str = ""
    parted: dict[str, str] = {}


SERVICES: dict[str, ChatService] = {
    service.name: service
    for service in (
        ChatService(
            name="openai",
            url="https://api.openai.com/v1",
            key="openai",
            output="max_completion_tokens",
            keyed=True,
            tells=True,
        ),
        ChatService(name="openrouter", url="https://openrouter.ai/api/v1", key="openrouter", tells=True),
        ChatService(
            name="mistral",
            url="https://api.mistral.ai/v1",
            key="mistral",
            keyed=True,
            counts=False,
            required="any",
            chooses=False,
            ids=r"[a-zA-Z0-9]{9}",
            bridged=True,
            graded=r"(?!magistral)",
            effort="high",
        ),
        ChatService(
            name="groq",
            url="https://api.groq.com/openai/v1",
            key="groq",
            output="max_completion_tokens",
            graded=r"openai/gpt-oss",
            silenced=r"qwen/qwen3",
            parted={"reasoning_format": "parsed"},
        ),
        ChatService(name="ollama", url="http://127.0.0.1:11434/v1", local=True, chooses=False),
        ChatService(name="lmstudio", url="http://127.0.0.1:1234/v1", local=True),
        ChatService(name="llamacpp", url="http://127.0.0.1:8080/v1", local=True),
        ChatService(name="vllm", url="http://127.0.0.1:8000/v1", local=True),
    )
}


def service_of(name: str, access: Access) -> tuple[ChatService, str]:
    """The service which a name `SERVICE:MODEL` means, one of `SERVICES` or at the address given, and its model.

    Raises:
        ConfigError: no model is named, or the service is unknown and has no address, or wants a key and has none.
    """
    prefix, _, model = name.partition(":")
    service = SERVICES.get(prefix) or ChatService(name=prefix, url=access.url)
    if access.url:
        service = msgspec.structs.replace(service, url=access.url, local=service.local or _is_local(access.url))
    if not model:
        raise ConfigError(f"{name!r} names no model; write {prefix}:MODEL, as {prefix} calls it")
    if not service.url:
        raise ConfigError(f"where is {prefix!r}? set services.{prefix}.url to the base of its API")
    if service.key and access.key is None and not access.url:
        variable = f"{service.key.upper()}_API_KEY"
        raise ConfigError(f"{prefix} wants a key: set {variable}, or keys.{service.key} in the settings file")
    return service, model


def _is_local(url: str) -> bool:
    """Whether an address is this machine's."""
    host = httpx2.URL(url).host
    return host in ("localhost", "127.0.0.1", "::1")
