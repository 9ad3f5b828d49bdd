"""Assignability: whether a value of one type may stand where another is asked.

Values that flow through a program are not changed, so every container is covariant. What
is assignable is also accepted by the other type's strict check at run time: that is why a
bool is no int here, and a str no sequence of str.
"""

from collections import Counter, abc
from collections.abc import Mapping
from enum import Enum
from types import NoneType
from typing import Any, Never, NoReturn, TypeAlias, TypeVar, cast, get_args, get_origin

from typing_extensions import is_protocol, is_typeddict

from hornbook.contracts.fields import FieldType, field_types
from hornbook.contracts.members import class_of
from hornbook.program.ports import is_ports, ports_of, type_name
from hornbook.program.types_forms import (
    alternatives,
    bare,
    is_literal,
    is_new_type,
    joined,
    labels_of,
    variable_bound,
    viewed,
)

__all__ = ["Solved", "assignable", "mismatch"]

Solved: TypeAlias = dict[Any, Any]
"""What each type variable of the asked types stands for."""

_NEVER = (Never, NoReturn)
_DEEPEST = 8
"""How often a record may stand in itself before two of them are taken to be alike."""
_ITEM_KINDS = (
    list,
    set,
    frozenset,
    abc.Sequence,
    abc.MutableSequence,
    abc.Set,
    abc.MutableSet,
    abc.Iterable,
    abc.Collection,
    abc.Container,
    abc.Reversible,
)


def assignable(source: Any, target: Any, solved: Solved | None = None) -> bool:
    """Whether a value of type `source` may stand where `target` is asked."""
    return mismatch(source, target, solved) is None


def mismatch(source: Any, target: Any, solved: Solved | None = None) -> str | None:
    """Why `source` may not stand where `target` is asked; None when it may.

    Type variables in `target` are solved: `solved` tells what they became.
    """
    return _Comparison({} if solved is None else solved).compare(source, target)


class _Comparison:
    """One comparison; it remembers what is under way, since types may be recursive."""

    def __init__(self, solved: Solved) -> None:
        self._solved = solved
        self._under_way: set[tuple[Any, Any]] = set()
        self._records: Counter[tuple[Any, Any]] = Counter()

    def compare(self, source: Any, target: Any) -> str | None:
        source, target = bare(source), bare(target)
        if target is Any or target is object or source is Any or source in _NEVER:
            return None
        pair = _pair(source, target)
        if pair in self._under_way:
            return None
        self._under_way.add(pair)
        try:
            return self._compare(source, target)
        finally:
            self._under_way.discard(pair)

    def _compare(self, source: Any, target: Any) -> str | None:
        if isinstance(target, TypeVar):
            return self._solve(source, target)
        if isinstance(source, TypeVar):
            return self.compare(variable_bound(source), target)
        members = alternatives(source)
        if len(members) > 1:
            return next(filter(None, (self.compare(one, target) for one in members)), None)
        wanted = alternatives(target)
        if len(wanted) > 1:
            return self._one_of(source, target, wanted)
        # A union whose members are all the same is none.
        source, target = next(iter(members)), next(iter(wanted))
        if source == target:
            return None
        labels = labels_of(source)
        if labels is not None and (is_literal(target) or is_literal(source)):
            return self._labels(labels, target)
        if is_new_type(target):
            return self._new_type(source, target)
        if is_new_type(source):
            return self.compare(source.__supertype__, target)
        return self._classes(source, target)

    def _one_of(self, source: Any, target: Any, wanted: tuple[Any, ...]) -> str | None:
        # A type variable takes anything, so it comes last.
        ordered = sorted(wanted, key=lambda one: isinstance(one, TypeVar))
        tried = [self._tried(source, one) for one in ordered]
        if None in tried:
            return None
        labels = labels_of(source)
        if labels is not None and len(labels) > 1 and not is_literal(source):
            return self._labels(labels, target)
        if is_literal(source) and len(get_args(source)) > 1:
            return self._labels(get_args(source), target)
        return _differ(source, target)

    def _tried(self, source: Any, target: Any) -> str | None:
        before = dict(self._solved)
        found = self.compare(source, target)
        if found is not None:
            self._solved.clear()
            self._solved.update(before)
        return found

    def _labels(self, labels: tuple[Any, ...], target: Any) -> str | None:
        """Each value of a Literal, a bool or an Enum by itself."""
        for label in labels:
            if not any(self._label(label, one) for one in alternatives(target)):
                return f"{label!r} is no {type_name(target)}"
        return None

    def _label(self, label: Any, target: Any) -> bool:
        if isinstance(target, TypeVar):
            return self._solve(type(label), target) is None
        if is_literal(target):
            return any(type(one) is type(label) and one == label for one in get_args(target))
        return self.compare(type(label), target) is None

    def _solve(self, source: Any, variable: TypeVar) -> str | None:
        limit = variable_bound(variable)
        if not variable.__constraints__ or limit is not Any:
            found = self.compare(source, limit)
            if found is not None:
                return found
        known = self._solved.get(variable)
        self._solved[variable] = source if known is None else joined(known, source)
        return None

    def _new_type(self, source: Any, target: Any) -> str | None:
        found = source
        while is_new_type(found):
            if found is target:
                return None
            found = found.__supertype__
        return _differ(source, target)

    def _classes(self, source: Any, target: Any) -> str | None:
        kind, wanted = class_of(source), class_of(target)
        if kind is None or wanted is None:
            return _differ(source, target)
        if is_typeddict(wanted):
            return self._record(source, target)
        if is_typeddict(kind):
            return self._keys(source, target, wanted)
        if wanted is tuple:
            return self._tuple(source, target)
        if wanted in _ITEM_KINDS:
            return self._items(source, target, wanted)
        if issubclass(wanted, abc.Mapping):
            return self._arguments(source, target, cast("type[Any]", wanted))
        if wanted is float and issubclass(kind, int) and not issubclass(kind, bool):
            return None
        if not _nominal(kind, wanted):
            return _differ(source, target)
        return self._arguments(source, target, wanted) if get_args(target) else None

    def _items(self, source: Any, target: Any, wanted: type[Any]) -> str | None:
        kind = class_of(source)
        if kind is not None and issubclass(kind, str | bytes | bytearray):
            return f"{type_name(source)} is no {type_name(target)}: its characters are no items"
        return self._arguments(source, target, wanted)

    def _arguments(self, source: Any, target: Any, wanted: type[Any]) -> str | None:
        args = viewed(source, wanted)
        if args is None:
            return _differ(source, target)
        for asked, given in zip(get_args(target), args, strict=False):
            found = self._argument(given, asked)
            if found is not None:
                return _because(source, target, found)
        return None

    def _argument(self, given: Any, asked: Any) -> str | None:
        if isinstance(given, list) or isinstance(asked, list):  # the parameters of a Callable
            return None if given == asked else "the parameters differ"
        return self.compare(given, asked)

    def _tuple(self, source: Any, target: Any) -> str | None:
        kind = class_of(source)
        if kind is None or not issubclass(kind, tuple):
            return _differ(source, target)
        if target is tuple:
            return None
        asked = get_args(target)
        given = _positions(source)
        if given is None:  # its length is not told
            items = viewed(source, tuple) or (Any,)
            if len(asked) != 2 or asked[1] is not Ellipsis:
                return _differ(source, target)
            return self._each(source, target, [(items[0], asked[0])])
        if len(asked) == 2 and asked[1] is Ellipsis:
            return self._each(source, target, [(one, asked[0]) for one in given])
        if len(given) != len(asked):
            return f"{_differ(source, target)}: {len(given)} items for {len(asked)}"
        return self._each(source, target, list(zip(given, asked, strict=True)))

    def _each(self, source: Any, target: Any, pairs: list[tuple[Any, Any]]) -> str | None:
        for given, asked in pairs:
            found = self.compare(given, asked)
            if found is not None:
                return _because(source, target, found)
        return None

    def _record(self, source: Any, target: Any) -> str | None:
        """A TypedDict, or named ports, is asked: what counts are the keys."""
        given = ports_of(source) if is_ports(target) else _typed_keys(source)
        if given is None:
            return _differ(source, target)
        # A generic record may hold itself with ever larger arguments, so that no pair comes again.
        pair = (class_of(source), class_of(target))
        if self._records[pair] == _DEEPEST:
            return None
        self._records[pair] += 1
        try:
            return self._fields(source, target, given)
        finally:
            self._records[pair] -= 1

    def _fields(self, source: Any, target: Any, given: Mapping[str, FieldType]) -> str | None:
        for name, asked in field_types(target).items():
            here = given.get(name)
            if here is None:
                return f"{type_name(source)} has no {name!r}, which {type_name(target)} asks"
            if here.optional and not asked.optional:
                return f"{name!r} may be missing in {type_name(source)}"
            found = self.compare(here.type, asked.type)
            if found is not None:
                return f"at {name!r}: {found}"
        return None

    def _keys(self, source: Any, target: Any, wanted: type[Any]) -> str | None:
        """A TypedDict where a class is asked: it is a dict with text for keys."""
        if not _nominal(dict, wanted):
            return _differ(source, target)
        args = get_args(target)
        if not args:
            return None
        values = [field.type for field in field_types(source).values()]
        # A TypedDict may hold keys that its type does not name; ports may not.
        value = joined(*values) if is_ports(source) and values else object
        given = (str, value) if len(args) > 1 else (str,)
        return self._each(source, target, list(zip(given, args, strict=False)))


