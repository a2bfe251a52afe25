"""Patterns that are compiled when first used are what `re.compile` makes."""

from __future__ import annotations

import importlib
import pkgutil
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

import assay
from assay.core.patterns import compile_all, regex


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
