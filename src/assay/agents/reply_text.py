"""Makes plain what models do around a text: JSON around a report, numbered references, the same text again, remarks.

These are found in the whole text, after it was streamed. Nothing that cites a passage is lost. A tidy text stays as it
is, so tidying twice changes nothing more.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote

import msgspec

from assay.core.citations.grammar import LEAD_WORDS
from assay.core.clean import Edit, EditedText
from assay.core.lazy import regex
from assay.core.markers import Marker, cited_ids, parse_markers, strip_markers
from assay.core.messages import Reply
from assay.core.scanner import scan
from assay.evidence.ledger import Ledger
from assay.run.call_repair import read_json

MIN_REPEATED_CHARS = 30
"""The least characters of a paragraph that is left out if it stands in the text before, word for word."""
MAX_TITLE_CHARS = 120
MAX_REMARK_CHARS = 1_000
MIN_NAME_CHARS = 6
"""A shorter name of a source may be an abbreviation."""
_TITLES = frozenset("title heading header headline name section subject topic".split())
"""Keys of JSON whose texts are headings."""
_LISTS = LEAD_WORDS | frozenset(
    "list of works cited used and bibliography literature literatur literaturverzeichnis quellenverzeichnis "
    "bibliographie bibliografía bibliografia bibliografie".split()
)
"""Words of headings above a list of sources; lower case."""
_NO_LISTS = frozenset(
    """
    list of works used and literature literatur evidence document documents passage passages note see per via from
    """.split()
)
"""Those of them that head other lists too: a heading needs one more."""
_NAMED = regex(r"\[([^\[\]\n]{1,300})\](?:\(([^()\s]{1,500})\))?|\(([^()\[\]\n]{4,500})\)|<(\w+://[^<>\s]{1,500})>")
"""What may name a source: a link, or text in brackets."""
_BREAK = regex(r"(\n[ \t]*(?:\n[ \t]*)+)")
_HEADING = regex(r"[ ]{0,3}#{1,6}[ \t]+(.*)|\*\*([^*\n]+)\*\*:?[ \t]*")
_RULE = regex(r"[ ]{0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*")
_DEFINITION = regex(r"^[ \t>]*(?:[-*+][ \t]+)?(?:\[\^?(\d{1,3})\]:?|(\d{1,3})[.):])[ \t]*(\S.*)$", re.MULTILINE)
_REFERENCE = regex(r"\[(\^?\d{1,3}(?:[ \t]*[,;][ \t]*\^?\d{1,3})*)\](?![(:])")
_LISTED = regex(r"[ \t>]*(?:[-*+•]|\[|\d{1,3}[.):]|https?:).*")
_OPENING = regex(
    r"[*_ ]*(?:(?:sure|certainly|absolutely|of course|okay|ok|great)(?:[,!.:]+[*_ ]*(?:[^\n]*[:!])?)|"
    r"(?:here(?:['’]s| is| are)|below (?:is|are)|the following is|hier ist|voici|aquí (?:está|tienes)|aqui está|ecco)\b"
    r"[^\n]*\b(?:reports?|answer|summary|overview|response|findings|bericht|antwort|rapport|réponse|informe|respuesta|"
    r"relatório|resposta|risposta)\b[^\n]*[:.!])[*_ ]*",
    re.IGNORECASE,
)
"""A line that only announces the text."""
_CLOSING = regex(
    r"[*_ ]*(?:(?:please )?(?:let me know|feel free|do(?:n['’]t| not) hesitate)|i hope|hope this|would you like|"
    r"do you want me|is there anything|if you (?:have any|have (?:more|further|other)|"
    r"(?:need|want|would like) (?:me|more|further|any))).*",
    re.IGNORECASE | re.DOTALL,
)
"""The beginning of an offer to the user, or of a wish."""


def tidy_text(text: str, ledger: Ledger) -> str:
    """A report or findings as they are meant; `ledger` has what they may cite."""
    text = unwrap_json(drop_remarks(text))
    names = {} if parse_markers(text) else source_names(ledger)
    text = resolve_references(cite_by_id(text, names), names)
    return drop_source_lists(drop_remarks(drop_repetitions(text)))


def tidy_reply(reply: Reply, ledger: Ledger) -> Reply:
    """A reply with its text as it is meant."""
    return msgspec.structs.replace(reply, text=tidy_text(reply.text, ledger))


# JSON around a text


def unwrap_json(text: str) -> str:
    """The Markdown that a model put into JSON; the text itself if it is no JSON, or cites something else or nothing."""
    value = read_json(text) if "{" in text[:MAX_TITLE_CHARS] and text.rstrip(" `\n").endswith("}") else None
    if not isinstance(value, dict) or not _is_all(text):
        return text
    markdown = "\n\n".join(_paragraphs(value, 1))
    cited = cited_ids(text)
    return markdown if cited and cited_ids(markdown) == cited else text


def _is_all(text: str) -> bool:
    """True if nothing but a line that announces it, and a fence, stands before the JSON of a text."""
    before = text[: text.index("{")].replace("```json", "").strip("` \n")
    return not before or _OPENING.fullmatch(before) is not None


def _paragraphs(value: object, level: int) -> Iterator[str]:
    """The texts in JSON, in their order; those of titles are headings."""
    if isinstance(value, str):
        if value.strip():
            yield value.strip()
    elif isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            yield "\n".join(f"- {item.strip()}" for item in value)
            return
        for item in value:
            yield from _paragraphs(item, level)
    elif isinstance(value, dict):
        for key, item in value.items():
            is_title = key.lower() in _TITLES and isinstance(item, str) and 0 < len(item) <= MAX_TITLE_CHARS
            if is_title and len(value) > 1:
                yield f"{'#' * min(level, 6)} {item.strip()}"
            else:
                yield from _paragraphs(item, level + 1)


# sources cited by address, file name or title


Names = Mapping[str, tuple[str, ...]]
"""What a model may call a source, in lower case, and the ids of its document."""


def source_names(ledger: Ledger) -> Names:
    """What else sources may be called: by address, path, file name or title. What names two documents names none."""
    documents: dict[str, set[str]] = {}
    ids: dict[str, tuple[str, ...]] = {}
    for source in ledger.passages_and_sources()[1].values():
        address = unquote(source.url)
        path = address.partition("://")[2] or address
        for name in dict.fromkeys(map(_name_key, (address, path, path.rpartition("/")[2], source.title))):
            documents.setdefault(name, set()).add(source.document_sha256)
            ids[name] = (*ids.get(name, ()), source.id)
    return {name: ids[name] for name, named in documents.items() if len(named) == 1 and len(name) >= MIN_NAME_CHARS}


def cite_by_id(text: str, names: Names) -> str:
    """The text with ids in the place of the names of sources in brackets, or of links to them."""

    def cite(found: re.Match[str]) -> str:
        label, named = (found[1], [found[2]]) if found[2] else ("", (found[1] or found[3] or found[4]).split(", "))
        ids = [names.get(_name_key(name), ()) for name in named]
        if not all(ids):
            return found[0]
        is_bare = not label or label.isdecimal() or _name_key(label) in names or label.casefold() in LEAD_WORDS
        return ("" if is_bare else f"{label} ") + _marker(id for group in ids for id in group)

    return _NAMED.sub(cite, text) if names else text


def _marker(ids: Iterable[str]) -> str:
    return f"[{', '.join(dict.fromkeys(ids))}]"


def _name_key(name: str) -> str:
    """A name without a word before it ("Source: …"), in lower case."""
    word, colon, rest = name.strip().partition(": ")
    return (rest if colon and word.casefold() in LEAD_WORDS else name).strip(" <>`*_").casefold()


# citations by number, with the ids in a list or in footnotes


def resolve_references(text: str, names: Names) -> str:
    """Put the ids in the place of numbers, if the text says what these stand for: `[^1]: [S1001.1]`."""
    markers = parse_markers(text)
    starts = [marker.start for marker in markers]
    definitions = {
        (found[1] or found[2]).lstrip("0"): (found, ids)
        for found in _DEFINITION.finditer(text)
        if (ids := _defined_ids(found, markers[slice(*(bisect_left(starts, end) for end in found.span(3)))], names))
    }
    if not definitions:
        return text
    lines = [(found.start(), found.end()) for found, _ in definitions.values()]
    apart = bytearray(len(text))
    for start, end in (
        *lines,
        *((token.start, token.end) for token in scan(text) if token.kind in ("link", "verbatim")),
    ):
        apart[start:end] = b"x" * (end - start)
    edits = [
        Edit(found.start(), found.end(), _marker(cited))
        for found in _REFERENCE.finditer(text)
        if not apart[found.start()]
        and (cited := [id for number in _numbers(found) if number in definitions for id in definitions[number][1]])
    ]
    dropped = [Edit(start, min(end + 1, len(text)), "") for start, end in lines]
    return EditedText(text, [*edits, *dropped]).text.rstrip() if edits else text


def _defined_ids(found: re.Match[str], markers: Sequence[Marker], names: Names) -> tuple[str, ...]:
    """The ids that a line with these markers gives a number; none if it states something, as an item of a list does."""
    if markers and (found[1] is not None or not found.string[found.start(3) : markers[0].start].strip()):
        return tuple(id for marker in markers for id in marker.ids)
    line = found[3].casefold()
    return names[max(named, key=len)] if (named := [name for name in names if name in line]) else ()


def _numbers(found: re.Match[str]) -> list[str]:
    return [number.lstrip("0") for number in re.findall(r"\d+", found[1])]


# paragraphs: said again, remarks to the user, lists of sources


def drop_repetitions(text: str) -> str:
    """The text without paragraphs that stand in it before, word for word; a heading that would head none keeps them.

    A heading that stands in it before is left out with them. A text with code stays as it is.
    """
    if "```" in text or "~~~" in text:
        return text
    seen: dict[str, frozenset[str]] = {}
    kept: list[str] = []
    for heading, paragraphs in _sections(_paragraphs_of(text)):
        fresh = [paragraph for paragraph in paragraphs if not _is_said(paragraph, seen)]
        is_again = bool(heading) and _words(heading) in seen
        for part in (heading, *paragraphs):
            seen[_words(part)] = seen.get(_words(part), frozenset()) | cited_ids(part)
        kept += [heading, *fresh] if fresh else [] if is_again or not heading else [heading, *paragraphs]
    return text if sum(map(len, kept)) == len(text) else "".join(kept).rstrip()


def _paragraphs_of(text: str) -> list[str]:
    """The paragraphs of a text, each with the space after it."""
    parts = [*_BREAK.split(text), ""]
    return [paragraph for paragraph in map("".join, zip(parts[::2], parts[1::2], strict=True)) if paragraph]


def _sections(paragraphs: Iterable[str]) -> list[tuple[str, list[str]]]:
    """The headings of a text with the paragraphs below each; the first may have none."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for paragraph in paragraphs:
        if _HEADING.fullmatch(paragraph.strip()):
            sections.append((paragraph, []))
        else:
            sections[-1][1].append(paragraph)
    return sections


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", strip_markers(text).casefold()))


