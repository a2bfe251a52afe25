"""What the linters cannot say: sizes, who reads the environment, and that every library we import is declared."""

import ast
import gc
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import assay

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "assay").rglob("*.py"))
LONGEST_FUNCTION = 60
LONGEST_FILE = 400
MOST_PARAMETERS = 6
PUBLIC = "keywords of the public library: a caller types them, and would have to import a struct"
MCP = "the library of the protocol makes the form of a tool from the parameters of its function"


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All of a file's syntax, which several tests look through."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))))


Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(path: Path) -> list[Function]:
    return [node for node in nodes(path) if isinstance(node, Function)]


@pytest.fixture(scope="module", autouse=True)
def _kept() -> Iterator[None]:
    """To look for garbage in all this would take most of the time; nothing of it is left for the tests after these."""
    gc.disable()
    yield
    nodes.cache_clear()
    gc.enable()


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def test_no_function_is_past_60_lines():
    long = [
        place(path, node.lineno)
        for path in SOURCES
        for node in functions(path)
        if (node.end_lineno or 0) - node.body[0].lineno >= LONGEST_FUNCTION
    ]
    assert long == []


TAKING_MORE = {
    "app/assay.py:fork": PUBLIC,
    "app/claim_judge.py:judge_rows": PUBLIC,
    "app/runs.py:page": PUBLIC,
    "app/library.py:verify": PUBLIC,
    "fetch/web/__init__.py:create": "the options of the entry point `assay.fetchers`, which packages pass on by name",
    "server/mcp/research.py:research": MCP,
}
"""Functions outside the command line which take more than six parameters, and why."""


def parameters(function: Function) -> list[str]:
    """All but `**`: the values of a template, or options which are one `TypedDict`."""
    taken = function.args
    named = (*taken.posonlyargs, *taken.args, *taken.kwonlyargs, *([taken.vararg] if taken.vararg else []))
    return [each.arg for each in named if each.arg not in ("self", "cls")]


def test_no_function_takes_more_than_six_parameters():
    """What is passed side by side is a value with a name: a frozen struct, or the `Case` of a run."""
    taking_more = {
        f"{path.relative_to(ROOT / 'src' / 'assay').as_posix()}:{node.name}"
        for path in SOURCES
        if path.relative_to(ROOT / "src" / "assay").parts[0] != "cli"
        for node in functions(path)
        if len(parameters(node)) > MOST_PARAMETERS
    }
    assert taking_more == set(TAKING_MORE)


def test_no_file_is_past_400_lines():
    long = [place(path, 1) for path in SOURCES if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST_FILE]
    assert long == []


WHOLE = 40
SMALL = {
    "__main__.py": "an entry point",
    "core/full_disks.py": "three layers use it, and `core/errors.py` has no room",
    "core/name_suggestions.py": "no error itself, and `core/errors.py` has no room",
    "export/docx.py": "a registration; what it registers loads an extra",
    "store/migrations/env.py": "an entry point of Alembic",
}
"""Files below `WHOLE` lines that are neither packages nor migrations, and why."""


def test_what_is_read_together_stands_together():
    small = {
        path.relative_to(ROOT / "src" / "assay").as_posix()
        for path in SOURCES
        if path.name != "__init__.py"
        and path.parent.name != "versions"
        and len(path.read_text(encoding="utf-8").splitlines()) < WHOLE
    }
    assert small == set(SMALL)


