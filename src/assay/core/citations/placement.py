r"""Citations inside code, links and formulas, where they mean nothing, moved to behind them.

What held nothing else goes altogether: `` `[S3.17]` ``, `[S3.17](https://…)`, `\[S3.17\]`.
"""

from __future__ import annotations

import re

from assay.core.citations.grammar import LEADS, Parser
from assay.core.citations.prose import Knows, ProseCitations
from assay.core.scanner import Scanner, Token

_NUMBER = re.compile(r"[\s\[\]^#]*[0-9]{0,3}[\s\[\]^#]*")
_NOTHING = " \t\n`,;^{}"
"""Signs which mean nothing once the citations between them are gone."""
_WRAPPERS = re.compile(r"(`+|\$\$?|\\\(|\\\[)(.*?)(\1|\\\)|\\\])", re.DOTALL)


class Hoisting:
    """Rewrites a stream: what is no prose of it loses its citations to the text behind it."""

    def __init__(self, knows: Knows) -> None:
        self._knows = knows
        self._scanner = Scanner()
        self._fenced = False
        self._moved = False  # the last thing said is a citation which was moved there

    def feed(self, chunk: str) -> str:
        """Take more of the text; what is certain of the new one."""
        self._scanner.add(chunk)
        return self._take(final=False)

    def finish(self) -> str:
        """The rest; nothing may be fed afterwards."""
        return self._take(final=True)

    def _take(self, final: bool) -> str:
        text, base = self._scanner.text, self._scanner.base
        return "".join(
            self._token(token, text[token.start - base : token.end - base]) for token in self._scanner.tokens(final)
        )

    def _token(self, token: Token, said: str) -> str:
        before, self._fenced = self._fenced, bool(self._scanner.fence)
        moved, self._moved = self._moved, False
        if before or self._fenced or token.kind in ("text", "marker"):
            return f" {said}" if moved and said[0] == "(" else said  # else Markdown would read a link
        now = self._link(said) if token.kind == "link" else self._code(said)
        self._moved = now != said
        return now

    def _code(self, said: str) -> str:
        parts = _WRAPPERS.fullmatch(said)
        if parts is None:
            return said
        found = ProseCitations(parts[2], self._knows)
        if not found.items:
            return said
        rest = f"{parts[1]}{found.text}{parts[3]} " if found.text.strip(_NOTHING) else ""
        return f"{rest}{found.marker}"

    def _link(self, said: str) -> str:
        """A link whose text or address is a citation."""
        label, target = _parts(said)
        named, address = ProseCitations(label, self._knows), Parser(target.lstrip("#<"), whole=True).bare(0)
        aims = address is not None and any(map(self._knows, address.ids)) and address.end >= len(target.strip("#<>"))
        if not named.items and not aims:
            return said
        named.items.extend(address.items if aims and address else ())
        bare = _NUMBER.fullmatch(named.text) or named.text.strip(" .:").lower() in LEADS
        if bare:
            return named.marker
        return f"{named.text} {named.marker}" if aims else f"[{named.text}]({target}) {named.marker}"


def _parts(link: str) -> tuple[str, str]:
    """The text and the target of a link."""
    depth = 0
    escaped = False
    for at, sign in enumerate(link):
        if escaped or sign == "\\":
            escaped = not escaped
            continue
        depth += (sign == "[") - (sign == "]")
        if depth == 0:
            return link[1:at], link[at + 2 : -1]
    return link, ""
