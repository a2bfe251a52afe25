"""Checks the program: release, clock, settings, models, adapters, extras, terminal."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import msgspec

import assay
from assay import plugins, settings
from assay.app.embeddings import load_embedder
from assay.core.errors import ConfigError, ModelError, ModelFailed, UnknownName
from assay.core.ports import DescribableModel, Model
from assay.fetch.browser import find_installed
from assay.services.configuration import check_tools
from assay.services.privacy import is_local
from assay.services.providers import describe_local_models, load_model, local_models, set_model_command
from assay.settings import Settings

# Results of checks.

State = Literal["ok", "note", "broken"]
STATES: tuple[State, ...] = ("ok", "note", "broken")
"""From best to worst."""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """A check: `ok`, a `note` (works, but could be better), or `broken`; what was found, and how to fix it."""

    name: str
    state: State
    said: str
    fix: str = ""


def ok_diagnosis(name: str, detail: str) -> Diagnosis:
    """Nothing to do."""
    return Diagnosis(name=name, state="ok", said=detail)


def note_diagnosis(name: str, detail: str, fix: str = "") -> Diagnosis:
    """It works; this is worth knowing."""
    return Diagnosis(name=name, state="note", said=detail, fix=fix)


def broken_diagnosis(name: str, detail: str, fix: str) -> Diagnosis:
    """It does not work until this is fixed."""
    return Diagnosis(name=name, state="broken", said=detail, fix=fix)


EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "office": (("python_calamine", "docx", "pptx"), "Word, PowerPoint and spreadsheet files {can} be read"),
    "docx": (("docx",), "reports {can} be written as Word files (.docx)"),
    "pdf": (("typst",), "reports {can} be written as PDF files (.pdf)"),
}
"""Extras by name: the modules each provides, and its purpose."""
LOAD_SECONDS = 20
_LOAD = "import sys; from assay import plugins; plugins.load(sys.argv[1], sys.argv[2])"
_DAY = 86_400
_NAMED = 8
"""Models listed of those a server has."""
GOOD_WINDOW = 8_192
"""Tokens of a window with which reports need not be shortened much."""
_LARGER_WINDOW = (
    "start its server with 16,384 or more (Ollama: OLLAMA_CONTEXT_LENGTH; LM Studio: the context length; "
    "llama.cpp: -c; vLLM: --max-model-len)"
)
_OTHER_MODEL = "assay models lists what can be used; assay config set model PROVIDER:NAME"


def check_release() -> Diagnosis:
    """Assay, Python and SQLite."""
    detail = f"Assay {version('assay')}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < (3, 35):
        return broken_diagnosis("release", detail, "use a Python with SQLite 3.35 or later")
    return ok_diagnosis("release", detail)


def check_clock() -> Diagnosis:
    """Check that the clock is later than the program's own files."""
    installed_at = Path(assay.__file__).stat().st_mtime
    detail = f"the clock says {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    if time.time() < installed_at - _DAY:
        return broken_diagnosis(
            "clock", f"{detail}, which is before Assay was installed", "set the clock: reports are dated by it"
        )
    return ok_diagnosis("clock", detail)


def check_configuration(config: Settings) -> Diagnosis:
    """The origin of the settings, whose values are known to be valid; and whether the tools they name are there."""
    path = settings.config_path()
    try:
        check_tools(config.agents.tools)
    except UnknownName as error:
        return broken_diagnosis(
            "settings", f"agents.tools: {error}", "assay config set agents.tools, with tools that are there"
        )
    return ok_diagnosis("settings", f"{path} is valid" if path.exists() else f"defaults ({path} is not there)")


async def check_models(config: Settings) -> list[Diagnosis]:
    """Check that every model with a role can be used; a local model's server is asked for its list."""
    roles = config.roles().values()
    diagnoses = [await _model(config, name) for name in sorted({name for names in roles for name in names})]
    if available := await local_models(config):
        diagnoses.append(
            note_diagnosis(
                "local", f"{describe_local_models(available)}, and no model is set", set_model_command(available)
            )
        )
    return diagnoses


async def _model(config: Settings, name: str) -> Diagnosis:
    try:
        model = load_model(config, name)
        try:
            offered = await model.offered() if model.profile.local else ()
            window = await _window(config, name, model)
        finally:
            await model.close()
    except (ConfigError, UnknownName, ModelError, ModelFailed) as error:
        return broken_diagnosis("model", f"{name}: {error}", _OTHER_MODEL)
    if offered and name not in offered and f"{name}:latest" not in offered:
        has = ", ".join(offered[:_NAMED]) + (", …" if len(offered) > _NAMED else "")
        return broken_diagnosis("model", f"{name}: its server has no model of that name; it has {has}", _OTHER_MODEL)
    if 0 < window < GOOD_WINDOW:
        return note_diagnosis("model", f"{name} is ready, but its window has only {window:,} tokens", _LARGER_WINDOW)
    return ok_diagnosis("model", f"{name} is ready")


