"""The browser: a headless Chromium without network access of its own; each page gets a temporary profile."""

from __future__ import annotations

import asyncio
import os
import tempfile
from contextlib import suppress

from playwright.async_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Playwright,
    Route,
    WebSocketRoute,
    async_playwright,
)

from assay.core.errors import FetchFailed
from assay.fetch.browser import NO_CHROMIUM, PageGate, PageRequest, find_on_path

ARGUMENTS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no name or address resolves: requests that bypass the gate reach nothing
    "--no-proxy-server",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-background-networking",
    "--dns-prefetch-disable",
    "--js-flags=--max-old-space-size=256",  # megabytes
)
START_SECONDS, CLOSE_SECONDS = 20.0, 5.0
"""Seconds."""
MS_PER_SECOND = 1_000


class Chromium:
    """One browser, started with the first page.

    As root it runs without its sandbox, which Chromium does not support there.
    """

    def __init__(self, executable: str = "") -> None:
        self._executable = executable
        self._start_lock = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._home: tempfile.TemporaryDirectory[str] | None = None

    @property
    def name(self) -> str:
        """The name by which a snapshot records how it was made."""
        return f"Chromium {self._browser.version}" if self._browser is not None else "Chromium"

    async def render(self, url: str, gate: PageGate, *, quiet: float, seconds: float) -> str:
        """Return the page at `url` as HTML after its scripts have run, with all its requests answered by `gate`.

        Args:
            quiet: seconds without requests to wait for; when they do not come, the page is taken as it is.
            seconds: the limit for everything except starting the browser.

        Raises:
            FetchFailed: the page cannot be rendered.
        """
        browser = await self._get_browser()
        try:
            async with asyncio.timeout(seconds):
                context = await browser.new_context(service_workers="block", accept_downloads=False)
        except (Error, TimeoutError) as error:
            await self.close()
            raise FetchFailed(f"scripts: the browser has failed ({_first_line(error)})") from error
        try:
            async with asyncio.timeout(seconds):
                return await _render_page(context, url, gate, quiet)
        except TimeoutError as error:
            raise FetchFailed(f"scripts: not rendered after {seconds:g} s") from error
        except Error as error:
            raise FetchFailed(f"scripts: the page could not be rendered ({_first_line(error)})") from error
        finally:
            gate.close()
            await self._close_context(context)

    async def close(self) -> None:
        """Stop the browser and its driver."""
        browser, self._browser = self._browser, None
        playwright, self._playwright = self._playwright, None
        home, self._home = self._home, None
        for end in (browser.close if browser else None, playwright.stop if playwright else None):
            with suppress(Error, TimeoutError):
                if end is not None:
                    async with asyncio.timeout(CLOSE_SECONDS):
                        await end()
        if home is not None:
            await asyncio.to_thread(home.cleanup)

    async def _get_browser(self) -> Browser:
        """The browser, restarted if it has died."""
        async with self._start_lock:
            if self._browser is not None and self._browser.is_connected():
                return self._browser
            await self.close()
            try:
                async with asyncio.timeout(START_SECONDS):
                    self._browser = await self._start()
            except (Error, OSError, TimeoutError) as error:
                await self.close()
                raise FetchFailed(f"scripts: the browser does not start ({_first_line(error)})") from error
            return self._browser

    async def _start(self) -> Browser:
        self._home = tempfile.TemporaryDirectory(prefix="assay-", ignore_cleanup_errors=True)
        self._playwright = await async_playwright().start()
        executable = self._executable or await asyncio.to_thread(
            _find_browser, self._playwright.chromium.executable_path
        )
        return await self._playwright.chromium.launch(
            executable_path=executable,
            args=list(ARGUMENTS),
            chromium_sandbox=not _is_root(),
            env={"PATH": os.defpath, "HOME": self._home.name},
            timeout=START_SECONDS * MS_PER_SECOND,
            handle_sigint=False,  # the first Ctrl-C lets a run write its report
        )

    async def _close_context(self, context: BrowserContext) -> None:
        """Close a page; if that fails, stop the browser."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await context.close()
        except (Error, TimeoutError):
            await self.close()


async def _render_page(context: BrowserContext, url: str, gate: PageGate, quiet: float) -> str:
    async def answer(route: Route) -> None:
        request = route.request
        response = await gate.answer_request(
            PageRequest(url=request.url, method=request.method, kind=request.resource_type)
        )
        with suppress(Error):  # the page may already be gone
            if response is None:
                await route.abort()
            else:
                await route.fulfill(status=response.status, headers=dict(response.headers), body=response.body)

    await context.route("**/*", answer)
    await context.route_web_socket(lambda _: True, _close_socket)
    page = await context.new_page()
    context.on("page", _close_page)
    await page.goto(url, wait_until="commit")
    with suppress(Error):  # a page that never goes quiet is taken as it is then
        await page.wait_for_load_state("networkidle", timeout=quiet * MS_PER_SECOND)
    return await page.content()


async def _close_socket(socket: WebSocketRoute) -> None:
    await socket.close()


async def _close_page(page: Page) -> None:
    """Close whatever a page opens beside itself."""
    with suppress(Error):
        await page.close()


def _find_browser(bundled_path: str) -> str:
    """The browser that playwright installed, else one on the path."""
    path = find_on_path((bundled_path,))
    if not path:
        raise FileNotFoundError(NO_CHROMIUM)
    return path


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _first_line(error: BaseException) -> str:
    return (str(error).strip().partition("\n")[0] or type(error).__name__)[:200]
