"""The first screen: a question, where to search for its answer, and the latest runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import msgspec
from starlette.datastructures import UploadFile
from starlette.responses import Response

from assay.core.brief import Estimate
from assay.core.errors import AssayError
from assay.core.ports import CollectionRow
from assay.core.translation import N_
from assay.plugins import names
from assay.server.api import documents, reports, runs
from assay.server.page.forms import PageForm, read_form, run_wanted
from assay.server.page.templates_environment import go_to, is_fragment, piece, screen
from assay.server.problems import Refusal, problem_of
from assay.server.wire import RouteCall

LATEST = 6
PIECE = 1 << 20
BUILT_IN = "extractive"
EXAMPLES = (
    N_("What do these documents agree on, and where do they contradict each other?"),
    N_("Which figures are given for the same thing, and by which document?"),
    N_("What are the open questions in these documents?"),
)


class HomeSetup(msgspec.Struct, frozen=True, kw_only=True):
    """The means available: the models, whether the built-in one writes, whether the web may be searched."""

    built_in: bool
    models: tuple[str, ...]
    web: bool
    strategies: tuple[str, ...]


async def show_home(call: RouteCall) -> Response:
    """The form for a question."""
    question = call.request.query_params.get("question", "")
    return await _home(call, PageForm({"question": (question,)}))


async def ask(call: RouteCall) -> Response:
    """Start the run a form asks for; problems are shown beside the form."""
    form = await read_form(call.request, call.backend.settings.server.upload_mb * 1_000_000 + 100_000)
    try:
        wanted = run_wanted(form)
        if form.files:
            collection = await _store_files(call, form.files)
            scope = msgspec.structs.replace(wanted.scope, collections=(*wanted.scope.collections, collection))
            wanted = msgspec.structs.replace(wanted, scope=scope)
        begun = await runs.create_run(call, wanted, runs.Patience())
    except Refusal as refusal:
        return await _home(call, form, refusal.problem.detail or refusal.problem.title, refusal.problem.status)
    except AssayError as error:
        return await _home(call, form, str(error), problem_of(error, ()).status)
    finally:
        await call.request.close()
    return go_to(f"/runs/{begun.id}")


async def estimate(call: RouteCall) -> Response:
    """Estimate a run, beside the form, without starting one."""
    form = await read_form(call.request)
    try:
        found, fault = await reports.estimate_run(call, run_wanted(form)), ""
    except Refusal as refusal:
        found, fault = None, refusal.problem.detail
    except AssayError as error:
        found, fault = None, str(error)
    if is_fragment(call.request):
        return piece(call.request, "parts/estimate.html", estimate=found, fault=fault)
    return await _home(call, form, fault, estimate=found)


async def _store_files(call: RouteCall, files: tuple[UploadFile, ...]) -> str:
    """Put files sent with a question into a new collection, and wait until they are read."""
    collection = f"asked-{datetime.now(UTC):%Y-%m-%d-%H%M%S}"
    most = call.backend.settings.server.upload_mb * 1_000_000
    upload = call.assay.begin_upload
    made = [await upload(each.filename or "", _pieces(each), collection, most=most) for each in files]
    await documents.await_additions(call, made, documents.WAIT)
    return collection


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(PIECE):
        yield piece


async def _home(
    call: RouteCall, form: PageForm, fault: str = "", status: int = 200, *, estimate: Estimate | None = None
) -> Response:
    found = await runs.list_runs(call, runs.RunsWanted(limit=LATEST))
    shelves = [row for row in await call.assay.collections() if row.documents]
    return screen(
        call,
        "home.html",
        section="ask",
        status=status,
        form=form,
        fault=fault,
        estimate=estimate,
        runs=found.runs,
        more=bool(found.next),
        collections=shelves,
        ticked=_ticked(form, shelves),
        setup=_setup(call),
        examples=EXAMPLES,
    )


def _ticked(form: PageForm, shelves: list[CollectionRow]) -> frozenset[str]:
    """The ticked collections: those in the form, at first the default one."""
    if "web_asked" in form.fields:
        return frozenset(form.texts("collection"))
    return frozenset(row.name for row in shelves if row.name == "default")


def _setup(call: RouteCall) -> HomeSetup:
    settings = call.backend.settings
    roles = settings.roles()
    models = tuple(dict.fromkeys(named[0] for named in roles.values() if named))
    writes = roles["complex"]
    return HomeSetup(
        built_in=not writes or writes[0].partition(":")[0] == BUILT_IN,
        models=models,
        web=not settings.search.offline,
        strategies=names("strategies"),
    )
