"""The tables of the settings file, and what their values may be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    model_validator,
)
from pydantic_settings import NoDecode

from assay.core.brief import read_length
from assay.core.errors import UsageError
from assay.core.languages import read_language


def names(value: object) -> object:
    """Accept `"first, second"` where a list of names is wanted."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def expanded(value: object) -> object:
    """A path with its `~` written out."""
    return Path(value).expanduser() if isinstance(value, str | Path) else value


def database(value: object) -> object:
    """The URL of a database; None for none, which is a file in the home."""
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    if not isinstance(text, str):
        return value
    text = text.strip()
    if text.lower() in ("", "none"):
        return None
    if not text.startswith(("postgresql://", "postgres://")):
        raise ValueError("wanted is postgresql://USER:PASSWORD@HOST/NAME, or none")
    return SecretStr(text)


def blobs(value: object) -> object:
    """A folder, or the address of an object store."""
    if not isinstance(value, str) or "://" not in value:
        return expanded(value)
    parts = urlsplit(value.strip())
    if parts.scheme not in ("s3", "gs", "az") or not parts.netloc:
        raise ValueError("wanted is a folder, or s3://BUCKET/PREFIX (gs:// and az:// are known too)")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("an address has no keys or options in it: those are read from the environment")
    return value.strip()


def length(value: object) -> object:
    """How long a report is to be: a name or a number of words."""
    try:
        return read_length(value) if isinstance(value, str | int) else value
    except UsageError as error:
        raise ValueError(str(error)) from None


def language(value: str) -> str:
    """The code of a language, or nothing."""
    try:
        return read_language(value) if value.strip() else ""
    except UsageError as error:
        raise ValueError(str(error)) from None


def _key(value: object) -> object:
    """A key without the white space around it, as environment files end with; None when nothing is left.

    What no header can carry is refused here, where the value is not repeated: a client's own error would show it.
    """
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    if not isinstance(text, str):
        return value
    text = text.strip()
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError("a key is printable ASCII without spaces; look at what was pasted")
    return SecretStr(text) if text else None


def address(value: str) -> str:
    """The base of an API."""
    try:
        parts = urlsplit(value)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or any(sign.isspace() or not sign.isprintable() for sign in value):
        raise ValueError("wanted is the base of an API, like http://127.0.0.1:8000/v1")
    return value


def _hidden(value: object) -> object:
    """A text which is not shown; None for an empty one."""
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    return (SecretStr(text.strip()) if text.strip() else None) if isinstance(text, str) else value


Key = Annotated[SecretStr | None, BeforeValidator(_key)]
Hidden = Annotated[SecretStr | None, BeforeValidator(_hidden)]
ServiceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
KeyHolder = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
ModelNames = Annotated[tuple[str, ...], NoDecode, BeforeValidator(names), Field(min_length=1)]


class SettingsTable(BaseModel):
    """A table of the settings file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelRoles(SettingsTable):
    """Which model plays which role, first choice first, then its fallbacks."""

    simple: ModelNames = Field(("extractive",), description="models for triage and background")
    analytical: ModelNames = Field(
        ("extractive",), description="models for planning, orchestrating and research agents"
    )
    complex: ModelNames = Field(("extractive",), description="models that write the report")
    judge: ModelNames = Field(
        ("extractive",),
        description="models that judge claims; unset: one of another family than the writer, if you name one",
    )


class CustomService(SettingsTable):
    """A service which speaks OpenAI's chat completions, under a name of the user's."""

    url: Annotated[str, AfterValidator(address)] = Field(
        description="base of its API, with the version (http://127.0.0.1:8000/v1)"
    )
    key: Key = Field(None, description="its key, where it wants one")


class ModelEntry(SettingsTable):
    """The user's facts about a model, which come before those of Assay's table."""

    window: int | None = Field(None, ge=1_024, description="tokens of its context window")
    max_output: int | None = Field(None, gt=0, description="most tokens of one reply")
    reasoning: bool | None = Field(None, description="whether it reasons by itself before it answers")
    input_price: float | None = Field(None, ge=0, description="US dollars for a million tokens of input")
    output_price: float | None = Field(None, ge=0, description="US dollars for a million tokens of output")
    cached_price: float | None = Field(None, ge=0, description="US dollars for a million tokens of cached input")
    cache_write_price: float | None = Field(
        None, ge=0, description="US dollars for a million tokens of input written to a cache"
    )

    @model_validator(mode="after")
    def _priced_whole(self) -> Self:
        if (self.input_price is None) != (self.output_price is None):
            raise ValueError("input_price and output_price go together")
        return self


class Limits(SettingsTable):
    """The limits of a run; unset is no limit beyond the depth's own."""

    time: float | None = Field(None, gt=0, description="active seconds a run may take")
    tokens: int | None = Field(None, gt=0, description="tokens a run may use, input and output together")
    usd: float | None = Field(None, gt=0, description="US dollars a run may spend")
    searches: int | None = Field(None, gt=0, description="searches a run may make; each provider asked counts")
    pages: int | None = Field(None, gt=0, description="documents and pages a run may open")
    agents: int | None = Field(None, gt=0, description="research agents a run may send")
    usd_per_day: float | None = Field(None, gt=0, description="US dollars all runs of the home may spend a day (UTC)")
    tokens_per_day: int | None = Field(None, gt=0, description="tokens all runs of the home may use a day (UTC)")
    user_runs_per_day: int | None = Field(None, ge=0, description="runs one user may begin a day (UTC)")
    user_usd_per_day: float | None = Field(None, gt=0, description="US dollars one user's runs may spend a day (UTC)")
    user_tokens_per_day: int | None = Field(None, gt=0, description="tokens one user's runs may use a day (UTC)")
    user_runs_at_once: int | None = Field(
        None,
        ge=0,
        description="runs, and jobs, that one user may have queued or in execution; more are refused",
    )
    calls_at_once: dict[ServiceName, Annotated[int, Field(ge=1)]] = Field(
        {}, description="calls a model provider gets at once from all runs and workers, by provider"
    )


