"""`HornbookLM`: a language model whose calls are recorded, budgeted, and given rules."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from hornbook.errors import HornbookError
from hornbook.hosting import ModelSteps
from hornbook_dspy.asked import Asked
from hornbook_dspy.carried import Carried, carried, joined, refuse_no_model
from hornbook_dspy.compat import Messages, capability, dspy, relayed
from hornbook_dspy.model import PLAIN, Answer, Watch
from hornbook_dspy.react import final_of
from hornbook_dspy.scope import Scope

__all__ = ["HornbookLM", "escaping", "with_hornbook"]

_OWN = "inner"


class HornbookLM(dspy.BaseLM):
    """A language model of DSPy with Hornbook around each of its calls.

    Each call is one step of kind `model` and one call of the budget; what DSPy answers from
    its cache counts no tokens. Learned rules go into the system message, so that the cache,
    the history and a fallback from one adapter to another all have them. In everything else
    it is the model that it was made from: its history, its settings, its saved state.

    Args:
        lm: the model.

    Raises:
        DefinitionError: it is no model; the message says what to write.
    """

    inner: Any
    """The model itself."""

    def __init__(self, lm: Any) -> None:
        refuse_no_model(lm)
        self.__dict__.update({_OWN: lm.inner if isinstance(lm, HornbookLM) else lm})

    def __call__(
        self, prompt: Any = None, *, messages: Messages | None = None, **kwargs: Any
    ) -> Any:
        """Ask the model, as a step."""
        held = carried()
        asked = self._asked(held, prompt, messages, kwargs)

        def ask(changed: Asked) -> Answer:
            watch = Watch()
            with watch.around(), relayed(self, messages, self.inner, changed.messages):
                given = self.inner(changed.prompt, messages=changed.messages, **changed.kwargs)
            return watch.answer(given, changed)

        with escaping(held.scope), joined(held):
            return _steps(held).call(asked, ask).given

    async def acall(
        self, prompt: Any = None, *, messages: Messages | None = None, **kwargs: Any
    ) -> Any:
        """Ask the model from async code, as a step."""
        held = carried()
        asked = self._asked(held, prompt, messages, kwargs)

        async def ask(changed: Asked) -> Answer:
            watch = Watch()
            with watch.around(), relayed(self, messages, self.inner, changed.messages):
                given = await self.inner.acall(
                    changed.prompt, messages=changed.messages, **changed.kwargs
                )
            return watch.answer(given, changed)

        with escaping(held.scope), joined(held):
            return (await _steps(held).acall(asked, ask)).given

    def copy(self, **kwargs: Any) -> "HornbookLM":
        """A copy of the model with other settings, with Hornbook around it."""
        return HornbookLM(self.inner.copy(**kwargs))

    def dump_state(self) -> dict[str, Any]:
        """The state of the model itself, so that a saved program loads without Hornbook."""
        return self.inner.dump_state()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The model's own, which is no call of a program and so no step."""
        return self.inner.forward(*args, **kwargs)

    async def aforward(self, *args: Any, **kwargs: Any) -> Any:
        """The model's own, which is no call of a program and so no step."""
        return await self.inner.aforward(*args, **kwargs)

    def inspect_history(self, *args: Any, **kwargs: Any) -> None:
        """Show the model's last calls."""
        self.inner.inspect_history(*args, **kwargs)

    def update_history(self, entry: Any) -> None:
        """Add to the model's history."""
        self.inner.update_history(entry)

    @property
    def supports_function_calling(self) -> bool:
        """Whether the model takes tools."""
        return capability("supports_function_calling", self, self.inner)

    @property
    def supports_reasoning(self) -> bool:
        """Whether the model reasons by itself."""
        return capability("supports_reasoning", self, self.inner)

    @property
    def supports_response_schema(self) -> bool:
        """Whether the model holds to a schema."""
        return capability("supports_response_schema", self, self.inner)

    @property
    def supported_params(self) -> set[str]:
        """The parameters that the model takes."""
        return capability("supported_params", self, self.inner)

    @property
    def supports_decision_requests(self) -> bool:
        """Whether it is one of DSPy's decision clients."""
        return bool(self.inner.supports_decision_requests)

    def __getattr__(self, name: str) -> Any:
        # Copies and pickles ask before there is anything to ask about.
        if name.startswith("__") or _OWN not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.inner, name, value)

    def __repr__(self) -> str:
        return f"HornbookLM({self.inner.model!r})"

    def _asked(
        self, held: Carried, prompt: Any, messages: Messages | None, kwargs: dict[str, Any]
    ) -> Asked:
        if prompt is None and isinstance(kwargs.get("request"), dspy.lm15.Request):
            prompt = kwargs.pop("request")
        scope, final = held.scope, None
        if scope is not None and scope.agent is not None:
            final = final_of(scope.module, kwargs, needed=scope.agent.needs_final)
        asked = Asked(
            prompt=prompt,
            messages=messages,
            kwargs=kwargs,
            defaults=self.inner.kwargs,
            scope=scope,
            final=final,
            request="" if scope is None else scope.request,
            results=() if scope is None else scope.results,
        )
        return asked if held.again is None else asked.again(held.again)


def with_hornbook(lm: Any) -> Any:
    """A model with Hornbook around it, unless it has that or is no model at all."""
    if isinstance(lm, HornbookLM) or not isinstance(lm, dspy.BaseLM):
        return lm
    return HornbookLM(lm)


@contextmanager
def escaping(scope: Scope | None) -> Generator[None]:
    """Let our own errors out of what would take them for an observation."""
    if scope is None:
        yield
        return
    scope.refuse_halted()
    try:
        yield
    except HornbookError as error:
        raise scope.halt(error) from error


def _steps(held: Carried) -> ModelSteps[Asked, Answer]:
    models = held.models or PLAIN
    agent = None if held.scope is None else held.scope.agent
    return models if agent is None else agent.models(models)
