"""The grammar of wrapped citations: ids, lists of ids, and the brackets or marks that a model puts around them.

    citation = id [dash id] | marker | opening [lead] list [tail] closing | prefix citation
    list     = citation {[separator] citation}

Any pair of brackets, emphasis, backticks, HTML tags and LaTeX commands may open and close; wrappers nest. The parser
reads one character at a time, so it can tell a text that ends too early from one without a citation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

import msgspec

from assay.core.lazy import regex

MAX_CITATION_CHARS = 400
"""The most characters of a citation with all its wrappers."""
MAX_DEPTH = 6
MAX_LISTED_DIGITS = 3
"""The most digits of a number that is a passage of the source before it: a longer one may be a year."""
_WORD = 16

_PAIRS: Final = dict(zip("([{<（［【〔〖「『〈《‹«", ")]}>）］】〕〗」』〉》›»", strict=True))
_QUOTES: Final = dict(zip("\"'“‘„", "\"'”’“", strict=True))
"""They open and close an id inside other signs only: `["S3.17"]`."""
_RUNS: Final = "*_~`"
_PREFIXES: Final = "^@#†"
_DASHES: Final = "-‐‑‒–—―~"
_SEPARATORS: Final = ",;，；、،&|/+·•"
_SPACES: Final = " \t\u00a0\u202f"
_DIGITS: Final = frozenset("0123456789０１２３４５６７８９")
_LETTERS: Final = frozenset("sSｓＳ")
_POINTS: Final = ".．"

_CONJUNCTIONS = frozenset(
    "and or und oder et ou y o e of en i oraz lub и или і або 和 及 与 と や 및 와 과 और या ve veya و أو".split()
)
_UNTIL = frozenset("to through bis à hasta".split())
LEAD_WORDS = frozenset(
    """source sources src ref refs reference references citation citations cite cites cited see cf per via from passage
    passages id ids evidence doc document documents note fn footnote quelle quellen siehe vgl beleg belege textstelle
    fuente fuentes véase ver vid réf référence références voir fonte fonti fontes vedi cfr veja bron bronnen zie źródło
    źródła zob patrz zobacz источник источники см джерело джерела див 来源 來源 出处 出處 参见 參見 見 出典 参照 参考
    출처 참조 참고 स्रोत देखें संदर्भ المصدر المصادر انظر مصدر kaynak kaynaklar bkz""".split()
)
"""Words that only introduce a citation, in the languages of reports; lower case."""
_PLACES = frozenset(
    "p pp page pages l line lines para paras paragraph paragraphs § seite seiten str стр с с. pág".split()
)
"""Words that begin a place inside a source, after its id."""
_LABELS = frozenset(
    """table tables tab figure figures fig section sections sec equation eq appendix annex chapter part step item
    version model type class series tabelle abbildung abb abschnitt tableau annexe tabla figura sección""".split()
)
"""Words that have a number of their own: `Table S1.1` is no citation."""
_COMMAND = regex(r"\\[A-Za-z]{2,20}\*?\{")
_TAG = regex(r"<([A-Za-z][A-Za-z0-9-]{0,15})(?:[ \t][^<>\n]{0,200})?>")


class NeedsMoreText(Exception):
    """Raised if the text to come decides; never at the end of a text."""


class CitationGroup(msgspec.Struct, frozen=True):
    """The ids of a citation, in order, and where it ends. A range is one item, `S3.17-S3.19`."""

    end: int
    items: tuple[str, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids, with both ends of each range."""
        return tuple(id for item in self.items for id in item.split("-"))

    @property
    def marker(self) -> str:
        """The citation in plain form."""
        return f"[{', '.join(dict.fromkeys(self.items))}]"


