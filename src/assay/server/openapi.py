"""The OpenAPI document, made from the types of the routes: what is described is what is served."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from types import NoneType, UnionType
from typing import Any, Literal, get_args

import msgspec
from markupsafe import Markup
from starlette.responses import Response

from assay.core.events import KINDS, Envelope
from assay.server.problems import MEDIA_TYPE, TYPES, Problem, problems
from assay.server.streams import STREAM
from assay.server.wire import JSON, Endpoint

# The API reference as a page: OpenAPI as our own HTML, without loading anything from elsewhere.

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


def render_page(document: dict[str, Any]) -> str:
    """The page of an OpenAPI document."""
    by_tag: dict[str, list[Markup]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            by_tag.setdefault(operation["tags"][0], []).append(_operation_markup(path, method, operation))
    subjects = _join(
        Markup("<h2>{tag}</h2>{operations}").format(tag=tag, operations=_join(entries))
        for tag, entries in by_tag.items()
    )
    schemas = document["components"]["schemas"]
    types = _join(_type(name, schemas[name]) for name in sorted(schemas))
    return _PAGE.format(version=document["info"]["version"], subjects=subjects, types=types)


def _operation_markup(path: str, method: str, operation: dict[str, Any]) -> Markup:
    content = operation.get("requestBody", {}).get("content", {})
    good = next(iter(operation["responses"].values())).get("content", {})
    rows = [
        _ROW.format(
            name=parameter["name"],
            type=_schema_label(parameter["schema"]),
            words=parameter.get("description", parameter["in"]),
        )
        for parameter in operation.get("parameters", ())
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
    """The media types of a body, and its content."""
    return Markup(", ").join(
        Markup("<code>{}</code> {}").format(media, _schema_label(body.get("schema", body.get("itemSchema", {}))))
        for media, body in content.items()
    )


def _type(name: str, schema: dict[str, Any]) -> Markup:
    required = schema.get("required", ())
    rows = [
        _ROW.format(name=field, type=_schema_label(property_schema), words="required" if field in required else "")
        for field, property_schema in schema.get("properties", {}).items()
    ]
    words = schema.get("description", "")
    if "oneOf" in schema:
        words = f"{words}\nOne of {len(schema['oneOf'])} types."
    return _TYPE.format(name=name, words=words, fields=_table(rows))


def _schema_label(schema: dict[str, Any]) -> Markup:
    """A schema in a word or two."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return Markup('<a href="#type-{name}">{name}</a>').format(name=name)
    if "anyOf" in schema:
        return Markup(" or ").join(_schema_label(choice) for choice in schema["anyOf"])
    if schema.get("type") == "array":
        return Markup("list of {}").format(_schema_label(schema["items"])) if "items" in schema else Markup("list")
    if "enum" in schema:
        return Markup(" ").join(Markup("<code>{}</code>").format(choice) for choice in schema["enum"])
    return Markup("{}").format(schema.get("type", schema.get("const", "anything")))


def _table(rows: list[Markup]) -> Markup:
    return Markup("<table>{}</table>").format(_join(rows)) if rows else Markup("")


def _join(parts: Iterable[Markup]) -> Markup:
    return Markup("").join(parts)


Schema = dict[str, Any]
BYTES = "application/octet-stream"
OpenApi = Literal["3.1.1", "3.2.0"]
REFERENCE = "#/components/schemas/{name}"

HEADERS = {
    "Idempotency-Key": "A key of your own in quotes: the same request with the same key is done once.",
    "If-Match": "The `ETag` of what you have seen: refused where it was changed meanwhile.",
    "Last-Event-ID": "The number of the last event you have; a browser sends it by itself.",
}
PATHS = {
    "run": "A run: its id, the start of it, or `last`.",
    "collection": "A collection's name; another user's is `OWNER/NAME`.",
    "document": "A document: the hash of its text, its name, address or title.",
    "addition": "An addition: its id.",
    "thread": "A thread: its name, its title, or the start of its name.",
    "provider": "A provider which takes a key: `openai`, `brave`, `oidc`.",
    "share": "A link to a report: its id.",
    "secret": "What follows `/s/` in the link to a report, `/feed/` in the address of a feed.",
    "schedule": "A schedule: its id, or the start of it.",
    "lane": "An agent: its number in the run (`lane`).",
    "number": "A number from 1: a citation's in the report, or a page's in the document.",
}

PUBLISHED = {
    "CollectionNames": "Collections",
    "Diagnosis": "FindingFinding",
    "ExcludedPage": "Left",
    "FindingView": "ModelFinding",
    "Notice": "SourcesNotice",
    "PassageSpan": "SourcesSpan",
    "RunWarning": "ModelNotice",
    "SearchSummary": "Looked",
    "Span": "EstimateSpan",
    "SteeringText": "Told",
    "TextRange": "Stretch",
}
"""Types that clients know under another name than the code."""


