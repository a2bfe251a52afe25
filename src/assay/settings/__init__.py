"""Settings: from the file `config.toml`, the environment, and nothing else. The only reader of `os.environ`.

Values passed in code override the environment, the environment overrides the file, and the file the defaults. A setting
`limits.tokens` is `tokens` under `[limits]` in the file and `ASSAY_LIMITS_TOKENS` in the environment.
"""

from __future__ import annotations

import importlib.util
import os
import tomllib
from collections.abc import Collection
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import platformdirs
from msgspec import Meta

from assay.core.brief import ROLES, Depth, Length, Mode, Role
from assay.core.claims import CHECKS, REPAIRS, RepairName
from assay.core.errors import ConfigError, UnknownName
from assay.core.lazy import regex
from assay.core.markers import CitationMode
from assay.core.ports.models import BUILT_IN, Secret, default_judges
from assay.settings import sections, texts
from assay.settings.environment import TerminalEnvironment as TerminalEnvironment
from assay.settings.environment import environment, variables
from assay.settings.environment import terminal_environment as terminal_environment
from assay.settings.environment import tracing_patience as tracing_patience
from assay.settings.environment import tracing_wanted as tracing_wanted
from assay.settings.reader import GivenValue, dotted_settings, make_table, variable_trees
from assay.settings.research import (
    Depths,
    EmbedderSettings,
    Mcp,
    SearchSettings,
    SpeculationSettings,
    default_number_text,
)
from assay.settings.sections import (
    OWN_KEYS,
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
FILE_ENCODING = "utf-8-sig"
"""UTF-8; editors of Windows write a mark before it."""
OTHER_KEYS = regex(r"keys\.[A-Za-z0-9_-]{1,64}")
OTHERS_KEY = "key for an adapter of another package"
Origin = Literal["default", "file", "environment"]


read_instead: ContextVar[Path | None] = ContextVar("read_instead", default=None)
"""A draft of the settings file, while a check loads it in place of the file."""


def config_path() -> Path:
    """The path of the settings file: `ASSAY_CONFIG`, else `assay/config.toml` in the user's config folder."""
    if (draft := read_instead.get()) is not None:
        return draft
    path_text = os.environ.get(f"{PREFIX}CONFIG", "")
    return Path(path_text).expanduser() if path_text else platformdirs.user_config_path("assay") / "config.toml"


def default_home() -> Path:
    """The user's data folder for Assay."""
    return platformdirs.user_data_path("assay")


def named_home() -> Path:
    """The home named in the environment, else the user's data folder; for callers that cannot read the settings."""
    home_text = os.environ.get(f"{PREFIX}HOME", "")
    return Path(home_text).expanduser() if home_text else default_home()


class Settings(SettingsTable, frozen=True, kw_only=True):
    """Every setting. `Settings(...)` takes values from code and the rest from the environment, the file, and defaults.

    Raises:
        ConfigError: a setting is unknown or has a bad value, or the file is not TOML; the message names the place.
    """

    home: Annotated[Path, texts.expand_home, Meta(description="folder of the library, the index and the runs")] = (
        msgspec.field(default_factory=default_home)
    )
    database: Annotated[
        Secret | None,
        texts.check_database,
        Meta(description="PostgreSQL database to use instead of the file in home; also DATABASE_URL; unset: the file"),
    ] = None
    blobs: Annotated[
        Path | str | None,
        texts.check_blobs,
        Meta(
            description="folder of stored files and pages, shared by workers, or s3://BUCKET/PREFIX; "
            "unset: blobs in home"
        ),
    ] = None
    blobs_cache_gb: Annotated[
        float, Meta(ge=0, le=100_000, description="how much of an object store (`blobs`) is kept in home, in GB")
    ] = 5.0
    mode: Annotated[Mode, Meta(description="how to answer: auto, simple, web_search or deep_research")] = "auto"
    depth: Annotated[Depth, Meta(description="how far to go: auto, light, medium or extended")] = "auto"
    strategy: Annotated[str, Meta(description="how the research phase works")] = "orchestrated"
    ask: Annotated[
        Literal["never", "optional", "required"],
        Meta(description="clarifying questions: never, optional (on a terminal), required (the run waits)"),
    ] = "optional"
    length: Annotated[
        Length, texts.parse_length, Meta(description="how long a report is: short, normal, long, or a number of words")
    ] = "normal"
    language: Annotated[
        str, Meta(description="language of reports (de, pt-BR); empty: that of the question"), texts.parse_language
    ] = ""
    citations: Annotated[CitationMode, Meta(description="how a report shows its citations")] = "numbers"
    verify: Annotated[bool, Meta(description="whether to check claims against their passages")] = True
    checks_off: Annotated[
        tuple[str, ...],
        texts.split_names,
        Meta(description="checks to switch off, added ones too: " + ", ".join(CHECKS)),
    ] = ()
    compare: Annotated[
        bool, Meta(description="whether to compare sources: where they disagree, which copy another")
    ] = True
    repair: Annotated[bool, Meta(description="whether to repair sentences that fail, or else remove them")] = True
    repairs_off: Annotated[
        tuple[RepairName, ...], texts.split_names, Meta(description="stages of repair to skip: " + ", ".join(REPAIRS))
    ] = ()
    model: Annotated[
        tuple[str, ...],
        texts.split_names,
        Meta(description="models for every role that [models] names none for (PROVIDER:NAME, then its fallbacks)"),
    ] = ()
    models: ModelRoles = ModelRoles()
    services: Annotated[
        dict[ServiceName, CustomService], Meta(description="more services that use OpenAI's format, by name")
    ] = {}
    catalogue: Annotated[dict[str, ModelEntry], Meta(description="what you know of models, by PROVIDER:NAME")] = {}
    depths: Depths = Depths()
    limits: Limits = Limits()
    timeouts: TimeoutSettings = TimeoutSettings()
    workers: WorkerSettings = WorkerSettings()
    server: ServerSettings = ServerSettings()
    documents: DocumentSettings = DocumentSettings()
    bundles: BundleSettings = BundleSettings()
    search: SearchSettings = SearchSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    mcp: Annotated[dict[ServiceName, Mcp], Meta(description="MCP servers to search too, by name")] = {}
    agents: sections.AgentSettings = sections.AgentSettings()
    sources: SourceSettings = SourceSettings()
    speculation: SpeculationSettings = SpeculationSettings()
    web: Web = Web()
    log: Log = Log()
    notify: Annotated[
        sections.Hidden, Meta(description="command or address to notify when a run ends or needs an answer (--notify)")
    ] = None
    retention: sections.Retention = sections.Retention()
    keys: Keys = Keys()
    aws: Aws = Aws()
    signing: SigningSettings = SigningSettings()

    def roles(self) -> dict[Role, tuple[str, ...]]:
        """The models of every role: those in `models` if it names some, else `model`, else the built-in one.

        An unnamed judge is of another family than the writer, if any configured model is (`core.ports.models`).
        """
        named_models, usual = self.models.models_by_role, self.model or (BUILT_IN,)
        models = {role: named_models.get(role, usual) for role in ROLES}
        return models if self.names_judge else models | {"judge": default_judges(models)}

    @property
    def names_judge(self) -> bool:
        """True if the settings name the judge."""
        return self.models.judge is not None

    @classmethod
    def _sources(cls, values: dict[str, Any]) -> list[GivenValue]:
        return [GivenValue(values), *(source for _, source in _outer_sources())]


def load(**values: Any) -> Settings:
    """Load the settings: `values` override the environment, which overrides the file, which overrides the defaults.

    Raises:
        ConfigError: a setting is unknown or has a bad value, or the file is not TOML; the message names the place.
    """
    return Settings(**values)


def _outer_sources() -> list[tuple[Origin, GivenValue]]:
    """Our variables, the providers' own, the file. No `.env`, because a folder's files must not configure us."""
    location = " (in the environment)"
    ours = [GivenValue(tree, location, variable=True) for tree in variable_trees(Settings, variables(PREFIX))]
    theirs: dict[str, Any] = {"keys": _native_keys(), "aws": _native_aws(), **_native_database()}
    native = GivenValue({name: value for name, value in theirs.items() if value}, location)
    path = config_path()
    file = GivenValue(_file_values(path), f" (in {path})")
    return [*(("environment", source) for source in (*ours, native)), ("file", file)]


def _file_values(path: Path) -> dict[str, Any]:
    try:
        if path.is_dir():
            raise ConfigError(f"{path} is a folder and should be a file: move it away, or set ASSAY_CONFIG")
        return tomllib.loads(path.read_text(encoding=FILE_ENCODING)) if path.is_file() else {}
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not text in UTF-8: save it as UTF-8") from error
    except ValueError as error:  # not TOML, or a number of thousands of digits
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
    fields = dict(dotted_settings(Settings))
    other_keys = {f"keys.{name}" for name in (*settings.keys.others, *holders)} - fields.keys()
    origins, usual = _origins((*fields, *other_keys)), make_table(Settings)
    return [
        Setting(
            name=name,
            value=_display_value(settings, name),
            default=_default_text(usual, name) if name in fields else "",
            origin=origins.get(name, "default"),
            description=fields[name].description if name in fields else OTHERS_KEY,
            secret=name.startswith("keys.") or name in ("database", "signing.key", "server.metrics_token"),
        )
        for name in (*fields, *sorted(other_keys))
    ]


def default_text(name: str) -> str:
    """The default of a setting in the form for readers."""
    return _default_text(make_table(Settings), name)


def _default_text(usual: Settings, name: str) -> str:
    match name.split("."):
        case ["depths", "light" | "medium" | "extended" as depth, number]:
            return default_number_text(depth, number)
    return _display_value(usual, name)


def names() -> tuple[str, ...]:
    """Every setting's dotted name."""
    return tuple(name for name, _ in dotted_settings(Settings))


def parse(name: str, text: str) -> object:
    """Check `text`, and return it as a value for setting `name` in the settings file.

    Raises:
        UnknownName: there is no such setting; the message offers the nearest.
        ConfigError: the setting does not accept this value, or is a table.
    """
    fields = dict(dotted_settings(Settings))
    table = name.rpartition(".")[0]
    if name not in fields and any(
        field.is_mapping and name.startswith(f"{field_name}.") for field_name, field in fields.items()
    ):
        raise ConfigError(f"{name} is in a table: write [{table}] and its entries below it into {config_path()}")
    if name not in fields and not OTHER_KEYS.fullmatch(name):
        raise UnknownName("setting", name, fields)
    if name in fields and fields[name].is_mapping:
        raise ConfigError(f"{name} is a table: write [{name}] and its entries below it into {config_path()}")
    nested: Any = text
    for part in reversed(name.split(".")):
        nested = {part: nested}
    loaded = load(**nested)
    value = _setting_value(loaded, name)
    if isinstance(value, Secret):
        return value.reveal()
    if isinstance(value, tuple):
        return [str(part) for part in value]
    return str(value) if isinstance(value, Path) else value


def _native_keys() -> dict[str, str]:
    environ = environment()
    keys = {name: environ.get(f"{name.upper()}_API_KEY", "") for name in OWN_KEYS}
    keys["bedrock"] = environ.get("AWS_BEARER_TOKEN_BEDROCK", "") or keys["bedrock"]
    return {name: value for name, value in keys.items() if value}


def _native_aws() -> dict[str, str]:
    environ = environment()
    values = {name: environ.get(f"AWS_{name.upper()}", "") for name in Aws.__struct_fields__}
    values["region"] = values["region"] or environ.get("AWS_DEFAULT_REGION", "")
    return {name: value for name, value in values.items() if value}


def _native_database() -> dict[str, str]:
    """The database variable that hosting services set, if it names one we support; without the extra it is ignored."""
    url = environment().get("DATABASE_URL", "")
    ours = url.startswith(("postgresql://", "postgres://")) and importlib.util.find_spec("psycopg") is not None
    return {"database": url} if ours else {}


def _setting_value(settings: Settings, name: str) -> object:
    value: object = settings
    for part in name.split("."):
        value = value.of(part) if isinstance(value, Keys) else getattr(value, part)
    return value


def _display_value(settings: Settings, name: str) -> str:
    value = _setting_value(settings, name)
    if value is None and name.startswith("models."):
        return BUILT_IN
    return _setting_text(value)


def _setting_text(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case tuple() | dict():
            return ", ".join(str(part) for part in value)
        case _:
            return str(value)


def _origins(names: Collection[str]) -> dict[str, Origin]:
    """The origin of each setting that is not at its default."""
    origins: dict[str, Origin] = {}
    for origin, source in reversed(_outer_sources()):
        origins |= dict.fromkeys((name for name in names if _has_setting(source, name.split("."))), origin)
    return origins


def location_text(name: str) -> str:
    """Where a setting is stated, as messages end: " (in /…/config.toml)"; "" if it is at its default or from code."""
    return next((source.place for _, source in _outer_sources() if _has_setting(source, name.split("."))), "")


def _has_setting(source: GivenValue, path: list[str]) -> bool:
    """True if a source has the setting at `path`."""
    for part in path:
        table = source.as_table()
        if table is None or part not in table.value:
            return False
        source = table.entry(part)
    return True
