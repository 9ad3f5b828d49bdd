"""A rule library as a plugin: it answers the retrieval hook for its own namespace."""

from typing import TYPE_CHECKING, Any

from hornbook.errors import RuleError
from hornbook.rules.request import RuleRequest
from hornbook.rules.rule import LearnedRule

if TYPE_CHECKING:
    from hornbook.rules.library import RuleLibrary

__all__ = ["library_hook"]


class _LibraryHook:
    __slots__ = ("_k", "_library")

    def __init__(self, library: "RuleLibrary", k: int) -> None:
        self._library = library
        self._k = k

    def hornbook_retrieve_rules(self, request: RuleRequest) -> list[LearnedRule] | None:
        if request.namespace is None or request.namespace != self._library.namespace:
            return None
        return list(self._library.retrieve(request, self._k))


def library_hook(library: "RuleLibrary", k: int) -> object:
    """Return the plugin object, marked for pluggy."""
    if library.namespace is None:
        raise RuleError("a library answers as a plugin for one namespace; give it namespace=...")
    # Here, not at the top: pluggy is loaded on first use of a plugin, never before.
    from pluggy import HookimplMarker

    marker: Any = HookimplMarker("hornbook")
    marker(_LibraryHook.hornbook_retrieve_rules)
    return _LibraryHook(library, k)
