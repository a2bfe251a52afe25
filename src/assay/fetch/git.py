"""A Git repository as a place of documents: the files of one commit, fetched by the `git` program.

A place is `git+https://host/path`, `git+http://…` or `git+file:///path`, with an optional `@REF` for a branch, a tag or
a commit. Nothing in the repository is executed: no hooks, no filters, no submodules, no configuration but our own.
Files are read directly from the commit, without a work tree.

Git makes its connections itself. So for users of a server the host is checked here like that of a page, and git is told
to connect to the checked addresses only and to follow no redirect.
"""

from __future__ import annotations

import mimetypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import msgspec

from assay.core.errors import FetchFailed, UsageError
from assay.core.lazy import lazy_module, regex
from assay.core.ports import Clock, ListedFile
from assay.core.sources import Fetched
from assay.core.web_addresses import BadUrl, parse_url

if TYPE_CHECKING:
    from assay.fetch.web import addresses
else:
    addresses = lazy_module("assay.fetch.web.addresses")

TIMEOUT_SECONDS = 600.0
"""The limit for one call of git, enough for a large repository."""
MAX_FILES = 50_000
MAX_COMMIT_BYTES = 2_000_000_000
"""For all files of a commit together."""
MAX_LISTED_FILES, MAX_LISTED_BYTES = 2_000_000, 200_000_000_000
"""The same limits for a commit that is listed first and read in parts."""
POLL_SECONDS = 0.25
"""Seconds between two checks whether git's work is still wanted; deleting its folder cancels it."""
FETCHED_MARK = "assay-fetched"
"""The file in our repositories that names the commit that was fetched completely."""
SCHEMES = ("git+https", "git+http", "git+file")
MIN_PINNING_VERSION = (2, 37)
"""The first version of git that can be told the addresses of a host."""

_REF = regex(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}")
_COMMIT = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SAFE = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.symlinks=false",
    "credential.helper=",
    "credential.interactive=false",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.http.allow=always",
    "transfer.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "uploadpack.packObjectsHook=",
)
_VERSION = regex(rb"git version (\d+)\.(\d+)")


class RepositoryAddress(msgspec.Struct, frozen=True):
    """A repository's address in git's form, and a ref; "" for its default branch."""

    url: str
    ref: str = ""


class _GitAccess(msgspec.Struct, frozen=True):
    """What git may reach: the settings for that, and the protocols."""

    settings: tuple[str, ...]
    protocols: str


_FREE = _GitAccess(("protocol.file.allow=always", "http.followRedirects=initial"), "https:http:file")
_GUARDED = _GitAccess(("http.followRedirects=false",), "https:http")


class _Entry(msgspec.Struct, frozen=True):
    path: str
    id: str
    size: int


