"""A model server which is down, unknown, mute or no model server at all: one line says so, and the run can be resumed.

Each is a whole run of a real `assay` process against a real server on loopback.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import warm
from chat_server import Answer, chat_server, fault, says, served
from sampling import crossed
from shells import TIDES
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

QUESTION = "How high does the tide rise at Brest?"
Asked = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """`assay` over a home of the test's own, with a service `mine` at an address."""
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ASSAY_SEARCH_WEB", "false")
    (tmp_path / "tides.md").write_text(TIDES)

    def run(
        *words: object, url: str = "", service: str = "mine", name: str = "qwen3"
    ) -> subprocess.CompletedProcess[str]:
        text = f'model = ["{service}:{name}"]\n[services.{service}]\nurl = "{url}"\nkey = "sk-1"\n'
        (tmp_path / "config.toml").write_text(text)
        return warm.run(*(words or (QUESTION, "--in", tmp_path / "tides.md")))

    return run


def failure(done: subprocess.CompletedProcess[str]) -> str:
    """The one line which says why; there is no warning, no report and no word of anything that was not found."""
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    assert "warning" not in done.stderr
    assert "othing" not in done.stderr
    *before, last = done.stderr.splitlines()
    assert all(line.startswith(("indexed", "run ")) for line in before), done.stderr
    found, _, resumed = last.partition("; to continue: assay runs resume ")
    assert len(resumed) == 10
    return found.removeprefix("failed: ")


@contextmanager
def page(status: int = 200) -> Iterator[str]:
    """A server which answers everything with a page, as a router or a proxy does."""

    async def handle(request: Request) -> Response:
        return HTMLResponse("<!doctype html><title>Welcome</title><p>Welcome to your router", status)

    with served(Starlette(routes=[Route("/{rest:path}", handle, methods=["GET", "POST"])])) as port:
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def ollama(*models: str) -> Iterator[str]:
    """Ollama with these models, none of which is the one asked for."""

    async def listed(request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": name, "object": "model"} for name in models]})

    async def chat(request: Request) -> Response:
        name = (await request.json())["model"]
        words = f'model "{name}" not found, try pulling it first'
        return JSONResponse({"error": {"message": words, "type": "api_error", "param": None, "code": None}}, 404)

    routes = [Route("/v1/models", listed), Route("/v1/chat/completions", chat, methods=["POST"])]
    with served(Starlette(routes=routes)) as port:
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def mute() -> Iterator[str]:
    """A server which takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


def closed() -> str:
    """An address of this machine at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    return f"http://127.0.0.1:{port}/v1"


def test_a_port_at_which_nobody_listens(asked: Asked) -> None:
    url = closed()
    why = f"mine:qwen3 does not answer at {url} (connection refused): start it, or choose another model"
    assert failure(asked(url=url)) == why


def test_ollama_which_does_not_run(asked: Asked) -> None:
    url = closed()
    why = (
        f"ollama:qwen3 does not answer at {url} (connection refused): start it (ollama serve), or choose another model"
    )
    assert failure(asked(url=url, service="ollama")) == why


def test_a_host_which_there_is_not(asked: Asked) -> None:
    url = "http://no-such-host.invalid/v1"
    why = f"mine:qwen3 does not answer at {url} (no such host): check the address and the network"
    assert failure(asked(url=url)) == why


def test_a_model_the_server_does_not_have(asked: Asked) -> None:
    with chat_server(fault(404, "The model `qwen3` does not exist", "model_not_found")) as server:
        why = f"mine:qwen3: no model 'qwen3' at {server.url} (404): choose one it has: mine:m"
        assert failure(asked(url=server.url)) == why


def test_a_model_which_was_not_pulled(asked: Asked) -> None:
    with ollama("llama3.2:3b", "phi4") as url:
        found = failure(asked(url=url, service="ollama"))
    why = "(404): get it (ollama pull qwen3), or choose one it has: ollama:llama3.2:3b, ollama:phi4"
    assert found == f"ollama:qwen3: no model 'qwen3' at {url} {why}"


def test_a_provider_without_a_model_is_the_only_one_of_its_server(asked: Asked, tmp_path: Path) -> None:
    words = (QUESTION, "--in", tmp_path / "tides.md", "--model", "llamacpp")
    with ollama("m/small.gguf", "nomic-embed-text") as url:
        done = asked(*words, url=url, service="llamacpp")
    assert "the model is llamacpp:m/small.gguf, the only one there" in done.stderr
    assert "llamacpp:m/small.gguf: no model 'm/small.gguf'" in done.stderr  # which it denies to have
    with ollama("m/small.gguf", "phi4") as url:
        done = asked(*words, url=url, service="llamacpp")
    assert done.returncode == 2
    assert "'llamacpp' names no model: choose one it has: llamacpp:m/small.gguf, llamacpp:phi4" in done.stderr
    done = asked(*words, url=closed(), service="llamacpp")
    assert done.returncode == 2
    assert "'llamacpp' names no model; write llamacpp:MODEL (assay models llamacpp lists them)" in done.stderr


def test_a_key_which_is_refused(asked: Asked) -> None:
    with chat_server(fault(401, "Incorrect API key provided: sk-1")) as server:
        found = failure(asked(url=server.url))
    assert found.startswith("mine:qwen3 answered 401: Incorrect API key provided: ***; check the key of mine")


def test_a_server_which_never_answers(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_TIMEOUTS_FIRST_TOKEN", "1")
    with mute() as url:
        found = failure(asked(url=url))
    assert found.startswith("mine:qwen3: no token for 1 s; it may be loading the model or be busy: try again")


@pytest.mark.parametrize("status", [200, 404])
def test_a_page_in_place_of_an_answer(asked: Asked, status: int) -> None:
    with page(status) as url:
        found = failure(asked(url=url))
    assert found.startswith("mine:qwen3 ")
    assert "chat completions" in found
    assert "is the address the base of its API, with the version (…/v1)?" in found


TALK = ["The tide at Brest rises seven metres, I believe.", "I cannot help with that."]


@pytest.mark.parametrize(("text", "strategy"), crossed(TALK, ["orchestrated", "reflective"]))
def test_a_model_which_calls_no_tool(asked: Asked, tmp_path: Path, text: str, strategy: str) -> None:
    """It is said once, and it is the last word: that nothing was found would be the model's fault."""
    with chat_server(says(text)) as server:
        done = asked(QUESTION, "--in", tmp_path / "tides.md", "--strategy", strategy, "-q", url=server.url)
    assert done.returncode == 1
    assert done.stdout == ""
    why = "mine:qwen3 made no tool call: it may not support tools; try a model that does (assay models lists them"
    assert done.stderr.count("\n") == 1
    assert f"failed: {why}" in done.stderr


def test_what_could_not_begin_goes_on_when_the_server_is_there(asked: Asked) -> None:
    found = asked(url=closed())
    run_id = found.stderr.rpartition(" ")[2].strip()
    with chat_server(Answer(says("The tide at Brest rises seven metres.").pieces)) as server:
        done = asked("runs", "resume", run_id, url=server.url)
        assert server.requests, done.stderr
    assert "does not answer" not in done.stderr, done.stderr
