"""Checks a user's text against documents."""

from __future__ import annotations

from assay.app.verification import VerifiedText
from assay.core.usage import Budget
from assay.server.api.run_requests import AddedScope, RequestBody, roles, sources_of
from assay.server.wire import Endpoints, RouteCall

routes = Endpoints("verification")


class TextWanted(RequestBody, frozen=True, kw_only=True):
    """A text (Markdown or plain) to check against documents, and against the pages it cites if `web` is set.

    `find` searches all documents for evidence of sentences without a citation; None: if the text has no citations.
    `model` judges what the rules do not decide; without it no model is called.
    """

    text: str
    scope: AddedScope = AddedScope()
    web: bool = False
    find: bool | None = None
    model: str | None = None
    allow_private: bool = False
    budget: Budget = Budget()


@routes.post("/verify")
async def verify_text(call: RouteCall, body: TextWanted) -> VerifiedText:
    """Check every claim of a text with citations or links against the documents it names."""
    roles(body.model, {})  # refuses models that clients may not name
    return await call.assay.verify(
        body.text,
        sources=sources_of(body.scope, call.backend.settings) or (),
        web=body.web,
        find=body.find,
        model=body.model,
        allow_private=body.allow_private,
        max_usd=body.budget.usd,
        max_tokens=body.budget.tokens,
    )
