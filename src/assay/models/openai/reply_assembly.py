"""Turns chunks into deltas at once, and into a whole reply at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.core.errors import ContextTooLong, ModelError, ModelFailed, Refused
from assay.core.messages import Delta, Reply, Request, StopReason, input_tokens
from assay.core.usage import Usage
from assay.models import failures
from assay.models.failures import ServiceFault
from assay.models.openai.wire import CallPart, ChatPart, CompletionChunk, CompletionUsage, Function
from assay.models.speech import ReplyText, SpeechPart, begin_calls
from assay.models.streams import PartialCall, PartialCalls, SurrogateJoiner, token_count, written_calls

_STOPS: dict[str, StopReason] = {
    **dict.fromkeys(("length", "max_tokens", "model_length", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(("content_filter", "safety", "sensitive"), "refused"),
}
"""Reasons in the words of OpenAI, Mistral, Z.ai and of gateways, in lower case; others are the end of a reply."""
_FAULTS = frozenset(("error", "abort", "insufficient_system_resource", "network_error"))
"""Reasons for which a reply is unfinished: those of OpenRouter, vLLM and SGLang, DeepSeek, Z.ai."""


class Assembler:
    """Takes the chunks of one stream in order.

    The joined output does not depend on how the text was cut. Reasoning that a model writes into its text is separated
    from the answer (see `ReplyText`), and a call is yielded as soon as its arguments are complete.
    """

    def __init__(self, *, opens_thinking: bool = False) -> None:
        """`opens_thinking`: see `ReplyText`."""
        self._speech = ReplyText(opens_thinking=opens_thinking)
        self._calls = PartialCalls()
        self._halves = {"content": SurrogateJoiner(), "thought": SurrogateJoiner(), "refusal": SurrogateJoiner()}
        self._refusal: list[str] = []
        self._finish, self._rejected_call = "", ""
        self._ended = False
        self._completion_usage: CompletionUsage | None = None

    @property
    def has_unopened_reasoning(self) -> bool:
        """True if the model marked the end of its reasoning but not its beginning."""
        return self._speech.lone

    @property
    def finished(self) -> bool:
        """True if the service gave a reason for stopping, or said that it stopped; else the stream was cut."""
        return bool(self._finish) or (self._ended and bool(self._speech.text or self._calls.calls))

    def mark_done(self) -> None:
        """Note that the service said, in whatever form, that its stream is over."""
        self._ended = True

    def feed(self, chunk: CompletionChunk) -> Iterator[Delta]:
        """Yield what this chunk adds."""
        self._completion_usage = chunk.token_usage or self._completion_usage
        for choice in (chunk.choices or ())[:1]:
            part = choice.delta or choice.message
            if part is not None:
                yield from self._part(part)
            self._finish = (choice.finish_reason or self._finish).lower()

    def recover_rejected_call(self, fault: ServiceFault) -> bool:
        """Take text that a model wrote where the service expected a call; False if it wrote none."""
        self._rejected_call = fault.rejected_call_text
        self._ended = True
        return bool(self._rejected_call or self._speech.text or self._calls.calls)

    def end(self) -> Iterator[Delta]:
        """Yield the text held back until now: the stream is over."""
        calls = written_calls(self._rejected_call)
        if not calls:
            yield from self._add_calls(self._speech.feed(self._rejected_call))
        yield from self._add_calls(self._speech.end(calls=bool(calls or self._calls.calls)))
        yield from self._add_calls(calls)
        yield from self._calls.take_complete(final=True)

    def reply(self, request: Request, model: str) -> Reply:
        """Return the whole reply; call this after `end`.

        Raises:
            ModelError: the stream was cut before the service said why it stopped, or a fault stopped it.
        """
        if not self.finished:
            raise ModelError("the stream was cut off")
        if self._finish in _FAULTS:
            raise ModelError(f"the service stopped with an error: {self._finish}")
        calls = self._calls.tool_calls()
        refusal = "".join(self._refusal)
        stop: StopReason = "refused" if refusal else _STOPS.get(self._finish, "calls" if calls else "end")
        text = self._speech.text or refusal
        return Reply(
            text=text,
            calls=calls,
            thinking=self._speech.thinking,
            usage=self._usage(request, text),
            stop=stop,
            model=model,
        )

    def _part(self, part: ChatPart) -> Iterator[Delta]:
        if thought := part.reasoning_text:
            yield from self._add_calls(self._speech.add_reasoning(self._halves["thought"].feed(thought)))
        if part.refusal:
            self._refusal.append(self._halves["refusal"].feed(part.refusal))
        if text := part.text:
            yield from self._add_calls(self._speech.feed(self._halves["content"].feed(text)))
        for piece in part.tool_calls or ():
            function = piece.function or Function()
            call = self._call(piece)
            yield call.add(call.id or piece.id or "", function.name or "", function.text)
        if self._calls.calls:
            yield from self._calls.take_complete(final=False)

    # calls

    def _call(self, part: CallPart) -> PartialCall:
        """The call that a part belongs to.

        It is the one with its index and id, else the last one with its index, or without an index the last of all. A
        part with a name begins another call if it has another id (some services number every call 0), or neither index
        nor id. Another id without a name means nothing: some services invent one for each part.
        """
        function = part.function or Function()
        alike = [call for call in reversed(self._calls.calls) if part.index in (None, call.key)]
        same = next((call for call in alike if part.id and part.id == call.id), None)
        if same is not None or (alike and not function.name):
            return same or alike[0]
        has_index = alike and part.index is not None and not part.id
        if has_index and not (alike[0].is_complete() and function.text.strip()):
            return alike[0]
        return self._calls.begin(part.index)

    def _add_calls(self, parts: Iterable[SpeechPart]) -> Iterator[Delta]:
        return begin_calls(parts, self._calls)

    # counts

    def _usage(self, request: Request, text: str) -> Usage:
        """The service's token counts; without them, a cautious estimate."""
        usage = self._completion_usage or CompletionUsage()
        prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
        inputs, outputs = usage.prompt_tokens, usage.completion_tokens
        return Usage(
            model_calls=1,
            input_tokens=token_count(inputs) or input_tokens(request),
            output_tokens=self._calls.estimate(text, self._speech.thinking)
            if outputs is None or outputs < 0
            else outputs,
            cached_tokens=token_count(prompt.cached_tokens) if prompt else 0,
            cache_write_tokens=token_count(prompt.cache_write_tokens) if prompt else 0,
            reasoning_tokens=token_count(completion.reasoning_tokens) if completion else 0,
        )


# Failures of chat completions that arrive inside a stream.


def stream_error(service: str, fault: ServiceFault | str) -> ModelError | ModelFailed:
    """The error for a fault inside a stream."""
    service_fault = ServiceFault(message=fault) if isinstance(fault, str) else fault
    words = failures.shorten_message(service_fault.message_text)
    if failures.is_context_too_long(service_fault.text):
        return ContextTooLong(f"{service}: {words}")
    if failures.is_content_refusal(service_fault.text):
        return Refused(f"it refused to answer: {words}")
    status = service_fault.code if isinstance(service_fault.code, int) else service_fault.status_code or 500
    if not_running := failures.not_running_error(service, f"{service} broke off: {words}", service_fault.message or ""):
        return not_running
    return ModelError(
        f"{service} broke off: {words}", transient=service_fault.is_rejected_call or failures.is_temporary(status)
    )
