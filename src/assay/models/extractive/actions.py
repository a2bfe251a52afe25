"""The next actions, by rules: triage, background queries, a plan; then scripts for the orchestrator and the agents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from assay.core.blocks import leaf_headings
from assay.core.brief import ConversationMessage
from assay.core.lexicon import stem
from assay.core.messages import Request, ToolCall
from assay.core.plan import Complexity, FollowUp, Plan, PlanStep
from assay.core.relevance import comparisons
from assay.core.tables.records import is_field
from assay.core.tables.words import read_asking
from assay.core.text import words
from assay.models.extractive.part_answers import part_named
from assay.models.extractive.requests import last_message, question_of, template_of
from assay.models.questions import follow_ups, links
from assay.models.questions.conditions import is_whole
from assay.models.questions.follow_ups import subject_words
from assay.models.questions.question import Mention, ParsedQuestion, analyze, has_pronoun, is_comparison, question_parts
from assay.models.questions.words import stems
from assay.models.shown_documents.passages import is_in_table
from assay.models.shown_documents.shelf import ShownSources, SourcePassages, resolve_subject

LONG_QUESTION = 45
"""The number of words from which every question is complex."""
MAX_TITLE_CHARS = 160
"""The most characters in a step's title."""


class PlanRulesMessage(msgspec.Struct, frozen=True):
    """The fields of a plan request's `rules` message that are read here."""

    max_steps: int = 6


def plan_form(title: str, thought: str, steps: Iterable[PlanStep]) -> str:
    """A plan in a planner's form, as JSON."""
    names = ("title", "description", "type", "needs_search", "again")
    form_steps = [{name: getattr(step, name) for name in names} for step in steps]
    return msgspec.json.encode({"title": title, "thought": thought, "steps": form_steps}).decode()


def classify_complexity(text: str) -> Complexity:
    """The complexity of a question: simple with one part; higher if it compares, or has several parts to explain."""
    count = len(question_parts(text))
    if count > 3 or len(words(text)) > LONG_QUESTION:
        return "complex"
    if is_comparison(text):
        return "moderate"
    facts = all(analyze(part).concepts for part in question_parts(text))
    return "simple" if count == 1 or facts else "moderate"


def queries(text: str, main_question: str = "") -> tuple[str, ...]:
    """Up to three queries for `text`, a part of `main_question`: its words, its documents, its quotations.

    A part that says too little alone (a phrase, "how can they be avoided?") is searched with the words of the whole.
    """
    question = analyze(text)
    context = analyze(main_question) if main_question and main_question != text else question
    mentions = question.mentions or context.mentions
    dependent = has_pronoun(question) or not subject_words(question)
    text = text.strip(" ?？؟")
    phrases = [text, *subject_words(context)] if dependent and context is not question else [text]
    candidates = [
        " ".join(dict.fromkeys(" ".join(phrases).split())),
        " ".join(map(_spell_like_filename, mentions[:3])),
        *question.quotations[:2],
    ]
    distinct = {" ".join(query.casefold().split()): query for query in candidates if query.strip()}
    return tuple(distinct.values())[:3] or (text,)


def spelling_variants(text: str, main_question: str = "") -> tuple[str, ...]:
    """Other spellings of the documents that a question numbers: "PEP 6" also as "pep-0006"."""
    mentions = analyze(text).mentions or analyze(main_question or text).mentions
    spelt = list(map(_spell_like_filename, mentions))
    plain = [f"{mention.identifier.series.upper()} {mention.identifier.number}" for mention in mentions]
    return tuple(dict.fromkeys([*spelt, *plain]))[:4]


def _spell_like_filename(mention: Mention) -> str:
    """A document's name as in addresses and file names: "pep-0006"."""
    return f"{mention.identifier.series}-{mention.identifier.number:0>4}"


