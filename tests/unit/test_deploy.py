"""The files of deploy/ are true: commands, options, settings and routes in them exist, and the parts fit each other."""

from __future__ import annotations

import asyncio
import configparser
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pgbouncer
import postgres
import psycopg
import pytest
import yaml
from journals import begin
from sqlalchemy import make_url

from assay.cli.main import COMMANDS, cli
from assay.core.ports import QueueLimits
from assay.core.ports.jobs import Job
from assay.settings import Settings
from assay.settings.reader import fields_of
from assay.store.sql import open_store

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
PORT, USER = 8484, 10001
AUTOSCALED = DEPLOY / "kubernetes-autoscaled"
FOREIGN = {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "KEDA_DATABASE"}
"""Settings which have their providers' own names, and what is another program's."""


def variables() -> set[str]:
    """The environment variables which are settings."""
    names = set()
    for name, field in fields_of(Settings).items():
        names.add(f"ASSAY_{name}".upper())
        section = fields_of(field.kind) if field.is_table else {}
        names |= {f"ASSAY_{name}_{each}".upper() for each in section}
    return names


def parses(arguments: list[str]) -> None:
    """A command line with these arguments is one that `assay` understands."""
    assert arguments[0] in COMMANDS, f"assay has no command {arguments[0]}"  # else it would be a question
    command: click.Command = cli
    context = click.Context(command, info_name="assay")
    rest = list(arguments)
    while isinstance(command, click.Group):
        name, found, rest = command.resolve_command(context, rest)
        assert found is not None, f"assay has no command {name}"
        command, context = found, click.Context(found, info_name=name, parent=context)
    command.make_parser(context).parse_args(rest)


def documents(path: Path) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(path.read_text()) if each]


def objects() -> dict[tuple[str, str], dict[str, Any]]:
    """All of deploy/kubernetes which is applied, by kind and name."""
    listed = documents(KUBERNETES / "kustomization.yaml")[0]["resources"]
    found = [each for name in listed for each in documents(KUBERNETES / name)]
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


# the image


def instructions() -> list[tuple[str, str]]:
    lines = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    return [(line.split()[0], line.split(None, 1)[1]) for line in lines if line and not line.startswith("#")]


def test_the_image_is_made_in_two_stages_and_runs_as_nobody_of_note() -> None:
    made = instructions()
    assert [name for name, _ in made].count("FROM") == 2
    last = dict(made[max(number for number, (name, _) in enumerate(made) if name == "FROM") :])
    assert last["USER"] == f"{USER}:{USER}"
    assert last["EXPOSE"] == str(PORT)
    assert yaml.safe_load(last["ENTRYPOINT"]) == ["assay"]
    parses(yaml.safe_load(last["CMD"]))
    for name, value in re.findall(r"(ASSAY_\w+)=(\S+)", last["ENV"]):
        assert name in variables(), f"{name}={value} is no setting"


@pytest.mark.parametrize(
    ("started", "asked"),
    [
        ("/opt/assay/bin/python\0/opt/assay/bin/assay\0worker\0--slots\08\0", ["assay", "worker", "--check"]),
        ("/sbin/tini\0--\0assay\0worker\0", ["assay", "worker", "--check"]),
        ("/opt/assay/bin/python\0/opt/assay/bin/assay\0serve\0", ["python", "-c", f"127.0.0.1:{PORT}/readyz"]),
    ],
    ids=["worker", "worker below an init", "server"],
)
@pytest.mark.parametrize("code", [0, 1])
def test_the_image_checks_what_it_was_started_as(tmp_path: Path, started: str, asked: list[str], code: int) -> None:
    check = dict(instructions())["HEALTHCHECK"].partition(" CMD ")[2]
    (tmp_path / "cmdline").write_text(started)
    for name in ("assay", "python"):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho {name} "$@"\nexit {code}\n')
        program.chmod(0o755)
    check = check.replace("/proc/1/cmdline", str(tmp_path / "cmdline"))
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", check], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert all(part in done.stdout for part in asked)
    assert done.stdout.startswith(asked[0])
    parses(["worker", "--check"])


def test_the_image_has_what_the_project_has() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {line for line in (ROOT / ".containerignore").read_text().splitlines() if line.startswith("!")}
    for name, value in instructions():
        if name == "COPY" and not value.startswith("--from"):
            for source in value.split()[:-1]:
                assert (ROOT / source).exists()
                assert f"!{source.removeprefix('./')}" in wanted, f"{source} is left out by .containerignore"
    for text in ((DEPLOY / "Containerfile").read_text(), (DEPLOY / "image.sh").read_text()):
        extras = re.search(r"'(?:\.\[)?([a-z0-9]+(?:,[a-z0-9]+)+)\]?'", text)
        assert extras is not None
        assert set(extras[1].split(",")) <= set(project["optional-dependencies"])


