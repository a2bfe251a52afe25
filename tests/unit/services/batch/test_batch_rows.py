"""Lines of a batch: what is a question, what is not, and which are the same."""

from __future__ import annotations

from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.run_options import RunOptions
from assay.services.batch.rows import MAX_LINE_BYTES, BadLine, BatchRow, read_orders


def read(*lines: str | bytes) -> list[BatchRow | BadLine]:
    return list(read_orders(line if isinstance(line, bytes) else line.encode() for line in lines))


def good(*lines: str | bytes) -> list[BatchRow]:
    found = read(*lines)
    assert all(isinstance(each, BatchRow) for each in found), found
    return [each for each in found if isinstance(each, BatchRow)]


def test_a_line_is_a_question_or_an_object():
    plain, made = good(
        "\ufeffHow deep is it?\n", '{"question": " And how wide? ", "sources": "docs/", "depth": "light"}\n'
    )
    assert (plain.line, plain.question, plain.sources, plain.options) == (1, "How deep is it?", None, {})
    assert (made.line, made.question, made.sources, made.options) == (
        2,
        "And how wide?",
        ("docs/",),
        {"depth": "light"},
    )


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_csv_file_has_a_question_and_its_options_in_each_row(separator: str):
    """Programs for tables write a mark before it, and where a comma stands in figures, semicolons."""
    table = [
        ("\ufeffid", "Question", "depth", "max_tokens", "web", "domains"),
        ("a", '"How deep, and ""how"" wide?"', "light", "50000", "false", '"[""x.org""]"'),
        ("", "", "", "", "", ""),
        ("b", '"Over\r\ntwo lines?"', "", "", "", ""),
        ("c", "", "light", "", "", ""),
        ("d", "Deep?", "deep", "", "", ""),
    ]
    text = "\r\n".join(separator.join(row) for row in table)
    found = read(*text.encode().splitlines(keepends=True))
    orders = [each for each in found if isinstance(each, BatchRow)]
    assert [(each.line, each.id, each.question) for each in orders] == [
        (2, "a", 'How deep, and "how" wide?'),
        (5, "b", "Over\r\ntwo lines?"),
    ]
    assert orders[0].options == {"depth": "light", "max_tokens": 50000, "web": False, "domains": ["x.org"]}
    assert [(each.line, "question" in each.error or "deep" in each.error) for each in found if each not in orders] == [
        (6, True),
        (7, True),
    ]


def test_a_csv_file_with_a_column_that_is_no_option_is_refused_before_anything_is_asked():
    [bad] = read("question,client", "How deep?,ACME", "How wide?,ACME")
    assert isinstance(bad, BadLine)
    assert (bad.line, "'client'" in bad.error) == (1, True)


def test_a_csv_file_of_questions_alone_may_have_commas():
    assert [each.question for each in good("question", "How deep, and how wide?", '"Why, then?"')] == [
        "How deep, and how wide?",
        "Why, then?",
    ]


def test_a_first_line_that_no_csv_file_has_is_a_question():
    (row,) = read_orders([b"When does\rit turn?"])
    assert isinstance(row, BatchRow)
    assert row.question == "When does\rit turn?"


def test_a_row_that_no_csv_file_has_ends_the_table_and_says_so():
    lines = [b"question,id\n", b"When?,a\n", f"{'a' * 140_000},b\n".encode(), b"How?,c\n"]
    first, last = read_orders(lines)
    assert isinstance(first, BatchRow)
    assert isinstance(last, BadLine)
    assert (last.line, "no row from here on was read" in last.error) == (3, True)


def test_every_option_of_a_run_is_known():
    samples = {"models": {"complex": ["a"]}, "answers": ["yes"], "schema": {"type": "object"}, "domains": ["x.org"]}
    for name in get_type_hints(RunOptions):
        value = samples.get(name)
        if value is not None:
            import msgspec

            line = msgspec.json.encode({"question": "?", name: value})
            assert good(line)[0].options == {name: value}
        else:
            assert not any(
                "no option" in each.error
                for each in read(f'{{"question": "?", "{name}": 17}}')
                if isinstance(each, BadLine)
            )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"question": 1}', "question: a whole number was given, a text is needed"),
        ('{"depth": "light"}', "there is no question"),
        ('{"question": "  "}', "empty"),
        ('{"question": "q", "deptth": "light"}', "no option of a run named 'deptth'; did you mean 'depth'?"),
        ('{"question": "q", "depth": "abyssal"}', "depth: 'abyssal' is not one of auto, extended, light, medium"),
        ('{"question": "q", "max_tokens": "many"}', "max_tokens: a text was given, a whole number is needed"),
        ('{"question": "q", "depth": "light", "depth": "medium"}', "depth is given twice"),
        ('{"question": "q"', "not JSON: "),
        (b"\xff\xfe", "UTF-8"),
        (b"x" * (MAX_LINE_BYTES + 1), "longer"),
        ('{"question": "q", "schema": ' + "[" * 5000 + "]" * 5000 + "}", ""),
    ],
)
def test_what_is_no_question_is_named_by_its_line(line: str | bytes, why: str):
    first, bad, last = read("one?", line, "two?")
    assert isinstance(first, BatchRow)
    assert isinstance(last, BatchRow)
    assert isinstance(bad, BadLine)
    assert bad.line == 2
    assert why in bad.error


def test_lines_put_in_before_change_no_key():
    before = good("a?", '{"question": "b?", "depth": "light"}')
    after = good("new?", "", "a?", '{"depth": "light", "question": "b?"}')
    assert [each.key for each in before] == [each.key for each in after[1:]]
    assert [each.line for each in after] == [1, 3, 4]


def test_equal_lines_are_orders_of_their_own_and_an_id_is_not_used_twice():
    keys = [each.key for each in good("a?", "a?", "a?")]
    assert len(set(keys)) == 3
    first, second = read('{"question": "a?", "id": 1}', '{"question": "b?", "id": "1"}')
    assert isinstance(first, BatchRow)
    assert isinstance(second, BadLine)


def test_an_id_keeps_its_key_whatever_is_asked():
    one, other = good('{"question": "a?", "id": "x"}')[0], good('{"question": "b?", "id": "x"}')[0]
    assert one.key == other.key


@given(st.lists(st.binary(max_size=60)))
def test_whatever_stands_there_is_an_order_or_named(lines: list[bytes]):
    found = list(read_orders(lines))
    numbers = [number for number, line in enumerate(lines, 1) if line.strip()]
    assert [each.line for each in found] == numbers
    keys = [each.key for each in found if isinstance(each, BatchRow)]
    assert len(keys) == len(set(keys))


def test_two_columns_of_one_name_are_named():
    (bad,) = read("question,depth,Depth", "How deep?,light,medium")
    assert isinstance(bad, BadLine)
    assert (bad.line, bad.error) == (1, "depth is given twice: leave one out")


def test_what_is_wrong_in_a_row_of_a_csv_file_is_named_by_its_column():
    found = read("question;depth;max_tokens", ";light;", "How deep?;lite;", "How wide?;;many")
    assert [each.error for each in found if isinstance(each, BadLine)] == [
        "there is no question",
        "depth: 'lite' is not one of auto, extended, light, medium",
        "max_tokens: a text was given, a whole number is needed",
    ]
