"""Exceptions made anew from what a record tells of them: their type's name and their text."""

import builtins
from ast import literal_eval

from hornbook import errors
from hornbook.models.failures import TransportError

__all__ = ["raised_again"]


def raised_again(error: str) -> Exception | None:
    """An exception that is caught as the one was that the record tells of as `Type: text`.

    A type of Python's or ours is rebuilt, or where it needs more than a text, the nearest type
    above it. A type of somebody else's is not known here: it becomes a `TransportError`.

    Returns:
        None where it tells of no failure, but of a step that was stopped.
    """
    name, _, text = error.partition(": ")
    known: object = getattr(builtins, name, None) or getattr(errors, name, None)
    if not name.isidentifier() or name == "CancelledError":  # it was stopped from outside
        return None
    if not isinstance(known, type):
        return TransportError(text or name)
    if not issubclass(known, Exception):
        return None
    made = (_made(kind, text) for kind in known.__mro__ if issubclass(kind, Exception))
    return next((one for one in made if one is not None), Exception(text))


def _made(kind: type[Exception], text: str) -> Exception | None:
    try:
        given = literal_eval(text) if issubclass(kind, KeyError) else text
        made = kind(given) if text else kind()
        return made if str(made) == text else None
    except Exception:  # noqa: BLE001 - it needs more than a text, or its text is no literal
        return None
