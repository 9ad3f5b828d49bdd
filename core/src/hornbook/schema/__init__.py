"""JSON Schema, as far as tool parameters use it (a subset of 2020-12), compiled once.

Keywords outside the subset are ignored, as the specification asks; a keyword of the
subset with an ill-formed value is refused when the schema is compiled. The check only
ever refuses what a conforming validator would refuse, so that no good call is lost.
"""

from typing import Any

from hornbook.errors import DefinitionError
from hornbook.schema.compiler import Check, Compiler, SchemaProblem, Visit
from hornbook.schema.structure import STRUCTURE_KEYWORDS
from hornbook.schema.values import VALUE_KEYWORDS

__all__ = ["CompiledSchema", "SchemaProblem", "compile_schema", "problems"]

_KEYWORDS = {**VALUE_KEYWORDS, **STRUCTURE_KEYWORDS}
"""In the order of checking."""


class CompiledSchema:
    """A schema that was found well formed, ready to check values."""

    __slots__ = ("_check", "root", "unchecked")

    def __init__(self, root: Any, check: Check, unchecked: tuple[str, ...]) -> None:
        self.root = root
        self.unchecked = unchecked
        """Pointers to what cannot be checked here: remote references, exotic patterns."""
        self._check = check

    def problems(self, value: Any) -> tuple[SchemaProblem, ...]:
        """Return what is wrong with the value; empty when it conforms."""
        visit = Visit([])
        try:
            self._check(value, visit)
        except RecursionError:  # the host's own stack may be nearly used up
            visit.add("a value that is nested less deeply", value, "depth")
        return tuple(visit.found)


def compile_schema(schema: Any) -> CompiledSchema:
    """Compile a schema.

    Raises:
        DefinitionError: one sentence with the place in the schema and what is wrong there.
    """
    compiler = Compiler(schema, _KEYWORDS)
    try:
        check = compiler.compile(schema, "#")
        compiler.compile_definitions()
    except RecursionError:
        raise DefinitionError("at #: the schema is nested too deeply") from None
    return CompiledSchema(schema, check, tuple(compiler.unchecked))


def problems(schema: Any, value: Any) -> tuple[SchemaProblem, ...]:
    """Check one value against one schema; compile it once where there are more values.

    Raises:
        DefinitionError: the schema is not well formed.
    """
    return compile_schema(schema).problems(value)
