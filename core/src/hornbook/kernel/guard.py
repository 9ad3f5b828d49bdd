"""The tool guard: the kernel's checks around an agent that plans for itself.

A call is checked before it is made (INV-E: no partial call is issued); what is wrong goes
back to the model as a correctable error, and the report goes into the record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal, cast, get_args

from hornbook import canon
from hornbook.budget import Spent
from hornbook.contracts import Clause, Contract, ContractReport, Verdict, Violation
from hornbook.contracts.shown import shown
from hornbook.errors import DefinitionError
from hornbook.kernel.arguments import Findings, check_arguments, check_tool, read_arguments
from hornbook.kernel.context import GuardContext
from hornbook.kernel.feedback import feedback
from hornbook.kernel.grounds import Found, Policy, Ungrounded, find
from hornbook.kernel.prerequisites import PREREQUISITE, is_neural
from hornbook.kernel.quick import quick_test
from hornbook.kernel.registry import ToolRegistry, ToolSpec
from hornbook.kernel.sequence import Doing
from hornbook.kernel.shape import Leaf, declares, leaves
from hornbook.kernel.thresholds import Thresholds
from hornbook.schema.compiler import child

__all__ = ["Grounding", "ToolGuard"]

Grounding = Literal["auto", "required", "off"]
Requirement = Contract[Any] | Sequence[Clause]
Paths = Mapping[str, Sequence[str]]

_GROUNDED = "grounded "
_NO_CONTEXT = "no context: grounding not checked"
_NOT_ORDERED = "no context: prerequisites not checked"
_NOTHING_SPENT = Spent()
_UNFIT = "the arguments do not have the tool's form"


class ToolGuard:
    """Checks calls of the tools of a registry. Immutable; share it freely.

    Args:
        registry: the tools.
        grounding: `auto` grounds what looks like an identifier, and what `grounded` declares,
            wherever there is a context; `required` fails a call that comes with none; `off`.
        grounded: by tool, the paths that must stand in a source, numbers too.
        free: by tool, the paths that need no source.
        requires: by tool, a contract (its `requires`) or clauses on the arguments.
        name: what reports call the contract.
        thresholds: how sure `finish` and the checks of repeats must be.

    Raises:
        DefinitionError: for a tool or argument that does not exist, naming those that do.
    """

    __slots__ = (
        "_digest",
        "_doing",
        "_fine",
        "_neural",
        "_ordered",
        "_policies",
        "_quick",
        "_requires",
        "grounding",
        "name",
        "registry",
        "thresholds",
    )

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        grounding: Grounding = "auto",
        grounded: Paths | None = None,
        free: Paths | None = None,
        requires: Mapping[str, Requirement] | None = None,
        name: str = "tool-guard",
        thresholds: Thresholds | None = None,
    ) -> None:
        if grounding not in get_args(Grounding):
            raise DefinitionError(f"grounding={grounding!r} is none of auto, required, off")
        self.registry = registry
        self.grounding: Grounding = grounding
        self.name = name
        grounded, free, requires = grounded or {}, free or {}, requires or {}
        _refuse_unknown_tools(registry, grounded=grounded, free=free, requires=requires)
        self._policies = {
            tool: Policy(
                grounded=_paths(registry[tool], "grounded", grounded.get(tool, ())),
                free=_paths(registry[tool], "free", free.get(tool, ())),
            )
            for tool in registry
        }
        self._requires = {tool: _contract(registry[tool], requires[tool]) for tool in requires}
        self._quick = {
            tool: test
            for tool in registry
            if tool not in requires and (test := quick_test(registry[tool], self._policies[tool]))
        }
        self.thresholds = thresholds or Thresholds()
        self._doing = Doing(registry, self.thresholds)
        self._ordered = frozenset(tool.name for tool in registry.values() if tool.prerequisites)
        self._neural = frozenset(
            name for name in self._ordered if any(map(is_neural, registry[name].prerequisites))
        )
        self._fine: dict[str, ContractReport] = {}
        self._digest: str | None = None

    @property
    def digest(self) -> str:
        """`sha256:...` of the tools and of all that the guard asks of their calls."""
        if self._digest is None:
            self._digest = canon.digest(
                {
                    "tools": {tool.name: tool.parameters for tool in self.registry.values()},
                    "grounding": self.grounding,
                    "policies": {
                        tool: [list(policy.grounded), list(policy.free)]
                        for tool, policy in self._policies.items()
                    },
                    "requires": {tool: own.digest for tool, own in self._requires.items()},
                    **self._declared(),
                }
            )
        return self._digest

    def _declared(self) -> dict[str, Any]:
        """What of the guard is declared beyond the arguments; nothing where nothing is."""
        found: dict[str, Any] = {}
        if self._ordered:
            found["prerequisites"] = {
                name: [
                    [one.key, one.setup, one.threshold] for one in self.registry[name].prerequisites
                ]
                for name in sorted(self._ordered)
            }
        if self.thresholds != Thresholds():
            found["thresholds"] = asdict(self.thresholds)
        return found

    def check(
        self, tool: str, arguments: object, context: GuardContext | None = None
    ) -> ContractReport:
        """Check one call; it may be made exactly when the report is ok.

        Args:
            tool: the name the model gave.
            arguments: a mapping, or JSON text as models write it.
            context: where the values may come from.
        """
        if not isinstance(cast("object", tool), str):
            return self._nameless(tool)
        report = self._alone(tool, arguments, context)
        if self._ordered or (context is not None and context.calls):
            return self._in_sequence(report, arguments, context)
        return report

    def _alone(self, tool: str, arguments: object, context: GuardContext | None) -> ContractReport:
        """The report of a call by itself."""
        need = self._quick[tool](arguments) if tool in self._quick else None
        if need is not None and context is not None and tool in self._fine:
            report = self._fine[tool] if not need else self._found(tool, arguments, need, context)
            if report is not None:
                return report
        findings, read = self._structure(tool, arguments, context)
        more = None
        if read is not None and tool in self._requires:
            more = self._requires[tool].check_inputs(read, step=tool)
        report = self._report(tool, findings, more)
        if need is not None and context is not None and report.ok:
            form = (v for v in report.verdicts if not v.clause.startswith(_GROUNDED))
            self._fine[tool] = replace(report, verdicts=tuple(form))
        return report

    async def acheck(
        self, tool: str, arguments: object, context: GuardContext | None = None
    ) -> ContractReport:
        """The async twin of `check`, for judges among the `requires`."""
        if not isinstance(cast("object", tool), str):
            return self._nameless(tool)
        findings, read = self._structure(tool, arguments, context)
        more = None
        if read is not None and tool in self._requires:
            more = await self._requires[tool].acheck_inputs(read, step=tool)
        report = self._report(tool, findings, more)
        if tool in self._neural:
            from asyncio import to_thread

            return await to_thread(self._in_sequence, report, arguments, context)
        return self._in_sequence(report, arguments, context)

    def _in_sequence(
        self, report: ContractReport, arguments: object, context: GuardContext | None
    ) -> ContractReport:
        """The report of a call after those made; what is wrong by itself is told first."""
        ordered = report.step in self._ordered
        if not report.ok or not (ordered or (context is not None and context.calls)):
            return report
        if context is None:
            skipped = Verdict(clause=PREREQUISITE, status="NotApplicable", reason=_NOT_ORDERED)
            return replace(report, verdicts=(*report.verdicts, skipped))
        read = read_arguments(arguments, Findings()) or {}
        verdicts, violations = self._doing.before(self.registry[report.step], read, context)
        return replace(
            report,
            ok=not violations,
            verdicts=report.verdicts + verdicts,
            violations=report.violations + violations,
        )

    def finish(self, answer: str, context: GuardContext) -> ContractReport:
        """Check the end of a turn: what of the request no call and no answer covers.

        Args:
            answer: what the agent is about to say.
            context: the turns, the last of them the request, and the calls made.
        """
        verdicts, violations = self._doing.after(answer, context)
        return ContractReport(
            contract=self.name,
            digest=self.digest,
            step="finish",
            ok=not violations,
            verdicts=verdicts,
            violations=violations,
            attempts=0,
            cost=_NOTHING_SPENT,
        )

    def feedback(self, report: ContractReport) -> str:
        """Return a report as the error text a model can act on; empty when it is ok."""
        return feedback(report)

    def _nameless(self, tool: object) -> ContractReport:
        """The report of a call that names its tool by no text."""
        findings = Findings()
        check_tool(self.registry, tool, findings)
        return self._report(shown(tool), findings, None)

    def _structure(
        self, tool: str, arguments: object, context: GuardContext | None
    ) -> tuple[Findings, Mapping[str, Any] | None]:
        """Return the findings, and the arguments where more can be asked of them."""
        findings = Findings()
        spec = check_tool(self.registry, tool, findings)
        if spec is None:
            return findings, None
        read = read_arguments(arguments, findings)
        if read is None:
            self._skip_requires(tool, findings)
            return findings, None
        check_arguments(spec, read, findings)
        fit = findings.ok
        self._ground(spec, read, context, findings)
        if fit:
            return findings, read
        self._skip_requires(tool, findings)
        return findings, None

    def _found(
        self, tool: str, arguments: Any, names: list[str], context: GuardContext
    ) -> ContractReport | None:
        """The report of a call that has the tool's form and all its sources; else None."""
        fine = self._fine[tool]
        verdicts = list(fine.verdicts)
        for name in () if self.grounding == "off" else names:
            answer = find(arguments[name], context.sources())
            if not isinstance(answer, Found):
                return None
            clause = _GROUNDED + (name if name.isidentifier() else child("", name))
            verdicts.append(Verdict(clause=clause, status="Satisfied", evidence=answer.evidence))
        return ContractReport(
            contract=fine.contract,
            digest=fine.digest,
            step=tool,
            ok=True,
            verdicts=tuple(verdicts),
            attempts=0,
            cost=fine.cost,
        )

    def _skip_requires(self, tool: str, findings: Findings) -> None:
        if tool in self._requires:
            for clause in self._requires[tool].requires:
                findings.skips(clause.name, _UNFIT)

    def _ground(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any],
        context: GuardContext | None,
        findings: Findings,
    ) -> None:
        if self.grounding == "off":
            return
        if context is None:
            self._without_context(findings)
            return
        policy = self._policies[spec.name]
        known = {
            name: item
            for name, item in arguments.items()
            if spec.shape.open or name in spec.shape.properties
        }
        for leaf in leaves(spec.parameters, spec.shape, known):
            if policy.applies(spec, leaf):
                _ground_leaf(leaf, context, findings)

    def _without_context(self, findings: Findings) -> None:
        if self.grounding == "auto":
            findings.skips("grounded", _NO_CONTEXT)
            return
        violation = Violation(
            clause="grounded",
            path=".",
            expected="a context to ground the arguments in",
            observed="none",
            hint="grounding is required here and the guard was given no context",
        )
        findings.fails("grounded", violation, undetermined=_NO_CONTEXT)

    def _report(self, tool: str, findings: Findings, more: ContractReport | None) -> ContractReport:
        verdicts, violations = tuple(findings.verdicts), tuple(findings.violations)
        if more is not None:
            verdicts, violations = verdicts + more.verdicts, violations + more.violations
        return ContractReport(
            contract=self.name,
            digest=self.digest,
            step=tool,
            ok=findings.ok and (more is None or more.ok),
            verdicts=verdicts,
            violations=violations,
            attempts=0,
            cost=_NOTHING_SPENT if more is None else more.cost,
        )


