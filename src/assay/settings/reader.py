"""Reads a table of settings: each setting from the first source that has it, checked against its type.

A table is a msgspec struct, and the type of a field says all about a setting:

    tokens: Annotated[int | None, Meta(gt=0, description="tokens a run may use")] = None
    allow: Annotated[tuple[str, ...], names, Meta(description="private hosts that may be read")] = ()

Functions before `Meta` change a value before its type is checked, functions after it the checked one. Either may refuse
it with a ValueError. No message repeats a value, because it may be a key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from assay.core.errors import ConfigError, UnknownName
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.ports.models import Secret

Table = TypeVar("Table", bound=msgspec.Struct)

TRUE = frozenset(("1", "true", "t", "yes", "y", "on"))
FALSE = frozenset(("0", "false", "f", "no", "n", "off"))


class GivenValue(msgspec.Struct, frozen=True):
    """What a source has for a setting or a table. `place` names the source in messages, and is empty for code.

    `variable`: it is from the environment, where everything is text and a table is JSON.
    """

    value: Any
    place: str = ""
    variable: bool = False

    def entry(self, name: str) -> GivenValue:
        """What it has for `name`."""
        return GivenValue(self.value[name], self.place, self.variable)

    def as_table(self) -> GivenValue | None:
        """It as a table; None if it is none."""
        value = self.value
        if self.variable and isinstance(value, str):
            try:
                value = msgspec.json.decode(value)
            except DECODE_ERRORS:
                return None
        return GivenValue(value, self.place, self.variable) if isinstance(value, Mapping) else None


class SettingField(msgspec.Struct, frozen=True):
    """What the type of a field says: `kind` is the type alone, `metas` its bounds and its description."""

    kind: Any
    metas: tuple[msgspec.Meta, ...] = ()
    before: tuple[Callable[[Any], Any], ...] = ()
    after: tuple[Callable[[Any], Any], ...] = ()

    def limit(self, name: str) -> Any:
        """A bound (`ge`, `pattern` …) or text (`description`, `title`) of the type; None without one."""
        return next((value for meta in self.metas if (value := getattr(meta, name)) is not None), None)

    @property
    def description(self) -> str:
        return self.limit("description") or ""

    @property
    def is_table(self) -> bool:
        """True if it has fields of its own."""
        return isinstance(self.kind, msgspec.StructMeta)

    @property
    def is_mapping(self) -> bool:
        """True if it has entries by names of the user's."""
        return get_origin(self.kind) is dict


def read_table(table: type[Table], sources: Sequence[GivenValue]) -> Table:
    """Read a table; a setting comes from the first of `sources` that has it.

    Raises:
        ConfigError: settings are unknown, missing or wrong; the message has a sentence for each.
    """
    reader = _TableReader(table)
    result: Table = reader.table(table, sources, "")
    if reader.faults:
        raise ConfigError("; ".join(dict.fromkeys(reader.faults)))
    return result


def make_table(table: type[Table], **values: Any) -> Table:
    """Make a table of checked values; all others are at their defaults.

    Raises:
        ValueError: they exclude one another.
    """
    result: Table = msgspec.StructMeta.__call__(table, **values)
    return result


@cache
def fields_of(table: type[msgspec.Struct]) -> Mapping[str, SettingField]:
    """The fields of a table, in order."""
    hints = get_type_hints(table, include_extras=True)
    return {name: _field(hints[name]) for name in table.__struct_fields__}


def dotted_settings(table: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[str, SettingField]]:
    """Every setting of a table and of the tables in it, by its dotted name."""
    for name, field in fields_of(table).items():
        if field.is_table:
            yield from dotted_settings(field.kind, f"{prefix}{name}.")
        elif name != getattr(table, "FURTHER", ""):
            yield prefix + name, field


def variable_trees(table: type[msgspec.Struct], variables: Mapping[str, str]) -> list[dict[str, Any]]:
    """Variables (`limits_tokens`, without a prefix) as nested tables: those of single settings before those of tables.

    What begins with no table's name is left out: it is another program's.
    """
    trees_by_depth: dict[int, dict[str, Any]] = {}
    for name, text in variables.items():
        path = _variable_path(table, name)
        if path[0] not in fields_of(table):
            continue
        branch = trees_by_depth.setdefault(len(path), {})
        for part in path[:-1]:
            branch = branch.setdefault(part, {})
        branch[path[-1]] = text
    return [trees_by_depth[length] for length in sorted(trees_by_depth, reverse=True)]


