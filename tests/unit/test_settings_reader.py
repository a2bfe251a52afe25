"""What the reader of settings says of wrong ones, and that it says nothing of their values."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as some

from assay.core.errors import ConfigError
from assay.core.ports.models import Secret
from assay.settings import Settings, describe, load, names
from assay.settings.reader import dotted_settings
from assay.settings.research import SearchSettings
from assay.settings.sections import Keys, Limits

pytestmark = pytest.mark.usefixtures("file")
PLANTED = "sk-planted-1"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"limits": {"tokens": 0}}, "setting limits.tokens: expected a whole number above 0"),
        ({"limits": {"user_runs_per_day": -1}}, "setting limits.user_runs_per_day: expected a whole number of at"),
        ({"depths": {"light": {"cycles": 0}}}, "setting depths.light.cycles: expected a whole number from 1 to 100"),
        ({"depths": {"light": {"stop_share": 2}}}, "expected a number above 0 and at most 1"),
        ({"workers": {"slots": True}}, "setting workers.slots: expected a whole number from 1 to 1,000"),
        ({"verify": "maybe"}, "setting verify: expected true or false"),
        ({"depth": "deep"}, "setting depth: expected auto, light, medium or extended"),
        ({"home": 5}, "setting home: expected a path"),
        ({"blobs": 5}, "setting blobs: expected a path or text"),
        ({"search": {"providers": 5}}, "setting search.providers: expected a list of text"),
        ({"agents": {"tools": []}}, "setting agents.tools: expected a list of text, not empty"),
        ({"server": 5}, "setting server: expected a table"),
        ({"services": {"a b": {"url": "http://a/v1"}}}, "setting services.a b: expected a name of letters, digits"),
        ({"services": {"mine": {}}}, "setting services.mine.url: it is missing"),
        ({"limits": {"calls_at_once": {"openai": 0}}}, "setting limits.calls_at_once.openai: expected a whole number"),
        ({"keys": {"openai": 5}}, "setting keys.openai: expected text"),
        ({"blobs": "s3://[planted"}, "setting blobs: this is no address"),
        ({"server": {"origins": ["http://[planted"]}}, "setting server.origins: this is no address"),
        ({"home": "~nobody-here/x"}, "setting home: the user after its `~` has no folder here"),
        ({"aws": {"region": "Frankfurt!"}}, "setting aws.region: expected the name of a region, like eu-west-1"),
    ],
)  # fmt: skip
def test_a_fault_says_what_is_wanted(values: dict[str, Any], said: str):
    with pytest.raises(ConfigError) as raised:
        Settings(**values)
    assert str(raised.value).startswith(said) or said in str(raised.value)
    assert "(in " not in str(raised.value)  # it is the code's own


def test_a_fault_says_where_it_is(file: Path, monkeypatch: pytest.MonkeyPatch):
    file.write_text("[limits]\ntokens = 0\ntoken = 1\n")
    monkeypatch.setenv("ASSAY_DEPTH", "deep")
    with pytest.raises(ConfigError) as raised:
        load(verify="maybe")
    assert str(raised.value).split("; ") == [
        "setting verify: expected true or false",
        "setting depth: expected auto, light, medium or extended (in the environment)",
        f"setting limits.tokens: expected a whole number above 0 (in {file})",
        "no setting named 'limits.token'",
        f"did you mean 'limits.tokens'? (in {file})",
    ]


def test_a_table_is_checked_where_code_makes_it():
    with pytest.raises(ConfigError, match="setting index: expected local, postgres or opensearch"):
        SearchSettings(index="elsewhere")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="no setting named 'token'; did you mean 'tokens'"):
        Limits(token=5)  # type: ignore[call-arg]
    assert Limits(tokens="5").tokens == 5  # type: ignore[arg-type]


def test_a_copy_has_what_is_changed_and_is_checked_as_a_whole():
    found = load(limits={"tokens": 5})
    changed = msgspec.structs.replace(found, limits=msgspec.structs.replace(found.limits, tokens=6))
    assert (found.limits.tokens, changed.limits.tokens, changed == found) == (5, 6, False)
    assert msgspec.structs.replace(changed, limits=found.limits) == found


def test_a_judge_is_named_or_not(monkeypatch: pytest.MonkeyPatch):
    assert (load().names_judge, load(models={"complex": "mine:m"}).names_judge) == (False, False)
    assert load(models={"judge": "extractive"}).names_judge
    assert load(models={"judge": "a:m"}).models.models_by_role == {"judge": ("a:m",)}
    shown = {each.name: (each.value, each.default) for each in describe(load(models={"judge": "a:m"}))}
    assert (shown["models.judge"], shown["models.simple"]) == (("a:m", "extractive"), ("extractive", "extractive"))


def test_a_key_may_have_any_name_even_that_of_a_field():
    keys = Keys(others="ak-1", acme="ak-2", openai="ak-3")  # type: ignore[call-arg, arg-type]
    assert [key.reveal() for name in ("others", "acme", "openai") if (key := keys.of(name))] == ["ak-1", "ak-2", "ak-3"]
    assert "keys.others" not in names()


def test_an_entry_of_a_table_says_where_it_comes_from(file: Path):
    file.write_text('[services.mine]\nurl = "http://127.0.0.1:9/v1"\n')
    (services,) = [each for each in describe(load()) if each.name == "services"]
    assert (services.value, services.origin) == ("mine", "file")


def test_a_secret_equals_its_like_and_is_never_stored():
    secret = Secret(PLANTED)
    assert (secret == Secret(PLANTED), secret == Secret("other"), secret == PLANTED) == (True, False, False)
    assert len({secret, Secret(PLANTED)}) == 1
    assert copy.deepcopy(secret) is copy.copy(secret) is secret
    assert PLANTED not in f"{secret} {secret!r} {secret!s} {[secret]}"
    for store in (pickle.dumps, msgspec.json.encode, msgspec.msgpack.encode, msgspec.to_builtins):
        with pytest.raises(TypeError):
            store(secret)
    assert msgspec.json.encode(load(keys={"openai": PLANTED}).keys, enc_hook=str).count(b"***") == 1


# Whatever is given.


def read(values: dict[str, Any]) -> tuple[Settings | None, str]:
    """The settings, or why there are none."""
    try:
        return Settings(**values), ""
    except ConfigError as error:
        return None, str(error)


VARIABLES = [name for name in names() if name != "language"]  # its message repeats what is no language
SECRETS = [name for name, field in dotted_settings(Settings) if "Secret" in str(field.kind)]
ANYTHING = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=8),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
PLANTING = some.sampled_from(
    (
        PLANTED,
        [PLANTED],
        {"a": PLANTED},
        f"a {PLANTED}",
        f"https://me:{PLANTED}@a b",
        f"postgresql://{PLANTED}",
        Secret(PLANTED),
    )
)


@some.composite
def tables(draw: some.DrawFn) -> dict[str, Any]:
    """Settings with any value, and among them what is secret at the places of secrets."""
    values: dict[str, Any] = {}
    places = draw(some.lists(some.sampled_from(names()) | some.text(max_size=8), max_size=4))
    for place in (*places, *draw(some.lists(some.sampled_from(SECRETS), max_size=3))):
        *above, last = place.split(".")
        into = values
        for part in above:
            into = into.setdefault(part, {}) if isinstance(into.get(part, {}), dict) else {}
        into[last] = draw(PLANTING if place in SECRETS else ANYTHING)
    return values


@examples(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(tables())
def test_whatever_is_given_is_read_or_refused_without_repeating_a_secret(values: dict[str, Any]):
    found, said = read(values)
    assert PLANTED not in said
    if found is not None:
        assert PLANTED not in f"{found!r}{describe(found)}"
        assert Settings(**{name: getattr(found, name) for name in found.__struct_fields__}) == found


@examples(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    some.dictionaries(
        some.sampled_from(VARIABLES),
        ANYTHING.map(str) | PLANTING.filter(lambda value: isinstance(value, str)),
        max_size=4,
    )
)
def test_whatever_a_variable_holds(values: dict[str, str]):
    fresh = {f"ASSAY_{name.upper().replace('.', '_')}": text.replace("\0", "") for name, text in values.items()}
    with pytest.MonkeyPatch.context() as patch:
        for name, text in fresh.items():
            patch.setenv(name, text.encode("utf-8", "replace").decode())
        assert PLANTED not in read({})[1]
