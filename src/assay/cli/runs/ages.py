"""How old a run is, as people say it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import click

_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


class Age(click.ParamType[timedelta]):
    """`12h`, `30d` or `4w`."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        match = re.fullmatch(r"(\d{1,5})([hdw])", str(value).strip().lower())
        if match is None:
            self.fail(f"{value!r} is not an age like 12h, 30d or 4w", param, ctx)
        return timedelta(hours=int(match[1]) * _HOURS[match[2]])
