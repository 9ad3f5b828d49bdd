"""Tools with state, and kernels over them whose primitives answer what a test says."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hornbook.kernel.kernel import Kernel
from hornbook.kernel.neural.primitives import Primitives
from hornbook.kernel.registry import ToolRegistry, ToolSpec


def task(
    name: str,
    tool_name: str | None,
    needs: Sequence[str] = (),
    /,
    about: str = "",
    **parameters: Any,
) -> dict[str, Any]:
    return {
        "id": name,
        "description": about,
        "tool_name": tool_name,
        "depends_on": list(needs),
        "parameters": parameters,
    }


def planning(*tasks: dict[str, Any], **answers: Callable[[Any], Any]) -> Primitives:
    return Primitives(turns=lambda request: {"tasks": list(tasks)}, **answers)


def kernel(
    functions: Sequence[Callable[..., Any] | ToolSpec],
    primitives: Primitives,
    calls: Mapping[str, Callable[..., Any]] | None = None,
    **settings: Any,
) -> Kernel:
    specs = [one if isinstance(one, ToolSpec) else ToolSpec.of(one) for one in functions]
    named = {one.__name__: one for one in functions if not isinstance(one, ToolSpec)}
    return Kernel(
        ToolRegistry(specs), primitives=primitives, calls={**named, **(calls or {})}, **settings
    )


def made(result: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(one.tool, dict(one.arguments)) for one in result.calls if one.executed]


def told(result: Any) -> list[str]:
    return [str(one) for one in result.reports]


def sources(result: Any) -> dict[str, str]:
    return {
        f"{one.tool}.{leaf.parameter}": leaf.source for one in result.calls for leaf in one.bindings
    }