async def _window(config: Settings, name: str, model: Model) -> int:
    """The window of a local model, as the settings or its server say; 0 if they do not."""
    if not (model.profile.local and isinstance(model, DescribableModel)):
        return 0
    entry = config.catalogue.get(name)
    if entry is not None and entry.window:
        return entry.window
    return (await model.described(load=False)).window or 0


def check_embedder(config: Settings) -> Iterator[Diagnosis]:
    """Check that the embedder in the settings can be created, and where texts go; it is not called."""
    name = config.embedder.model
    if not name:
        return
    try:
        embedder = load_embedder(config, name)
    except (ConfigError, UnknownName) as error:
        yield broken_diagnosis(
            "embedder", f"{name}: {error}", "set embedder.model, or leave it empty to search by words alone"
        )
        return
    is_here = is_local(config, name, local=embedder.local)
    embedder.close()
    if is_here:
        yield ok_diagnosis("embedder", f"{name} is ready, on this machine")
    elif config.embedder.allow_private:
        yield note_diagnosis(
            "embedder", f"{name} is ready; it receives all documents, private ones too (embedder.allow_private)"
        )
    else:
        yield ok_diagnosis("embedder", f"{name} is ready, elsewhere: it receives no private documents")


def check_browser(config: Settings) -> Iterator[Diagnosis]:
    """Check that pages that need JavaScript can be read: the extra, and a Chromium; none is started."""
    web = config.web
    if web.browser == "off":
        return
    browser_path = "" if web.chromium is None else str(web.chromium)
    diagnose = broken_diagnosis if web.browser == "always" else note_diagnosis
    if importlib.util.find_spec("playwright") is None:
        yield diagnose("browser", "pages that need JavaScript cannot be read", "pip install 'assay[browser]'")
    elif browser_path and not shutil.which(browser_path):
        fix = "set web.chromium to a Chromium, or to nothing for the one on the path"
        yield broken_diagnosis("browser", f"{browser_path} (web.chromium) is not there, or cannot be executed", fix)
    elif not browser_path and not (browser_path := find_installed()):
        detail = "there is no Chromium: pages that need JavaScript cannot be read"
        yield diagnose("browser", detail, "playwright install chromium, or set web.chromium to one")
    else:
        yield ok_diagnosis("browser", f"pages that need JavaScript are read with {browser_path}")


def unused_limits(config: Settings) -> Iterator[Diagnosis]:
    """Limits for unknown providers: they have no effect, although they look as if they did."""
    providers = {*plugins.names("models"), *config.services}
    if unknown := sorted(set(config.limits.calls_at_once) - providers):
        detail = f"limits.calls_at_once names no provider: {', '.join(unknown)}"
        yield note_diagnosis(
            "limits", detail, "a provider is the part before the colon of a model's name (assay models)"
        )


def check_adapters() -> Diagnosis:
    """Check that every adapter loads. Those of other packages are loaded in a separate process, since they may do
    anything.
    """
    failures, count = list[str](), 0
    for group in plugins.GROUPS:
        for name in plugins.names(group):
            count += 1
            if wrong := _failure(group, name):
                failures.append(wrong)
    if failures:
        return broken_diagnosis("adapters", "; ".join(failures), "update or uninstall the package that brings it")
    return ok_diagnosis("adapters", f"all {count} load")


def _failure(group: plugins.PluginGroup, name: str) -> str:
    """Why an adapter does not load, empty if it does."""
    if plugins.origin(group, name).startswith("assay."):
        try:
            plugins.load(group, name)
        except ConfigError as error:
            return str(error)
        return ""
    adapter = f"{plugins.NOUNS[group]} {name!r} ({plugins.origin(group, name)})"
    command = [sys.executable, "-c", _LOAD, group, name]
    try:
        process = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LOAD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{adapter} takes more than {LOAD_SECONDS} s to load"
    lines = process.stderr.decode(errors="replace").strip().splitlines()
    why = lines[-1] if lines else f"it ends the process with {process.returncode}"
    return f"{adapter} cannot be loaded: {why}" if process.returncode else ""


def check_extras() -> Iterator[Diagnosis]:
    """Which optional parts are installed."""
    for name, (modules, purpose) in EXTRAS.items():
        if all(importlib.util.find_spec(module) for module in modules):
            yield ok_diagnosis(name, purpose.format(can="can"))
        else:
            yield note_diagnosis(name, purpose.format(can="cannot"), f"pip install 'assay[{name}]'")


def check_terminal() -> Iterator[Diagnosis]:
    """The text that may be shown on stdout."""
    encoding = (getattr(sys.stdout, "encoding", "") or "none").lower()
    screen = sys.stdout is not None and sys.stdout.isatty()
    color = "colour" if screen and settings.terminal_environment().color else "no colour"
    detail = (
        f"{'a terminal' if screen else 'no terminal'}, {encoding}, {color}, {shutil.get_terminal_size().columns} wide"
    )
    if encoding.replace("-", "") != "utf8":
        yield note_diagnosis("terminal", detail, "set LANG=C.UTF-8 or PYTHONUTF8=1: other letters are shown as ?")
    else:
        yield ok_diagnosis("terminal", detail)
