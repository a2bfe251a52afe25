"""The providers reached through pydantic-ai: their addresses, needs, and differences."""

from __future__ import annotations

import msgspec

ANY_ID = r"[a-zA-Z0-9_-]{1,64}"


class DirectService(msgspec.Struct, frozen=True, kw_only=True):
    """A provider.

    `url` is the base of its API, empty if the user must set it (`where` shows how), or the region from which `regional`
    makes an address. `key` is the name of the setting with its key, `variables` are other places for it. `module` is
    the client library that its extra of the same name installs; `prices` is its name in the table of prices. Models are
    listed at `listing`, with the key in `header` after `scheme`, and with the required `headers`. `thinks` matches the
    models that always reason before they answer, `ids` the call ids it accepts. `signed` says that earlier thinking
    must be sent back with its signature, `timed` that a request can have a timeout, `cached` that prompts are cached on
    request, `secure` that its client sends keys only over https.
    """

    name: str
    url: str
    key: str
    module: str
    prices: str
    where: str = ""
    regional: str = ""
    variables: str = ""
    listing: str = ""
    header: str = "authorization"
    scheme: str = "Bearer "
    headers: dict[str, str] = {}
    thinks: str = ""
    ids: str = ANY_ID
    signed: bool = False
    timed: bool = True
    cached: bool = False
    secure: bool = False


SERVICES: dict[str, DirectService] = {
    service.name: service
    for service in (
        DirectService(
            name="anthropic",
            url="https://api.anthropic.com",
            key="anthropic",
            module="anthropic",
            prices="anthropic",
            listing="/v1/models?limit=1000",
            headers={"anthropic-version": "2026-10-21"},  # that of its client library
            thinks=r"^claude-(?:fable-5|mythos-(?:5|preview)|opus-5-5)",
            signed=True,
            cached=True,
        ),
        DirectService(
            name="google",
            url="https://generativelanguage.googleapis.com",
            key="gemini",
            module="google.genai",
            prices="google",
            listing="/v1beta/models?pageSize=1000",
            header="x-goog-api-key",
            scheme="",
            thinks=r"^gemini-(?:2\.5|[3-9])(?!.*flash).*pro|^gemini-[3-9]",
        ),
        DirectService(
            name="cohere",
            url="https://api.cohere.com",
            key="cohere",
            module="cohere",
            prices="cohere",
            listing="/v1/models?page_size=1000&endpoint=chat",
            timed=False,
        ),
        DirectService(
            name="bedrock",
            url="",
            where="https://bedrock-runtime.REGION.amazonaws.com",
            regional="https://bedrock-runtime.{region}.amazonaws.com",
            variables="AWS_BEARER_TOKEN_BEDROCK (an API key), or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            key="bedrock",
            module="boto3",
            prices="aws",
            signed=True,
            timed=False,
            cached=True,
            secure=True,
        ),
    )
}
