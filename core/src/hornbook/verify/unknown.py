"""What a scenario expects of names that its program does not have: fields and clauses."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, cast, get_args, get_origin

from hornbook.contracts.fields import field_types, has_open_fields
from hornbook.contracts.members import class_of, type_name
from hornbook.contracts.paths import joined
from hornbook.program.types_forms import alternatives, bare
from hornbook.verify.scenario import UNSET, Expectation
from hornbook.verify.values import Played

__all__ = ["nearest", "unknown_clause", "unknown_fields"]

_ITEMS = (list, set, frozenset, Sequence)
_ALWAYS = ("output", "exception")
"""What a contract calls the violations that are of no clause."""


def nearest(word: str, known: Sequence[str]) -> str:
    """Of the known names the nearest, or all of them, as the end of a sentence."""
    near = get_close_matches(word, known, n=1)
    return f"; the nearest is {near[0]!r}" if near else f"; it has {', '.join(known) or 'none'}"


def unknown_fields(expect: Expectation, output: Any, outputs: Mapping[str, Any]) -> str:
    """The first field that is expected and that its type does not have; empty where none is.

    Args:
        expect: the expectation.
        output: the program's output type.
        outputs: by name and place, the output types of its steps.
    """
    wanted = [("output", expect.output, output)]
    for name, step in expect.steps.items():
        wanted.append((f"steps.{name}.output", step.output, outputs.get(name, Any)))
    for what, data, tp in wanted:
        for at, name, kind in () if data is UNSET else _unknown(data, tp, ()):
            path = joined(*at)
            where = what if path == "." else f"{what}{'' if path.startswith('[') else '.'}{path}"
            known = list(_names(kind))
            return (
                f"{where!r} is expected to have {name!r}, which is no field of "
                f"{type_name(kind)}{nearest(name, known)}"
            )
    return ""


def _unknown(
    data: Any, tp: Any, at: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str, Any]]:
    """Places, names and types of what no field is for; a union of several types is let be."""
    members = [one for one in alternatives(bare(tp)) if one is not type(None)]
    if len(members) != 1:
        return
    (kind,) = members
    if isinstance(data, list):
        item = _item(kind)
        for index, one in enumerate(cast("list[Any]", data)):
            yield from _unknown(one, item, (*at, index))
    elif isinstance(data, Mapping):
        yield from _unknown_keys(cast("Mapping[str, Any]", data), kind, at)


def _unknown_keys(
    data: Mapping[str, Any], kind: Any, at: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str, Any]]:
    names = _names(kind)
    for name, value in data.items():
        if names and name not in names:
            yield at, name, kind
        else:
            yield from _unknown(value, names.get(name, Any), (*at, name))


def _names(tp: Any) -> Mapping[str, Any]:
    """The types of a record's fields, by each name that they have; none where it is open."""
    kind = class_of(tp)
    if kind is None or has_open_fields(kind) or _is_read_otherwise(kind):
        return {}
    found = {name: one.type for name, one in field_types(tp).items()}
    return (
        found
        | {one.alias: one.type for one in field_types(tp).values() if one.alias}
        | dict.fromkeys(_validation_aliases(kind), Any)
    )


def _is_read_otherwise(kind: type[Any]) -> bool:
    """Whether pydantic may read a class from other data than its fields by name."""
    made: Any = getattr(kind, "__pydantic_decorators__", None)
    validators: Mapping[str, Any] = getattr(made, "model_validators", None) or {}
    before = any(one.info.mode != "after" for one in validators.values())
    return before or bool(getattr(kind, "__pydantic_root_model__", False))


def _validation_aliases(kind: type[Any]) -> Iterator[str]:
    fields: Mapping[str, Any] = getattr(kind, "model_fields", None) or {}
    for info in fields.values():
        alias = info.validation_alias
        for one in getattr(alias, "choices", [alias]):
            path: Sequence[Any] = getattr(one, "path", [one])
            if isinstance(path[0], str):
                yield path[0]


def _item(tp: Any) -> Any:
    args = get_args(tp)
    if get_origin(tp) is tuple:
        return args[0] if len(args) == 2 and args[1] is Ellipsis else Any
    return args[0] if class_of(tp) in _ITEMS and len(args) == 1 else Any


def unknown_clause(expect: Expectation, played: Played, known: Iterable[str]) -> str:
    """Why an expected violation is of no clause that there is; empty where it is of one.

    Args:
        expect: the expectation.
        played: the run: what it met is known, too.
        known: names of the clauses of the step, or of all steps.
    """
    wanted = expect.violation
    if wanted is None or wanted.clause is None:
        return ""
    names = list(dict.fromkeys([*known, *_ALWAYS]))
    if wanted.clause in [*names, *(one.clause for one in played.violations)]:
        return ""
    whose = "the program" if wanted.step is None else f"step {wanted.step!r}"
    return f"{whose} has no clause {wanted.clause!r}{nearest(wanted.clause, names)}"
