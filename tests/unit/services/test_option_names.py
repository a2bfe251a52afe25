"""Keywords which nobody knows, and words which are none of those an option takes."""

from __future__ import annotations

import enum
import inspect
import tomllib
from collections import UserList, deque
from pathlib import Path
from typing import Any

import numpy
import pytest

import assay
from assay.core import milestones
from assay.core.errors import (
    AssayError,
    EventLoopError,
    NothingSearched,
    UnknownName,
    UnknownOption,
    UsageError,
    WrongType,
)
from assay.core.run_options import ForkOptions, RunOptions
from assay.services import arguments

ROOT = Path(assay.__file__).parents[2]
QUESTION = "How high is the tide at Brest?"
STARTERS = ("start", "create", "ask", "foresee", "create_ask", "agent", "fork")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("dept", "depth"), ("source", "sources"), ("max_usdd", "max_usd"), ("modell", "model"), ("langage", "language")],
)
async def test_an_option_nobody_knows_is_refused_with_the_nearest(wrong: str, right: str) -> None:
    options: Any = {wrong: "x"}
    async with assay.Assay() as library:
        with pytest.raises(UnknownOption, match=f"no option of Assay.start named '{wrong}'; did you mean '{right}'?"):
            library.start(QUESTION, **options)
        with pytest.raises(UnknownOption, match=f"did you mean '{right}'"):
            await assay.research(QUESTION, **options)
    with pytest.raises(UnknownOption, match=f"did you mean '{right}'"):
        assay.research_sync(QUESTION, **options)


async def test_an_option_like_no_other_lists_those_there_are() -> None:
    options: Any = {"zzz": 1}
    with pytest.raises(UnknownOption, match="use one of: allow_private, answers, ask"):
        await assay.research(QUESTION, **options)


@pytest.mark.parametrize("name", STARTERS)
async def test_every_way_to_begin_a_run_checks_its_options(name: str) -> None:
    options: Any = {"max_tokenz": 5}
    async with assay.Assay() as library:
        with pytest.raises(UnknownOption, match="max_tokens") as raised:
            await getattr(library, name)("last", QUESTION, **options)
    assert isinstance(raised.value, TypeError)
    assert isinstance(raised.value, AssayError)


def test_the_class_takes_a_model_and_names_what_it_does_not_take() -> None:
    wrong: Any = {"hom": "."}
    with pytest.raises(UnknownOption, match="no option of Assay named 'hom'; did you mean 'home'"):
        assay.Assay(**wrong)
    one = assay.Assay(model="ollama:qwen3").settings.roles()
    assert set(one.values()) == {("ollama:qwen3",)}
    several = assay.Assay(model=["ollama:qwen3", "extractive"]).settings.roles()
    assert several["complex"] == ("ollama:qwen3", "extractive")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": "deep"}, "depth cannot be 'deep': write 'auto', 'light', 'medium' or 'extended'"),
        ({"mode": "quick"}, "mode cannot be 'quick': write"),
        ({"ask": "yes"}, "ask cannot be 'yes': write 'never', 'optional' or 'required'"),
        ({"models": {"writer": "ollama:x"}}, "no role named 'writer'; use one of: analytical, complex, judge, simple"),
    ],
)
async def test_a_word_which_is_none_of_an_options_words(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        await assay.research(QUESTION, **options)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("name", "arguments", "options", "message"),
    [
        ("start", (QUESTION,), {"sources": 3}, "sources cannot be 3: write text, a Path or a list of text or a Path"),
        ("start", (QUESTION,), {"sources": ["a", 3]}, "sources cannot be ['a', 3]: write text"),
        ("start", (None,), {}, "question cannot be None: write text"),
        ("start", (QUESTION,), {"progress": "log"}, "progress cannot be 'log': write a function"),
        ("start", (QUESTION,), {"max_usd": "1"}, "max_usd cannot be '1': write a number"),
        ("events", ("last", "3"), {}, "after cannot be '3': write a whole number"),
        ("fork", ("last", "plan"), {"exclude": "S1002"}, "exclude cannot be 'S1002': write a list of text"),
        ("mark", ("papers",), {"private": "yes"}, "private cannot be 'yes': write True or False"),
        ("answer", ("last", "yes"), {}, "answers cannot be 'yes': write a list of text or a mapping"),
        ("label", ("last", ["a"]), {}, "added cannot be ['a']: write a mapping"),
        ("export", ("last", ".md", 3), {}, "citations cannot be 3: write text"),
        ("prune", (3,), {}, "rules cannot be 3: write RetentionRules"),
        ("answer", ("last", 3), {}, "answers cannot be 3: write a list of text or a mapping"),
        ("begin_job", ("sync",), {}, "work cannot be 'sync': write AddJob, CrawlJob, SyncJob"),
    ],
)
async def test_a_value_of_a_wrong_type_says_which_are_right(
    name: str, arguments: tuple[object, ...], options: dict[str, Any], message: str
) -> None:
    async with assay.Assay() as library:
        with pytest.raises(WrongType) as raised:
            await getattr(library, name)(*arguments, **options)
        assert str(raised.value).startswith(message)
        assert isinstance(raised.value, TypeError)


