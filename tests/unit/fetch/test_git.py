"""The Git connector over real repositories on this machine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay import Assay
from assay.core.errors import FetchFailed, UsageError
from assay.fetch.git import GitConnector, RepositoryAddress, read_place
from assay.run.process import SystemClock

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the program git is not installed")


class Repository:
    """A repository with one branch, `main`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "-b", "main")

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words],
            cwd=self.folder,
            capture_output=True,
            check=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, **files: str) -> str:
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", "x")
        return self.git("rev-parse", "HEAD")

    @property
    def place(self) -> str:
        return f"git+file://{self.folder}"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "project")
    made.commit(
        a_md="# Harbor\n\nThe harbor was built in 1843.\n", docs__b_md="# Tides\n\nThe tide rises 5.2 metres.\n"
    )
    return made


def fetched(place: str, folder: Path, largest: int = 1_000_000) -> dict[str, bytes]:
    folder.mkdir(exist_ok=True)
    return {page.url: page.body for page in GitConnector().fetch(place, folder, SystemClock(), largest)}


async def test_files_of_a_commit_become_documents_and_sync_fetches(repository: Repository):
    commit = repository.git("rev-parse", "HEAD")
    async with Assay() as assay:
        await assay.add(repository.place, "project")
        urls = {document.name: document.url for document in await assay.documents("project")}
        assert urls == {
            "a.md": f"{repository.place}@{commit}/a.md",
            "b.md": f"{repository.place}@{commit}/docs/b.md",
        }
        (repository.folder / "a.md").unlink()
        newer = repository.commit(
            docs__b_md="# Tides\n\nThe tide rises 6 metres.\n", c_py="def rise():\n    return 6\n"
        )
        done = await assay.sync("project")
        assert done.documents == 2
        assert {document.url for document in await assay.documents("project")} == {
            f"{repository.place}@{newer}/docs/b.md",
            f"{repository.place}@{newer}/c.py",
        }
        assert "6 metres" in (await assay.text("b.md", "project"))[1]


async def test_a_run_cites_files_of_a_repository(repository: Repository):
    async with Assay() as assay:
        view = await assay.start("When was the harbor built?", sources=repository.place).view()
    assert "1843" in view.report.text
    assert any("/a.md" in source.url for source in view.sources.values())


async def test_a_repository_which_is_away_stays_as_it_was(repository: Repository):
    async with Assay() as assay:
        await assay.add(repository.place, "project")
        shutil.move(repository.folder, repository.folder.with_name("elsewhere"))
        done = await assay.sync("project")
        assert (done.removed, done.documents) == (0, 2)
        assert any("unreachable" in warning for warning in done.warnings)
        with pytest.raises(UsageError, match="unreachable: git fetch"):
            await assay.add(repository.place, "other")


def test_a_branch_a_tag_and_a_commit(repository: Repository, tmp_path: Path):
    first = repository.git("rev-parse", "HEAD")
    repository.git("tag", "v1.0")
    repository.git("checkout", "--quiet", "-b", "topic/new")
    repository.commit(a_md="Another.\n")
    for number, (ref, text) in enumerate({"v1.0": b"1843", first: b"1843", "topic/new": b"Another"}.items()):
        found = fetched(f"{repository.place}@{ref}", tmp_path / str(number))
        assert any(text in body for body in found.values())
    with pytest.raises(FetchFailed, match="git fetch"):
        fetched(f"{repository.place}@nosuch", tmp_path / "no")


def test_links_hooks_filters_and_large_files_do_nothing(repository: Repository, tmp_path: Path):
    (tmp_path / "secret.txt").write_text("The secret.")
    ran = tmp_path / "ran"
    (repository.folder / "link.md").symlink_to(tmp_path / "secret.txt")
    hook = repository.folder / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    repository.git("config", "filter.bad.smudge", f"touch {ran}")
    repository.git("config", "uploadpack.packObjectsHook", f"touch {ran};")
    repository.commit(large_txt="x" * 5_000, _gitattributes="*.md filter=bad\n", _gitmodules='[submodule "s"]\n')
    found = fetched(repository.place, tmp_path / "out", largest=1_000)
    names = {url.rpartition("/")[2] for url in found}
    assert {"a.md", "b.md"} <= names
    assert not names & {"link.md", "large.txt"}
    assert not ran.exists()
    assert not any(b"secret" in body for body in found.values())


def test_a_submodule_is_not_fetched(repository: Repository, tmp_path: Path):
    inside = Repository(tmp_path / "inside")
    inside.commit(inside_md="# Inside\n\nThis is another repository.\n")
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inside.folder), "sub")
    repository.commit(c_md="# Ships\n\nThe port had ships.\n")
    names = {url.rpartition("/")[2] for url in fetched(repository.place, tmp_path / "out")}
    assert {"a.md", "c.md"} <= names
    assert not names & {"inside.md", "sub"}


def test_a_hostile_configuration_of_the_user_is_not_read(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ran = tmp_path / "ran"
    (tmp_path / ".gitconfig").write_text(f'[core]\n\tfsmonitor = "touch {ran}"\n\tsshCommand = "touch {ran}"\n')
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "url.git+ssh://bad/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "file://")
    assert fetched(repository.place, tmp_path / "out")
    assert not ran.exists()


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("git+https://h.example/o/p", RepositoryAddress("https://h.example/o/p")),
        ("git+https://h.example/o/p.git@v1.2", RepositoryAddress("https://h.example/o/p.git", "v1.2")),
        ("git+https://h.example:8443/o/p@topic/new", RepositoryAddress("https://h.example:8443/o/p", "topic/new")),
        ("git+file:///srv/p@main", RepositoryAddress("file:///srv/p", "main")),
    ],
)
def test_places(place: str, found: RepositoryAddress):
    assert read_place(place) == found


@pytest.mark.parametrize(
    "place",
    [
        "git+https://user:word@h.example/o/p",
        "git+https://user@h.example/o/p@v1",
        "git+ssh://h.example/o/p",
        "git+https:h.example",
        "git+https://",
        "git+file://host/p",
        "git+https://h.example/o/p@--upload-pack=x",
        "git+https://h.example/o/p@a..b",
        "git+https://h.example/o/p@-x",
        "git+https://h.example/o p",
        "git+https://h.example/o?x=1",
        "git+ext::sh -c touch% /tmp/x",
    ],
)
def test_what_is_no_place(place: str):
    with pytest.raises(UsageError):
        read_place(place)


@given(st.text(alphabet="git+hpsfle:/@-.^~ \n\t%ax", max_size=40))
@settings(max_examples=scaled(80), deadline=None)
def test_a_place_is_read_or_refused_and_never_an_option(text: str):
    for place in (text, f"git+https:{text}", f"git+file:///p@{text}"):
        try:
            found = read_place(place)
        except UsageError:
            continue
        assert found.url.startswith(("https://", "http://", "file:///"))
        assert not found.ref.startswith("-")
        assert read_place(GitConnector().canonical(place)) == found
