"""`check_type` and `check_format`: does a value fit, and if not, where and why.

Symbolic (Forethought 3.1, "type checking, format validation"). A misfit is an answer and
not an error, so that a program can branch on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from hornbook.contracts.clauses import that
from hornbook.contracts.contract import Contract
from hornbook.contracts.output_type import OutputType
from hornbook.contracts.shown import shown
from hornbook.contracts.text_clauses import full_match
from hornbook.program.library.errors import ProblemError
from hornbook.program.library.formats import FORMATS, Format, Unfit, read_format
from hornbook.program.primitives import primitive
from hornbook.schema import compile_schema

__all__ = [
    "FORMAT_CHECK",
    "TYPE_CHECK",
    "FormatCheck",
    "Misfit",
    "TypeCheck",
    "check_format",
    "check_type",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """One place where a value is not of a type."""

    path: str
    """Where, as `items[2].price`; `.` is all of it."""
    expected: str
    observed: str
    """The value there as text, cut and redacted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCheck:
    """Whether a value fits a type, and where it does not."""

    fits: bool
    misfits: tuple[Misfit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatCheck:
    """Whether a text is of a format, and what it then means."""

    fits: bool
    canonical: str | None = None
    """The text as the format writes it; None where it does not fit."""
    reason: str = ""
    """Why it does not fit."""


def _type_verdict_is_reasoned(found: TypeCheck) -> bool:
    return found.fits is not bool(found.misfits)


def _type_verdict_is_right(found: TypeCheck, inputs: Mapping[str, Any]) -> bool:
    return found.fits is not bool(_misfits(inputs["value"], inputs["against"]))


TYPE_CHECK: Contract[TypeCheck] = Contract(
    "check_type",
    output=TypeCheck,
    ensures=[
        that("a misfit is named, or it fits", _type_verdict_is_reasoned),
        that("the verdict is the type's", _type_verdict_is_right),
    ],
)
"""What `check_type` promises of its result."""


@primitive(contract=TYPE_CHECK)
def check_type(value: Any, against: Any) -> TypeCheck:
    """Hold a value to a type, strictly and without converting it.

    Args:
        value: anything.
        against: a type that pydantic can check, or a JSON schema as a mapping.

    Raises:
        DefinitionError: `against` is neither.
    """
    found = _misfits(value, against)
    return TypeCheck(fits=not found, misfits=found)


def _misfits(value: Any, against: Any) -> tuple[Misfit, ...]:
    if isinstance(against, Mapping):
        schema = compile_schema(cast("Mapping[str, Any]", against))
        return tuple(
            Misfit(path=one.path, expected=one.expected, observed=shown(one.observed, one.path))
            for one in schema.problems(value)
        )
    return tuple(
        Misfit(path=one.path, expected=one.expected, observed=shown(one.observed, one.path))
        for one in OutputType(against).problems(value)
    )


def _format_verdict_is_reasoned(found: FormatCheck) -> bool:
    return found.fits is (found.canonical is not None) and found.fits is not bool(found.reason)


def _format_verdict_is_right(found: FormatCheck, inputs: Mapping[str, Any]) -> bool:
    right = _read(inputs["text"], inputs.get("format"), inputs.get("pattern"))
    if isinstance(right, Unfit):
        return not found.fits
    return found.fits and found.canonical == right


FORMAT_CHECK: Contract[FormatCheck] = Contract(
    "check_format",
    output=FormatCheck,
    ensures=[
        that("it has a canonical form, or a reason", _format_verdict_is_reasoned),
        that("the verdict is the format's", _format_verdict_is_right),
    ],
)
"""What `check_format` promises of its result."""


@primitive(contract=FORMAT_CHECK)
def check_format(
    text: str,
    format: Format | None = None,  # noqa: A002 - it is what the argument is
    pattern: str | None = None,
) -> FormatCheck:
    """Hold a text to a named format, or to a pattern that all of it must match.

    Args:
        text: what is checked.
        format: the name of a format: `iso_date`, `email`, `uuid`, `iban`, `iata`, `e164`,
            `url`, ...; `hornbook.program.library.FORMATS` lists them.
        pattern: a regular expression in Rust's syntax, matched in linear time.

    Raises:
        ProblemError: not exactly one of `format` and `pattern` is given, or no such format.
        DefinitionError: the pattern is not one.
    """
    read = _read(text, format, pattern)
    if isinstance(read, Unfit):
        return FormatCheck(fits=False, reason=read.reason)
    return FormatCheck(fits=True, canonical=read)


def _read(text: str, format_: Format | None, pattern: str | None) -> str | Unfit:
    if (format_ is None) is (pattern is None):
        raise ProblemError("check_format takes a format or a pattern: give one of the two")
    if format_ is not None:
        if format_ not in FORMATS:
            raise ProblemError(
                f"there is no format {format_!r:.60}; there are {', '.join(FORMATS)}"
            )
        return read_format(text, format_)
    assert pattern is not None
    fits = full_match(pattern, "check_format")
    return text if fits(text) else Unfit(f"it does not match {pattern!r:.80}")
