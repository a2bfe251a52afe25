"""The tables for how runs research: `[depths]`, `[search]`, `[embedder]`, `[mcp]` and `[speculation]`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import NoDecode

from assay.core.depths import DEPTHS, STEPWISE, SetDepth
from assay.settings.sections import Key, ServiceName, SettingsTable, address, names


class DepthSettings(SettingsTable):
    """The numbers of one depth; what is unset is the strategy's own."""

    seconds: float | None = Field(None, gt=0, description="active seconds a run takes at most")
    words: int | None = Field(None, ge=0, le=10_000, description="words of a report; 0: as many as the findings carry")
    questions: int | None = Field(None, ge=0, le=10, description="clarifying questions asked at most")
    background_queries: int | None = Field(None, ge=0, le=10, description="queries asked before the plan is made")
    min_steps: int | None = Field(None, ge=1, le=50, description="steps done before research may end early")
    max_steps: int | None = Field(None, ge=1, le=50, description="steps of a plan at most")
    plans: int | None = Field(None, ge=1, le=20, description="plans at most, the first included (reflective)")
    cycles: int | None = Field(None, ge=1, le=100, description="rounds in which agents are sent")
    reasoning_cycles: int | None = Field(
        None, ge=0, le=100, description="the same, where the model reasons by itself; 0: no fewer (orchestrated)"
    )
    agents_a_cycle: int | None = Field(
        None, ge=1, le=100, description="agents sent in one round at most (orchestrated)"
    )
    agents_at_once: int | None = Field(None, ge=1, le=100, description="agents that work at the same time")
    agent_turns: int | None = Field(None, ge=1, le=200, description="turns of an agent")
    calls: int | None = Field(None, ge=0, le=1_000, description="tool calls of an agent; 0: any number")
    queries: int | None = Field(
        None,
        ge=0,
        le=50,
        description="queries of a step that code drives; 0: the model drives (reflective; in web_search 2)",
    )
    pages: int | None = Field(
        None, ge=0, le=50, description="pages opened in a step that code drives (reflective; in web_search 3)"
    )
    thoughts: int | None = Field(None, ge=0, le=20, description="calls of `think` before a decision")
    recalls: int | None = Field(None, ge=0, le=50, description="times the writer looks again at what was read")
    agent_share: float | None = Field(
        None, gt=0, le=1, description="part of the time left after which an agent is asked for its findings"
    )
    agent_seconds: float | None = Field(None, gt=0, description="the same in seconds, at most")
    stop_share: float | None = Field(None, gt=0, le=1, description="part of the time left after which it is stopped")
    stop_seconds: float | None = Field(None, gt=0, description="the same in seconds, at most")
    look_seconds: float | None = Field(None, gt=0, description="seconds the searches of web_search take at most")
    decision_tokens: int | None = Field(
        None, ge=256, description="tokens of a decision at most: triage, orchestrator, reflector, coverage, survey"
    )
    query_tokens: int | None = Field(None, ge=256, description="tokens of a reply that words queries, at most")
    plan_tokens: int | None = Field(None, ge=256, description="tokens of a plan at most")
    turn_tokens: int | None = Field(None, ge=256, description="tokens of an agent's turn at most")
    findings_tokens: int | None = Field(None, ge=256, description="tokens of an agent's findings at most")
    analysis_tokens: int | None = Field(None, ge=256, description="tokens of an analysis at most")
    answer_tokens: int | None = Field(None, ge=256, description="tokens of an answer without a plan at most")
    report_tokens: int | None = Field(None, ge=256, description="tokens of a report at most")
    row_tokens: int | None = Field(None, ge=256, description="tokens of a survey's rows of one batch at most")
    field_tokens: int | None = Field(None, ge=256, description="tokens of a reply that fills fields, at most")
    verdict_tokens: int | None = Field(None, ge=256, description="tokens of a judge's verdict at most")
    revision_tokens: int | None = Field(None, ge=256, description="tokens of a revised sentence at most")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min_steps is not None and self.max_steps is not None and self.min_steps > self.max_steps:
            raise ValueError(f"min_steps is {self.min_steps}, and max_steps only {self.max_steps}")
        return self


class Depths(SettingsTable):
    """The three depths."""

    light: DepthSettings = DepthSettings()
    medium: DepthSettings = DepthSettings()
    extended: DepthSettings = DepthSettings()

    @model_validator(mode="before")
    @classmethod
    def _of_the_environment(cls, values: Any) -> Any:
        """Accept `ASSAY_DEPTHS_MEDIUM_CYCLES`, which arrives as `medium_cycles`."""
        if not isinstance(values, dict):
            return values
        sorted_in: dict[str, Any] = {}
        for name, value in values.items():
            depth, _, number = str(name).partition("_")
            if number and depth in cls.model_fields and isinstance(sorted_in.setdefault(depth, {}), dict):
                sorted_in[depth] = {**sorted_in[depth], number: value}
            elif isinstance(value, dict) and isinstance(sorted_in.get(name), dict):
                sorted_in[name] = {**value, **sorted_in[name]}
            else:
                sorted_in[name] = value
        return sorted_in

    def changes(self) -> dict[SetDepth, dict[str, int | float]]:
        """The values that are set, by depth."""
        return {
            "light": self.light.model_dump(exclude_none=True),
            "medium": self.medium.model_dump(exclude_none=True),
            "extended": self.extended.model_dump(exclude_none=True),
        }


def default_of(depth: SetDepth, number: str) -> str:
    """A depth's default in the form for readers; both strategies' defaults if they differ."""
    parallel, stepwise = (f"{getattr(rules[depth], number):g}" for rules in (DEPTHS, STEPWISE))
    return parallel if parallel == stepwise else f"{parallel}; reflective: {stepwise}"


# Search, embedders, servers of the Model Context Protocol, and speculation.


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
    search: str = Field("search", description="its tool that finds, empty for none")
    fetch: str = Field("fetch", description="its tool that reads what was found, empty for none")
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
    """Work that runs do before anybody asks for it. Without it they find the same, and take longer."""

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