async def test_every_iterable_of_sources_is_one(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("The tide at Brest rises 7.5 metres.\n")
    async with assay.Assay() as library:
        for sources in (iter([tmp_path / "tides.md"]), (tmp_path / "tides.md",), {tmp_path / "tides.md"}):
            assert (await library.add(sources)).collection


async def test_values_of_subclasses_and_other_sequences_are_taken(tmp_path: Path) -> None:
    class Text(str): ...

    class Place(type(tmp_path)): ...  # type: ignore[misc]

    class Number(enum.IntEnum):
        ONE = 1

    class Name(enum.StrEnum):
        TIDES = "tides"

    (tmp_path / "tides.md").write_text("The tide at Brest rises 7.5 metres.\n")
    async with assay.Assay() as library:
        await library.add(Place(tmp_path), Name.TIDES)
        for collection in (Name.TIDES, deque(["tides"]), UserList([Text("tides")]), ("tides",)):
            assert len(await library.search(Text("tide"), Number.ONE, collection)) == 1


PUBLIC = [
    *((f"{name}()", getattr(assay, name)) for name in ("check", "judge_rows", "research", "research_sync")),
    *(
        (f"{kind.__name__}.{name}", method)
        for kind in (assay.Assay, assay.RunHandle)
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    ),
]


@pytest.mark.parametrize(("name", "function"), PUBLIC, ids=[name for name, _ in PUBLIC])
def test_every_public_function_checks_all_its_arguments(name: str, function: Any) -> None:
    inner = function.__wrapped__
    known = arguments._parameter_types(inner)
    assert {"self", "wanted", "options"} | known.keys() >= inspect.signature(inner).parameters.keys()
    assert inspect.iscoroutinefunction(function) == inspect.iscoroutinefunction(inner)


async def test_numbers_of_other_packages_are_numbers() -> None:
    class Whole:
        def __index__(self) -> int:
            return 1

    wrong: Any = [True, numpy.bool_(True), numpy.array([1, 2]), 1.0, "1"]
    async with assay.Assay() as library:
        assert await library.runs(numpy.int64(1)) == await library.runs(Whole()) == []  # type: ignore[arg-type]
        for limit in wrong:
            with pytest.raises(WrongType, match=r"limit cannot be .*: write a whole number"):
                await library.runs(limit)
        limits: Any = {"max_tokens": numpy.int32(9_000), "max_usd": numpy.float32(0.5), "max_time": numpy.int64(60)}
        run_id = await library.create(QUESTION, sources=[], **limits)
        budget = (await library.view(run_id)).brief.budget
    assert (budget.tokens, budget.usd, budget.seconds) == (9_000, 0.5, 60.0)


async def test_what_cannot_be_compared_or_written_is_refused_like_any_other_value() -> None:
    words: Any = [numpy.array(["light", "medium"]), 10**5_000, [10**5_000]]
    async with assay.Assay() as library:
        for word in words:
            with pytest.raises(UsageError, match=r"depth cannot be .*: write 'auto', 'light'"):
                library.start(QUESTION, depth=word)
        with pytest.raises(UsageError, match="limit cannot be this int: write a number of at most 18 digits"):
            await library.runs(10**5_000)
        with pytest.raises(UsageError, match="limit cannot be -1: write at least 0"):
            await library.unfinished(limit=-1)
        with pytest.raises(WrongType, match="model cannot be 5: write text"):
            await assay.try_model(5)  # type: ignore[arg-type]


async def test_without_sources_a_run_says_that_none_are_named() -> None:
    async with assay.Assay(home=None) as library:
        handle = library.start(QUESTION, sources=[])
        told = [line for envelope in [each async for each in handle] for line in milestones.progress_lines(envelope, 0)]
        with pytest.raises(NothingSearched, match="no sources are named; name some"):
            await handle.report()
    assert told[0].endswith(": searching 0 documents")


async def test_a_model_is_every_roles_and_one_of_its_own_goes_before() -> None:
    async with assay.Assay(home=None) as library:
        common: Any = {"model": "scripted:a.json", "models": {"judge": "extractive"}}
        with pytest.raises(AssayError, match=r"a\.json"):
            library.start(QUESTION, **common)


def test_a_list_of_words_is_left_to_whoever_reads_it() -> None:
    arguments.check_keywords("Assay.start", {"checks_off": ["judge"]}, (), "assay.core.run_options:RunOptions")
    with pytest.raises(UsageError, match="depth cannot be 'deep': write 'auto', 'light'"):
        arguments.check_keywords("Assay.start", {"depth": "deep"}, (), "assay.core.run_options:RunOptions")


def test_the_options_are_those_of_the_signatures() -> None:
    for name in STARTERS:
        parameters = inspect.signature(getattr(assay.Assay, name)).parameters
        assert "wanted" in parameters, name
    assert {"model", "models", "depth"} <= RunOptions.__annotations__.keys() & ForkOptions.__annotations__.keys()


def test_a_type_checker_sees_a_keyword_which_nobody_knows() -> None:
    """`make types` fails where a mistake in that file is not seen."""
    checked = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert checked["strict"] is True
    assert "tests/support/typed_calls.py" in checked["files"]
    mistakes = (ROOT / "tests/support/typed_calls.py").read_text(encoding="utf-8").count("# type: ignore[call-arg]")
    assert mistakes == 2


def test_a_run_without_an_event_loop_says_what_to_do() -> None:
    library = assay.Assay()
    with pytest.raises(EventLoopError, match=r"in an async function .*, or call research_sync"):
        library.start(QUESTION)


async def test_blocking_inside_an_event_loop_says_what_to_do() -> None:
    with pytest.raises(EventLoopError, match=r"write `await assay.research\(…\)` there"):
        assay.research_sync(QUESTION)


async def test_a_collection_of_the_command_line_is_named_by_its_home(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"in memory and has no collections; .* home=assay\.Settings\(\)\.home"):
        await assay.research(QUESTION, sources=["@papers"])
    with pytest.raises(UnknownName, match="to make it: assay docs add PATH -c papers"):
        await assay.research(QUESTION, sources=["@papers"], home=tmp_path / "home")


async def test_values_that_are_no_numbers_or_text_are_refused() -> None:
    """A budget of NaN would never be spent."""
    wrong: list[dict[str, Any]] = [{"max_usd": float("nan")}, {"labels": {"a": 1}}, {"labels": {"a": "\udcff"}}]
    async with assay.Assay() as library:
        for options in wrong:
            with pytest.raises(UsageError, match=r"cannot be|is not text in UTF-8"):
                await library.start(QUESTION, **options).report()
        with pytest.raises(UsageError, match=r"is not text in UTF-8: correct its encoding"):
            await library.start("What is a \udcff?").report()


@pytest.mark.parametrize(
    ("name", "arguments", "options", "message"),
    [
        ("find", ("\udcff",), {}, "'\\udcff' is not text in UTF-8"),
        ("runs", (10**30,), {}, "limit cannot be 1000000000000000000000000000000: write a number of at most 18 digits"),
        ("runs", (-1,), {}, "limit cannot be -1: write at least 0"),
        ("events", ("last", -1), {}, "after cannot be -1: write at least 0"),
        ("search", ("tide", -1), {}, "limit cannot be -1: write at least 0"),
        ("explain", ("tide", -1), {}, "limit cannot be -1: write at least 0"),
        ("worker", (0,), {}, "slots cannot be 0: write at least 1"),
        ("job_worker", (-1,), {}, "slots cannot be -1: write at least 1"),
        ("worker", (1, 3), {}, "limits cannot be 3: write QueueLimits"),
        ("usage", ("yesterday",), {}, "'yesterday' is not a time: write it as 2026-11"),
        ("origins", ("papers",), {}, "no collection named 'papers'"),
        ("share", ("default", [""]), {}, "no user named ''"),
        ("share", ("default", ["\udcff"]), {}, "'\\udcff' is not text in UTF-8"),
        ("add", ([],), {}, "there is nothing to add: name a file, a folder or a page"),
        ("begin_add", ("\udcff",), {}, "'\\udcff' is not text in UTF-8"),
        ("adopt", ("", "a/b"), {}, "'a/b' cannot be the name of an owner"),
        ("create_ask", (" ", QUESTION), {}, "no run named ' '"),
        ("create", (QUESTION,), {"length": 0}, "'0' is not a length"),
        ("create", (QUESTION,), {"labels": {"": "x"}}, "a label has a name of printable characters"),
    ],
)
async def test_an_odd_value_says_which_are_right(
    name: str, arguments: tuple[object, ...], options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    (tmp_path / "tides.md").write_text("The tide at Brest rises 7.5 metres.\n")
    async with assay.Assay(home=tmp_path / "home") as library:
        await library.add(tmp_path / "tides.md")
        await library.create(QUESTION)
        with pytest.raises(UsageError) as raised:
            await getattr(library, name)(*arguments, **options)
    assert str(raised.value).startswith(message)


async def test_odd_values_that_have_a_meaning(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("The tide at Brest rises 7.5 metres.\n")
    async with assay.Assay() as library:
        await library.add(tmp_path / "tides.md")
        assert len(await library.search("tide", 2**62)) == len(await library.explain("tide", 2**62)) == 1
        assert await library.search("tide", 0) == await library.runs(0) == []
        nobody: Any = {"judge": []}
        await library.create(QUESTION, models=nobody)  # as if it was left out
