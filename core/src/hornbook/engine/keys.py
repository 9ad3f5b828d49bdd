"""Cache keys: equal keys stand for calls that must give equal outputs (DESIGN section 5)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from hornbook import canon
from hornbook.engine.identity import identity
from hornbook.engine.plans import Plan
from hornbook.step.attempts import Feedback

if TYPE_CHECKING:
    from hornbook.models import Request

__all__ = ["Key", "key_of", "lasting"]

Key: TypeAlias = tuple[Any, ...]
"""The key of one attempt in one run: plan, attempt, and what was said, as bytes or, where that
is a few plain values, as they are."""

_PLAIN = frozenset((str, int, bool, type(None)))
_plain: set[tuple[type, ...]] = set()
"""Types of inputs that were found plain: asking is a third of a key's cost."""


def key_of(
    plan: Plan,
    inputs: Mapping[str, Any],
    request: "Request | None",
    attempt: int,
    told: Feedback | None,
) -> Key | None:
    """The key of an attempt; None where the inputs cannot be told apart by what they hold."""
    if request is None and told is None:
        values = tuple(inputs.values())
        types = tuple(map(type, values))
        if types in _plain or _are_plain(types):
            return plan.number, attempt, tuple(inputs), types, values
    said: dict[str, Any] = {}
    if request is not None:
        said["request"] = request.digest
    if told is not None:
        said["feedback"] = [str(violation) for violation in told.report.violations]
    written = identity(dict(inputs), told=said)
    return None if written is None else (plan.number, attempt, written)


def lasting(key: Key, plan: Plan) -> str:
    """The key in a cache that outlives the run: `sha256:...`, equal in every process."""
    if len(key) == 3:
        written: bytes = key[2]
    else:
        written = canon.dumps([key[2], key[4]])
    return canon.digest({**plan.names(), "attempt": key[1], "said": written.decode()})


def _are_plain(types: tuple[type, ...]) -> bool:
    plain = _PLAIN.issuperset(types)
    if plain and len(_plain) < 1000:
        _plain.add(types)
    return plain
