"""The description of the API as others' tools see it: openapi-typescript makes types, tsc --strict compiles a client.

The packages are pinned by tests/server/typescript/package-lock.json and come from whatever registry npm is set up for;
they stay in `build` until others are pinned. So does what their tools make, until they get something else to read: they
take ten seconds of computing, and say the same of the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest
from serving import TIDES, WAIT, Served, served

import assay.server.page

PROJECT = Path(__file__).parent / "typescript"
PACKAGES = Path(__file__).parents[2] / "build" / "typescript"
INSTALL_SECONDS, TOOL_SECONDS = 180, 600
OWN = "--skipDefaultLibCheck"
"""An option of the compiler: the declarations it brings itself are not checked."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with its packages; skips where they cannot be installed."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("no npm or node here: install Node.js 20 or later")
    made = tmp_path_factory.mktemp("typescript") / "client"
    shutil.copytree(PROJECT, made, ignore=shutil.ignore_patterns("node_modules", "build"))
    pinned = hashlib.sha256((PROJECT / "package-lock.json").read_bytes()).hexdigest()[:12]
    if not (kept := PACKAGES / pinned).exists():
        _install(npm, made)
        shutil.rmtree(PACKAGES, ignore_errors=True)
        PACKAGES.mkdir(parents=True)
        shutil.copytree(made / "node_modules", PACKAGES / "new" / "node_modules", symlinks=True)
        (PACKAGES / "new").rename(kept)
        shutil.rmtree(made / "node_modules")
    (made / "node_modules").symlink_to(kept / "node_modules")
    return made


def _install(npm: str, folder: Path) -> None:
    try:
        done = subprocess.run([npm, "ci"], cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm ci did not end within {INSTALL_SECONDS} s")
    if done.returncode:
        pytest.skip(f"npm cannot install: {done.stderr.strip()[-300:]}")


def tool(project: Path, *command: str) -> str:
    """A tool of the project; what it says."""
    line = [str(project / "node_modules" / ".bin" / command[0]), *command[1:]] if command[0] != "node" else [*command]
    done = subprocess.run(line, cwd=project, capture_output=True, text=True, timeout=TOOL_SECONDS)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def made(project: Path, output: str, inputs: Sequence[Path], *command: str) -> Path:
    """What a tool writes, "" for nothing; with the same packages, inputs and words, what it wrote before."""
    digest = hashlib.sha256(repr(command).replace(str(project), "").encode())
    for path in (PROJECT / "package-lock.json", *inputs):
        digest.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    store = PACKAGES / "made" / (output or "nothing").replace("/", "-")
    kept = store / digest.hexdigest()[:24]
    if not kept.exists():
        tool(project, *command)
        (draft := store.with_name(f"draft-{os.getpid()}")).mkdir(parents=True)
        if output:
            shutil.copy(project / output, draft / "output")
        shutil.rmtree(store, ignore_errors=True)
        store.mkdir()
        draft.rename(kept)
    if output:
        (project / output).parent.mkdir(exist_ok=True)
        shutil.copy(kept / "output", project / output)
    return project / output


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("described") / "home") as server:
        yield server


def test_a_generated_client_compiles_strictly_and_works(project: Path, server: Served) -> None:
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
        added = client.post("/api/v1/collections/default/documents?name=tides.md", content=TIDES.encode())
        assert added.is_success, added.text
        (project / "openapi.json").write_bytes(client.get("/openapi-3.1.json").content)
        types = ("openapi-typescript", "openapi.json", "--default-non-nullable=false", "-o", "api.d.ts")
        read = [made(project, "api.d.ts", [project / "openapi.json"], *types)]
        read += [*project.glob("*.ts"), project / "tsconfig.json", project / "package.json"]
        made(project, "build/client.js", sorted({*read}), "tsc", "--strict", OWN, "-p", ".")
        data = json.loads(tool(project, "node", "build/client.js", server.url))
    last = data.pop("last")
    assert data == {"status": "completed", "problem": "urn:assay:problem:unknown-name", "first": True}
    assert last > 10


def test_types_are_made_of_the_newest_edition_too(project: Path, server: Served) -> None:
    newest = httpx.get(f"{server.url}/openapi.json", trust_env=False, timeout=WAIT).content
    (project / "openapi-3.2.json").write_bytes(newest)
    inputs = [project / "openapi-3.2.json"]
    types = made(project, "newest.d.ts", inputs, "openapi-typescript", inputs[0].name, "-o", "newest.d.ts")
    assert '"/api/v1/runs/{run}/events"' in types.read_text()


def test_the_scripts_of_the_page_have_the_types_they_say(project: Path) -> None:
    """Each is a module of its own, written in plain JavaScript with its types in comments."""
    scripts = sorted(Path(assay.server.page.__file__).parent.glob("static/*.js"))
    assert len(scripts) > 5
    there = project / "page"
    there.mkdir()
    for script in scripts:
        assert script.read_text(encoding="utf-8").startswith("// @ts-check\n"), script.name
        shutil.copy(script, there)
    options = ("--noEmit", "--allowJs", "--checkJs", "--strict", "--target", "ES2022", "--moduleDetection", "force")
    browser = ("--module", "ESNext", "--moduleResolution", "bundler", "--lib", "ES2023,DOM,DOM.Iterable")
    copies = [there / script.name for script in scripts]
    made(project, "", copies, "tsc", *options, OWN, *browser, *map(str, copies))


def test_the_lock_file_names_no_registry() -> None:
    locked = json.loads((PROJECT / "package-lock.json").read_text())
    packages = {name: each for name, each in locked["packages"].items() if name}
    assert packages
    assert all("resolved" not in each and each["integrity"].startswith("sha512-") for each in packages.values())
    wanted = json.loads((PROJECT / "package.json").read_text())["devDependencies"]
    assert all(packages[f"node_modules/{name}"]["version"] == version for name, version in wanted.items())
