"""Loads what runs need before the first one, whose imports would otherwise block everything else in the process."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from importlib import import_module

from assay.core.assurance import states_absence
from assay.core.errors import AssayError
from assay.core.lazy import compile_all
from assay.core.lexicon import analysis_of, terms
from assay.core.options import declared_options
from assay.core.remote_services import tls_context
from assay.core.run_options import RunOptions
from assay.core.text import sentences, words
from assay.services import worlds
from assay.services.context import Context
from assay.verify.amounts import tokens

LOADED = (
    "assay.services.estimates",
    "assay.services.results",
    "assay.services.run_start",
    "assay.models.catalogue",
    "assay.search.web.http",
    "assay.verify.pipeline",
    "anyio._backends._asyncio",
    "babel.dates",
    "filelock",
    "h11",
    "httpcore2",
    "httpx2",
    "markdown_it",
    "rensa",
    "tantivy",
)
"""Modules that are otherwise loaded on first use."""
TEXT = "Élan, e.g. of Dr. Smith in 1843, was “great”. It was measured again; nobody knows by whom."
"""Makes tables and patterns that are made on first use."""


def warm(context: Context) -> None:
    """Load what runs with these settings need, including models and the web. Blocking; skips what is unavailable.

    Calls no service.
    """
    before = len(sys.modules)
    _load(context)
    if len(sys.modules) > before:
        gc.collect()  # else the first run does, which holds up every thread for 20 to 100 ms


def _load(context: Context) -> None:
    for name in LOADED:
        with suppress(ImportError):
            import_module(name)
    declared_options(RunOptions)
    settings = context.settings
    with suppress(AssayError):
        _ = context.pipeline_parts, context.engine, context.search
    for text in (TEXT, TEXT.encode("ascii", "ignore").decode()):
        words(text)
        list(sentences(text))
        states_absence(text)
        terms(text, analysis_of("en"))
        tokens(text)
    with suppress(AssayError):
        context.readers.page_extractors()
    for name in {name for names in settings.roles().values() for name in names}:
        with suppress(AssayError, ImportError):
            worlds.model(context, name)
    if not settings.search.offline:
        tls_context()
        tls_context(from_environment=True)
        with suppress(AssayError):
            context.online.warm()
    compile_all()
