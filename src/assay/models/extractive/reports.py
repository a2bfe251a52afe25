"""Findings, reports and short answers of quoted sentences and framed figures, in the shape a question asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile

import msgspec
from msgspec.structs import replace

from assay.core import markers, phrases
from assay.core.blocks import heading_line, leaf_headings
from assay.core.brief import Section
from assay.core.messages import Request
from assay.core.phrases import built_in_note, no_answer_text, nothing_found_text
from assay.core.plan import Coverage, Plan, PlanStep
from assay.core.relevance import comparisons, read_question
from assay.core.relevance.comparisons import Comparison
from assay.core.relevance.document_parts import title_share
from assay.core.tables.rows import readable_row
from assay.core.text import ends_sentence
from assay.models.extractive.actions import shorten_title, sources_in_evidence, sources_seen, task_and_question
from assay.models.extractive.answers import (
    calculation_results,
    comparison_frames,
    is_near_duplicate,
    select_answers,
)
from assay.models.extractive.finding_units import Finding, distinct_units, parse_finding, quotable_units
from assay.models.extractive.hop_answers import answer_hop
from assay.models.extractive.requests import last_message, question_of, template_of
from assay.models.questions.conditions import asks_for_several
from assay.models.questions.question import ParsedQuestion, analyze, question_parts
from assay.models.questions.words import stems, topic_keys
from assay.models.shown_documents.passages import one_line
from assay.models.shown_documents.shelf import QuotableUnit, ShownSources
from assay.models.shown_documents.tabular import is_in_rows, is_row_of

Sections = list[tuple[str, list[QuotableUnit]]]


class ReportShape(msgspec.Struct, frozen=True):
    """The fields of a writer's `rules` message that are read here: `words` count if the user `asked` for a length."""

    part: int = 1
    parts: int = 1
    words: int = 0
    asked: bool = True


def fit_words(sections: Sections, words: int, least: int = 0) -> Sections:
    """Sections with as many units as fit into `words` together: the first of each before the second of any."""
    counts = [0] * len(sections)
    used_words = total = 0
    for turn in range(max((len(units) for _, units in sections), default=0)):
        for index, (_, units) in enumerate(sections):
            if turn >= len(units) or counts[index] < turn:
                continue
            size = len(units[turn].text.split())
            if used_words + size <= words or total < least:
                used_words, total = used_words + size, total + 1
                counts[index] += 1
    return [(title, units[:count]) for (title, units), count in zip(sections, counts, strict=True)]


# templates


def sort_into_headings(
    template: Sequence[Section], lead_units: Sequence[QuotableUnit], all_units: Sequence[QuotableUnit]
) -> Sections:
    """Put units below the headings that share their words; units of the answer that fit none go below the first.

    Other units that fit no heading are left out.
    """
    lead_texts = {unit.text for unit in lead_units}
    units = [*lead_units, *(unit for unit in all_units if unit.text not in lead_texts)]
    key_counts = Counter(key for unit in units for key in _unit_keys(unit))
    terms = {
        index: frozenset(topic_keys(f"{template[index].title} {template[index].hint}"))
        for index in sorted(leaf_headings(template))
    }
    sections: Sections = [(heading_line(section), []) for section in template]
    for unit in units:
        section_index = _best_heading(unit, terms, key_counts)
        if section_index is not None or unit.text in lead_texts:
            sections[section_index or 0][1].append(unit)
    return sections


def _best_heading(unit: QuotableUnit, terms: Mapping[int, frozenset[str]], key_counts: Mapping[str, int]) -> int | None:
    """The heading that shares a unit's words; rarer words count more, nearly matching ones half."""
    text_keys, keys = frozenset(stems(unit.text)), _unit_keys(unit)
    scores = {
        index: sum((1.0 if key in text_keys else 0.5) / key_counts[key] for key in heading_keys & keys)
        for index, heading_keys in terms.items()
    }
    best = max(scores, key=lambda index: scores[index], default=0)
    return best if scores.get(best) else None


