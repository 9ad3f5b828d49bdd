"""How sure the guard must be before it says that something is left undone."""

from dataclasses import dataclass

from hornbook.errors import DefinitionError

__all__ = ["Thresholds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The figures of `finish` and of the checks of repeats.

    Raises:
        DefinitionError: for a figure outside of its range.
    """

    covered: float = 1.0
    """Share of the words of a quoted text that one argument, result or answer must hold."""
    template: float = 0.5
    """The same for a text that the request calls a format."""
    near: float = 0.8
    """From this likeness on, an argument is a quoted text that was changed."""
    identifier: int = 5
    """The fewest characters of an unquoted identifier that must be covered."""

    def __post_init__(self) -> None:
        for name in ("covered", "template", "near"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise DefinitionError(f"{name}={getattr(self, name)!r} is not in [0, 1]")
        if self.identifier < 1:
            raise DefinitionError(f"identifier={self.identifier!r} is less than 1")
