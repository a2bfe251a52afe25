"""The tables `[search]`, `[embedder]`, `[mcp]` and `[speculation]`: where is searched, how, and what ahead of need."""

from __future__ import annotations

from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import NoDecode

from assay.settings.sections import Key, ServiceName, SettingsTable, address, names


def opensearch_address(value: object) -> object:
    """The address of OpenSearch."""
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    if not isinstance(text, str):
        return value
    try:
        parts = urlsplit(text.strip())
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ValueError("wanted is https://USER:PASSWORD@HOST:9200")
    return SecretStr(text.strip())


class ProviderSettings(SettingsTable):
    """How one search provider of the web is reached, where that is not as usual."""

    url: Annotated[str, AfterValidator(address)] | None = Field(None, description="its address, in place of its own")
    option: str = Field("", description="what else it needs: an engine's id, engines' names, an e-mail address")
    pause: float | None = Field(None, ge=0, description="seconds between two questions; unset: as it asks for")


class Mcp(SettingsTable):
    """How one server of the Model Context Protocol is reached: at an address, or as a process."""

    url: Annotated[str, AfterValidator(address)] | None = Field(None, description="its address (streamable HTTP)")
    command: tuple[str, ...] = Field((), description="what starts it, with its arguments (stdio)")
    key: Key = Field(None, description="what is sent as a bearer token to its address")
    search: str = Field("search", description="its tool which finds, empty for none")
    fetch: str = Field("fetch", description="its tool which reads what was found, empty for none")
    timeout: float = Field(30.0, gt=0, description="seconds an answer may take, the start of a process included")
    max_mb: float = Field(5.0, gt=0, description="larger answers are refused (megabytes)")

    @model_validator(mode="after")
    def _reached_one_way(self) -> Self:
        if (self.url is None) == (not self.command):
            raise ValueError("a server has either a url or a command")
        return self


class SearchSettings(SettingsTable):
    """Searching the web, and the library."""

    web: bool | None = Field(None, description="whether runs search the web too (--web); unset: only runs without --in")
    offline: bool = Field(False, description="whether to never use the web, whatever else is set")
    providers: Annotated[tuple[str, ...], NoDecode, BeforeValidator(names)] = Field(
        (), description="search providers of the web; unset: those with a key, else ddgs and wikipedia"
    )
    services: dict[ServiceName, ProviderSettings] = Field({}, description="how providers are reached, by name")
    calls_at_once: dict[ServiceName, Annotated[int, Field(ge=1)]] = Field(
        {}, description="queries a search provider gets at once from all runs and workers, by provider"
    )
    index: Literal["local", "postgres", "opensearch"] = Field(
        "local",
        description="where documents are indexed: local (in each home), or once for all machines: postgres "
        "(in `database`), opensearch (at `search.opensearch`)",
    )
    opensearch: Annotated[SecretStr | None, BeforeValidator(opensearch_address)] = Field(
        None, description="address of OpenSearch, https://USER:PASSWORD@HOST:9200, if the index lies there"
    )
    opensearch_name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,60}$")] = Field(
        "assay", description="prefix of the index names there; use a different one for each library"
    )


class EmbedderSettings(SettingsTable):
    """Search by meaning beside search by words; off where no model is named."""

    model: str = Field("", description="embedder (ollama:nomic-embed-text, fastembed:FOLDER); unset: words alone")
    weight: float = Field(0.5, ge=0, le=1, description="weight of meaning against words in a search, from 0 to 1")
    batch: int = Field(64, ge=1, le=2_048, description="passages in one request to the embedder")
    max_usd: float | None = Field(None, gt=0, description="US dollars one pass over the library may cost")
    max_tokens: int | None = Field(None, gt=0, description="tokens one pass over the library may use")
    query_prefix: str | None = Field(None, description="text before a question; unset: as the model requires")
    passage_prefix: str | None = Field(None, description="text before a passage; unset: as the model requires")
    allow_private: bool = Field(False, description="whether a remote embedder may read private documents")
    pgvector: bool = Field(
        False, description="whether to search vectors with PostgreSQL's pgvector, if the index is there"
    )


class SpeculationSettings(SettingsTable):
    """What runs do before anybody asks for it. They find the same without it, and take longer."""

    question: bool = Field(False, description="whether to search the web for the question during triage")
    names: bool = Field(False, description="whether to search for names in the question while the plan is written")
    pages: bool = Field(True, description="whether to fetch the best pages of a search before an agent opens them")
    paid: bool = Field(False, description="whether to use search providers with a key for this too")
    calls: bool = Field(True, description="whether to begin the next model call while the decision on it is made")
    tasks: bool = Field(
        True, description="whether an agent begins before others have reported whose findings it does not need"
    )
    share: float = Field(
        0.15,
        ge=0,
        le=0.15,
        description="largest share of a run's searches, pages and tokens that may turn out unused; 0: no speculation",
    )
