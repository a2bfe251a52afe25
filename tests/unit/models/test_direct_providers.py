"""What the providers have in common: making a model, listing them, and the key, address and extra they want."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest
from provider_server import ProviderServer, check_nothing, provider_server

from assay.core.errors import ConfigError, ModelError
from assay.core.messages import Message, ModelFacts, Request
from assay.core.ports import Access
from assay.core.ports.models import Secret
from assay.models.direct import SERVICES, Direct, create

KEY = Secret("planted-0123456789")
NAMES = ["anthropic", "google"]


def at(server: ProviderServer, name: str) -> Direct:
    return create(f"{name}:m", Access(url=server.url, key=KEY))


@pytest.mark.parametrize("name", NAMES)
async def test_a_provider_lists_its_models(name: str) -> None:
    with provider_server(check=check_nothing) as server:
        assert await at(server, name).offered() == (f"{name}:m-1", f"{name}:m-2")


async def test_a_list_which_cannot_be_had() -> None:
    nobody = create("google:m", Access(url="http://127.0.0.1:9", key=KEY))
    with pytest.raises(ModelError, match=r"does not answer at http://127\.0\.0\.1:9"):
        await nobody.offered()
    bedrock = create("bedrock:m", Access(url="https://bedrock-runtime.eu-west-1.amazonaws.com", key=KEY))
    with pytest.raises(ModelError, match="no list"):
        await bedrock.offered()
    with provider_server(check=check_nothing) as server:
        lost = create("google:m", Access(url=server.url + "/nowhere", key=KEY))
        with pytest.raises(ModelError, match="404"):
            await lost.offered()


@pytest.mark.parametrize(
    ("name", "access", "word"),
    [
        ("anthropic:", Access(key=KEY), "anthropic:MODEL"),
        ("anthropic:m", Access(), "ANTHROPIC_API_KEY"),
        ("google:m", Access(), "GEMINI_API_KEY"),
        ("google:m", Access(url="http://127.0.0.1:9"), "services.google.key"),
        ("bedrock:m", Access(key=KEY), "AWS_REGION, or services.bedrock.url"),
        ("bedrock:m", Access(region="eu-west-1"), "AWS_BEARER_TOKEN_BEDROCK .* AWS_ACCESS_KEY_ID and"),
        ("bedrock:m", Access(key=KEY, url="http://127.0.0.1:9"), "https"),
        ("google:m", Access(key=KEY, url="ftp://x"), "http://"),
        ("nobody:m", Access(key=KEY), "anthropic, bedrock"),
    ],
)
def test_what_is_missing_is_named(name: str, access: Access, word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        create(name, access)


def test_a_missing_extra_is_named() -> None:
    """In a process which cannot find the client libraries: nothing of ours imports them before they are needed."""
    code = (
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name.partition('.')[0] in ('pydantic_ai', 'anthropic', 'google'): raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "from assay.core.errors import ConfigError\n"
        "from assay.core.ports import Access\n"
        "from assay.models.direct import create\n"
        "for name in ('anthropic', 'google'):\n"
        "    try: create(f'{name}:m', Access())\n"
        "    except ConfigError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    for name, line in zip(NAMES, done.stdout.splitlines(), strict=True):
        assert f"pip install 'assay[{name}]'" in line


def test_making_a_model_imports_no_client() -> None:
    code = (
        "import sys\n"
        "from assay.core.ports import Access\n"
        "from assay.core.ports.models import Secret\n"
        "from assay.models.direct import create\n"
        "create('anthropic:m', Access(key=Secret('x')))\n"
        "print([name for name in ('pydantic_ai', 'anthropic') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        ("anthropic:claude-sonnet-4-6", False),
        ("anthropic:claude-opus-5-5", True),
        ("anthropic:claude-fable-5-1", True),
        ("google:gemini-2.5-pro", True),
        ("google:gemini-2.5-flash", False),
        ("google:gemini-2.0-flash", False),
    ],
)
def test_who_always_reasons_is_known_without_the_library_and_as_it_says(name: str, reasons: bool) -> None:
    from assay.models.direct.conversation import client

    provider, _, model = name.partition(":")
    made = create(name, Access(key=KEY))
    assert made.profile.native_reasoning is reasons
    library = client(SERVICES[provider], model, "x").model.profile
    assert bool(library.get("thinking_always_enabled")) is reasons


async def test_bedrock_is_asked_with_its_key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No region, no credentials and no retries of the surroundings: one try, at the address given."""
    pytest.importorskip("boto3", reason="the extra `bedrock` is not installed")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    model = create("bedrock:us.amazon.nova-pro-v1:0", Access(url="https://127.0.0.1:9", key=KEY))
    asked = Request(task="plan", system="", messages=(Message(role="user", text="?"),))
    with pytest.raises(ModelError, match=r"bedrock at .* cannot be reached") as raised:
        await anext(model.stream(asked))
    await model.close()
    assert raised.value.transient
    assert KEY.reveal() not in str(raised.value)


async def test_bedrock_signs_with_the_keys_it_is_given_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("boto3", reason="the extra `bedrock` is not installed")
    from assay.models.direct.conversation import client

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIANOTTHIS")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-this-one")
    signing = tuple(map(Secret, ("AKIAPLANTED", "planted-secret-key", "planted-session-token")))
    model = create("bedrock:amazon.nova-pro-v1:0", Access(region="eu-west-1", signing=signing))
    assert "planted" not in f"{vars(model)}"
    service = msgspec.structs.replace(SERVICES["bedrock"], url="https://bedrock-runtime.eu-west-1.amazonaws.com")
    own = client(service, "amazon.nova-pro-v1:0", "", tuple(each.reveal() for each in signing)).model.client
    sent: list[dict[str, bytes]] = []

    def stop(request: object, **_: object) -> None:
        sent.append(dict(request.headers))  # type: ignore[attr-defined]
        raise ConnectionAbortedError

    own.meta.events.register("before-send.bedrock-runtime.Converse", stop)
    with pytest.raises(ConnectionAbortedError):
        own.converse(modelId="m", messages=[{"role": "user", "content": [{"text": "?"}]}])
    authorization = str(sent[0]["Authorization"])
    assert "AWS4-HMAC-SHA256 Credential=AKIAPLANTED/" in authorization
    assert "/eu-west-1/bedrock/" in authorization
    assert "planted-session-token" in str(sent[0]["X-Amz-Security-Token"])


def test_an_api_key_of_bedrock_comes_before_what_signs() -> None:
    signing = (Secret("AKIAPLANTED"), Secret("planted-secret-key"))
    model = create("bedrock:m", Access(key=KEY, region="eu-west-1", signing=signing))
    assert model._signing_keys == ()
    elsewhere = create("bedrock:m", Access(url="https://vpce.example", region="eu-west-1", signing=signing))
    assert elsewhere._service.url == "https://vpce.example"


def test_a_users_word_comes_first() -> None:
    facts = ModelFacts(window=9_000, native_reasoning=False)
    profile = create("google:gemini-2.5-pro", Access(key=KEY, facts=facts)).profile
    assert (profile.window, profile.native_reasoning) == (9_000, False)
    known = create("anthropic:claude-sonnet-4-5", Access(key=KEY)).profile
    assert known.price is not None
    assert known.window >= 200_000
    assert not known.local


def test_a_key_is_shown_nowhere() -> None:
    assert KEY.reveal() not in f"{vars(create('google:m', Access(key=KEY)))}"
