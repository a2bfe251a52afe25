"""The services known by name: where they are, and in what they differ from one another."""

from __future__ import annotations

import msgspec


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """A service.

    `url` is the base of its API, `key` the name of the setting which holds its key, empty where none is wanted; `local`
    says that it runs on this machine and costs nothing. `output` is the request's field for the most output tokens,
    `strict` whether only fields of OpenAI's own reference may be sent. `keyed` says that requests with one beginning
    can be sent to one cache by a key, `chooses` that a model can be kept from calling tools it is told of.
    """

    name: str
    url: str
    key: str = ""
    local: bool = False
    output: str = "max_tokens"
    strict: bool = False
    keyed: bool = False
    chooses: bool = True


SERVICES: dict[str, Service] = {
    service.name: service
    for service in (
        Service(
            name="openai",
            url="https://api.openai.com/v1",
            key="openai",
            output="max_completion_tokens",
            strict=True,
            keyed=True,
        ),
        Service(name="openrouter", url="https://openrouter.ai/api/v1", key="openrouter"),
        Service(name="ollama", url="http://127.0.0.1:11434/v1", local=True, chooses=False),
        Service(name="lmstudio", url="http://127.0.0.1:1234/v1", local=True),
        Service(name="llamacpp", url="http://127.0.0.1:8080/v1", local=True),
        Service(name="vllm", url="http://127.0.0.1:8000/v1", local=True),
    )
}