def triage(request: Request) -> tuple[ToolCall, ...]:
    """One call of `generate_plan`; the built-in model never answers without documents."""
    complexity = classify_complexity(question_of(request))
    count = len(question_parts(question_of(request)))
    arguments: dict[str, object] = {
        "reasoning": f"The question has {count} part{'' if count == 1 else 's'} and is {complexity} by its words.",
        "complexity": complexity,
        "follow_up": follow_up(request),
    }
    if restated := restate_question(request):
        arguments["restated"] = restated
    if is_whole(restated or question_of(request)):
        arguments["whole_collection"] = True
    return (ToolCall(id="triage-1", name="generate_plan", arguments=arguments),)


def background(request: Request) -> tuple[ToolCall, ...]:
    """Searches that show what the question is about."""
    search_queries = queries(question_of(request))
    return tuple(
        ToolCall(id=f"background-{number}", name="search", arguments={"query": query})
        for number, query in enumerate(search_queries, 1)
    )


def plan(request: Request) -> str:
    """A plan as JSON: the question's parts, in its own words."""
    text = question_of(request)
    limits = last_message(request, "rules", PlanRulesMessage) or PlanRulesMessage()
    hop = links.read_hop(text)
    titles = (
        [shorten_title(hop.first_question), shorten_title(text)]
        if hop and limits.max_steps > 1
        else _titles(text, limits)
    )
    titles = list(dict.fromkeys([*titles, *_headings(request)]))[: max(len(titles), limits.max_steps)]
    steps = [PlanStep(id=0, title=title, description=_description(title, text)) for title in titles]
    thought = f"{len(steps)} step{'s' if len(steps) != 1 else ''}, from the words of the question."
    return plan_form(shorten_title(text), thought, steps)


def _headings(request: Request) -> list[str]:
    """The headings of a template that need content."""
    template = template_of(request)
    return [shorten_title(template[index].title) for index in sorted(leaf_headings(template))]


def _titles(text: str, limits: PlanRulesMessage) -> list[str]:
    question = analyze(text)
    titles = [shorten_title(part) for part in question_parts(text)]
    if is_comparison(text) and len(titles) == 1 and limits.max_steps > len(question.numbered_mentions) > 1:
        titles = [*(mention.text for mention in question.numbered_mentions), *titles]
    elif (
        len(titles) == 1
        and not question.numbered_mentions
        and limits.max_steps > 2
        and (pair := comparisons.read_comparison(text))
    ):
        titles = [*titles, *map(shorten_title, pair.sides)]
    if len(titles) > limits.max_steps:
        titles = [*titles[: limits.max_steps - 1], shorten_title(" ".join(titles[limits.max_steps - 1 :]))]
    return titles


def _description(title: str, text: str) -> str:
    """The question that a step is part of, unless the step has the same words."""
    return "" if set(words(title)) == set(words(shorten_title(text))) else shorten_title(text)


def shorten_title(text: str) -> str:
    """A text as a step's title."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_TITLE_CHARS else f"{line[: MAX_TITLE_CHARS - 1].rsplit(' ', 1)[0]}…"


# what was said before


def conversation(request: Request) -> tuple[ConversationMessage, ...]:
    """The earlier messages."""
    return last_message(request, "conversation", tuple[ConversationMessage, ...]) or ()


def follow_up(request: Request) -> FollowUp:
    """True if the topic is the same: the question points back, or shares a topic word with the earlier messages."""
    earlier_messages = conversation(request)
    question = analyze(question_of(request))
    if not earlier_messages:
        return "new_topic"
    earlier_keys = {key for message in earlier_messages for key in stems(message.text)}
    shared = any(stem(word) in earlier_keys for word in subject_words(question))
    return "complex_follow_up" if shared or has_pronoun(question) or not subject_words(question) else "new_topic"


def restate_question(request: Request) -> str:
    """The question without slips of the pen, and with what earlier messages supply; empty if that changes nothing."""
    question = question_of(request)
    corrections = {} if isinstance(request.rarity, msgspec.UnsetType) else request.rarity.meant
    corrected = re.sub(r"[^\W\d_]+", lambda match: corrections.get(match[0], match[0]), question)
    restated = follow_ups.restate_follow_up(corrected, conversation(request)) or corrected
    return restated if restated != question else ""


# The next actions of the orchestrator and the agents: a small script each, which reads the history.

MAX_UNNAMED_OPENED = 3
"""The most documents an agent opens, not counting those that the question names."""
MAX_NAMED_DOCUMENTS = 6
MAX_AGENTS_SENT = 8
"""The most agents for the documents that another document names; each takes several if there are more."""
SEARCH_FOR = "Search for: "
"""Begins a line of a task with the queries to search for, separated by `;`."""


class Cycle(msgspec.Struct, frozen=True):
    """The fields of an orchestrator's `rules` message that are read here."""

    cycle: int = 1
    cycles: int = 1
    agents_at_once: int = 3


