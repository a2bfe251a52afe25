"""Which models are of one family: made by the same hands, and so likely to make, and to miss, the same mistakes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assay.core.brief import Role

BUILT_IN = "extractive"
"""The built-in model, which judges nothing."""

_MAKERS = (
    ("openai", r"gpt|chatgpt|davinci|o[1-9](?:-|$)|codex"),
    ("anthropic", r"claude"),
    ("google", r"gemini|gemma|palm"),
    ("meta", r"llama"),
    ("mistral", r"(?:open-)?mi[sx]tral|magistral|ministral|codestral|devstral|pixtral"),
    ("alibaba", r"qwen|qwq"),
    ("deepseek", r"deepseek"),
    ("cohere", r"command|aya|c4ai"),
    ("xai", r"grok"),
    ("microsoft", r"phi"),
    ("moonshot", r"kimi|moonshot"),
    ("zhipu", r"glm|chatglm"),
    ("amazon", r"nova|titan"),
    ("nvidia", r"nemotron"),
    ("ibm", r"granite"),
)
_MAKER = tuple((maker, re.compile(rf"(?:^|[/.:_-])(?:{names})", re.IGNORECASE)) for maker, names in _MAKERS)


def family(name: str) -> str:
    """The maker of the model `name` (PROVIDER:NAME) as its name tells it, else its provider."""
    provider, _, model = name.partition(":")
    return next((maker for maker, pattern in _MAKER if pattern.search(model)), provider)


def judges(models: Mapping[Role, Sequence[str]]) -> tuple[str, ...]:
    """Who judges, where nobody says so: all models of the other roles, those first which are of another family than
    the first which writes the report; the built-in one where there is no other.
    """
    roles: tuple[Role, ...] = ("analytical", "simple", "complex")
    named = [name for role in roles for name in models.get(role, ()) if name != BUILT_IN]
    writer = family(next(iter(models.get("complex", ())), BUILT_IN))
    ordered = sorted(dict.fromkeys(named), key=lambda name: family(name) == writer)
    return tuple(ordered) or (BUILT_IN,)