def _unit_keys(unit: QuotableUnit) -> frozenset[str]:
    return unit.context_keys | frozenset(stems(unit.text))


# Findings, reports and short answers.

MAX_ANSWER_SENTENCES = 3
MAX_SOURCE_SENTENCES = 2
"""The most sentences that answer a part of a question, and the most from one source if several have some."""
MAX_SECTION_UNITS = 6


def find(request: Request) -> str:
    """An agent's findings, one per line; without relevant ones, a sentence that cites nothing."""
    task, main_question = task_and_question(request)
    if results := calculation_results(request):
        return format_findings(results)
    shelf = sources_seen(request)
    return (
        format_findings(
            distinct_units(
                [*comparison_frames(task, main_question, shelf), *select_answers(task, shelf, main_question)]
            )
        )
        or nothing_found_text()
    )


def format_findings(units: Sequence[QuotableUnit]) -> str:
    """Units as findings, one per line, best first: the writer takes them in this order."""
    return "\n".join(unit.line() for unit in units)


def answer(request: Request) -> str:
    """A short answer from the passages at hand."""
    shelf = sources_in_evidence(request)
    units = _answer_parts(analyze(question_of(request)), shelf)
    if not units:
        return no_answer_text()
    return f"{_paragraphs(units)}\n\n{built_in_note()}"


def write(request: Request) -> str:
    """The report: the answer, a section for each plan step or heading of a template, and what could not be found."""
    question = analyze(question_of(request))
    shelf = sources_in_evidence(request)
    shape, template = last_message(request, "rules", ReportShape) or ReportShape(), template_of(request)
    words = shape.words if shape.asked else 0
    findings = [
        (task, quotable_units(units, shelf)) for task, units in map(parse_finding, request.user_texts("findings"))
    ]
    all_units = distinct_units([unit for _, units in findings for unit in units])
    if not all_units:
        return no_answer_text()
    lead_units = _leading_findings(question, shelf, findings) or all_units[:1]
    if template:
        extended_units = [
            replace(unit, context_keys=unit.context_keys | set(stems(task)))
            for task, units in findings
            for unit in units
        ]
        sections = _fill_template(template, lead_units, distinct_units(extended_units), shelf)
        blocks = _render_sections(
            [(heading, _take_unreported(units, set(), len(units))) for heading, units in sections], words
        )
    else:
        blocks = _blocks_by_step(request, lead_units if shape.part == 1 else [], findings, words)
        blocks += _open_parts(request)
    tables = any(is_in_rows(unit, shelf) or is_row_of(unit, shelf) for unit in all_units)
    return "\n\n".join([*blocks, *([built_in_note(tables)] if shape.part == shape.parts else [])])


def _blocks_by_step(
    request: Request, lead_units: Sequence[QuotableUnit], findings: Sequence[Finding], words: int
) -> list[str]:
    """The answer, and a section for each plan step, in about so many words (0: any number)."""
    plan = last_message(request, "plan", Plan)
    question = analyze(question_of(request))
    several = asks_for_several(question)
    least = (
        len(lead_units)
        if several
        else max([MAX_ANSWER_SENTENCES, *(position for position, unit in enumerate(lead_units, 1) if unit.frame)])
    )
    first = fit_words([("", list(lead_units[:least]))], words, least=1)[0][1] if words else lead_units[:least]
    reported_texts = {unit.text for unit in first}
    own_heading = _heading(shorten_title(question.text))
    sections = [
        (f"## {heading if heading not in ('', own_heading) else phrases.further_heading()}", units)
        for heading, units in _sections_by_step(plan.steps if plan else (), findings)
    ]
    max_units = (
        max(MAX_SECTION_UNITS, len(lead_units))
        if not words
        else len(lead_units) + sum(len(units) for _, units in findings)
    )
    fresh = [(heading, _take_unreported(units, reported_texts, max_units)) for heading, units in sections]
    blocks = [
        _paragraphs(first),
        *_render_sections(fresh, words and words - sum(len(unit.text.split()) for unit in first)),
    ]
    return [block for block in blocks if block]


