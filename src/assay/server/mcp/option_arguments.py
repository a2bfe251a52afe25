"""Options of a run as arguments of a tool: MCP derives a tool's schema from a function's signature."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter
from typing import Annotated, Any, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from assay.core.errors import UnknownOption
from assay.core.options import offered
from assay.core.run_options import RunOptions
from assay.server.option_fields import sent, unsaid

F = TypeVar("F", bound=Callable[..., Any])


def with_options(function: F) -> F:
    """Give a function that takes `**options` a signature with each option that MCP offers."""
    whole = inspect.signature(function, eval_str=True)
    named = [each for each in whole.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    options = [*_arguments()]
    changed = {each.name: each.annotation for each in (*named, *options)} | {"return": whole.return_annotation}
    function.__annotations__ = changed
    function.__signature__ = whole.replace(parameters=[*named, *options])  # type: ignore[attr-defined]
    return function


def _arguments() -> Iterable[Parameter]:
    for name, (each, offer) in offered(RunOptions, "mcp").items():
        kind = sent(each, offer.sent)
        described: Any = Annotated.__class_getitem__((kind, Field(description=offer.about)))  # type: ignore[attr-defined]
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=unsaid(kind), annotation=described)


def check_names(tool: str, given: Mapping[str, object], known: Iterable[str]) -> None:
    """Refuse a misspelt argument of the tool.

    Other names are passed over: clients add arguments of their own to every call.

    Raises:
        ToolError: as `UnknownOption` says it.
    """
    known = tuple(known)
    for name in given:
        if name not in known and difflib.get_close_matches(name, known, n=1):
            raise ToolError(str(UnknownOption(tool, name, known)))
