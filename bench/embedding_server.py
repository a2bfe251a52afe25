"""A server on loopback that speaks OpenAI's `/v1/embeddings`, over any function from texts to vectors.

    python bench/embedding_server.py FOLDER [PORT]    serves the ONNX model in FOLDER until it is interrupted

It checks requests with OpenAI's own types. A caller can have it refuse requests, to see what a client does then.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from openai.types.embedding_create_params import EmbeddingCreateParams
from pydantic import TypeAdapter

from assay.core.ports import Access
from assay.models.embedding.onnx import create

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
Refusal = tuple[int, dict[str, str], bytes]
"""Status, headers and body of an answer which is no embedding."""
_REQUEST = TypeAdapter(EmbeddingCreateParams)


class EmbeddingServer:
    """What it was asked, and what it answers; refusals are given first, one a request."""

    def __init__(self, embed: Embed) -> None:
        self.embed = embed
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.refusals: list[Refusal] = []
        self.url = ""

    @property
    def texts(self) -> list[str]:
        """All texts it was sent."""
        return [text for request in self.requests for text in request["input"]]

    def answer(self, body: dict[str, Any], key: str) -> Refusal:
        """The answer to one request."""
        _REQUEST.validate_python(body, strict=False)
        self.requests.append(body)
        self.keys.append(key)
        if self.refusals:
            return self.refusals.pop(0)
        texts = body["input"]
        rows = [
            {"object": "embedding", "index": index, "embedding": list(vector)}
            for index, vector in enumerate(self.embed(texts))
        ]
        tokens = sum(len(text.split()) for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        rows.reverse()  # no order is promised
        made = {"object": "list", "data": rows, "model": body["model"], "usage": usage}
        return 200, {}, json.dumps(made).encode()


@contextmanager
def serving(embed: Embed, port: int = 0) -> Iterator[EmbeddingServer]:
    """A server as long as the block lasts; its `url` is the base of its API."""
    state = EmbeddingServer(embed)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            known = self.path == "/v1/embeddings"
            answer = state.answer(body, self.headers.get("authorization", "")) if known else (404, {}, b"{}")
            status, headers, data = answer
            self.send_response(status)
            for name, value in (headers | {"content-length": str(len(data))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()


def model_in(folder: str) -> Embed:
    """What the ONNX model in a folder says of texts."""
    embedder = create(f"fastembed:{folder}", Access())
    return lambda texts: embedder.embed(texts, "passage").vectors


def main() -> int:
    """Serve a model until interrupted."""
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    with serving(model_in(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0) as state:
        print(state.url, flush=True)
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
