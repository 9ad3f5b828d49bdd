"""Values as text for people: cut, redacted, and written as Python writes them."""

from binascii import a2b_base64
from collections.abc import Callable
from typing import Any

from hornbook.canon import JSON
from hornbook.contracts.segments import read_segments
from hornbook.errors import DefinitionError

__all__ = ["SHOWN_CHARACTERS", "shown"]

SHOWN_CHARACTERS = 120


def shown(value: Any, path: str = ".") -> str:
    """A value as text: cut, and redacted by its content and by the name it stands under."""
    from hornbook.trace.redact import redact_text

    safe = _redacted(value, _name_in(path))
    bare = isinstance(safe, str) and safe.startswith("<redact")
    return redact_text(str(safe) if bare else _text(safe), limit=SHOWN_CHARACTERS)


def _redacted(value: Any, name: str) -> JSON:
    from hornbook.trace.redact import FAILED, redact

    kept = redact({name: value})
    if isinstance(kept, dict) and name in kept:
        return kept[name]
    # A name that JSON cannot hold as a key: it withholds nothing by itself.
    alone = redact([value])
    return alone[0] if isinstance(alone, list) else FAILED


def _name_in(path: str) -> str:
    """The last name in a path: `password` of `users[0].password[1]`."""
    try:
        names = [segment for segment in read_segments(path) if isinstance(segment, str)]
    except DefinitionError:  # a key that paths cannot say, as a mapping may have
        return "value"
    return names[-1] if names else "value"


def _text(safe: JSON) -> str:
    if isinstance(safe, list):
        return f"[{_listed(safe)}]"
    if not isinstance(safe, dict):
        return repr(safe)
    tag = next(iter(safe), "")
    if tag == "$object":
        return f"{_last(safe[tag])}({_named(safe['fields'])})"
    if tag in _TAGGED:
        return _TAGGED[tag](safe[tag])
    return "{" + ", ".join(f"{name!r}: {_text(item)}" for name, item in safe.items()) + "}"


def _listed(items: JSON) -> str:
    return ", ".join(map(_text, items)) if isinstance(items, list) else str(items)


def _named(fields: JSON) -> str:
    if not isinstance(fields, dict):
        return str(fields)
    return ", ".join(f"{name}={_text(item)}" for name, item in fields.items())


def _tuple(items: JSON) -> str:
    return f"({_listed(items)}{',' if isinstance(items, list) and len(items) == 1 else ''})"


def _pairs(items: JSON) -> str:
    pairs = items if isinstance(items, list) else []
    shown = [f"{_text(pair[0])}: {_text(pair[1])}" for pair in pairs if isinstance(pair, list)]
    return "{" + ", ".join(shown) + "}"


def _last(name: JSON) -> str:
    return str(name).rpartition(".")[2]


def _enum(name: JSON) -> str:
    return ".".join(str(name).rsplit(".", 2)[-2:])


_TAGGED: dict[str, Callable[[JSON], str]] = {
    "$tuple": _tuple,
    "$set": lambda items: f"{{{_listed(items)}}}" if items else "set()",
    "$frozenset": lambda items: f"frozenset({{{_listed(items)}}})",
    "$dict": _pairs,
    "$enum": _enum,
    "$bytes": lambda body: repr(a2b_base64(str(body))),
    "$repr": str,
    "$int": str,
    "$float": str,
    "$decimal": str,
    "$uuid": str,
    "$path": str,
    "$date": str,
    "$datetime": str,
    "$time": str,
    "$cut": lambda more: f"... {more} more",
    "$str": repr,
}
