"""Validates callers' arguments: texts, formats of files, rules of the web, names of documents, options by name."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, cast, get_args, get_origin

from assay import plugins
from assay.core.clean import error_words
from assay.core.errors import UnknownName, UnknownOption, UsageError
from assay.core.languages import read_country
from assay.core.lazy import regex
from assay.core.web_addresses import DATE_PATTERN, BadUrl, WebRules, date_range, is_below, parse_url
from assay.services.argument_types import (
    alternatives,
    check_types,
    describe_value,
    format_choices,
    is_one_of,
    is_storable,
)

MAX_ARGUMENT_BYTES = 8_000
"""Such a text is repeated in most calls of a run, and must leave room in a small window."""
_CONTROL = regex(r"[\x00-\x08\x0e-\x1f\x7f]")


def read_text_argument(value: str | Path | None, label: str, max_bytes: int = MAX_ARGUMENT_BYTES) -> str:
    """Return the text itself, or that of the file a `Path` names (UTF-8, with or without a BOM); "" for None.

    Raises:
        UsageError: the file cannot be read, or the text is empty, not text, or larger than `max_bytes` bytes.
    """
    if value is None or value == "":
        return ""
    data = _read(value, label, max_bytes) if isinstance(value, Path) else value.encode(errors="surrogatepass")
    if len(data) > max_bytes:
        raise UsageError(f"{_describe(value, label)} is too large: at most {max_bytes:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{_describe(value, label)} is not UTF-8 text: save it as UTF-8") from None
    if _CONTROL.search(text):
        raise UsageError(f"{_describe(value, label)} is not text: it has control characters")
    if not text.strip():
        raise UsageError(f"{_describe(value, label)} is empty: fill it, or leave it out")
    return text.strip()


def _read(path: Path, label: str, max_bytes: int) -> bytes:
    """The beginning of a file, enough to see that it is too large."""
    try:
        if path.exists() and not (path.is_file() or path.is_fifo()):  # a pipe: /dev/stdin, <(command)
            raise UsageError(f"{_describe(path, label)} is not a file: name one")
        with path.open("rb") as file:
            return file.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{_describe(path, label)} cannot be read ({error_words(error)}): check its name and permissions"
        ) from error


def _describe(value: str | Path, label: str) -> str:
    return f"the file of the {label} ({value})" if isinstance(value, Path) else f"the text of the {label}"


def suffix_of(path: Path) -> str:
    """The longest suffix of a file's name that is a format (".csl.json" before ".json"), "" for none."""
    name = path.name.lower()
    return max((suffix for suffix in plugins.names("exporters") if name.endswith(suffix)), key=len, default="")


def format_of(path: Path) -> str:
    """The format of a file.

    Raises:
        UnknownName: its name ends in none.
    """
    if suffix := suffix_of(path):
        return suffix
    hint = f"(it is the end of the file's name, {path.name})"
    raise UnknownName("format", path.suffix, plugins.names("exporters"), hint)


def check_format(suffix: str) -> None:
    """Check that a format can be made here.

    Raises:
        ConfigError: it needs an extra that is not installed.
    """
    ready = getattr(plugins.load("exporters", suffix), "ready", None)
    if ready is not None:
        ready()


# A user's words about the web as rules.


def make_rules(
    *,
    domains: Iterable[str] = (),
    denied: Iterable[str] = (),
    since: str = "",
    until: str = "",
    country: str = "",
    fresh: bool = False,
) -> WebRules:
    """Make rules from domains with or without `https://`, and days such as `2024`, `2024-05` or `2024-05-31`.

    Raises:
        UsageError: one cannot be read, `until` is before `since`, or a domain is both included and excluded.
    """
    rules = WebRules(
        domains=tuple(dict.fromkeys(map(_domain, domains))),
        denied=tuple(dict.fromkeys(map(_domain, denied))),
        since=_day(since, last=False),
        until=_day(until, last=True),
        country=read_country(country) if country.strip() else "",
        fresh=fresh,
    )
    if rules.since and rules.until and rules.until < rules.since:
        raise UsageError(f"--until {rules.until} is before --since {rules.since}")
    for domain in rules.domains:
        if any(is_below(domain, denied) for denied in rules.denied):
            raise UsageError(f"the domain {domain} is both included and excluded: name it once")
    return rules


def normalize_domains(domains: Iterable[str]) -> tuple[str, ...]:
    """Domains in the form used in addresses, each once.

    Raises:
        UsageError: one is not a domain.
    """
    return tuple(dict.fromkeys(map(_domain, domains)))


def _domain(text: str) -> str:
    """The host as addresses write it (lower case, Punycode)."""
    name = text.strip().removeprefix("*.").removeprefix(".")
    try:
        url = parse_url(name if name.lower().startswith(("http://", "https://")) else f"https://{name}/")
    except BadUrl as error:
        raise UsageError(f"{text[:80]!r} is not a domain ({error}): write one such as example.org") from error
    if url.target not in ("", "/") or "." not in url.host.strip("."):
        raise UsageError(f"{text[:80]!r} is not a domain: write one such as example.org")
    return url.host.lower()


def _day(text: str, *, last: bool) -> str:
    """A day as ISO 8601; for a year or a month its first or last day."""
    if not text.strip():
        return ""
    match = DATE_PATTERN.fullmatch(text.strip())
    try:
        days = date_range(match) if match else None
    except ValueError:
        days = None
    if days is None:
        raise UsageError(f"{text[:40]!r} is not a date: write a day (2024-05-31), a month (2024-05) or a year")
    return days[last]


# Callers' names of documents.

