"""A primitive as the engine sees it."""

from typing import TYPE_CHECKING, Any

from hornbook.step.operation import Operation

if TYPE_CHECKING:
    from hornbook.engine import Work
    from hornbook.program.primitives import Primitive

__all__ = ["operation_of", "work_of"]


def operation_of(node: "Primitive[..., Any]") -> Operation:
    """The step that a primitive is, with its contract and recovery."""
    definition = node.definition
    return Operation(
        name=node.name,
        bind=definition.parameters.bind,
        rebuild=definition.parameters.rebuild,
        contract=definition.contract,
        recover=definition.recover,
        counts_attempts=definition.asking is None,
    )


def work_of(node: "Primitive[..., Any]") -> "Work":
    """All that the engine needs to run a primitive, wherever it stands."""
    from hornbook.engine import Work
    from hornbook.program.identity import definition_digest

    definition, asking = node.definition, node.definition.asking
    return Work(
        name=node.name,
        version=definition.version,
        digest=definition_digest(definition),
        operation=operation_of(node),
        function=definition.function,
        model=None if asking is None else asking.model,
        request=None if asking is None else asking.request,
        read=None if asking is None else asking.read,
        pure=definition.pure,
        blocking=definition.blocking,
        timeout=definition.timeout,
        output=definition.signature.output,
    )
