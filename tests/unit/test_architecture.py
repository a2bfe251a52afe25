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


def test_what_the_page_points_to_is_there() -> None:
    table = PAGE.split("## Where to look")[1]
    missing = [path for path in re.findall(r"\| `([\w/]+)/`", table) if not (SOURCE / path).is_dir()]
    assert missing == []
