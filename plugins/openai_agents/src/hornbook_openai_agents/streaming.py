"""Responses as streams of events: what the SDK reads a response from when it streams."""

from collections.abc import Iterator
from typing import Any

from agents import ModelResponse, Usage
from agents.items import TResponseStreamEvent
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseTextDeltaEvent,
    ResponseUsage,
)
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails

from hornbook_openai_agents.compat import counted_requests

__all__ = ["completed", "events_of", "response_of", "with_usage"]


def events_of(response: ModelResponse, model: str = "hornbook") -> Iterator[TResponseStreamEvent]:
    """The events of a response that was never streamed: its texts, its items, its end."""
    number = 0
    for index, item in enumerate(response.output):
        if isinstance(item, ResponseOutputMessage):
            for position, part in enumerate(item.content):
                yield ResponseTextDeltaEvent(
                    type="response.output_text.delta",
                    item_id=item.id,
                    output_index=index,
                    content_index=position,
                    delta=getattr(part, "text", ""),
                    logprobs=[],
                    sequence_number=number,
                )
                number += 1
        yield ResponseOutputItemDoneEvent(
            type="response.output_item.done",
            item=item,
            output_index=index,
            sequence_number=number,
        )
        number += 1
    yield ResponseCompletedEvent(
        type="response.completed", response=_whole(response, model), sequence_number=number
    )


def completed(event: TResponseStreamEvent) -> Response | None:
    """The whole response, where an event brings it."""
    return event.response if isinstance(event, ResponseCompletedEvent) else None


def response_of(response: Response, items: list[Any]) -> ModelResponse:
    """A streamed response as one that was not; `items` are those that came one by one."""
    counted = response.usage
    usage = Usage()
    if counted is not None:
        usage = Usage(
            requests=1,
            input_tokens=counted.input_tokens,
            output_tokens=counted.output_tokens,
            total_tokens=counted.total_tokens,
            input_tokens_details=counted.input_tokens_details,
            output_tokens_details=counted.output_tokens_details,
        )
    return ModelResponse(
        output=response.output or list(items), usage=usage, response_id=response.id
    )


def with_usage(events: list[TResponseStreamEvent], usage: Usage) -> Iterator[TResponseStreamEvent]:
    """The events of an accepted response, which also counts what rejected ones used."""
    for event in events:
        if isinstance(event, ResponseCompletedEvent):
            whole = event.response.model_copy(update={"usage": _counted(usage)})
            yield event.model_copy(update={"response": whole})
        else:
            yield event


def _whole(response: ModelResponse, model: str) -> Response:
    whole = Response(
        id="",
        created_at=0,
        model=model,
        object="response",
        output=response.output,
        tool_choice="auto",
        tools=[],
        parallel_tool_calls=True,
        usage=_counted(response.usage) if response.usage.requests else None,
    )
    # There may be none, though the type of the events has no place for that.
    object.__setattr__(whole, "id", response.response_id)
    return whole


def _counted(usage: Usage) -> ResponseUsage:
    counted = ResponseUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        input_tokens_details=InputTokensDetails.model_validate(
            usage.input_tokens_details.model_dump()
        ),
        output_tokens_details=OutputTokensDetails.model_validate(
            usage.output_tokens_details.model_dump()
        ),
    )
    counted_requests(counted, usage.requests)
    return counted