DEFAULT_COLLECTION = "default"
"""The collection of documents that were not put into another."""
ProgressLog = Callable[[str], None]
Sources = str | Path | Iterable[str | Path]


def source_names(sources: Sources) -> list[str]:
    """Sources as a list of their names."""
    return [str(sources)] if isinstance(sources, str | Path) else [str(path) for path in sources]


def sources_to_add(sources: Sources) -> list[str]:
    """Sources as a list of their names.

    Raises:
        UsageError: there are none.
    """
    if names := source_names(sources):
        return names
    raise UsageError("there is nothing to add: name a file, a folder or a page")


# Unknown options and values of a wrong type are refused at the call. A type checker sees the same in the signatures;
# this is for everyone else.

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def checked_methods(cls: type[T]) -> type[T]:
    """Check the arguments of all public methods of a class as `checked_keywords` does."""
    for name, member in list(vars(cls).items()):
        if inspect.isfunction(member) and not name.startswith("_") and not hasattr(member, "__wrapped__"):
            setattr(cls, name, checked_keywords()(member))
    return cls


def checked_keywords(type_path: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check the names of the keyword arguments, and the types of all arguments, of a function when it is called.

    Args:
        type_path: the `TypedDict` of its further keywords, as `module:name`; it is loaded at the first call.

    Raises (when it is called, or awaited):
        UnknownOption: it does not accept such a keyword.
        WrongType: a value is of a type that the argument does not take.
        UsageError: the value is not one of the words allowed for a keyword.
    """

    def decorator(function: Callable[P, R]) -> Callable[P, R]:
        parameters = inspect.signature(function).parameters.values()
        positional = [parameter.name for parameter in parameters if parameter.kind == parameter.POSITIONAL_OR_KEYWORD]
        names = (*positional, *(parameter.name for parameter in parameters if parameter.kind == parameter.KEYWORD_ONLY))

        def check(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
            if kwargs:
                check_keywords(_called_name(function, args), kwargs, names, type_path)
            usual = _usual_types(function)
            values = {**dict(zip(positional, args, strict=False)), **kwargs}
            unusual = {
                name: value
                for name, value in values.items()
                if name in usual and not (type(value) in usual[name] and is_storable(value))
            }
            if not unusual:
                return args, kwargs
            values |= check_types(unusual, _parameter_types(function), takes_none=False)
            given = [values[name] for name in positional[: len(args)]]
            return (*given, *args[len(given) :]), {name: values[name] for name in kwargs}

        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            checked_args, checked_kwargs = check(args, kwargs)
            return function(*checked_args, **checked_kwargs)

        async def awaited(*args: P.args, **kwargs: P.kwargs) -> Any:
            checked_args, checked_kwargs = check(args, kwargs)
            return await cast("Callable[..., Awaitable[Any]]", function)(*checked_args, **checked_kwargs)

        if inspect.iscoroutinefunction(function):
            return cast("Callable[P, R]", wraps(function)(awaited))
        return wraps(function)(wrapper)

    return decorator


@cache
def _usual_types(function: Callable[..., object]) -> dict[str, frozenset[type]]:
    """The classes of values that need no further look, by parameter: most calls have no others."""
    return {
        name: frozenset(part for part in alternatives(kind) if isinstance(part, type) and part is not float)
        for name, kind in _parameter_types(function).items()
    }


def _called_name(function: Callable[..., object], args: Sequence[object]) -> str:
    """The name by which a caller knows a function: a method under the class of its object."""
    if "." not in function.__qualname__:
        return function.__name__
    owner = type(args[0]).__name__
    return owner if function.__name__ == "__init__" else f"{owner}.{function.__name__}"


@cache
def _parameter_types(function: Callable[..., object]) -> dict[str, Any]:
    """The types of a function's parameters, except those whose names only a type checker knows.

    A parameter for one of several words may be any text: whoever reads it says which words there are.
    """
    kinds = dict[str, Any]()
    for name, annotation in function.__annotations__.items():
        if name == "return":
            continue
        with suppress(NameError):
            kind = eval(annotation, function.__globals__)  # noqa: S307  # the code's own annotations
            kinds[name] = str if get_origin(kind) is Literal else kind
    return kinds


def check_keywords(function_name: str, keywords: Mapping[str, object], names: Iterable[str], type_path: str) -> None:
    """Make sure that `function_name` accepts these keywords: it has those in `names`, and those of the `TypedDict` at
    `type_path`.

    Raises:
        UnknownOption: it does not accept such a keyword.
        UsageError: the value is not one of the words allowed for a keyword.
    """
    words = _allowed_values(type_path) if type_path else {}
    accepted = {name for name in names if name != "self"} | words.keys()
    for name, value in keywords.items():
        if name not in accepted:
            raise UnknownOption(function_name, name, accepted)
        allowed_values = words.get(name, ())
        if allowed_values and value is not None and not is_one_of(value, allowed_values):
            raise UsageError(f"{name} cannot be {describe_value(value)}: write {format_choices(allowed_values)}")


@cache
def _allowed_values(type_path: str) -> dict[str, tuple[object, ...]]:
    """The keys of a `TypedDict`, each with its allowed words; empty if other values are allowed."""
    module, _, name = type_path.partition(":")
    return {key: _literals(hint) for key, hint in typing.get_type_hints(getattr(import_module(module), name)).items()}


def _literals(hint: Any) -> tuple[object, ...]:
    """The words of `Literal[…]` or `Literal[…] | None`."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    if get_origin(hint) not in (Union, UnionType):  # a sequence of such words is checked by its reader
        return ()
    parts = [part for part in get_args(hint) if part is not type(None)]
    return _literals(parts[0]) if len(parts) == 1 else ()
