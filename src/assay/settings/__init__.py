"""Settings: from the file `config.toml`, the environment, and nothing else. The only reader of `os.environ`.

Values passed in code override the environment, the environment overrides the file, and the file the defaults. A setting
`limits.tokens` is `tokens` under `[limits]` in the file and `ASSAY_LIMITS_TOKENS` in the environment.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, SecretStr, ValidationError
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

from assay.core.brief import ROLES, Depth, Length, Mode, Role
from assay.core.claims import CHECKS, REPAIRS, RepairName
from assay.core.errors import ConfigError, UnknownName
from assay.core.markers import CitationMode
from assay.core.ports.models import judges
from assay.settings import sections
from assay.settings.environment import TerminalEnvironment as TerminalEnvironment
from assay.settings.environment import surroundings as surroundings
from assay.settings.environment import tracing_patience as tracing_patience
from assay.settings.environment import tracing_wanted as tracing_wanted
from assay.settings.research import Depths, EmbedderSettings, Mcp, SearchSettings, SpeculationSettings, default_of
from assay.settings.sections import (
    Aws,
    BundleSettings,
    CustomService,
    DocumentSettings,
    Keys,
    Limits,
    Log,
    ModelEntry,
    ModelRoles,
    ServiceName,
    SettingsTable,
    SigningSettings,
    SourceSettings,
    TimeoutSettings,
    Web,
    WorkerSettings,
)
from assay.settings.server import ServerSettings

PREFIX = "ASSAY_"
OTHERS = re.compile(r"keys\.[A-Za-z0-9_-]{1,64}")
OTHERS_KEY = "key for an adapter of another package"
Origin = Literal["default", "file", "environment"]


read_instead: ContextVar[Path | None] = ContextVar("read_instead", default=None)
"""A draft of the settings file, while a check loads it in place of the file."""


def config_path() -> Path:
    """The path of the settings file: `ASSAY_CONFIG`, else `assay/config.toml` in the user's config folder."""
    if (draft := read_instead.get()) is not None:
        return draft
    named = os.environ.get(f"{PREFIX}CONFIG", "")
    return Path(named).expanduser() if named else platformdirs.user_config_path("assay") / "config.toml"


def default_home() -> Path:
    """The user's data folder for Assay."""
    return platformdirs.user_data_path("assay")


