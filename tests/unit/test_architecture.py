"""The page for newcomers says what the code is: its layers, and the way of one run."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "assay"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
STATION = re.compile(r"^\| (\d+) \| .+ \| `([\w/]+\.py)` \| `(\w+)` \|$", re.MULTILINE)


def layers() -> list[set[str]]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    return [set(re.findall(r"\w+", layer)) for layer in next(each["layers"] for each in contracts if "layers" in each)]


def test_the_picture_shows_the_layers_which_the_build_enforces() -> None:
    picture = PAGE.split("```text\n")[1].split("```")[0]
    names = [re.split(r"\s{2,}", line)[0] for line in picture.splitlines() if re.match(r"\w", line)]
    assert [set(re.findall(r"\w+", name)) for name in names] == layers()


def test_the_way_of_a_run_leads_through_functions_which_are_there() -> None:
    stations = STATION.findall(PAGE)
    assert [int(number) for number, _, _ in stations] == list(range(1, 13))
    for _, path, name in stations:
        tree = ast.parse((SOURCE / path).read_text(encoding="utf-8"))
        defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert name in defined, f"{path} has no function {name}"


def test_the_phases_of_the_way_are_called_by_the_pipeline() -> None:
    names = [name for _, path, name in STATION.findall(PAGE) if path.startswith("phases/") and name != "pipeline"]
    tree = ast.parse((SOURCE / "phases" / "pipeline.py").read_text(encoding="utf-8"))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert set(names) <= called


def module(name: str) -> Path | None:
    path = SOURCE.parent / name.replace(".", "/")
    return next((each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file()), None)


def imports(tree: ast.AST) -> dict[str, Path]:
    """What a file imports of Assay, by the name it has there: the file of it."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("assay"):
            for alias in node.names:
                file = module(f"{node.module}.{alias.name}") or module(node.module or "")
                if file is not None:
                    found[alias.asname or alias.name] = file
    return found


def called_from(path: Path, name: str) -> set[Path]:
    """The files of what a function calls, itself or through functions of its own file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known = imports(tree)
    own = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    own |= {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    todo, seen, files = [name], set[str](), {path}
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        for call in (node.func for node in ast.walk(own[at]) if isinstance(node, ast.Call)):
            names = [call.id] if isinstance(call, ast.Name) else []
            if isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name):
                names = [call.attr] if call.value.id == "self" else [call.value.id]
            todo += [each for each in names if each in own]
            files |= {known[each] for each in names if each in known and each not in own}
    return files


def test_the_page_says_how_much_a_reader_of_one_run_opens() -> None:
    found = re.search(
        r"^(\w+) files hold .+ about ([\d,]+) lines\..+?at most (\d+) files", PAGE, re.MULTILINE | re.DOTALL
    )
    assert found is not None
    stations = {(SOURCE / path, name) for _, path, name in STATION.findall(PAGE)}
    files = {path for path, _ in stations}
    assert (found[1], len(files)) == ("Twelve", 12)
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    assert 0.9 < lines / int(found[2].replace(",", "")) < 1.1
    beside = {"core", *(name for each in layers() if "store" in each for name in each), "locale"}
    opened = set.union(*(called_from(path, name) for path, name in stations))
    assert len([path for path in opened if path.relative_to(SOURCE).parts[0] not in beside]) <= int(found[3])


def test_what_the_page_points_to_is_there() -> None:
    table = PAGE.split("## Where to look")[1]
    missing = [path for path in re.findall(r"\| `([\w/]+)/`", table) if not (SOURCE / path).is_dir()]
    assert missing == []
