"""What the LangGraph adapter tells Hornbook. It must not import the host, which takes seconds."""

from hornbook.hooks import Register, hookimpl
from hornbook_langgraph.routes import routes_to

__all__ = ["DISTRIBUTION", "NAME", "hornbook_register_clauses"]

NAME = "langgraph"
DISTRIBUTION = "hornbook-langgraph"


@hookimpl
def hornbook_register_clauses(register: Register) -> None:
    """Register `routes_to`, so that a contract that uses it can be read back from JSON."""
    register("routes_to", routes_to)
