"""Nothing reaches a forbidden address, however it is written: a server stands there and counts."""

import json
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from httpcore2 import AnyIOBackend, AsyncMockStream, AsyncNetworkStream, ConnectTimeout
from ports import free_port
from sampling import sampled
from web import FORBIDDEN, PUBLIC, Names, Site, fetcher, moved, response, site

from assay.core.errors import FetchFailed
from assay.fetch.web.addresses import PUBLIC as OPEN
from assay.fetch.web.addresses import GuardedBackend, parse_policy

SSRF = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[5] / "shared" / "data")) / "hostile/ssrf"


@pytest.fixture
async def trap() -> AsyncIterator[Site]:
    async with site(FORBIDDEN, free_port(FORBIDDEN, PUBLIC)) as made:
        made.pages["/"] = response("secret")
        yield made
    assert made.connections == 0


def notations(port: int) -> Iterator[str]:
    """127.66.0.1 in the ways an address can be written."""
    numbers = ["127.66.0.1", "2135031809", "0x7f420001", "017720400001", "0x7f.0x42.0.1", "0177.0102.0.01", "127.66.1"]
    numbers += [
        "127.4325377",
        "127.066.0.1".replace("066", "0102"),
        "127。66。0。1",
        "①②⑦.⑥⑥.⓪.①",
        "127.66.0.1.",
        "127.66.0.%31",
    ]
    numbers += [
        "[::ffff:127.66.0.1]",
        "[::ffff:7f42:1]",
        "[::127.66.0.1]",
        "[0:0:0:0:0:ffff:7f42:0001]",
        "[::FFFF:7F42:1]",
    ]
    numbers += ["[64:ff9b::7f42:1]", "[2002:7f42:1::]", "[::1]", "localhost", "LOCALHOST.", "0", "0.0.0.0", "[::]"]
    for number in numbers:
        yield f"http://{number}:{port}/"
        yield f"//{number}:{port}/".replace("//", "http:\\\\", 1)


async def test_no_notation_reaches_it(trap: Site):
    async with fetcher() as web:
        for url in notations(trap.port):
            with pytest.raises(FetchFailed, match=r"^(blocked|unreachable)"):
                await web.fetch(url)


async def test_no_name_reaches_it(trap: Site):
    names = Names(inside_example=[[FORBIDDEN]], mixed_example=[["127.0.0.1", FORBIDDEN]])
    async with fetcher(names) as web:
        for name in ("inside.example", "mixed.example"):
            with pytest.raises(FetchFailed, match=r"blocked: .* loopback"):
                await web.fetch(f"http://{name}:{trap.port}/")


async def test_a_name_stays_where_it_was_checked(trap: Site):
    names = Names(turning_example=[["127.0.0.1"], [FORBIDDEN]])
    async with site(port=trap.port) as good, fetcher(names) as web:
        good.pages |= {"/a": response("a"), "/b": response("b")}
        for path in ("/a", "/b"):
            assert (await web.fetch(f"http://turning.example:{good.port}{path}")).body == path[1:].encode()
    assert names.asked == ["turning.example"]


@pytest.mark.parametrize("status", sampled([301, 302, 303, 307, 308], 4))
async def test_no_redirect_reaches_it(trap: Site, status: int):
    names = Names(inside_example=[[FORBIDDEN]])
    async with site() as good, fetcher(names) as web:
        targets = [*notations(trap.port), f"http://inside.example:{trap.port}/", f"//{FORBIDDEN}:{trap.port}/"]
        targets += ["file:///etc/passwd", f"ftp://{FORBIDDEN}/", f"http://u:p@{FORBIDDEN}:{trap.port}/"]
        for number, target in enumerate(targets):
            good.pages[f"/{number}"] = moved(target.encode().decode("latin-1"), status)
            good.pages[f"/far{number}"] = moved(f"/{number}", status)
            with pytest.raises(FetchFailed, match=r"^(blocked|unreachable|not found)"):
                await web.fetch(good.url(f"/far{number}"))


async def test_proxies_of_the_environment_are_not_asked(trap: Site, monkeypatch: pytest.MonkeyPatch):
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://{FORBIDDEN}:{trap.port}")
    async with site() as good, fetcher() as web:
        good.pages["/"] = response("page")
        assert (await web.fetch(good.url())).body == b"page"
        with pytest.raises(FetchFailed, match="blocked"):
            await web.fetch(trap.url(host=FORBIDDEN))


async def test_robots_of_a_forbidden_host_are_not_asked_for(trap: Site):
    async with fetcher(robots=True) as web:
        with pytest.raises(FetchFailed, match="blocked"):
            await web.fetch(trap.url(host=FORBIDDEN))


async def test_what_a_user_names_is_reached():
    async with site(FORBIDDEN) as inside, fetcher(policy=parse_policy([f"{FORBIDDEN}:{inside.port}"])) as web:
        inside.pages["/"] = response("wiki")
        assert (await web.fetch(inside.url(host=FORBIDDEN))).body == b"wiki"
        with pytest.raises(FetchFailed, match="blocked"):
            await web.fetch("http://127.0.0.1:1/")


FAR = "93.184.216.34"
REFRESH = '<html><head><meta http-equiv="refresh" content="0; url={}"></head><body>Moved.</body></html>'
FRAMESET = '<html><frameset><frame src="{}"></frameset></html>'
LEADS: list[Callable[[str], bytes]] = [
    moved,
    lambda to: response(REFRESH.format(to), Content_Type="text/html"),
    lambda to: response(FRAMESET.format(to), Content_Type="text/html"),
    lambda to: response(FRAMESET.format(f"/to?{to}"), Content_Type="text/html"),
]


