"""Ports for servers which are told theirs."""

from __future__ import annotations

import contextlib
import random
import socket


def free_port(*hosts: str) -> int:
    """One that is free, and below those the system gives to clients: nobody takes it meanwhile."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 100):
        with contextlib.ExitStack() as held:
            try:
                for host in hosts or ("127.0.0.1",):
                    held.enter_context(socket.socket()).bind((host, port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")
