"""The same program with other models: those that reply as a scenario says."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from hornbook.program import (
    Conditional,
    Fallback,
    Iterate,
    Parallel,
    Primitive,
    Program,
    Sequence,
)
from hornbook.verify.replies import ReplyingModel

if TYPE_CHECKING:
    from hornbook.models import Model

__all__ = ["with_replying_models"]

Replace = Callable[[str, "Model"], "Model"]


def with_replying_models(program: Program) -> tuple[Program, tuple[ReplyingModel, ...]]:
    """The program with a `ReplyingModel` in place of each primitive's model, and these models."""
    made: list[ReplyingModel] = []

    def replying(step: str, model: "Model") -> "Model":
        made.append(ReplyingModel(step, model))
        return made[-1]

    return _rebuilt(program, replying), tuple(made)


def _rebuilt(node: Program, model_for: Replace) -> Program:
    def again(part: Program) -> Program:
        return _rebuilt(part, model_for)

    match node:
        case Primitive():
            return _primitive(cast("Primitive[..., Any]", node), model_for)
        case Sequence():
            made: Program = Sequence(*map(again, node.steps))
        case Parallel():
            made = Parallel(**{name: again(part) for name, part in node.branches.items()})
        case Conditional():
            made = _conditional(node, again)
        case Iterate():
            until = None if node.until is None else again(node.until)
            made = Iterate(
                again(node.body), until=until, at_most=node.at_most, exhausted=node.exhausted
            )
        case Fallback():
            made = Fallback(*map(again, node.alternatives), on=node.on)
        case _:
            return node
    return made.named(node.name)


def _conditional(node: Conditional, again: Callable[[Program], Program]) -> Conditional:
    otherwise = None if node.otherwise is None else again(node.otherwise)
    branches: Mapping[Any, Program] = {label: again(part) for label, part in node.branches}
    then: Any = next(iter(branches.values())) if node.simple else branches
    return Conditional(again(node.test), then, otherwise)


def _primitive(node: Primitive[..., Any], model_for: Replace) -> Program:
    definition, recover = node.definition, node.recover
    fallbacks: list[Callable[..., Any]] = [
        cast("Any", _rebuilt(cast("Program", one), model_for))
        if isinstance(one, Primitive)
        else one
        for one in recover.fallback
    ]
    changed = any(one is not other for one, other in zip(fallbacks, recover.fallback, strict=True))
    if definition.asking is None and not changed:
        return node
    definition = replace(definition, recover=replace(recover, fallback=fallbacks))
    asking = definition.asking
    if asking is not None:
        asking = replace(asking, model=model_for(node.name, asking.model))
        definition = replace(definition, asking=asking)
    made = Primitive[..., Any](definition, node.bindings)
    return made if made.name == node.name else made.named(node.name)
