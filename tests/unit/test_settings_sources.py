"""Where settings come from, what becomes of their values, and how wrong ones are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay import settings
from assay.core.errors import ConfigError
from assay.settings import Settings, load
from assay.settings.sections import CustomService, Limits

pytestmark = pytest.mark.usefixtures("file")


def revealed(secret: Any) -> str:
    return str(secret.reveal()) if hasattr(secret, "reveal") else str(secret.get_secret_value())


# Which source a value comes from.


def test_each_setting_of_a_table_comes_from_the_first_source_that_has_it(file: Path, monkeypatch: pytest.MonkeyPatch):
    file.write_text("[limits]\ntokens = 1\ntime = 1\nusd = 1\npages = 1\n")
    monkeypatch.setenv("ASSAY_LIMITS_TOKENS", "2")
    monkeypatch.setenv("ASSAY_LIMITS_TIME", "2")
    found = load(limits={"tokens": 3, "agents": 3}).limits
    assert (found.tokens, found.time, found.usd, found.pages, found.agents) == (3, 2.0, 1.0, 1, 3)


def test_a_table_of_a_table_is_reached_by_variables(file: Path, monkeypatch: pytest.MonkeyPatch):
    file.write_text('[server]\nport = 1\n[server.oidc]\nclient_id = "assay"\nissuer = "https://file.example.org"\n')
    monkeypatch.setenv("ASSAY_SERVER_OIDC_ISSUER", "https://login.example.org")
    monkeypatch.setenv("ASSAY_SERVER_UPLOAD_MB", "7")
    monkeypatch.setenv("ASSAY_DEPTHS_MEDIUM_CYCLES", "7")
    found = load(depths={"medium": {"plans": 2}})
    assert (found.server.oidc.issuer, found.server.oidc.client_id) == ("https://login.example.org", "assay")
    assert (found.server.port, found.server.upload_mb) == (1, 7)
    assert found.depths.changes()["medium"] == {"cycles": 7, "plans": 2}


def test_tables_in_the_environment_are_json(file: Path, monkeypatch: pytest.MonkeyPatch):
    file.write_text("[limits.calls_at_once]\nopenai = 1\nollama = 2\n")
    monkeypatch.setenv("ASSAY_SERVICES", '{"mine": {"url": "http://127.0.0.1:9/v1"}}')
    monkeypatch.setenv("ASSAY_SERVICES_YOURS", '{"url": "http://127.0.0.1:8/v1"}')
    monkeypatch.setenv("ASSAY_LIMITS", '{"tokens": 5, "pages": 5}')
    monkeypatch.setenv("ASSAY_LIMITS_TOKENS", "6")
    monkeypatch.setenv("ASSAY_LIMITS_CALLS_AT_ONCE", '{"openai": 9}')
    monkeypatch.setenv("ASSAY_DEPTHS_LIGHT", '{"cycles": 3, "plans": 3}')
    monkeypatch.setenv("ASSAY_DEPTHS_LIGHT_PLANS", "4")
    found = load()
    assert {name: each.url for name, each in found.services.items()} == {
        "mine": "http://127.0.0.1:9/v1",
        "yours": "http://127.0.0.1:8/v1",
    }
    assert (found.limits.tokens, found.limits.pages) == (6, 5)
    assert found.limits.calls_at_once == {"openai": 9, "ollama": 2}
    assert found.depths.changes()["light"] == {"cycles": 3, "plans": 4}


def test_entries_of_a_table_by_name_are_put_together(file: Path):
    file.write_text('[services.mine]\nurl = "http://127.0.0.1:9/v1"\n[services.yours]\nurl = "http://127.0.0.1:8/v1"\n')
    found = load(services={"mine": {"key": "sk-mine"}}).services
    assert sorted(found) == ["mine", "yours"]
    assert found["mine"].url == "http://127.0.0.1:9/v1"
    assert revealed(found["mine"].key) == "sk-mine"


def test_a_table_which_code_has_made_stands_for_itself(file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASSAY_LIMITS_TIME", "2")
    file.write_text("[services.mine]\nkey = 'sk-file'\n")
    service = CustomService(url="http://127.0.0.1:9/v1")
    found = Settings(limits=Limits(tokens=5), services={"mine": service})
    assert (found.limits.tokens, found.limits.time) == (5, None)
    assert found.services == {"mine": service}


def test_an_empty_variable_is_none_and_any_case_will_do(file: Path, monkeypatch: pytest.MonkeyPatch):
    file.write_text('depth = "light"\n')
    monkeypatch.setenv("ASSAY_DEPTH", "")
    monkeypatch.setenv("assay_citations", "links")
    assert (load().depth, load().citations) == ("light", "links")


def test_variables_which_are_no_settings_are_left_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASSAY_TEST_POSTGRES", "postgresql://x")
    monkeypatch.setenv("ASSAY_DEPT", "light")
    assert load().depth == "auto"


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("ASSAY_LIMITS_TOKEN", "limits.tokens"),
        ("ASSAY_DEPTHS_LIGHT_CYCLE", "depths.light.cycles"),
        ("ASSAY_SERVER_OIDC_ISUER", "server.oidc.issuer"),
    ],
)
def test_an_unknown_variable_of_a_table_is_refused(variable: str, nearest: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(variable, "1")
    with pytest.raises(ConfigError, match=f"did you mean '{nearest}'"):
        load()


def test_what_amazon_calls_its_own_counts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "planted")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bearer")
    found = load()
    assert (found.aws.region, revealed(found.aws.secret_access_key)) == ("eu-west-1", "planted")
    assert revealed(found.keys.bedrock) == "bearer"
    monkeypatch.setenv("AWS_REGION", "eu-west-2")
    assert load().aws.region == "eu-west-2"


def test_the_origin_of_a_setting(file: Path, monkeypatch: pytest.MonkeyPatch):
    file.write_text("[depths.light]\nplans = 1\n[server.oidc]\nrole = 'none'\n[keys]\nacme = 'ak'\n")
    monkeypatch.setenv("ASSAY_SERVER_OIDC_ISSUER", "https://login.example.org")
    monkeypatch.setenv("ASSAY_LIMITS", '{"pages": 5}')
    monkeypatch.setenv("ASSAY_DEPTHS_LIGHT_CYCLES", "3")
    monkeypatch.setenv("TAVILY_API_KEY", "planted")
    found = {each.name: each.origin for each in settings.describe(load()) if each.origin != "default"}
    assert found == {
        "depths.light.plans": "file",
        "depths.light.cycles": "environment",
        "server.oidc.role": "file",
        "server.oidc.issuer": "environment",
        "limits.pages": "environment",
        "keys.acme": "file",
        "keys.tavily": "environment",
    }


# What becomes of a value.


@pytest.mark.parametrize("text", ["true", "True", "1", "yes", "YES", "on", "y", "t"])
def test_true(text: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASSAY_SEARCH_OFFLINE", text)
    assert load().search.offline is True


@pytest.mark.parametrize("text", ["false", "False", "0", "no", "NO", "off", "n", "f"])
def test_false(text: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASSAY_VERIFY", text)
    monkeypatch.setenv("ASSAY_SEARCH_WEB", text)
    assert (load().verify, load().search.web) == (False, False)


@pytest.mark.parametrize("text", ["maybe", "2", "truth"])
def test_neither_true_nor_false(text: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASSAY_VERIFY", text)
    with pytest.raises(ConfigError, match="setting verify"):
        load()


@pytest.mark.parametrize("value", ["5", " 5 ", "+5", "5.0", 5, 5.0])
def test_a_whole_number(value: object):
    found = load(limits={"tokens": value}).limits.tokens
    assert (found, type(found)) == (5, int)


@pytest.mark.parametrize("value", ["2.5", " 2.5 ", "25e-1", 2.5])
def test_a_number(value: object):
    assert load(limits={"time": value}).limits.time == 2.5


def test_a_whole_number_has_thousands(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASSAY_LIMITS_TOKENS", "1_000")
    assert load().limits.tokens == 1_000


@pytest.mark.parametrize("endless", ["inf", float("inf"), "1e400"])
def test_an_endless_limit_is_none_and_no_other_number_is_endless(endless: object):
    assert load(limits={"usd": endless, "usd_per_day": endless}).limits == load().limits
    for table in ({"timeouts": {"total": endless}}, {"documents": {"max_file_mb": endless}}):
        with pytest.raises(ConfigError, match="expected a number"):
            load(**table)
    with pytest.raises(ConfigError, match="expected a number"):
        load(limits={"usd": "-inf"})


@pytest.mark.parametrize(
    "value", ["", "five", "5.5", 5.5, "0", 0, -1, [5], {"a": 1}, "none", "0x5", "nan", "9" * 5_000]
)
def test_no_whole_number(value: object):
    with pytest.raises(ConfigError, match=r"setting limits\.tokens"):
        load(limits={"tokens": value})


@pytest.mark.parametrize(("port", "well"), [(0, True), (65_535, True), (65_536, False), (-1, False)])
def test_bounds(port: int, well: bool):
    if well:
        assert load(server={"port": port}).server.port == port
    else:
        with pytest.raises(ConfigError, match=r"setting server\.port"):
            load(server={"port": port})


@pytest.mark.parametrize("value", ["a, b,,c ,", '["a", "b", "c"]', ["a", "b", "c"], ("a", "b", "c")])
def test_a_list_of_names(value: object):
    assert load(search={"providers": value}).search.providers == ("a", "b", "c")


@pytest.mark.parametrize("value", [5, [5], {"a": "b"}, [["a"]], [None]])
def test_no_list_of_names(value: object):
    with pytest.raises(ConfigError, match=r"setting search\.providers"):
        load(search={"providers": value})


def test_a_list_of_tools_is_not_empty():
    for wrong in ({"agents": {"tools": []}}, {"models": {"judge": ""}}):
        with pytest.raises(ConfigError, match=r"setting (agents\.tools|models\.judge)"):
            load(**wrong)


def test_paths(file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HOME", str(tmp_path))
    file.write_text('blobs = "~/blobs"\n[log]\nfile = "~/log"\n[server]\nfolders = ["/a", "b"]\n')
    found = load(home=Path("~/home"))
    assert (found.home, found.blobs, found.log.file) == (tmp_path / "home", tmp_path / "blobs", tmp_path / "log")
    assert found.server.folders == (Path("/a"), Path("b"))
    assert load(blobs=" s3://bucket/prefix ").blobs == "s3://bucket/prefix"
    for wrong in ("ftp://host/x", "s3://", "s3://key@bucket/x"):
        with pytest.raises(ConfigError, match=r"setting blobs: .*address|setting blobs: .*expected a folder"):
            load(blobs=wrong)


def test_texts_which_are_read_closely():
    found = load(length="300", language="PT_br", server={"origins": "https://App.corp, *"}, database="none")
    assert (found.length, found.language, found.server.origins) == (300, "pt-BR", ("https://app.corp", "*"))
    assert found.database is None
    assert load(length=" Long ").length == "long"
    for name, value in (("length", "5"), ("length", 5), ("length", "endless"), ("language", "x"), ("strategy", 5)):
        with pytest.raises(ConfigError, match=f"setting {name}"):
            load(**{name: value})
    with pytest.raises(ConfigError, match=r"setting server\.origins: .*as browsers do"):
        load(server={"origins": ["https://app.corp/path"]})
    with pytest.raises(ConfigError, match=r"setting server\.oidc\.issuer: .*https://"):
        load(server={"oidc": {"issuer": "http://login.example.org"}})


@pytest.mark.parametrize("value", ["Light", "", "bottomless", 5, ["light"], None])
def test_one_of_several_words(value: object):
    with pytest.raises(ConfigError, match=r"setting depth: .*auto.*light.*medium.*extended"):
        load(depth=value)


def test_what_may_be_unset_may_be_set_to_nothing_in_code(file: Path):
    file.write_text("[limits]\ntokens = 5\n")
    assert load(limits={"tokens": None}).limits.tokens is None


# Who is refused, and in which words.


def test_several_wrong_settings_are_named_at_once(file: Path, monkeypatch: pytest.MonkeyPatch):
    file.write_text('depth = "deep"\nspeed = 5\n[limits]\ntokens = 0\n[services.mine]\n[mcp.docs]\nmax_mb = 1\n')
    monkeypatch.setenv("ASSAY_WORKERS_SLOTS", "many")
    with pytest.raises(ConfigError) as raised:
        load()
    for name in ("setting depth", "limits.tokens", "services.mine.url", "workers.slots", "no setting named 'speed'"):
        assert name in str(raised.value)


@pytest.mark.parametrize("table", ["limits", "services", "keys", "depths"])
def test_a_value_is_no_table(table: str, file: Path):
    file.write_text(f"{table} = 5\n")
    with pytest.raises(ConfigError, match=f"setting {table}"):
        load()


def test_a_variable_which_should_be_json_and_is_not(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASSAY_SERVICES", "{planted")
    with pytest.raises(ConfigError, match="services") as raised:
        load()
    assert "planted" not in str(raised.value)


def test_an_unknown_name_in_code_is_refused():
    for wrong in ({"limit": 5}, {"limits": {"token": 5}}, {"services": {"mine": {"urls": "http://127.0.0.1:9/v1"}}}):
        with pytest.raises(ConfigError, match=r"no setting named '(limit|limits\.token|services\.mine\.urls)'"):
            load(**wrong)


def test_settings_which_exclude_one_another():
    for wrong, why in (
        ({"mcp": {"docs": {"url": "https://mcp.example.org/mcp", "command": ["serve"]}}}, "either a url or a command"),
        ({"mcp": {"docs": {}}}, "either a url or a command"),
        ({"catalogue": {"mine:m": {"output_price": 1}}}, "go together"),
        ({"depths": {"light": {"min_steps": 4, "max_steps": 2}}}, "min_steps is 4, and max_steps only 2"),
    ):
        with pytest.raises(ConfigError, match=why):
            load(**wrong)


@pytest.mark.parametrize("name", ["a b", "a:b", "a\n", "", "ä", "a" * 65])
def test_names_of_services_and_holders_of_keys(name: str):
    assert revealed(load(keys={"acme-2": "ak"}).keys.of("acme-2")) == "ak"
    assert load().keys.of("acme-2") is None
    for wrong in ({"keys": {name: "planted"}}, {"services": {name: {"url": "http://127.0.0.1:9/v1"}}}):
        with pytest.raises(ConfigError) as raised:
            load(**wrong)
        assert "planted" not in str(raised.value)


def test_settings_do_not_change():
    found = load()
    for table, name in ((found, "depth"), (found.limits, "tokens"), (found.keys, "openai")):
        with pytest.raises((AttributeError, ValueError, TypeError)):
            setattr(table, name, None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"limits = [", "is not valid TOML"),
        (b'a = "\xff"', "is not text in UTF-8: save it as UTF-8"),
        ('depth = "light"'.encode("utf-16"), "is not text in UTF-8"),
        (b"a=" + b"[" * 9_000, "cannot be read"),
    ],
)
def test_a_file_which_cannot_be_read(text: bytes, why: str, file: Path):
    file.write_bytes(text)
    with pytest.raises(ConfigError, match=rf"config\.toml {why}"):
        load()


def test_a_folder_is_no_file(file: Path):
    file.mkdir()
    with pytest.raises(ConfigError, match="is a folder and should be a file"):
        load()


SECRETS: tuple[dict[str, Any], ...] = (
    {"keys": {"openai": "sk-planted-1", "acme": "sk-planted-1"}},
    {"database": "postgresql://me:sk-planted-1@db.corp/assay"},
    {"services": {"mine": {"url": "http://127.0.0.1:9/v1", "key": "sk-planted-1"}}},
    {"search": {"opensearch": "https://me:sk-planted-1@search.corp:9200"}},
    {"notify": "https://ntfy.corp/sk-planted-1"},
    {"signing": {"key": "sk-planted-1"}},
    {"aws": {"secret_access_key": "sk-planted-1"}},
)


@pytest.mark.parametrize("values", SECRETS, ids=lambda values: next(iter(values)))
def test_a_secret_is_never_shown(values: dict[str, Any]):
    found = load(**values)
    assert "planted" not in f"{found!r} {found} {settings.describe(found)}"
    with pytest.raises(ConfigError) as raised:
        load(**values, limits={"tokens": 0}, depth="deep")
    assert "planted" not in str(raised.value)


@pytest.mark.parametrize("password", ["cr@t", "cr/t@1", "cr#t", "cr?t", "se:cr@t/1"])
def test_a_password_with_letters_that_a_url_reserves_is_refused_unseen(
    monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    monkeypatch.setenv("ASSAY_DATABASE", f"postgresql://assay:{password}@db.corp/assay?direct=db.corp:5432")
    with pytest.raises(ConfigError) as refused:
        settings.load()
    assert "%40 (@)" in str(refused.value)
    assert password not in str(refused.value)
    assert "t/1" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://assay:se%3Acr%40t%2F1@db.corp/assay?direct=db.corp:5432",
        "postgresql:///assay",
        "postgresql:///assay?host=/run/postgresql&user=ada@corp",
        "postgresql://ada:secret@db.corp/assay?options=a@b",
    ],
)
def test_a_password_written_for_a_url_is_taken(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("ASSAY_DATABASE", url)
    found = settings.load().database
    assert found is not None
    assert found.reveal() == url


@pytest.mark.parametrize("rest", ["/assay", "/assay?host=/run/postgresql", "ana@db.corp/assay?application_name=a@b"])
def test_a_database_without_a_host_or_with_a_sign_in_its_options_is_taken(
    monkeypatch: pytest.MonkeyPatch, rest: str
) -> None:
    monkeypatch.setenv("ASSAY_DATABASE", f"postgresql://{rest}")
    found = settings.load().database
    assert found is not None
    assert found.reveal() == f"postgresql://{rest}"
