"""`/metrics`: what Prometheus reads of a server, and who may read it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from accounts import accounts
from prometheus_client.parser import text_string_to_metric_families
from serving import TIDE, TIDES, Served, begun, command, served, until
from waiting import looked

Sample = tuple[str, frozenset[tuple[str, str]]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("measured") / "home") as server:
        yield server


async def samples(client: httpx.AsyncClient) -> dict[Sample, float]:
    answer = await client.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(answer.text)
    return {(each.name, frozenset(each.labels.items())): each.value for family in families for each in family.samples}


def value(found: dict[Sample, float], name: str, **labels: str) -> float:
    """The sum of what has these labels."""
    return sum(each for (of, has), each in found.items() if of == name and labels.items() <= set(has))


async def test_requests_runs_and_models_are_counted(server: Served) -> None:
    async with server.client() as client:
        await client.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
        run = await begun(client, TIDE, scope={"collections": ["tides"]})
        await until(client, run)
        assert (await client.get("/api/v1/runs/none")).status_code == 404
        assert (await client.get("/nowhere")).status_code == 404
        assert (await client.request("BREW", "/livez")).status_code == 405
        queued = "assay_queue_runs"  # who has executed a run lets go of it when it has ended
        found = await looked(lambda: samples(client), lambda found: value(found, queued) == 0)
        requests = "http_server_request_duration_seconds_count"
        of = {"http_request_method": "GET", "http_route": "/api/v1/runs/{run}"}
        assert value(found, requests, **of, http_response_status_code="200") >= 1
        assert value(found, requests, **of, http_response_status_code="404") == 1
        assert value(found, requests, http_route="", http_response_status_code="404") == 1
        assert value(found, requests, http_request_method="_OTHER") == 1
        assert value(found, requests, http_route="/api/v1/runs", http_request_method="POST") == 1
        assert value(found, "http_server_active_requests") == 1  # this one
        assert value(found, "assay_runs", status="completed") == 1
        assert value(found, queued) == 0
        model = {"gen_ai_request_model": "extractive", "gen_ai_operation_name": "chat"}
        used = (await client.get(f"/api/v1/runs/{run}/usage")).json()["usage"]["total"]
        calls = value(found, "gen_ai_client_inference_duration_seconds_count", **model, error_type="")
        assert calls == used["model_calls"] > 1
        for kind in ("input", "output"):
            tokens = value(found, f"gen_ai_client_inference_operation_{kind}_tokens_sum", **model)
            assert tokens == used[f"{kind}_tokens"]
        assert value(found, "assay_usage_usd_total") == 0
        release = (await client.get("/version")).json()["version"]
        assert value(found, "assay_build_info", version=release) == 1
        assert value(found, "process_resident_memory_bytes") > 1_000_000


async def test_no_label_names_a_run_or_a_question(server: Served) -> None:
    async with server.client() as client:
        run = await begun(client, "Which secret word is swordfish?")
        for path in (f"/api/v1/runs/{run}", f"/api/v1/runs/{run}/events", f"/v1/responses/resp_{run}", f"/{run}"):
            await client.get(path, headers={"Accept": "application/json"})
        text = (await client.get("/metrics")).text
        assert run not in text
        assert "swordfish" not in text


async def test_open_streams_are_counted(server: Served) -> None:
    async with server.client() as client:
        assert value(await samples(client), "assay_streams") == 0
        async with client.stream("GET", "/api/v1/events") as stream:
            beginning = stream.aiter_bytes()
            await anext(beginning)
            assert value(await samples(client), "assay_streams") == 1


async def test_a_scraper_is_given_the_format_it_asks_for(server: Served) -> None:
    async with server.client() as client:
        answer = await client.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
        assert answer.headers["content-type"].startswith("application/openmetrics-text")
        assert answer.text.endswith("# EOF\n")


async def test_with_users_only_who_is_allowed_reads_them(tmp_path: Path) -> None:
    home = accounts(tmp_path / "home", ana="admin", bob="member")
    scraper = command(home, "users", "token", "ana", "--scope", "metrics")
    member = command(home, "users", "token", "bob")
    with served(home) as server:
        async with server.client() as client:
            assert (await client.get("/metrics")).status_code == 401
            assert (await client.get("/metrics", headers={"Authorization": f"Bearer {member}"})).status_code == 403
            headers = {"Authorization": f"Bearer {scraper}"}
            assert (await client.get("/metrics", headers=headers)).status_code == 200
            assert (await client.get("/api/v1/runs", headers=headers)).status_code == 403
            assert (await client.get("/v1/models", headers=headers)).status_code == 403
            answer = await client.get("/metrics", headers=headers)
            assert 'http_response_status_code="401"' in answer.text
            assert "bob" not in answer.text
