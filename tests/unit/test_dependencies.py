"""What is installed is pinned, hashed and licensed for our use; a security rule which is left out says why."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import generate_licences
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = {
    "requirements.lock": ("server", "workers", "office", "s3", "pdf", "docx"),
    "development.lock": ("dev",),
}
HASHES = r"((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)"
PIN = re.compile(r"^([a-z0-9.-]+)(?:\[[^\]]*\])?==(\S+?)(?: ; ([^\\]+?))? \\\n" + HASHES, re.MULTILINE)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pinned(lock: str) -> dict[str, list[str]]:
    """The versions of each library in a lock: several where systems differ."""
    found: dict[str, list[str]] = {}
    for match in PIN.finditer((ROOT / "deploy" / lock).read_text(encoding="utf-8")):
        found.setdefault(match[1], []).append(match[2])
    return found


def asked(extras: tuple[str, ...]) -> list[Requirement]:
    """What the project asks for with these extras, those of its own followed."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in PROJECT["optional-dependencies"][extra])]
    wanted = [Requirement(line) for line in lines]
    own = tuple(extra for each in wanted if each.name == "assay" for extra in each.extras)
    return [each for each in wanted if each.name != "assay"] + (asked(own) if own else [])


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_nothing_but_hashed_libraries_of_no_certain_registry(lock: str):
    text = (ROOT / "deploy" / lock).read_text(encoding="utf-8")
    assert PIN.sub("", text).strip() == ""
    assert "://" not in text


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_is_what_the_project_asks_for(lock: str):
    versions = pinned(lock)
    for wanted in asked(LOCKS[lock]):
        there = versions.get(canonicalize_name(wanted.name), [])
        assert there, f"{wanted.name} is not in deploy/{lock}: make lock"
        assert all(wanted.specifier.contains(each, prereleases=True) for each in there), f"{wanted} is not {there}"


def test_every_library_has_a_licence_which_lets_us_use_it():
    found = {name: generate_licences.licence(name) for name in generate_licences.libraries()}
    assert len(found) > 60
    assert {name: licence for name, licence in found.items() if not generate_licences.allowed(licence)} == {}


def test_the_list_of_licences_is_the_libraries():
    locked = pinned("development.lock")
    if any(version(name) not in locked.get(name, ()) for name in generate_licences.libraries()):
        pytest.skip("other versions than the locked ones are installed here")
    page = generate_licences.PAGE.read_text(encoding="utf-8")
    assert page == generate_licences.page(), "python scripts/generate_licences.py"


@pytest.mark.parametrize(("expression", "well"), [("MIT", True), ("MIT AND PSF-2.0", True), ("MIT OR GPL-3.0", True)])
def test_of_licences_to_choose_from_one_must_do(expression: str, well: bool):
    assert generate_licences.allowed(expression) is well


@pytest.mark.parametrize("expression", ["", "GPL-3.0-only", "MIT AND GPL-3.0-only", "AGPL-3.0-only OR SSPL-1.0"])
def test_what_binds_all_of_us_is_refused(expression: str):
    assert not generate_licences.allowed(expression)


def test_every_security_rule_which_is_left_out_says_why():
    """In the settings of ruff beside it, or above it; in the source behind the rule."""
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    silent = [
        line
        for at, line in enumerate(lines)
        if re.search(r'"S\d{3}"', line) and "#" not in line and not _explained_above(lines, at)
    ]
    assert silent == []
    bare = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in (ROOT / "src").rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"#\s*noqa:[^#]*\bS\d{3}\b[^#]*$", line) or re.search(r"#\s*noqa\s*$", line)
    ]
    assert bare == []


def _explained_above(lines: list[str], at: int) -> bool:
    """Whether a comment stands above the run of lines which hold rules."""
    while at and re.search(r'"S\d{3}"', lines[at]):
        at -= 1
    return lines[at].lstrip().startswith("#")
