"""What every test shares: hypothesis without deadlines (two slow cores are not a bug), the same examples every time.

No test reaches for the web unless it says so: where tests run there may be none. None reads a user's settings.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import by_file
import catalogues
import passwords
import postgres
import pytest
import quick
import sampling
import waiting
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:  # each process of pytest reads this file: what loads a library is imported where it is used
    from object_store import S3Server

settings.register_profile(
    "assay",
    deadline=None,
    derandomize=True,
    max_examples=sampling.EXAMPLES,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("assay")
OPTIONS = ("ASSAY_TEST_", "ASSAY_DATA", "ASSAY_GOLDEN")
for name in [each for each in os.environ if each.startswith("ASSAY_") and not each.startswith(OPTIONS)]:
    del os.environ[name]  # what whoever runs the tests has set for work is nothing to them
os.environ["ASSAY_CONFIG"] = os.path.join(tempfile.gettempdir(), f"assay-tests-{os.getpid()}", "config.toml")  # no file
os.environ["ASSAY_SEARCH_WEB"] = "false"
passwords.cheapen()
gc.set_threshold(50_000, 20, 20)  # as in a command of Assay
MEMORY = "/dev/shm"
if not os.environ.get("TMPDIR") and os.path.isdir(MEMORY) and shutil.disk_usage(MEMORY).free > 4 << 30:
    os.environ["TMPDIR"] = tempfile.tempdir = MEMORY  # a third of the time of tests over SQLite was waiting for a disk
if "DATABASE_URL" in os.environ:  # it is for the tests which want a server, and no setting of all others
    os.environ[postgres.NAMED] = os.environ.pop("DATABASE_URL")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="leave out the tests which tests/slow.txt names")
    parser.addoption("--note-slow", action="store_true", help="write the slow ones of these tests into tests/slow.txt")
    parser.addoption("--stalls", type=float, metavar="MS", help="tell what held up an event loop for longer (with -n0)")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--note-slow") and not hasattr(config, "workerinput"):  # the process which gets all reports
        config.pluginmanager.register(quick.Durations())
    if not hasattr(config, "workerinput"):
        catalogues.compile_changed()
    if by_file.is_wanted(config):
        config.pluginmanager.register(by_file.ByFile(config.workerinput["workercount"]))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """How many processes run tests: two more than there are cores; the quick ones hardly wait, and need no more.

    One of them is with a browser, and others wait for servers, leases and programs too: on two cores, all tests took a
    tenth less time with four processes than with three. Each loads only what its files need.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    return min(cores if config.getoption("--fast") else cores + 2, 8)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage, and never look through what was collected: it stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if config.getoption("--fast") and quick.is_slow_file(collection_path, config) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--fast"):
        items[:], left = quick.quick(items)
        config.hook.pytest_deselected(items=left)
    if config.getoption("--stalls"):
        import stalling

        stalling.watch(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Begin no test on one day that would end on the next."""
    waiting.past_midnight()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("--stalls"):
        import stalling

        for line in stalling.summary(config):
            terminalreporter.write_line(line)


@pytest.fixture
async def stalls_told(request: pytest.FixtureRequest) -> AsyncIterator[None]:
    """Notes what holds up the loop of a test: see `--stalls`."""
    import stalling

    async with stalling.noted(request):
        yield


@pytest.fixture
async def unstalled() -> AsyncIterator[None]:
    """Fails a test whose loop is held up for very long, and says by what."""
    import stalling

    async with stalling.unstalled():
        yield


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server, one for all processes of a test session."""
    if why := postgres.reason_to_skip():
        pytest.skip(why)
    base = tmp_path_factory.getbasetemp()
    with postgres.shared(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) as url:
        import pgbouncer

        if not os.environ.get(pgbouncer.THROUGH):
            yield url
            return
        with pgbouncer.running(url) as pooler:
            yield pooler.url


@pytest.fixture(scope="session")
def databases(postgres_server: str) -> Iterator[postgres.Databases]:
    """Databases of that server, which are emptied to be used again."""
    made = postgres.Databases(postgres_server)
    yield made
    made.drop()


@pytest.fixture
def new_database(databases: postgres.Databases) -> Iterator[Callable[[], str]]:
    """Makes URLs of empty databases."""
    yield databases.take
    databases.give_back()


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """An S3 server on loopback, one for each process of a test session."""
    import object_store

    with object_store.running() as server:
        yield server


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """That server as the environment names it, without faults."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    s3_server.asked.clear()
    yield s3_server
    s3_server.faults.clear()
