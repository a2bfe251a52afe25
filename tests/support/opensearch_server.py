"""A server on loopback which speaks the part of OpenSearch's REST interface the search adapter uses.

Documents are kept in memory and scored by BM25 as Lucene does it, with exact lengths. Errors have the form OpenSearch's
have.
"""

from __future__ import annotations

import base64
import fnmatch
import json
import math
import threading
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

K, B = 1.2, 0.75
Json = dict[str, Any]


class Problem(Exception):
    """An answer which is an error."""

    def __init__(self, status: int, kind: str, reason: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status, self.kind, self.headers = status, kind, headers or {}


class Index:
    """The documents of an index, with the counts their fields are scored by."""

    def __init__(self, properties: Json, kept: list[str]) -> None:
        self.properties, self.kept = properties, kept
        self.sources: dict[str, Json] = {}
        self._stats: dict[str, tuple[int, float, Counter[str]]] = {}

    def put(self, name: str, source: Json) -> None:
        if unknown := source.keys() - self.properties.keys():
            field = min(unknown)
            raise Problem(
                400,
                "strict_dynamic_mapping_exception",
                f"mapping set to strict, dynamic introduction of [{field}] within [_doc] is not allowed",
            )
        self.sources[name] = source
        self._stats.clear()

    def delete(self, names: list[str]) -> None:
        for name in names:
            del self.sources[name]
        self._stats.clear()

    def stats(self, field: str) -> tuple[int, float, Counter[str]]:
        """How many documents have a field, its mean length, and how many have each term."""
        if field not in self._stats:
            texts = [str(each[field]).split() for each in self.sources.values() if each.get(field)]
            counted: Counter[str] = Counter(term for words in texts for term in set(words))
            mean = sum(map(len, texts)) / len(texts) if texts else 1.0
            self._stats[field] = len(texts), mean, counted
        return self._stats[field]

    def weight(self, field: str, term: str) -> float:
        total, _, counted = self.stats(field)
        return math.log(1 + (total - counted[term] + 0.5) / (counted[term] + 0.5))

    def frequency(self, field: str, times: float, length: int) -> float:
        return times / (times + K * (1 - B + B * length / self.stats(field)[1]))

    def score(self, query: Json, source: Json) -> float | None:
        """The score of a document; None where it does not match."""
        ((kind, found),) = query.items()
        return getattr(self, f"_{kind}")(found, source)  # type: ignore[no-any-return]

    def _match_all(self, query: Json, source: Json) -> float | None:
        return float(query.get("boost", 1.0))

    def _term(self, query: Json, source: Json) -> float | None:
        ((field, wanted),) = query.items()
        value, boost = (wanted["value"], wanted.get("boost", 1.0)) if isinstance(wanted, dict) else (wanted, 1.0)
        if self.properties[field]["type"] != "text":
            return boost if source.get(field) == value else None
        words = str(source.get(field, "")).split()
        times = words.count(value)
        return boost * self.weight(field, value) * self.frequency(field, times, len(words)) if times else None

    def _terms(self, query: Json, source: Json) -> float | None:
        ((field, values),) = query.items()
        if len(values) > 65_536:
            reason = f"The number of terms [{len(values)}] used in the Terms Query request has exceeded the allowed"
            raise Problem(400, "illegal_argument_exception", f"{reason} maximum of [65536].")
        return 1.0 if source.get(field) in values else None

    def _range(self, query: Json, source: Json) -> float | None:
        ((field, bounds),) = query.items()
        return 1.0 if source[field] > bounds["gt"] else None

    def _dis_max(self, query: Json, source: Json) -> float | None:
        found = [score for each in query["queries"] if (score := self.score(each, source)) is not None]
        return max(found, default=None)

    def _bool(self, query: Json, source: Json) -> float | None:
        if any(self.score(each, source) is None for each in query.get("filter", ())):
            return None
        found = [score for each in query["should"] if (score := self.score(each, source)) is not None]
        return sum(found) if len(found) >= query["minimum_should_match"] else None

    def _match_phrase(self, query: Json, source: Json) -> float | None:
        ((field, wanted),) = query.items()
        first, second = wanted["query"].split()
        words = str(source.get(field, "")).split()
        places = [(at, to) for at, a in enumerate(words) if a == first for to, b in enumerate(words) if b == second]
        near = [to - at - 1 for at, to in places if 0 <= to - at - 1 <= wanted["slop"]]
        if not near:
            return None
        times = sum(1 / (1 + far) for far in near)
        weight = self.weight(field, first) + self.weight(field, second)
        return float(wanted.get("boost", 1.0)) * weight * self.frequency(field, times, len(words))


class OpenSearchServer:
    """The server's state. `faults` are answers given in place of the next ones; `rejected` is how many documents of
    the next bulk requests are turned away, `kept` how many the next deletions leave as changed meanwhile; `refused` are
    failures of the next deletions; `asked` are the requests so far.
    """

    def __init__(self, login: str = "") -> None:
        self.login, self.url = login, ""
        self.indexes: dict[str, Index] = {}
        self.aliases: dict[str, set[str]] = {}
        self.faults: deque[Problem] = deque()
        self.rejected = self.kept = 0
        self.refused: deque[Json] = deque()
        self.asked: list[tuple[str, str]] = []
        self.lock = threading.Lock()

    def answer(self, method: str, path: str, body: bytes, login: str) -> Any:
        parts = urlsplit(path)
        with self.lock:
            self.asked.append((method, parts.path))
            if self.login and login != "Basic " + base64.b64encode(self.login.encode()).decode():
                raise Problem(401, "", "Unauthorized")
            if self.faults:
                raise self.faults.popleft()
            if parts.path == "/":
                return {"name": "loopback", "version": {"distribution": "opensearch", "number": "2.19.0"}}
            first, _, rest = parts.path.strip("/").partition("/")
            if first == "_bulk":
                return self._bulk(body)
            data = json.loads(body or b"{}")
            if first == "_aliases":
                return self._swap(data["actions"])
            if method == "DELETE":
                return self._remove(first)
            if method == "PUT":
                return self._create(first, data["mappings"])
            return getattr(self, f"_on{rest}")(first, data, parse_qs(parts.query))

    def index(self, name: str) -> tuple[str, Index]:
        names = self.aliases.get(name, {name})
        found = [(each, self.indexes[each]) for each in names if each in self.indexes]
        if not found:
            raise Problem(404, "index_not_found_exception", f"no such index [{name}]")
        return found[0]

    def _create(self, name: str, mappings: Json) -> Json:
        if name in self.indexes:
            raise Problem(400, "resource_already_exists_exception", f"index [{name}] already exists")
        assert mappings["dynamic"] == "strict"
        self.indexes[name] = Index(mappings["properties"], mappings["_source"]["includes"])
        return {"acknowledged": True, "shards_acknowledged": True, "index": name}

    def _remove(self, name: str) -> Json:
        if name not in self.indexes:
            raise Problem(404, "index_not_found_exception", f"no such index [{name}]")
        del self.indexes[name]
        return {"acknowledged": True}

    def _swap(self, actions: list[Json]) -> Json:
        for action in actions:
            ((kind, found),) = action.items()
            if kind == "remove_index":
                del self.indexes[found["index"]]
                self.aliases = {name: of - {found["index"]} for name, of in self.aliases.items()}
            else:
                self.aliases.setdefault(found["alias"], set()).add(found["index"])
        return {"acknowledged": True}

    def _bulk(self, body: bytes) -> Json:
        lines = [json.loads(line) for line in body.splitlines()]
        items = [self._put(action["index"], source) for action, source in zip(lines[::2], lines[1::2], strict=True)]
        return {"took": 1, "errors": any("error" in item for item in items), "items": [{"index": it} for it in items]}

    def _put(self, at: Json, source: Json) -> Json:
        about = {"_index": at["_index"], "_id": at["_id"]}
        if self.rejected:
            self.rejected -= 1
            reason = "rejected execution of coordinating operation [coordinating_and_primary_bytes=0]"
            return about | {"status": 429, "error": {"type": "rejected_execution_exception", "reason": reason}}
        try:
            self.index(at["_index"])[1].put(at["_id"], source)
        except Problem as problem:
            return about | {"status": problem.status, "error": {"type": problem.kind, "reason": str(problem)}}
        return about | {"status": 201, "result": "created"}

    def _on_alias(self, name: str, query: Json, options: Json) -> Json:
        if "*" in name:  # such a name may match nothing
            found = {each for pattern in name.split(",") for each in fnmatch.filter(self.indexes, pattern)}
            named = {each: [alias for alias, of in self.aliases.items() if each in of] for each in found}
            return {each: {"aliases": {alias: {} for alias in aliases}} for each, aliases in named.items()}
        self.index(name)
        return {each: {"aliases": {name: {}}} for each in self.aliases.get(name, {name})}

    def _on_refresh(self, name: str, query: Json, options: Json) -> Json:
        self.index(name)
        return {"_shards": {"total": 2, "successful": 1, "failed": 0}}

    def _on_delete_by_query(self, name: str, query: Json, options: Json) -> Json:
        _, index = self.index(name)
        gone = [key for key, source in index.sources.items() if index.score(query["query"], source) is not None]
        failures = [self.refused.popleft()] if self.refused else []
        left = min(self.kept, len(gone))
        self.kept -= left
        gone = [] if failures else gone[left:]
        index.delete(gone)
        return {"took": 1, "deleted": len(gone), "version_conflicts": left, "failures": failures}

    def _on_search(self, name: str, query: Json, options: Json) -> Json:
        of, index = self.index(name)
        found = self._matching(index, query.get("query", {"match_all": {}}))
        answer: Json = {"took": 1, "timed_out": False, "hits": {"hits": self._hits(of, index, found, query)}}
        if query.get("track_total_hits"):
            answer["hits"]["total"] = {"value": len(found), "relation": "eq"}
        if "aggs" in query:
            answer["aggregations"] = {key: self._aggregate(index, each) for key, each in query["aggs"].items()}
        return answer

    @staticmethod
    def _matching(index: Index, query: Json) -> list[tuple[float, str, Json]]:
        scored = ((index.score(query, source), key, source) for key, source in index.sources.items())
        return [(score, key, source) for score, key, source in scored if score is not None]

    def _hits(self, of: str, index: Index, found: list[tuple[float, str, Json]], query: Json) -> list[Json]:
        second = query.get("sort", ["_score", {"_doc": "asc"}])[1]
        ((by, _),) = second.items()
        ordered = sorted(found, key=lambda hit: (-hit[0], hit[2].get(by, 0)))
        if collapse := query.get("collapse"):
            groups: dict[Any, list[tuple[float, str, Json]]] = {}
            for hit in ordered:
                groups.setdefault(hit[2][collapse["field"]], []).append(hit)
            inner, hits = collapse["inner_hits"], []
            for group in list(groups.values())[: query["size"]]:
                inside = self._hits(of, index, group, inner)
                hits.append(
                    self._hit(of, index, group[0], query) | {"inner_hits": {inner["name"]: {"hits": {"hits": inside}}}}
                )
            return hits
        return [self._hit(of, index, hit, query) for hit in ordered[: query["size"]]]

    @staticmethod
    def _hit(of: str, index: Index, hit: tuple[float, str, Json], query: Json) -> Json:
        score, key, source = hit
        shown = {name: value for name, value in source.items() if name in index.kept and name in query["_source"]}
        return {"_index": of, "_id": key, "_score": score, "_source": shown}

    def _aggregate(self, index: Index, query: Json) -> Json:
        ((kind, asked),) = query.items()
        if kind == "max":
            return {"value": max((each[asked["field"]] for each in index.sources.values()), default=None)}
        if kind == "terms":
            counted = Counter(each[asked["field"]] for each in index.sources.values())
            return {"buckets": [{"key": key, "doc_count": count} for key, count in counted.most_common()]}
        buckets = {key: {"doc_count": len(self._matching(index, each))} for key, each in asked["filters"].items()}
        return {"buckets": buckets}


@contextmanager
def running(login: str = "") -> Iterator[OpenSearchServer]:
    """A server, while it lasts."""
    state = OpenSearchServer(login)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else a body waits 40 ms until its headers are acknowledged

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers: dict[str, str] = {}
            try:
                status, answer = 200, state.answer(self.command, self.path, body, self.headers.get("authorization", ""))
            except Problem as problem:
                status, headers = problem.status, problem.headers
                found = {"type": problem.kind, "reason": str(problem)}
                answer = {"error": found | {"root_cause": [found]}, "status": status} if problem.kind else str(problem)
            data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {"content-length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_DELETE = do_POST  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    host = f"{login}@" if login else ""
    state.url = f"http://{host}127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
