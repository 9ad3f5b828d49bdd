"""The one module that relies on what DSPy does not quite promise.

Each private name of DSPy that the adapter needs is wrapped here, and held by
`tests/test_compat.py` against the version that is installed. Whoever uses the adapter
imports DSPy by way of this module, so that another version is refused before anything runs.
"""

import importlib
import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, cast

from hornbook.errors import MissingExtra

__all__ = [
    "Messages",
    "active_call_id",
    "annotation_name",
    "calling_modules",
    "capability",
    "dspy",
    "kind_of",
    "parsed",
    "relayed",
    "settings",
    "supported",
]

Messages: TypeAlias = list[dict[str, Any]]

_NEEDED = "dspy>=3.4,<3.5"


def supported(version: str) -> bool:
    """Whether the adapter works with this version of DSPy."""
    return version.split(".")[:2] == ["3", "4"]


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _imported() -> Any:
    try:
        host = _module("dspy")
    except ModuleNotFoundError as error:
        if error.name != "dspy":
            raise
        raise MissingExtra(f"hornbook-dspy needs DSPy: pip install '{_NEEDED}'") from None
    if not supported(host.__version__):
        raise MissingExtra(
            f"hornbook-dspy works with {_NEEDED}, and {host.__version__} is installed: "
            f"pip install '{_NEEDED}'"
        )
    return host


dspy: Any = _imported()
"""The host, seen to be of a version that the adapter works with."""

settings: Any = dspy.settings


def kind_of(instance: object) -> type[Any]:
    """The class of an object of the host's."""
    return type(instance)


def active_call_id() -> str | None:
    """The id of the DSPy call under way; DSPy gives one where callbacks are set."""
    return _callbacks.ACTIVE_CALL_ID.get()


def calling_modules() -> Sequence[Any]:
    """The modules whose call is under way, the outermost first."""
    return settings.get("caller_modules") or ()


@contextmanager
def relayed(origin: object, messages: object, lm: object, changed: object) -> Generator[None]:
    """Let `lm` be sent `changed` where DSPy's own adapter sent `messages` to `origin`.

    DSPy 3.4 warns of dictionaries that anyone else sends to a model; those of a user's own
    code are warned of as before.
    """
    sender = _deprecation._adapter_call.get()
    own = messages is None or (sender is not None and sender[0] is origin and sender[1] is messages)
    if not own:
        yield
        return
    with _deprecation.adapter_message_call(lm, changed):
        yield


def capability(name: str, lm: Any, inner: Any) -> Any:
    """What a model can do, read as DSPy reads it: for the options of the call being planned."""
    declared = inspect.getattr_static(kind_of(inner), name, None)
    if isinstance(declared, property) and declared is inspect.getattr_static(dspy.LM, name):
        return cast("Callable[[Any], Any]", declared.fget)(lm)
    return getattr(inner, name)


def parsed(adapter: Any, signature: Any, text: str) -> Mapping[str, Any] | None:
    """The fields that a model's text holds, read without calling the user's callbacks."""
    read: Any = kind_of(adapter).parse
    try:
        return inspect.unwrap(read)(adapter, signature, text)
    except _exceptions.AdapterParseError:
        return None


def annotation_name(annotation: Any) -> str:
    """What DSPy calls a type in a prompt."""
    return _adapting.get_annotation_name(annotation)


_adapting = _module("dspy.adapters.utils")
_callbacks = _module("dspy.utils.callback_context")
_deprecation = _module("dspy.clients._deprecation")
_exceptions = _module("dspy.utils.exceptions")
