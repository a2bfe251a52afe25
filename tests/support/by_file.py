"""Files are what the processes of a test session share among themselves: each is collected by the one which runs it.

Otherwise each of them collects everything and loads what all tests need, which takes it half a minute of computing
before the first test. Where single tests are named, and in a session of one process, tests are collected as always.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Generator, Iterator, Sequence
from itertools import groupby

import pytest
import quick

CLIENTS = "clients"
"""The tests over the client libraries of providers, by the names of their files: each process which runs one of them
loads these for 2 s.
"""
_CLIENTS = ("test_direct_", "test_wire_")
HEAVY = ("browser", "stories", CLIENTS, "", "runs", "server", "contracts")
"""Folders of tests whose files are begun first, so that light ones are left for the end; "" is that of all."""
WATCHED = 60.0
"""Seconds in which what ends a hanging test watches its file as a whole: to watch each takes a thread for each. A test
which fails has it watch no more.
"""
WHOLE = ("browser", "stories", CLIENTS)
"""What one process runs as a whole: these files share what is slow to start."""


class Whole(pytest.File):
    """A file of tests, not loaded yet."""

    def collect(self) -> Iterator[FileTests]:
        yield FileTests.from_parent(self, name="tests")


class FileTests(pytest.Item):
    """All tests of a file, as one item for whoever hands out items."""

    def runtest(self) -> None:
        raise AssertionError("its tests are run one by one")

    def tests(self) -> list[pytest.Item]:
        """Load the file, and collect its tests."""
        assert self.parent is not None
        module = pytest.Module.from_parent(self.parent.parent, path=self.path)
        gc.collect()  # of what the last file left; all before it is frozen
        gc.disable()
        try:
            items = list(self.session.genitems(module))
            self.config.hook.pytest_collection_modifyitems(session=self.session, config=self.config, items=items)
        finally:
            gc.freeze()
            gc.enable()
        return items

    def run_tests(self, nextitem: pytest.Item | None) -> None:
        """Run them, and report on each."""
        tests, items = self.tests(), self.session.items
        if not tests:  # what the file before it left set up may be nothing to the next one
            self.session._setupstate.teardown_exact(nextitem)
        place = items.index(self)
        manager, began = self.config.pluginmanager, time.monotonic()
        unwatched = manager.subset_hook_caller("pytest_runtest_protocol", [manager.get_plugin("faulthandler")])
        try:
            for test, following in zip(tests, [*tests[1:], nextitem], strict=False):
                items[place] = test  # whose report it is that xdist sends
                watches_file = time.monotonic() - began < WATCHED and not self.session.testsfailed
                run = unwatched if watches_file else self.config.hook.pytest_runtest_protocol
                run(item=test, nextitem=following)
                if self.session.shouldfail or self.session.shouldstop:
                    break
        finally:
            items[place] = self


def is_wanted(config: pytest.Config) -> bool:
    """Whether this is one of several processes, and whole files are asked for."""
    chosen = any("::" in argument for argument in config.args)
    again = any(config.getoption(name, default=False) for name in ("lf", "failedfirst", "newfirst", "stepwise"))
    return hasattr(config, "workerinput") and not (chosen or again)


class ByFile:
    """The plugin of a process which is handed files."""

    def __init__(self, processes: int) -> None:
        self._processes = processes

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makemodule(self, module_path: object, parent: pytest.Collector) -> pytest.Collector:
        whole: Whole = Whole.from_parent(parent, path=module_path)
        return whole

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, object, object]:
        """Files are neither chosen by marks nor by names: their tests are, once they are collected."""
        files = [each for each in items if isinstance(each, FileTests)]
        items[:] = [each for each in items if not isinstance(each, FileTests)]
        result = yield
        items += dealt(files, self._processes)
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if not isinstance(item, FileTests):
            return None
        item.run_tests(nextitem)
        return True


def dealt(files: Sequence[FileTests], hands: int) -> list[FileTests]:
    """The files in as many runs as there are processes, each of which begins with its heaviest."""
    ordered = sorted(files, key=lambda file: (HEAVY.index(_kind(file)), _together(file)))
    groups = [list(some) for _, some in groupby(ordered, key=_together)]
    return [file for hand in range(hands) for group in groups[hand::hands] for file in group]


def _kind(file: FileTests) -> str:
    parts = file.path.relative_to(file.config.rootpath).parts
    if parts[-1].startswith(_CLIENTS):
        return CLIENTS
    return parts[1] if len(parts) > 2 and parts[1] in HEAVY else "" if len(parts) == 2 else HEAVY[-1]


def _together(file: FileTests) -> tuple[bool, int, str]:
    """Files which are slow on the whole before others, the largest first; files which belong together as one."""
    kind, path = _kind(file), file.path
    if kind in WHOLE:
        return (False, 0, kind)
    return (not quick.is_slow_file(path, file.config), -path.stat().st_size, str(path))
