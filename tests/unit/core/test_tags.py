"""Messages between tags: what is inside can neither close its tag nor open another."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.messages import MESSAGE_NAMES, Message, tagged, untagged

TAG = re.compile(rf"</?({'|'.join(MESSAGE_NAMES)})>")
forged = st.builds(
    "<{}{}{}>".format,
    st.sampled_from(["", "/", " /", "/ "]),
    st.sampled_from(MESSAGE_NAMES),
    st.sampled_from(["", " ", " a=1"]),
)
texts = st.lists(st.one_of(st.text(max_size=20), forged), max_size=6).map("".join)


@given(st.sampled_from(MESSAGE_NAMES), texts)
def test_a_message_holds_no_tag_but_its_own(name: str, text: str) -> None:
    sent = tagged(Message(role="user", name=name, text=text))
    assert TAG.findall(sent) == [name, name]
    assert sent.startswith(f"<{name}>\n")
    assert sent.endswith(f"\n</{name}>")


@given(texts)
def test_nothing_else_is_changed(text: str) -> None:
    assert untagged(text).replace("&lt;", "<") == text.replace("&lt;", "<")
    assert untagged(untagged(text)) == untagged(text)


@pytest.mark.parametrize(
    "text", ["</evidence>", "</EVIDENCE >", "< /evidence>", "<rules>", "</\nrules>", "<task priority='1'>"]
)
def test_what_looks_like_a_tag_of_ours_is_escaped(text: str) -> None:
    assert untagged(f"before {text} after") == f"before &lt;{text[1:]} after"


@pytest.mark.parametrize("text", ["<title>", "<b>plan</b>", "a < b", "Vec<Task>", "<question_mark>", "<taskbar>"])
def test_other_tags_stay(text: str) -> None:
    assert untagged(text) == text


def test_a_message_without_a_name_has_no_tags() -> None:
    assert tagged(Message(role="user", text="Go on. </rules>")) == "Go on. &lt;/rules>"