def test_the_script_is_one_of_the_shell() -> None:
    subprocess.run(["sh", "-n", str(DEPLOY / "image.sh")], check=True)


# compose


def test_services_of_compose() -> None:
    composed = documents(DEPLOY / "compose.yaml")[0]
    services = composed["services"]
    assert services["worker"]["deploy"]["replicas"] == 2
    for name in ("server", "worker"):
        service = services[name]
        parses(service["command"])
        unknown = set(service["environment"]) - variables() - FOREIGN
        assert not unknown, f"no settings: {unknown}"
        assert service["depends_on"]["database"]["condition"] == "service_healthy"
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
        assert int(service["stop_grace_period"].rstrip("s")) > 10
        blobs = service["environment"]["ASSAY_BLOBS"]
        assert f"blobs:{blobs}" in service["volumes"]
    assert services["server"]["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert {volume.split(":")[0] for each in services.values() for volume in each["volumes"]} == set(
        composed["volumes"]
    )


# Kubernetes


def deployments() -> Iterator[dict[str, Any]]:
    yield from (each for (kind, _), each in objects().items() if kind == "Deployment")


def test_pods_are_bounded_and_have_what_they_name() -> None:
    applied = objects()
    secret = documents(KUBERNETES / "secret.example.yaml")[0]
    named = {"configMapRef": "ConfigMap", "secretRef": "Secret"}
    known = {*applied, ("Secret", secret["metadata"]["name"])}
    for each in deployments():
        spec = each["spec"]["template"]["spec"]
        labels = each["spec"]["template"]["metadata"]["labels"]
        assert each["spec"]["selector"]["matchLabels"].items() <= labels.items()
        assert each["spec"]["replicas"] == 2
        assert spec["securityContext"]["runAsNonRoot"]
        assert spec["securityContext"]["runAsUser"] == USER
        assert spec["terminationGracePeriodSeconds"] > 10
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        (container,) = spec["containers"]
        parses(container["args"])
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
        for source in container["envFrom"]:
            (kind, reference), *_ = source.items()
            assert (named[kind], reference["name"]) in known
        claim = volumes["blobs"]["persistentVolumeClaim"]["claimName"]
        assert ("PersistentVolumeClaim", claim) in applied
    for settings in (applied["ConfigMap", "assay"]["data"], secret["stringData"]):
        assert not set(settings) - variables() - FOREIGN


def test_probes_are_routes_and_the_way_in_leads_to_the_server() -> None:
    from assay.server import operations

    routes = {each.path for each in operations.endpoints()}
    applied = objects()
    server = applied["Deployment", "assay-server"]["spec"]["template"]
    (container,) = server["spec"]["containers"]
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert ports == {"http": PORT}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] in routes
        assert container[probe]["httpGet"]["port"] in ports
    (worker,) = applied["Deployment", "assay-worker"]["spec"]["template"]["spec"]["containers"]
    program, *rest = worker["livenessProbe"]["exec"]["command"]
    assert program == "assay"
    parses(rest)
    service = applied["Service", "assay"]["spec"]
    assert service["selector"].items() <= server["metadata"]["labels"].items()
    assert {each["targetPort"] for each in service["ports"]} <= set(ports)
    (rule,) = applied["HTTPRoute", "assay"]["spec"]["rules"]
    assert rule["timeouts"]["request"] == "0s"  # a stream has no end of its own
    assert rule["backendRefs"] == [{"name": "assay", "port": service["ports"][0]["port"]}]
    hosts = applied["HTTPRoute", "assay"]["spec"]["hostnames"]
    assert applied["ConfigMap", "assay"]["data"]["ASSAY_SERVER_HOSTS"].split(",") == hosts


def scaled() -> dict[str, Any]:
    found = {each["kind"]: each for each in documents(AUTOSCALED / "autoscaling.yaml")}
    (trigger,) = found["ScaledObject"]["spec"]["triggers"]
    authentication = found["TriggerAuthentication"]
    assert trigger["authenticationRef"]["name"] == authentication["metadata"]["name"]
    (connection,) = authentication["spec"]["secretTargetRef"]
    assert connection["key"] in documents(KUBERNETES / "secret.example.yaml")[0]["stringData"]
    assert ("Deployment", found["ScaledObject"]["spec"]["scaleTargetRef"]["name"]) in objects()
    metadata: dict[str, Any] = trigger["metadata"]
    return metadata


