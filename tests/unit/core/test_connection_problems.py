"""Why a host cannot be reached, in plain words, from real errors of real sockets."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator

import httpx2
import pytest

from assay.core.remote_services import causes_of, connection_problem


@pytest.fixture
def port() -> Iterator[int]:
    """A server that takes a request and breaks off."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(1_000)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


async def problem(url: str) -> str:
    async with httpx2.AsyncClient(trust_env=False, timeout=5) as client:
        try:
            await client.get(url)
        except httpx2.HTTPError as error:
            return connection_problem(error, url)
    raise AssertionError("it answered")


async def test_a_host_that_is_not_known() -> None:
    said = await problem("http://no-such-host.invalid/search?q=secret")
    assert said == "the host no-such-host.invalid could not be found: check the address and the network"


async def test_nobody_listens_there(port: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]
    said = await problem(f"http://127.0.0.1:{free}/")
    assert said == f"127.0.0.1:{free} refuses the connection: check the address, and that a server runs there"


async def test_the_connection_is_broken_off_or_is_not_encrypted(port: int) -> None:
    assert await problem(f"http://127.0.0.1:{port}/") == f"127.0.0.1:{port} broke off the connection: try again later"
    said = await problem(f"https://127.0.0.1:{port}/")
    assert said.startswith(f"127.0.0.1:{port} ")
    assert "Errno" not in said


async def test_a_key_with_a_line_break_is_not_repeated(port: int) -> None:
    async with httpx2.AsyncClient(trust_env=False, timeout=5, headers={"X-Key": "sesame\n"}) as client:
        with pytest.raises(httpx2.LocalProtocolError, match="sesame") as caught:
            await client.get(f"http://127.0.0.1:{port}/")
    said = connection_problem(caught.value, "https://a.example")
    assert said == "no request to a.example can be sent with these headers: check the key, which may hold a line break"


def test_a_password_with_an_at_sign_is_not_repeated() -> None:
    said = connection_problem(ConnectionRefusedError(), "https://user:open@sesame@a.example:8/path@b")
    assert said.startswith("a.example:8 refuses the connection")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version"), "a.example does not answer in TLS"),
        (OSError(101, "Network is unreachable"), "a.example cannot be reached from here: check the network"),
        (TimeoutError(), "a.example does not answer in time"),
        (ExceptionGroup("all", [OSError("odd"), ConnectionRefusedError()]), "a.example refuses the connection"),
        (ValueError("its own\nwords"), "its own words"),
        (asyncio.IncompleteReadError(b"", 3), "0 bytes read on a total of 3 expected bytes"),
        (KeyError(), "KeyError"),
    ],
)
def test_of_errors(error: BaseException, said: str) -> None:
    assert connection_problem(error, "https://user:word@a.example/path").startswith(said)


def test_causes_that_go_round_in_a_circle() -> None:
    first, second = ValueError("the first"), ValueError("the second")
    first.__cause__, second.__cause__ = second, first
    assert connection_problem(first, "https://a.example") == "the first"
    assert list(causes_of(ExceptionGroup("both", [first, second])))[1:] == [first, second]


@pytest.mark.parametrize("url", ["", "http://[::1/x", "a.example", "http://@/", "mcp-server --stdio"])
def test_an_address_that_is_none_is_not_repeated(url: str) -> None:
    said = connection_problem(ConnectionRefusedError(), url)
    assert said.startswith(("its address refuses", "[::1 refuses"))


def test_a_certificate_that_is_not_trusted() -> None:
    error = ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed")
    error.verify_message = "certificate has expired"
    said = connection_problem(error, "https://a.example")
    assert said.startswith("the certificate of a.example is not trusted (certificate has expired): check the address")
