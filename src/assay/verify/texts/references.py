"""The references that a text defines: lists under a heading, footnotes (`[^1]: …`), link definitions (`[1]: …`).

Reads line by line in linear time, and ignores everything in code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import takewhile

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token as MarkdownToken

from assay.core import phrases
from assay.core.blocks import read_blocks
from assay.core.claims import VERDICTS
from assay.core.lazy import regex
from assay.core.scanner import Token
from assay.core.text import sentences
from assay.core.translation import Statement, gettext, label_text, ngettext
from assay.locale import LOCALES, use_locale
from assay.verify.texts.author_names import begins_entry, continues_authors

# Addresses in prose, and the title that a reference gives its document.

BARE_URL = regex(r"(?<![\w@])(?:https?|file)://[^\s<>\"`|\\^{}【】（）「」『』，。；、]{1,4000}", re.IGNORECASE)
"""An address in prose; `trim_url` removes what belongs to the sentence."""
_PATH = regex(r"(?:[\w.~-]+/)*[\w~-][\w.~-]*\.[A-Za-z][A-Za-z0-9]{0,7}(?:#\S*)?")
_ENDING = ".,;:!?*_~'"
_PAIRS = {")": "(", "]": "["}
_SIGNS = regex(r"[*_`]+|^\W+|[\s:,;.–—|-]+$")
_ACCESSED = regex(r"(?i)[\s,.;(]*\b(?:retrieved|accessed|abgerufen|consulté)\b[^\n]{0,60}$")


def trim_url(url: str) -> str:
    """`url` without the punctuation at its end that belongs to the sentence around it (GFM 0.29, 6.9)."""
    surplus = {closing: url.count(closing) - url.count(opening) for closing, opening in _PAIRS.items()}
    end = len(url)
    while end and (url[end - 1] in _ENDING or surplus.get(url[end - 1], 0) > 0):
        end -= 1
        if url[end] in surplus:
            surplus[url[end]] -= 1
    return url[:end]


def read_link(piece: str) -> tuple[str, str] | None:
    """Label and target of a Markdown link; None if `piece` is not one (`javascript:`, images)."""
    tokens = _markdown().parseInline(piece)[0].children or []
    opening = next((index for index, token in enumerate(tokens) if token.type == "link_open"), None)
    if opening is None:
        return None
    inside = takewhile(lambda token: token.type != "link_close", tokens[opening + 1 :])
    return _text_of(inside), str(tokens[opening].attrs.get("href", ""))


def _text_of(tokens: Iterable[MarkdownToken]) -> str:
    """The words of a piece of Markdown."""
    return "".join(
        token.content if token.type in ("text", "code_inline") else " " if "break" in token.type else ""
        for token in tokens
    )


class _Links(MarkdownIt):
    """Markdown whose links may also lead to files, because nothing here follows them."""

    def validateLink(self, url: str) -> bool:  # noqa: N802 - the name the library calls
        return url.strip().lower().startswith("file:") or super().validateLink(url)


@cache
def _markdown() -> MarkdownIt:
    return _Links("commonmark")


def first_address(entry: str) -> str:
    """The first address or path in a reference: of a link, in angle brackets, or bare; empty if there is none."""
    return next(filter(None, _addresses(entry)), "")


def _addresses(entry: str) -> Iterator[str]:
    for token in _markdown().parseInline(entry)[0].children or []:
        if token.type == "link_open":
            yield str(token.attrs.get("href", ""))
    if bare := BARE_URL.search(entry):
        yield trim_url(bare[0])
    entry_words = entry.split()
    if entry_words and _PATH.fullmatch(entry_words[0].strip("<>")):
        yield entry_words[0].strip("<>")


def reference_title(entry: str) -> str:
    """A reference's title for its document: its words without addresses, marks and the date of access."""
    words = _ACCESSED.sub("", BARE_URL.sub(" ", _text_of(_markdown().parseInline(entry)[0].children or [])))
    return " ".join(_SIGNS.sub(" ", " ".join(words.split())).split())


# What one of Assay's exports says about itself, in any language: its headings, and its line of counts.

_TITLES = ("Claims to check", "Verification", "Limits", "What the verdicts mean")
_NUMBER = r"[\d.,\s\u00a0\u202f]+"
_SEVERAL = (0, 1, 2, 3, 11, 100)
"""Numbers that together need every plural form."""