def test_only_settings_reads_the_environment():
    readers = {
        path.relative_to(ROOT).as_posix()
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
        and node.attr in ("environ", "environb", "getenv", "getenvb")
    }
    assert readers == {f"src/assay/settings/{name}.py" for name in ("__init__", "environment")}


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """What is below a node and executed when its module is loaded."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from at_import(child)


def calls(call: ast.Call, name: str, of: str = "") -> bool:
    """Whether it calls `name`, or `of.name`."""
    called = call.func
    if not of:
        return isinstance(called, ast.Name) and called.id == name
    return isinstance(called, ast.Attribute) and called.attr == name and ast.unparse(called.value) == of


def test_no_pattern_is_compiled_when_a_module_is_loaded():
    """`core.lazy.regex` compiles it when it is first used; in a function, `re.compile` says what is so."""
    compiling = [
        place(path, node.lineno)
        for path in SOURCES
        for node in at_import(nodes(path)[0])
        if isinstance(node, ast.Call) and calls(node, "compile", of="re")
    ]
    assert compiling == []


def test_only_modules_keep_patterns_for_later():
    """They are kept as long as the process, to be compiled all at once."""
    making = [
        place(path, node.lineno)
        for path in SOURCES
        if any(isinstance(node, ast.Call) and calls(node, "regex") for node in nodes(path))
        for function in nodes(path)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and calls(node, "regex")
    ]
    assert making == []


def is_broad(handler: ast.ExceptHandler) -> bool:
    names = (
        {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)} if handler.type else {"Exception"}
    )
    return bool(names & {"Exception", "BaseException"})


TELLING = {"verify/checks.py": "a check of another package: the run warns of its fault, and goes on"}
"""Who catches everything and says what it was, and why nothing is raised."""


def test_who_catches_everything_raises_it_again():
    swallowed = [
        place(path, node.lineno)
        for path in SOURCES
        if path.relative_to(ROOT / "src" / "assay").as_posix() not in TELLING
        for node in nodes(path)
        if isinstance(node, ast.ExceptHandler)
        and is_broad(node)
        and not any(isinstance(inner, ast.Raise) and inner.exc is None for inner in ast.walk(node))
    ]
    assert swallowed == []


def imported(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def normal(name: str) -> str:
    return name.lower().replace("_", "-")


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed_by_others = {"lxml-html-clean", "onnxruntime", "python-multipart"}  # see pyproject.toml
    extras = [each for name, listed in project["optional-dependencies"].items() if name != "dev" for each in listed]
    names = {re.split(r"[\[>=<;]", each)[0] for each in (*project["dependencies"], *extras)}
    return set(map(normal, names)) - needed_by_others


def test_the_libraries_we_import_are_the_ones_we_declare():
    through = {"pydantic": "mcp"}  # whose tools it types, in `server`
    distributions = packages_distributions()
    modules = {name for path in SOURCES for name in imported(path)} - sys.stdlib_module_names - {"assay"}
    owners = {name: {normal(owner) for owner in distributions.get(name, [name])} for name in modules}
    for name, several in owners.items():  # a namespace of several distributions: those which are declared
        owners[name] = several & declared() if len(several) > 1 else {through.get(name, *several)}
    assert set().union(*owners.values()) == declared()


@pytest.mark.parametrize(
    "group", ["extractors", "archives", "searches", "exporters", "tools", "strategies"]
)  # one model adapter may reach several services
def test_every_adapter_is_named_once(group: str):
    points = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    targets = list(points[f"assay.{group}"].values())
    assert targets
    assert len(targets) == len(set(targets))


NOUNS = {"ceiling", "embedding", "heading", "pubmed", "settings", "string"}
"""Names which end like a participle and are none."""


def public_classes() -> Iterator[tuple[str, str]]:
    for path in SOURCES:
        for node in ast.iter_child_nodes(nodes(path)[0]):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, path.relative_to(ROOT).as_posix()


def modules() -> Iterator[tuple[str, ...]]:
    """Modules and packages below `assay`, by their parts; migrations are named by their release."""
    for path in SOURCES:
        parts = path.relative_to(ROOT / "src" / "assay").with_suffix("").parts
        if "versions" in parts or parts[-1] == "__main__":
            continue
        if parts[-1] != "__init__":
            yield parts
        elif len(parts) > 1:
            yield parts[:-1]


def repeated(pairs: Iterator[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, where in pairs:
        found.setdefault(name, []).append(where)
    return {name: where for name, where in found.items() if len(where) > 1}


def test_one_sees_the_public_names_alone():
    assert dir(assay) == sorted(assay.__all__)
    assert all(getattr(assay, name) for name in dir(assay))


def test_a_public_class_has_a_name_of_its_own():
    assert repeated(public_classes()) == {}


def test_a_module_has_a_name_of_its_own_in_its_layer():
    """Commands are named as they are typed: `cli/runs/lists.py`, `cli/docs/documents.py`."""
    inside = (
        (f"{parts[0]}: {parts[-1]}", "/".join(parts)) for parts in modules() if len(parts) > 1 and parts[0] != "cli"
    )
    assert repeated(inside) == {}


def is_command(parts: tuple[str, ...]) -> bool:
    return parts[0] == "cli" and len(parts) == 3


def test_a_module_is_named_by_a_noun():
    participles = [
        "/".join(parts)
        for parts in modules()
        if re.search(r"(?:ing|ed)$", parts[-1]) and parts[-1] not in NOUNS and not is_command(parts)
    ]
    assert participles == []


VAGUE = frozenset(
    """
    about across after among apart before beside between far near over whole within without
    begun bound cut done drawn far found given gone heard held kept known left made meant met put read said seen sent
    say shown stood taken tell told written
    """.split()
)
"""Prepositions, irregular participles and verbs without an object: they say neither what a function returns nor what it
does. Words in "ed" and "ing" count as well.
"""

SAYING_ENOUGH = {
    "about": "an adjective of its noun: `task.about`, `backend.about(subject)`",
    "adding": "the additions of a context, which closes its parts by name",
    "ceiling": "a noun: the most that may be spent",
    "created": "a property of python-docx, which reads it",
    "described": "what plugins define: a model's own facts",
    "done": "the field's word for a callback and a truth, as in `asyncio.Task`",
    "embed": "the verb of every embedder",
    "executed": "a truth of a run's row",
    "exhausted": "the limit that ended research, read as a truth: `if run.exhausted`",
    "feed": "the verb, as in `html.parser`",
    "field": "a noun",
    "finding": "a noun",
    "greeting": "a noun",
    "guarded": "what plugins define: a connector for users of a server",
    "heading": "a noun",
    "held": "an amount: `accounts.held`",
    "listed": "in the Python API",
    "locked": "makes an error, by what happened: `NotLoggedIn.locked(seconds)`",
    "meant": "in the Python API",
    "offered": "what plugins define: the models that a service offers",
    "opening": "a noun: the beginning of a report or a prompt",
    "put": "the verb of every store: an entry replaces the one before",
    "queued": "a row of a run, or the runs of a queue: `runs.queued()`",
    "read": "the verb: a module or class reads one kind of text (`plan.read`)",
    "remaining": "an amount: `budget.remaining()`",
    "say": "the verb of whatever speaks to a person",
    "seeing": "a ledger limited to what some lanes see: `ledger.seeing(lanes)`",
    "sibling": "a noun",
    "spending": "a noun",
    "tagged": "in the Python API",
    "thinking": "a noun: a model's reasoning",
    "unfinished": "in the Python API",
    "untagged": "in the Python API",
    "unused": "what is left of a script: `script.unused()`",
    "used": "an amount: `account.used`",
    "warned": "handles the event `warned`, as its neighbours do",
}
"""Words which may name a function all the same, and why."""


def is_vague(function: Function) -> bool:
    """True if a function's whole name is such a word, and it does not return a truth (`is_done` may be `done`)."""
    name = function.name.strip("_")
    if (
        function.name.startswith("__")
        or name in SAYING_ENOUGH
        or (function.returns is not None and ast.unparse(function.returns) == "bool")
    ):
        return False
    return name in VAGUE or ("_" not in name and re.search(r"(?:[^e]ed|[^r]ing)$", name) is not None)


def test_a_function_is_named_by_what_it_returns_or_does():
    """A noun (`display_name`) or a verb with its object (`merge_groups`), not `named` or `joined`.

    Functions within functions are read where they are defined.
    """
    vague = []
    for path in SOURCES:
        lines = {line for node in functions(path) for line in range(node.lineno + 1, (node.end_lineno or 0) + 1)}
        vague += [
            f"{place(path, node.lineno)} {node.name}"
            for node in functions(path)
            if node.lineno not in lines and is_vague(node)
        ]
    assert vague == []
