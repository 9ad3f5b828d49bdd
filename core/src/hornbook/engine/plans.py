"""What is worked out once for each primitive in a run.

Its operation under the controls, how it is called, and what of it goes into cache keys.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from hornbook.contracts.contract import Contract
from hornbook.engine.controls import Controls
from hornbook.engine.work import Work
from hornbook.step.colour import is_coroutine
from hornbook.step.operation import Operation
from hornbook.step.recover import Recover

__all__ = ["Plan", "controlled", "is_judged"]

_ALL_ON = Controls()
_NO_META = next(field.default for field in fields(Operation) if field.name == "meta")


class Plan:
    """How a primitive is run here."""

    __slots__ = (
        "asynchronous",
        "at_once",
        "cached",
        "contract",
        "decide",
        "function",
        "judged",
        "meta",
        "number",
        "operation",
        "quick",
        "read",
        "work",
    )

    def __init__(
        self, work: Work, controls: Controls, *, timed: bool, cached: bool, numbers: dict[Any, int]
    ) -> None:
        operation = controlled(work.operation, controls)
        contract = operation.contract
        self.work = work
        self.operation = operation
        self.contract = contract
        self.function: Callable[..., Any] = _asked if work.function is None else work.function
        """What tells the primitive's own call from that of a fallback."""
        self.read: Callable[[Any], Any] = _asked if work.read is None else work.read
        self.asynchronous = work.function is not None and is_coroutine(work.function)
        waits = self.asynchronous or work.blocking or timed or work.timeout is not None
        self.at_once = work.model is None and not waits
        self.cached = cached and work.pure
        self.judged = contract is not None and is_judged(contract)
        self.decide = None if contract is None or contract.requires else contract.decide
        recover = operation.recover
        simple = operation.guard is None and not recover.on and operation.kind != "model"
        self.quick = simple and (contract is None or self.decide is not None)
        """Whether the first attempt may be made without the recovery, as in `step.hot`."""
        identity = (work.name, work.version, work.digest, id(contract), id(work.model))
        self.number = numbers.setdefault(identity, len(numbers))
        """Stands for the primitive in keys of this run: equal for equal primitives."""
        self.meta = None if operation.meta is _NO_META else operation.meta
        if not controls.contracts and work.operation.contract is not None:
            # The record says so: what was not held to its contract is no example of it.
            self.meta = _unheld(operation.meta)

    def names(self) -> dict[str, Any]:
        """The identity in a cache that outlives the run."""
        work, contract = self.work, self.contract
        return {
            "name": work.name,
            "version": work.version,
            "digest": work.digest,
            "contract": None if contract is None else contract.digest,
            "model": None if work.model is None else work.model.identity,
        }


def controlled(operation: Operation, controls: Controls) -> Operation:
    """The operation without the parts that are switched off."""
    if controls == _ALL_ON:
        return operation
    contract = operation.contract
    if contract is not None:
        contract = _controlled_contract(contract, controls)
    recover = operation.recover if controls.recovery else Recover(budget=operation.recover.budget)
    return replace(operation, contract=contract, recover=recover)


def _controlled_contract(contract: Contract[Any], controls: Controls) -> Contract[Any] | None:
    if controls.contracts and (controls.prerequisites or not contract.requires):
        return contract
    requires = contract.requires if controls.prerequisites else ()
    if not controls.contracts and not requires:
        return None
    typed = controls.contracts and contract.output is not None
    output: dict[str, Any] = {"output": contract.output} if typed else {}
    return Contract[Any](
        contract.name,
        version=contract.version,
        requires=requires,
        ensures=contract.ensures if controls.contracts else (),
        strict=contract.strict,
        revalidate=contract.revalidate,
        deadline=contract.deadline,
        **output,
    )


def is_judged(contract: Contract[Any]) -> bool:
    """Whether holding a value to the contract may ask a judge."""
    return any(clause.assurance == "measured" for clause in contract.requires + contract.ensures)


def _unheld(meta: Callable[..., Mapping[str, Any]]) -> Callable[..., Mapping[str, Any]]:
    def told(args: tuple[Any, ...], inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**meta(args, inputs), "contract": "not held"}

    return told


def _asked(*args: Any, **inputs: Any) -> Any:
    raise AssertionError("a neural primitive is asked, a symbolic one called")  # pragma: no cover
