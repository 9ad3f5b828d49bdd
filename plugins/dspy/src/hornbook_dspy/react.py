"""What is particular to DSPy's two ReAct modules: names that are no tools, and final answers.

ReAct takes the name of a tool as a `Literal`, so that an unknown one fails to be read: DSPy
asks the model again as JSON, and then the whole agent fails. Under guard every name is read,
from the same prompt, and found among the tools, where the guard says what is near it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Literal, cast

from pydantic_core import CoreSchema, core_schema

from hornbook.errors import DefinitionError
from hornbook_dspy.asked import Final
from hornbook_dspy.compat import annotation_name, calling_modules, dspy, parsed, settings
from hornbook_dspy.model import NOTHING

__all__ = ["ToolTable", "final_of", "has_finals", "own_tool", "reading_any_name"]

_NAME_FIELD = "next_tool_name"
_CALLS_FIELD = "tool_calls"
_SUBMIT = "submit"


class ToolTable(dict[str, Any]):
    """The tools of a ReAct module, in which every name is found."""

    def __init__(self, tools: Mapping[str, Any], unknown: Callable[[str], Any]) -> None:
        super().__init__(tools)
        self.unknown = unknown

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __missing__(self, name: str) -> Any:
        return self.unknown(name)


def own_tool(module: object) -> str | None:
    """The tool that a module of DSPy adds to ours: calling it ends the agent's turn."""
    if isinstance(module, dspy.ReActV2):
        return _SUBMIT
    return "finish" if isinstance(module, dspy.ReAct) else None


def reading_any_name(predictor: Any) -> Any:
    """The signature of ReAct's predictor, with a tool's name that may be any."""
    signature = predictor.signature
    field = signature.output_fields.get(_NAME_FIELD)
    names = getattr(field.annotation, "__args__", None) if field is not None else None
    if not names:
        return signature
    return signature.with_updated_fields(_NAME_FIELD, type_=_any_of(names))


def has_finals(module: object) -> bool:
    """Whether it can be told which of the model's replies answer the user."""
    return isinstance(module, dspy.ReAct | dspy.ReActV2)


def final_of(module: Any, kwargs: Mapping[str, Any], *, needed: bool) -> Final | None:
    """How the final answer stands in the reply that is being asked for, if one may.

    Raises:
        DefinitionError: it is `needed`, and the adapter in use writes it in its own way.
    """
    modules = calling_modules()
    if not modules or not has_finals(module):
        return None
    asking = modules[-1]
    if asking is not module.react and asking is not _extracting(module):
        return None
    adapter = settings.get("adapter") or dspy.ChatAdapter()
    if not isinstance(adapter, dspy.ChatAdapter):
        if needed:
            raise DefinitionError(
                f"contracts: answers that {type(adapter).__name__} writes cannot be read for "
                f"'model': put the contract around the agent, as Contracted(agent, contract)"
            )
        return None
    names = tuple(module.signature.output_fields)
    if isinstance(module, dspy.ReActV2):
        return _Submitted(asking.signature, adapter, names, native=bool(kwargs.get("tools")))
    if asking is module.react:
        return _Finishing(asking.signature, adapter)
    return _Extracted(asking.signature, adapter, names)


class _Extracted:
    """The answer of ReAct: the fields that its last predictor writes."""

    def __init__(self, signature: Any, adapter: Any, names: Sequence[str]) -> None:
        self._signature = signature
        self._adapter = adapter
        self._names = names

    def value(self, outputs: Sequence[Any]) -> Any:
        """The only field, or all by name."""
        fields = _read(self._adapter, self._signature, self._names, outputs)
        return NOTHING if fields is None else _alone(fields, self._names)

    def written(self, value: Any) -> Sequence[Any]:
        """As the adapter would have the model write it."""
        fields = dict.fromkeys(self._signature.output_fields, "") | _fields(value, self._names)
        return [self._adapter.format_assistant_message_content(self._signature, fields)]


class _Finishing:
    """What ReAct is told before its answer: a call of a tool, which may be `finish`."""

    def __init__(self, signature: Any, adapter: Any) -> None:
        self._signature = signature
        self._adapter = adapter

    def value(self, outputs: Sequence[Any]) -> Any:
        """There is no answer in it."""
        return NOTHING

    def written(self, value: Any) -> Sequence[Any]:
        """Whatever the answer is to be, ReAct asks for it once it may finish."""
        fields: dict[str, Any] = dict.fromkeys(self._signature.output_fields, "")
        fields |= {_NAME_FIELD: "finish", "next_tool_args": {}}
        return [self._adapter.format_assistant_message_content(self._signature, fields)]


