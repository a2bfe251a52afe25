"""Words looked for in every text."""

from __future__ import annotations

from typing import cast

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from research import document

from assay.core.text import words
from assay.evidence.documents import DocumentReader
from assay.phases.survey.collection import Collection, GroupReading, _can_contain, _contains_phrase, _name_key
from assay.run.run import Run
from assay.store.memory import memory_store

texts = st.text(alphabet=st.sampled_from("aAbBcßİſK'’s. -_１1漢字のﬁ\n"), max_size=40)


@given(texts, texts)
def test_a_text_that_has_a_phrase_is_never_passed_over(text: str, phrase: str) -> None:
    phrases = [tuple(words(phrase))] if words(phrase) else []
    if _contains_phrase(text, phrases):
        assert _can_contain(text.encode(), phrases)


def test_words_are_whole_words_next_to_each_other() -> None:
    assert _contains_phrase("The Abstract-Base classes", [("abstract", "base")])
    assert not _contains_phrase("An abstract, very base thing", [("abstract", "base")])
    assert not _contains_phrase("abstractions", [("abstract",)])


def test_documents_come_in_the_order_of_their_numbers() -> None:
    named = [document(name, name) for name in ("pep-10.md", "pep-9.md", "a.md", "PEP-2.md", "10.md", "9.md")]
    assert [each.name for each in sorted(named, key=_name_key)] == [
        "a.md",
        "PEP-2.md",
        "pep-9.md",
        "pep-10.md",
        "9.md",
        "10.md",
    ]


class Stored:
    """A run whose steps are done already: their results are told, and nothing is done again."""

    def __init__(self, found: GroupReading) -> None:
        self._found = found

    def child(self, name: str) -> Stored:
        return self

    def emit(self, event: object) -> None:
        pass

    async def step(self, name: str, work: object, **about: object) -> GroupReading:
        return self._found


async def test_after_a_crash_headers_are_read_again_beside_documents_that_failed() -> None:
    blobs = memory_store().blobs
    text = b"Title: One\nStatus: Draft\n\nProse.\n"
    good = msgspec.structs.replace(document("one", "one"), sha256=blobs.put(text), size=len(text))
    gone = msgspec.structs.replace(document("two", "two"), sha256="0" * 64)
    stored = cast("Run", Stored(GroupReading(failed=(gone.sha256,))))
    headers = await Collection(stored, DocumentReader(blobs), [gone, good]).read_headers()
    assert [(header.document, header.display_name) for header in headers] == [(good, "One")]