def test_workers_are_scaled_by_runs_and_jobs() -> None:
    (container,) = objects()["Deployment", "assay-worker"]["spec"]["template"]["spec"]["containers"]
    assert container["args"][container["args"].index("--slots") + 1] == scaled()["targetQueryValue"]
    listed = documents(AUTOSCALED / "kustomization.yaml")[0]
    assert [(AUTOSCALED / each).exists() for each in listed["resources"]] == [True, True]
    (patch,) = listed["patches"]
    assert yaml.safe_load(patch["patch"]) == [{"op": "remove", "path": "/spec/replicas"}]


async def test_the_query_of_autoscaling_counts_what_workers_have_to_do(
    tmp_path: Path, new_database: Callable[[], str]
) -> None:
    url = new_database()
    store = open_store(tmp_path, database=url)
    schema = make_url(url).query["schema"]

    def asked() -> int:
        with psycopg.connect(postgres.bare(url)) as connection:
            row = connection.execute(scaled()["query"].replace("assay.", f"{schema}.")).fetchone()
            assert row is not None
            return int(row[0])

    assert asked() == 0
    for run_id in ("r1", "r2", "r3"):
        await store.journal.release(await begin(store.journal, run_id))
        await store.queue.enqueue(run_id)
    await store.queue.park("r3")  # it waits for a person
    await store.queue.claim("worker", 30.0, QueueLimits())  # executed, and still to be done
    assert asked() == 2
    await store.jobs.put([Job(id="j1", kind="add", name="some", created_at="", updated_at="")])
    assert asked() == 10
    await store.close()


def test_every_deployment_may_be_disrupted_one_pod_at_a_time() -> None:
    budgets = [each for (kind, _), each in objects().items() if kind == "PodDisruptionBudget"]
    guarded = [each["spec"]["selector"]["matchLabels"] for each in budgets]
    for each in deployments():
        labels = each["spec"]["template"]["metadata"]["labels"]
        assert [of for of in guarded if of.items() <= labels.items()] != []


def test_pgbouncer_takes_its_settings(tmp_path: Path, postgres_server: str) -> None:
    """Those of the file, with this machine's server, port and login."""
    if not pgbouncer.program():
        pytest.skip(pgbouncer.MISSING)
    settings = configparser.RawConfigParser(comment_prefixes=(";",))
    settings.read_string((DEPLOY / "pgbouncer.ini").read_text())
    assert settings["pgbouncer"]["pool_mode"] == "transaction"
    with pgbouncer.running(postgres.bare(postgres_server), settings=dict(settings["pgbouncer"])) as pooler:
        url = postgres.with_schema(pooler.url)
        store = open_store(tmp_path, database=url)
        assert store.library.last_row() == 0
        asyncio.run(store.close())
        postgres.drop(url)
        assert "WARNING" not in (pooler.folder / "log").read_text()


# systemd


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_of_systemd(unit: Path) -> None:
    read = configparser.RawConfigParser(strict=False)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read_string(unit.read_text())
    service = dict(read["Service"])
    program, *arguments = shlex.split(service["ExecStart"])
    assert program == "/opt/assay/bin/assay"
    parses(arguments)
    assert service["Environment"].split("=")[0] in variables()
    assert service["DynamicUser"] == service["NoNewPrivileges"] == "yes"
    assert service["ProtectSystem"] == "strict"
    assert int(service["TimeoutStopSec"]) > 10


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_understands_each_line_of_a_unit(unit: Path) -> None:
    line = ["systemd-analyze", "verify", "--man=no", str(unit)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300).stderr
    missing = "assay is not executable: No such file or directory"  # it is not installed here
    of_it = [each for each in done.splitlines() if "assay" in each]
    assert [each for each in of_it if missing not in each] == []


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_are_hardened(unit: Path) -> None:
    line = ["systemd-analyze", "security", "--offline=yes", "--threshold=20", str(unit)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:]


# the page


def test_the_page_names_every_file_and_its_commands_exist() -> None:
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    for path in sorted(DEPLOY.rglob("*")):
        if path.is_file():
            assert path.name in page, f"docs/deploy.md says nothing of {path.name}"
    fences = "\n".join(re.findall(r"```sh\n(.*?)```", page, re.S)).replace("\\\n", " ")
    commands = re.findall(
        r"(?:^|bin/|--rm (?:-T )?server |exec server )(?:assay )?((?:users|doctor|db|worker|serve)\b.*)$", fences, re.M
    )
    commands += re.findall(r"`assay ([^`]+)`", page)
    assert len(commands) >= 3
    for line in commands:
        parses([word for word in shlex.split(line, comments=True) if word not in ("<", "password.txt")])
    for name in re.findall(r"\b(ASSAY_[A-Z_]+)\b", page):
        assert name in variables(), f"{name} is no setting"
