"""Modules which are loaded when something of them is first used."""

import sys

import pytest

from assay.core.later import later

NAME = "this"  # of the standard library, and imported by nobody


@pytest.fixture
def unloaded(capsys):
    sys.modules.pop(NAME, None)
    yield
    sys.modules.pop(NAME, None)
    capsys.readouterr()  # it prints a poem


@pytest.mark.usefixtures("unloaded")
def test_a_module_is_loaded_when_something_of_it_is_asked_for():
    module = later(NAME)
    assert NAME not in sys.modules
    assert module.s.startswith("Gur Mra")
    assert NAME in sys.modules


def test_what_it_gives_is_the_module_s_own():
    import json

    module = later("json")
    assert module.dumps is json.dumps
    assert module.decoder.JSONDecoder is json.JSONDecoder


def test_what_is_not_there_is_said_when_it_is_asked_for():
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = later("json").nothing_like_it
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        _ = later("no_such_module").anything
