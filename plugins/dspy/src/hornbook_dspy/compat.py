"""The one module that relies on what DSPy does not quite promise.

Each private name of DSPy that the adapter needs is wrapped here, and held by
`tests/test_compat.py` against the version that is installed. Whoever uses the adapter
imports DSPy by way of this module, so that another version is refused before anything runs.
"""

import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, cast

from hornbook.errors import MissingExtra

__all__ = [
    "Messages",
    "active_call_id",
    "calling_modules",
    "capability",
    "dspy",
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


def _imported() -> Any:
    try:
        import dspy  # noqa: PLC0415 - what is said when it is not there is ours to say
    except ModuleNotFoundError as error:
        if error.name != "dspy":
            raise
        raise MissingExtra(f"hornbook-dspy needs DSPy: pip install '{_NEEDED}'") from None
    if not supported(dspy.__version__):
        raise MissingExtra(
            f"hornbook-dspy works with {_NEEDED}, and {dspy.__version__} is installed: "
            f"pip install '{_NEEDED}'"
        )
    return dspy


dspy: Any = _imported()
"""The host, seen to be of a version that the adapter works with."""

settings: Any = dspy.settings


def active_call_id() -> str | None:
    """The id of the DSPy call under way; DSPy gives one where callbacks are set."""
    from dspy.utils.callback_context import ACTIVE_CALL_ID  # noqa: PLC0415

    return ACTIVE_CALL_ID.get()


def calling_modules() -> Sequence[Any]:
    """The modules whose call is under way, the outermost first."""
    return settings.get("caller_modules") or ()


@contextmanager
def relayed(origin: object, messages: object, lm: object, changed: object) -> Generator[None]:
    """Let `lm` be sent `changed` where DSPy's own adapter sent `messages` to `origin`.

    DSPy 3.4 warns of dictionaries sent to a model by anyone else; those of a user's own
    code are warned of as before.
    """
    from dspy.clients import _deprecation as deprecation  # noqa: PLC0415

    private: Any = deprecation
    sender = private._adapter_call.get()
    own = messages is None or (sender is not None and sender[0] is origin and sender[1] is messages)
    if not own:
        yield
        return
    with private.adapter_message_call(lm, changed):
        yield


def capability(name: str, lm: Any, inner: Any) -> Any:
    """What a model can do, read as DSPy reads it: for the options of the call being planned."""
    declared = inspect.getattr_static(type(inner), name, None)
    if isinstance(declared, property) and declared is inspect.getattr_static(dspy.LM, name):
        return cast("Callable[[Any], Any]", declared.fget)(lm)
    return getattr(inner, name)


def parsed(adapter: Any, signature: Any, text: str) -> Mapping[str, Any] | None:
    """The fields that a model's text holds, read without calling the user's callbacks."""
    from dspy.utils.exceptions import AdapterParseError  # noqa: PLC0415

    read = inspect.unwrap(type(adapter).parse)
    try:
        return read(adapter, signature, text)
    except AdapterParseError:
        return None
