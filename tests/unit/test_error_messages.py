"""The page of errors: it is the source's, and every message a person gets says what to do."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

from assay.core import errors
from assay.core.errors import AssayError

page = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "generate_errors.py")))


def test_the_page_is_the_sources() -> None:
    assert page.TARGET.read_text(encoding="utf-8") == page.text(), "python scripts/generate_errors.py"


def test_there_are_as_many_as_there_were() -> None:
    """What finds them finds them: some that are known, and most of all there are."""
    texts = {message.text for message in page.messages()}
    assert "the question is empty: write one" in texts
    assert "no embedder is set: set embedder.model, or use --embedder (ollama:nomic-embed-text)" in texts
    assert len(texts) > 400


def test_every_message_a_person_gets_says_what_to_do() -> None:
    found = [message for message in page.messages() if page.told(message)]
    assert len(found) > 300
    assert not [message for message in found if not page.says_what_to_do(message.text)]


def test_the_tree_of_errors_names_them_all_and_no_other() -> None:
    tree = {line.split()[0] for line in (errors.__doc__ or "").replace("│", " ").split("├── ")[1:]}
    tree |= {line.split()[0] for line in (errors.__doc__ or "").split("└── ")[1:]}
    classes = {name for name, each in vars(errors).items() if isinstance(each, type) and issubclass(each, AssayError)}
    assert tree | {"AssayError"} == classes
