"""Makes wrapped and bare citations in prose plain; code, links and formulas pass unchanged."""

from __future__ import annotations

import re
from collections.abc import Callable

from assay.core.citations.grammar import (
    LEAD_WORDS,
    CitationGroup,
    NeedsMoreText,
    Parser,
    is_ambiguous,
    is_word_character,
)
from assay.core.lazy import regex
from assay.core.scanner import Scanner, Token

IsKnown = Callable[[str], bool]
"""A test: the run gave out this id, of a source or of a passage."""
_OPENING = r"[(\[{<（［【〔〖「『〈《‹«*_~`^@#†\\]"
_LEAD = "|".join(sorted(map(re.escape, LEAD_WORDS), key=len, reverse=True))
_CANDIDATE = regex(rf"{_OPENING}|[sSｓＳ](?=[0-9０-９])|(?<![^\W\d_])(?:{_LEAD})(?=[ \t]*[:：])", re.IGNORECASE)
_UNFINISHED = regex(r"[\w\u0300-\u036f\u0900-\u0963]{1,16}[ \t]*\Z")
_MARGIN = regex(r"[ \t>*+\-0-9.)#]{0,60}\Z")
_RUN = regex(r"\*{1,3}|_{1,3}|~{1,2}|`{1,3}")
_BEHIND = 1000
"""How many characters before a place are kept for context."""


class Prose:
    """Rewrites a stream. How the stream is cut changes the pieces of the output, but not the output as a whole."""

    def __init__(self, is_known: IsKnown) -> None:
        self._is_known = is_known
        self._scanner = Scanner()
        self._text = ""  # decided tokens that are not yet output
        self._closed_spans: dict[int, int] = {}  # places in it that are no prose, and their ends
        self._markers: dict[int, int] = {}
        self._before = ""  # the end of the output so far, as it was read

    def feed(self, chunk: str) -> str:
        """Add text; return what is certain of the new text."""
        self._scanner.add(chunk)
        return self._take(final=False)

    def finish(self) -> str:
        """Return the rest; add nothing afterwards."""
        return self._take(final=True)

    def _take(self, final: bool) -> str:
        text, base = self._scanner.text, self._scanner.base
        for token in self._scanner.tokens(final):
            self._add(token, text[token.start - base : token.end - base])
        return self._rewrite(final)

    def _add(self, token: Token, text: str) -> None:
        start = len(self._text)
        self._text += text
        if token.marker:
            self._markers[start] = start + len(text)
        elif token.kind == "link" or (token.kind == "verbatim" and not (text[0] == "\\" and len(text) == 2)):
            self._closed_spans[start] = start + len(text)

    def _rewrite(self, final: bool) -> str:
        parser = Parser(self._text, final, self._closed_spans)
        parts: list[str] = []
        position = 0
        while position < len(self._text):
            try:
                end, text = self._next(parser, position, final)
            except NeedsMoreText:
                break
            if end == position:
                break
            parts.append(text)
            self._before = (self._before + self._text[position:end])[-_BEHIND:]
            position = end
        self._drop_until(position)
        return "".join(parts)

    def _drop_until(self, position: int) -> None:
        self._text = self._text[position:]
        self._closed_spans = {
            start - position: end - position for start, end in self._closed_spans.items() if start >= position
        }
        self._markers = {start - position: end - position for start, end in self._markers.items() if start >= position}

    def _next(self, parser: Parser, position: int, final: bool) -> tuple[int, str]:
        """The next output: the place where it ends, and its text. The place is `position` if more input is needed.

        Raises:
            Undecided: more input is needed.
        """
        if position in self._closed_spans:
            return self._closed_spans[position], self._text[position : self._closed_spans[position]]
        stop = min((start for start in self._closed_spans if start > position), default=len(self._text))
        match = _CANDIDATE.search(self._text, position, stop)
        if match is None:
            unfinished = _UNFINISHED.search(self._text, position) if not final and stop == len(self._text) else None
            end = unfinished.start() if unfinished else stop
            return end, self._text[position:end]
        if match.start() > position:
            return match.start(), self._text[position : match.start()]
        return self._rewrite_candidate(parser, position)

    def _rewrite_candidate(self, parser: Parser, position: int) -> tuple[int, str]:
        group = self._group(parser, position)
        if group is None or not any(map(self._is_known, group.ids)):
            return self._copy_unchanged(position)
        if self._markers.get(position) == group.end:
            return group.end, self._text[position : group.end]
        if self._is_known_bare(position, group):
            return self._plain_form(parser, position, group)
        return position + 1, self._text[position]

    def _copy_unchanged(self, position: int) -> tuple[int, str]:
        """Skip what cites no known id: a marker as a whole, so that nothing inside it is read."""
        end = self._markers.get(position, position + 1)
        return end, self._text[position:end]

    def _group(self, parser: Parser, position: int) -> CitationGroup | None:
        if self._text[position] in "sSｓＳ" and self._text[position + 1 : position + 2].isdecimal():
            return parser.bare_id(position)
        if self._text[position].isalpha():
            return None if self._before[-1:].isalpha() else parser.introduced_list(position)
        return None if self._closes_emphasis(position) else parser.wrapped_citation(position)

    def _closes_emphasis(self, position: int) -> bool:
        """True if the emphasis marks at `position` close what was opened before them on their line."""
        marks = _RUN.match(self._text, position)
        if marks is None or not self._before or self._before[-1].isspace():
            return False
        line = self._before.rpartition("\n")[2]
        return self._before[-1] == marks[0][0] or sum(match[0] == marks[0] for match in _RUN.finditer(line)) % 2 == 1

    def _is_known_bare(self, position: int, group: CitationGroup) -> bool:
        """True if a group without a wrapper is no part of anything else."""
        if (
            not self._text[position].isalpha()
            or len(group.items) > 1
            or not self._text[position + 1 : position + 2].isdecimal()
        ):
            return True
        return not is_ambiguous(self._before, group.items[0])

    def _plain_form(self, parser: Parser, position: int, group: CitationGroup) -> tuple[int, str]:
        """The plain form, separated from text that Markdown would join to it."""
        end = group.end
        follows = self._peek(parser, end)
        if follows == ":" and _MARGIN.fullmatch(self._before.rpartition("\n")[2]):
            return end + 1, group.marker  # `S3.17: …` at the start of a line
        before = " " if is_word_character(self._before[-1:]) else ""
        after = " " if follows == "(" or is_word_character(follows) else ""
        return end, f"{before}{group.marker}{after}"

    def _peek(self, parser: Parser, position: int) -> str:
        if position in self._closed_spans:
            return self._text[position]
        return parser.peek(position)


