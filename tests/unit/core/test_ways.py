"""What messages propose is worded for where they are read."""

import asyncio
import re
from pathlib import Path

import pytest

from assay.core.ways import Surface, adapt_wording, set_surface, suggest_command, use_surface

ERRORS = Path(__file__).parents[3] / "docs" / "errors.md"
ELSEWHERE = ("(cli/", "(store/sql/adoption", "(server/process", "(settings/")
"""What these say is read at a terminal alone."""
COMMAND = re.compile(r"\bassay (?!serve`)[a-z]+ [a-z]|\bassay (doctor|models|serve)\b")


@pytest.mark.parametrize(
    ("surface", "words"),
    [
        ("terminal", "assay runs resume k3v9"),
        ("http", "POST /api/v1/runs/k3v9/resume"),
        ("mcp", "have its owner resume run k3v9 in Assay"),
        ("page", "Resume, on the page of run k3v9"),
    ],
)
def test_each_surface_has_its_words(surface: Surface, words: str):
    with use_surface(surface):
        assert suggest_command("resume", "k3v9") == words
    assert suggest_command("resume", "k3v9") == "assay runs resume k3v9"


def test_a_name_is_written_as_its_place_wants_it():
    assert suggest_command("add", "a b/ü") == "assay docs add PATH -c 'a b/ü'"
    with use_surface("http"):
        assert suggest_command("add", "a b/ü") == "POST /api/v1/collections/a%20b/%C3%BC/documents"
    with use_surface("page"):
        assert suggest_command("ask further", "k3") == "the form below the report of run k3"


async def test_tasks_side_by_side_do_not_see_each_others_surface():
    async def worded(surface: Surface) -> str:
        set_surface(surface)
        await asyncio.sleep(0)
        return suggest_command("cancel", "k3")

    both = await asyncio.gather(worded("http"), worded("mcp"))
    assert both == ["POST /api/v1/runs/k3/cancel", "the tool cancel with run_id k3"]
    assert suggest_command("cancel", "k3") == "assay runs cancel k3"


def messages() -> list[str]:
    """Every message of an error which may be read over a network, with names in the place of its values."""
    lines = (line for line in ERRORS.read_text().splitlines() if line.startswith("- `"))
    kept = (line for line in lines if not any(place in line for place in ELSEWHERE))
    return [re.sub(r"\{[^}]*\}", "k3v9", line.partition("- ")[2].rpartition(" *(")[0]) for line in kept]


@pytest.mark.parametrize("surface", ["http", "mcp", "page"])
def test_no_error_names_a_command_where_nobody_has_one(surface: Surface):
    found = messages()
    assert sum(bool(COMMAND.search(each)) for each in found) > 10
    with use_surface(surface):
        assert [each for each in map(adapt_wording, found) if COMMAND.search(each)] == []


def test_a_stored_message_is_worded_where_it_is_read():
    text = "run k3 was paused; to continue: assay runs resume k3"
    assert adapt_wording(text) == text
    with use_surface("http"):
        assert adapt_wording(text) == "run k3 was paused; to continue: POST /api/v1/runs/k3/resume"
        assert adapt_wording("it was begun by assay 0.1.0") == "it was begun by assay 0.1.0"


def test_flags_are_named_only_in_a_terminal():
    text = "name documents (--in PATH), or have the web searched (--web)"
    assert adapt_wording(text) == text
    with use_surface("http"):
        assert adapt_wording(text) == "name documents, or have the web searched"
