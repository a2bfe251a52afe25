import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from assay import Assay, plugins
from assay.cli.main import _Excepthook
from assay.cli.terminal import TerminalOptions
from assay.core.errors import ConfigError, PluginFailed, UnknownName

METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Install a distribution with one module and these entry points, for this test."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def installed(name: str, source: str, points: str) -> None:
        (tmp_path / f"{name}.py").write_text(source)
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(METADATA.format(name=name))
        (info / "entry_points.txt").write_text(points)

    return installed


def test_what_we_ship_is_found_by_name():
    assert {"extractive", "scripted"} <= set(plugins.names("models"))
    assert {".md", ".json"} <= set(plugins.names("exporters"))
    assert {"search", "open", "recall"} <= set(plugins.names("tools"))
    assert "orchestrated" in plugins.names("strategies")
    assert plugins.names("extractors")


ADDED_ONLY: set[plugins.PluginGroup] = {"checks", "prompts"}
"""Groups in which packages add to what is built in, or replace it."""


@pytest.mark.parametrize("group", [group for group in plugins.GROUPS if group not in ADDED_ONLY])
def test_everything_we_ship_can_be_loaded(group: plugins.PluginGroup):
    ours = [point.name for point in entry_points(group=f"assay.{group}") if point.value.startswith("assay.")]
    assert ours
    assert all(plugins.load(group, name) is not None for name in ours)


def test_an_unknown_name_is_an_error_with_the_nearest():
    with pytest.raises(UnknownName, match="no model adapter named 'extractiv'; did you mean 'extractive'"):
        plugins.load("models", "extractiv")
    with pytest.raises(UnknownName, match=r"no export format named '\.odt'; use one of: .*\.md"):
        plugins.load("exporters", ".odt")


def test_a_users_adapter_is_found_and_only_the_named_one_is_imported(install):
    install("assay_mine", "def create():\n    return 'mine'\n", "[assay.models]\nmine = assay_mine:create\n")
    install("assay_other", "raise RuntimeError('imported')\n", "[assay.models]\nother = assay_other:create\n")
    assert {"mine", "other"} <= set(plugins.names("models"))
    assert plugins.load("models", "mine")() == "mine"
    assert "assay_other" not in sys.modules


def test_a_user_may_replace_what_we_ship(install):
    install(
        "assay_better",
        "def render():\n    return 'better'\n",
        "[assay.exporters]\n.md = assay_better:render\n",
    )
    assert plugins.load("exporters", ".md")() == "better"


def test_a_missing_extra_is_said(install):
    install("assay_pdf", "import no_such_library\n", "[assay.extractors]\npdf = assay_pdf:extract\n")
    with pytest.raises(ConfigError, match=r"extractor 'pdf'.*no_such_library"):
        plugins.load("extractors", "pdf")


def test_a_models_name_may_carry_what_the_adapter_is_told():
    assert plugins.split("scripted:C:/replies.json") == ("scripted", "C:/replies.json")
    assert plugins.split("extractive") == ("extractive", "")


ROWS = """
from assay.core.sources import Extracted


class Rows:
    name, suffixes, media_type = "acme-rows/1", (".acme",), "text/x-acme"
    isolated, streams = False, True

    def extract(self, data, name):
        for row in data.decode().splitlines():
            word, number = row.split("=")
            yield Extracted(text=f"The {word} is {int(number)} metres long.", extractor=self.name, syntax="plain",
                            title=word, body=row.encode())
"""


async def test_an_extractor_of_rows_that_fails_costs_one_file_from_there_on(install, tmp_path: Path):
    install("acme_rows", ROWS, "[assay.extractors]\nacme = acme_rows:Rows\n")
    folder = tmp_path / "rows"
    folder.mkdir()
    for name, text in {"a": "pier=90\nmole=80\n", "b": "quay=70\nramp=long\n", "c": "x", "d": "dock=60\n"}.items():
        (folder / f"{name}.acme").write_text(text)
    async with Assay() as assay:
        done = await assay.add(folder, "rows")
        assert sorted(each.title for each in await assay.documents("rows")) == ["dock", "mole", "pier", "quay"]
    [partly, skipped] = done.warnings
    assert partly.startswith(f"partly read {folder / 'b.acme'}: its reader acme-rows/1 failed (ValueError: invalid")
    assert skipped.startswith(f"skipped {folder / 'c.acme'}: its reader acme-rows/1 failed (ValueError: not enough")


@pytest.mark.parametrize("source", ["raise RuntimeError('boom')\n", "def other():\n    pass\n", "def (\n"])
def test_a_package_that_cannot_be_imported_is_named(install, source: str):
    install("acme_broken", source, "[assay.tools]\nacme_broken = acme_broken:Tool\n")
    with pytest.raises(ConfigError, match=r"tool 'acme_broken' .* update or uninstall the package acme_broken$"):
        plugins.load("tools", "acme_broken")


FAULTY = """
import json


async def wild(run, agents, plan):
    return json.loads("no JSON")


class Blank:
    suffix = ".blank"

    def render(self, record, citations="numbers"):
        return {}["title"]


BLANK = Blank()
"""
POINTS = "[assay.strategies]\nwild = acme_faulty:wild\n[assay.exporters]\n.blank = acme_faulty:BLANK\n"


async def test_a_run_that_fails_in_the_code_of_another_package_names_it(install, tmp_path: Path):
    install("acme_faulty", FAULTY, POINTS)
    (tmp_path / "tides.md").write_text("The tide at Brest rises 7.5 metres.\n")
    async with Assay() as assay:
        run = assay.start("How far does the tide rise?", sources=[tmp_path / "tides.md"], strategy="wild")
        [failed] = [event async for event in run.events() if event.type == "run.failed"]
        assert b"the package acme_faulty failed" in bytes(failed.data)
        with pytest.raises(
            PluginFailed, match=r"^the package acme_faulty failed \(JSONDecodeError: .*\): update or un"
        ):
            await run.report()


def test_only_a_package_whose_code_was_at_work_is_named(install, capsys: pytest.CaptureFixture[str]):
    install("acme_faulty", FAULTY, POINTS)
    with pytest.raises(KeyError) as theirs:
        plugins.load("exporters", ".blank").render(None)
    assert plugins.failing_package(theirs.value) == "acme_faulty"
    _Excepthook(TerminalOptions())(KeyError, theirs.value, theirs.tb)
    assert capsys.readouterr().err == "assay: error in the package acme_faulty: KeyError: 'title' (-vv shows where)\n"
    with pytest.raises(AttributeError) as lacking:
        plugins.load("exporters", ".blank").ready()
    assert plugins.failing_package(lacking.value) == "acme_faulty"
    with pytest.raises(AttributeError) as ours:
        plugins.split(None)  # type: ignore[arg-type]
    assert plugins.failing_package(ours.value) == ""
