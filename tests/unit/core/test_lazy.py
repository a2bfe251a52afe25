"""Modules which are loaded, and patterns which are compiled, when something of them is first used."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

import assay
from assay.core.lazy import compile_all, lazy_module, regex

NAME = "this"  # of the standard library, and imported by nobody


@pytest.fixture
def unloaded(capsys):
    sys.modules.pop(NAME, None)
    yield
    sys.modules.pop(NAME, None)
    capsys.readouterr()  # it prints a poem


@pytest.mark.usefixtures("unloaded")
def test_a_module_is_loaded_when_something_of_it_is_asked_for():
    module = lazy_module(NAME)
    assert NAME not in sys.modules
    assert module.s.startswith("Gur Mra")
    assert NAME in sys.modules


def test_what_it_gives_is_the_module_s_own():
    import json

    module = lazy_module("json")
    assert module.dumps is json.dumps
    assert module.decoder.JSONDecoder is json.JSONDecoder


def test_what_is_not_there_is_said_when_it_is_asked_for():
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = lazy_module("json").nothing_like_it
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        _ = lazy_module("no_such_module").anything


def test_it_is_compiled_at_its_first_use_with_its_flags():
    made = regex(r"(?P<n>[a-z])\d", re.IGNORECASE)
    assert made.pattern == r"(?P<n>[a-z])\d"
    assert "search" not in vars(made)
    assert made.search("xA1").group("n") == "A"  # type: ignore[union-attr]
    assert vars(made)["search"]("b2") is not None
    expected = re.compile(made.pattern, re.IGNORECASE)
    assert (made.flags, made.groups, dict(made.groupindex)) == (expected.flags, 1, {"n": 1})
    assert made.sub("-", "a1 b2") == "- -"


def test_a_mistake_is_told_at_the_first_use():
    made = regex("(")
    with pytest.raises(re.error, match="missing"):
        made.match("")
    with pytest.raises(re.error, match="missing"):
        compile_all()


def test_several_threads_may_use_it_first():
    for number in range(50):
        made = regex(rf"a{{{number}}}b")
        with ThreadPoolExecutor(4) as threads:
            assert all(threads.map(lambda _: made.match("a" * number + "b"), range(4)))  # noqa: B023


def test_the_patterns_of_all_modules_compile():
    for module in pkgutil.walk_packages(assay.__path__, "assay."):
        if "migrations" not in module.name and not module.name.endswith("__main__"):
            with suppress(ImportError):  # an extra that is not installed
                importlib.import_module(module.name)
    compile_all()
