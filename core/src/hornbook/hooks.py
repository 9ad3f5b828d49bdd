"""The hooks of Hornbook: everything a plugin may implement, and when it is called.

A plugin is a module or an instance whose functions carry `@hookimpl`:

    from hornbook.hooks import hookimpl
    from hornbook.step import Decision

    class OfficeHours:
        @hookimpl
        def hornbook_before_step(self, step):
            if step.kind == "tool" and step.name == "refund" and closed():
                return Decision(action="block", reason="refunds are made in office hours")

An implementation names the arguments it wants, any subset of the hook's. The results of
all plugins are collected and folded as each hook says; None is "no opinion". Of two
plugins the one registered later is called first, unless `hookimpl(tryfirst=True)` or
`hookimpl(trylast=True)` says otherwise. The hooks of a step may be `async def`; then the
step must be async too. `hornbook_record`, `hornbook_render_rules` and the registrations
are sync. Wrappers (`hookimpl(wrapper=True)`) are refused: the loop of retries, fallbacks
and halts is the core's, and a hook only decides.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pluggy import HookimplMarker, HookspecMarker

if TYPE_CHECKING:
    from hornbook.contracts import Violation
    from hornbook.rules import LearnedRule, RuleRequest
    from hornbook.step import Decision, Step
    from hornbook.trace.events import Event

    MaybeDecision: TypeAlias = Decision | Awaitable[Decision | None] | None
    MaybeViolations: TypeAlias = Sequence[Violation] | Awaitable[Sequence[Violation] | None] | None
    MaybeRules: TypeAlias = Sequence[LearnedRule] | Awaitable[Sequence[LearnedRule] | None] | None

__all__ = [
    "SYNC_HOOKS",
    "Register",
    "hookimpl",
    "hookspec",
    "hornbook_before_step",
    "hornbook_check_output",
    "hornbook_on_error",
    "hornbook_on_violation",
    "hornbook_record",
    "hornbook_register_clauses",
    "hornbook_register_models",
    "hornbook_register_trace_sinks",
    "hornbook_render_rules",
    "hornbook_retrieve_rules",
]

hookspec = HookspecMarker("hornbook")
hookimpl = HookimplMarker("hornbook")

SYNC_HOOKS = frozenset(
    {
        "hornbook_record",
        "hornbook_register_clauses",
        "hornbook_register_models",
        "hornbook_register_trace_sinks",
        "hornbook_render_rules",
    }
)
"""Hooks that are called where nothing can be awaited."""


class Register(Protocol):
    """What a registration hook is given: call it once for each thing to register."""

    def __call__(self, name: str, factory: Callable[..., Any]) -> None:
        """Register `factory` under `name`, which no other plugin has registered.

        Raises:
            PluginError: the name is taken or not a name, or the factory is not callable.
        """
        ...
        ...


@hookspec
def hornbook_before_step(step: "Step") -> "MaybeDecision":
    """Decide whether a step runs. Called before each step and its preconditions.

    Folded: the strictest decision wins (halt, block, substitute, proceed; of equals, the
    first). `proceed` with a value, a mapping, runs the step with those inputs instead;
    `block` and `substitute` give their value as the outcome and do not run it.
    """


@hookspec
def hornbook_check_output(step: "Step", output: object) -> "MaybeViolations":
    """Check what a step returned. Called after each attempt, after the step's contract.

    Folded: violations are added to those of the contract, and any of them fails the
    attempt.
    """


@hookspec
def hornbook_on_violation(
    step: "Step", output: object, violations: "Sequence[Violation]"
) -> "MaybeDecision":
    """Decide what follows a violation. Called after an attempt that violated anything.

    Folded: the strictest decision wins (halt, block, substitute, retry, proceed). With no
    decision the step's own recovery goes on. A `retry` draws on that recovery's retries,
    and a `substitute` must meet the contract.
    """


@hookspec
def hornbook_on_error(step: "Step", error: Exception) -> "MaybeDecision":
    """Decide what follows an exception. Called when a step raised one.

    Not called for the control flow of a host, nor for what the step's own recovery turns
    into a violation. Folded: the strictest decision wins (halt, block, substitute, retry).
    With no decision the exception propagates as if no plugin were there.
    """


@hookspec
def hornbook_retrieve_rules(request: "RuleRequest") -> "MaybeRules":
    """Find learned rules for a model's request. Called before each model step.

    Not called when neither the run nor the adapter names a namespace. Folded: the rules
    of all plugins one after another, each rule once.
    """


@hookspec
def hornbook_render_rules(request: "RuleRequest", rules: "Sequence[LearnedRule]") -> "str | None":
    """Write the rules that were found as the text to inject. Sync.

    Folded: the first text wins. The core's own implementation comes last and writes the
    rules in canonical order with the default template.
    """


@hookspec
def hornbook_record(event: "Event") -> None:
    """Observe one event of a run, after it was recorded. Sync, and on the step's time.

    Who observes is settled when the run is opened. Nothing is folded. An exception is
    logged and reaches neither the step nor other plugins.
    """


@hookspec
def hornbook_register_clauses(register: Register) -> None:
    """Register kinds of clauses: `register("iban", factory)`. Called once a plugin.

    The factory makes a `Clause` from a path and keywords, as those of `hornbook.clauses` do.
    """


@hookspec
def hornbook_register_models(register: Register) -> None:
    """Register models by name: `register("scripted", factory)`. Called once a plugin.

    The factory is called with no arguments when the model is first asked for.
    """


@hookspec
def hornbook_register_trace_sinks(register: Register) -> None:
    """Register receivers of events: `register("logging", factory)`. Called once a plugin.

    A sink is used where the setting `trace_sinks` names it. The factory is then called,
    once and with no arguments, and gives a function of an event, which is treated as an
    implementation of `hornbook_record` is.
    """