class Retention(SettingsTable):
    """How long ended runs are kept; unset is for ever. `assay runs prune` and the end of each run go by it."""

    days: float | None = Field(None, gt=0, description="days to keep ended runs; unset: forever")
    runs: int | None = Field(None, ge=0, description="number of ended runs to keep, newest first; unset: all")
    gb: float | None = Field(None, gt=0, description="gigabytes of ended runs to keep, newest first; unset: all")


class TimeoutSettings(SettingsTable):
    """How long a model may keep a run waiting."""

    first_token: float = Field(60.0, gt=0, description="seconds a model may take to begin a reply")
    tokens: float = Field(60.0, gt=0, description="seconds between two tokens of a reply")
    report: float = Field(300.0, gt=0, description="seconds between two tokens of a report or of findings")
    total: float = Field(1800.0, gt=0, description="seconds a whole reply may take")


class WorkerSettings(SettingsTable):
    """Processes which execute queued runs (`assay worker`)."""

    slots: int = Field(4, ge=1, le=1_000, description="runs a worker executes at once")
    jobs: int = Field(
        1, ge=0, le=100, description="jobs a worker executes at once (reading documents, computing vectors …)"
    )
    running: int = Field(0, ge=0, description="queued runs that all workers together execute at once; 0: no limit")
    per_user: int = Field(0, ge=0, description="the same for one user; further runs wait; 0: no limit")
    lease: float = Field(
        4.0, ge=1, le=60, description="seconds after which other workers take over the runs of a silent worker"
    )


class DocumentSettings(SettingsTable):
    """How documents are read."""

    max_file_mb: float = Field(100.0, gt=0, description="larger files are skipped, with a warning (megabytes)")


class BundleSettings(SettingsTable):
    """How much a bundle may hold for `assay verify` to check it."""

    max_mb: float = Field(1_000.0, gt=0, le=4_000, description="larger bundles are not verified (megabytes)")
    max_members: int = Field(20_000, ge=1, le=65_534, description="bundles with more members are not verified")
    max_events: int = Field(1_000_000, ge=1, description="bundles with more events are not verified")
    max_seconds: float = Field(120.0, gt=0, description="seconds of processor time that verifying a bundle may take")


class SigningSettings(SettingsTable):
    """Signatures of bundles (`assay runs export --sign`, `assay verify`)."""

    key: Key = Field(None, description="secret key for signing bundles; create one with `assay keys sign create`")
    trusted: dict[ServiceName, str] = Field({}, description="public keys of people whose signatures you trust, by name")


