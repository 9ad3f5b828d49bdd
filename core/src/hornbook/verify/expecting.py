"""What a scenario expects, held against what a run came to."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hornbook.canon import digest
from hornbook.errors import told
from hornbook.verify.comparing import compared
from hornbook.verify.scenario import UNSET, Expectation, ExpectedStep
from hornbook.verify.unknown import nearest
from hornbook.verify.values import Check, Played, StepSeen

__all__ = [
    "checks_of",
    "differing",
    "raised",
    "static_place",
    "unexpected_end",
    "unknown_steps",
]

_RAISED = 600
"""Characters of an exception's text."""
_ROUND = re.compile(r"#\d+")


def static_place(place: str) -> str:
    """Where a step stands in the program as written, whatever round it ran in."""
    return _ROUND.sub("#1", place)


def checks_of(
    expect: Expectation, played: Played, output: Any, outputs: Mapping[str, Any]
) -> tuple[Check, ...]:
    """Everything that is expected, with what was seen.

    Args:
        expect: the expectation.
        played: the run.
        output: the program's output type.
        outputs: by place, the output types of its steps.
    """
    return tuple(_checks(expect, played, output, outputs))


def _checks(
    expect: Expectation, played: Played, output: Any, outputs: Mapping[str, Any]
) -> Iterator[Check]:
    if expect.status is not None:
        yield _plain("status", expect.status, _ended(played), expect.status == played.status)
    if expect.output is not UNSET:
        if played.error is not None:
            yield _plain("output", repr(expect.output)[:120], _ended(played), False)
        else:
            yield from compared("output", expect.output, played.output, output)
    if expect.violation is not None:
        yield _violated(expect, played)
    if expect.calls is not None:
        seen = str(played.calls)
        yield _plain("calls", str(expect.calls), seen, expect.calls == played.calls)
    for name, step in expect.steps.items():
        yield from _of_step(name, step, _called(name, played.steps), outputs)


def _plain(what: str, expected: str, seen: str, ok: bool) -> Check:
    return Check(what=what, expected=expected, seen=seen, ok=ok)


def _ended(played: Played) -> str:
    return played.status if played.error is None else f"{played.status} ({raised(played.error)})"


def raised(error: BaseException) -> str:
    """An exception on one line, cut and without secrets."""
    from hornbook.trace.redact import redact_text

    return redact_text(" ".join(told(error).split()), limit=_RAISED)


def _violated(expect: Expectation, played: Played) -> Check:
    wanted = expect.violation
    assert wanted is not None
    ok = any(
        wanted.step in (None, one.step, one.place) and wanted.clause in (None, one.clause)
        for one in played.violations
    )
    seen = ", ".join(f"{one.clause!r} at step {one.step!r}" for one in played.violations)
    return _plain("violation", str(wanted), seen or "no violation", ok)


def _called(name: str, steps: Sequence[StepSeen]) -> StepSeen | None:
    """The last step of that place or name."""
    for key in ("place", "name"):
        found = [step for step in steps if getattr(step, key) == name]
        if found:
            return found[-1]
    return None


def _of_step(
    name: str, expected: ExpectedStep, seen: StepSeen | None, outputs: Mapping[str, Any]
) -> Iterator[Check]:
    what = f"step {name!r}"
    if expected.ran is not None:
        told = ("did not run", "ran")
        yield _plain(
            what, told[expected.ran], told[seen is not None], expected.ran == (seen is not None)
        )
    wants = (expected.status, expected.attempts, expected.output)
    if seen is None:
        if expected.ran is None and wants != (None, None, UNSET):
            yield _plain(what, "it to run", "that it did not run", False)
        return
    if expected.status is not None:
        ok = expected.status == seen.status
        yield _plain(f"{what}, status", expected.status, seen.status, ok)
    if expected.attempts is not None:
        ok = expected.attempts == seen.attempts
        yield _plain(f"{what}, attempts", str(expected.attempts), str(seen.attempts), ok)
    if expected.output is not UNSET:
        tp = outputs.get(static_place(seen.place), Any)
        yield from compared(f"{what}, output", expected.output, seen.output, tp)


def unexpected_end(expect: Expectation, played: Played) -> str:
    """Why a run that raised fails its scenario, where nothing expects that it does."""
    if played.error is None or expect.status is not None or expect.violation is not None:
        return ""
    return f"the run ended with {raised(played.error)}"


def unknown_steps(expect: Expectation, known: Iterable[str]) -> str:
    """What is expected of steps that the program does not have."""
    names = list(known)
    wanted = [*expect.steps, *filter(None, [expect.violation and expect.violation.step])]
    for name in wanted:
        if name not in names and static_place(name) not in names:
            return f"the program has no step {name!r}{nearest(name, names)}"
    return ""


def differing(one: Played, other: Played) -> str:
    """What differs between the sync and the async run; empty when nothing does."""
    for what, left, right in (
        ("status", one.status, other.status),
        ("output", digest(one.output), digest(other.output)),
        ("error", _error(one), _error(other)),
        ("calls", one.calls, other.calls),
        ("steps", _steps(one), _steps(other)),
    ):
        if left != right:
            return f"the sync and the async run differ in their {what}: {_two(what, one, other)}"
    return ""


def _error(played: Played) -> str:
    return "" if played.error is None else raised(played.error)


def _steps(played: Played) -> list[tuple[str, ...]]:
    """In the order of their places: concurrent steps may begin in any order."""
    return sorted(
        (one.place, one.status, str(one.attempts), digest(one.output)) for one in played.steps
    )


def _two(what: str, one: Played, other: Played) -> str:
    if what == "steps":
        left, right = dict.fromkeys(_steps(one)), dict.fromkeys(_steps(other))
        differ = [step[0] for step in [*left, *right] if (step in left) != (step in right)]
        return ", ".join(dict.fromkeys(differ))
    if what == "output":
        return f"{one.output!r:.100} and {other.output!r:.100}"
    return f"{getattr(one, what)!s:.200} and {getattr(other, what)!s:.200}"
