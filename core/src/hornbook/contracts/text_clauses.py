"""The clause kinds that read text: patterns, grounding, and the measured ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, Literal, TypedDict, Unpack, cast

from hornbook.contracts.clause import Clause, OnUndetermined, input_at
from hornbook.contracts.finding import Answer
from hornbook.contracts.judge import Calibration, Judge
from hornbook.contracts.shown import shown
from hornbook.errors import DefinitionError

__all__ = [
    "AtPath",
    "Common",
    "covers",
    "entails",
    "full_match",
    "grounded",
    "matches",
    "named",
    "similar",
]

Mode = Literal["exact", "normalized", "fuzzy"]


class Common(TypedDict, total=False):
    """What every clause takes."""

    name: str
    version: str
    on_undetermined: OnUndetermined


class AtPath(Common, total=False):
    """What every clause with a path takes."""

    optional: bool


def matches(path: str, pattern: str, **common: Unpack[AtPath]) -> Clause:
    """The whole text at `path` matches `pattern`, in linear time (Rust's regex syntax).

    Raises:
        DefinitionError: the pattern is not one; look-around and back-references are not.
    """
    fits = full_match(pattern, f"matches({path!r})")
    return Clause(
        kind="matches",
        path=path,
        params={"pattern": pattern},
        expected=f"text that matches {pattern!r}",
        test=lambda value, inputs: isinstance(value, str) and fits(value),
        **named(f"matches {path}", common),
    )


def grounded(
    path: str,
    *,
    source: str,
    mode: Mode = "normalized",
    threshold: float | None = None,
    partial: bool = False,
    **common: Unpack[AtPath],
) -> Clause:
    """The value at `path` stands in the text of the input `source`, as whole tokens.

    Numbers, dates and enums are compared by their canonical form, lists item by item.
    Character spans into the source are the evidence. An empty value, or a source that is
    missing or empty, is Undetermined.

    Args:
        path: where in the output.
        source: the input whose text is searched.
        mode: `exact` compares letter by letter; `normalized` folds case, width, quotes,
            dashes and spaces; `fuzzy` accepts the best window of tokens at `threshold`.
        threshold: similarity in [0, 1] for `fuzzy` (0.85 when left out).
        partial: also accept a part of a token.
    """
    if mode not in ("exact", "normalized", "fuzzy"):
        raise DefinitionError(
            f"grounded({path!r}): mode {mode!r} is none of exact, normalized, fuzzy"
        )
    if threshold is not None and (mode != "fuzzy" or not 0 < threshold <= 1):
        raise DefinitionError(f"grounded({path!r}): threshold is for mode='fuzzy', in (0, 1]")

    def test(value: Any, inputs: Mapping[str, Any]) -> Answer:
        from hornbook.contracts.grounding import text_of

        text = text_of(input_at(inputs, source))
        if not text or not text.strip():
            return Answer(status="Undetermined", reason=f"input {source!r} holds no text")
        items = [value]
        if isinstance(value, list | tuple | Set):
            items = list(cast("Iterable[Any]", value))
        return _grounded(items, text, mode=mode, threshold=threshold, partial=partial)

    return Clause(
        kind="grounded",
        path=path,
        params={"source": source, "mode": mode, "threshold": threshold, "partial": partial},
        expected=f"a value that stands in {source!r}",
        needs=(source,),
        test=test,
        **named(f"grounded {path}", common),
    )


def covers(
    path: str,
    *,
    source: str,
    judge: Judge,
    threshold: float = 0.5,
    calibration: Calibration | None = None,
    **common: Unpack[AtPath],
) -> Clause:
    """Measured: the text at `path` covers all that the input `source` asks."""
    return _measured("covers", path, source, judge, threshold, calibration, common)


def entails(
    path: str,
    *,
    source: str,
    judge: Judge,
    threshold: float = 0.5,
    calibration: Calibration | None = None,
    **common: Unpack[AtPath],
) -> Clause:
    """Measured: the input `source` entails the text at `path`."""
    return _measured("entails", path, source, judge, threshold, calibration, common)


def similar(
    path: str,
    *,
    source: str,
    judge: Judge,
    threshold: float = 0.5,
    calibration: Calibration | None = None,
    **common: Unpack[AtPath],
) -> Clause:
    """Measured: the text at `path` means about the same as the input `source`."""
    return _measured("similar", path, source, judge, threshold, calibration, common)


def full_match(pattern: str, where: str) -> Callable[[str], bool]:
    """A test of whole texts against `pattern`, by pydantic-core's linear-time engine."""
    from functools import partial

    from pydantic_core import SchemaError, SchemaValidator, core_schema

    def validator_of(text: str) -> SchemaValidator:
        return SchemaValidator(core_schema.str_schema(pattern=text, regex_engine="rust-regex"))

    try:
        validator_of(pattern)  # by itself: `a)(b` is no pattern, and would be one in the group
        validator = validator_of(rf"\A(?:{pattern})\z")
    except SchemaError as error:
        reason = str(error).strip().splitlines()[-1].strip()
        raise DefinitionError(f"{where}: {pattern!r} is not a pattern: {reason}") from None
    return partial(validator.isinstance_python, strict=True)


def _measured(
    kind: str,
    path: str,
    source: str,
    judge: Judge,
    threshold: float,
    calibration: Calibration | None,
    common: AtPath,
) -> Clause:
    given = cast("object", judge)
    if isinstance(given, type) or not isinstance(given, Judge) or not callable(given.judge):
        raise DefinitionError(
            f"{kind}({path!r}): {judge!r} is no judge; it needs a method judge(questions)"
        )
    if not 0 <= threshold <= 1:
        raise DefinitionError(f"{kind}({path!r}): threshold {threshold!r} is not in [0, 1]")
    verb = {"covers": "covers", "entails": "follows from", "similar": "means the same as"}[kind]
    return Clause(
        kind=kind,
        path=path,
        params={"source": source, "judge": judge, "threshold": threshold},
        expected=f"text that {verb} {source!r} (score at least {threshold:g})",
        needs=(source,),
        judge=judge,
        threshold=threshold,
        calibration=calibration,
        **named(f"{kind} {path}", common),
    )


def _grounded(
    items: Sequence[Any], text: str, *, mode: Mode, threshold: float | None, partial: bool
) -> Answer:
    from hornbook.contracts.grounding import Ungroundable, locate

    if not items:
        return Answer(status="Undetermined", reason="the value is empty")
    spans: list[list[int]] = []
    absent: list[str] = []
    unclear = ""
    for item in items:
        found = locate(item, text, mode=mode, threshold=threshold, partial=partial)
        if isinstance(found, Ungroundable):
            unclear = unclear or found.reason
        elif found:
            spans += [[span.start, span.end] for span in found]
        else:
            absent.append(shown(item))
    if absent:
        return Answer(status="Violated", evidence={"absent": absent, "spans": spans})
    if unclear:
        return Answer(status="Undetermined", reason=unclear)
    return Answer(status="Satisfied", evidence={"spans": spans})


def named(default: str, common: Common | AtPath) -> dict[str, Any]:
    """What every clause takes, with the name that its kind gives it when none is given."""
    return {"name": default, **common}
