"""Denies this process every network beyond loopback. Python imports it at its start; see test_offline.py.

An audit hook and not a patch: nobody can import past it. What is denied is also written down, in case it is swallowed.
"""

import ipaddress
import os
import sys
from pathlib import Path
from typing import Any

ADDRESSED = {"socket.connect", "socket.sendto", "socket.sendmsg"}
NAMED = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
DENIED = Path(os.environ["DENIED"])


def host_of(event: str, arguments: tuple[Any, ...]) -> object:
    """The host an event is about; None where it is about none."""
    if event in NAMED:
        return arguments[0]
    address = arguments[1] if event in ADDRESSED else None
    return address[0] if isinstance(address, tuple) else None  # a Unix socket's address is a path


def is_near(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name in ("", "localhost")


def deny(event: str, arguments: tuple[Any, ...]) -> None:
    host = host_of(event, arguments)
    if host is not None and not is_near(host):
        with DENIED.open("a") as file:
            file.write(f"{event} {host}\n")
        raise PermissionError(f"no network in this process: {event} {host}")


sys.addaudithook(deny)
