"""What every embedder keeps: services of OpenAI's format over a real connection, and models in this process."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from concepts import DIMENSIONS, vectors
from embedding_server import EmbeddingServer, serving
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sampling import scaled
from tiny_onnx import tiny_model

from assay import plugins
from assay.core.errors import ConfigError, ContextTooLong, ModelError
from assay.core.messages import ModelFacts, Price
from assay.core.ports import Access, Embedder
from assay.core.ports.models import Secret
from assay.models.embedding.service import create

KEY = "sk-planted-0123456789"
SERVICES = ("openai", "openrouter", "mistral", "ollama", "lmstudio", "llamacpp", "vllm")


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving(vectors) as state:
        yield state


@pytest.fixture(params=["service", "fastembed"])
def embedder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Embedder]:
    if request.param == "service":
        server = request.getfixturevalue("server")
        made: Embedder = create("vllm:m", Access(url=server.url))
    else:
        made = plugins.load("embedders", "fastembed")(f"fastembed:{tiny_model(tmp_path)}", Access())
    yield made
    made.close()


def fault(status: int, message: str, code: str | None = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
    found = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return status, {name.replace("_", "-"): value for name, value in headers.items()}, json.dumps(found).encode()


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


# every embedder


def test_every_embedder_of_ours_is_in_the_suite() -> None:
    assert set(plugins.names("embedders")) == {*SERVICES, "fastembed"}


def test_vectors_come_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = ["a car", "some bread", "the automobile"]
    together = embedder.embed(texts, "passage")
    alone = [embedder.embed([text], "passage").vectors[0] for text in texts]
    assert len(together.vectors) == 3
    for one, other in zip(together.vectors, alone, strict=True):
        assert cosine(list(one), list(other)) == pytest.approx(1.0, abs=1e-4)


def test_equal_texts_have_equal_vectors_all_of_one_length(embedder: Embedder) -> None:
    one, two, other = embedder.embed(["a car", "a car", "bread"], "passage").vectors
    assert list(one) == pytest.approx(list(two), abs=1e-6)
    assert len(one) == len(other) > 0
    assert cosine(list(one), list(other)) < 0.999


def test_nothing_asked_costs_nothing(embedder: Embedder) -> None:
    answer = embedder.embed([], "query")
    assert (list(answer.vectors), answer.tokens) == ([], 0)


def test_tokens_are_counted(embedder: Embedder) -> None:
    few, many = embedder.embed(["a car"], "passage"), embedder.embed(["a car"] * 5, "passage")
    assert 0 < few.tokens < many.tokens


def test_it_can_be_asked_again_after_it_was_closed(embedder: Embedder) -> None:
    before = embedder.embed(["a car"], "query").vectors[0]
    embedder.close()
    assert list(embedder.embed(["a car"], "query").vectors[0]) == pytest.approx(list(before), abs=1e-6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=scaled(25))
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), min_size=1, max_size=4))
def test_any_text_has_a_vector(embedder: Embedder, texts: list[str]) -> None:
    found = embedder.embed(texts, "passage").vectors
    assert len(found) == len(texts)
    assert all(math.isfinite(number) for vector in found for number in vector)


def test_it_has_a_name_and_says_where_it_is(embedder: Embedder) -> None:
    assert embedder.name.partition(":")[0] in ("vllm", "fastembed")
    assert embedder.local
    assert embedder.price == 0.0


# services


def test_the_request_is_the_services_own(server: EmbeddingServer) -> None:
    answer = create("openai:text-embedding-3-small", Access(url=server.url, key=Secret(KEY))).embed(
        ["one two"], "query"
    )
    assert server.requests == [{"model": "text-embedding-3-small", "input": ["one two"], "encoding_format": "float"}]
    assert server.keys == [f"Bearer {KEY}"]
    assert (len(answer.vectors[0]), answer.tokens) == (DIMENSIONS, 2)


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("ollama:nomic-embed-text", "search_query: tides", "search_document: tides"),
        ("vllm:intfloat/multilingual-e5-small", "query: tides", "passage: tides"),
        ("ollama:all-minilm", "tides", "tides"),
    ],
)
def test_models_get_what_they_want_before_a_text(server: EmbeddingServer, model: str, query: str, passage: str) -> None:
    embedder = create(model, Access(url=server.url))
    embedder.embed(["tides"], "query")
    embedder.embed(["tides"], "passage")
    assert server.texts == [query, passage]


def test_the_users_prefixes_win(server: EmbeddingServer) -> None:
    create("vllm:e5-small", Access(url=server.url, prefixes=("ask: ", ""))).embed(["tides"], "query")
    assert server.texts == ["ask: tides"]


def sent(*vectors: str) -> tuple[int, dict[str, str], bytes]:
    rows = ", ".join(f'{{"index": {index}, "embedding": {vector}}}' for index, vector in enumerate(vectors))
    return 200, {}, f'{{"data": [{rows}]}}'.encode()


@pytest.mark.parametrize(
    ("refusal", "says", "transient", "wait"),
    [
        (fault(429, "slow down", retry_after="7"), "answered 429: slow down", True, 7.0),
        (fault(503, "loading"), "answered 503: loading", True, None),
        (fault(429, "You exceeded your quota", "insufficient_quota"), "quota", False, None),
        (fault(401, f"bad key {KEY}"), "bad key ***", False, None),
        (fault(404, "model not found"), "answered 404: model not found", False, None),
        ((200, {}, b"<html>"), "not with embeddings", False, None),
        ((200, {}, b'{"data": "no"}'), "not with embeddings", False, None),
        (sent(), "0 vectors for 2 texts", False, None),
        (sent("[1]"), "1 vectors for 2 texts", False, None),
        (sent("[1]", "[1]", "[1]"), "3 vectors for 2 texts", False, None),
        (sent("[1]", "[1, 2]"), "vectors of 1, 2 numbers", False, None),
        (sent("[]", "[]"), "vectors", False, None),
        (sent("[1]", "[NaN]"), "not with embeddings", False, None),
        (sent("[1]", "[1e999]"), "embedding", False, None),
    ],
)
def test_what_services_do_wrong(
    server: EmbeddingServer, refusal: tuple[int, dict[str, str], bytes], says: str, transient: bool, wait: float | None
) -> None:
    server.refusals.append(refusal)
    with pytest.raises(ModelError) as failed:
        create("vllm:m", Access(url=server.url, key=Secret(KEY))).embed(["one", "two"], "passage")
    assert says in failed.value.reason
    assert KEY not in str(failed.value)
    assert (failed.value.transient, failed.value.retry_after) == (transient, wait)


def test_texts_which_are_too_long(server: EmbeddingServer) -> None:
    server.refusals.append(fault(400, "This model's maximum context length is 8192 tokens"))
    with pytest.raises(ContextTooLong):
        create("vllm:m", Access(url=server.url)).embed(["word " * 9_000], "passage")


def test_nobody_there() -> None:
    with pytest.raises(ModelError, match=r"connection refused\): start it") as failed:
        create("ollama:nomic-embed-text", Access(url="http://127.0.0.1:9/v1")).embed(["x"], "query")
    assert failed.value.transient


def test_prices(server: EmbeddingServer) -> None:
    facts = ModelFacts(price=Price(input=0.13, output=0.0))
    assert create("openai:m", Access(url="https://api.example/v1", facts=facts)).price == 0.13
    assert create("openai:text-embedding-3-small", Access(key=Secret(KEY))).price == pytest.approx(0.02)
    assert create("openai:no-such", Access(key=Secret(KEY))).price is None
    assert not create("openai:no-such", Access(key=Secret(KEY))).local


@pytest.mark.parametrize(
    ("name", "says"),
    [("openai:", "names no model"), ("openai:m", "needs a key"), ("harbor:m", "'harbor' has no address")],
)
def test_what_cannot_be_made(name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        create(name, Access())


# models in this process


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no model\.onnx"):
        plugins.load("embedders", "fastembed")(f"fastembed:{tmp_path}", Access()).embed(["x"], "query")


def test_a_damaged_model(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path)
    (folder / "model.onnx").write_bytes(b"\0" * 100)
    with pytest.raises(ModelError, match="cannot be loaded"):
        plugins.load("embedders", "fastembed")(f"fastembed:{folder}", Access()).embed(["x"], "query")


def test_an_unknown_model() -> None:
    pytest.importorskip("fastembed")
    with pytest.raises(ConfigError, match=r"no model 'no/such'.*BAAI/bge-small-en-v1\.5"):
        plugins.load("embedders", "fastembed")("fastembed:no/such", Access()).embed(["x"], "query")
