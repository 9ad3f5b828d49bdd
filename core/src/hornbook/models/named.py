"""Models by name, as plugins register them (`hornbook_register_models`)."""

import threading
from collections.abc import Iterable
from difflib import get_close_matches

from hornbook.errors import DefinitionError, HornbookError, PluginError, told
from hornbook.models.protocol import Model
from hornbook.plugins.collection import Registered

__all__ = ["model"]

_made: dict[str, tuple[Registered, Model]] = {}
_lock = threading.Lock()


def model(name: str, /) -> Model:
    """The model that a plugin has registered under `name`; made once, on first use.

    Raises:
        DefinitionError: no plugin has registered it; the message names near ones.
        PluginError: its factory raised, or gave what is no `Model`.
    """
    from hornbook import plugins

    registered = plugins.models()
    if name not in registered:
        raise DefinitionError(f"no model {name!r:.60} is registered; {_there(name, registered)}")
    entry = registered[name]
    with _lock:
        if name not in _made or _made[name][0] is not entry:
            _made[name] = entry, _from(entry)
        return _made[name][1]


def _from(entry: Registered) -> Model:
    who = f"plugin {entry.plugin!r}: its model {entry.name!r}"
    try:
        made = entry()
    except HornbookError:
        raise
    except Exception as error:
        raise PluginError(f"{who} could not be made: {told(error)}") from error
    wanted = ("identity", "max_attempts", "complete", "acomplete")
    missing = [one for one in wanted if not hasattr(made, one)]
    if missing:
        raise PluginError(f"{who} is no model: {type(made).__name__} has no {missing[0]}")
    return made


def _there(name: object, registered: Iterable[str]) -> str:
    names = sorted(registered)
    near = get_close_matches(str(name), names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"there are {', '.join(names)}" if names else "there are none"
