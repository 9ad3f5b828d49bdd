"""Packages whose names are loaded when they are first used (PEP 562).

Importing `hornbook` is promised to cost little more than importing pydantic, and the
classes of this project, small as they are, would take three times that.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["attach"]


def attach(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the `__getattr__` and `__dir__` of a package.

    Args:
        package: the package's name.
        homes: the module that each public name lives in; a name that is its module's own
            last part stands for the module.

    Returns:
        What to bind to `__getattr__` and `__dir__`.
    """

    def getattr_(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        module = import_module(home)
        value = module if home == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return getattr_, lambda: sorted({*vars(sys.modules[package]), *homes})