@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("allowed", ["wiki.corp", f"{FORBIDDEN}/32"])
async def test_a_page_from_outside_leads_to_no_host_that_the_user_allowed(lead: Callable[[str], bytes], allowed: str):
    names = Names(far_example=[[FAR]], wiki_corp=[[FORBIDDEN]])
    port = free_port(FORBIDDEN, PUBLIC)
    async with (
        site(FORBIDDEN, port) as inside,
        site(port=port) as outside,
        fetcher(names, parse_policy([allowed])) as web,
    ):
        wiki, far = f"http://wiki.corp:{port}", f"http://far.example:{port}"
        for there, to in ((outside, wiki), (inside, far)):
            there.pages |= {"/": lead(f"{to}/text"), f"/to?{to}/text": moved(f"{to}/text")}
            there.pages["/text"] = response("<html><p>" + "words " * 50, Content_Type="text/html")
        try:
            assert (await web.fetch(far)).final_url.startswith(far)  # the frame is left out
        except FetchFailed as error:
            assert "far.example leads to wiki.corp, which is not public" in str(error)  # noqa: PT017 - either
        assert not inside.asked
        for url, end in ((f"{wiki}/text", wiki), (wiki, far)):  # the user's own, which may lead outside
            assert (await web.fetch(url)).final_url == f"{end}/text"
        outside.pages["/back"] = moved(f"{wiki}/text?back")
        inside.pages["/out"] = moved(f"{far}/back")
        with pytest.raises(FetchFailed, match="not public"):
            await web.fetch(f"{wiki}/out")
    assert "/text?back" not in inside.asked


async def test_robots_from_outside_lead_to_no_host_that_the_user_allowed():
    names = Names(far_example=[[FAR]], wiki_corp=[[FORBIDDEN]])
    port = free_port(FORBIDDEN, PUBLIC)
    async with site(FORBIDDEN, port) as inside, site(port=port) as outside:
        outside.pages |= {"/robots.txt": moved(f"http://wiki.corp:{port}/act"), "/": response("x")}
        async with fetcher(names, parse_policy(["wiki.corp"]), robots=True) as web:
            with pytest.raises(FetchFailed, match="not public"):
                await web.fetch(f"http://far.example:{port}")
    assert not inside.asked


def payloads() -> list[str]:
    found = []
    for file in sorted(SSRF.glob("*.json")):
        found += [each["payload"] for each in json.loads(file.read_text())["payloads"]]
    return found


@pytest.mark.skipif(not SSRF.is_dir(), reason="no payloads (set ASSAY_DATA)")
async def test_known_payloads(trap: Site):
    """Whatever host a payload is read as: where that is the attacker's, it is not connected to."""
    attacker = f"{FORBIDDEN}:{trap.port}"

    class Everywhere(Names):
        async def __call__(self, host: str, port: int) -> list[str]:
            return ["127.0.0.1"] if host == "allowed.example" else [FORBIDDEN]

    tried = 0
    async with site(port=trap.port) as good, fetcher(Everywhere(), redirects=2) as web:
        for payload in payloads():
            for held in (attacker, "inside.example", "169.254.169.254", f"[::ffff:{FORBIDDEN}]:{trap.port}"):
                text = payload.replace("<attacker>", held).replace("<allowed>", f"allowed.example:{good.port}")
                for url in (text, f"http://{text}", f"http://allowed.example:{good.port}/{text}"):
                    tried += 1
                    with pytest.raises(FetchFailed, match=r"^(blocked|unreachable|not found)"):
                        await web.fetch(url)
    assert tried > 500


class Connecting(AnyIOBackend):
    """A network in which some addresses never answer; `tried` has the addresses with their limits."""

    def __init__(self, *silent: str) -> None:
        super().__init__()
        self.silent, self.tried = set(silent), list[tuple[str, float | None]]()

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *more: object
    ) -> AsyncNetworkStream:
        self.tried.append((host, timeout))
        if host in self.silent:
            raise ConnectTimeout
        return AsyncMockStream([])


async def test_no_address_is_waited_for_while_there_are_others():
    six, four = ["2606:4700::1", "2606:4700::2"], ["1.1.1.1", "9.9.9.9"]
    network = Connecting(*six)
    backend = GuardedBackend(OPEN, Names(a_example=[[*six, *four]]), network)
    await backend.connect_tcp("a.example", 80, 10.0)
    assert network.tried == [(six[0], 2.0), (four[0], 2.0)]


async def test_a_host_that_answers_nowhere_is_looked_up_again():
    network = Connecting("1.1.1.1", "9.9.9.9")
    names = Names(a_example=[["1.1.1.1", "9.9.9.9"], ["1.0.0.1"], [FORBIDDEN]])
    backend = GuardedBackend(OPEN, names, network)
    with pytest.raises(ConnectTimeout):
        await backend.connect_tcp("a.example", 80, 10.0)
    assert network.tried == [("1.1.1.1", 2.0), ("9.9.9.9", 10.0)]
    await backend.connect_tcp("a.example", 80, 10.0)
    network.silent.add("1.0.0.1")
    with pytest.raises(ConnectTimeout):
        await backend.connect_tcp("a.example", 80, 10.0)
    with pytest.raises(FetchFailed, match=r"blocked: a.example is a loopback address"):
        await backend.connect_tcp("a.example", 80, 10.0)
