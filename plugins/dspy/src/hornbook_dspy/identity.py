"""Which occurrence of a step this is, in DSPy's own words."""

from typing import Any

from hornbook_dspy.compat import active_call_id, calling_modules

__all__ = ["step_identity"]


def step_identity(**more: Any) -> dict[str, Any]:
    """DSPy's ids for the step that is running; what it does not tell is left out.

    `call_id` is the DSPy call that the step is part of, as callbacks know it, and `module`
    the kinds of the modules that are running, the innermost last.
    """
    meta = {name: value for name, value in more.items() if value is not None}
    call_id = active_call_id()
    if call_id is not None:
        meta["call_id"] = call_id
    modules = calling_modules()
    if modules:
        meta["module"] = ".".join(type(module).__name__ for module in modules)
    return meta
