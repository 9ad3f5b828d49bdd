"""Tools as the kernel sees them: a name, what it is for, and what it takes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import Any, cast

from hornbook.errors import DefinitionError, HornbookError
from hornbook.kernel.prerequisites import EXTENSION, Prerequisite, declared
from hornbook.kernel.shape import Shape, shape
from hornbook.kernel.signature import description, parameters, public_methods, tool_name
from hornbook.schema import CompiledSchema, compile_schema

__all__ = ["ToolRegistry", "ToolSpec", "UnknownTool"]

_NEAR = 3
_MAX_NAME = 200
_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")
"""OpenAI and plain, Anthropic, MCP."""


class UnknownTool(HornbookError, KeyError):
    """A registry was asked for a tool it does not have."""

    code = "unknown-tool"

    def __str__(self) -> str:
        return str(self.args[0])


def _no_parameters() -> dict[str, Any]:
    return {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool.

    Raises:
        DefinitionError: on construction, when `parameters` is not JSON Schema for an object.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=_no_parameters, hash=False)
    """JSON Schema of the arguments."""
    read_only: bool = False
    prerequisites: tuple[Prerequisite, ...] = ()
    """What must hold before it is called."""
    effects: tuple[str, ...] = ()
    """The scratchpad keys that its result writes."""
    result_key: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    """By field of a result that is an object: the key that the field is written under."""
    validate: Callable[[Mapping[str, Any]], object] | None = field(default=None, compare=False)
    """The tool's own validation; it raises on arguments the tool would refuse. When given, it
    decides what is ill-typed, and the schema only what is missing or unknown."""
    schema: CompiledSchema = field(init=False, repr=False, compare=False)
    shape: Shape = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_name(self.name)
        if self.validate is not None and iscoroutinefunction(self.validate):
            raise DefinitionError(
                f"tool {self.name!r}: validate is async; the guard decides at once"
            )
        compiled = _compiled(self.name, self.parameters)
        object.__setattr__(self, "parameters", compiled.root)
        object.__setattr__(self, "schema", compiled)
        object.__setattr__(self, "shape", shape(compiled.root))

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        read_only: bool = False,
        prerequisites: Iterable[Prerequisite] = (),
        effects: Iterable[str] = (),
        result_key: Mapping[str, str] | None = None,
    ) -> "ToolSpec":
        """Return the tool a function is, from its signature and docstring.

        Raises:
            DefinitionError: for a parameter that cannot be passed by name or read by pydantic.
        """
        chosen = name or tool_name(function)
        schema, validate = parameters(function, chosen)
        return cls(
            name=chosen,
            description=description(function),
            parameters=schema,
            read_only=read_only,
            prerequisites=tuple(prerequisites),
            effects=tuple(effects),
            result_key=dict(result_key or {}),
            validate=validate,
        )


class ToolRegistry(Mapping[str, ToolSpec]):
    """The tools at hand, by name, in order of registration; immutable."""

    __slots__ = ("_tools",)

    def __init__(self, tools: Iterable[ToolSpec] = ()) -> None:
        self._tools: dict[str, ToolSpec] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise DefinitionError(f"tool {tool.name!r} is registered twice")
            self._tools[tool.name] = tool

    @classmethod
    def of(cls, *tools: object) -> "ToolRegistry":
        """Return a registry of functions, tool specs, and objects whose methods are tools.

        Raises:
            DefinitionError: naming the tool that cannot be registered.
        """
        return cls(spec for tool in tools for spec in _specs(tool))

    @classmethod
    def from_json_schema(cls, tools: Iterable[Mapping[str, Any]]) -> "ToolRegistry":
        """Return a registry of tools in JSON: `{name, description, parameters}` or OpenAI's form.

        `x-hornbook` beside the parameters declares `prerequisites` (a key, or an object with
        `key`, `sat` as JSON Schema, `setup`, `message`), `effects`, `result_key`, `read_only`.

        Raises:
            DefinitionError: one sentence with the tool, the place in its schema, and what is wrong.
        """
        return cls(_from_json(tool, number) for number, tool in enumerate(tools))

    def __getitem__(self, name: str) -> ToolSpec:
        tool = self._tools.get(name)
        if tool is None:
            near = ", ".join(self.nearest(name)) or "none is near"
            raise UnknownTool(f"no tool {name[:_MAX_NAME]!r}; nearest: {near}")
        return tool

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"ToolRegistry({', '.join(self._tools)})"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools, in order of registration."""
        return tuple(self._tools)

    def nearest(self, name: str) -> tuple[str, ...]:
        """Return the names most like a name, at most three."""
        return nearest(name, self._tools)


def nearest(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names most like a name, whatever its case and separators, at most three."""
    from difflib import get_close_matches

    plain = {_plain(candidate): candidate for candidate in names}
    found = get_close_matches(_plain(name[:_MAX_NAME]), plain, n=_NEAR, cutoff=0.5)
    return tuple(plain[key] for key in found)


def _plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def _check_name(name: str) -> None:
    if not name or len(name) > _MAX_NAME or name != name.strip():
        raise DefinitionError(f"tool {name[:60]!r}: a name is 1 to {_MAX_NAME} characters")


def _compiled(name: str, schema: Any) -> CompiledSchema:
    if not isinstance(schema, Mapping):
        raise DefinitionError(f"tool {name!r}: parameters is not JSON Schema: it is {schema!r:.80}")
    # A copy of the top: the spec's own schema cannot be swapped afterwards.
    own = dict(cast("Mapping[str, Any]", schema))
    try:
        compiled = compile_schema(own)
    except DefinitionError as error:
        raise DefinitionError(f"tool {name!r}: parameters is not JSON Schema: {error}") from None
    kinds: Any = own.get("type", "object")
    if kinds != "object" and "object" not in (kinds if isinstance(kinds, list) else ()):
        raise DefinitionError(f"tool {name!r}: parameters must be of type object, not {kinds!r}")
    return compiled


def _specs(tool: object) -> list[ToolSpec]:
    if isinstance(tool, ToolSpec):
        return [tool]
    if callable(tool) and not isinstance(tool, type):
        return [ToolSpec.of(tool)]
    methods = [] if isinstance(tool, type) else public_methods(tool)
    if not methods:
        raise DefinitionError(
            f"{tool!r:.80} is no tool: give a function, a ToolSpec, "
            f"or an object with public methods"
        )
    return [ToolSpec.of(method) for method in methods]


def _from_json(tool: Any, number: int) -> ToolSpec:
    if not isinstance(tool, Mapping):
        raise DefinitionError(f"tool at position {number} is no JSON object: {tool!r:.80}")
    data = cast("Mapping[str, Any]", tool)
    if isinstance(data.get("function"), Mapping):
        data = cast("Mapping[str, Any]", data["function"])
    name = data.get("name")
    if not isinstance(name, str):
        raise DefinitionError(f"tool at position {number} has no name: {dict(data)!r:.80}")
    schema: Any = next((data[key] for key in _SCHEMA_KEYS if data.get(key) is not None), None)
    return ToolSpec(
        name=name,
        description=str(data.get("description") or ""),
        parameters=_no_parameters() if schema is None else schema,
        read_only=data.get("read_only") is True or _says_read_only(data),
        **declared(name, data),
    )


def _says_read_only(data: Mapping[str, Any]) -> bool:
    own: Any = data.get(EXTENSION)
    return isinstance(own, Mapping) and cast("Mapping[str, Any]", own).get("read_only") is True