class ProseCitations:
    """The citations in a text that may contain none, and the text without them."""

    def __init__(self, text: str, is_known: IsKnown) -> None:
        self.items: list[str] = []
        pieces: list[str] = []
        parser, start, last = Parser(text, final=True), 0, 0
        for match in _CANDIDATE.finditer(text):
            start = match.start()
            if start < last:
                continue
            group = _misplaced_citation(parser, text, start)
            if group is not None and any(map(is_known, group.ids)):
                self.items.extend(group.items)
                pieces.append(text[last:start].rstrip(" \t"))
                last = group.end
        self.text = "".join((*pieces, text[last:]))

    @property
    def marker(self) -> str:
        """The removed citations in plain form; "" if there are none."""
        return f"[{', '.join(dict.fromkeys(self.items))}]" if self.items else ""


def _misplaced_citation(parser: Parser, text: str, position: int) -> CitationGroup | None:
    """A citation inside code, a link's text or a formula: not an index of an array, nor the bare name of a source."""
    before = text[max(0, position - 1) : position]
    if not text[position].isalpha():
        index = text[position] in "[({" and (before.isalnum() or before in ("_", "]", ")"))
        return None if index else parser.wrapped_citation(position)
    if not text[position + 1 : position + 2].isdecimal():
        return parser.introduced_list(position)
    alone = parser.bare_id(position)
    if alone is None or before not in ("", *" \t\n,;`") or is_ambiguous(text[:position], alone.items[0]):
        return None
    return alone


# Citations inside code, links and formulas have no meaning there; they are moved to the place after them.

_NUMBER = regex(r"[\s\[\]^#]*[0-9]{0,3}[\s\[\]^#]*")
_NOTHING = " \t\n`,;^{}"
"""Signs that are meaningless without the citations between them."""
_WRAPPERS = regex(r"(`+|\$\$?|\\\(|\\\[)(.*?)(\1|\\\)|\\\])", re.DOTALL)


class CitationHoister:
    """Rewrites a stream: moves citations out of text that is not prose, to the place after it."""

    def __init__(self, is_known: IsKnown) -> None:
        self._is_known = is_known
        self._scanner = Scanner()
        self._in_fence = False
        self._moved = False  # the last output is a moved citation

    def feed(self, chunk: str) -> str:
        """Add text; return what is certain of the new text."""
        self._scanner.add(chunk)
        return self._take(final=False)

    def finish(self) -> str:
        """Return the rest; add nothing afterwards."""
        return self._take(final=True)

    def _take(self, final: bool) -> str:
        text, base = self._scanner.text, self._scanner.base
        return "".join(
            self._rewrite_token(token, text[token.start - base : token.end - base])
            for token in self._scanner.tokens(final)
        )

    def _rewrite_token(self, token: Token, text: str) -> str:
        before, self._in_fence = self._in_fence, bool(self._scanner.fence)
        moved, self._moved = self._moved, False
        if before or self._in_fence or token.kind in ("text", "marker"):
            return f" {text}" if moved and text[0] == "(" else text  # else Markdown would read a link
        rewritten = self._rewrite_link(text) if token.kind == "link" else self._rewrite_code(text)
        self._moved = rewritten != text
        return rewritten

    def _rewrite_code(self, text: str) -> str:
        parts = _WRAPPERS.fullmatch(text)
        if parts is None:
            return text
        citations = ProseCitations(parts[2], self._is_known)
        if not citations.items:
            return text
        code = f"{parts[1]}{citations.text}{parts[3]} " if citations.text.strip(_NOTHING) else ""
        return f"{code}{citations.marker}"

    def _rewrite_link(self, text: str) -> str:
        """A link whose text or address is a citation."""
        label, target = _link_parts(text)
        citations, address = ProseCitations(label, self._is_known), Parser(target.lstrip("#<"), final=True).bare_id(0)
        is_target_citation = (
            address is not None and any(map(self._is_known, address.ids)) and address.end >= len(target.strip("#<>"))
        )
        if not citations.items and not is_target_citation:
            return text
        citations.items.extend(address.items if is_target_citation and address else ())
        bare = _NUMBER.fullmatch(citations.text) or citations.text.strip(" .:").lower() in LEAD_WORDS
        if bare:
            return citations.marker
        return (
            f"{citations.text} {citations.marker}"
            if is_target_citation
            else f"[{citations.text}]({target}) {citations.marker}"
        )


def _link_parts(link: str) -> tuple[str, str]:
    """The text and the target of a link."""
    depth = 0
    is_escaped = False
    for index, sign in enumerate(link):
        if is_escaped or sign == "\\":
            is_escaped = not is_escaped
            continue
        depth += (sign == "[") - (sign == "]")
        if depth == 0:
            return link[1:index], link[index + 2 : -1]
    return link, ""
