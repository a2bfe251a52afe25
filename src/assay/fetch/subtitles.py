"""Subtitles (SRT, WebVTT) as text: sentences with the time at which each begins, as in a transcript."""

from __future__ import annotations

import re

from assay.core.clean import one_line
from assay.core.lazy import regex
from assay.core.text import ends_sentence

_TIME = r"(?:\d{1,3}:)?\d{2}:\d{2}[,.]\d{3}"
MARK = regex(rf"\ufeff?(?:WEBVTT\b|\s*(?:\d+[ \t]*\r?\n)?{_TIME} --> )")
"""The beginning of a file of subtitles."""
_CUE = regex(rf"(?:\A|\n)[ \t]*(?P<time>{_TIME}) --> {_TIME}[^\n]*\n(?P<text>(?:[^\n]*\S[^\n]*\n?)*)")
"""A time, and the lines below it up to an empty one; a number or a name may stand above."""
_VOICE = regex(r"<v[.\w]* (?P<name>[^<>]{1,80})>")
_TAG = regex(r"</?[a-z][^<>]{0,80}>|\{\\[^{}]{1,80}\}", re.IGNORECASE)
_SPEAKER = regex(r"[-–—]\s*\S|(?P<name>[^\W\d_][^:.!?]{0,40}:\s)")
"""The beginning of what another person says."""
MAX_CHARS = 400
"""The most characters that are joined up to the end of a sentence."""


def read_subtitles(text: str) -> str:
    """The sentences, each on a line behind the time of its first words; "" if there are none."""
    lines: list[str] = []
    said = speaker = ""
    for cue in _CUE.finditer(text.replace("\r\n", "\n")):
        words = one_line(_TAG.sub("", _VOICE.sub(r"\g<name>: ", cue["text"])))
        if not words:
            continue
        is_open = said and len(said) <= MAX_CHARS and not ends_sentence(said)
        if is_open and speaker:
            words = words.removeprefix(speaker)
        if is_open and not _SPEAKER.match(words):
            said += f" {words}"
            lines[-1] += f" {words}"
        else:
            said, begins = words, _SPEAKER.match(words)
            speaker = (begins["name"] or "") if begins else ""
            lines.append(f"[{cue['time'][:-4]}] {words}")
    return "\n".join([*lines, ""]) if lines else ""
