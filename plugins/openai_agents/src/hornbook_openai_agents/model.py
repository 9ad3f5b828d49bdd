"""The model wrap: what stands around each call of a model, and the provider that puts it there."""

import asyncio
import copy
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, cast

from agents import (
    AgentOutputSchemaBase,
    Handoff,
    Model,
    ModelProvider,
    ModelResponse,
    ModelSettings,
    ModelTracing,
    RunConfig,
    Tool,
    Usage,
)
from agents.exceptions import ModelBehaviorError
from agents.items import TResponseInputItem, TResponseStreamEvent
from agents.retry import ModelRetryAdvice, ModelRetryAdviceRequest, ModelRetryNormalizedError
from openai.types.responses import ResponseOutputItemDoneEvent
from openai.types.responses.response_prompt_param import ResponsePromptParam

from hornbook.errors import DefinitionError, HornbookError
from hornbook.step.hookset import slot
from hornbook_openai_agents.asking import Answer, ModelRequest
from hornbook_openai_agents.attachment import PLAIN, Attachment, around, asked_by
from hornbook_openai_agents.conversation import here
from hornbook_openai_agents.streaming import completed, events_of, response_of, with_usage

__all__ = ["HornbookModel", "HornbookProvider", "covered"]


class HornbookModel(Model):
    """A model with a step around each of its calls: rules, contract, budget and record.

    Args:
        inner: the model itself.
        attachment: what `run_config(...)` put together; left out, that of the run.
    """

    def __init__(self, inner: Model, attachment: Attachment | None = None) -> None:
        if not isinstance(cast("object", inner), Model):
            raise DefinitionError(
                f"HornbookModel() takes a Model, not {inner!r:.80}: a model's name is resolved "
                f"by the provider that run_config() wraps"
            )
        self.inner = inner
        self._attachment = attachment

    def __getattr__(self, name: str) -> Any:
        # What the SDK asks of the models it knows, and what users set on theirs.
        return _seen_through(self, name)

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002 - the SDK's name
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: ResponsePromptParam | None,
    ) -> ModelResponse:
        """Call the model."""
        attachment, agent = self._asked_by()
        request = ModelRequest(
            system=system_instructions,
            given=input,
            settings=model_settings,
            tools=tools,
            schema=output_schema,
            handoffs=handoffs,
            tracing=tracing,
            previous_response_id=previous_response_id,
            conversation_id=conversation_id,
            prompt=prompt,
            agent=agent,
            conversation=here(),
        )
        return await _Calling(self.inner, attachment, request).response()

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002 - the SDK's name
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: ResponsePromptParam | None,
    ) -> AsyncIterator[TResponseStreamEvent]:
        """Stream the model; where its answer can be rejected, it is held back until accepted."""
        attachment, agent = self._asked_by()
        request = ModelRequest(
            system=system_instructions,
            given=input,
            settings=model_settings,
            tools=tools,
            schema=output_schema,
            handoffs=handoffs,
            tracing=tracing,
            previous_response_id=previous_response_id,
            conversation_id=conversation_id,
            prompt=prompt,
            agent=agent,
            conversation=here(),
        )
        async with aclosing(_Calling(self.inner, attachment, request).events()) as events:
            async for event in events:
                yield event

    def get_retry_advice(self, request: ModelRetryAdviceRequest) -> ModelRetryAdvice | None:
        """What the model advises; an error of Hornbook's own is never a reason to ask again."""
        if isinstance(request.error, HornbookError):
            abort = ModelRetryNormalizedError(is_abort=True)
            return ModelRetryAdvice(suggested=False, reason="hornbook", normalized=abort)
        return self.inner.get_retry_advice(request)

    async def close(self) -> None:
        """Close the model."""
        await self.inner.close()

    async def _cleanup_on_run_end(self, owner: object) -> None:
        await self.inner._cleanup_on_run_end(owner)

    def _asked_by(self) -> tuple[Attachment, str | None]:
        attachment, agent = asked_by()
        return self._attachment or attachment or around() or PLAIN, agent


class HornbookProvider(ModelProvider):
    """A provider whose models have the step around their calls, whatever name they go by.

    Args:
        inner: the provider itself.
        attachment: what `run_config(...)` put together; left out, that of the run around.
    """

    def __init__(self, inner: ModelProvider, attachment: Attachment | None = None) -> None:
        self.inner = inner
        self.attachment = attachment

    def __getattr__(self, name: str) -> Any:
        return _seen_through(self, name)

    def get_model(self, model_name: str | None) -> Model:
        """The model of this name, wrapped."""
        model = self.inner.get_model(model_name)
        if isinstance(model, HornbookModel):
            return model
        return HornbookModel(model, self.attachment)

    async def aclose(self) -> None:
        """Close the provider."""
        await self.inner.aclose()