class Parser:
    """Reads citations at places of a text.

    Args:
        text: the text so far.
        final: whether the text is complete.
        closed_spans: places that no citation may include, and where each ends.
    """

    def __init__(self, text: str, final: bool, closed_spans: Mapping[int, int] | None = None) -> None:
        self._text, self._final, self._closed_spans = text, final, closed_spans or {}
        self._limit = 0

    def wrapped_citation(self, position: int) -> CitationGroup | None:
        """The wrapped citation that begins at `position`.

        Raises:
            Undecided: the text ends too early to tell.
        """
        self._limit = position + MAX_CITATION_CHARS
        return None if self._text[position : position + 1] in _LETTERS else self._citation(position, 0)

    def bare_id(self, position: int) -> CitationGroup | None:
        """The id at `position`, without a wrapper. Raises as `wrapped_citation`."""
        self._limit = position + MAX_CITATION_CHARS
        return self._item(position)

    def introduced_list(self, position: int) -> CitationGroup | None:
        """The list after a word such as `Source:` at `position`. Raises as `wrapped_citation`."""
        self._limit = position + MAX_CITATION_CHARS
        start = self._skip_lead(position)
        if not {":", "："} & set(self._text[position:start]):
            return None
        return self._list(start, 0)

    def peek(self, position: int) -> str:
        """The character at `position`, "" after the end. Raises as `wrapped_citation`."""
        self._limit = position + 1
        return self._character(position)

    # one character at a time

    def _character(self, position: int) -> str:
        """The character at `position`; "" after the end, and at places that no citation may reach.

        Raises:
            Undecided: it is not there yet.
        """
        if position >= self._limit or position in self._closed_spans:
            return ""
        if position < len(self._text):
            return self._text[position]
        if self._final:
            return ""
        raise NeedsMoreText

    def _skip_spaces(self, position: int) -> int:
        while (sign := self._character(position)) and sign in _SPACES:
            position += 1
        return position

    def _follows(self, position: int, expected: str) -> bool:
        return all(self._character(position + offset) == sign for offset, sign in enumerate(expected))

    def _letters(self, position: int) -> str:
        """The word at `position`; "" if there is none, or a long one."""
        end = position
        while (sign := self._character(end)).isalpha() or (sign and unicodedata.category(sign).startswith("M")):
            end += 1
            if end - position > _WORD:
                return ""
        return self._text[position:end]

    # the grammar; each function returns what it read, or None

    def _citation(self, position: int, depth: int) -> CitationGroup | None:
        if depth > MAX_DEPTH:
            return None
        sign = self._character(position)
        if not sign:
            return None
        if sign in _LETTERS:
            return self._item(position)
        if sign == "<" and (citation := self._tagged_citation(position, depth)):
            return citation
        if sign in _PAIRS:
            return self._enclosed_citation(position + 1, _PAIRS[sign], depth)
        if depth and sign in _QUOTES:
            return self._enclosed_citation(position + 1, _QUOTES[sign], depth, tight=True)
        if sign in _RUNS:
            run = self._sign_run(position)
            return self._enclosed_citation(position + len(run), run, depth, tight=True) if len(run) <= 3 else None
        if sign == "\\":
            return self._command_citation(position, depth)
        return self._prefixed_citation(position, depth) if sign in _PREFIXES else None

    def _sign_run(self, position: int) -> str:
        end = position
        while self._character(end) == self._text[position] and end - position < 4:
            end += 1
        return self._text[position:end]

    def _prefixed_citation(self, position: int, depth: int) -> CitationGroup | None:
        citation = self._citation(position + 1, depth + 1)
        if citation and self._text[position] == "^" and self._character(citation.end) == "^":
            return CitationGroup(citation.end + 1, citation.items)
        return citation

    def _command_citation(self, position: int, depth: int) -> CitationGroup | None:
        end = position + 1
        while (sign := self._character(end)).isascii() and (sign.isalpha() or sign == "*") and end - position < 24:
            end += 1
        if end == position + 1 and sign == "[":  # an escaped bracket
            return self._enclosed_citation(end + 1, "]", depth) or self._enclosed_citation(end + 1, "\\]", depth)
        has_argument = self._character(end) == "{" and _COMMAND.match(self._text, position)
        return self._enclosed_citation(end + 1, "}", depth) if has_argument else None

    def _tagged_citation(self, position: int, depth: int) -> CitationGroup | None:
        """`<sup>S3.17</sup>`, and any other tag."""
        end = position + 1
        sign = self._character(end)
        while (sign.isascii() and sign.isalpha()) if end == position + 1 else (sign and sign not in "<>\n"):
            end += 1
            sign = self._character(end)
        tag = _TAG.match(self._text, position) if sign == ">" else None
        return self._enclosed_citation(end + 1, f"</{tag[1]}>", depth) if tag else None

    def _enclosed_citation(
        self, position: int, closing_sign: str, depth: int, tight: bool = False
    ) -> CitationGroup | None:
        """The text between an opening sign, which ends at `position`, and its closing one; `tight`: without a space."""
        start = self._skip_lead(position if tight else self._skip_spaces(position))
        group = self._list(start, depth, is_enclosed=True)
        if group is None:
            return None
        end = group.end if tight else self._skip_spaces(group.end)
        if not self._follows(end, closing_sign):
            end = self._skip_tail(end, closing_sign)
        return CitationGroup(end + len(closing_sign), group.items) if end >= 0 else None

    def _skip_lead(self, position: int) -> int:
        """The end of `source:`, `see the passages` or `1†`, which only introduce a citation; `position` if there is
        none.
        """
        end = self._number(position, 3)
        end = end + 1 if end > position and self._character(end) == "†" else position
        for _ in range(2):
            word = self._letters(end)
            if word.lower() not in LEAD_WORDS:
                break
            end += len(word)
            while (sign := self._character(end)) and sign in ".:：=#№ \t\u00a0\u202f":
                end += 1
        return end

    def _skip_tail(self, position: int, closing_sign: str) -> int:
        """The closing sign after nothing (`S3.17:`) or a place inside the source (`, p. 4`, `†L1-L5`); -1 if there is
        none.
        """
        sign = self._character(position)
        if sign != "†":
            if sign and sign in ",:;":
                position = self._skip_spaces(position + 1)
                if self._follows(position, closing_sign):
                    return position
            word = "§" if self._character(position) == "§" else self._letters(position)
            if word.lower() not in _PLACES:
                return -1
        while (sign := self._character(position)) and sign != "\n" and not self._follows(position, closing_sign):
            position += 1
        return position if sign and sign != "\n" else -1

    def _list(self, position: int, depth: int, *, is_enclosed: bool = False) -> CitationGroup | None:
        """A list; in brackets, a number behind the id of a passage is another passage of its source: `S3.17, 18`."""
        group = self._citation(position, depth + 1)
        if group is None:
            return None
        end, items = group.end, list(group.items)
        while True:
            start = self._skip_separators(end)
            next_group = self._citation(start, depth + 1)
            if next_group is None and is_enclosed and start > end and "." in items[-1]:
                next_group = self._short_range_end(start, items[-1].rpartition("-")[2], MAX_LISTED_DIGITS)
            if next_group is None:
                return CitationGroup(end, tuple(items))
            items.extend(next_group.items)
            end = next_group.end

    def _skip_separators(self, position: int) -> int:
        """Where the next item of a list may begin."""
        position = self._skip_spaces(position)
        while (sign := self._character(position)) and sign in _SEPARATORS:
            position = self._skip_spaces(position + 1)
        word = self._letters(position)
        return self._skip_spaces(position + len(word)) if word.lower() in _CONJUNCTIONS else position

    def _item(self, position: int) -> CitationGroup | None:
        first = self._id(position)
        if first is None:
            return None
        after = self._skip_spaces(first.end)
        word = self._letters(after) if after > first.end else ""
        if word.lower() in _UNTIL or ((sign := self._character(after)) and sign in _DASHES):
            start = self._skip_spaces(after + (len(word) or 1))
            last = (
                self._id(start) if self._character(start) in _LETTERS else self._short_range_end(start, first.items[0])
            )
            if last is not None:
                return CitationGroup(last.end, (f"{first.items[0]}-{last.items[0]}",))
        return first

    def _id(self, position: int) -> CitationGroup | None:
        """`S3` or `S3.17`, with no other word joined to it."""
        if self._character(position) not in _LETTERS:
            return None
        end = self._number(position + 1, 7)
        if end == position + 1:
            return None
        if (sign := self._character(end)) and sign in _POINTS:
            end = max(end, self._number(end + 1, 6)) if self._character(end + 1) in _DIGITS else end
        return self._complete_id(position, end, "")

    def _number(self, position: int, max_digits: int) -> int:
        end = position
        while end - position <= max_digits and self._character(end) in _DIGITS:
            end += 1
        return end if end - position <= max_digits else position

    def _short_range_end(self, position: int, first: str, max_digits: int = 6) -> CitationGroup | None:
        """The end of `S3.17-19` or `S3-5`, in which the second id is only a number."""
        stem, point, _ = first.partition(".")
        end = self._number(position, max_digits)
        return self._complete_id(position, end, f"{stem}." if point else "S") if end > position else None

    def _complete_id(self, position: int, end: int, stem: str) -> CitationGroup | None:
        """The id from `position` to `end`, unless a word, path or longer number continues after it."""
        sign = self._character(end)
        if is_word_character(sign) or sign == "/" or (sign == "\\" and self._character(end + 1).isalnum()):
            return None
        if sign in ("_", *_POINTS, *_DASHES[:3]) and sign and is_word_character(self._character(end + 1)):
            after = self._character(end + 1)
            if sign not in _DASHES or after not in _LETTERS | _DIGITS:
                return None
        name = stem + unicodedata.normalize("NFKC", self._text[position:end]).upper()
        return CitationGroup(end, (name,))


def is_word_character(sign: str) -> bool:
    """True if a character joins an id to a word or number; letters of scripts without spaces or case do not."""
    return sign.isalnum() and unicodedata.category(sign) != "Lo"


def is_ambiguous(before: str, item: str) -> bool:
    """True if a bare id after the text `before` may be something else: a part of a word or path, a table's number."""
    if before and (is_word_character(before[-1]) or before[-1] in "_./\\-:=@#&?%"):
        return True
    word = re.search(r"([^\W\d_]+)\.?[ \t]*$", before[-40:])
    if word is None:
        return "." not in item
    lowercase_word = word[1].lower()
    if lowercase_word in LEAD_WORDS:
        return False
    if "." not in item or lowercase_word in _LABELS:
        return True
    is_name = before[-40:].rstrip()[-1:] != "." and word[1][0].isupper()
    return is_name and int(item[1:].partition(".")[0]) < 1000