class Log(SettingsTable):
    """The log: its lines, and where they go."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="lowest level to log: debug, info, warning or error; debug may quote texts"
    )
    format: Literal["text", "json"] = Field("text", description="how a line looks: text (name=value) or json")
    file: Annotated[Path | None, BeforeValidator(expanded)] = Field(
        None, description="file to append the log to; unset: no log"
    )
    stderr: bool = Field(False, description="whether the log goes to stderr (-vv)")
    stalls: float | None = Field(
        None, gt=0, description="for debugging: milliseconds after which the server logs what blocked its event loop"
    )


class Web(SettingsTable):
    """How pages of the web are read."""

    timeout: float = Field(30.0, gt=0, description="seconds a page may take, redirects and all")
    max_mb: float = Field(20.0, gt=0, description="larger pages are not read (megabytes, unpacked)")
    robots: bool = Field(True, description="whether robots.txt is honoured")
    allow: Annotated[tuple[str, ...], NoDecode, BeforeValidator(names)] = Field(
        (), description="private hosts and networks that may be read (wiki.corp, 10.1.0.0/16)"
    )
    browser: Literal["auto", "off", "always"] = Field(
        "auto", description="pages rendered in a browser: auto (those without text before their scripts), off, always"
    )
    chromium: Annotated[Path | None, BeforeValidator(expanded)] = Field(
        None, description="Chromium to render with; unset: playwright's own, else one on the path"
    )


class AgentSettings(SettingsTable):
    """The tools of research agents."""

    tools: Annotated[tuple[str, ...], NoDecode, BeforeValidator(names), Field(min_length=1)] = Field(
        ("search", "open", "recall", "calculate"),
        description="tools that agents may call",
    )


class SourceSettings(SettingsTable):
    """Your opinion of sources, which wins over Assay's."""

    allow: Annotated[tuple[str, ...], NoDecode, BeforeValidator(names)] = Field(
        (), description="hosts you trust, with their subdomains: their pages count as primary sources"
    )
    deny: Annotated[tuple[str, ...], NoDecode, BeforeValidator(names)] = Field(
        (), description="hosts never to read or cite, with their subdomains"
    )


class Aws(SettingsTable):
    """Where and how Amazon Bedrock is asked, where that is not by an address and an API key."""

    region: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{0,32}$")] = Field(
        "", description="region of Amazon Bedrock; also AWS_REGION, AWS_DEFAULT_REGION"
    )
    access_key_id: Key = Field(None, description="id of the key that signs requests; also AWS_ACCESS_KEY_ID")
    secret_access_key: Key = Field(None, description="the key itself; also AWS_SECRET_ACCESS_KEY")
    session_token: Key = Field(None, description="token of a session, with temporary keys; also AWS_SESSION_TOKEN")


class Keys(SettingsTable):
    """Keys of providers, handed to adapters; never shown, stored with a run, or sent to a model.

    Adapters of other packages have theirs here too, by the names of their entry points.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[KeyHolder, Key]

    anthropic: Key = Field(None, description="key for adapters of Anthropic; also ANTHROPIC_API_KEY")
    bedrock: Key = Field(
        None, description="API key of Amazon Bedrock; also AWS_BEARER_TOKEN_BEDROCK or BEDROCK_API_KEY"
    )
    brave: Key = Field(None, description="key for adapters of Brave Search; also BRAVE_API_KEY")
    cohere: Key = Field(None, description="key for adapters of Cohere; also COHERE_API_KEY")
    exa: Key = Field(None, description="key for adapters of Exa; also EXA_API_KEY")
    gemini: Key = Field(None, description="key for adapters of Google Gemini; also GEMINI_API_KEY")
    google_search: Key = Field(
        None, description="key for Google's Programmable Search Engine; also GOOGLE_SEARCH_API_KEY"
    )
    groq: Key = Field(None, description="key for adapters of Groq; also GROQ_API_KEY")
    mistral: Key = Field(None, description="key for adapters of Mistral; also MISTRAL_API_KEY")
    oidc: Key = Field(None, description="the server's secret at its OpenID provider; also OIDC_API_KEY")
    openai: Key = Field(None, description="key for adapters of OpenAI; also OPENAI_API_KEY")
    openrouter: Key = Field(None, description="key for adapters of OpenRouter; also OPENROUTER_API_KEY")
    pubmed: Key = Field(None, description="key for PubMed (optional); also PUBMED_API_KEY")
    semantic_scholar: Key = Field(
        None, description="key for Semantic Scholar (optional); also SEMANTIC_SCHOLAR_API_KEY"
    )
    serper: Key = Field(None, description="key for adapters of Serper; also SERPER_API_KEY")
    tavily: Key = Field(None, description="key for adapters of Tavily; also TAVILY_API_KEY")

    def of(self, provider: str) -> SecretStr | None:
        """The key of a provider, ours or another package's; None where there is none."""
        found: SecretStr | None = (dict(self) | (self.model_extra or {})).get(provider)
        return found
