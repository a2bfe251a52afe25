"""The tables of the settings file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from assay.core.brief import ROLES, Role
from assay.core.ports.models import Secret
from assay.settings.reader import GivenValue, read_table
from assay.settings.texts import check_address, clean_key, clean_secret, expand_home, split_names

Key = Annotated[Secret | None, clean_key]
Hidden = Annotated[Secret | None, clean_secret]
ServiceName = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}\Z", title="a name of letters, digits, '_', '.' and '-', 64 at most")
]
KeyHolder = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}\Z", title="a name of letters, digits, '_' and '-', 64 at most")
]
ModelNames = Annotated[tuple[str, ...] | None, split_names, Meta(min_length=1)]


class _CheckedMeta(msgspec.StructMeta):
    """Makes a table of checked values: `Limits(tokens="5")` has the number."""

    if not TYPE_CHECKING:

        def __call__(cls, /, **values: Any) -> Any:  # noqa: N805 - of a metaclass
            return read_table(cls, cls._sources(values))


class SettingsTable(msgspec.Struct, frozen=True, kw_only=True, metaclass=_CheckedMeta):
    """A table of the settings file.

    Raises:
        ConfigError: a value is wrong, or unknown; the message has a sentence for each.
    """

    FURTHER: ClassVar[str] = ""
    """The field for all names without a field of their own; where there is none, they are refused."""

    @classmethod
    def _sources(cls, values: dict[str, Any]) -> list[GivenValue]:
        return [GivenValue(values)]


class ModelRoles(SettingsTable, frozen=True, kw_only=True):
    """Which model plays which role, first choice first, then its fallbacks; None where none is named."""

    simple: Annotated[ModelNames, Meta(description="models for triage and background")] = None
    analytical: Annotated[ModelNames, Meta(description="models for planning, orchestrating and research agents")] = None
    complex: Annotated[ModelNames, Meta(description="models that write the report")] = None
    judge: Annotated[
        ModelNames,
        Meta(description="models that judge claims; unset: one of another family than the writer, if you name one"),
    ] = None

    @property
    def models_by_role(self) -> dict[Role, tuple[str, ...]]:
        """The models of the roles that have some."""
        return {role: models for role in ROLES if (models := getattr(self, role)) is not None}


class CustomService(SettingsTable, frozen=True, kw_only=True):
    """A service which speaks OpenAI's chat completions, under a name of the user's."""

    url: Annotated[str, Meta(description="base of its API, with the version (http://127.0.0.1:8000/v1)"), check_address]
    key: Annotated[Key, Meta(description="its key, where it wants one")] = None


class ModelEntry(SettingsTable, frozen=True, kw_only=True):
    """The user's facts about a model, which come before those of Assay's table."""

    window: Annotated[int | None, Meta(ge=1_024, description="tokens of its context window")] = None
    max_output: Annotated[int | None, Meta(gt=0, description="most tokens of one reply")] = None
    reasoning: Annotated[bool | None, Meta(description="whether it reasons by itself before it answers")] = None
    input_price: Annotated[float | None, Meta(ge=0, description="US dollars for a million tokens of input")] = None
    output_price: Annotated[float | None, Meta(ge=0, description="US dollars for a million tokens of output")] = None
    cached_price: Annotated[float | None, Meta(ge=0, description="US dollars for a million tokens of cached input")] = (
        None
    )
    cache_write_price: Annotated[
        float | None, Meta(ge=0, description="US dollars for a million tokens of input written to a cache")
    ] = None

    def __post_init__(self) -> None:
        if (self.input_price is None) != (self.output_price is None):
            raise ValueError("input_price and output_price go together")


class Limits(SettingsTable, frozen=True, kw_only=True):
    """The limits of a run; unset is no limit beyond the depth's own."""

    time: Annotated[float | None, Meta(gt=0, description="active seconds a run may take")] = None
    tokens: Annotated[int | None, Meta(gt=0, description="tokens a run may use, input and output together")] = None
    usd: Annotated[float | None, Meta(gt=0, description="US dollars a run may spend")] = None
    searches: Annotated[int | None, Meta(gt=0, description="searches a run may make; each provider asked counts")] = (
        None
    )
    pages: Annotated[int | None, Meta(gt=0, description="documents and pages a run may open")] = None
    agents: Annotated[int | None, Meta(gt=0, description="research agents a run may send")] = None
    usd_per_day: Annotated[
        float | None, Meta(gt=0, description="US dollars all runs of the home may spend a day (UTC)")
    ] = None
    tokens_per_day: Annotated[int | None, Meta(gt=0, description="tokens all runs of the home may use a day (UTC)")] = (
        None
    )
    user_runs_per_day: Annotated[int | None, Meta(ge=0, description="runs one user may begin a day (UTC)")] = None
    user_usd_per_day: Annotated[
        float | None, Meta(gt=0, description="US dollars one user's runs may spend a day (UTC)")
    ] = None
    user_tokens_per_day: Annotated[int | None, Meta(gt=0, description="tokens one user's runs may use a day (UTC)")] = (
        None
    )
    user_runs_at_once: Annotated[
        int | None,
        Meta(ge=0, description="runs, and jobs, that one user may have queued or in execution; more are refused"),
    ] = None
    calls_at_once: Annotated[
        dict[ServiceName, Annotated[int, Meta(ge=1)]],
        Meta(description="calls a model provider gets at once from all runs and workers, by provider"),
    ] = {}


