"""The report of a run with a schema: its fields, one per line with citations, and what could not be found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from assay.agents.findings import Finding
from assay.agents.findings_request import evidence_text
from assay.agents.history import message_room, output_cap, total_tokens
from assay.agents.replies import first_call, read_calls, read_ids, retry_request
from assay.core.clean import escape_markdown
from assay.core.errors import ContextTooLong, LimitReached, ModelFailed
from assay.core.events import FieldsFilled, ReportDelta, ReportStarted
from assay.core.lazy import regex
from assay.core.messages import Reply, Request, ToolCall, ToolDefinition, object_schema
from assay.core.phrases import missing_heading, stop_reason_phrase
from assay.core.sources import Passage, ordinal_of
from assay.core.text import words_of_name
from assay.core.translation import gettext as _
from assay.core.translation import label_text
from assay.core.typed_answers import Field
from assay.phases.case import Case, Draft, Research, user_message
from assay.phases.fields.schema import FieldGroup, FieldSlot, Form, Leaf, listed_fields, read_schema
from assay.phases.fields.values import FieldAnswer, field_label, field_line, supported_field
from assay.phases.write import add_date, require_search, shortcoming_notes
from assay.run.run import Run
from assay.verify.proofreader import make_proofreader

# Filling fields: a model is asked for a few at a time, from as many passages as fit; code checks its values.

# The control tool with which a model fills fields: built from a schema, for as many fields as fit.

FILL_TOOL = "fill_fields"
_KEY = regex(r"[A-Za-z0-9_.-]{1,64}")
"""A key of a tool's arguments that every service takes."""
FIELDS_PER_CALL = 25
"""The most fields in one call."""
_FIELDS_NOTE = (
    "Say for each field what the passages say. `value` is null, and `reason` says why, where no passage says it; else "
    "`passages` are the ids of the passages which do."
)


def fill_tool(part: FieldGroup, slots: Sequence[FieldSlot]) -> ToolDefinition:
    """The tool that fills `slots` of `part`."""
    fields = dict(_field_property(number, slot) for number, slot in enumerate(slots, 1))
    subject_schema = {
        "type": "string",
        "description": "What the fields are about, in a few words, as the passages call it.",
    }
    body = object_schema({"subject": subject_schema, "fields": _object_schema(fields)})
    if part.is_list:
        body = object_schema({"items": {"type": "array", "items": body, "description": part.description}})
    return ToolDefinition(
        name=FILL_TOOL,
        description=_tool_description(part),
        parameters={key: body[key] for key in sorted(body)},
        control=True,
    )


def _tool_description(part: FieldGroup) -> str:
    title = f"{part.name}: {part.description}".rstrip(": ")
    if part.is_list:
        return f"Fill one item for each of {title!r}. {_FIELDS_NOTE}"
    return f"Fill the fields of {title!r}. {_FIELDS_NOTE}" if part.name else f"Fill the fields. {_FIELDS_NOTE}"


def _object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _field_property(number: int, slot: FieldSlot) -> tuple[str, dict[str, Any]]:
    """A field's key and schema; its name is the key or, where a service refuses it as one, the schema's title."""
    key, schema = _field_key(number, slot), _field_schema(slot)
    if key == slot.name:
        return key, schema
    return key, schema | {"title": slot.name, "description": f"{slot.name}: {slot.description}".rstrip(": ")}


def _field_key(number: int, slot: FieldSlot) -> str:
    return slot.name if _KEY.fullmatch(slot.name) else f"field_{number}"


def _field_schema(slot: FieldSlot) -> dict[str, Any]:
    value = {"type": "array", "items": _value_schema(slot.leaf)} if slot.is_list else _value_schema(slot.leaf)
    ids = {"type": "array", "items": {"type": "string"}}
    annotation = {"description": slot.description} if slot.description else {}
    return _object_schema({"value": value, "passages": ids, "reason": {"type": "string"}}) | annotation


def _value_schema(leaf: Leaf) -> dict[str, Any]:
    definition: dict[str, Any] = {"type": leaf.type}
    if leaf.enum:
        definition["enum"] = list(leaf.enum)
    if leaf.format:
        definition["format"] = leaf.format
    return definition | leaf.bounds


MAX_RECALLED_PASSAGES = 6
"""The most passages looked up for a field in addition to those that the findings cite."""
HEADER_PASSAGES = 25
"""How many passages at the beginning of a document may name it."""
MAX_ITEMS = 200
NO_CALL = "Your reply could not be read. Call fill_fields once, with every field, and nothing else."


