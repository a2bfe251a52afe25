"""Pages which are nothing without their scripts, and a trap which counts whatever reaches this machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec

from web import Site, response

from assay.fetch.browser import find_on_path

CHROMIUM = find_on_path()
MISSING = (
    "playwright is not installed"
    if find_spec("playwright") is None
    else "there is no Chromium on the path"
    if not CHROMIUM
    else ""
)
"""Why nothing can be rendered here; "" where it can."""

SHELL = (
    '<!doctype html><html lang=en><head><title>{title}</title><link rel=stylesheet href="/style.css"></head>'
    '<body><div id=root></div><script type=module src="/{name}.js"></script></body></html>'
)
SCRIPT = (
    "import {{ shown }} from './shown.js';"
    "const found = await (await fetch('/{name}.json')).json();"
    "document.getElementById('root').innerHTML = shown(found);"
)
SHOWN = (
    "export const shown = (found) => '<main><h1>' + found.title + '</h1>'"
    " + found.text.map((each) => '<p>' + each + '</p>').join('') + '</main>';"
)


def app(there: Site, name: str, title: str, *text: str) -> None:
    """A page at `/name` whose text comes by a module, which imports another and asks for data."""
    script = "text/javascript"
    there.pages |= {
        f"/{name}": response(SHELL.format(title=title, name=name), Content_Type="text/html"),
        f"/{name}.js": response(SCRIPT.format(name=name), Content_Type=script),
        "/shown.js": response(SHOWN, Content_Type=script),
        f"/{name}.json": response(json.dumps({"title": title, "text": text}), Content_Type="application/json"),
    }


class Trap(asyncio.DatagramProtocol):
    """A port, TCP and UDP; `caught` holds the first bytes of whatever came."""

    def __init__(self) -> None:
        self.caught: list[bytes] = []
        self.port = 0

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.caught.append(data[:80])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        at = len(self.caught)
        self.caught.append(b"")
        try:
            async with asyncio.timeout(1):
                self.caught[at] = await reader.read(80)
        except (TimeoutError, ConnectionError):
            pass  # that somebody came is what counts
        finally:
            writer.close()


@asynccontextmanager
async def trap(host: str = "127.0.0.1") -> AsyncIterator[Trap]:
    """A trap on loopback."""
    made = Trap()
    server = await asyncio.start_server(made.serve, host, 0)
    made.port = server.sockets[0].getsockname()[1]
    datagrams, _ = await asyncio.get_running_loop().create_datagram_endpoint(lambda: made, (host, made.port))
    try:
        yield made
    finally:
        datagrams.close()
        server.close()


ESCAPING = """<!doctype html><html><head><title>Out</title>
<link rel=preconnect href="HTTP/preconnect"><link rel=dns-prefetch href="HTTP/dns">
<link rel=prefetch href="HTTP/prefetch"><link rel=icon href="HTTP/icon"><link rel=manifest href="HTTP/manifest">
<link rel=stylesheet href="HTTP/css">
<script type=speculationrules>{"prerender":[{"urls":["HTTP/prerender"]}],
"prefetch":[{"urls":["HTTP/speculated"]}]}</script>
<style>@import "HTTP/imported"; @font-face { font-family: f; src: url("HTTP/font") } body { font-family: f }
</style></head>
<body><p id=out></p><img src="HTTP/image"><iframe src="HTTP/frame"></iframe><iframe src="file:///etc/passwd"></iframe>
<video src="HTTP/video" autoplay></video><object data="HTTP/object"></object><embed src="HTTP/embed">
<script>
const out = "HTTP", tried = [];
function attempt(name, work) { try { work(); tried.push(name) } catch (error) { tried.push(name + " refused") } }
const own = (code) => URL.createObjectURL(new Blob([code]));
const socket = `new WebSocket("WS/from-worker"); fetch("${out}/from-worker", {mode: "no-cors"})`;
attempt("fetch", () => fetch(out + "/fetch", {mode: "no-cors"}).catch(() => 0));
attempt("post", () =>
  fetch(out + "/post", {method: "POST", body: "x", mode: "no-cors", keepalive: true}).catch(() => 0));
attempt("beacon", () => navigator.sendBeacon(out + "/beacon", "x"));
attempt("events", () => new EventSource(out + "/events"));
attempt("socket", () => new WebSocket("WS/socket"));
attempt("transport", () => new WebTransport("https://HOST:PORT/transport").ready.catch(() => 0));
attempt("peers", () => {
  const peer = new RTCPeerConnection({iceServers: [{urls: "stun:HOST:PORT"},
    {urls: "turn:HOST:PORT?transport=tcp", username: "a", credential: "b"}]});
  peer.createDataChannel("x"); peer.createOffer().then((offer) => peer.setLocalDescription(offer)) });
attempt("worker", () => new Worker(own(socket)));
attempt("shared", () => new SharedWorker(own(socket)));
attempt("service", () => navigator.serviceWorker.register("/worker.js").catch(() => 0));
attempt("window", () => window.open(out + "/window"));
attempt("form", () => { const form = document.createElement("form"); form.action = out + "/form"; form.method = "POST";
  form.target = "_blank"; document.body.append(form); form.submit() });
attempt("download", () => { const link = document.createElement("a"); link.href = out + "/download";
  link.download = "x"; link.ping = out + "/ping"; document.body.append(link); link.click() });
attempt("inner", () => { const inner = document.createElement("iframe");
  inner.srcdoc = `<script>new WebSocket("WS/inner")<\\/script>`; document.body.append(inner) });
attempt("file", () => fetch("file:///etc/passwd").catch(() => 0));
attempt("elsewhere", () => setTimeout(() => { location = out + "/elsewhere" }, 100));
setTimeout(() => { document.getElementById("out").textContent = "Tried: " + tried.join(", ") + ". ".repeat(99) }, 300);
</script></body></html>"""


def escaping(host: str, port: int) -> str:
    """A page which tries every way to a port of this machine there is, and says what it tried."""
    page = ESCAPING.replace("HTTP", f"http://{host}:{port}").replace("WS/", f"ws://{host}:{port}/")
    return page.replace("HOST:PORT", f"{host}:{port}")
