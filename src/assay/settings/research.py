"""The tables for how runs research: `[depths]`, `[search]`, `[embedder]`, `[mcp]` and `[speculation]`."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from assay.core.depths import ORCHESTRATED_DEPTHS, REFLECTIVE_DEPTHS, SetDepth
from assay.core.ports.models import Secret
from assay.settings.sections import Key, ServiceName, SettingsTable
from assay.settings.texts import check_address, check_opensearch_address, split_names


class DepthSettings(SettingsTable, frozen=True, kw_only=True):
    """The numbers of one depth; what is unset is the strategy's own."""

    seconds: Annotated[float | None, Meta(gt=0, description="active seconds a run takes at most")] = None
    words: Annotated[
        int | None, Meta(ge=0, le=10_000, description="words of a report; 0: as many as the findings carry")
    ] = None
    questions: Annotated[int | None, Meta(ge=0, le=10, description="clarifying questions asked at most")] = None
    background_queries: Annotated[
        int | None, Meta(ge=0, le=10, description="queries asked before the plan is made")
    ] = None
    min_steps: Annotated[int | None, Meta(ge=1, le=50, description="steps done before research may end early")] = None
    max_steps: Annotated[int | None, Meta(ge=1, le=50, description="steps of a plan at most")] = None
    plans: Annotated[int | None, Meta(ge=1, le=20, description="plans at most, the first included (reflective)")] = None
    cycles: Annotated[int | None, Meta(ge=1, le=100, description="rounds in which agents are sent")] = None
    reasoning_cycles: Annotated[
        int | None,
        Meta(ge=0, le=100, description="the same, where the model reasons by itself; 0: no fewer (orchestrated)"),
    ] = None
    agents_a_cycle: Annotated[
        int | None, Meta(ge=1, le=100, description="agents sent in one round at most (orchestrated)")
    ] = None
    agents_at_once: Annotated[int | None, Meta(ge=1, le=100, description="agents that work at the same time")] = None
    agent_turns: Annotated[int | None, Meta(ge=1, le=200, description="turns of an agent")] = None
    calls: Annotated[int | None, Meta(ge=0, le=1_000, description="tool calls of an agent; 0: any number")] = None
    queries: Annotated[
        int | None,
        Meta(
            ge=0,
            le=50,
            description="queries of a step that code drives; 0: the model drives (reflective; in web_search 2)",
        ),
    ] = None
    pages: Annotated[
        int | None,
        Meta(ge=0, le=50, description="pages opened in a step that code drives (reflective; in web_search 3)"),
    ] = None
    thoughts: Annotated[int | None, Meta(ge=0, le=20, description="calls of `think` before a decision")] = None
    recalls: Annotated[int | None, Meta(ge=0, le=50, description="times the writer looks again at what was read")] = (
        None
    )
    agent_share: Annotated[
        float | None,
        Meta(gt=0, le=1, description="part of the time left after which an agent is asked for its findings"),
    ] = None
    agent_seconds: Annotated[float | None, Meta(gt=0, description="the same in seconds, at most")] = None
    stop_share: Annotated[
        float | None, Meta(gt=0, le=1, description="part of the time left after which it is stopped")
    ] = None
    stop_seconds: Annotated[float | None, Meta(gt=0, description="the same in seconds, at most")] = None
    look_seconds: Annotated[float | None, Meta(gt=0, description="seconds the searches of web_search take at most")] = (
        None
    )
    decision_tokens: Annotated[
        int | None,
        Meta(ge=256, description="tokens of a decision at most: triage, orchestrator, reflector, coverage, survey"),
    ] = None
    query_tokens: Annotated[int | None, Meta(ge=256, description="tokens of a reply that words queries, at most")] = (
        None
    )
    plan_tokens: Annotated[int | None, Meta(ge=256, description="tokens of a plan at most")] = None
    turn_tokens: Annotated[int | None, Meta(ge=256, description="tokens of an agent's turn at most")] = None
    findings_tokens: Annotated[int | None, Meta(ge=256, description="tokens of an agent's findings at most")] = None
    analysis_tokens: Annotated[int | None, Meta(ge=256, description="tokens of an analysis at most")] = None
    answer_tokens: Annotated[int | None, Meta(ge=256, description="tokens of an answer without a plan at most")] = None
    report_tokens: Annotated[int | None, Meta(ge=256, description="tokens of a report at most")] = None
    row_tokens: Annotated[int | None, Meta(ge=256, description="tokens of a survey's rows of one batch at most")] = None
    field_tokens: Annotated[int | None, Meta(ge=256, description="tokens of a reply that fills fields, at most")] = None
    verdict_tokens: Annotated[int | None, Meta(ge=256, description="tokens of a judge's verdict at most")] = None
    revision_tokens: Annotated[int | None, Meta(ge=256, description="tokens of a revised sentence at most")] = None

    def __post_init__(self) -> None:
        if self.min_steps is not None and self.max_steps is not None and self.min_steps > self.max_steps:
            raise ValueError(f"min_steps is {self.min_steps}, and max_steps only {self.max_steps}")


class Depths(SettingsTable, frozen=True, kw_only=True):
    """The three depths."""

    light: DepthSettings = DepthSettings()
    medium: DepthSettings = DepthSettings()
    extended: DepthSettings = DepthSettings()

    def changes(self) -> dict[SetDepth, dict[str, int | float]]:
        """The values that are set, by depth."""
        return {
            "light": _set_numbers(self.light),
            "medium": _set_numbers(self.medium),
            "extended": _set_numbers(self.extended),
        }


def _set_numbers(depth: DepthSettings) -> dict[str, int | float]:
    return {name: number for name, number in msgspec.structs.asdict(depth).items() if number is not None}