@cache
def export_headings() -> frozenset[str]:
    """The headings of an export's sections about itself, in every language, in lower case."""
    return _in_every_language(lambda: (gettext(title).lower() for title in _TITLES))


@cache
def source_list_headings() -> frozenset[str]:
    """The heading of an export's list of sources, in every language, in lower case."""
    return _in_every_language(lambda: [gettext("Sources").lower()])


def _in_every_language(say: Callable[[], Iterable[str]]) -> frozenset[str]:
    texts = set[str]()
    for locale in LOCALES:
        with use_locale(locale):
            texts.update(say())
    return frozenset(texts)


_NOTICES = regex(
    r"(?:"
    r"compiled by assay's built-in|nothing that answers this question was found|this answer rests on no sources|"
    r"(?:the|this) answer was put together by code|no model could write this report|"
    r"[\d,]+ documents? match(?:es)?; (?:the (?:header fields|words) of )?[\d,]+ of [\d,]+ documents? "
    r"(?:was|were) read\.|"
    r"[\d,]+ documents? (?:is|are) in scope, counted by code\.|"
    r"the first [\d,]+ of [\d,]+ documents are listed\.|"
    r"as of \d{4}(?:-\d\d){0,2}, the (?:date of the newest source cited\.|day of this research:)"
    r")",
    re.IGNORECASE,
)


def exported_notices(text: str) -> dict[str, Statement]:
    """The sentences of an outside text in which an English export repeats what code stated in its run."""
    leaves = (leaf.content for block in read_blocks(text, html=True) for leaf in block.leaves() if leaf.kind != "code")
    lines = (line for leaf in leaves if _NOTICES.match(line := " ".join(leaf.replace("*", " ").split())))
    return {line[slice(*sentences(line)[0])]: "notice" for line in lines}


def is_counts_line(line: str) -> bool:
    """True if a line is an export's summary of its claims and their verdicts."""
    if not any(sign in line for sign in _after_claims()):  # excludes most lines in a tenth of the time
        return False
    return any(pattern.fullmatch(line) for pattern in _counts())


@cache
def _after_claims() -> frozenset[str]:
    """The text between the number of claims and their verdicts, one of which each such line has."""
    return _in_every_language(lambda: [label_text("\0", "\1").split("\1")[0].split("\0")[1].strip()])


@cache
def _counts() -> tuple[re.Pattern[str], ...]:
    return tuple(map(_count_pattern, LOCALES))


def _count_pattern(locale: str) -> re.Pattern[str]:
    with use_locale(locale):
        claims = {ngettext("{count} claim", "{count} claims", count) for count in _SEVERAL}
        head, tail = label_text("\0", "\1").split("\1")[0].split("\0")
        words = "|".join(re.escape(phrases.verdict(name)) for name in VERDICTS)
        comma, semicolon = (re.escape(gettext(sign).strip()) for sign in (", ", "; "))
        end = re.escape(gettext("{text}.").format(text=""))
        verdict_pattern = re.escape(gettext("{count} {verdict}").format(count="\0", verdict="\1"))
    pattern = "|".join(_NUMBER.join(map(re.escape, form.split("{count}"))) for form in sorted(claims))
    verdict_pattern = verdict_pattern.replace("\0", _NUMBER).replace("\1", f"(?:{words})")
    more_verdicts = rf"(?:{comma}\s*{verdict_pattern})*(?:\s*{semicolon}[^\n]{{1,120}})?"
    return re.compile(
        rf"{re.escape(head)}(?:{pattern}){re.escape(tail)}{verdict_pattern}{more_verdicts}{end}", re.IGNORECASE
    )


