"""`Contracted` and `contract`: a module whose predictions meet their clauses, or are recovered."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from hornbook.contracts.contract import Contract
from hornbook.errors import DefinitionError
from hornbook.step.recover import Recover
from hornbook_dspy.compat import dspy
from hornbook_dspy.inputs import class_inputs
from hornbook_dspy.module import ModuleStep, inputs_of
from hornbook_dspy.outputs import refuse_unknown_outputs

__all__ = ["Contracted", "contract"]

M = TypeVar("M")

_SHOWN = 80


class Contracted(dspy.Module):
    """A module of DSPy under contract; it works sync and async, in Evaluate and in optimizers.

    Its inputs are those of the module, and its output is the prediction seen as a dict of its
    fields. A retry is another rollout of the same models, told in their system message what
    was wrong. The saved state is that of the module itself.

    Args:
        module: the module; it stays as it is, and is shared.
        contract: a path in `ensures` starts at a field of the prediction; an `output=` with
            named fields is checked field by field.
        recover: what to do about a violation; to halt, when left out. A fallback takes the
            inputs by name and gives a prediction or a mapping, and may itself be a module.
        name: the step's name in reports and records; the module's class.

    Raises:
        DefinitionError: `module` is none, or the contract does not fit it.
    """

    def __init__(
        self,
        module: Any,
        contract: Contract[Any],
        *,
        recover: Recover | None = None,
        name: str | None = None,
    ) -> None:
        dspy.Module.__init__(self)
        if not isinstance(module, dspy.Module):
            raise DefinitionError(
                f"Contracted({module!r:.80}): give an instance of dspy.Module; a function is "
                f"put under contract by hornbook.contract"
            )
        _refuse_no_contract(contract, recover)
        step = name or type(module).__name__
        refuse_unknown_outputs(contract, module, step)
        self.inner = module
        self._step = ModuleStep(step, inputs_of(module), contract=contract, recover=recover)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module, as a step."""
        return self._step.call(self.inner, _called, args, kwargs)

    async def aforward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module from async code, as a step."""
        return await self._step.acall(self.inner, _acalled, args, kwargs)

    def dump_state(self, *args: Any, **kwargs: Any) -> Mapping[str, Any]:
        """The state of the module itself."""
        return self.inner.dump_state(*args, **kwargs)

    def load_state(self, *args: Any, **kwargs: Any) -> None:
        """Load a state of the module itself, saved with its contract or without."""
        self.inner.load_state(*args, **kwargs)


def contract(
    contract: Contract[Any], *, recover: Recover | None = None, name: str | None = None
) -> Callable[[M], M]:
    """Hold a class of modules to a contract: all its instances, in either colour.

    The class stays what it is, so that its instances keep their predictors' names and their
    saved state. The inputs are the parameters of `forward`. An instance in place of a class
    gives a `Contracted`.

    Args:
        contract: as for `Contracted`.
        recover: as for `Contracted`.
        name: the step's name in reports and records; the class's.

    Raises:
        DefinitionError: it is no module, or the contract does not fit it.
    """
    _refuse_no_contract(contract, recover)

    def decorate(target: M) -> M:
        if isinstance(target, dspy.Module):
            return cast("M", Contracted(target, contract, recover=recover, name=name))
        if not isinstance(target, type) or not issubclass(target, dspy.Module):
            raise DefinitionError(
                f"contract {contract.name!r}: {target!r:.80} is no class of dspy.Module"
            )
        kind = cast("Any", target)
        inputs = class_inputs(kind)
        step = ModuleStep(name or kind.__name__, inputs, contract=contract, recover=recover)
        _put_around(kind, step)
        return target

    return decorate


def _put_around(kind: Any, step: ModuleStep) -> None:
    call, acall = kind.__call__, kind.acall

    @functools.wraps(call)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - it is put in its place
        return step.call(self, call, args, kwargs)

    @functools.wraps(acall)
    async def around(self: Any, *args: Any, **kwargs: Any) -> Any:
        return await step.acall(self, acall, args, kwargs)

    kind.__call__, kind.acall = __call__, around


def _called(module: Any, *args: Any, **kwargs: Any) -> Any:
    return module(*args, **kwargs)


async def _acalled(module: Any, *args: Any, **kwargs: Any) -> Any:
    return await module.acall(*args, **kwargs)


def _refuse_no_contract(contract: object, recover: object) -> None:
    if not isinstance(contract, Contract):
        raise DefinitionError(f"{type(contract).__name__} is no Contract: {_shown(contract)}")
    if recover is not None and not isinstance(recover, Recover):
        raise DefinitionError(
            f"recover is {_shown(recover)}, which is no Recover: write Recover(retry=1)"
        )


def _shown(given: object) -> str:
    text = repr(given)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
