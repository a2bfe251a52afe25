"""A field's text, decoded from pieces of JSON."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.json_decoders import FieldText, field_text

TEXTS = st.text(max_size=40) | st.text(alphabet='"\\{}[],:u/d8\n\t😀é\u2028', max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def objects(draw: st.DrawFn) -> dict[str, object]:
    """An object with `reasoning` somewhere among other keys, and perhaps inside of them."""
    others = draw(st.dictionaries(TEXTS | st.just("inner"), VALUES | st.just({"reasoning": "not this"}), max_size=4))
    items = [item for item in others.items() if item[0] != "reasoning"]
    items.insert(draw(st.integers(0, len(items))), ("reasoning", draw(TEXTS)))
    return dict(items)


@st.composite
def cut(draw: st.DrawFn, text: str) -> list[str]:
    """`text` in pieces, some of them empty."""
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


def fed(pieces: list[str]) -> list[str]:
    reader = FieldText("reasoning")
    return [reader.feed(piece) for piece in pieces]


@given(objects(), st.sampled_from([None, 1, "\t"]), st.booleans(), st.data())
def test_any_object_in_any_pieces_gives_what_json_gives(
    value: dict, indent: int | str | None, ascii: bool, data: st.DataObject
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii)
    pieces = fed(data.draw(cut(text)))
    assert "".join(pieces) == value["reasoning"] == field_text(text, "reasoning")


@given(objects(), st.data())
def test_sign_by_sign_and_encoded_twice(value: dict, data: st.DataObject) -> None:
    text = json.dumps(json.dumps(value))
    assert "".join(fed(list(text))) == value["reasoning"]
    assert "".join(fed(data.draw(cut(text)))) == value["reasoning"]


@given(objects(), st.data())
def test_what_was_given_is_never_taken_back(value: dict, data: st.DataObject) -> None:
    text = json.dumps(value)
    text = text[: data.draw(st.integers(0, len(text)))]  # cut off
    given_so_far = ""
    for piece in fed(data.draw(cut(text))):
        given_so_far += piece
        assert str(value["reasoning"]).startswith(given_so_far)
    assert given_so_far == field_text(text, "reasoning")


@given(st.text(alphabet='{}[]"\\:,u0d8cafxreasoning \n', max_size=80) | st.text(max_size=60), st.data())
def test_what_is_no_json_is_read_alike_in_any_pieces(text: str, data: st.DataObject) -> None:
    whole = field_text(text, "reasoning")
    assert "".join(fed(data.draw(cut(text)))) == whole == "".join(fed(list(text)))
    whole.encode()  # no halves of pairs


@given(st.text(alphabet=st.characters(codec=None, categories=["Cs", "L"]), max_size=12), st.data())
def test_halves_of_pairs_are_marked(reasoning: str, data: st.DataObject) -> None:
    text = json.dumps({"reasoning": reasoning})
    wanted = json.loads(text)["reasoning"].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert "".join(fed(data.draw(cut(text)))) == wanted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"reasoning": "a\nb"}', "a\nb"),  # a line break as models write it
        ('```json\n{"reasoning": "fenced"}\n```', "fenced"),
        ('{"re\\u0061soning": "spelled"}', "spelled"),
        ('{"reasoning": "first", "reasoning": "second"}', "first"),
        ('{"reasoning": 7, "x": "y"}', ""),
        ('{"reasoning": {"reasoning": "inner"}}', ""),
        ('{"reasoning": "it ends he', "it ends he"),
        ('{"reasoning": "\\ud83d', ""),
        ('{"reasoning": "\\ud83dx"}', "\ufffdx"),
        ('{"reasoning": "\\ud83d\\ud83d\\ude00"}', "\ufffd😀"),
        ('{"reasoning": "\\u12zz\\q"}', "\ufffdzzq"),
        ('{"reasoning": null}', ""),
        ("", ""),
        ("[]", ""),
    ],
)
def test_odd_texts(text: str, expected: str) -> None:
    assert field_text(text, "reasoning") == expected
    assert "".join(fed(list(text))) == expected


def test_each_sign_is_read_once() -> None:
    text = json.dumps({"deep": [[[{"a": "b"}]] * 20_000], "reasoning": 'x\\n"é😀' * 20_000})
    begun = time.process_time()
    fed([text[at : at + 4] for at in range(0, len(text), 4)])
    assert time.process_time() - begun < 5  # reading the prefix anew each time takes minutes