def _take_unreported(units: Sequence[QuotableUnit], reported_texts: set[str], max_units: int) -> list[QuotableUnit]:
    """The first units that are not in the report yet; from then on they count as in it."""
    fresh = [
        unit
        for unit in units
        if not any(unit.text == text or is_near_duplicate(unit.text, text) for text in reported_texts)
    ][:max_units]
    reported_texts.update(unit.text for unit in fresh)
    return fresh


def _render_sections(sections: Sections, words: int) -> list[str]:
    """Sections as Markdown, of at most so many words (0: any number), without empty ones."""
    shown_sections = fit_words(sections, words) if words else sections
    return [
        "\n".join([f"{heading}\n", *(f"- {_line(unit)}" for unit in units)])
        for heading, units in shown_sections
        if units
    ]


def _fill_template(
    template: Sequence[Section],
    lead_units: Sequence[QuotableUnit],
    all_units: Sequence[QuotableUnit],
    shelf: ShownSources,
) -> Sections:
    """The findings below the headings of a template; an empty heading gets an answer from the evidence."""
    sections = sort_into_headings(template, lead_units, all_units)
    return [
        (heading, units or select_answers(analyze(section.title), shelf, limit=MAX_SOURCE_SENTENCES))
        for section, (heading, units) in zip(template, sections, strict=True)
    ]


def _answer_parts(question: ParsedQuestion, shelf: ShownSources) -> list[QuotableUnit]:
    """The answers to each part of a question, in its order."""
    if hop_answers := answer_hop(question.text, shelf):
        return hop_answers
    if pair := comparisons.read_comparison(question.text):
        tasks = (question, *map(analyze, pair.sides))
        if comparison := _compare(
            pair, [(shorten_title(task.text), select_answers(task, shelf, question)) for task in tasks], shelf
        ):
            return comparison
    parts = [analyze(part) for part in question_parts(question.text)]
    answers = [_leading_units(select_answers(part, shelf, question), len(parts)) for part in parts]
    return distinct_units([unit for units in answers for unit in units])


def _leading_findings(question: ParsedQuestion, shelf: ShownSources, findings: Sequence[Finding]) -> list[QuotableUnit]:
    """The findings that answer the question: the best of each whose task was a part of it, else of all."""
    if hop_answers := answer_hop(question.text, shelf):
        return hop_answers
    if (pair := comparisons.read_comparison(question.text)) and (comparison := _compare(pair, findings, shelf)):
        return comparison
    part_titles = {shorten_title(part) for part in question_parts(question.text)}
    part_units = [units for task, units in findings if task.partition("\n")[0] in part_titles and units]
    groups = part_units or [units for _, units in findings if units]
    if asks_for_several(question):
        return distinct_units([unit for units in groups for unit in units])
    return distinct_units([unit for units in groups for unit in _leading_units(units, len(groups))])


def _compare(pair: Comparison, findings: Sequence[Finding], shelf: ShownSources) -> list[QuotableUnit]:
    """How both things differ or are alike, and what each of them is; empty if neither is said.

    If nothing says what one of them is, and no sentence has both, only the other is told. What stands below the same
    question, as in a FAQ, needs nothing else.
    """
    by_task = {task.partition("\n")[0]: units for task, units in findings}
    best = by_task.get(shorten_title(pair.text), [])[:MAX_ANSWER_SENTENCES]
    if best and _is_under_question(pair.text, best[0], shelf):
        return best
    sides = [set(topic_keys(side)) for side in pair.sides]
    related = [unit for unit in best if any(side.issubset(stems(unit.text)) for side in sides)]
    contrasts = [unit for unit in related if comparisons.has_contrast(unit.text)][:MAX_SOURCE_SENTENCES]
    side_units = [
        by_task.get(shorten_title(side), [])[: 1 if contrasts else MAX_SOURCE_SENTENCES] for side in pair.sides
    ]
    names_both = any(all(side.issubset(stems(unit.text)) for side in sides) for unit in best)
    return (
        distinct_units([*contrasts, *(unit for units in side_units for unit in units)])
        if contrasts or all(side_units) or not names_both
        else []
    )


