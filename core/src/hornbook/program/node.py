"""What every program is: an immutable node of a tree, typed when it is built."""

from abc import ABC
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hornbook.errors import DefinitionError

if TYPE_CHECKING:
    from hornbook.budget import Budget
    from hornbook.engine import Engine
    from hornbook.models import Model
    from hornbook.program.bounds import Calls
    from hornbook.program.elaborate import Typed

__all__ = ["Placed", "Program"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A node where it stands in a program."""

    place: str
    """From the program's name down: `program[1].names`, `program[3]#1` in an Iterate's round."""
    node: "Program"
    input: Any
    """The type of what comes here."""
    output: Any
    depth: int = 0


class Program(ABC):
    """A composition of primitives, or one of them: typed, bounded, immutable.

    Forethought 3.2. Composing checks the types, so that a program that exists is well formed.
    """

    name: str
    """What records and places call it."""
    _typed: "Typed"
    _accepts: Any = None
    """The check of what it is given, made when it is first run."""
    _demand: Any = None
    """What it asks of its value, and"""
    _free: Any = None
    """the references that lead out of it: both read once, when it is built."""

    def _set(self, **attributes: object) -> None:
        for attribute, value in attributes.items():
            object.__setattr__(self, attribute, value)

    def _check(self) -> None:
        """Type the finished node; the last thing that each constructor does."""
        from hornbook.program.elaborate import elaborated

        self._set(_typed=elaborated(self))

    def __setattr__(self, attribute: str, value: object) -> None:
        raise AttributeError(f"program {self.name!r} is immutable: {attribute!r} cannot be set")

    def __delattr__(self, attribute: str) -> None:
        raise AttributeError(f"program {self.name!r} is immutable: {attribute!r} cannot be deleted")

    def __copy__(self) -> "Program":
        return self

    def __deepcopy__(self, memo: object) -> "Program":
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @property
    def parts(self) -> "Mapping[str, Program]":
        """The nodes directly inside, by what their places end with: `[0]`, `.names`, ..."""
        return {}

    @property
    def input(self) -> Any:
        """The type that a value given to it must have."""
        return self._typed.input

    @property
    def output(self) -> Any:
        """The type of what it gives."""
        return self._typed.output

    def named(self, name: str) -> "Program":
        """The same program under another name."""
        if not isinstance(name, str) or not name.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(f"a program's name is a text that is not empty: {name!r}")
        made = object.__new__(type(self))
        kept = {key: one for key, one in vars(self).items() if key[0] != "_" or key == "__doc__"}
        made._set(**{**kept, "name": name})
        made._check()
        return made

    def run(
        self, value: Any, *, budget: "Budget | None" = None, engine: "Engine | None" = None
    ) -> Any:
        """Run it on a value; joins the run around, or opens one.

        Raises:
            ProgramInputError: the value is not of the program's input type.
            ContractViolation: a step's contract is violated and its recovery is spent.
            BudgetExceeded: the budget, or the run's, is spent.
        """
        from hornbook.program.running import run

        return run(self, value, budget=budget, engine=engine)

    async def arun(
        self, value: Any, *, budget: "Budget | None" = None, engine: "Engine | None" = None
    ) -> Any:
        """The async twin of `run`."""
        from hornbook.program.running import arun

        return await arun(self, value, budget=budget, engine=engine)

    def max_calls(self) -> "Calls":
        """The most calls that any run of it can make, by model (DESIGN section 5)."""
        from hornbook.program.bounds import calls_of

        return calls_of(self)

    def walk(self) -> Iterator[Placed]:
        """Every node with its place and types, the root first, in order of declaration."""
        from hornbook.program.elaborate import walked

        return walked(self)

    @property
    def digest(self) -> str:
        """`sha256:...` of all that the program says, equal in every process."""
        from hornbook.program.identity import digest_of

        return digest_of(self)

    def to_json(self) -> str:
        """As canonical JSON text; functions by import path, models by identity.

        Raises:
            ProgramError: a part cannot be written; it is named.
        """
        from hornbook.program.portable import to_json

        return to_json(self)

    @staticmethod
    def from_json(text: str, models: "Mapping[str, Model] | None" = None) -> "Program":
        """The program that `to_json` wrote; it imports what is named there, so trust the text.

        Args:
            text: what `to_json` gave.
            models: the models by their identity.

        Raises:
            ProgramError: it cannot be read, or something that it names has changed.
        """
        from hornbook.program.portable import from_json

        return from_json(text, models or {})

    def to_text(self) -> str:
        """As an indented tree, one node a line."""
        from hornbook.program.text import to_text

        return to_text(self)

    def to_mermaid(self) -> str:
        """As a Mermaid flowchart."""
        from hornbook.program.mermaid import to_mermaid

        return to_mermaid(self)

    def to_html(self) -> str:
        """As one static HTML page."""
        from hornbook.program.html import to_html

        return to_html(self)