def _variable_path(table: type[msgspec.Struct], name: str, above: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The names of the tables and of the setting that a variable means."""
    fields = fields_of(table)
    for start, field in fields.items() if name not in fields else ():
        if name.startswith(f"{start}_") and name != f"{start}_":
            remainder = name.removeprefix(f"{start}_")
            if field.is_table:
                return _variable_path(field.kind, remainder, (*above, start))
            if field.is_mapping and not above:
                return (start, remainder)
    return (*above, name)


def _field(annotation: Any) -> SettingField:
    if get_origin(annotation) is not Annotated:
        return SettingField(annotation)
    kind, *notes = get_args(annotation)
    metas = tuple(note for note in notes if isinstance(note, msgspec.Meta))
    first = notes.index(metas[0]) if metas else len(notes)
    after = tuple(note for note in notes[first:] if not isinstance(note, msgspec.Meta))
    return SettingField(kind, metas, tuple(notes[:first]), after)


class _TableReader:
    """The reading of one table, with the faults found so far."""

    def __init__(self, root: type[msgspec.Struct]) -> None:
        self.faults: list[str] = []
        self._root = root

    def table(self, kind: type[msgspec.Struct], sources: Sequence[GivenValue], prefix: str) -> Any:
        """A table at `prefix` (`limits.`); None after a fault."""
        names = dict.fromkeys(name for source in sources for name in source.value)
        fields, faults = fields_of(kind) if names else {}, len(self.faults)
        further: str = getattr(kind, "FURTHER", "")
        values: dict[str, Any] = {}
        extra: dict[Any, list[GivenValue]] = {}
        for name in names:
            given_values = [source.entry(name) for source in sources if name in source.value]
            if name in fields and name != further:
                values[name] = self._read_value(fields[name], given_values, f"{prefix}{name}")
            elif further:
                extra[name] = given_values
            else:
                self.faults.append(f"{self._unknown_setting(f'{prefix}{name}', fields, prefix)}{given_values[0].place}")
        if extra:
            values[further] = self._read_entries(fields[further], extra, prefix)
        location = sources[0].place if sources else ""
        self.faults += [
            f"setting {prefix}{name}: it is missing{location}" for name in _required_fields(kind) if name not in values
        ]
        if len(self.faults) > faults:
            return None
        try:
            return make_table(kind, **values)
        except ValueError as error:
            self.faults.append(f"setting {prefix.rstrip('.')}: {error}{location}")
            return None

    def _read_value(self, field: SettingField, given_values: Sequence[GivenValue], path: str) -> Any:
        if field.is_table or field.is_mapping:
            return self._read_holder(field, given_values, path)
        try:
            return _convert(field, given_values[0].value)
        except ValueError as error:
            self.faults.append(f"setting {path}: {error}{given_values[0].place}")
            return None

    def _read_holder(self, field: SettingField, given_values: Sequence[GivenValue], path: str) -> Any:
        """A table, or entries by name: each source adds what those before it do not have, until one has no table."""
        if field.is_table and isinstance(given_values[0].value, field.kind):
            return given_values[0].value
        tables: list[GivenValue] = []
        for source in given_values:
            table = source.as_table()
            if table is None:
                break
            tables.append(table)
        if not tables:
            text = " as JSON" if given_values[0].variable else ""
            self.faults.append(f"setting {path}: expected a table{text}{given_values[0].place}")
            return None
        if field.is_table:
            return self.table(field.kind, tables, f"{path}.")
        names = dict.fromkeys(name for source in tables for name in source.value)
        entries = {name: [source.entry(name) for source in tables if name in source.value] for name in names}
        return self._read_entries(field, entries, f"{path}.")

    def _read_entries(
        self, field: SettingField, entries: Mapping[Any, Sequence[GivenValue]], prefix: str
    ) -> dict[str, Any]:
        key, value = map(_field, get_args(field.kind))
        values: dict[str, Any] = {}
        for name, given_values in entries.items():
            try:
                values[_convert(key, name)] = self._read_value(value, given_values, f"{prefix}{name}")
            except ValueError as error:
                self.faults.append(f"setting {prefix}{name}: {error}{given_values[0].place}")
        return values

    def _unknown_setting(self, name: str, fields: Mapping[str, Any], prefix: str) -> UnknownName:
        names = [
            *(setting_name for setting_name, _ in dotted_settings(self._root)),
            *(f"{prefix}{setting_name}" for setting_name in fields),
        ]
        return UnknownName("setting", name, dict.fromkeys(names))


def _required_fields(table: type[msgspec.Struct]) -> list[str]:
    """The fields without a default, which are before or among those with one."""
    names, defaults = table.__struct_fields__, table.__struct_defaults__
    first = len(names) - len(defaults)
    pairs = zip(names[first:], defaults, strict=True)
    return [*names[:first], *(name for name, default in pairs if default is msgspec.NODEFAULT)]


# A value, as its type wants it.


def _convert(field: SettingField, value: Any) -> Any:
    """The value of a setting.

    Raises:
        ValueError: it is not as wanted.
    """
    for change in field.before:
        value = change(value)
    try:
        value = _fit_union(field, value)
    except (ValueError, OverflowError, msgspec.ValidationError):
        raise ValueError(f"expected {accepted_values(field)}") from None
    if value is not None:
        for change in field.after:
            value = change(value)
    return value


def _fit_union(field: SettingField, value: Any) -> Any:
    """`value` as the first type of a union that it fits; an endless limit is none."""
    arms = get_args(field.kind)
    if NoneType in arms and (value is None or (float in arms and _is_endless(value))):
        return None
    for arm in sorted(_union_types(field.kind), key=lambda arm: arm is not type(value)):
        try:
            return _fit_one(field, arm, value)
        except (ValueError, OverflowError, msgspec.ValidationError):
            continue
    return _reject()


def _fit_one(field: SettingField, kind: Any, value: Any) -> Any:
    if kind is Secret or kind is Path:
        return value if isinstance(value, kind) else kind(value) if isinstance(value, str) else _reject()
    if get_origin(kind) is tuple:
        if not isinstance(value, list | tuple | set | frozenset) or len(value) < (field.limit("min_length") or 0):
            return _reject()
        inner = _field(get_args(kind)[0])
        return tuple(_convert(inner, item) for item in value)
    if isinstance(value, str):
        value = _parse_scalar(kind, value.strip()) if kind in (bool, int, float) else value
    elif kind is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, float) and not math.isfinite(value):
        return _reject()  # it cannot be stored with a run
    bounded_type = Annotated[(kind, *field.metas)] if kind in (int, float, str) and field.metas else kind
    return msgspec.convert(value, bounded_type, strict=kind is not bool)


def _is_endless(value: object) -> bool:
    try:
        return isinstance(value, str | float) and float(value) == math.inf
    except ValueError:
        return False


def _parse_scalar(kind: Any, text: str) -> bool | int | float:
    if kind is bool:
        return text.lower() in TRUE if text.lower() in TRUE | FALSE else _reject()
    try:
        return int(text) if kind is int else float(text)
    except ValueError:
        number = float(text)
        return int(number) if number.is_integer() else _reject()


def _reject() -> NoReturn:
    raise ValueError


def _union_types(kind: Any) -> tuple[Any, ...]:
    """The types of a union, besides None; a type by itself."""
    arms = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return tuple(arm for arm in arms if arm is not NoneType)


# What is wanted, in words.


def accepted_values(field: SettingField) -> str:
    """What a setting accepts: "a whole number from 1 to 50", "auto, light or medium"."""
    title: str | None = field.limit("title")
    return title or " or ".join(_accepted_words(field, arm) for arm in _union_types(field.kind))


def _accepted_words(field: SettingField, kind: Any) -> str:
    if get_origin(kind) is Literal:
        *leading, last = get_args(kind)
        return f"{', '.join(leading)} or {last}" if leading else str(last)
    if get_origin(kind) is tuple:
        suffix = "" if field.limit("min_length") is None else ", not empty"
        return f"a list of {accepted_values(_field(get_args(kind)[0]))}{suffix}"
    if kind in (int, float):
        return f"a {'whole ' if kind is int else ''}number{_range(field)}"
    return {bool: "true or false", Path: "a path"}.get(kind, "text")


def _range(field: SettingField) -> str:
    low, above, high = (field.limit(name) for name in ("ge", "gt", "le"))
    if low is not None and high is not None:
        return f" from {low:,} to {high:,}"
    if low is not None:
        return f" of at least {low:,}"
    if above is None:
        return "" if high is None else f" of at most {high:,}"
    return f" above {above:,}" if high is None else f" above {above:,} and at most {high:,}"
