"""The clause kinds that look at values: predicates, membership, bounds, composition.

In `ensures` a path leads into the output; in `requires` it starts at an input's name.
Every function takes `name=`, `version="1"` and `on_undetermined="fail" | "waive"`; those
with a path take `optional=` as well.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from typing import Any, Unpack, cast

from hornbook.contracts.clause import Clause, input_at
from hornbook.contracts.finding import Answer
from hornbook.contracts.paths import Absent, parse
from hornbook.contracts.predicates import is_async, required_positional
from hornbook.contracts.shown import shown
from hornbook.contracts.text_clauses import AtPath, Common, named
from hornbook.errors import DefinitionError

__all__ = [
    "bound",
    "forall",
    "implies",
    "in_range",
    "kind",
    "monotone",
    "one_of",
    "refers_to",
    "subset_of",
    "that",
    "unique",
]

Ids = Collection[Any] | Callable[[Mapping[str, Any]], Collection[Any]]

_COMPARED = 1_000
"""Unhashable keys that are compared each with each."""

_LISTED = 8
"""Allowed values that a violation spells out."""


def that(message: str, fn: Callable[..., object], **common: Unpack[Common]) -> Clause:
    """`fn(value)`, or `fn(value, inputs)` where it has two required parameters, is True.

    Anything but a bool, and an exception, is Undetermined.

    Raises:
        DefinitionError: `fn` is async, or takes neither one nor two required parameters.
    """
    if not callable(fn):
        raise DefinitionError(f"that({message!r}, {fn!r}): the condition is a function")
    if is_async(fn):
        raise DefinitionError(
            f"that({message!r}): the condition is an async function, and a check must not wait; "
            f"ask a judge (covers, entails, similar) instead"
        )
    wanted = required_positional(fn)
    if wanted not in (0, 1, 2):
        raise DefinitionError(
            f"that({message!r}): the condition takes {wanted} required parameters; "
            f"it gets the value, or the value and the inputs"
        )
    both = wanted == 2
    return Clause(
        kind="that",
        params={"message": message, "fn": fn},
        expected=message,
        predicate=None if both else fn,
        test=fn if both else (lambda value, inputs: fn(value)),
        **named(message, common),
    )


def one_of(path: str, values: Collection[Any], **common: Unpack[AtPath]) -> Clause:
    """The value at `path` is one of `values`."""
    allowed = _collection("one_of", path, values)
    member = _membership(allowed)
    return Clause(
        kind="one_of",
        path=path,
        params={"values": allowed},
        expected=f"one of {_listed(allowed)}",
        test=lambda value, inputs: member(value),
        **named(f"one_of {path}", common),
    )


def subset_of(path: str, values: Collection[Any], **common: Unpack[AtPath]) -> Clause:
    """Every item of the collection at `path` is one of `values`."""
    allowed = _collection("subset_of", path, values)
    member = _membership(allowed)

    def test(value: Any, inputs: Mapping[str, Any]) -> Answer | bool:
        outside = [item for item in _items(value) if not member(item)]
        return not outside or Answer(
            status="Violated", evidence={"outside": [shown(item) for item in outside]}
        )

    return Clause(
        kind="subset_of",
        path=path,
        params={"values": allowed},
        expected=f"items among {_listed(allowed)}",
        test=test,
        **named(f"subset_of {path}", common),
    )


def refers_to(path: str, ids: Ids, **common: Unpack[AtPath]) -> Clause:
    """The value at `path` is one of `ids`: a collection, or a function of the inputs."""
    if callable(ids) and is_async(ids):
        raise DefinitionError(f"refers_to({path!r}): the ids come from an async function")
    known = ids if callable(ids) else _collection("refers_to", path, ids)
    member = None if callable(known) else _membership(known)

    def test(value: Any, inputs: Mapping[str, Any]) -> Answer | bool:
        among = _collection("refers_to", path, known(inputs)) if callable(known) else known
        found = (member or _membership(among))(value)
        return found or Answer(status="Violated", expected=f"one of {_listed(among)}")

    return Clause(
        kind="refers_to",
        path=path,
        params={"ids": known},
        expected="a known id",
        test=test,
        **named(f"refers_to {path}", common),
    )


def in_range(path: str, low: Any = None, high: Any = None, **common: Unpack[AtPath]) -> Clause:
    """`low` <= the value at `path` <= `high`; either bound may be left out."""
    if low is None and high is None:
        raise DefinitionError(f"in_range({path!r}): give low=, high= or both")
    if low is not None and high is not None and not _at_most(path, low, high):
        raise DefinitionError(f"in_range({path!r}): low {low!r} is above high {high!r}")
    bounds = [f"at least {low!r}"] * (low is not None) + [f"at most {high!r}"] * (high is not None)
    return Clause(
        kind="in_range",
        path=path,
        params={"low": low, "high": high},
        expected=" and ".join(bounds),
        test=lambda value, inputs: bool(
            (low is None or value >= low) and (high is None or value <= high)
        ),
        **named(f"in_range {path}", common),
    )


def unique(
    path: str, key: str | Callable[[Any], Any] | None = None, **common: Unpack[AtPath]
) -> Clause:
    """The items at `path` have no duplicates, by `key`: a path into the item or a function."""

    def keyed(item: Any) -> Any:
        return key(item) if callable(key) else item if key is None else _single(item, key)

    def test(value: Any, inputs: Mapping[str, Any]) -> Answer | bool:
        twice = _duplicates([keyed(item) for item in _items(value)])
        return not twice or Answer(
            status="Violated", evidence={"duplicates": [shown(item, named_by) for item in twice]}
        )

    named_by = key if isinstance(key, str) else "."
    by = "" if key is None else f" by {key if isinstance(key, str) else _function_name(key)}"
    return Clause(
        kind="unique",
        path=path,
        params={"key": key},
        expected=f"no duplicates{by}",
        test=test,
        **named(f"unique {path}", common),
    )


def implies(if_: Clause | Callable[..., object], then: Clause, **common: Unpack[Common]) -> Clause:
    """Where `if_` holds, `then` must; where it does not, the clause is NotApplicable."""
    condition = if_ if isinstance(if_, Clause) else that(_function_name(if_), if_)
    return Clause(
        kind="implies",
        parts=(condition, then),
        params={"if_": if_, "then": then},
        expected=f"{then.expected or then.name} where {condition.name}",
        needs=condition.needs + then.needs,
        **named(f"{condition.name} implies {then.name}", common),
    )


def forall(path: str, clause: Clause, **common: Unpack[AtPath]) -> Clause:
    """`clause` holds of every value at `path`; its own path starts at that value."""
    return Clause(
        kind="forall",
        path=path,
        parts=(clause,),
        params={"clause": clause},
        expected=clause.expected,
        needs=clause.needs,
        **named(f"{clause.name} for all {path}", common),
    )


def monotone(path: str, *, before: str, **common: Unpack[AtPath]) -> Clause:
    """Nothing that was in the input `before` is gone (Forethought 4, INV-S).

    Keys of a mapping (their values may change), items of any other collection.
    """

    def test(value: Any, inputs: Mapping[str, Any]) -> Answer | bool:
        earlier = input_at(inputs, before)
        if earlier is None:
            return Answer(status="Undetermined", reason=f"input {before!r} is absent")
        there = _keys_or_items(value)
        gone = [item for item in _keys_or_items(earlier) if item not in there]
        return not gone or Answer(
            status="Violated", evidence={"gone": [shown(item) for item in gone]}
        )

    return Clause(
        kind="monotone",
        path=path,
        params={"before": before},
        expected=f"everything that input {before!r} has",
        needs=(before,),
        test=test,
        **named(f"monotone {path}", common),
    )


def bound(*names: str, **common: Unpack[Common]) -> Clause:
    """The inputs of these names are present and not None. Belongs in `requires`."""
    if not names:
        raise DefinitionError("bound(): name at least one input")

    def test(value: Any, inputs: Mapping[str, Any]) -> Answer | bool:
        missing = [name for name in names if input_at(inputs, name) is None]
        return not missing or Answer(status="Violated", evidence={"missing": missing})

    return Clause(
        kind="bound",
        params={"names": names},
        expected=f"a value for {', '.join(names)}",
        needs=names,
        test=test,
        **named(f"bound {', '.join(names)}", common),
    )


def kind(name: str) -> Callable[..., Clause]:
    """The function of a kind: a built-in one, or one that a plugin registered.

    Raises:
        DefinitionError: there is no such kind; the message lists those that exist.
    """
    from hornbook.contracts.kinds import find

    return find(name)


def _at_most(path: str, low: Any, high: Any) -> bool:
    try:
        return bool(low <= high)
    except TypeError as error:
        raise DefinitionError(f"in_range({path!r}): {error}") from None


def _collection(kind: str, path: str, values: object) -> Collection[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Collection):
        raise DefinitionError(f"{kind}({path!r}): {values!r} is not a collection of values")
    given = cast("Collection[Any]", values)
    try:
        return frozenset(given) if isinstance(given, Set) else tuple(given)
    except TypeError:
        return tuple(given)


def _membership(values: Collection[Any]) -> Callable[[Any], bool]:
    try:
        quick = frozenset(values)
    except TypeError:  # some value is not hashable
        return lambda value: value in values

    def member(value: Any) -> bool:
        try:
            return value in quick
        except TypeError:
            return False

    return member


def _items(value: Any) -> Sequence[Any]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise TypeError(f"{type(value).__name__} is not a collection")
    if isinstance(value, Mapping):
        return list(cast("Mapping[Any, Any]", value).values())
    return list(cast("Iterable[Any]", value))


def _keys_or_items(value: Any) -> Sequence[Any]:
    if isinstance(value, Mapping):
        return list(cast("Mapping[Any, Any]", value))
    return _items(value)


def _single(item: Any, path: str) -> Any:
    for match in parse(path).matches(item):
        if isinstance(match, Absent):
            raise KeyError(f"{match.path} is absent")
        return match.value
    raise KeyError(f"{path} is absent")


def _duplicates(keys: list[Any]) -> list[Any]:
    try:
        seen: set[Any] = set()
        return [key for key in keys if key in seen or seen.add(key)]
    except TypeError:  # some key is not hashable
        if len(keys) > _COMPARED:
            return _duplicate_forms(keys)
        return [key for at, key in enumerate(keys) if key in keys[:at]]


def _duplicate_forms(keys: list[Any]) -> list[Any]:
    """Duplicates among many keys, by their canonical form: comparing all with all takes long."""
    from hornbook import canon

    seen: set[bytes] = set()
    forms = [canon.dumps(key) for key in keys]
    return [key for key, form in zip(keys, forms, strict=True) if form in seen or seen.add(form)]


def _listed(values: Collection[Any]) -> str:
    listed = sorted(values, key=repr) if isinstance(values, Set) else list(values)
    more = f", ... ({len(listed)} in all)" if len(listed) > _LISTED else ""
    return ", ".join(shown(value) for value in listed[:_LISTED]) + more


def _function_name(fn: Callable[..., object]) -> str:
    return str(getattr(fn, "__name__", None) or type(fn).__name__)
