import json
from pathlib import Path

import pytest

from assay import settings
from assay.core.depths import REFLECTIVE_DEPTHS, changed_depths
from assay.core.errors import ConfigError, UnknownName
from assay.services.briefs import make_brief
from assay.settings import file as file_of_settings

pytestmark = pytest.mark.usefixtures("file")


def by_name(name: str) -> settings.Setting:
    return next(each for each in settings.describe(settings.load()) if each.name == name)


def test_without_file_and_environment_everything_is_at_its_default():
    loaded = settings.load()
    assert (loaded.models.complex, loaded.roles()["complex"]) == (None, ("extractive",))
    assert loaded.limits.tokens is None
    assert {each.origin for each in settings.describe(loaded)} == {"default"}


def test_files_in_the_folder_of_secrets_stand_for_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "secrets"
    (folder / "..data").mkdir(parents=True)
    for name, text in (
        ("assay_keys_brave", "b-1\n"),
        ("OPENAI_API_KEY", "o-1"),
        ("ASSAY_DEPTH", "light"),
        ("other", "x"),
    ):
        (folder / name).write_text(text)
    (folder / "keystore").write_bytes(b"\xff\x00")
    monkeypatch.setenv("ASSAY_SECRETS", str(folder))
    monkeypatch.setenv("ASSAY_DEPTH", "medium")
    monkeypatch.setenv("OPENAI_API_KEY", "")  # as good as not set
    loaded = settings.load()
    assert [loaded.keys.of(name).reveal() for name in ("brave", "openai")] == ["b-1", "o-1"]
    assert loaded.depth == "medium"
    monkeypatch.setenv("ASSAY_SECRETS", str(tmp_path / "none"))
    with pytest.raises(ConfigError, match=r"ASSAY_SECRETS: .*none cannot be read \(No such file"):
        settings.load()


def test_every_setting_has_a_meaning():
    assert [each.name for each in settings.describe(settings.load()) if not each.description] == []


def test_one_model_plays_every_role_nobody_else_is_named_for(file: Path, monkeypatch: pytest.MonkeyPatch):
    file.write_text('[models]\ncomplex = ["openai:gpt-5", "ollama:qwen3"]\n')
    assert settings.load().roles()["simple"] == ("extractive",)
    monkeypatch.setenv("ASSAY_MODEL", " vllm:m, extractive")
    assert settings.load().roles() == {
        "simple": ("vllm:m", "extractive"),
        "analytical": ("vllm:m", "extractive"),
        "complex": ("openai:gpt-5", "ollama:qwen3"),
        "judge": ("vllm:m", "ollama:qwen3", "openai:gpt-5"),  # of another family than the writer: `core.ports.models`
    }


@pytest.mark.parametrize("key", ["sk-é", "“sk-planted”", "sk planted", "sk\x00planted"])
def test_what_no_header_can_carry_is_no_key_and_is_not_repeated(key: str, file: Path, monkeypatch: pytest.MonkeyPatch):
    file.write_text(f"[keys]\nopenai = {json.dumps(key)}\n")
    with pytest.raises(ConfigError, match="printable ASCII") as raised:
        settings.load()
    assert "planted" not in str(raised.value)


def test_white_space_around_a_key_is_not_a_part_of_it(file: Path, monkeypatch: pytest.MonkeyPatch):
    file.write_text('[services.mine]\nurl = "https://llm.example.org/v1"\nkey = "sk-trail\\n"\n')
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted\r\n")
    monkeypatch.setenv("MISTRAL_API_KEY", " ")
    loaded = settings.load()
    keys = (loaded.keys.openai, loaded.services["mine"].key)
    assert [key.reveal() for key in keys if key] == ["sk-planted", "sk-trail"]
    assert loaded.keys.mistral is None


@pytest.mark.parametrize(
    "url", ["", "localhost:1234", "ftp://a/b", "http://", "http://exa mple", "http://[::1", "http://a:b"]
)
def test_an_address_is_checked_when_the_settings_are_read(url: str, file: Path):
    file.write_text(f'[services.mine]\nurl = "{url}"\n')
    with pytest.raises(ConfigError, match=r"services\.mine\.url"):
        settings.load()


def test_a_mark_before_utf8_is_no_part_of_the_file(file: Path):
    """Editors and shells of Windows write it."""
    file.write_bytes(b'\xef\xbb\xbfdepth = "light"\n')
    assert settings.load().depth == "light"
    file_of_settings.change({"length": "short"})
    assert (settings.load().depth, settings.load().length) == ("light", "short")


def test_services_and_the_catalogue_are_the_users_to_fill(file: Path):
    file.write_text(
        '[services.mine]\nurl = "http://127.0.0.1:9/v1"\n'
        '[catalogue."mine:m"]\nwindow = 16_000\ninput_price = 1.5\noutput_price = 4\n'
    )
    loaded = settings.load()
    assert loaded.services["mine"].url == "http://127.0.0.1:9/v1"
    assert loaded.catalogue["mine:m"].window == 16_000