class BriefMessage(msgspec.Struct, frozen=True):
    """The fields of an agent's `brief` message that are read here."""

    question: str = ""


# the orchestrator


def orchestrate(request: Request) -> tuple[ToolCall, ...]:
    """An agent for each plan step, as many at once as the rules allow; then the report."""
    rules = last_message(request, "rules", Cycle) or Cycle()
    sent_steps = {
        _step_of(call) for message in request.messages for call in message.calls if call.name == "research_agent"
    }
    plan = last_message(request, "plan", Plan)
    steps = plan.steps if plan else (PlanStep(id=0, title=question_of(request)),)
    todo = [
        step for step in steps if step.id not in sent_steps and step.status == "pending" and step.type == "research"
    ]
    instruction_tasks = [(text, 0) for text in _instruction_tasks(request)]
    if not todo and not instruction_tasks:
        return (ToolCall(id=f"cycle-{rules.cycle}-report", name="generate_report"),)
    planned_tasks = [(_task_text(step), step.id) for step in todo[: max(1, rules.agents_at_once)]]
    tasks = [*instruction_tasks, *((_linked_tasks(request, todo) if todo else []) or planned_tasks)]
    return tuple(
        ToolCall(
            id=f"cycle-{rules.cycle}-agent-{number}", name="research_agent", arguments={"task": task, "step": step}
        )
        for number, (task, step) in enumerate(tasks, 1)
    )


def _instruction_tasks(request: Request) -> list[str]:
    """The user's instructions since the last decision, a task for each."""
    instructions: list[str] = []
    for message in request.messages:
        if message.role == "assistant":
            instructions.clear()
        elif message.name == "steering":
            instructions.append(message.text)
    return instructions


def _linked_tasks(request: Request, todo: Sequence[PlanStep]) -> list[tuple[str, int]]:
    """The tasks of a question that leads to other documents: its first step, then one for each document named."""
    hop = links.read_hop(question_of(request))
    if hop is None:
        return []
    if len(todo) > 1:
        return [(_task_text(todo[0]), todo[0].id)]
    targets = links.find_targets(hop, (message.text for message in request.messages if message.role == "tool"))
    return [(hop.second_question(group), todo[0].id) for group in split_evenly(targets, MAX_AGENTS_SENT)]


