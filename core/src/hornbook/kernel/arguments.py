"""The structural checks of a call: is there such a tool, and are these its arguments?"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import ValidationError

from hornbook import canon
from hornbook.contracts import Verdict, Violation
from hornbook.contracts.shown import shown
from hornbook.kernel.plain import first_unfit
from hornbook.kernel.registry import ToolRegistry, ToolSpec, nearest
from hornbook.schema import SchemaProblem
from hornbook.schema.compiler import child
from hornbook.trace.redact import redact_text

__all__ = ["Findings", "check_arguments", "check_tool", "read_arguments"]

KNOWN_TOOL = "known-tool"
TYPED = "arguments-typed"
COMPLETE = "arguments-complete"
KNOWN = "arguments-known"

_SATISFIED = {
    name: Verdict(clause=name, status="Satisfied") for name in (KNOWN_TOOL, TYPED, COMPLETE, KNOWN)
}
_MAX_HINT = 160
_MAX_TEXT = 1_000_000
_MISSING = ("missing", "missing_argument", "missing_keyword_only_argument")
_EXTRA = ("extra_forbidden", "unexpected_keyword_argument")
"""What pydantic calls these faults."""
_REFUSALS = (ValueError, TypeError, AssertionError)
"""What validation raises to say no; anything else is a validator that broke."""


@dataclass(slots=True)
class Findings:
    """The verdicts and violations of one check, as they come in."""

    verdicts: list[Verdict] = field(default_factory=list[Verdict])
    violations: list[Violation] = field(default_factory=list[Violation])
    ill_typed: tuple[str, ...] = ()
    """Paths whose value is not fit to be looked at further."""

    @property
    def ok(self) -> bool:
        """Whether nothing failed so far."""
        return not self.violations

    def passes(self, clause: str, reason: str = "") -> None:
        """Note a satisfied clause."""
        known = _SATISFIED.get(clause) if not reason else None
        self.verdicts.append(known or Verdict(clause=clause, status="Satisfied", reason=reason))

    def skips(self, clause: str, reason: str) -> None:
        """Note a clause that has nothing to decide."""
        self.verdicts.append(Verdict(clause=clause, status="NotApplicable", reason=reason))

    def fails(self, clause: str, *violations: Violation, undetermined: str = "") -> None:
        """Note a clause that failed, with each place where it did."""
        first = violations[0]
        self.verdicts.append(
            Verdict(
                clause=clause,
                status="Undetermined" if undetermined else "Violated",
                reason=undetermined or f"{first.path}: expected {first.expected}",
                evidence=first.evidence,
            )
        )
        self.violations.extend(violations)


def check_tool(registry: ToolRegistry, name: object, findings: Findings) -> ToolSpec | None:
    """Return the tool a call names; of an unknown one nothing else can be checked."""
    spec = registry.get(name) if isinstance(name, str) else None
    if spec is not None:
        findings.passes(KNOWN_TOOL)
        return spec
    near = registry.nearest(name) if isinstance(name, str) else ()
    hint = f"nearest: {', '.join(near)}" if near else _cut(f"the tools: {', '.join(registry)}")
    findings.fails(
        KNOWN_TOOL,
        Violation(
            clause=KNOWN_TOOL,
            path=".",
            expected="a tool of this agent",
            observed=shown(name),
            evidence={"nearest": list(near)},
            hint=hint if registry else "there are no tools",
        ),
    )
    for clause in (COMPLETE, TYPED, KNOWN):
        findings.skips(clause, "there is no such tool")
    return None


def read_arguments(arguments: object, findings: Findings) -> Mapping[str, Any] | None:
    """Return the arguments of a call as a mapping, reading JSON text; None when they are none."""
    read: Any = arguments
    problem = ""
    if arguments is None or arguments == "":
        read = {}
    elif isinstance(arguments, str | bytes):
        read, problem = _read_text(arguments)
    if isinstance(read, Mapping) and not problem:
        return _fit(cast("Mapping[str, Any]", read), findings)
    findings.skips(COMPLETE, "the arguments cannot be read")
    findings.fails(
        TYPED,
        Violation(
            clause=TYPED,
            path=".",
            expected="a JSON object of arguments",
            observed=shown(arguments),
            hint=problem or "pass the arguments as one JSON object",
        ),
    )
    findings.skips(KNOWN, "the arguments cannot be read")
    return None


def _fit(arguments: Mapping[str, Any], findings: Findings) -> Mapping[str, Any] | None:
    """Return the arguments, unless they cannot be checked: then the call is not made."""
    unfit = first_unfit(arguments)
    if unfit is None:
        return arguments
    findings.skips(COMPLETE, "the arguments cannot be checked")
    violation = Violation(
        clause=TYPED,
        path=unfit.path,
        expected=unfit.expected,
        observed=shown(unfit.value, unfit.path),
        hint=unfit.undecided,
    )
    findings.fails(TYPED, violation, undetermined=unfit.undecided)
    findings.skips(KNOWN, "the arguments cannot be checked")
    return None


def check_arguments(spec: ToolSpec, arguments: Mapping[str, Any], findings: Findings) -> None:
    """Check the arguments against the tool's schema, and its own validation where it has one.

    The schema always decides what is missing and unknown at the top; whether a value is
    fit, the tool decides when it can: hosts convert, and what they take is no fault.
    """
    found = spec.schema.problems(arguments)
    own, undecided = list(found), ""
    if spec.validate is not None:
        told, undecided = _validated(spec, spec.validate, arguments, found)
        at_the_top = [p for p in found if p.kind == "missing" and _decides(spec, p)]
        own = _each_place_once([*at_the_top, *told])
    _report_missing(spec, [p for p in own if p.kind == "missing"], findings)
    if undecided:
        _undetermined(undecided, findings)
    else:
        _report_ill_typed(spec, [p for p in own if p.kind not in ("missing", "extra")], findings)
    _report_unknown(spec, arguments, [p for p in own if p.kind == "extra"], findings)


def _each_place_once(found: list[SchemaProblem]) -> list[SchemaProblem]:
    places: dict[str, SchemaProblem] = {}
    for problem in found:
        places.setdefault(problem.path, problem)
    return list(places.values())


def _decides(spec: ToolSpec, problem: SchemaProblem) -> bool:
    return spec.validate is None or any(
        problem.path == child("", name) for name in spec.shape.properties
    )


def _read_text(text: str | bytes) -> tuple[Any, str]:
    if len(text) > _MAX_TEXT:
        return None, f"more than {_MAX_TEXT} characters"
    try:
        return canon.loads(text), ""
    except canon.CanonError as error:
        return None, _cut(str(error))


def _report_missing(spec: ToolSpec, found: list[SchemaProblem], findings: Findings) -> None:
    if not found:
        findings.passes(COMPLETE)
        return
    findings.fails(
        COMPLETE,
        *(
            Violation(
                clause=COMPLETE,
                path=problem.path,
                expected=problem.expected,
                observed="nothing",
                hint=_described(spec, problem.path),
            )
            for problem in found
        ),
    )


def _report_ill_typed(spec: ToolSpec, found: list[SchemaProblem], findings: Findings) -> None:
    if not found:
        unchecked = ", ".join(spec.schema.unchecked)
        findings.passes(TYPED, f"not checked: {_cut(unchecked)}" if unchecked else "")
        return
    findings.ill_typed = tuple(problem.path for problem in found)
    findings.fails(
        TYPED,
        *(
            Violation(
                clause=TYPED,
                path=problem.path,
                expected=problem.expected,
                observed=shown(problem.observed, problem.path),
                hint=_described(spec, problem.path),
            )
            for problem in found
        ),
    )


def _validated(
    spec: ToolSpec,
    validate: Callable[[Mapping[str, Any]], object],
    arguments: Mapping[str, Any],
    by_schema: Sequence[SchemaProblem],
) -> tuple[list[SchemaProblem], str]:
    """Return what the tool's own validation found, or why it could not decide."""
    try:
        answer = validate(arguments)
    except ValidationError as error:
        return _from_pydantic(spec, error, arguments, by_schema), ""
    except _REFUSALS as error:
        text = redact_text(str(error), limit=_MAX_HINT)
        return [SchemaProblem(path=".", expected=text, observed=arguments, kind="value")], ""
    except Exception as error:  # noqa: BLE001 - a user's validator may raise anything: it fails closed
        return [], f"the tool's validation raised {type(error).__name__}: {error}"
    return [], "the tool's validation is async" if isinstance(answer, Awaitable) else ""