class Filler:
    """Fills the fields of one form, part by part; `failure` says why the model can no longer be used."""

    def __init__(self, run: Run, case: Case, findings: Sequence[Finding]) -> None:
        self._run, self._case = run, case
        self._cited_passages = list({p.id: p for finding in findings for p in finding.passages}.values())
        self.failure = ""

    async def fill(self, form: Form) -> tuple[Field, ...]:
        """Every field of the form, in order."""
        fields: list[Field] = []
        for part in form.parts:
            fields += await (self._fill_items(part) if part.is_list else self._fill_object(part))
        order = {name: index for index, name in enumerate(form.order)}
        return tuple(sorted(fields, key=lambda field: order[str(field.path[0])]))

    async def _fill_object(self, part: FieldGroup) -> list[Field]:
        """The fields of an object; each batch of them has its own passages."""
        fields: list[Field] = []
        for start in range(0, len(part.slots), FIELDS_PER_CALL):
            slots = part.slots[start : start + FIELDS_PER_CALL]
            arguments = await self._ask_for_values(part, slots)
            subject, answers = _subject_and_answers(arguments, slots)
            parent_path = (part.name,) if part.name else ()
            fields += [
                self._checked_field((*parent_path, slot.name), slot, answers[slot.name], subject) for slot in slots
            ]
        return fields

    async def _fill_items(self, part: FieldGroup) -> list[Field]:
        """The items of a list of objects, without those in which no field could be filled."""
        arguments = await self._ask_for_values(part, part.slots)
        items = arguments.get("items")
        item_fields: list[list[Field]] = []
        for item in items[:MAX_ITEMS] if isinstance(items, list) else []:
            subject, answers = _subject_and_answers(item if isinstance(item, dict) else {}, part.slots)
            index = len(item_fields)
            fields = [self._checked_field((part.name, index, s.name), s, answers[s.name], subject) for s in part.slots]
            values = [field.value for field in fields]
            known_values = [[field.value for field in earlier] for earlier in item_fields]
            if any(value is not None for value in values) and values not in known_values:
                item_fields.append(fields)
        nothing = Field(path=(part.name,), reason=self.failure or "no passage says it")
        return [field for fields in item_fields for field in fields] or [nothing]

    def _checked_field(self, path: tuple[str | int, ...], slot: FieldSlot, answer: FieldAnswer, subject: str) -> Field:
        if self.failure and answer.value is None:
            return Field(path=path, reason=self.failure)
        return supported_field(path, slot, answer, subject, self._case.ledger)

    # asking

    async def _ask_for_values(self, part: FieldGroup, slots: Sequence[FieldSlot]) -> Mapping[str, Any]:
        """The model's values for the fields; empty if it gave none."""
        tool = fill_tool(part, slots)
        try:
            return await self._ask_with_repair(tool, part, slots)
        except (LimitReached, ModelFailed) as failed:
            self.failure = label_text(_("no model filled it"), stop_reason_phrase(failed.reason))
            self._run.warn(_("fields were left empty: {why}").format(why=stop_reason_phrase(failed.reason)))
            return {}

    async def _ask_with_repair(
        self, tool: ToolDefinition, part: FieldGroup, slots: Sequence[FieldSlot]
    ) -> Mapping[str, Any]:
        request = self._request(tool, part, slots, 1)
        try:
            reply = await self._run.ask("complex", request)
        except ContextTooLong:
            request = self._request(tool, part, slots, 2)
            reply = await self._run.ask("complex", request)
        call = _usable_call(reply) or _usable_call(
            await self._run.ask("complex", retry_request(request, reply, NO_CALL))
        )
        if call is None:
            self.failure = _("the model did not fill it")
            self._run.warn(_("fields were left empty: the model did not fill them"))
        return call.arguments if call else {}

    def _request(self, tool: ToolDefinition, part: FieldGroup, slots: Sequence[FieldSlot], less: int) -> Request:
        """The request. Its passages take a part of the window's room, a smaller one (`less`) if the first was too
        much.
        """
        profile, system = self._run.profile("complex"), self._run.prompt("assay.phases", "fill")
        form = Form(title="", parts=(msgspec.structs.replace(part, slots=tuple(slots)),), order=())
        fields_message = user_message("fields", listed_fields(form))
        messages = [
            *(message for message in self._case.question_messages() if message.name != "fields"),
            fields_message,
        ]
        tokens = output_cap(profile, self._run.rules.field_tokens)
        free = (message_room(profile, system, (tool,), tokens) - total_tokens(messages)) // less
        return Request(
            task="fill",
            system=system,
            messages=(user_message("evidence", self._evidence(slots, free)), *messages),
            tools=(tool,),
            tool_choice=FILL_TOOL,
            max_tokens=tokens,
        )

    def _evidence(self, slots: Sequence[FieldSlot], tokens: int) -> str:
        """The passages for these fields: those that the findings cite, and others with the fields' words."""
        passages: dict[str, Passage] = {passage.id: passage for passage in self._cited_passages}
        for slot in slots:
            query = f"{' '.join(words_of_name(slot.name))} {slot.description}"
            passages.update((passage.id, passage) for passage in self._case.ledger.recall(query, MAX_RECALLED_PASSAGES))
        passages |= self._header_passages(passages.values())
        selected = list(passages.values())
        while (
            len(selected) > 1
            and total_tokens([user_message("evidence", evidence_text(selected, self._case.ledger))]) > tokens
        ):
            selected = selected[: len(selected) * 3 // 4]
        return evidence_text(selected, self._case.ledger)

    def _header_passages(self, passages: Iterable[Passage]) -> dict[str, Passage]:
        """The first passages of the same sources: there a document names itself."""
        sources = dict.fromkeys(passage.source for passage in passages)
        source_passages = (p for id in sources for p in self._case.ledger.passages(id))
        return {p.id: p for p in source_passages if ordinal_of(p.id) < HEADER_PASSAGES}


def _usable_call(reply: Reply) -> ToolCall | None:
    """The call in a reply, if it has arguments."""
    call = first_call(read_calls(reply, [FILL_TOOL]), FILL_TOOL)
    return call if call is not None and not call.malformed and call.arguments else None


def _subject_and_answers(
    arguments: Mapping[str, Any], slots: Sequence[FieldSlot]
) -> tuple[str, dict[str, FieldAnswer]]:
    """The subject, and the values for the fields; a model may omit the object around the fields."""
    nested_fields = arguments.get("fields")
    fields = nested_fields if isinstance(nested_fields, dict) else arguments
    subject = arguments.get("subject")
    return subject if isinstance(subject, str) else "", {
        slot.name: _read_answer(fields.get(slot.name, fields.get(_field_key(number, slot))))
        for number, slot in enumerate(slots, 1)
    }


def _read_answer(value: object) -> FieldAnswer:
    if not isinstance(value, dict):
        return FieldAnswer(value=value)
    reason = value.get("reason")
    return FieldAnswer(
        value=value.get("value"),
        passages=read_ids(value.get("passages")),
        reason=reason if isinstance(reason, str) else "",
    )


async def fill_fields(run: Run, case: Case, research: Research) -> Draft:
    """Fill the fields of the brief's schema from the findings; code makes the report from them.

    Raises:
        NothingSearched: no field could be filled, because nothing was searched.
    """
    form = read_schema(run.brief.schema)
    async with run.with_gate("write").phase("write") as phase:
        phase.emit(ReportStarted(title=form.title or research.plan.title))
        filler = Filler(phase, case, research.findings)
        fields = await filler.fill(form)
        has_sources = any(field.sentence for field in fields)
        if not has_sources:
            await require_search(phase, case)
        phase.emit(FieldsFilled(fields=fields))
        text = add_date(fields_text(fields), case)
        phase.emit(ReportDelta(text=text))
    return Draft(
        text=text,
        limits=shortcoming_notes(research),
        sourced=has_sources,
        written=not filler.failure,
        composed=True,
        proofreader=make_proofreader(run, case.ledger, case.reader, added_checks=case.added_checks),
    )


def fields_text(fields: Sequence[Field]) -> str:
    """The fields as the report's text, with passage markers."""
    filled_lines = list(dict.fromkeys(field_line(field) for field in fields if field.sentence))
    empty = [
        f"- {label_text(_field_name(field), escape_markdown(field.reason))}" for field in fields if not field.sentence
    ]
    missing_section = f"## {missing_heading()}\n\n" + "\n".join(empty) if empty else ""
    return "\n\n".join(part for part in ("\n".join(filled_lines), missing_section) if part)


def _field_name(field: Field) -> str:
    names = [field_label(part) if isinstance(part, str) else str(part + 1) for part in field.path]
    return escape_markdown(" ".join([names[0], *(name.lower() for name in names[1:])]))
