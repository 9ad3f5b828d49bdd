"""From the plain JSON form back to values."""

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from hornbook.canon.wire import JSON, READ_DEPTH, CanonError, loads, serialise

__all__ = ["Opaque", "decode"]

_ESCAPE = r"\\(?:\\|u([0-9a-f]{4}))"


class Opaque:
    """What `decode` gives for a value it cannot rebuild: an enum, a model, a description.

    Written out, because making a dataclass would be half of the codec's import.
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text
        """The tagged JSON, in canonical form."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and self.text == other.text

    def __hash__(self) -> int:
        return hash((Opaque, self.text))

    def __repr__(self) -> str:
        return f"Opaque({self.text!r})"

    @property
    def json(self) -> JSON:
        """The tagged JSON, as `encode` made it."""
        return loads(self.text)


def decode(value: JSON) -> Any:
    """Return what `encode` was given, with `Opaque` where that cannot be rebuilt.

    Raises:
        CanonError: a tag with a body that `encode` does not write.
    """
    return _value(value, 1)


def _value(value: JSON, depth: int) -> Any:
    if depth > READ_DEPTH:
        raise CanonError(f"nested deeper than {READ_DEPTH} levels")
    if isinstance(value, list):
        return [_value(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return _object(value, depth)
    return value


def _object(value: dict[str, JSON], depth: int) -> Any:
    if not any(key.startswith("$") for key in value):
        return {key: _value(item, depth + 1) for key, item in value.items()}
    tag = next(iter(value))
    if len(value) > 1 or tag not in _BUILDERS:
        return Opaque(serialise(value).decode("utf-8"))
    try:
        return _BUILDERS[tag](_value(value[tag], depth + 1))
    # What the constructors below raise for a body that is not theirs.
    except (ValueError, TypeError, ArithmeticError, AttributeError) as error:
        raise CanonError(f"{tag} cannot be read: {error}") from None


def _text(body: Any) -> str:
    if isinstance(body, str):
        return body
    raise TypeError(f"a text is expected, not {type(body).__name__}")


def _items(body: Any) -> list[Any]:
    if isinstance(body, list):
        return cast("list[Any]", body)
    raise TypeError(f"a list is expected, not {type(body).__name__}")


def _unescaped(body: Any) -> str:
    def unescape(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else "\\"

    return re.sub(_ESCAPE, unescape, _text(body))


def _bytes(body: Any) -> bytes:
    from binascii import a2b_base64

    return a2b_base64(_text(body), strict_mode=True)


def _timedelta(body: Any) -> timedelta:
    days, seconds, microseconds = _items(body)
    return timedelta(days=days, seconds=seconds, microseconds=microseconds)


_BUILDERS: dict[str, Callable[[Any], Any]] = {
    "$float": lambda body: float(_text(body)),
    "$int": lambda body: int(_text(body), 0),
    "$str": _unescaped,
    "$bytes": _bytes,
    "$datetime": lambda body: datetime.fromisoformat(_text(body)),
    "$date": lambda body: date.fromisoformat(_text(body)),
    "$time": lambda body: time.fromisoformat(_text(body)),
    "$timedelta": _timedelta,
    "$decimal": lambda body: Decimal(_text(body)),
    "$uuid": lambda body: UUID(_text(body)),
    "$path": lambda body: Path(_text(body)),
    "$tuple": lambda body: tuple(_items(body)),
    "$set": lambda body: set(_items(body)),
    "$frozenset": lambda body: frozenset(_items(body)),
    "$dict": lambda body: {key: item for key, item in map(_items, _items(body))},  # noqa: C416
}