def named_home() -> Path:
    """The home named in the environment, else the user's data folder; for callers that cannot read the settings."""
    named = os.environ.get(f"{PREFIX}HOME", "")
    return Path(named).expanduser() if named else default_home()


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

    home: Annotated[Path, BeforeValidator(sections.expanded)] = Field(
        default_factory=default_home, description="folder of the library, the index and the runs"
    )
    database: Annotated[SecretStr | None, BeforeValidator(sections.database)] = Field(
        None, description="PostgreSQL database to use instead of the file in home; also DATABASE_URL; unset: the file"
    )
    blobs: Annotated[Path | str | None, BeforeValidator(sections.blobs)] = Field(
        None,
        description="folder of stored files and pages, shared by workers, or s3://BUCKET/PREFIX; unset: blobs in home",
    )
    blobs_cache_gb: float = Field(
        5.0, ge=0, le=100_000, description="how much of an object store (`blobs`) is kept in home, in GB"
    )
    mode: Mode = Field("auto", description="how to answer: auto, simple, web_search or deep_research")
    depth: Depth = Field("auto", description="how far to go: auto, light, medium or extended")
    strategy: str = Field("orchestrated", description="how the research phase works")
    ask: Literal["never", "optional", "required"] = Field(
        "optional", description="clarifying questions: never, optional (on a terminal), required (the run waits)"
    )
    length: Annotated[Length, BeforeValidator(sections.length)] = Field(
        "normal", description="how long a report is: short, normal, long, or a number of words"
    )
    language: Annotated[str, AfterValidator(sections.language)] = Field(
        "", description="language of reports (de, pt-BR); empty: that of the question"
    )
    citations: CitationMode = Field("numbers", description="how a report shows its citations")
    verify: bool = Field(True, description="whether to check claims against their passages")
    checks_off: Annotated[tuple[str, ...], NoDecode, BeforeValidator(sections.names)] = Field(
        (), description="checks to switch off, added ones too: " + ", ".join(CHECKS)
    )
    compare: bool = Field(True, description="whether to compare sources: where they disagree, which copy another")
    repair: bool = Field(True, description="whether to repair sentences that fail, or else remove them")
    repairs_off: Annotated[tuple[RepairName, ...], NoDecode, BeforeValidator(sections.names)] = Field(
        (), description="stages of repair to skip: " + ", ".join(REPAIRS)
    )
    model: Annotated[tuple[str, ...], NoDecode, BeforeValidator(sections.names)] = Field(
        (), description="models for every role that [models] names none for (PROVIDER:NAME, then its fallbacks)"
    )
    models: ModelRoles = ModelRoles()
    services: dict[ServiceName, CustomService] = Field(
        {}, description="more services that use OpenAI's format, by name"
    )
    catalogue: dict[str, ModelEntry] = Field({}, description="what you know of models, by PROVIDER:NAME")
    depths: Depths = Depths()
    limits: Limits = Limits()
    timeouts: TimeoutSettings = TimeoutSettings()
    workers: WorkerSettings = WorkerSettings()
    server: ServerSettings = ServerSettings()
    documents: DocumentSettings = DocumentSettings()
    bundles: BundleSettings = BundleSettings()
    search: SearchSettings = SearchSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    mcp: dict[ServiceName, Mcp] = Field({}, description="MCP servers to search too, by name")
    agents: sections.AgentSettings = sections.AgentSettings()
    sources: SourceSettings = SourceSettings()
    speculation: SpeculationSettings = SpeculationSettings()
    web: Web = Web()
    log: Log = Log()
    notify: sections.Hidden = Field(
        None, description="command or address to notify when a run ends or needs an answer (--notify)"
    )
    retention: sections.Retention = sections.Retention()
    keys: Keys = Keys()
    aws: Aws = Aws()
    signing: SigningSettings = SigningSettings()

    def roles(self) -> dict[Role, tuple[str, ...]]:
        """The models of every role: those in `models` if it names some, else `model`, else the built-in one.

        An unnamed judge is of another family than the writer, if any configured model is (`core.ports.models`).
        """
        chosen = {role: getattr(self.models, role) for role in ROLES}
        if self.model:
            chosen |= {role: self.model for role in ROLES if role not in self.models.model_fields_set}
        return chosen if self.names_judge else chosen | {"judge": judges(chosen)}

    @property
    def names_judge(self) -> bool:
        """True if the settings name the judge."""
        return "judge" in self.models.model_fields_set

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The sources: code, our variables, the providers' own, the file. No `.env`, because a folder's files must not
        configure us.
        """
        native = InitSettingsSource(settings_cls, {"keys": _native_keys(), "aws": _native_aws(), **_native_database()})
        return init_settings, env_settings, native, TomlConfigSettingsSource(settings_cls, config_path())


def load(**values: Any) -> Settings:
    """Load the settings: `values` override the environment, which overrides the file, which overrides the defaults.

    Raises:
        ConfigError: a setting is unknown or has a bad value, or the file is not TOML; the message names the place.
    """
    path = config_path()
    try:
        if path.is_dir():
            raise ConfigError(f"{path} is a folder and should be a file: move it away, or set ASSAY_CONFIG")
        return Settings(**values)
    except ValidationError as error:
        raise ConfigError(_explain(error, f" (in {path} or the environment)")) from error
    except ValueError as error:  # not TOML, not UTF-8, or a number of thousands of digits
        raise ConfigError(f"{path} is not valid TOML: {error}; correct that line") from error
    except RecursionError as error:
        raise ConfigError(f"{path} cannot be read: it is nested too deep: write it with fewer levels") from error
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read ({error.strerror}): check its permissions, or set ASSAY_CONFIG"
        ) from error


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as `assay config` shows it; a secret's value is `***` when it is set. `name` is dotted."""

    name: str
    value: str
    default: str
    origin: Origin
    description: str
    secret: bool


