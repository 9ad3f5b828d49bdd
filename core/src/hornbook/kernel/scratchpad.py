"""The scratchpad S: what is known, by key, growing only (Forethought 4, INV-S)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

__all__ = ["BOTTOM", "Bottom", "Scratchpad", "WriteSource", "Written"]


class Bottom(Enum):
    """The type of the value that says: looked for, and not found."""

    BOTTOM = "bottom"

    def __repr__(self) -> str:
        return "BOTTOM"


BOTTOM: Final = Bottom.BOTTOM

WriteSource: TypeAlias = Literal["state", "config", "result", "retrieved", "turn"]
"""Carried from an earlier turn; configured; declared effect of a call; of a retrieval task; of
the turn's own words, which say nothing about a later request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One write."""

    key: str
    value: Any
    """`BOTTOM` where a retrieval found nothing."""
    step: int
    """The kernel's step that wrote it; 0 is the seed."""
    source: WriteSource


class Scratchpad(Mapping[str, Any]):
    """An immutable mapping that a write makes a larger one of; no key can be removed."""

    __slots__ = ("_latest", "writes")

    def __init__(self, writes: tuple[Written, ...] = ()) -> None:
        self.writes = writes
        """Every write, oldest first."""
        self._latest = {one.key: one for one in writes}

    @classmethod
    def of(
        cls, values: Mapping[str, Any], source: WriteSource = "state", step: int = 0
    ) -> "Scratchpad":
        """The scratchpad that holds these values; of a scratchpad, with all its history."""
        if isinstance(values, Scratchpad):
            return cls(
                tuple(
                    replace(one, step=step, source="turn" if one.source == "turn" else source)
                    for one in values.writes
                )
            )
        return cls(
            tuple(
                Written(key=key, value=item, step=step, source=source)
                for key, item in values.items()
            )
        )

    def write(self, key: str, value: Any, *, step: int, source: WriteSource) -> "Scratchpad":
        """This scratchpad and one more value; an earlier one under the key is overwritten."""
        return Scratchpad((*self.writes, Written(key=key, value=value, step=step, source=source)))

    def latest(self, key: str) -> Written | None:
        """The write that gave a key its value."""
        return self._latest.get(key)

    def known(self) -> dict[str, Any]:
        """What it holds, without what was looked for in vain."""
        return {key: one.value for key, one in self._latest.items() if one.value is not BOTTOM}

    def as_dict(self) -> dict[str, Any]:
        """Plain data; what was not found is None."""
        return {
            key: None if one.value is BOTTOM else one.value for key, one in self._latest.items()
        }

    def __getitem__(self, key: str) -> Any:
        return self._latest[key].value

    def __iter__(self) -> Iterator[str]:
        return iter(self._latest)

    def __len__(self) -> int:
        return len(self._latest)

    def __repr__(self) -> str:
        return f"Scratchpad({self.as_dict()!r:.300})"
