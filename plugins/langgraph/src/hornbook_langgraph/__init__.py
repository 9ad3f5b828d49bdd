"""Hornbook for LangGraph nodes and LangChain agents.

Names load on first use, so that the entry point does not import the host.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hornbook_langgraph.attaching import attach, detach
    from hornbook_langgraph.middleware import HornbookMiddleware
    from hornbook_langgraph.node import contract
    from hornbook_langgraph.routes import routes_to
    from hornbook_langgraph.tools import guard_tools

__all__ = ["HornbookMiddleware", "attach", "contract", "detach", "guard_tools", "routes_to"]

_HOMES = {
    "HornbookMiddleware": "hornbook_langgraph.middleware",
    "attach": "hornbook_langgraph.attaching",
    "contract": "hornbook_langgraph.node",
    "detach": "hornbook_langgraph.attaching",
    "guard_tools": "hornbook_langgraph.tools",
    "routes_to": "hornbook_langgraph.routes",
}
"""Each public name and the module it lives in."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        known = ", ".join(__all__)
        raise AttributeError(f"{__name__} has no {name!r}; its public names: {known}")
    try:
        value = getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "langchain":
            raise
        from hornbook.errors import MissingExtra

        raise MissingExtra(
            f"{name} needs langchain: pip install 'hornbook-langgraph[agents]'"
        ) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