def default_number_text(depth: SetDepth, number: str) -> str:
    """A depth's default in the form for readers; both strategies' defaults if they differ."""
    parallel, stepwise = (f"{getattr(rules[depth], number):g}" for rules in (ORCHESTRATED_DEPTHS, REFLECTIVE_DEPTHS))
    return parallel if parallel == stepwise else f"{parallel}; reflective: {stepwise}"


# Search, embedders, servers of the Model Context Protocol, and speculation.


class ProviderSettings(SettingsTable, frozen=True, kw_only=True):
    """How one search provider of the web is reached, where that is not as usual."""

    url: Annotated[str | None, Meta(description="its address, in place of its own"), check_address] = None
    option: Annotated[
        str, Meta(description="what else it needs: an engine's id, engines' names, an e-mail address")
    ] = ""
    pause: Annotated[float | None, Meta(ge=0, description="seconds between two questions; unset: as it asks for")] = (
        None
    )


class Mcp(SettingsTable, frozen=True, kw_only=True):
    """How one server of the Model Context Protocol is reached: at an address, or as a process."""

    url: Annotated[str | None, Meta(description="its address (streamable HTTP)"), check_address] = None
    command: Annotated[tuple[str, ...], Meta(description="what starts it, with its arguments (stdio)")] = ()
    key: Annotated[Key, Meta(description="what is sent as a bearer token to its address")] = None
    search: Annotated[str, Meta(description="its tool that finds, empty for none")] = "search"
    fetch: Annotated[str, Meta(description="its tool that reads what was found, empty for none")] = "fetch"
    timeout: Annotated[float, Meta(gt=0, description="seconds an answer may take, the start of a process included")] = (
        30.0
    )
    max_mb: Annotated[float, Meta(gt=0, description="larger answers are refused (megabytes)")] = 5.0

    def __post_init__(self) -> None:
        if (self.url is None) == (not self.command):
            raise ValueError("a server has either a url or a command")


class SearchSettings(SettingsTable, frozen=True, kw_only=True):
    """Searching the web, and the library."""

    web: Annotated[
        bool | None, Meta(description="whether runs search the web too (--web); unset: only runs without --in")
    ] = None
    offline: Annotated[bool, Meta(description="whether to never use the web, whatever else is set")] = False
    providers: Annotated[
        tuple[str, ...],
        split_names,
        Meta(description="search providers of the web; unset: those with a key, else ddgs and wikipedia"),
    ] = ()
    services: Annotated[
        dict[ServiceName, ProviderSettings], Meta(description="how providers are reached, by name")
    ] = {}
    calls_at_once: Annotated[
        dict[ServiceName, Annotated[int, Meta(ge=1)]],
        Meta(description="queries a search provider gets at once from all runs and workers, by provider"),
    ] = {}
    index: Annotated[
        Literal["local", "postgres", "opensearch"],
        Meta(
            description="where documents are indexed: local (in each home), or once for all machines: postgres "
            "(in `database`), opensearch (at `search.opensearch`)"
        ),
    ] = "local"
    opensearch: Annotated[
        Secret | None,
        check_opensearch_address,
        Meta(description="address of OpenSearch, https://USER:PASSWORD@HOST:9200, if the index lies there"),
    ] = None
    opensearch_name: Annotated[
        str,
        Meta(
            pattern=r"^[a-z][a-z0-9-]{0,60}\Z",
            title="a name of small letters, digits and '-', 61 at most",
            description="prefix of the index names there; use a different one for each library",
        ),
    ] = "assay"


class EmbedderSettings(SettingsTable, frozen=True, kw_only=True):
    """Search by meaning beside search by words; off where no model is named."""

    model: Annotated[
        str, Meta(description="embedder (ollama:nomic-embed-text, fastembed:FOLDER); unset: words alone")
    ] = ""
    weight: Annotated[
        float, Meta(ge=0, le=1, description="weight of meaning against words in a search, from 0 to 1")
    ] = 0.5
    batch: Annotated[int, Meta(ge=1, le=2_048, description="passages in one request to the embedder")] = 64
    max_usd: Annotated[float | None, Meta(gt=0, description="US dollars one pass over the library may cost")] = None
    max_tokens: Annotated[int | None, Meta(gt=0, description="tokens one pass over the library may use")] = None
    query_prefix: Annotated[str | None, Meta(description="text before a question; unset: as the model requires")] = None
    passage_prefix: Annotated[str | None, Meta(description="text before a passage; unset: as the model requires")] = (
        None
    )
    allow_private: Annotated[bool, Meta(description="whether a remote embedder may read private documents")] = False
    pgvector: Annotated[
        bool, Meta(description="whether to search vectors with PostgreSQL's pgvector, if the index is there")
    ] = False


class SpeculationSettings(SettingsTable, frozen=True, kw_only=True):
    """Work that runs do before anybody asks for it. Without it they find the same, and take longer."""

    question: Annotated[bool, Meta(description="whether to search the web for the question during triage")] = False
    names: Annotated[
        bool, Meta(description="whether to search for names in the question while the plan is written")
    ] = False
    pages: Annotated[
        bool, Meta(description="whether to fetch the best pages of a search before an agent opens them")
    ] = True
    paid: Annotated[bool, Meta(description="whether to use search providers with a key for this too")] = False
    calls: Annotated[
        bool, Meta(description="whether to begin the next model call while the decision on it is made")
    ] = True
    tasks: Annotated[
        bool, Meta(description="whether an agent begins before others have reported whose findings it does not need")
    ] = True
    share: Annotated[
        float,
        Meta(
            ge=0,
            le=0.15,
            description="largest share of a run's searches, pages and tokens that may turn out unused; "
            "0: no speculation",
        ),
    ] = 0.15