def openapi_document(endpoints: Sequence[Endpoint], edition: OpenApi = "3.2.0") -> Schema:
    """The description of these routes.

    `edition` 3.2.0 describes streams by their items; 3.1.1 is for generators that do not support that yet.
    """
    types = _Types(endpoints)
    paths: dict[str, Schema] = {}
    for endpoint in endpoints:
        path = re.sub(r":\w+\}", "}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint, types, edition)
    return {
        "openapi": edition,
        "info": {
            "title": "Assay",
            "version": version("assay"),
            "summary": "Deep research you can check",
            "description": "Errors are RFC 9457 problems; their types: "
            + ", ".join(f"`{TYPES}{code}` ({status})" for code, (status, _) in problems().items())
            + ".",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": tag} for tag in dict.fromkeys(endpoint.tag for endpoint in endpoints)],
        "paths": paths,
        "components": {
            "schemas": types.components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "A token of `assay users token`."},
                "session": {"type": "apiKey", "in": "cookie", "name": "__Host-assay"},
            },
        },
    }


def events_schema() -> Schema:
    """The JSON Schema of an event of a run, as in streams, pages and exported logs."""
    definitions = _Types(()).components
    envelope = {**definitions.pop("Envelope"), "$schema": "https://json-schema.org/draft/2020-12/schema"}
    del envelope["discriminator"], definitions["Problem"], definitions["Fault"]
    text = msgspec.json.encode({**envelope, "title": "An event of Assay", "$defs": definitions})
    schema: Schema = msgspec.json.decode(text.replace(b"#/components/schemas/", b"#/$defs/"))
    return schema