def describe(settings: Settings, holders: Collection[str] = ()) -> list[Setting]:
    """Every setting with its value and its origin, in the order of definition, then keys of other packages.

    `holders` are adapters of other packages, which are listed even without a key.
    """
    origins, others = _origins(), {f"keys.{name}" for name in (*(settings.keys.model_extra or {}), *holders)}
    fields = dict(_fields(Settings))
    return [
        Setting(
            name=name,
            value=_setting_text(_value(settings, name)),
            default=_default(name, fields[name]) if name in fields else "",
            origin=origins.get(name, "default"),
            description=(fields[name].description or "") if name in fields else OTHERS_KEY,
            secret=name.startswith("keys.") or name in ("database", "signing.key"),
        )
        for name in (*fields, *sorted(others - fields.keys()))
    ]


def _default(name: str, field: FieldInfo) -> str:
    match name.split("."):
        case ["depths", "light" | "medium" | "extended" as depth, number]:
            return default_of(depth, number)
    return _setting_text(field.get_default(call_default_factory=True, validated_data={}))


def names() -> tuple[str, ...]:
    """Every setting's dotted name."""
    return tuple(name for name, _ in _fields(Settings))


def parse(name: str, text: str) -> object:
    """Check `text`, and return it as a value for setting `name` in the settings file.

    Raises:
        UnknownName: there is no such setting; the message offers the nearest.
        ConfigError: the setting does not accept this value, or is a table.
    """
    fields = dict(_fields(Settings))
    if name not in fields and not OTHERS.fullmatch(name):
        raise UnknownName("setting", name, fields)
    if name in fields and isinstance(fields[name].default, dict):
        raise ConfigError(f"{name} is a table: write [{name}] and its entries below it into {config_path()}")
    given: Any = text
    for part in reversed(name.split(".")):
        given = {part: given}
    checked = load(**given)
    value = _value(checked, name)
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Path) else value


def _native_keys() -> dict[str, str]:
    found = {name: os.environ.get(f"{name.upper()}_API_KEY", "") for name in Keys.model_fields}
    found["bedrock"] = os.environ.get("AWS_BEARER_TOKEN_BEDROCK", "") or found["bedrock"]
    return {name: value for name, value in found.items() if value}


def _native_aws() -> dict[str, str]:
    found = {name: os.environ.get(f"AWS_{name.upper()}", "") for name in Aws.model_fields}
    found["region"] = found["region"] or os.environ.get("AWS_DEFAULT_REGION", "")
    return {name: value for name, value in found.items() if value}


def _native_database() -> dict[str, str]:
    """The database variable that hosting services set, if it names one we support; without the extra it is ignored."""
    found = os.environ.get("DATABASE_URL", "")
    ours = found.startswith(("postgresql://", "postgres://")) and importlib.util.find_spec("psycopg") is not None
    return {"database": found} if ours else {}


def _fields(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, SettingsTable):
            yield from _fields(field.annotation, f"{prefix}{name}.")
        else:
            yield prefix + name, field


def _value(settings: BaseModel, name: str) -> object:
    value: object = settings
    for part in name.split("."):
        value = value.of(part) if isinstance(value, Keys) else getattr(value, part)
    return value


def _setting_text(value: object) -> str:
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
    """The origin of each setting that is not at its default."""
    file = _flat(TomlConfigSettingsSource(Settings, config_path())())
    environment = _flat(EnvSettingsSource(Settings)()) | {f"keys.{name}": "" for name in _native_keys()}
    environment |= {f"aws.{name}": "" for name in _native_aws()} | _native_database()
    environment = {
        re.sub(r"^(depths\.[a-z]+|server\.oidc)_", r"\1.", name): value for name, value in environment.items()
    }
    origins: dict[str, Origin] = dict.fromkeys(file, "file")
    return origins | dict.fromkeys(environment, "environment")


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in values.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {prefix + name: value}
    return flat


def _explain(error: ValidationError, where: str = "") -> str:
    """One sentence for each wrong setting; values are never repeated, because they may be keys."""
    return "; ".join(
        _unknown(".".join(map(str, problem["loc"])))
        if problem["type"] == "extra_forbidden"
        else f"setting {'.'.join(map(str, problem['loc']))}: {problem['msg']}{where}"
        for problem in error.errors(include_input=False, include_url=False)
    )


def _unknown(name: str) -> str:
    return f"{UnknownName('setting', name, names())} (in {config_path()} or the environment)"
