"""What a log hides: keys whole, of a database's address the password alone."""

import pytest

from assay.app.composition import secrets_of
from assay.core.ports.models import Secret
from assay.settings import Settings
from assay.settings.sections import CustomService, Keys


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))


def hidden(url: str) -> set[str]:
    return set(secrets_of(Settings(database=Secret(url), keys=Keys())))


@pytest.mark.parametrize(
    ("url", "passwords"),
    [
        ("postgresql://ada:kestrel@db.example.org:5432/assay", {"kestrel"}),
        ("postgres://ada:kes%40trel@db.example.org/assay", {"kes%40trel", "kes@trel"}),
        ("postgresql://ada:kestrel@db.example.org/assay?options=a@b", {"kestrel"}),
        ("postgresql://db.example.org/assay?user=ada&password=kestrel", {"kestrel"}),
        ("postgresql://ada@db.example.org/assay", set()),
        ("postgresql:///assay", set()),
    ],
)
def test_of_a_database_the_password_alone_is_hidden(url: str, passwords: set[str]):
    assert hidden(url) == passwords


def test_keys_are_hidden_whole():
    keys = Keys(openai=Secret("sk-1"), acme="sk-3")
    services = {"acme": CustomService(url="https://acme.example.org/v1", key=Secret("ak-2"))}
    assert {"sk-1", "ak-2", "sk-3"} <= set(secrets_of(Settings(keys=keys, services=services)))
