"""The parts of the server: a protocol is one line here."""

from __future__ import annotations

from assay.server import api, openai, page
from assay.server.backend import RouteGroup
from assay.server.mcp import routes as mcp

PARTS: tuple[RouteGroup, ...] = (api.PART, openai.PART, mcp.PART, page.PART)