class Retention(SettingsTable, frozen=True, kw_only=True):
    """How long ended runs are kept; unset is for ever. `assay runs prune` and the end of each run go by it."""

    days: Annotated[float | None, Meta(gt=0, description="days to keep ended runs; unset: forever")] = None
    runs: Annotated[int | None, Meta(ge=0, description="number of ended runs to keep, newest first; unset: all")] = None
    gb: Annotated[float | None, Meta(gt=0, description="gigabytes of ended runs to keep, newest first; unset: all")] = (
        None
    )


class TimeoutSettings(SettingsTable, frozen=True, kw_only=True):
    """How long a model may keep a run waiting."""

    first_token: Annotated[float, Meta(gt=0, description="seconds a model may take to begin a reply")] = 60.0
    tokens: Annotated[float, Meta(gt=0, description="seconds between two tokens of a reply")] = 60.0
    report: Annotated[float, Meta(gt=0, description="seconds between two tokens of a report or of findings")] = 300.0
    total: Annotated[float, Meta(gt=0, description="seconds a whole reply may take")] = 1800.0


class WorkerSettings(SettingsTable, frozen=True, kw_only=True):
    """Processes which execute queued runs (`assay worker`)."""

    slots: Annotated[int, Meta(ge=1, le=1_000, description="runs a worker executes at once")] = 4
    jobs: Annotated[
        int, Meta(ge=0, le=100, description="jobs a worker executes at once (reading documents, computing vectors …)")
    ] = 1
    running: Annotated[
        int, Meta(ge=0, description="queued runs that all workers together execute at once; 0: no limit")
    ] = 0
    per_user: Annotated[int, Meta(ge=0, description="the same for one user; further runs wait; 0: no limit")] = 0
    lease: Annotated[
        float, Meta(ge=1, le=60, description="seconds after which other workers take over the runs of a silent worker")
    ] = 4.0


class DocumentSettings(SettingsTable, frozen=True, kw_only=True):
    """How documents are read."""

    max_file_mb: Annotated[float, Meta(gt=0, description="larger files are skipped, with a warning (megabytes)")] = (
        100.0
    )


class BundleSettings(SettingsTable, frozen=True, kw_only=True):
    """How much a bundle may hold for `assay verify` to check it."""

    max_mb: Annotated[float, Meta(gt=0, le=4_000, description="larger bundles are not verified (megabytes)")] = 1_000.0
    max_members: Annotated[int, Meta(ge=1, le=65_534, description="bundles with more members are not verified")] = (
        20_000
    )
    max_events: Annotated[int, Meta(ge=1, description="bundles with more events are not verified")] = 1_000_000
    max_seconds: Annotated[
        float, Meta(gt=0, description="seconds of processor time that verifying a bundle may take")
    ] = 120.0


class SigningSettings(SettingsTable, frozen=True, kw_only=True):
    """Signatures of bundles (`assay runs export --sign`, `assay verify`)."""

    key: Annotated[
        Key, Meta(description="secret key for signing bundles; create one with `assay keys sign create`")
    ] = None
    trusted: Annotated[
        dict[ServiceName, str], Meta(description="public keys of people whose signatures you trust, by name")
    ] = {}


