"""`routes_to`: a clause about where a node's `Command` goes. It does not import the host."""

from collections.abc import Mapping
from typing import Any, Literal, cast

from hornbook.contracts.clause import Answer, Clause
from hornbook.errors import DefinitionError

__all__ = ["GOTO", "routes_to"]

GOTO = "__goto__"
"""The key under which a contract finds the names that a node's `Command` goes to."""


def routes_to(
    *names: str,
    optional: bool = False,
    name: str | None = None,
    version: str = "1",
    on_undetermined: Literal["fail", "waive"] = "fail",
) -> Clause:
    """Every node that the step's `Command` goes to is one of `names`.

    A `Send` counts by the node it is sent to. A step that goes nowhere is Undetermined, or
    NotApplicable with `optional=True`.

    Raises:
        DefinitionError: no name is given, or one is no text.
    """
    if not names or not all(isinstance(cast("object", one), str) for one in names):
        raise DefinitionError(f"routes_to{names!r}: give the names of nodes, at least one")

    def test(value: Any, inputs: Mapping[str, Any]) -> Answer | bool:
        goto: Any = None
        if isinstance(value, Mapping):
            goto = cast("Mapping[str, Any]", value).get(GOTO)
        if not goto:
            status = "NotApplicable" if optional else "Undetermined"
            return Answer(status=status, reason="the step goes nowhere: it gave no Command(goto=)")
        elsewhere = [target for target in goto if target not in names]
        return not elsewhere or Answer(status="Violated", evidence={"goto": elsewhere})

    return Clause(
        kind="routes_to",
        name=name or f"routes_to {', '.join(names)}",
        params={"names": names, "optional": optional},
        expected=f"a way to {' or '.join(names)}",
        version=version,
        on_undetermined=on_undetermined,
        test=test,
    )
