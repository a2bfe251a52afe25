"""An S3 server on loopback for tests: moto's, behind a door which can be told to fail."""

from __future__ import annotations

import secrets
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

BUCKET = "library"
KEY, SECRET = "AKIDOFTHETEST", "s3cr3tOfTheTest"


@dataclass
class Fault:
    """What happens to the next request of a method: an answer with this status, after a wait."""

    method: str
    status: int = 500
    seconds: float = 0.0
    body: str = "<Error><Code>InternalError</Code></Error>"


@dataclass
class S3Server:
    """The server; `faults` are taken one a request, `asked` are the requests (method and path) it got."""

    port: int = 0
    faults: list[Fault] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": "us-east-1",
        }

    def place(self) -> str:
        """An address nobody has used yet."""
        return f"s3://{BUCKET}/{secrets.token_hex(6)}"

    def door(self, app: Any) -> Any:
        """The application, with the faults before it."""

        def called(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
            method = environ["REQUEST_METHOD"]
            self.asked.append(f"{method} {environ['PATH_INFO']}")
            fault = next((each for each in self.faults if each.method == method), None)
            if fault is None:
                return app(environ, start)
            self.faults.remove(fault)
            time.sleep(fault.seconds)
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start(f"{fault.status} Fault", [("Content-Type", "application/xml"), ("Connection", "close")])
            return [fault.body.encode()]

        return called


@contextmanager
def running() -> Iterator[S3Server]:
    """A server until the block is left."""
    pytest.importorskip("moto")
    pytest.importorskip("obstore")
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Silent(WSGIRequestHandler):
        def log(self, type: str, message: str, *args: Any) -> None:
            """Requests are in `asked`."""

    server = S3Server()
    app = server.door(DomainDispatcherApplication(create_backend_app))
    made = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Silent)
    server.port = made.server_port
    thread = threading.Thread(target=made.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        make = urllib.request.Request(f"{server.endpoint}/{BUCKET}", method="PUT")
        urllib.request.urlopen(make, timeout=60).close()
        yield server
    finally:
        made.shutdown()
        made.server_close()
        thread.join(10)