def split_evenly(names: Sequence[str], max_groups: int) -> list[Sequence[str]]:
    """`names` in at most `max_groups` groups of about equal size, in order."""
    size = -(-len(names) // max(1, max_groups)) or 1
    return [names[start : start + size] for start in range(0, len(names), size)]


def _step_of(call: ToolCall) -> int:
    step = call.arguments.get("step", 0)
    return step if isinstance(step, int) else 0


def _task_text(step: PlanStep) -> str:
    """A task for a step: the step's title and, on a separate line, the question that it is part of."""
    return step.title if not step.description else f"{step.title}\n{step.description}"


# agents


def task_and_question(request: Request) -> tuple[ParsedQuestion, ParsedQuestion]:
    """The task of an agent (its first line), and the question that it is part of."""
    tasks = request.user_texts("task")
    brief = last_message(request, "brief", BriefMessage) or BriefMessage()
    lines = [line.strip() for line in (tasks[0] if tasks else "").splitlines() if line.strip()]
    main_question = brief.question or " ".join(lines[1:]) or question_of(request)
    return analyze(lines[0] if lines else main_question), analyze(main_question or " ".join(lines))


def sources_seen(request: Request) -> ShownSources:
    """Everything that tools have shown in this request's history, and that an earlier agent was shown."""
    texts = (message.text for message in request.messages if message.role == "tool" or message.name == "seen")
    return _shown_sources(request, texts)


def sources_in_evidence(request: Request) -> ShownSources:
    """The evidence in a request."""
    return _shown_sources(request, request.user_texts("evidence"))


def _shown_sources(request: Request, texts: Iterable[str]) -> ShownSources:
    """The sources shown, with the computations and comparisons over them."""
    rarity = None if isinstance(request.rarity, msgspec.UnsetType) else request.rarity
    return ShownSources(texts, rarity, None if isinstance(request.closeness, msgspec.UnsetType) else request.closeness)


def research(request: Request) -> tuple[ToolCall, ...]:
    """Search, then open the best documents, each by its own call: a call shows a limited amount of text in total.

    Each document is opened by a call of its own, since a call shows only so much however many it opens.
    """
    earlier_calls = [call for message in request.messages for call in message.calls]
    tools = {tool.name for tool in request.tools}
    task, main_question = task_and_question(request)
    turn = 1 + sum(message.role == "assistant" for message in request.messages)
    if "search" in tools and not any(call.name == "search" for call in earlier_calls):
        search_queries = _named_queries(request) or queries(task.text, main_question.text)[:2]
        return tuple(_call(turn, number, "search", {"query": query}) for number, query in enumerate(search_queries, 1))
    if "open" in tools and not any(call.name == "open" for call in earlier_calls):
        shelf = sources_seen(request)
        calls: list[tuple[str, Mapping[str, object]]] = [
            ("open", {"documents": [book.id], "find": task.text})
            for book in _documents_to_open(task, main_question, shelf)
        ]
        if "calculate" in tools and _may_calculate(task, shelf):
            calls.append(("calculate", {"question": task.text}))
        if calls:
            return tuple(_call(turn, number, name, arguments) for number, (name, arguments) in enumerate(calls, 1))
    if "recall" in tools and "search" not in tools and not earlier_calls:
        return (_call(turn, 1, "recall", {"query": task.text}),)
    return ()


def _may_calculate(task: ParsedQuestion, shelf: ShownSources) -> bool:
    """True if a table row is among the shown passages, or nothing is shown: then there are few documents to search.

    Also if groups are compared, as a row may have no word of "which supplier got the most?", or fields of records are
    shown to a question that computes.
    """
    has_table_row = any(is_in_table(passage.text) for book in shelf.books for passage in book.passages)
    calculation = read_asking(task.text)
    computes = calculation.operations[0].operation != "cell"
    fields = computes and any(is_field(passage.text) for book in shelf.books for passage in book.passages)
    return has_table_row or fields or not shelf.books or bool(calculation.group_operation)


def _named_queries(request: Request) -> tuple[str, ...]:
    lines = (line for task in request.user_texts("task") for line in task.splitlines() if line.startswith(SEARCH_FOR))
    task_queries = (query.strip() for line in lines for query in line.removeprefix(SEARCH_FOR).split(";"))
    return tuple(query for query in task_queries if query)


def _call(turn: int, number: int, name: str, arguments: Mapping[str, object]) -> ToolCall:
    return ToolCall(id=f"turn-{turn}-{number}", name=name, arguments=dict(arguments))


def _documents_to_open(
    task: ParsedQuestion, main_question: ParsedQuestion, shelf: ShownSources
) -> list[SourcePassages]:
    """The documents that the task is about, else those found first."""
    subject = resolve_subject(task, shelf, main_question)
    if subject.is_absent:
        return []
    if subject.books:
        return list(subject.books[:MAX_NAMED_DOCUMENTS])
    return shelf.books[: MAX_NAMED_DOCUMENTS if part_named(task) else MAX_UNNAMED_OPENED]
