"""Settings: the file `config.toml`, the environment, and nothing else. The only reader of `os.environ`.

What is passed in code beats the environment, the environment beats the file, the file beats the defaults.
A setting `limits.tokens` is `tokens` under `[limits]` in the file and `ASSAY_LIMITS_TOKENS` in the environment.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from assay.core.brief import ROLES, Depth, Mode, Role
from assay.core.errors import ConfigError, UnknownName
from assay.core.markers import CitationMode

PREFIX = "ASSAY_"
Origin = Literal["default", "file", "environment"]


def config_path() -> Path:
    """Where the settings file is, or would be: `ASSAY_CONFIG`, else `assay/config.toml` in the user's config folder."""
    named = os.environ.get(f"{PREFIX}CONFIG", "")
    return Path(named).expanduser() if named else platformdirs.user_config_path("assay") / "config.toml"


def default_home() -> Path:
    """The user's data folder for Assay."""
    return platformdirs.user_data_path("assay")


def _names(value: object) -> object:
    """Accept `"first, second"` where a list of names is wanted."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _expanded(value: object) -> object:
    return Path(value).expanduser() if isinstance(value, str | Path) else value


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


def _url(value: str) -> str:
    try:
        parts = urlsplit(value)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or any(sign.isspace() or not sign.isprintable() for sign in value):
        raise ValueError("wanted is the base of an API, like http://127.0.0.1:8000/v1")
    return value


Key = Annotated[SecretStr | None, BeforeValidator(_key)]
ServiceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
ModelNames = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_names), Field(min_length=1)]


class Section(BaseModel):
    """A table of the settings file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Models(Section):
    """Which model plays which role, first choice first, then its fallbacks."""

    simple: ModelNames = Field(("extractive",), description="models for triage and background")
    analytical: ModelNames = Field(
        ("extractive",), description="models for planning, orchestrating and research agents"
    )
    complex: ModelNames = Field(("extractive",), description="models which write the report")
    judge: ModelNames = Field(("extractive",), description="models which judge claims")


class Service(Section):
    """A service which speaks OpenAI's chat completions, under a name of the user's."""

    url: Annotated[str, AfterValidator(_url)] = Field(
        description="base of its API, with the version (http://127.0.0.1:8000/v1)"
    )
    key: Key = Field(None, description="its key, where it wants one")


class ModelEntry(Section):
    """What the user knows of a model; before what Assay's table says."""

    window: int | None = Field(None, ge=1_024, description="tokens of its context window")
    max_output: int | None = Field(None, gt=0, description="most tokens of one reply")
    reasoning: bool | None = Field(None, description="whether it reasons by itself before it answers")
    input_price: float | None = Field(None, ge=0, description="US dollars for a million tokens of input")
    output_price: float | None = Field(None, ge=0, description="US dollars for a million tokens of output")
    cached_price: float | None = Field(None, ge=0, description="US dollars for a million tokens of cached input")

    @model_validator(mode="after")
    def _priced_whole(self) -> Self:
        if (self.input_price is None) != (self.output_price is None):
            raise ValueError("input_price and output_price go together")
        return self


class Limits(Section):
    """What a run may take; unset is no limit beyond the depth's own."""

    time: float | None = Field(None, gt=0, description="active seconds a run may take")
    tokens: int | None = Field(None, gt=0, description="tokens a run may use, input and output together")


class DocumentSettings(Section):
    """How documents are read."""

    max_file_mb: float = Field(100.0, gt=0, description="larger files are skipped, with a warning (megabytes)")


class Keys(Section):
    """Keys of providers, handed to adapters; never shown, stored with a run, or sent to a model."""

    anthropic: Key = Field(None, description="key for adapters of Anthropic; also ANTHROPIC_API_KEY")
    bedrock: Key = Field(None, description="API key of Amazon Bedrock; also BEDROCK_API_KEY")
    brave: Key = Field(None, description="key for adapters of Brave Search; also BRAVE_API_KEY")
    cohere: Key = Field(None, description="key for adapters of Cohere; also COHERE_API_KEY")
    exa: Key = Field(None, description="key for adapters of Exa; also EXA_API_KEY")
    gemini: Key = Field(None, description="key for adapters of Google Gemini; also GEMINI_API_KEY")
    groq: Key = Field(None, description="key for adapters of Groq; also GROQ_API_KEY")
    mistral: Key = Field(None, description="key for adapters of Mistral; also MISTRAL_API_KEY")
    openai: Key = Field(None, description="key for adapters of OpenAI; also OPENAI_API_KEY")
    openrouter: Key = Field(None, description="key for adapters of OpenRouter; also OPENROUTER_API_KEY")
    tavily: Key = Field(None, description="key for adapters of Tavily; also TAVILY_API_KEY")