class _Submitted:
    """The answer of ReActV2: the arguments of its call of `submit`."""

    def __init__(self, signature: Any, adapter: Any, names: Sequence[str], *, native: bool) -> None:
        self._signature = signature
        self._adapter = adapter
        self._names = names
        self._native = native

    def value(self, outputs: Sequence[Any]) -> Any:
        """The only field, or all by name."""
        for call in self._calls(outputs):
            if call.name == _SUBMIT and all(name in call.args for name in self._names):
                return _alone(call.args, self._names)
        return NOTHING

    def written(self, value: Any) -> Sequence[Any]:
        """As a call of `submit`, in the form in which the model makes its calls."""
        fields = _fields(value, self._names)
        if self._native:
            told = {"name": _SUBMIT, "arguments": json.dumps(fields, default=str)}
            call = {"id": "hornbook", "type": "function", "function": told}
            return [{"text": "", "tool_calls": [call]}]
        calls = dspy.ToolCalls.from_dict_list([{"name": _SUBMIT, "args": fields}])
        written = dict.fromkeys(self._signature.output_fields, "") | {_CALLS_FIELD: calls}
        return [self._adapter.format_assistant_message_content(self._signature, written)]

    def _calls(self, outputs: Sequence[Any]) -> Sequence[Any]:
        first = outputs[0] if outputs else None
        given: Any = cast("dict[str, Any]", first).get("tool_calls") if _is_dict(first) else None
        if given:
            return dspy.ToolCalls.model_validate([_plain_call(call) for call in given]).tool_calls
        fields = _read(self._adapter, self._signature, (_CALLS_FIELD,), outputs)
        calls = None if fields is None else fields[_CALLS_FIELD]
        return () if calls is None else calls.tool_calls


def _extracting(module: Any) -> Any:
    return getattr(getattr(module, "extract", None), "predict", None)


def _read(
    adapter: Any, signature: Any, names: Sequence[str], outputs: Sequence[Any]
) -> Mapping[str, Any] | None:
    """Some fields of a reply; None where DSPy will not understand it either."""
    first = outputs[0] if outputs else None
    text: Any = cast("dict[str, Any]", first).get("text") if _is_dict(first) else first
    if not isinstance(text, str):
        return None
    known = {name: signature.output_fields[name] for name in names}
    wanted = SimpleNamespace(output_fields=known)
    for one in (adapter, dspy.JSONAdapter()):
        fields = parsed(one, wanted, text)
        if fields is not None:
            return fields
    return None


def _alone(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    return fields[names[0]] if len(names) == 1 else {name: fields[name] for name in names}


def _fields(value: Any, names: Sequence[str]) -> dict[str, Any]:
    if isinstance(value, dspy.Example):
        value = dict(value.items())
    if isinstance(value, Mapping):
        held = cast("Mapping[str, Any]", value)
        if set(names) <= set(held):
            return {name: held[name] for name in names}
    if len(names) == 1:
        return {names[0]: value}
    raise DefinitionError(
        f"{value!r:.80} is no answer of this agent: give a mapping with {', '.join(names)}"
    )


def _plain_call(call: Any) -> Any:
    return call if _is_dict(call) else call.model_dump()


def _is_dict(value: object) -> bool:
    return isinstance(value, dict)


def _any_of(names: Sequence[str]) -> type[str]:
    """A type that DSPy describes as the `Literal` of these names, and that takes any name."""

    class ToolName(str):
        __slots__ = ()
        __origin__ = Literal
        __args__ = tuple(names)

        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
            return core_schema.no_info_plain_validator_function(_name)

        @classmethod
        def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
            return {"type": "string", "enum": list(cls.__args__)}

    ToolName.__name__ = annotation_name(Literal[tuple(names)])
    return ToolName


def _name(value: Any) -> str:
    """A name as models write it: in quotes, or as `Literal[...]`, which was read as a list."""
    if isinstance(value, list):
        read = cast("list[Any]", value)
        value = read[0] if len(read) == 1 else read
    return str(value).strip().strip("\"'")