class GitConnector:
    """Implements `core.ports.ListingConnector` and `GuardedConnector`."""

    def __init__(self, policy: addresses.Policy | None = None, resolve: addresses.ResolveNow | None = None) -> None:
        """Without a `policy` every repository is fetched. `resolve` returns the addresses of a host."""
        self._policy, self._resolve = policy, resolve

    def guarded(self, allow: Sequence[str]) -> GitConnector:
        return GitConnector(addresses.parse_policy(allow), self._resolve)

    def canonical(self, place: str) -> str:
        repository = read_place(place)
        if self._policy is not None and not self.reaches_out(place):
            raise UsageError(f"{place[:200]!r} may not be read by users of a server: write git+https://host/path@ref")
        return f"git+{repository.url}@{repository.ref}" if repository.ref else f"git+{repository.url}"

    def reaches_out(self, place: str) -> bool:
        return not place.startswith("git+file:")

    def fetch(self, place: str, folder: Path, clock: Clock, largest: int) -> Iterator[Fetched]:
        pinned, files = self.list(place, folder, clock, largest)
        if len(files) > MAX_FILES:
            raise FetchFailed(f"too large: {len(files):,} files in {pinned}, at most {MAX_FILES:,} are read at once")
        size = 0
        for file in self.read(pinned, files, folder, clock):
            size += len(file.body)
            if size > MAX_COMMIT_BYTES:
                raise FetchFailed(f"too large: more than {MAX_COMMIT_BYTES:,} bytes in {pinned}")
            yield file

    def list(self, place: str, folder: Path, clock: Clock, largest: int) -> tuple[str, list[ListedFile]]:
        """See the port. The name which stays true ends with the commit; a version is the id of the bytes."""
        repository = read_place(place)
        git = self._git(folder)
        commit = self._fetch_commit(git, repository)
        entries = [entry for entry in git.files(commit) if entry.size <= largest]
        size = sum(entry.size for entry in entries)
        if len(entries) > MAX_LISTED_FILES or size > MAX_LISTED_BYTES:
            raise UsageError(
                f"{place} is too large ({len(entries):,} files, {size:,} bytes): at most {MAX_LISTED_FILES:,} "
                "files and "
                f"{MAX_LISTED_BYTES:,} bytes are read; clone it yourself, and add some of its folders"
            )
        return f"git+{repository.url}@{commit}", [ListedFile(entry.path, entry.id) for entry in entries]

    def read(self, place: str, files: Sequence[ListedFile], folder: Path, clock: Clock) -> Iterator[Fetched]:
        repository, git, now = read_place(place), self._git(folder), clock.now()
        if not git.has(repository.ref):
            self._fetch_commit(git, repository)
        for file, body in git.read_files(files):
            url = f"git+{repository.url}@{repository.ref}/{quote(file.name)}"
            kind = mimetypes.guess_type(file.name)[0] or "text/plain"
            yield Fetched(url=url, final_url=url, status=0, media_type=kind, body=body, fetched_at=now)

    def _git(self, folder: Path) -> _Git:
        return _Git(folder, _FREE if self._policy is None else _GUARDED)

    def _fetch_commit(self, git: _Git, repository: RepositoryAddress) -> str:
        """Fetch one commit and return its id, from checked addresses if there is a policy."""
        if self._policy is None:
            return git.fetch_commit(repository)
        try:
            url = parse_url(repository.url)
        except BadUrl as error:
            raise FetchFailed(f"blocked: {error}") from error
        ip_addresses = addresses.checked_addresses(
            url.host, url.port, self._policy, self._resolve or addresses.resolve_now
        )
        pins: tuple[str, ...] = ()
        if ":" not in url.host and list(ip_addresses) != [url.host]:  # a host that is an address needs no resolver
            if git.version() < MIN_PINNING_VERSION:
                raise FetchFailed("missing: git 2.37 or newer, which connects only to addresses that were checked")
            address_list = ",".join(f"[{address}]" if ":" in address else address for address in ip_addresses)
            pins = (f"http.curloptResolve={url.host}:{url.port}:{address_list}",)
        # the address as it was checked: git might read another form of it differently
        return git.fetch_commit(RepositoryAddress(f"{url.scheme}://{url.authority}{url.target}", repository.ref), pins)


def read_place(place: str) -> RepositoryAddress:
    """The repository and the ref that a place names.

    Raises:
        UsageError: it names none, or includes a user or a password.
    """
    scheme, _, rest = place.partition(":")
    if scheme not in SCHEMES or not rest.startswith("//"):
        raise UsageError(f"{place[:200]!r} is not a repository: write git+https://host/path@ref")
    pieces = place.rpartition("@")
    has_ref = "/" in pieces[0].partition("://")[2] and ":" not in pieces[2]
    address, ref = (pieces[0], pieces[2]) if has_ref else (place, "")
    url = address.removeprefix("git+")
    parts = urlsplit(url)
    local = scheme == "git+file"
    if "@" in parts.netloc:
        raise UsageError(
            "a repository's address may hold no user and no password: clone it yourself, and add the folder"
        )
    if not url.isprintable() or " " in url or bool(parts.netloc) == local or len(parts.path) < 2 or parts.query:
        raise UsageError(f"{place[:200]!r} is not a repository: write git+https://host/path@ref or git+file:///path")
    if has_ref and (not _REF.fullmatch(ref) or ".." in ref):
        raise UsageError(f"{ref[:100]!r} is not a branch, tag or commit: check its name")
    return RepositoryAddress(url, ref)


