"""The API on a page: what OpenAPI says, as HTML of our own; nothing is fetched from anywhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h2 { margin-top: 2.5rem; text-transform: capitalize; }
details { border: 1px solid #8886; border-radius: .4rem; margin: .4rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; }
summary code { font-weight: 600; }
table { border-collapse: collapse; width: 100%; }
td, th { border-top: 1px solid #8884; padding: .25rem .6rem .25rem 0; text-align: left; vertical-align: top; }
.method { display: inline-block; min-width: 4rem; font-family: monospace; }
p.words { white-space: pre-line; }
"""

_PAGE = Markup(
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Assay: API</title>'
    '<link rel="stylesheet" href="/docs.css"></head><body><h1>Assay: API</h1>'
    "<p>Release {version}. Described by OpenAPI: "
    '<a href="/openapi.json">3.2</a>, <a href="/openapi-3.1.json">3.1 for generators</a>.</p>'
    "{subjects}<h2>Types</h2>{types}</body></html>"
)
_OPERATION = Markup(
    '<details id="{id}"><summary><span class="method">{method}</span> <code>{path}</code> {summary}</summary>'
    '<p class="words">{words}</p>{parameters}<p>{body}{answer}</p></details>'
)
_TYPE = Markup(
    '<details id="type-{name}"><summary><code>{name}</code></summary><p class="words">{words}</p>{fields}</details>'
)
_ROW = Markup("<tr><td><code>{name}</code></td><td>{type}</td><td>{words}</td></tr>")


def page(described: dict[str, Any]) -> str:
    """The page of an OpenAPI document."""
    by_tag: dict[str, list[Markup]] = {}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            by_tag.setdefault(operation["tags"][0], []).append(_operation(path, method, operation))
    subjects = _joined(
        Markup("<h2>{tag}</h2>{operations}").format(tag=tag, operations=_joined(made)) for tag, made in by_tag.items()
    )
    schemas = described["components"]["schemas"]
    types = _joined(_type(name, schemas[name]) for name in sorted(schemas))
    return _PAGE.format(version=described["info"]["version"], subjects=subjects, types=types)


def _operation(path: str, method: str, operation: dict[str, Any]) -> Markup:
    content = operation.get("requestBody", {}).get("content", {})
    good = next(iter(operation["responses"].values())).get("content", {})
    rows = [
        _ROW.format(name=each["name"], type=_called(each["schema"]), words=each.get("description", each["in"]))
        for each in operation.get("parameters", ())
    ]
    return _OPERATION.format(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        words=operation.get("description", ""),
        parameters=_table(rows),
        body=Markup("Takes {}. ").format(_contents(content)) if content else "",
        answer=Markup("Answers with {}.").format(_contents(good)) if good else "Answers with nothing.",
    )


def _contents(content: dict[str, Any]) -> Markup:
    """The media types of a body, and what is in it."""
    return Markup(", ").join(
        Markup("<code>{}</code> {}").format(media, _called(each.get("schema", each.get("itemSchema", {}))))
        for media, each in content.items()
    )


def _type(name: str, schema: dict[str, Any]) -> Markup:
    required = schema.get("required", ())
    rows = [
        _ROW.format(name=field, type=_called(each), words="required" if field in required else "")
        for field, each in schema.get("properties", {}).items()
    ]
    words = schema.get("description", "")
    if "oneOf" in schema:
        words = f"{words}\nOne of {len(schema['oneOf'])} types."
    return _TYPE.format(name=name, words=words, fields=_table(rows))


def _called(schema: dict[str, Any]) -> Markup:
    """A schema in a word or two."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return Markup('<a href="#type-{name}">{name}</a>').format(name=name)
    if "anyOf" in schema:
        return Markup(" or ").join(_called(each) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return Markup("list of {}").format(_called(schema["items"])) if "items" in schema else Markup("list")
    if "enum" in schema:
        return Markup(" ").join(Markup("<code>{}</code>").format(each) for each in schema["enum"])
    return Markup("{}").format(schema.get("type", schema.get("const", "anything")))


def _table(rows: list[Markup]) -> Markup:
    return Markup("<table>{}</table>").format(_joined(rows)) if rows else Markup("")


def _joined(parts: Iterable[Markup]) -> Markup:
    return Markup("").join(parts)