class Log(SettingsTable, frozen=True, kw_only=True):
    """The log: its lines, and where they go."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(description="lowest level to log: debug, info, warning or error; debug may quote texts"),
    ] = "info"
    format: Annotated[Literal["text", "json"], Meta(description="how a line looks: text (name=value) or json")] = "text"
    file: Annotated[Path | None, expand_home, Meta(description="file to append the log to; unset: no log")] = None
    stderr: Annotated[bool, Meta(description="whether the log goes to stderr (-vv)")] = False
    stalls: Annotated[
        float | None,
        Meta(gt=0, description="for debugging: milliseconds after which the server logs what blocked its event loop"),
    ] = None


class Web(SettingsTable, frozen=True, kw_only=True):
    """How pages of the web are read."""

    timeout: Annotated[float, Meta(gt=0, description="seconds a page may take, redirects and all")] = 30.0
    max_mb: Annotated[float, Meta(gt=0, description="larger pages are not read (megabytes, unpacked)")] = 20.0
    robots: Annotated[bool, Meta(description="whether robots.txt is honoured")] = True
    allow: Annotated[
        tuple[str, ...],
        split_names,
        Meta(description="private hosts and networks that may be read (wiki.corp, 10.1.0.0/16)"),
    ] = ()
    browser: Annotated[
        Literal["auto", "off", "always"],
        Meta(description="pages rendered in a browser: auto (those without text before their scripts), off, always"),
    ] = "auto"
    chromium: Annotated[
        Path | None,
        expand_home,
        Meta(description="Chromium to render with; unset: playwright's own, else one on the path"),
    ] = None


class AgentSettings(SettingsTable, frozen=True, kw_only=True):
    """The tools of research agents."""

    tools: Annotated[tuple[str, ...], split_names, Meta(min_length=1, description="tools that agents may call")] = (
        "search",
        "open",
        "recall",
        "calculate",
    )


class SourceSettings(SettingsTable, frozen=True, kw_only=True):
    """Your opinion of sources, which wins over Assay's."""

    allow: Annotated[
        tuple[str, ...],
        split_names,
        Meta(description="hosts you trust, with their subdomains: their pages count as primary sources"),
    ] = ()
    deny: Annotated[
        tuple[str, ...], split_names, Meta(description="hosts never to read or cite, with their subdomains")
    ] = ()


class Aws(SettingsTable, frozen=True, kw_only=True):
    """Where and how Amazon Bedrock is asked, where that is not by an address and an API key."""

    region: Annotated[
        str,
        Meta(
            pattern=r"^[a-z0-9-]{0,32}\Z",
            title="the name of a region, like eu-west-1",
            description="region of Amazon Bedrock; also AWS_REGION, AWS_DEFAULT_REGION",
        ),
    ] = ""
    access_key_id: Annotated[Key, Meta(description="id of the key that signs requests; also AWS_ACCESS_KEY_ID")] = None
    secret_access_key: Annotated[Key, Meta(description="the key itself; also AWS_SECRET_ACCESS_KEY")] = None
    session_token: Annotated[
        Key, Meta(description="token of a session, with temporary keys; also AWS_SESSION_TOKEN")
    ] = None


class Keys(SettingsTable, frozen=True, kw_only=True):
    """Keys of providers, handed to adapters; never shown, stored with a run, or sent to a model.

    Adapters of other packages have theirs here too, by the names of their entry points.
    """

    FURTHER = "others"

    anthropic: Annotated[Key, Meta(description="key for adapters of Anthropic; also ANTHROPIC_API_KEY")] = None
    bedrock: Annotated[
        Key, Meta(description="API key of Amazon Bedrock; also AWS_BEARER_TOKEN_BEDROCK or BEDROCK_API_KEY")
    ] = None
    brave: Annotated[Key, Meta(description="key for adapters of Brave Search; also BRAVE_API_KEY")] = None
    cohere: Annotated[Key, Meta(description="key for adapters of Cohere; also COHERE_API_KEY")] = None
    exa: Annotated[Key, Meta(description="key for adapters of Exa; also EXA_API_KEY")] = None
    gemini: Annotated[Key, Meta(description="key for adapters of Google Gemini; also GEMINI_API_KEY")] = None
    google_search: Annotated[
        Key, Meta(description="key for Google's Programmable Search Engine; also GOOGLE_SEARCH_API_KEY")
    ] = None
    groq: Annotated[Key, Meta(description="key for adapters of Groq; also GROQ_API_KEY")] = None
    mistral: Annotated[Key, Meta(description="key for adapters of Mistral; also MISTRAL_API_KEY")] = None
    oidc: Annotated[Key, Meta(description="the server's secret at its OpenID provider; also OIDC_API_KEY")] = None
    openai: Annotated[Key, Meta(description="key for adapters of OpenAI; also OPENAI_API_KEY")] = None
    openrouter: Annotated[Key, Meta(description="key for adapters of OpenRouter; also OPENROUTER_API_KEY")] = None
    pubmed: Annotated[Key, Meta(description="key for PubMed (optional); also PUBMED_API_KEY")] = None
    semantic_scholar: Annotated[
        Key, Meta(description="key for Semantic Scholar (optional); also SEMANTIC_SCHOLAR_API_KEY")
    ] = None
    serper: Annotated[Key, Meta(description="key for adapters of Serper; also SERPER_API_KEY")] = None
    tavily: Annotated[Key, Meta(description="key for adapters of Tavily; also TAVILY_API_KEY")] = None

    others: dict[KeyHolder, Key] = {}

    def of(self, provider: str) -> Secret | None:
        """The key of a provider, ours or another package's; None where there is none."""
        key: Secret | None = getattr(self, provider) if provider in OWN_KEYS else self.others.get(provider)
        return key


OWN_KEYS = frozenset(Keys.__struct_fields__) - {Keys.FURTHER}
"""The providers whose keys have a field."""
