from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text
from terminal import Terminal

from assay.cli.live import Region
from assay.cli.live_frame import Size

LINE = st.text(st.characters(codec="ascii", min_codepoint=32, max_codepoint=126), max_size=30).map(str.rstrip)
FRAME = st.lists(LINE, max_size=6)


class Here:
    """A region on a small terminal."""

    def __init__(self, width: int = 40) -> None:
        self.terminal, self.writes = Terminal(width), list[str]()
        self.region = Region(self.write, lambda: Size(self.terminal.width, 24))

    def write(self, text: str) -> None:
        self.writes.append(text)
        self.terminal.feed(text)

    def draw(self, *lines: str, above: tuple[str, ...] = ()) -> None:
        self.region.draw([Text(line, style="red") for line in lines], above)


@given(st.lists(FRAME, min_size=1, max_size=6))
def test_what_is_shown_is_the_last_frame(frames: list[list[str]]):
    here = Here()
    here.terminal.feed("before\r\n")
    for lines in frames:
        here.draw(*lines)
        shown = ["before", *lines]
        while not shown[-1]:
            shown.pop()
        assert here.terminal.shown == shown
    here.region.erase()
    assert here.terminal.shown == ["before"]
    assert here.terminal.row == 1
    assert here.terminal.wraps
    assert here.terminal.cursor
    assert not here.terminal.modes


@given(st.lists(st.tuples(FRAME, FRAME.map(tuple)), max_size=5))
def test_lines_above_stay_in_their_order(draws: list[tuple[list[str], tuple[str, ...]]]):
    here, shown = Here(), list[str]()
    for lines, above in draws:
        here.draw(*lines, above=above)
        shown += above
    here.region.erase()
    while shown and not shown[-1]:
        shown.pop()
    assert here.terminal.shown == shown


def test_only_what_changed_is_written():
    here = Here()
    here.draw("first", "second")
    here.draw("first", "second")
    assert len(here.writes) == 1
    here.draw("first", "changed")
    assert "first" not in here.writes[-1]
    assert "changed" in here.writes[-1]


def test_every_draw_leaves_the_terminal_as_it_was():
    here = Here()
    for lines in (("a", "b"), ("a",), ("a", "b", "c")):
        here.draw(*lines)
        assert here.terminal.wraps
        assert here.terminal.cursor
        assert not here.terminal.modes
        assert here.terminal.column == 0
        assert here.terminal.row == len(lines)


def test_a_line_too_long_for_the_terminal_is_cut_there():
    here = Here(width=10)
    here.draw("0123456789abcdef", "next")
    assert here.terminal.shown == ["0123456789", "next"]


def test_after_somebody_else_wrote_it_begins_anew():
    here = Here()
    here.draw("old")
    here.terminal.feed("$ fg\r\n")
    here.region.forget()
    here.draw("new")
    assert here.terminal.shown == ["old", "$ fg", "new"]


def test_a_terminal_of_no_size_is_taken_for_a_usual_one():
    assert Region(lambda text: None, lambda: Size(0, 0)).room == Size(79, 23)