class Settings(BaseSettings):
    """Every setting. `Settings(...)` takes values from code; `load()` is the usual way in.

    Raises:
        pydantic.ValidationError: a value is wrong (`load` turns it into a `ConfigError` with a sentence).
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="_",
        env_nested_max_split=1,
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
    )

    home: Annotated[Path, BeforeValidator(_expanded)] = Field(
        default_factory=default_home, description="folder of the library, the index and the runs"
    )
    mode: Mode = Field("auto", description="how to answer: auto, simple, web_search or deep_research")
    depth: Depth = Field("auto", description="how far to go: auto, light, medium or extended")
    strategy: str = Field("orchestrated", description="how the research phase works")
    ask: Literal["never", "optional", "required"] = Field("never", description="whether a run may ask you questions")
    citations: CitationMode = Field("numbers", description="how a report shows its citations")
    verify: bool = Field(True, description="whether claims are checked against their passages")
    model: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_names)] = Field(
        (), description="models for every role that [models] names none for (PROVIDER:NAME, then its fallbacks)"
    )
    models: Models = Models()
    services: dict[ServiceName, Service] = Field(
        {}, description="further services which speak OpenAI's format, by name"
    )
    catalogue: dict[str, ModelEntry] = Field({}, description="what you know of models, by PROVIDER:NAME")
    limits: Limits = Limits()
    documents: DocumentSettings = DocumentSettings()
    keys: Keys = Keys()

    def roles(self) -> dict[Role, tuple[str, ...]]:
        """The models of every role: those of `models` where it names some, else `model`, else the built-in one."""
        chosen = {role: getattr(self.models, role) for role in ROLES}
        if self.model:
            chosen |= {role: self.model for role in ROLES if role not in self.models.model_fields_set}
        return chosen

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Code, our variables, the providers' own, the file. No `.env`: a folder's files are not ours to obey."""
        native = InitSettingsSource(settings_cls, {"keys": _native_keys()})
        return init_settings, env_settings, native, TomlConfigSettingsSource(settings_cls, config_path())


def load(**values: Any) -> Settings:
    """The settings now: `values` over the environment over the file over the defaults.

    Raises:
        ConfigError: a setting is unknown or has a bad value, or the file is not TOML; the message names the place.
    """
    path = config_path()
    try:
        if path.is_dir():
            raise ConfigError(f"{path} is a folder, and should be a file: move it away, or set ASSAY_CONFIG")
        return Settings(**values)
    except ValidationError as error:
        raise ConfigError(_explain(error, f" (in {path} or the environment)")) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as `assay config` shows it; a secret's value is `***` when it is set. `name` is dotted."""

    name: str
    value: str
    default: str
    origin: Origin
    description: str
    secret: bool


def describe(settings: Settings) -> list[Setting]:
    """Every setting with its value and where that comes from, in the order of definition."""
    origins = _origins()
    return [
        Setting(
            name=name,
            value=_shown(_value(settings, name)),
            default=_shown(field.get_default(call_default_factory=True, validated_data={})),
            origin=origins.get(name, "default"),
            description=field.description or "",
            secret=name.startswith("keys."),
        )
        for name, field in _fields(Settings)
    ]


def names() -> tuple[str, ...]:
    """Every setting's dotted name."""
    return tuple(name for name, _ in _fields(Settings))


def parse(name: str, text: str) -> object:
    """`text` as a value the settings file may hold for setting `name`, checked.

    Raises:
        UnknownName: there is no such setting; the message offers the nearest.
        ConfigError: the setting does not take this value.
    """
    if name not in names():
        raise UnknownName("setting", name, names())
    section, _, key = name.rpartition(".")
    checked = load(**({section: {key: text}} if section else {key: text}))
    value = _value(checked, name)
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Path) else value


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the environment says about the terminal: may we use colour, may we ask."""

    color: bool
    interactive: bool


def surroundings() -> Surroundings:
    """Colour unless `NO_COLOR` or a dumb terminal; questions unless `CI` or a dumb terminal."""
    dumb = os.environ.get("TERM", "") == "dumb"
    ci = os.environ.get("CI", "").lower() not in ("", "0", "false")
    return Surroundings(color=not dumb and not os.environ.get("NO_COLOR"), interactive=not dumb and not ci)


def _native_keys() -> dict[str, str]:
    found = {name: os.environ.get(f"{name.upper()}_API_KEY", "") for name in Keys.model_fields}
    return {name: value for name, value in found.items() if value}


def _fields(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from _fields(field.annotation, f"{prefix}{name}.")
        else:
            yield prefix + name, field


def _value(settings: BaseModel, name: str) -> object:
    value: object = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def _shown(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case SecretStr():
            return "***"
        case tuple() | dict():
            return ", ".join(str(part) for part in value)
        case _:
            return str(value)


def _origins() -> dict[str, Origin]:
    """Where each setting which is not at its default comes from."""
    file = _flat(TomlConfigSettingsSource(Settings, config_path())())
    environment = _flat(EnvSettingsSource(Settings)()) | {f"keys.{name}": "" for name in _native_keys()}
    origins: dict[str, Origin] = dict.fromkeys(file, "file")
    return origins | dict.fromkeys(environment, "environment")


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in values.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {prefix + name: value}
    return flat


def _explain(error: ValidationError, where: str = "") -> str:
    """One sentence for each wrong setting; a value is never repeated, since it may be a key."""
    return "; ".join(
        _unknown(".".join(map(str, problem["loc"])))
        if problem["type"] == "extra_forbidden"
        else f"setting {'.'.join(map(str, problem['loc']))}: {problem['msg']}{where}"
        for problem in error.errors(include_input=False, include_url=False)
    )


def _unknown(name: str) -> str:
    return f"{UnknownName('setting', name, names())} (in {config_path()} or the environment)"
