"""A browser which logs in at a provider of OpenID Connect, and the settings of a server which goes there."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import httpx
from oidc_provider import CLIENT, SECRET

BEGIN = "/api/v1/auth/oidc"


def variables(issuer: str, **more: str) -> dict[str, str]:
    return {
        "ASSAY_SERVER_OIDC_ISSUER": issuer,
        "ASSAY_SERVER_OIDC_CLIENT_ID": CLIENT,
        "ASSAY_KEYS_OIDC": SECRET,
        "ASSAY_SERVER_OIDC_ADMINS": "research-admins, root",
        "ASSAY_SERVER_OIDC_READERS": "guests",
        **more,
    }


class Browser:
    """Keeps the cookies which a server sets, as a browser on this machine does."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client, self.cookies = client, dict[str, str]()

    async def get(self, url: str) -> httpx.Response:
        host = str(self.client.base_url.netloc, "ascii")
        ours = url.startswith("/") or urlsplit(url).netloc == host
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        answer = await self.client.get(url, headers={"Cookie": cookies} if ours and cookies else {})
        self.client.cookies.clear()
        for header in answer.headers.get_list("set-cookie"):
            name, _, rest = header.partition("=")
            value = rest.partition(";")[0].strip('"')
            self.cookies[name] = value
            if not value:
                del self.cookies[name]
        return answer

    async def at_callback(self, back: str = "/docs") -> str:
        """Begin a login, have the provider log in; where it sends the browser back to."""
        begun = await self.get(f"{BEGIN}?back={back}")
        assert begun.status_code == 303, begun.text
        answer = await self.get(begun.headers["location"])
        assert answer.status_code == 302, answer.text
        return str(answer.headers["location"])

    async def logs_in(self) -> httpx.Response:
        return await self.get(await self.at_callback())

    async def me(self) -> dict[str, Any]:
        found: dict[str, Any] = (await self.get("/api/v1/auth/me")).json()
        return found