def _is_said(paragraph: str, seen: Mapping[str, frozenset[str]]) -> bool:
    """True if a paragraph's words are among those `seen`, with all that it cites."""
    words = _words(paragraph)
    return len(words) >= MIN_REPEATED_CHARS and words in seen and cited_ids(paragraph) <= seen[words]


def drop_remarks(text: str) -> str:
    """The text without lines that announce it at its beginning, and without offers at its end."""
    paragraphs = _paragraphs_of(text)
    count = len(paragraphs)
    while len(paragraphs) > 1 and _is_remark(_OPENING, paragraphs[0].strip()):
        paragraphs.pop(0)
    while len(paragraphs) > 1 and _is_remark(_CLOSING, paragraphs[-1].strip()):
        paragraphs.pop()
    return text if len(paragraphs) == count else "".join(paragraphs).strip()


def _is_remark(pattern: re.Pattern[str], paragraph: str) -> bool:
    """True if a paragraph is a rule, or has the words of a remark and neither a citation nor a figure."""
    if len(paragraph) > MAX_REMARK_CHARS:
        return False
    is_plain = not parse_markers(paragraph) and not any(map(str.isdecimal, paragraph))
    return bool(_RULE.fullmatch(paragraph)) or (is_plain and pattern.fullmatch(paragraph) is not None)


def drop_source_lists(text: str) -> str:
    """The text without a list of sources at its end: a report gets one by code. One that cites more passages stays."""
    paragraphs = _paragraphs_of(text)
    last = next((index for index in reversed(range(len(paragraphs))) if _HEADING.match(paragraphs[index])), 0)
    heading, _, below = paragraphs[last].partition("\n") if last else ("", "", "")
    title = _HEADING.fullmatch(heading.rstrip())
    lines = [line for paragraph in (below, *paragraphs[last + 1 :]) for line in paragraph.splitlines() if line.strip()]
    if title is None or not _heads_sources(title[1] or title[2]) or not all(map(_LISTED.fullmatch, lines)):
        return text
    rest = drop_remarks("".join(paragraphs[:last]).rstrip())
    listed = {id for id in cited_ids("\n".join(lines)) if "." in id}
    return rest if parse_markers(rest) and listed <= cited_ids(rest) else text


def _heads_sources(title: str) -> bool:
    words = re.findall(r"[^\W\d_]+", title.casefold())
    return all(word in _LISTS for word in words) and not _NO_LISTS.issuperset(words)
