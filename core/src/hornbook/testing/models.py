"""`scripted`: a script as a model object of a host, made by that host's adapter."""

import importlib
import importlib.metadata
from typing import Any

from hornbook.errors import MissingExtra
from hornbook.testing.script import Conversation, Script

__all__ = ["scripted"]

_GROUP = "hornbook"
_OURS = {
    "langgraph": "hornbook-langgraph",
    "dspy": "hornbook-dspy",
    "openai_agents": "hornbook-openai-agents",
}
"""The hosts of this repository, and what to install for each."""


def scripted(host: str, script: Script | Conversation) -> Any:
    """A model of a host that plays a script, for agents under test.

    An adapter is found by the name of its entry point in the group `hornbook`; its package
    has a module `testing` with a function `scripted(script)`. `"memory"` is the host in
    `hornbook.testing.memory_host`.

    Args:
        host: such as `"langgraph"`, `"dspy"` or `"openai_agents"`.
        script: what the model answers; a `Conversation` to look at afterwards.

    Raises:
        MissingExtra: no adapter for the host is installed, or it has no scripted model.
    """
    package = "hornbook.testing.memory_host" if host == "memory" else _package(host)
    module = f"{package}.testing"
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise MissingExtra(
                f"the adapter for {host!r} needs {error.name!r}, which is not installed: "
                f"pip install {_OURS.get(host, package)}"
            ) from error
        raise MissingExtra(f"the adapter for {host!r} ({package}) has no scripted model") from error
    make = getattr(found, "scripted", None)
    if not callable(make):
        raise MissingExtra(f"the adapter for {host!r} ({package}) has no scripted model")
    return make(script)


def _package(host: str) -> str:
    entries = importlib.metadata.entry_points(group=_GROUP)
    for entry in entries:
        if entry.name == host:
            return entry.module.rpartition(".")[0] or entry.module
    if host in _OURS:
        raise MissingExtra(f"no adapter for {host!r} is installed: pip install {_OURS[host]}")
    known = ", ".join(sorted({"memory", *_OURS, *(entry.name for entry in entries)}))
    raise MissingExtra(f"no adapter for {host!r} is installed; known hosts are {known}")
