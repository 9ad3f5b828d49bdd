"""From what a user names to an adapter, with one clear error where that fails."""

import importlib
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, cast

from hornbook.errors import HornbookError, told
from hornbook.testing.conformance.protocol import CAPABILITIES, Adapter

__all__ = ["AdapterError", "Factory", "adapter_of", "factory_of"]

Factory = Callable[[], Adapter]

_MEMBERS = ("name", "capabilities", "build", "is_own_step")


class AdapterError(HornbookError, ValueError):
    """What was named as an adapter is none."""

    code = "adapter"


def factory_of(option: str) -> Factory:
    """The factory that `module:name` names.

    Raises:
        AdapterError: it is not of that form, or there is no such module or function.
    """
    module_name, colon, attribute = option.partition(":")
    if not (module_name and colon and attribute):
        raise AdapterError(f"{option!r} is no adapter: write module:factory")
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:
        raise AdapterError(
            f"{option!r}: {module_name} cannot be imported: {told(error)}"
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            near = get_close_matches(part, dir(found), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise AdapterError(f"{option!r}: {module_name} has no {part!r}{hint}")
        found = getattr(found, part)
    return cast("Factory", found)


def adapter_of(factory: Factory) -> Adapter:
    """The adapter that a factory makes.

    Raises:
        AdapterError: the factory cannot be called, raises, or gives no adapter.
    """
    named = getattr(factory, "__qualname__", None) or repr(factory)
    if not callable(factory):
        raise AdapterError(f"{named} is no factory: give a class or function without arguments")
    try:
        adapter: Any = factory()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a factory that skips a test, or exits, gives no adapter
        raise AdapterError(f"the factory {named} raised {told(error)}") from error
    lacking = [member for member in _MEMBERS if not hasattr(adapter, member)]
    if lacking:
        raise AdapterError(
            f"the factory {named} gave {type(adapter).__name__}, which is no adapter: it lacks "
            f"{', '.join(lacking)}"
        )
    _check_capabilities(named, adapter.capabilities)
    return cast("Adapter", adapter)


def _check_capabilities(named: str, declared: object) -> None:
    if isinstance(declared, str) or not isinstance(declared, set | frozenset | list | tuple):
        raise AdapterError(f"{named}: capabilities is {declared!r:.80}, and no set of names")
    listed = list(cast("Iterable[object]", declared))
    odd = next((one for one in listed if not isinstance(one, str)), None)
    if odd is not None:
        raise AdapterError(f"{named}: {odd!r:.80} is no capability, which is a name")
    names = set(listed)
    unknown = sorted(map(str, names - CAPABILITIES))
    if unknown:
        near = get_close_matches(unknown[0], CAPABILITIES, n=1)
        hint = (
            f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(CAPABILITIES))}"
        )
        raise AdapterError(f"{named}: {unknown[0]!r} is no capability; {hint}")
    if not names & {"sync", "async"}:
        raise AdapterError(f"{named}: it declares neither 'sync' nor 'async', so nothing can run")