def covered(config: RunConfig) -> RunConfig:
    """A copy of a config of the user's own, for a run inside of one that has Hornbook."""
    if isinstance(config.model_provider, HornbookProvider):
        return config
    changed = copy.copy(config)
    changed.model_provider = HornbookProvider(config.model_provider)
    if isinstance(config.model, Model) and not isinstance(config.model, HornbookModel):
        changed.model = HornbookModel(config.model)
    return changed


def _seen_through(wrap: Any, name: str) -> Any:
    # Copying asks for special methods, before there is anything inside.
    if name == "inner" or name.startswith("__"):
        raise AttributeError(name)
    return getattr(wrap.inner, name)


class _Calling:
    """One call of a model, with its attempts and what they used."""

    def __init__(self, inner: Model, attachment: Attachment, request: ModelRequest) -> None:
        self._inner = inner
        self._attachment = attachment
        self._models = attachment.models
        self._request = request
        self._used = Usage()
        self._last: ModelResponse | None = None
        self._attempts = 0
        managed = request.conversation_id is not None or request.previous_response_id is not None
        request.conversation.listen(request.items, partial=managed)

    async def response(self) -> ModelResponse:
        """The response of an attempt that was accepted, or what stands in its place."""
        answer = await self._step(self._attempt)
        if self._attempts == 1 and answer.response is self._last:
            return answer.response
        # A copy: what the attempt itself used stands in the record.
        return replace(answer.response, usage=self._used)

    async def events(self) -> AsyncGenerator[TResponseStreamEvent]:
        """The same as a stream."""
        queue: asyncio.Queue[TResponseStreamEvent | None] = asyncio.Queue()
        task = asyncio.create_task(self._fill(queue))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _step(self, attempt: Callable[[ModelRequest], Awaitable[Answer]]) -> Answer:
        request = self._request
        with self._attachment.recording():
            answer = await self._models.acall(request, attempt)
        request.conversation.offered(answer.response.output, request.offered, request.agent)
        return answer

    async def _attempt(self, request: ModelRequest) -> Answer:
        response = await self._inner.get_response(
            request.system,
            request.given,
            request.settings,
            request.tools,
            request.schema,
            request.handoffs,
            request.tracing,
            previous_response_id=request.previous_response_id,
            conversation_id=request.conversation_id,
            prompt=request.prompt,
        )
        return self._tried(response, request)

    def _tried(self, response: ModelResponse, request: ModelRequest) -> Answer:
        self._attempts += 1
        self._last = response
        self._used.add(response.usage)
        named: object = getattr(self._inner, "model", None)
        return Answer.of(response, request, named if isinstance(named, str) else None)

    async def _fill(self, queue: "asyncio.Queue[TResponseStreamEvent | None]") -> None:
        """Put the events into the queue: as they come, or when their answer is accepted."""
        held: list[TResponseStreamEvent] = []
        live = not self._models.holds_back and slot.get().quiet
        try:
            answer = await self._step(partial(self._streamed, queue, held, live))
            if answer.response is not self._last:
                held = list(events_of(replace(answer.response, usage=self._used)))
            elif self._attempts > 1:
                held = list(with_usage(held, self._used))
            for event in held:
                queue.put_nowait(event)
        finally:
            queue.put_nowait(None)

    async def _streamed(
        self,
        queue: "asyncio.Queue[TResponseStreamEvent | None]",
        held: list[TResponseStreamEvent],
        live: bool,
        request: ModelRequest,
    ) -> Answer:
        held.clear()
        items: list[Any] = []
        whole = None
        async for event in self._inner.stream_response(
            request.system,
            request.given,
            request.settings,
            request.tools,
            request.schema,
            request.handoffs,
            request.tracing,
            previous_response_id=request.previous_response_id,
            conversation_id=request.conversation_id,
            prompt=request.prompt,
        ):
            whole = completed(event) or whole
            if isinstance(event, ResponseOutputItemDoneEvent):
                items.append(event.item)
            if live:
                queue.put_nowait(event)
            else:
                held.append(event)
        if whole is None:
            # The SDK says by itself what a stream that breaks off means.
            for event in held:
                queue.put_nowait(event)
            raise ModelBehaviorError("Model did not produce a final response!")
        return self._tried(response_of(whole, items), request)
