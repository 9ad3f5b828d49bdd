"""From `module:program`, as a user writes it, to the program."""

import importlib
import sys
from collections.abc import Generator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hornbook.errors import told
from hornbook.verify.errors import TargetError

if TYPE_CHECKING:
    from hornbook.program import Program

__all__ = ["first_on_path", "load_program"]


def load_program(target: str, *, folder: str | Path | None = None) -> "Program":
    """The program that `module:attribute` names.

    Args:
        target: the module is imported as Python finds it, and from `folder` first.
        folder: by default the current one.

    Raises:
        TargetError: one sentence: it is not of that form, the module cannot be imported, it
            has no such attribute, or that is no program.
    """
    from hornbook.program import Program

    module_name, colon, attribute = target.partition(":")
    if not (module_name and colon and attribute):
        raise TargetError(f"{target!r} names no program: write module:attribute")
    found: Any = _imported(module_name, target, Path(folder or "."))
    for part in attribute.split("."):
        if not hasattr(found, part):
            near = get_close_matches(part, dir(found), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TargetError(f"{target!r}: {module_name} has no {part!r}{hint}")
        found = getattr(found, part)
    if not isinstance(found, Program):
        raise TargetError(
            f"{target!r} is no program but {_described(found)}; programs are made by "
            f"hornbook.program"
        )
    return found


def _imported(name: str, target: str, folder: Path) -> Any:
    try:
        with first_on_path(folder):
            return importlib.import_module(name)
    # Importing runs the module, which may raise anything, SystemExit as well.
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and _is_part(error.name, name):
            raise TargetError(
                f"{target!r}: there is no module {error.name!r} in {folder.resolve()} or on "
                f"Python's path"
            ) from None
        raise TargetError(f"{target!r}: importing {name} raised {told(error)}") from error


def _is_part(missing: str | None, name: str) -> bool:
    return missing is not None and (name == missing or name.startswith(f"{missing}."))


@contextmanager
def first_on_path(folder: Path) -> Generator[None]:
    """Where the command `hornbook` runs, the current folder is not on Python's path by itself."""
    place = str(folder.resolve())
    here = place in sys.path
    if not here:
        sys.path.insert(0, place)
    try:
        yield
    finally:
        if not here and place in sys.path:
            sys.path.remove(place)


def _described(found: object) -> str:
    kind = type(found).__name__
    return f"{'an' if kind[:1] in 'aeiouAEIOU' else 'a'} {kind}"