_LINE = regex(r"[^\n]*\n?")
_HEADING = regex(r"[ ]{0,3}(#{1,6})[ \t]+(\S.*)")
_BOLD = regex(r"[ ]{0,3}(\*\*|__)([^*_\n]{3,60})\1[ \t]*+:?[ \t]*+")
_BARE = regex(r"[ ]{0,3}([^\W\d_][^\n.!?|]{2,50}?)[ \t]*+:?[ \t]*+")
_NAMES = regex(
    r"[\W\d_]*+(?:[一二三四五六七八九十]{1,3}[、．.]|[IVX]{1,5}\.)?[\W\d_]*+(?:(?:key |main |selected |cited |full )?"
    r"(?:references?|sources?|bibliograph(?:y|ies)|works cited|literature(?: cited)?|citations?|footnotes?|end ?notes|"
    r"further reading|quellen(?:verzeichnis|angaben)?|literatur(?:verzeichnis)?|einzelnachweise|fu(?:ß|ss)noten|"
    r"r[ée]f[ée]rences|bibliographie|fuentes|referencias|bibliograf[ií]a|fonti|riferimenti|refer[êe]ncias|"
    r"источники|литература|ссылки|(?:主要|参考|信息|资料|数据|引用){0,3}(?:文献|资料|来源|链接|引用|出典)(?:列表|汇总|与来源)?|"
    r"참고문헌|출처)"
    r"(?: (?:and|&|/) [^\W\d_]+)?(?: list| cited| used| consulted)?)[\W_]*",
    re.IGNORECASE,
)
_LABEL = r"\^?[^\[\]\s][^\[\]\n]{0,58}"
_ENTRY = regex(
    rf"[ \t>]{{0,12}}(?:[-*+•][ \t]+)?(?:\*\*|__)?"
    rf"(?:[\[【](?P<label>{_LABEL})[\]】](?![(\[])|(?P<number>\d{{1,4}})[.)、](?=[ \t*_\[]))"
    r"(?:\*\*|__)?[ \t]*:?[ \t]*(?P<text>.*)"
)
_ITEM = regex(r"[ \t>]{0,12}[-*+•][ \t]+(?P<text>.*)")
_DEFINITION = regex(rf"[ \t>]{{0,12}}\[(?P<label>{_LABEL})\]:[ \t]*(?P<text>\S.*)")
_LINKED = regex(r"https?://", re.IGNORECASE)
_MAX_ENTRY_CHARS = 2_000
"""The most characters of a reference that are examined."""
_PLAIN_LEVEL = 7
"""The level of a list's title that is not a heading."""


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of a list of references, at code points `[start, end)`; `label` is "1", "^note", or empty.

    `url` is its address or path, empty if it has none; `title` is its name for the document.
    """

    label: str
    text: str
    url: str
    title: str
    start: int
    end: int


class Definitions:
    """The definitions of a text, by label."""

    def __init__(self, definitions: Iterable[Definition]) -> None:
        self.entries = tuple(definitions)
        self._by_label: dict[str, list[Definition]] = {}
        for definition in self.entries:
            if definition.label:
                self._by_label.setdefault(definition.label, []).append(definition)
        self._best = {
            label: _best_entries(definitions)
            for label, definitions in self._by_label.items()
            if _are_same_document(definitions)
        }

    def __contains__(self, label: str) -> bool:
        return normalize_label(label) in self._by_label

    def lookup(self, label: str, point: int) -> Definition | None:
        """The meaning of `label` at `point`: if each part of a text has its own list, the next list that has the label.

        Among the entries of one list, the most informative one counts (a link definition may repeat an entry).
        """
        key = normalize_label(label)
        definitions = self._by_label.get(key)
        if not definitions:
            return None
        after = bisect_right(definitions, point, key=lambda definition: definition.start)
        best = self._best.get(key)
        if best is None:
            return definitions[min(after, len(definitions) - 1)]
        return best[after if after < len(best) else 0]


def _informativeness(definition: Definition) -> tuple[bool, int]:
    return bool(definition.url), len(definition.text)


def _best_entries(definitions: list[Definition]) -> list[Definition]:
    """For each place, the most informative entry from there on, the first of equals."""
    best: list[Definition] = []
    for definition in reversed(definitions):
        best.append(max(definition, best[-1], key=_informativeness) if best else definition)
    return best[::-1]


def _are_same_document(definitions: list[Definition]) -> bool:
    """True if entries with one label repeat one document: one of them has no address, or all have the same."""
    return (
        len({definition.url for definition in definitions if definition.url and not definition.url.startswith("#")})
        <= 1
    )


@lru_cache(maxsize=4096)
def normalize_label(label: str) -> str:
    """The form in which labels are compared: without case, white space (CommonMark 0.31, 4.7) and leading zeros."""
    folded = " ".join(label.casefold().split()).removeprefix("^").strip()
    return (folded.lstrip("0") or "0") if folded.isdecimal() and folded.isascii() else folded


def read_definitions(text: str, tokens: Sequence[Token]) -> Definitions:
    """The references that `text` defines; `tokens` are its pieces from `core.scanner`."""
    return Definitions(_read(text, tokens))


class _Line(msgspec.Struct, frozen=True):
    start: int
    end: int
    text: str


def _read(text: str, tokens: Sequence[Token]) -> Iterator[Definition]:
    level = 0  # of the heading above the current list, 0 outside any
    entry: tuple[str, list[_Line], str] | None = None
    for line in _lines(text, tokens):
        title, title_level = _title(line.text)
        new_entry = None if title else _entry(line.text, in_list=level > 0)
        if level and not (title or new_entry) and _is_entry_of_authors(line.text, entry):
            new_entry = ("", line.text.strip())
        if entry and (title or new_entry or not line.text.strip() or not level):
            yield _make_definition(*entry)
            entry = None
        if title and (title_level <= level or not level or _names_a_list(title)):
            level = title_level if _names_a_list(title) else 0
        elif new_entry:
            entry = (new_entry[0], [line], new_entry[1])
        elif entry:
            entry[1].append(line)
    if entry:
        yield _make_definition(*entry)


def _is_entry_of_authors(line: str, entry: tuple[str, list[_Line], str] | None) -> bool:
    """True if a line without number or bullet begins an entry; `entry` is the one before it, not yet ended.

    An entry with a number or a bullet goes on until a blank line, whatever its lines begin with.
    """
    plain = entry is None or entry[1][0].text.strip() == entry[2]
    return plain and not (entry and continues_authors(entry[1][-1].text)) and begins_entry(line)


def _lines(text: str, tokens: Sequence[Token]) -> Iterator[_Line]:
    """The lines outside code blocks."""
    code_blocks = [
        (token.start, token.end)
        for token in tokens
        if token.kind == "verbatim" and "\n" in text[token.start : token.end]
    ]
    starts = [start for start, _ in code_blocks]
    for match in _LINE.finditer(text):
        index = bisect_right(starts, match.start()) - 1
        if match.end() > match.start() and not (index >= 0 and match.start() < code_blocks[index][1]):
            yield _Line(match.start(), match.end(), match[0].rstrip("\r\n"))


def _title(line: str) -> tuple[str, int]:
    """The words of a heading and its level; for a line that serves as a list's title, level 7. Otherwise empty."""
    if heading := _HEADING.fullmatch(line):
        return heading[2].rstrip("# \t"), len(heading[1])
    for form, group in ((_BOLD, 2), (_BARE, 1)):
        bare = form.fullmatch(line)
        if bare and _names_a_list(bare[group]):
            return bare[group], _PLAIN_LEVEL
    return "", 0


def _names_a_list(title: str) -> bool:
    """True if a title introduces a list of references: as people write it, or as one of Assay's exports does."""
    return _NAMES.fullmatch(title) is not None or title.strip().lower() in source_list_headings()


def _entry(line: str, *, in_list: bool) -> tuple[str, str] | None:
    """Label and text of the reference that begins on this line.

    Outside a list, only a definition counts, or a line that begins with a number in brackets and has an address.
    """
    if definition := _DEFINITION.fullmatch(line):
        return normalize_label(definition["label"]), definition["text"]
    match = _ENTRY.fullmatch(line)
    if match and (in_list or (match["label"] and match["label"].isdecimal() and _LINKED.search(line))):
        return normalize_label(match["label"] or match["number"]), match["text"]
    item = _ITEM.fullmatch(line) if in_list else None
    return ("", item["text"]) if item else None


def _make_definition(label: str, lines: list[_Line], first: str) -> Definition:
    text = " ".join((first, *(line.text.strip() for line in lines[1:]))).strip()[:_MAX_ENTRY_CHARS]
    return Definition(
        label=label,
        text=text,
        url=first_address(text),
        title=reference_title(text),
        start=lines[0].start,
        end=lines[-1].end,
    )
