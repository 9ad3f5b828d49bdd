"""The store of learned rules.

Names load on first use, so that the entry point does not import the index library.
"""

from importlib import import_module
from typing import Any

__all__: list[str] = []

_HOMES: dict[str, str] = {}
"""Each public name and the module it lives in."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        known = ", ".join(__all__) or "none in this version"
        raise AttributeError(f"{__name__} has no {name!r}; its public names: {known}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
