"""Translates names: models to depths and collections, ids of responses to ids of runs, and labels."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from assay.app.assay import Assay
from assay.core.brief import Brief, Depth
from assay.core.errors import UnknownName
from assay.server.problems import refusal

PLAIN = "assay"
DEPTHS: dict[str, Depth] = {"assay-light": "light", PLAIN: "auto", "assay-extended": "extended"}
"""The depth behind each model's name."""

LABEL = "openai."
"""Begins the labels of a run about the request itself; all others are the request's metadata."""
Kind = Literal["model", "effort", "background", "include", "max_tool_calls", "max_output_tokens"]

_RESPONSE = re.compile(r"resp_([0-9a-z]+)")
_ITEM = re.compile(r"msg_([0-9a-z]+)")
_FOOT = re.compile(r"\[Run ([0-9a-z]{6,}): ")
"""How the last line of an answer names its run (see `text.foot`)."""


class ModelName(msgspec.Struct, frozen=True):
    """A model: the depth, and the one collection it is limited to, "" for none."""

    depth: Depth
    collection: str = ""


class ListedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model in a list."""

    id: str
    object: Literal["model"] = "model"
    created: int = 1_767_225_600
    owned_by: str = "assay"


async def models(assay: Assay) -> list[ListedModel]:
    """The available models: three depths, and one for each collection."""
    rows = await assay.collections()
    return [ListedModel(id=name) for name in (*DEPTHS, *(f"{PLAIN}:{row.name}" for row in rows if row.documents))]


async def read_model(assay: Assay, name: str) -> ModelName:
    """The meaning of a model's name: a depth, and after a colon a collection (`assay-light:papers`).

    Raises:
        Refusal: there is no such model.
    """
    base, _, collection = name.partition(":")
    there = {row.name for row in await assay.collections()} if collection else set()
    if base not in DEPTHS or (collection and collection not in there):
        raise refusal("unknown-name", str(UnknownName("model", name, [each.id for each in await models(assay)])))
    return ModelName(DEPTHS[base], collection)


def model_of(brief: Brief) -> str:
    """The model of a run: the requested one, or the one that would have started it."""
    if asked := label(brief, "model"):
        return asked
    return next((name for name, depth in DEPTHS.items() if depth == brief.depth), PLAIN)


def label(brief: Brief, name: Kind) -> str:
    """The words of the request about this, "" if nothing."""
    return brief.labels.get(f"{LABEL}{name}", "")


def response_id(run_id: str) -> str:
    """The id of a run's response."""
    return f"resp_{run_id}"


def run_of(response: str) -> str:
    """The id of a response's run.

    Raises:
        UnknownName: this is not the id of a response.
    """
    found = _RESPONSE.fullmatch(response)
    if found is None:
        raise UnknownName("response", response)
    return found[1]


def run_of_item(item: str) -> str:
    """The id of the run whose report is the message with this id, "" if there is none."""
    found = _ITEM.fullmatch(item)
    return found[1] if found else ""


def run_at_foot(text: str) -> str:
    """The run named in the last line of an answer, "" if there is none."""
    found = _FOOT.findall(text)
    return str(found[-1]) if found else ""