@pytest.mark.parametrize("name", ["ASSAY_KEYS_OPENAI", "OPENAI_API_KEY"])
def test_keys_are_masked_wherever_they_show(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, "sk-very-secret")
    loaded = settings.load()
    assert loaded.keys.openai is not None
    assert loaded.keys.openai.reveal() == "sk-very-secret"
    assert "very-secret" not in repr(loaded) + str(settings.describe(loaded))
    assert (by_name("keys.openai").value, by_name("keys.openai").origin) == ("***", "environment")


def test_our_variable_beats_the_providers_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EXA_API_KEY", "theirs")
    monkeypatch.setenv("ASSAY_KEYS_EXA", "ours")
    key = settings.load().keys.exa
    assert key is not None
    assert key.reveal() == "ours"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("limits.tokens", "5", 5),
        ("verify", "no", False),
        ("models.judge", "a, b", ["a", "b"]),
        ("depth", "light", "light"),
        ("keys.tavily", "secret", "secret"),
    ],
)
def test_text_becomes_a_value_for_the_file(name: str, text: str, value: object):
    assert settings.parse(name, text) == value


def test_a_wrong_name_or_value_is_not_for_the_file():
    with pytest.raises(UnknownName, match="did you mean 'depth'"):
        settings.parse("dept", "light")
    with pytest.raises(ConfigError, match="depth"):
        settings.parse("depth", "bottomless")


@pytest.mark.parametrize(
    ("variables", "color", "interactive"),
    [
        ({}, True, True),
        ({"NO_COLOR": "1"}, False, True),
        ({"CI": "true"}, True, False),
        ({"CI": "false"}, True, True),
        ({"TERM": "dumb"}, False, False),
    ],
)
def test_surroundings(variables: dict[str, str], color: bool, interactive: bool, monkeypatch: pytest.MonkeyPatch):
    for name in ("NO_COLOR", "CI", "TERM", "SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert settings.terminal_environment() == settings.TerminalEnvironment(
        color=color, interactive=interactive, remote=False
    )
    monkeypatch.setenv("SSH_TTY", "/dev/pts/3")
    assert settings.terminal_environment().remote


def test_the_page_on_settings_has_the_numbers_of_every_depth():
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
    for each in settings.describe(settings.load()):
        if each.name.startswith("depths."):
            number = each.name.rpartition(".")[2]
            row = next(line for line in page.splitlines() if line.startswith(f"| `{number}` |"))
            assert f" `{each.default}` " in row, each.name
            assert row.endswith(f" {each.description} |")


# depths


def test_the_numbers_of_a_depth_are_set_in_the_file_and_in_the_environment(file: Path, monkeypatch: pytest.MonkeyPatch):
    file.write_text("[depths.medium]\nagents_at_once = 5\ncycles = 6\n")
    monkeypatch.setenv("ASSAY_DEPTHS_MEDIUM_CYCLES", "7")
    loaded = settings.load()
    assert loaded.depths.changes() == {"light": {}, "medium": {"agents_at_once": 5, "cycles": 7}, "extended": {}}
    known = {each.name: each for each in settings.describe(loaded)}
    assert (known["depths.medium.cycles"].value, known["depths.medium.cycles"].origin) == ("7", "environment")
    assert known["depths.medium.agents_at_once"].origin == "file"
    assert known["depths.medium.agents_at_once"].default == "3; reflective: 1"
    assert (known["depths.light.cycles"].value, known["depths.light.cycles"].origin) == ("", "default")


def test_a_number_of_a_depth_is_checked():
    assert settings.parse("depths.light.words", "250") == 250
    for name, value, wrong in (
        ("depths.light.cycles", "0", r"setting depths.light.cycles: expected a whole number from 1 to 100"),
        ("depths.light.agent_share", "1.5", r"expected a number above 0 and at most 1"),
        ("depths.light.cycle", "1", r"no setting named 'depths.light.cycle'.*depths.light.cycles"),
    ):
        with pytest.raises((ConfigError, UnknownName), match=wrong):
            settings.parse(name, value)


def test_a_brief_keeps_the_numbers_of_its_strategy():
    made = settings.load(depths={"medium": {"max_steps": 4}, "light": {"words": 80}})
    brief = make_brief("How?", made, {"strategy": "reflective"})
    assert (brief.rules("medium").max_steps, brief.rules("medium").cycles) == (4, 5)
    assert (brief.rules("light").words, brief.rules("light").queries) == (80, 2)
    assert brief.rules("extended") == REFLECTIVE_DEPTHS["extended"]
    assert set(brief.depths) == {"light", "medium", "extended"}


def test_of_the_least_and_the_most_of_steps_the_one_nobody_set_gives_way():
    fewer = make_brief("How?", settings.load(depths={"medium": {"max_steps": 2}}), {}).rules("medium")
    more = make_brief("How?", settings.load(depths={"light": {"min_steps": 8}}), {}).rules("light")
    assert (fewer.min_steps, fewer.max_steps, more.min_steps, more.max_steps) == (2, 2, 8, 8)
    with pytest.raises(
        ConfigError, match=r"depth light has at least 4 and at most 2 steps; set depths.light.min_steps"
    ):
        changed_depths("orchestrated", {"light": {"min_steps": 4, "max_steps": 2}})
