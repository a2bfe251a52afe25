"""Reports of the built-in model in the form that is asked for: parts, lengths, templates, comparisons."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from assay.core.blocks import outline
from assay.core.messages import Message, Request, Task
from assay.core.passage_context import format_source
from assay.core.phrases import BUILT_IN_NOTE
from assay.core.plan import Plan, PlanStep
from assay.core.sources import Passage, Source
from assay.models.extractive import respond
from assay.models.extractive.reports import fit_words
from assay.models.shown_documents.shelf import QuotableUnit

QUESTION = "How is the harbor dredged?"
FACTS = (
    "The harbor is dredged every spring by two boats.",
    "The harbor is dredged with buckets made of iron.",
    "The harbor is dredged again after storms from the east.",
    "The harbor was dredged at a cost of nine thousand pounds.",
    "The harbor is dredged down to seven metres.",
    "The harbor is dredged by the people of Sandmouth.",
)


def source(id: str, title: str, *texts: str) -> str:
    url = f"file:///{title}"
    record = Source(
        id=id, document_sha256="", snapshot_sha256="", url=url, title=title, media_type="text/plain", fetched_at=""
    )
    passages = [
        Passage(id=f"{id}.{at}", source=id, document_sha256="", start=0, end=0, text=text, text_sha256="")
        for at, text in enumerate(texts)
    ]
    return format_source(record, passages)


HARBOR = source("S1001", "Harbor", *FACTS)


def user(name: str, text: str) -> Message:
    return Message(role="user", name=name, text=text)


def asked(task: Task, *messages: Message) -> str:
    return respond(Request(task=task, system="", messages=messages))[0]


def report(template: str = "", step: str = "Dredging", **rules: int) -> str:
    finding = f"Task: {step}\n" + "\n".join(f"- {text} [S1001.{at}]" for at, text in enumerate(FACTS))
    plan = Plan(title=QUESTION, steps=(PlanStep(id=1, title=step),))
    messages = [user("question", QUESTION), user("findings", finding), user("evidence", HARBOR)]
    messages += [user("template", template)] if template else []
    found = msgspec.json.encode({"date": "2026-01-01", "part": 1, "parts": 1, "words": 0, **rules}).decode()
    return asked("write", *messages, user("rules", found), user("plan", msgspec.json.encode(plan).decode()))


def test_the_answer_stands_in_the_first_part_and_the_note_in_the_last() -> None:
    first, second = report(part=1, parts=2), report(part=2, parts=2)
    assert not first.startswith("#")
    assert BUILT_IN_NOTE not in first
    assert second.startswith("## Dredging\n\n- ")
    assert second.endswith(f"*{BUILT_IN_NOTE}*")


def test_the_answer_has_three_sentences_at_most_and_nothing_is_lost() -> None:
    text = report()
    assert text.partition("\n\n## ")[0].count("[S1001.") <= 3
    assert all(fact in text for fact in FACTS)


def test_the_question_is_no_heading_of_what_is_left() -> None:
    text = report(step=QUESTION)
    assert [line for line in text.splitlines() if line.startswith("#")] == ["## Further passages"]
    assert "## Dredging" in report()


def test_a_field_found_after_a_better_sentence_does_not_replace_it() -> None:
    log = source("S1001", "Harbor log", "Keeper: Ann Lee", "Depth: 7 m", FACTS[0])
    lines = ("Task: Dredging", f"- {FACTS[0]} [S1001.2]", "- Depth of Harbor log: 7 m [S1001.1]")
    finding = user("findings", "\n".join(lines))
    text = asked("write", user("question", QUESTION), finding, user("evidence", log))
    assert text.startswith(f"{FACTS[0]} [S1001.2]\n\nDepth of Harbor log: 7 m [S1001.1]")


def test_a_title_with_a_colon_is_no_field_of_a_record() -> None:
    title, other = "Mud and boats: how the harbor is dredged", source("S1002", "Annals of the Port", "It is old.")
    found = [
        asked(
            "answer",
            user("question", QUESTION),
            user("evidence", source("S1001", "Coastal Journal 4", *header, "Boats are slow.")),
            user("evidence", other),
        )
        for header in ((title,), (title, "Pages: 4 to 9"))
    ]
    assert [f"{title} [S1001.0]" in text for text in found] == [True, False]
    assert "Mud and boats of Coastal Journal 4: how the harbor is dredged [S1001.0]" in found[1]


def test_rows_of_a_sheet_are_quoted_without_their_place_each_on_its_own_line() -> None:
    rows = (
        "Port: Goole | Depth: 7 m | Note: Dries out at low water. | cells: A2:C2",
        "Port: Harwich | Depth: 12 m | Note: Has water at low water too. | cells: A3:C3",
    )
    sheet = source("S1001", "Ports", *rows)
    said = asked("answer", user("question", "Which ports have water at low water?"), user("evidence", sheet))
    assert said.splitlines()[:3:2] == [
        "Goole – Depth: 7 m; Note: Dries out at low water. [S1001.0]",
        "Harwich – Depth: 12 m; Note: Has water at low water too. [S1001.1]",
    ]


def test_the_length_is_followed() -> None:
    body = {words: report(words=words).removesuffix(f"*{BUILT_IN_NOTE}*") for words in (5, 30, 1_000)}
    assert body[5].count("[S1001.") == 1
    assert 1 < body[30].count("[S1001.") < 6
    assert body[1_000].count("[S1001.") == 6


def test_a_template_is_filled_by_the_words_of_its_headings() -> None:
    text = report("# Harbor\n\n## Cost\nIn pounds.\n\n## Depth in metres\n\n## Volcanoes")
    below = {part.title: text[part.body : part.end].strip() for part in outline(text)}
    assert "nine thousand pounds. [S1001.3]" in below["Cost"]
    assert "seven metres. [S1001.4]" in below["Depth in metres"]
    assert "Volcanoes" not in below or "[S" not in below["Volcanoes"]


def test_the_plan_has_a_step_for_what_a_template_asks() -> None:
    messages = (user("question", QUESTION), user("template", "# Harbor\n\n## Cost\n\n## Volcanoes"))
    rules = user("rules", '{"min_steps": 1, "max_steps": 6}')
    titles = [step.title for step in msgspec.json.decode(asked("plan", *messages, rules), type=Planned).steps]
    assert titles[-2:] == ["Cost", "Volcanoes"]
    few = user("rules", '{"min_steps": 1, "max_steps": 2}')
    assert len(msgspec.json.decode(asked("plan", *messages, few), type=Planned).steps) == 2


class Titled(msgspec.Struct):
    """A step of a plan as the built-in model writes it."""

    title: str


class Planned(msgspec.Struct):
    """Its plan."""

    steps: list[Titled]


@given(st.lists(st.lists(st.integers(1, 20), max_size=5), max_size=4), st.integers(0, 60))
def test_sections_are_cut_to_the_words_and_keep_their_order(sizes: list[list[int]], words: int) -> None:
    sections = [
        (str(at), [QuotableUnit(text=" ".join(["word"] * size), passages=("S1.1",), source="S1") for size in each])
        for at, each in enumerate(sizes)
    ]
    kept = fit_words(sections, words)
    assert [title for title, _ in kept] == [title for title, _ in sections]
    assert all(units == whole[: len(units)] for (_, units), (_, whole) in zip(kept, sections, strict=True))
    assert sum(len(unit.text.split()) for _, units in kept for unit in units) <= words
