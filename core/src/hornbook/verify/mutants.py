"""Mutants: what a step could have given instead, to see what its contract catches.

Pure functions of a value, its type, its contract's clauses and the step's inputs. Some
mutants aim at a clause, by what its kind says of values; the others are wrong values of the
right type, of which most contracts cannot tell (Forethought 3.1: detected, not proved).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Any, TypeAlias, cast

from hornbook import canon
from hornbook.contracts.clause import Clause, input_at
from hornbook.contracts.paths import Absent, parse
from hornbook.contracts.segments import read_segments
from hornbook.contracts.shown import shown
from hornbook.errors import DefinitionError
from hornbook.verify.changes import ill_typed, outside, shifted, tokens, wrong
from hornbook.verify.places import Parts, places, replaced, segments_of
from hornbook.verify.typed_places import type_at

__all__ = ["Maker", "Mutant", "chosen", "mutants_of"]

_PLACES = 3
"""Places of one clause that are mutated: the others are like them."""

_UNRELATED = "The committee adjourned without a decision on the harbour."

Maker: TypeAlias = Callable[[Any, Mapping[str, Any]], Iterable[Any]]
"""A hook of yours: given a step's right output and its inputs, wrong outputs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One value in place of a step's right one."""

    value: Any
    what: str
    """What is different, for people: `priority: 4`."""
    aims: str | None = None
    """The clause that it was made to break; `output` is the type, None a wrong value."""


def mutants_of(
    value: Any,
    *,
    output: Any = Any,
    clauses: Sequence[Clause] = (),
    inputs: Mapping[str, Any] | None = None,
    makers: Sequence[Maker] = (),
) -> tuple[Mutant, ...]:
    """The mutants of one value, each value once, those that aim at a clause first.

    Args:
        value: what the step gave.
        output: its type.
        clauses: those of its contract's `ensures`.
        inputs: the step's inputs, which grounded values are compared with.
        makers: hooks that know more of such values.
    """
    given = inputs or {}
    made = chain(
        (one for maker in makers for one in _by_maker(maker, value, given)),
        (one for clause in clauses for one in _against(clause, value, given)),
        _against_type(value, output),
        _wrong_values(value, output, clauses, given),
    )
    return tuple(_distinct(value, made))


def chosen(made: Sequence[Mutant], at_most: int) -> tuple[Mutant, ...]:
    """As many mutants as may be tried, of each kind in turn: aimed at clauses, ill-typed, wrong."""
    kinds: dict[str | None, list[Mutant]] = {}
    for one in made:
        kinds.setdefault(one.aims, []).append(one)
    in_turn = (one for turn in zip_longest(*kinds.values()) for one in turn if one is not None)
    taken = set(map(id, islice(in_turn, at_most)))
    return tuple(one for one in made if id(one) in taken)


def _distinct(value: Any, made: Iterable[Mutant]) -> Iterator[Mutant]:
    seen = {canon.digest(value)}
    for mutant in made:
        form = canon.digest(mutant.value)
        if form not in seen:
            seen.add(form)
            yield mutant


def _mutant(value: Any, at: Parts, new: Any, aims: str | None) -> Mutant:
    path = segments_of(at)
    told = shown(new, path)
    return Mutant(
        value=replaced(value, at, new),
        what=told if path == "." else f"{path}: {told}",
        aims=aims,
    )


def _by_maker(maker: Maker, value: Any, inputs: Mapping[str, Any]) -> Iterator[Mutant]:
    for new in maker(value, inputs):
        yield _mutant(value, (), new, None)


def _against_type(value: Any, output: Any) -> Iterator[Mutant]:
    for at, part in places(value):
        for new in ill_typed(part, type_at(at, output)):
            yield _mutant(value, at, new, "output")


def _wrong_values(
    value: Any, output: Any, clauses: Sequence[Clause], inputs: Mapping[str, Any]
) -> Iterator[Mutant]:
    for clause in clauses:
        for at, part in _reached(clause.path, value):
            for new in _plausible(clause, part, inputs):
                yield _mutant(value, at, new, None)
    for at, part in places(value):
        for new in wrong(part, type_at(at, output)):
            yield _mutant(value, at, new, None)
        if isinstance(part, dict) and at == ():
            yield _mutant(value, at, {**part, "unasked": "an extra entry"}, None)


def _plausible(clause: Clause, part: Any, inputs: Mapping[str, Any]) -> Iterator[Any]:
    """Wrong values that the clause is made to accept."""
    match clause.kind:
        case "one_of":
            yield from [one for one in clause.params["values"] if one != part][:_PLACES]
        case "refers_to":
            yield from [one for one in _ids(clause, inputs) if one != part][:_PLACES]
        case "grounded":
            yield from _read(lambda: list(tokens(part, _source(clause, inputs))))
        case _:
            pass


def _against(clause: Clause, value: Any, inputs: Mapping[str, Any]) -> Iterator[Mutant]:
    for at, new in _breaking(clause, value, inputs):
        yield _mutant(value, at, new, clause.name)


def _breaking(clause: Clause, value: Any, inputs: Mapping[str, Any]) -> Iterator[tuple[Parts, Any]]:
    if clause.kind == "implies":
        # Where its condition does not hold the clause says nothing, and nothing can break it.
        yield from _breaking(clause.parts[1], value, inputs)
        return
    for at, part in _reached(clause.path, value):
        if clause.kind == "forall":
            for deeper, new in _breaking(clause.parts[0], part, inputs):
                yield (*at, *deeper), new
        else:
            for new in _read(lambda: list(_bad_parts(clause, part, inputs))):  # noqa: B023 - used at once
                yield at, new


def _bad_parts(clause: Clause, part: Any, inputs: Mapping[str, Any]) -> Iterator[Any]:
    """Parts of the right type that break a clause of this kind."""
    params = clause.params
    match clause.kind:
        case "one_of":
            yield from outside(part, params["values"])
        case "refers_to":
            yield from outside(part, _ids(clause, inputs))
        case "subset_of":
            yield from _with_an_item(part, lambda item: outside(item, params["values"]))
        case "in_range":
            yield from shifted(params["low"], -1) if params["low"] is not None else ()
            yield from shifted(params["high"], 1) if params["high"] is not None else ()
        case "matches":
            yield from ("", f"{part}\n#", f"#{part}")
        case "unique":
            yield from _with_an_item(part, lambda item: [item])
        case "monotone":
            yield from wrong(part)
        case "grounded":
            yield from _ungrounded(part)
        case "covers" | "entails" | "similar":
            yield from ("", _UNRELATED, str(part)[: len(str(part)) // 2])
        case _:
            pass


def _ungrounded(part: Any) -> Iterator[Any]:
    if isinstance(part, list | tuple):
        yield from _with_an_item(part, _ungrounded)
    else:
        yield from outside(part, ())
        yield from (new for new in wrong(part) if new)


def _with_an_item(part: Any, others: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """The collection with one item more, made from the first."""
    if not isinstance(part, set | frozenset | list | tuple):
        return
    items = list(cast("Iterable[Any]", part))
    first = sorted(items, key=repr)[:1] if isinstance(part, set | frozenset) else items[:1]
    made = cast("Any", type(cast("Any", part)))
    for item in first:
        yield from (made([*items, other]) for other in others(item))


def _ids(clause: Clause, inputs: Mapping[str, Any]) -> Sequence[Any]:
    ids: Any = clause.params["ids"]
    return _read(lambda: list(cast("Any", ids(inputs) if callable(ids) else ids)))


def _source(clause: Clause, inputs: Mapping[str, Any]) -> str:
    from hornbook.contracts.grounding import text_of

    return text_of(input_at(inputs, clause.params["source"])) or ""


def _read(read: Callable[[], list[Any]]) -> list[Any]:
    """What a user's value or function gives; where it raises there is nothing to make."""
    try:
        return read()
    except Exception:  # noqa: BLE001 - values of any type, and functions of the user's
        return []


def _reached(path: str, value: Any) -> Iterator[tuple[Parts, Any]]:
    """The first places that a path leads to."""
    try:
        found = [one for one in parse(path).matches(value) if not isinstance(one, Absent)]
        yield from [(tuple(read_segments(one.path)), one.value) for one in found[:_PLACES]]
    except DefinitionError:  # a key that paths cannot say
        return