def _ground_leaf(leaf: Leaf, context: GuardContext, findings: Findings) -> None:
    clause = f"{_GROUNDED}{leaf.path}" + ("" if leaf.kind == "value" else " (name)")
    if any(
        leaf.path == bad or leaf.path.startswith((f"{bad}.", f"{bad}[")) or bad == "."
        for bad in findings.ill_typed
    ):
        findings.skips(clause, "it failed its type")
        return
    match Ungrounded((), leaf.unseen) if leaf.unseen else find(leaf.value, context.sources()):
        case Found(evidence):
            findings.verdicts.append(
                Verdict(clause=clause, status="Satisfied", evidence=dict(evidence))
            )
        case Ungrounded(looked_in, reason):
            violation = Violation(
                clause=clause,
                path=leaf.path,
                expected="a value that the user gave or a tool returned",
                observed=shown(leaf.value, leaf.path),
                evidence={"looked_in": list(looked_in)},
                hint=reason or "ask the user for it, or look it up with a tool; do not invent it",
            )
            findings.fails(clause, violation, undetermined=reason)


def _refuse_unknown_tools(registry: ToolRegistry, **declared: Mapping[str, object]) -> None:
    for keyword, by_tool in declared.items():
        for tool in by_tool:
            if tool not in registry:
                near = ", ".join(registry.nearest(tool)) or "none is near"
                raise DefinitionError(f"{keyword}: no tool {tool!r}; nearest: {near}")


def _paths(spec: ToolSpec, keyword: str, declared: Sequence[str]) -> tuple[str, ...]:
    if isinstance(declared, str):
        raise DefinitionError(f"{keyword}: {spec.name}: {declared!r} is one string; give a list")
    for path in declared:
        if not spec.shape.open and not declares(spec.parameters, path):
            known = ", ".join(spec.shape.properties) or "nothing"
            raise DefinitionError(f"{keyword}: {spec.name} has no {path!r}; it takes {known}")
    return tuple(declared)


def _contract(spec: ToolSpec, requirement: Requirement) -> Contract[Any]:
    if isinstance(requirement, Contract):
        contract = requirement
    else:
        contract = Contract(f"{spec.name}-arguments", requires=requirement)
    if not spec.shape.open:
        contract.refuse_unknown_inputs(tuple(spec.shape.properties), spec.name)
    return contract
