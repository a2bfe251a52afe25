"""Settings over HTTP: written as the command does, and secrets never told."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from accounts import accounts, code, session
from serving import Served, served

from assay import settings
from assay.services.configuration import LOCAL_SETTINGS
from assay.settings.reader import dotted_settings

KEY = "sk-this-is-a-secret-key-of-nobody"
PATH = "/api/v1/settings"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "config.toml").write_text(
        '# kept\n[limits]\ntokens = 5000  # mine\n\n[keys]\nopenai = "sk-old-of-the-file"\n'
    )
    return accounts(tmp_path / "home", ana="admin", bob="member")


@pytest.fixture
def server(home: Path) -> Iterator[Served]:
    with served(home, ASSAY_LOG_LEVEL="debug", ASSAY_LOG_STDERR="true") as server:
        yield server


def written(home: Path) -> dict[str, Any]:
    return tomllib.loads((home.parent / "config.toml").read_text())


async def change(client: httpx.AsyncClient, **values: Any) -> httpx.Response:
    return await client.patch(
        PATH, json={"settings": {name.replace("__", "."): value for name, value in values.items()}}
    )


async def test_an_admin_changes_settings_which_count_from_the_next_start(server: Served, home: Path) -> None:
    async with session(server, "ana") as ana:
        first = (await ana.get(PATH)).json()
        assert first["restart"] is False
        answer = await change(
            ana, depth="light", verify=False, limits__tokens=None, model=["openai:a", "openai:b"], workers__slots=7
        )
        assert answer.status_code == 200, answer.text
        data = {each["name"]: each for each in answer.json()["settings"]}
        assert answer.json()["restart"] is True
        assert (data["depth"]["value"], data["depth"]["next"], data["depth"]["origin"]) == ("auto", "light", "file")
        assert (data["limits.tokens"]["value"], data["limits.tokens"]["next"]) == ("5000", "")
        file = written(home)
        assert (file["depth"], file["verify"], file["model"], file["workers"]["slots"]) == (
            "light",
            False,
            ["openai:a", "openai:b"],
            7,
        )
        assert "limits" not in file  # nothing else was in that table
        assert "# kept" in (home.parent / "config.toml").read_text()
    with served(home) as again:
        async with session(again, "ana") as ana:
            data = {each["name"]: each for each in (await ana.get(PATH)).json()["settings"]}
            assert data["depth"]["value"] == "light"


async def test_what_does_not_fit_changes_nothing(server: Served, home: Path) -> None:
    before = (home.parent / "config.toml").read_bytes()
    async with session(server, "ana") as ana, session(server, "bob") as bob:
        for values, hint in (
            ({"depht": "light"}, "did you mean 'depth'"),
            ({"depht": None}, "depth"),
            ({"depth": "light", "limits__tokens": "many"}, "limits.tokens"),
            ({"depth": "deep"}, "setting depth"),
            ({"model": "nobody:x"}, "no model"),
            ({"strategy": "none"}, "orchestrated"),
            ({"model": "scripted:/etc/passwd"}, "only be set on the server's machine"),
            ({"notify": "touch /tmp/x"}, "only be set on the server's machine"),
            ({"server__folders": "/"}, "only be set on the server's machine"),
            ({"log__file": "/etc/cron.d/x"}, "only be set on the server's machine"),
            ({"home": "/"}, "only be set on the server's machine"),
            ({"web__chromium": "/bin/sh"}, "only be set on the server's machine"),
            ({"keys__openai": KEY}, "PUT /api/v1/settings/keys/openai"),
            ({"services": "x"}, "table"),
            ({"depths__light__min_steps": 9, "depths__light__max_steps": 2}, "max_steps"),
        ):
            answer = await change(ana, **values)
            assert (answer.status_code, code(answer)) == (422, "invalid"), values
            assert hint in answer.text, answer.text
            assert KEY not in answer.text
        assert code(await change(bob, depth="light")) == "forbidden"
        assert code(await bob.put(f"{PATH}/keys/openai", json={"key": KEY})) == "forbidden"
        assert code(await ana.put(f"{PATH}/keys/nobody", json={"key": KEY})) == "unknown-name"
        wrong = await ana.put(f"{PATH}/keys/openai", json={"key": "two words"})
        assert (code(wrong), "two words" in wrong.text) == ("invalid", False)
    assert (home.parent / "config.toml").read_bytes() == before


async def test_a_key_goes_in_and_never_comes_out(server: Served, home: Path) -> None:
    async with session(server, "ana") as ana:
        assert (await ana.put(f"{PATH}/keys/openai", json={"key": KEY})).status_code == 204
        assert written(home)["keys"]["openai"] == KEY
        assert (home.parent / "config.toml").stat().st_mode & 0o077 == 0
        answers = [(await ana.get(path)).text for path in (PATH, "/api/v1/models", "/api/v1/doctor", "/openapi.json")]
        answers.append((await change(ana, depth="light")).text)
        assert not [text for text in answers if KEY in text or "sk-old-of-the-file" in text]
        data = {each["name"]: each for each in (await ana.get(PATH)).json()["settings"]}
        assert (data["keys.openai"]["value"], data["keys.openai"]["secret"]) == ("***", True)
        assert (await ana.delete(f"{PATH}/keys/openai")).status_code == 204
        assert "keys" not in written(home)
        assert (await ana.delete(f"{PATH}/keys/nobody")).status_code == 404
    assert KEY not in server.output()


async def test_two_changes_at_once_lose_nothing(server: Served, home: Path) -> None:
    async with session(server, "ana") as ana:
        wanted = {"limits__pages": 11, "limits__searches": 12, "workers__slots": 3, "depth": "medium", "compare": False}
        answers = await asyncio.gather(*(change(ana, **{name: value}) for name, value in wanted.items()))
        assert {answer.status_code for answer in answers} == {200}
    file = written(home)
    assert (file["limits"]["pages"], file["limits"]["searches"], file["workers"]["slots"]) == (11, 12, 3)
    assert (file["depth"], file["compare"]) == ("medium", False)


def test_what_names_a_file_is_set_on_the_machine_alone() -> None:
    paths = {name for name, field in dotted_settings(settings.Settings) if "Path" in str(field.kind)}
    assert {"home", "web.chromium", "server.folders"} <= paths
    assert paths <= LOCAL_SETTINGS
    assert set(settings.names()) >= LOCAL_SETTINGS