def _undetermined(reason: str, findings: Findings) -> None:
    reason = redact_text(reason, limit=_MAX_HINT)
    violation = Violation(
        clause=TYPED, path=".", expected="arguments that the tool accepts", observed="", hint=reason
    )
    findings.fails(TYPED, violation, undetermined=reason)


def _from_pydantic(
    spec: ToolSpec,
    error: ValidationError,
    arguments: Mapping[str, Any],
    by_schema: Sequence[SchemaProblem],
) -> list[SchemaProblem]:
    """Return what pydantic found, but for what the schema reports: missing and unknown names."""
    found: list[SchemaProblem] = []
    declared = {one.path: one.expected for one in by_schema}
    for item in error.errors(include_url=False, include_context=False):
        missing = item["type"] in _MISSING
        extra = item["type"] in _EXTRA
        if len(item["loc"]) == 1 and (
            extra or (missing and item["loc"][0] in spec.shape.properties)
        ):
            continue
        path, value = _place(item["loc"], arguments, missing=missing)
        expected = item["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
        if missing:
            expected = declared.get(path, "a value")
        kind = "missing" if missing else "value"
        found.append(SchemaProblem(path=path, expected=expected, observed=value, kind=kind))
    return found


def _place(
    loc: tuple[int | str, ...], arguments: Mapping[str, Any], *, missing: bool
) -> tuple[str, Any]:
    """Follow a pydantic location as far as the value goes; other steps name types, not places."""
    path, value = "", cast("Any", arguments)
    followed = loc[:-1] if missing else loc
    for step in followed:
        try:
            value = value[step]
        except (LookupError, TypeError):
            continue
        path = child(path, step)
    if missing:
        return child(path, loc[-1]), None
    return path or ".", value


def _report_unknown(
    spec: ToolSpec, arguments: Mapping[str, Any], nested: list[SchemaProblem], findings: Findings
) -> None:
    known = spec.shape.properties
    unknown = [] if spec.shape.open else [name for name in arguments if name not in known]
    own = [_unknown(spec, name, arguments) for name in unknown]
    places = {violation.path for violation in own}
    own += [_unknown_below(problem) for problem in nested if problem.path not in places]
    if own:
        findings.fails(KNOWN, *own)
    else:
        findings.passes(KNOWN)


def _unknown(spec: ToolSpec, name: str, arguments: Mapping[str, Any]) -> Violation:
    known = spec.shape.properties
    near = nearest(str(name), (other for other in known if other not in arguments))
    takes = f"{spec.name} takes {', '.join(known)}" if known else f"{spec.name} takes no arguments"
    return Violation(
        clause=KNOWN,
        path=child("", str(name)),
        expected="no such argument",
        observed=shown(arguments[name], str(name)),
        hint=f"did you mean {near[0]}?" if near else _cut(takes),
    )


def _unknown_below(problem: SchemaProblem) -> Violation:
    return Violation(
        clause=KNOWN,
        path=problem.path,
        expected=problem.expected,
        observed=shown(problem.observed, problem.path),
    )


def _described(spec: ToolSpec, path: str) -> str:
    """Return what the schema says of an argument in words, if it says anything."""
    schema = spec.shape.properties.get(path)
    if not isinstance(schema, Mapping):
        return ""
    text = cast("Mapping[str, Any]", schema).get("description")
    return _cut(f"{path}: {text}") if isinstance(text, str) and text else ""


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _MAX_HINT else f"{flat[: _MAX_HINT - 3]}..."