def _is_under_question(question: str, unit: QuotableUnit, shelf: ShownSources) -> bool:
    """True if the title above a sentence asks the same question."""
    book = shelf.by_passage.get(unit.passages[0])
    headings = (sentence.heading for sentence in book.sentences if sentence.passage == unit.passages[0]) if book else ()
    heading = next(iter(headings), "")
    return title_share(read_question(question), heading) > 0


def _leading_units(units: Sequence[QuotableUnit], parts: int) -> list[QuotableUnit]:
    """The first units in order that answer: the frames they begin with, or the first sentences, fewer if the question
    has parts. A sentence keeps the field of its document behind it, as the date of a message.
    """
    frames = list(takewhile(lambda unit: unit.frame, units))
    left = MAX_ANSWER_SENTENCES if parts == 1 else MAX_SOURCE_SENTENCES
    leading: list[QuotableUnit] = []
    for unit in units:
        left -= not (leading and unit.frame and unit.source == leading[-1].source)
        if left < 0:
            break
        leading.append(unit)
    return frames or leading


def _paragraphs(units: Sequence[QuotableUnit]) -> str:
    """Frames and rows on lines of their own, the sentences of one source as a paragraph; one that begins with a figure,
    as the entry of a log, begins a paragraph: behind a full stop it would not be seen to begin.
    """
    blocks: list[str] = []
    last: QuotableUnit | None = None
    for unit in units:
        flows = not unit.frame and " | " not in unit.text and ends_sentence(unit.text)
        if last is not None and flows and unit.source == last.source and not unit.text.lstrip("[(")[:1].isdigit():
            blocks[-1] += f" {unit.line()}"
        else:
            blocks.append(_line(unit))
        last = unit if flows else None
    return "\n\n".join(blocks)


def _line(unit: QuotableUnit) -> str:
    """A unit with its markers; a row as people read it."""
    return replace(unit, text=readable_row(unit.text)).line()


# what the agents found


def _sections_by_step(steps: Sequence[PlanStep], findings: Sequence[Finding]) -> list[tuple[str, list[QuotableUnit]]]:
    """The findings by plan step, in the plan's order; the rest by their tasks."""
    sections: dict[str, list[QuotableUnit]] = {_heading(step.title): [] for step in steps}
    for task, units in findings:
        step = max(steps, key=lambda step: _overlap(step, task), default=None)
        fits = step is not None and _overlap(step, task) > 0
        heading = _heading(step.title) if step is not None and fits else _heading(task)
        sections.setdefault(heading, []).extend(units)
    return [(heading, distinct_units(units)) for heading, units in sections.items()]


def _overlap(step: PlanStep, task: str) -> float:
    first = task.split("\n", 1)[0]
    if first.startswith(step.title):
        return 2.0 + len(step.title)
    a, b = set(stems(step.title)), set(stems(first))
    return len(a & b) / (len(a | b) or 1)


def _heading(text: str) -> str:
    line = one_line(markers.strip_markers(text)).strip("#").rstrip("?？؟.。 ").strip()
    return line[:1].upper() + line[1:]


def _open_parts(request: Request) -> list[str]:
    """What could not be found, according to the coverage."""
    coverage = last_message(request, "coverage", list[Coverage]) or []
    missing = list(dict.fromkeys(_heading(part.part) for part in coverage if part.status == "not"))
    return [f"## {phrases.missing_heading()}\n\n" + "\n".join(f"- {part}" for part in missing)] if missing else []