class _Types:
    """The schemas of all types in the routes."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        kinds = sorted(KINDS.values(), key=lambda endpoint: endpoint.kind)
        used: list[Any] = [Problem, Envelope, *kinds]
        for endpoint in endpoints:
            used += [
                type
                for type in (endpoint.query, endpoint.body, endpoint.pages, _response_type(endpoint))
                if type is not None
            ]
        unique = list(dict.fromkeys(used))
        schemas, components = _use_public_names(*msgspec.json.schema_components(unique, ref_template=REFERENCE))
        self._by_type = dict(zip(unique, schemas, strict=True))
        self.components: dict[str, Schema] = {**components, **_envelopes(components, kinds, self._by_type)}

    def schema_of(self, type: Any) -> Schema:
        """The schema of a type: mostly a reference."""
        schema: Schema = self._by_type[type]
        return schema

    def fields(self, type: Any) -> Iterator[tuple[str, Schema, bool]]:
        """The fields of a struct: name, schema, whether it is required."""
        definition = self.components[self.schema_of(type)["$ref"].rpartition("/")[2]]
        for name, schema in definition["properties"].items():
            yield name, schema, name in definition.get("required", ())

    def description(self, type: Any) -> str:
        definition = self.components[self.schema_of(type)["$ref"].rpartition("/")[2]]
        return str(definition.get("description", ""))


def _use_public_names(
    type_schemas: tuple[Schema, ...], components: dict[str, Schema]
) -> tuple[list[Schema], dict[str, Schema]]:
    """The same under public names; if two types share a name, their modules are added: `assay.core.sources.Notice`.

    Generators of clients name classes by titles, so a title is the name. They do not read the `items: false` of a
    tuple, which its length says as well.
    """
    text = msgspec.json.encode((type_schemas, components)).decode().replace(',"items":false', "")
    for name in components:
        *_, module, type_name = ["", *name.split(".")]
        public = PUBLISHED.get(name, f"{module.title()}{type_name}")
        if public != name:
            text = text.replace(f'"{name}":', f'"{public}":')
            text = text.replace(f'"{REFERENCE.format(name=name)}"', f'"{REFERENCE.format(name=public)}"')
    schemas, public_components = msgspec.json.decode(text, type=tuple[list[Schema], dict[str, Schema]])
    return schemas, {name: {**schema, "title": name} for name, schema in public_components.items()}


def _envelopes(components: dict[str, Schema], kinds: list[Any], by_type: dict[Any, Schema]) -> dict[str, Schema]:
    """The envelope of each kind of event, and of any."""
    envelope = components["Envelope"]
    envelopes: dict[str, Schema] = {}
    mapping: dict[str, str] = {}
    for kind in kinds:
        name = f"{kind.__name__}Envelope"
        event_properties = {"type": {"const": kind.kind}, "data": by_type[kind]}
        envelopes[name] = {**envelope, "title": name, "properties": {**envelope["properties"], **event_properties}}
        mapping[kind.kind] = REFERENCE.format(name=name)
    envelopes["Envelope"] = {
        "title": "Envelope",
        "description": f"{envelope.get('description', '')}\nReaders ignore types they do not know.".strip(),
        "oneOf": [{"$ref": reference} for reference in mapping.values()],
        "discriminator": {"propertyName": "type", "mapping": mapping},
    }
    return envelopes


def _response_type(endpoint: Endpoint) -> Any:
    """The type of a JSON response, None for others and those without a body."""
    if endpoint.result is None or endpoint.result is type(None) or endpoint.result is Response:
        return None
    if isinstance(endpoint.result, UnionType) and NoneType in get_args(endpoint.result):
        return next(member for member in get_args(endpoint.result) if member is not NoneType)
    return endpoint.result


def _operation(endpoint: Endpoint, types: _Types, edition: OpenApi) -> Schema:
    summary, words = endpoint.docstring_parts
    operation: Schema = {"operationId": endpoint.name, "tags": [endpoint.tag], "summary": summary}
    if words:
        operation["description"] = words
    if parameters := list(_parameters(endpoint, types)):
        operation["parameters"] = parameters
    if endpoint.body is not None:
        required = any(field[2] for field in types.fields(endpoint.body))
        operation["requestBody"] = {"required": required, "content": {JSON: {"schema": types.schema_of(endpoint.body)}}}
    elif endpoint.takes:
        operation["requestBody"] = {
            "required": True,
            "content": {type: _upload_schema(type, edition) for type in endpoint.takes},
        }
    operation["responses"] = _responses(endpoint, types, edition)
    operation["security"] = [{"token": [endpoint.scope]}, {"session": []}, {}] if endpoint.scope else []
    return operation


def _parameters(endpoint: Endpoint, types: _Types) -> Iterator[Schema]:
    for name in endpoint.names:
        words = PATHS.get(name, "")
        is_number = f"{{{name}:number}}" in endpoint.path
        schema: Schema = {"type": "integer", "minimum": 0} if is_number else {"type": "string", "minLength": 1}
        yield {"name": name, "in": "path", "required": True, "schema": schema, "description": words}
    if endpoint.query is not None:
        for name, schema, required in types.fields(endpoint.query):
            style = {"explode": False} if schema.get("type") == "array" else {}
            yield {"name": name, "in": "query", "required": required, "schema": schema, **style}
    for name in endpoint.headers:
        yield {"name": name, "in": "header", "schema": {"type": "string"}, "description": HEADERS[name]}


def _bytes_schema(type: str, edition: OpenApi) -> Schema:
    """Bytes of a media type. Generators know a file only by the `format` of OpenAPI 3.0."""
    is_file = edition == "3.1.1" and type == BYTES
    return {"type": "string", "format": "binary"} if is_file else {"contentMediaType": type}


def _upload_schema(type: str, edition: OpenApi) -> Schema:
    content = _bytes_schema(BYTES, edition)
    if type != "multipart/form-data":
        return {"schema": content}
    file = {"type": "array", "items": content, "minItems": 1}
    return {"schema": {"type": "object", "properties": {"file": file}, "required": ["file"]}}


def _responses(endpoint: Endpoint, types: _Types, edition: OpenApi) -> Schema:
    answer = _response_type(endpoint)
    first, _ = endpoint.docstring_parts
    good: Schema = {"description": first}
    if answer is not None:
        good["content"] = {JSON: {"schema": types.schema_of(answer)}}
    elif endpoint.media:
        good["content"] = {type: _media(type, types, endpoint, edition) for type in endpoint.media}
    responses = {str(endpoint.status): good}
    if isinstance(endpoint.result, UnionType):
        responses["204"] = {"description": "It is done, and there is nothing to say."}
    if "Last-Event-ID" in endpoint.headers:
        responses["204"] = {"description": "It has ended, and there are no events behind the last you have."}
    problem = {"description": "A problem.", "content": {MEDIA_TYPE: {"schema": types.schema_of(Problem)}}}
    return {**responses, "default": problem}


def _media(type: str, types: _Types, endpoint: Endpoint, edition: OpenApi) -> Schema:
    if type == STREAM:
        item_type = Envelope if JSON in endpoint.media else endpoint.pages
        data = {"contentMediaType": JSON, "contentSchema": types.schema_of(item_type), "type": "string"}
        properties = {
            "id": {"type": "string", "description": "The event's number."},
            "event": {"type": "string", "description": "The event's type."},
            "data": data,
            "retry": {"type": "integer"},
        }
        item = {"type": "object", "properties": properties, "required": ["data"]}
        return {"itemSchema" if edition == "3.2.0" else "schema": item}
    if type == JSON and endpoint.pages is not None:
        return {"schema": types.schema_of(endpoint.pages)}
    return {"schema": {} if type == JSON else _bytes_schema(type, edition)}
