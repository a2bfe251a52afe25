"""An embedder behind a service with OpenAI's `/v1/embeddings`: one request, one answer, no retries.

Format: https://platform.openai.com/docs/api-reference/embeddings; Ollama, llama.cpp, LM Studio and vLLM serve it too.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

import httpx2
import msgspec

from assay.core.errors import ModelError, ModelFailed
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.ports import Access, Embedding, TextKind
from assay.core.text import estimate_tokens
from assay.models.catalogue import input_price, unreachable_message
from assay.models.embedding import add_prefix, prefixes_of
from assay.models.failures import hide_key, response_error
from assay.models.openai.chat_services import ChatService, parse_service

CONNECT_SECONDS = 10.0
"""Seconds to reach a service."""
ANSWER_SECONDS: dict[TextKind, float] = {"query": 15.0, "passage": 120.0}
"""Seconds until it sends something: a small machine needs time for a batch, and for a search somebody waits."""
MAX_ANSWER_BYTES = 256_000_000
"""Bytes of an answer; 2,048 vectors of 4,096 numbers are about 100 MB of JSON."""
MAX_VECTOR_NUMBERS = 65_536
"""Numbers of a vector."""


class _Row(msgspec.Struct, frozen=True):
    index: int
    embedding: list[float]


class _Usage(msgspec.Struct, frozen=True):
    prompt_tokens: int | None = None
    total_tokens: int | None = None


class _Answer(msgspec.Struct, frozen=True):
    data: list[_Row]
    usage: _Usage | None = None


_ANSWERS = msgspec.json.Decoder(_Answer)
"""Created before there are threads: see `core.json_decoders`."""


class EmbeddingService:
    """An embedder behind an OpenAI-compatible service; implements `core.ports.Embedder`. Thread-safe."""

    def __init__(self, model: str, service: ChatService, access: Access) -> None:
        """`model` is the service's own name for it; the key goes into the request's header and nowhere else."""
        self.name, self.local = f"{service.name}:{model}", service.local
        self.price = _price(service, model, access)
        self._model, self._service, self._key = model, service, access.key
        self._prefixes = prefixes_of(model) if access.prefixes is None else access.prefixes
        self._client: httpx2.Client | None = None
        self._guard = threading.Lock()

    def embed(self, texts: Sequence[str], kind: TextKind) -> Embedding:
        if not texts:
            return Embedding((), 0)
        inputs = [add_prefix(text, kind, self._prefixes) for text in texts]
        body = msgspec.json.encode({"model": self._model, "input": inputs, "encoding_format": "float"})
        url = f"{self._service.url.rstrip('/')}/embeddings"
        timeout = httpx2.Timeout(ANSWER_SECONDS[kind], connect=CONNECT_SECONDS)
        try:
            with self._get_client().stream("POST", url, content=body, timeout=timeout) as response:
                data = _read(response)
        except httpx2.TimeoutException as error:
            raise ModelError(f"{self._service.name} did not answer in time") from error
        except httpx2.HTTPError as error:
            message = unreachable_message(self._service.name, self._service.url, error, local=self._service.local)
            raise hide_key(ModelError(message), self._key) from error
        if response.status_code != httpx2.codes.OK:
            raise self._response_error(response, data)
        return self._parse_embedding(data, inputs)

    def close(self) -> None:
        with self._guard:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _get_client(self) -> httpx2.Client:
        with self._guard:
            if self._client is None:
                headers = {"content-type": "application/json", "accept": "application/json"}
                if self._key is not None:
                    headers["authorization"] = f"Bearer {self._key.reveal()}"
                # The environment's proxies and .netrc are not settings of Assay.
                self._client = httpx2.Client(headers=headers, trust_env=False)
            return self._client

    def _response_error(self, response: httpx2.Response, data: bytes) -> ModelError | ModelFailed:
        error = response_error(self._service.name, response.status_code, response.headers, data)
        return hide_key(error, self._key)

    def _parse_embedding(self, data: bytes, inputs: Sequence[str]) -> Embedding:
        """The vectors in an answer, by their indexes: the order is not guaranteed."""
        try:
            answer = _ANSWERS.decode(data)
        except DECODE_ERRORS as error:
            raise ModelError(
                f"{self._service.name} answers at {self._service.url}, but not with embeddings: is {self._model} an"
                f" embedding model, and the address the base of its API, with the version (…/v1)? ({error})",
                transient=False,
            ) from error
        rows = {row.index: row.embedding for row in answer.data}
        vectors = [rows.get(index, []) for index in range(len(inputs))]
        if why := _vector_fault(vectors, len(answer.data)):
            raise ModelError(f"{self._service.name} sent {why}", transient=False)
        tokens = answer.usage and (answer.usage.prompt_tokens or answer.usage.total_tokens)
        return Embedding(vectors, tokens or sum(map(estimate_tokens, inputs)))


def _vector_fault(vectors: Sequence[Sequence[float]], rows: int) -> str:
    """The fault of these vectors, empty if there is none."""
    lengths = {len(vector) for vector in vectors}
    if rows != len(vectors) or 0 in lengths:
        return f"{rows} vectors for {len(vectors)} texts"
    if len(lengths) > 1 or max(lengths) > MAX_VECTOR_NUMBERS:
        return f"vectors of {', '.join(map(str, sorted(lengths)))} numbers"
    if not all(math.isfinite(number) for vector in vectors for number in vector):
        return "a vector with what is no number"
    return ""


def _read(response: httpx2.Response) -> bytes:
    """The body.

    Raises:
        ModelError: it is too large.
    """
    data = bytearray()
    for piece in response.iter_bytes():
        data += piece
        if len(data) > MAX_ANSWER_BYTES:
            raise ModelError(f"the answer has more than {MAX_ANSWER_BYTES // 1_000_000} MB", transient=False)
    return bytes(data)


def _price(service: ChatService, model: str, access: Access) -> float | None:
    if access.facts.price is not None:
        return access.facts.price.input
    return 0.0 if service.local else input_price(service.name, model)


def create(name: str, access: Access) -> EmbeddingService:
    """The embedder named `SERVICE:MODEL`, at one of the known services or at the given address.

    Raises:
        ConfigError: no model is named, or the service is unknown and has no address, or needs a key and has none.
    """
    service, model = parse_service(name, access)
    return EmbeddingService(model, service, access)
