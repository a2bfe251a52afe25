"""Writes docs/errors.md: every message with which Assay raises an error, by class, out of the source.

Run `python scripts/generate_errors.py` after changing one. A test compares, and wants each to say what to do.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from assay.cli.main import _exit_for
from assay.core import errors
from assay.core.errors import AssayError
from assay.core.ways import suggest_command
from assay.server.problems import _ERRORS, _TITLES

ROOT = Path(__file__).parents[1]
SOURCE, TARGET = ROOT / "src" / "assay", ROOT / "docs" / "errors.md"
INTRODUCTION = """\
# Errors

*Written by `scripts/generate_errors.py` from the source; do not edit.*

Look up an error message of Assay here, by its class. Words in braces are placeholders. On the command line a message is
one line on stderr (`assay: …`), with the exit code of its class; over HTTP it is the `detail` of a problem, with the
status; in Python it is `str(error)`. A message says what happened and, after a colon or a semicolon, what to do. The
last part lists reasons: they reach a model, a report's limits, or another message that says what to do. Every message
about an unknown name offers the nearest one, or lists the known ones.

A bug is none of these: it ends a command with `assay: internal error`, exit code 1, and a request with status 500. If
it is in the code of another package, the message names that package, and a run fails with `PluginFailed`.
"""
ADVISING = (
    errors.UsageError,
    errors.StoreError,
    errors.NothingSearched,
    errors.ModelUnusable,
    errors.PluginFailed,
)
"""Errors which a person gets as they are."""
PLAIN = {"NotStored", "FenceLost"}
"""Stores' errors which the engine catches."""
FINDINGS = {"export/bundle/__init__", "export/bundle/contents", "store/blobs", "store/sql/commits"}
"""Modules whose errors are caught, and told as findings or with the fix."""
_ADVICE = re.compile(
    r"\b(?:set|use|name|give|write|choose|start|install|try|check|add|remove|correct|update|restore|free|make|open|run|"
    r"assay|ask|call|wait|leave|take|put|get|allow|begin|save|up to|at most|at least|from|next|must|needs?|only|"
    r"there is|there are|mean|instead|again|look|migrate|move|fork|resume|delete|clone|download|copy|keep|say|send|"
    r"characters|below|export|first)\b|--\w+|pip |\bhas 1 to ",
    re.IGNORECASE,
)


class Message(NamedTuple):
    """A message: the class it is raised as, its text with what is filled in in braces, and its module."""

    kind: str
    text: str
    module: str


@cache
def messages() -> tuple[Message, ...]:
    """Every message of the source, each once, by class, module and place."""
    found = [message for path in sorted(SOURCE.rglob("*.py")) for message in _of_module(path)]
    return tuple(sorted(dict.fromkeys(found), key=lambda each: (each.kind, each.module)))


@cache
def classes() -> Mapping[str, type[AssayError]]:
    """The classes of errors by name."""
    members = vars(errors).items()
    return {name: kind for name, kind in members if isinstance(kind, type) and issubclass(kind, AssayError)}


def _of_module(path: Path) -> Iterator[Message]:
    source = path.read_text(encoding="utf-8")
    if not any(f"{name}(" in source for name in classes()):
        return
    tree = ast.parse(source)
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Constant)
    }
    module = path.relative_to(SOURCE).with_suffix("").as_posix()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in classes() and node.args:
            kind, message = node.func.id, node.args[0]
            if issubclass(classes()[kind], errors.UnknownName):
                continue  # the class says it
            text = _template(constants.get(message.id, message) if isinstance(message, ast.Name) else message)
            if len(re.sub(r"\{[^}]*\}", "", text).split()) > 1:
                yield Message(kind, text, module)


def _template(node: ast.expr) -> str:
    """The text of an expression; what is filled in stands in braces, by the last name in it."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_template(value) for value in values)
        case ast.FormattedValue(
            value=ast.Call(func=ast.Name(id="suggest_command"), args=[ast.Constant(value=str(action)), name])
        ):
            return suggest_command(action, f"{{{_name(name)}}}")  # as the terminal words it
        case ast.FormattedValue(value=value):
            return f"{{{_name(value)}}}"
        case ast.BinOp(left=left, right=right, op=ast.Add()):
            return _template(left) + _template(right)
        case _:
            return f"{{{_name(node)}}}"


def _name(node: ast.expr) -> str:
    if re.search(r"hint|advice|SUPPORTED", ast.unparse(node)):
        return "hint"
    names = re.findall(r"[A-Za-z_]\w*", ast.unparse(node))
    return names[-1].strip("_").lower() if names else "…"


def says_what_to_do(text: str) -> bool:
    """Whether a message has a word of advice, or of what is allowed."""
    return "{hint}" in text or _ADVICE.search(re.sub(r"\{[^}]*\}", "", text)) is not None


def advises(kind: str) -> bool:
    """Whether a person gets errors of this class as they are."""
    return issubclass(classes()[kind], ADVISING) and kind not in PLAIN


def told(message: Message) -> bool:
    """Whether a person gets this message as it is."""
    return advises(message.kind) and message.module not in FINDINGS


def text() -> str:
    """The page."""
    found = messages()
    names = [name for name in classes() if advises(name)]
    rest = [name for name in classes() if not advises(name) and any(each.kind == name for each in found)]
    parts = [INTRODUCTION, "## What a person is told\n", *(_section(name, found) for name in names)]
    return "\n".join([*parts, "## Reasons\n", *(_section(name, found) for name in rest)])


def _section(name: str, found: tuple[Message, ...]) -> str:
    kind = classes()[name]
    lines = [f"### {name}", "", _first_sentence(kind), f"Exit code {_exit(kind)}, status {_status(kind)}.", ""]
    lines += [f"- {_shown(each.text)} *({each.module})*" for each in found if each.kind == name]
    return "\n".join(lines).rstrip() + "\n"


def _first_sentence(kind: type[AssayError]) -> str:
    return " ".join(inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].split())


def _exit(kind: type[AssayError]) -> int:
    return int(_exit_for(kind.__new__(kind)))


def _status(kind: type[AssayError]) -> int:
    return _TITLES[next((code for known, code in _ERRORS if issubclass(kind, known)), "bug")][0]


def _shown(text: str) -> str:
    return "`" + " ".join(text.split()).replace("`", "'") + "`"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