class _Git:
    """The program, working in a bare repository of its own."""

    def __init__(self, folder: Path, reach: _GitAccess) -> None:
        program = shutil.which("git")
        if program is None:
            raise FetchFailed("missing: the program git is not installed")
        self._program, self._folder, self._reach = program, folder, reach

    def version(self) -> tuple[int, int]:
        """The version of git; (0, 0) if it does not say."""
        match = _VERSION.match(self._run("version"))
        return (int(match[1]), int(match[2])) if match else (0, 0)

    def fetch_commit(self, repository: RepositoryAddress, pins: Sequence[str] = ()) -> str:
        """Fetch one commit of a repository and return its id; `pins` are settings for this connection."""
        self._run("init", "--quiet", "--bare", "--template=", "--", str(self._folder))
        ref = repository.ref or "HEAD"
        self._run(
            "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head",
            "--", repository.url, f"+{ref}:refs/heads/assay", settings=pins,
        )  # fmt: skip
        commit = self._run("rev-parse", "--verify", "--end-of-options", "refs/heads/assay^{commit}").decode().strip()
        if not _COMMIT.fullmatch(commit):
            raise FetchFailed(f"damaged: git named no commit for {ref}")
        (self._folder / FETCHED_MARK).write_text(commit)
        return commit

    def files(self, commit: str) -> list[_Entry]:
        """The plain files of a commit: no links, no submodules."""
        output = self._run("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
        entries = []
        for line in output.split(b"\0"):
            info, _, path = line.partition(b"\t")
            words = info.split()
            if len(words) == 4 and words[0] in (b"100644", b"100755") and words[3].isdigit():
                entries.append(_Entry(path.decode(errors="replace"), words[2].decode(), int(words[3])))
        return entries

    def has(self, commit: str) -> bool:
        """True if this commit was already fetched by another call with the same folder."""
        try:
            return (self._folder / FETCHED_MARK).read_text() == commit
        except OSError:
            return False

    def read_files(self, files: Sequence[ListedFile]) -> Iterator[tuple[ListedFile, bytes]]:
        """Yield the bytes of files, some at a time."""
        for first in range(0, len(files), 100):
            batch = files[first : first + 100]
            request = "".join(f"{file.version}\n" for file in batch).encode()
            data = self._run("cat-file", "--batch", stdin=request)
            offset = 0
            for file in batch:
                try:
                    end = data.index(b"\n", offset)
                    size = int(data[offset:end].split()[2])
                except (ValueError, IndexError) as error:  # the object does not exist
                    raise FetchFailed(f"damaged: git does not have {file.name[:200]}") from error
                yield file, data[end + 1 : end + 1 + size]
                offset = end + 1 + size + 1

    def _run(self, *words: str, stdin: bytes = b"", settings: Sequence[str] = ()) -> bytes:
        safe = [part for setting in (*_SAFE, *self._reach.settings, *settings) for part in ("-c", setting)]
        try:
            process = subprocess.Popen(
                [self._program, *safe, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._folder,
                env=_environment(self._folder, self._reach.protocols),
                start_new_session=True,  # child processes of git end with it
            )
        except OSError as error:
            raise FetchFailed(f"missing: git cannot be started: {error.strerror}") from error
        with process:
            answer, output = self._output(process, words[0], stdin)
        if process.returncode:
            lines = output.decode(errors="replace").strip().splitlines()
            why = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else "")
            raise FetchFailed(f"unreachable: git {words[0]}: {why[:300] or process.returncode}")
        return answer

    def _output(self, process: subprocess.Popen[bytes], word: str, stdin: bytes) -> tuple[bytes, bytes]:
        """The output of git, and its errors, after it ends."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while True:
            try:
                return process.communicate(stdin, timeout=POLL_SECONDS)
            except subprocess.TimeoutExpired:
                late = time.monotonic() > end
                # deleting the folder may collide with files that git writes, but HEAD is written once
                if not late and (word in ("init", "version") or (self._folder / "HEAD").exists()):
                    continue
                _kill(process)
                why = f"timeout: git {word} took more than {TIMEOUT_SECONDS:g} s" if late else f"stopped: git {word}"
                raise FetchFailed(why) from None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill git and its child processes."""
    try:
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:  # it has just ended
        return


def _environment(folder: Path, protocols: str) -> dict[str, str]:
    """An environment without the user's configuration, credentials, prompts and proxies."""
    inherited = {"SYSTEMROOT": r"C:\Windows"} if sys.platform == "win32" else {}
    return {
        **inherited,
        "PATH": os.defpath,
        "HOME": str(folder),
        "LC_ALL": "C",
        "GIT_DIR": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "GIT_SSH_COMMAND": "false",
        "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_ALLOW_PROTOCOL": protocols,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
    }