def _pair(source: Any, target: Any) -> tuple[Any, Any]:
    try:
        hash((source, target))
    except TypeError:
        return (id(source), id(target))
    return (source, target)


def _nominal(kind: type[Any], wanted: type[Any]) -> bool:
    if issubclass(kind, bool) and wanted is not bool:
        return wanted in (abc.Hashable,)
    if issubclass(kind, Enum) and wanted in (int, str, float):
        return issubclass(kind, wanted)
    try:
        return issubclass(kind, wanted)
    except TypeError:  # a protocol that is not for run time, or one with data members
        return is_protocol(wanted) and _has_members(kind, wanted)


def _has_members(kind: type[Any], protocol: type[Any]) -> bool:
    from typing_extensions import get_protocol_members

    declared = field_types(kind)
    return all(hasattr(kind, name) or name in declared for name in get_protocol_members(protocol))


def _positions(source: Any) -> tuple[Any, ...] | None:
    """The items of a tuple of known length."""
    kind = cast("type[Any]", class_of(source))
    if kind is not tuple:
        fields = field_types(source)
        return tuple(field.type for field in fields.values()) or None
    args = get_args(source)
    if get_origin(source) is None or (len(args) == 2 and args[1] is Ellipsis):
        return None
    return args


def _typed_keys(source: Any) -> Any:
    kind = class_of(source)
    return field_types(source) if kind is not None and is_typeddict(kind) else None


def _because(source: Any, target: Any, found: str) -> str:
    """Two types differ by something in them: where they are written alike, that alone tells."""
    alike = type_name(source) == type_name(target)
    return found if alike else f"{_differ(source, target)}: {found}"


def _differ(source: Any, target: Any) -> str:
    named = "None" if source is NoneType else type_name(source)
    asked = type_name(target)
    if named != asked:
        return f"{named} is no {asked}"
    return (
        f"these are two different classes called {named}, as when a cell of a notebook is run "
        f"again: make anew what uses the older one"
    )
