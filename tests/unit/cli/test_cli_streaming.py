"""An answer as it is written: what is said bit by bit is the beginning of what is said in the end."""

from __future__ import annotations

import os
import pty
import select
import sys
import time
from pathlib import Path

import pytest
import warm
from hypothesis import given
from hypothesis import strategies as st
from logs import Log, begin, passage, source
from shells import apart

from assay.cli import ask
from assay.cli.ask import _OPEN, StreamingDisplay, _settled_text
from assay.cli.main import main
from assay.core import events as e
from assay.core.report import build_report
from assay.core.view import fold_events

ANSWER = "The tide rises [S1.1, S2.3]. It *turns* `a[0]` twice [S2.1]; 12 times [1]\n\n- and so on.\n\nEnd [S1.2]"


def streamed(text: str, cuts: list[int], monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """What was said while `text` came in pieces, and what is left then."""
    out: list[str] = []
    monkeypatch.setattr(ask.click, "echo", lambda text, nl: out.append(text))
    log, shown = Log(), StreamingDisplay(-1, "numbers")
    begin(log)
    for id in ("S1", "S2"):
        log.add("", e.SourceAdded(source=source(id)))
    log.add("write", e.ReportStarted())
    ends = [*sorted({min(cut, len(text)) for cut in cuts}), len(text)]
    for start, end in zip([0, *ends], ends, strict=False):
        log.add("write", e.ReportDelta(text=text[start:end]))
    for envelope in log.events:
        shown.show(envelope)
    known = tuple(passage(id, "It is so.") for id in ("S1.1", "S2.3", "S2.1", "S1.2"))
    log.add("write", e.FindingAdded(lane=1, task="", text="", passages=known))
    whole = build_report(fold_events(log.events)).markdown.rstrip() + "\n\n## Sources\n"
    return "".join(out), shown.remaining_text(whole)


@given(st.lists(st.integers(0, len(ANSWER)), max_size=12))
def test_pieces_and_the_rest_are_the_whole_however_it_was_cut(cuts: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        output, rest = streamed(ANSWER, cuts, patch)
        at_once = "".join(streamed(ANSWER, [], patch))
    assert output + rest == at_once
    assert at_once.startswith("The tide rises [1] [2]. It *turns*")
    assert len(output) > len(ANSWER) // 2


def test_an_answer_which_was_taken_back_is_said_again_whole() -> None:
    shown = StreamingDisplay(-1, "numbers")
    shown.printed = "It rises"
    assert shown.remaining_text("*Nothing.*\n") == "\n\n*Nothing.*\n"
    assert shown.remaining_text("It rises high.\n") == " high.\n"
    assert StreamingDisplay(-1, "numbers").remaining_text("All.\n") == "All.\n"


def test_a_paragraph_put_between_is_said_after_and_nothing_twice() -> None:
    shown = StreamingDisplay(-1, "numbers")
    shown.printed = "It rises.\n\n*Compiled"
    assert (
        shown.remaining_text("It rises.\n\n*As of today.*\n\n*Compiled by code.*\n") == " by code.*\n\n*As of today.*\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")
def test_on_a_terminal_the_answer_is_there_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    apart(tmp_path, monkeypatch)
    (tmp_path / "pier.md").write_text("# Pier\n\nThe north pier was built in 1790. It is 80 metres long.\n")
    assert main(["How long is the pier?", "--in", str(tmp_path / "pier.md"), "-q"]) == 0
    master, slave = pty.openpty()
    process = warm.start("ask", "-q", "last", "When was the north pier built?", stdout=slave, stderr=slave)
    os.close(slave)
    seen, end = "", time.monotonic() + 120
    while process.poll() is None or select.select([master], [], [], 0)[0]:
        assert time.monotonic() < end, seen
        if select.select([master], [], [], 0.05)[0]:
            try:
                seen += os.read(master, 65536).decode(errors="replace")
            except OSError:  # Linux's way to say that the other end is closed
                break
    os.close(master)
    assert process.wait() == 0
    assert seen.startswith("The north pier was built in 1790. [1]")
    assert seen.count("The north pier") == 1
    assert seen.index("The north pier") < seen.index("## Sources")


@given(st.text(alphabet="ab [】【]\n", max_size=300))
def test_the_end_which_may_change_is_left_out(text: str) -> None:
    assert _settled_text(text) == _OPEN.sub("", text)


def test_an_endless_word_takes_no_long_time() -> None:
    begun = time.process_time()
    assert _settled_text("[" * 100_000 + " a").startswith("[" * 90_000)
    assert time.process_time() - begun < 5
