"""How the time of some work grows with what it is given. Nothing here says how long anything may take."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from math import log
from typing import TypeVar

Given = TypeVar("Given")

WORST = 1.6
"""The exponent past which work counts as not linear: quadratic work has 2, and a busy machine is off by some tenths."""
LEAST = 0.02
"""Seconds below which nothing is measured that a clock tells apart."""


def seconds(work: Callable[[Given], object], given: Given, times: int = 3) -> float:
    """Seconds of computing, at best of some times; nobody looks for garbage, of which other tests left much."""
    taken = []
    gc.disable()
    try:
        for _ in range(times):
            began = time.process_time()
            work(given)
            taken.append(time.process_time() - began)
    finally:
        gc.enable()
    return min(taken)


def exponent(work: Callable[[Given], object], make: Callable[[int], Given], size: int, factor: int = 4) -> float:
    """The power of the size by which work grows, over two sizes; 0 where both are too quick to tell.

    What looks too steep is measured again, so that one interruption makes no failure.
    """
    small, large = make(size), make(size * factor)
    grown = float("inf")
    for _ in range(3):
        if (last := seconds(work, large, 1)) <= LEAST:
            return 0.0
        first = seconds(work, small, 2)
        grown = min(grown, log(last / max(first, LEAST / factor)) / log(factor))
        if grown < WORST:
            break
    return grown
