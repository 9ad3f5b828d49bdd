"""Programs as canonical JSON text, and back: functions by import path, models by identity."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from hornbook import canon
from hornbook.budget import Budget
from hornbook.contracts.contract import Contract
from hornbook.contracts.predicates import load
from hornbook.contracts.written_types import read_type
from hornbook.errors import DefinitionError, told
from hornbook.program.binding import ref
from hornbook.program.errors import ProgramError
from hornbook.program.identity import definition_digest
from hornbook.program.node import Program
from hornbook.program.operators import (
    Conditional,
    Constant,
    Fallback,
    Holds,
    Iterate,
    Parallel,
    Passing,
    Sequence,
)
from hornbook.program.ordered import from_data
from hornbook.program.primitives import Primitive, lifted, primitive
from hornbook.program.references import load_primitive
from hornbook.program.written import written
from hornbook.step.recover import Recover

if TYPE_CHECKING:
    from hornbook.models import Model

__all__ = ["from_json", "to_json"]

_FORMAT = "hornbook-program"
_VERSION = 1

Data = Mapping[str, Any]


def to_json(program: Program) -> str:
    """A program as canonical JSON text.

    Raises:
        ProgramError: a part cannot be written; it is named.
    """
    data: dict[str, canon.JSON] = {
        "format": _FORMAT,
        "version": _VERSION,
        "program": written(program, program.name),
        "digest": program.digest,
    }
    # What is no plain JSON in it was encoded where it stands.
    return canon.serialise(data).decode()


def from_json(text: str, models: "Mapping[str, Model]") -> Program:
    """The program that `to_json` wrote.

    Raises:
        ProgramError: the text is of another format or a newer version, a model is missing,
            or a function or type has changed since.
    """
    data = _parsed(text)
    try:
        program = _Reading(models).program(data["program"], str(data["program"]["name"]))
        digest = data["digest"]
    except ProgramError:
        raise
    except DefinitionError as error:
        raise ProgramError(str(error)) from error
    # What is read is somebody's text: anything may be missing in it, or of another type.
    except Exception as error:
        raise ProgramError(f"this is no program in JSON: {told(error)}") from error
    if program.digest != digest:
        raise ProgramError(
            f"program {program.name!r} was written when its functions or types were others: its "
            f"digest was {digest} and is {program.digest} now"
        )
    return program


def _parsed(text: str) -> Data:
    try:
        data: object = canon.loads(text)
    except canon.CanonError as error:
        raise ProgramError(f"this is no program in JSON: {error}") from None
    known: Data = cast("Data", data) if isinstance(data, Mapping) else {}
    if known.get("format") != _FORMAT:
        raise ProgramError(f"this is no program in JSON: it has no format {_FORMAT!r}")
    if known.get("version") != _VERSION:
        raise ProgramError(
            f"this program was written in version {known.get('version')!r} of its format, and "
            f"version {_VERSION} is read here: upgrade hornbook"
        )
    return known


class _Reading:
    def __init__(self, models: "Mapping[str, Model]") -> None:
        self._models = models

    def program(self, data: Data, place: str) -> Program:
        made = self._node(data, place)
        return made if made.name == data["name"] else made.named(str(data["name"]))

    def _node(self, data: Data, place: str) -> Program:
        match data["kind"]:
            case "Primitive":
                return self._primitive(data, place)
            case "Sequence":
                return Sequence(*self._list(data["parts"], place))
            case "Parallel":
                named = {
                    name: self.program(part, f"{place}.{name}") for name, part in data["branches"]
                }
                return Parallel(**named)
            case "Conditional":
                return self._conditional(data, place)
            case "Iterate":
                until = data["until"]
                return Iterate(
                    self.program(data["body"], f"{place}#1"),
                    until=None if until is None else self.program(until, f"{place}#1.until"),
                    at_most=data["at_most"],
                    exhausted=data["exhausted"],
                )
            case "Fallback":
                on = tuple(load(name) for name in data["on"])
                return Fallback(*self._list(data["parts"], place), on=on)
            case "Constant":
                return Constant(_value(data["value"]))
            case "Holds":
                return Holds(_contract(data["contract"]))
            case "Passing":
                return Passing()
            case kind:
                raise ProgramError(f"{place}: {kind!r:.60} is no kind of program known here")

    def _list(self, parts: list[Data], place: str) -> list[Program]:
        return [self.program(part, f"{place}[{at}]") for at, part in enumerate(parts)]

    def _conditional(self, data: Data, place: str) -> Program:
        test = self.program(data["test"], f"{place}.test")
        branches = {
            _value(one["label"]): self.program(one["program"], f"{place}[{at}]")
            for at, one in enumerate(data["branches"])
        }
        other = data["otherwise"]
        otherwise = None if other is None else self.program(other, f"{place}.otherwise")
        return Conditional(test, branches[True] if data["simple"] else branches, otherwise)

    def _primitive(self, data: Data, place: str) -> Program:
        made = self._unbound(data, place)
        found = definition_digest(made.definition)
        if found != data["digest"]:
            raise ProgramError(
                f"{place}: primitive {made.definition.name!r} was written when its function, types "
                f"or settings were others: its digest was {data['digest']} and is {found} now"
            )
        bound = {name: _bound(value) for name, value in data["bound"].items()}
        return made.bind(**bound) if bound else made

    def _unbound(self, data: Data, place: str) -> Primitive[..., Any]:
        if "primitive" in data:
            found = load_primitive(data["primitive"], place)
            return found if not found.bindings else Primitive[..., Any](found.definition)
        if "function" in data:
            settings = self._settings(data["settings"], place)
            untyped = settings.pop("untyped", False)
            function = load(data["function"])
            if untyped:
                return cast("Primitive[..., Any]", lifted(function, place, untyped=True))
            return primitive(function, **settings)
        return self._neural(data["neural"], place)

    def _settings(self, given: Data, place: str) -> dict[str, Any]:
        settings = dict(given)
        if settings.get("contract") is not None:
            settings["contract"] = _contract(settings["contract"])
        if settings.get("recover") is not None:
            settings["recover"] = self._recover(settings["recover"], place)
        return settings

    def _neural(self, data: Data, place: str) -> Primitive[..., Any]:
        from hornbook.models import Sampling
        from hornbook.program.neurals import neural

        identity, prompt, asked = data["model"], data["prompt"], data["input"]
        if identity not in self._models:
            known = ", ".join(map(repr, self._models)) or "none"
            raise ProgramError(
                f"{place}: neural {data['name']!r} asks the model {identity!r}, which is not "
                f"given: from_json(..., models={{{identity!r}: ...}}); given are {known}"
            )
        ports = {name: read_type(tp) for name, tp in asked.get("ports", ())}
        return neural(
            data["name"],
            self._models[identity],
            prompt=prompt if isinstance(prompt, str) else load(prompt["function"]),
            input=ports or read_type(asked.get("type")),
            output=read_type(data["output"]),
            contract=None if data["contract"] is None else _contract(data["contract"]),
            recover=self._recover(data["recover"], place),
            version=data["version"],
            sampling=Sampling(**data["sampling"]),
            stop=data["stop"],
            timeout=data["timeout"],
            requires_accuracy=data["requires_accuracy"],
        )

    def _recover(self, data: Data, place: str) -> Recover:
        modify, budget = data["modify"], data["budget"]
        fallback = [
            self.program(one, f"{place}.fallback[{at}]") if "kind" in one else load(one["function"])
            for at, one in enumerate(data["fallback"])
        ]
        return Recover(
            retry=data["retry"],
            then=data["then"],
            on=tuple(cast("type[Exception]", load(name)) for name in data["on"]),
            modify=None if modify is None else load(modify),
            fallback=cast("Any", fallback),
            budget=None if budget is None else Budget(**budget),
        )


def _contract(data: Any) -> Contract[Any]:
    return Contract.from_json(canon.serialise(data).decode())


def _bound(data: Data) -> Any:
    return ref(data["ref"], outer=data["outer"]) if "ref" in data else _value(data)


def _value(data: Data) -> Any:
    if "enum" in data:
        return cast("Any", load(data["enum"]))[data["member"]]
    return from_data(data)
