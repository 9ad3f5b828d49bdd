"""Design-time verification: what is known of a program before it is deployed.

    from hornbook.verify import verify

    print(verify(program, scenarios="scenarios"))

What the program says of itself is checked, worked scenarios are run, and every step's output
is replaced by wrong ones to see who notices. The outcome is an assurance table: per step, which
properties are guaranteed, which are measured and with what error (Forethought 3.4).
"""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.verify.errors import ScenarioError, TargetError
    from hornbook.verify.files import read_scenarios
    from hornbook.verify.junit import junit_of
    from hornbook.verify.mutants import Mutant, mutants_of
    from hornbook.verify.running import play_scenario
    from hornbook.verify.scenario import (
        Expectation,
        ExpectedStep,
        ExpectedViolation,
        Scenario,
    )
    from hornbook.verify.targets import load_program
    from hornbook.verify.values import Finding, MutantResult, ScenarioResult, StepAssurance
    from hornbook.verify.verification import Verification
    from hornbook.verify.verifying import averify, verify

__all__ = [
    "Expectation",
    "ExpectedStep",
    "ExpectedViolation",
    "Finding",
    "Mutant",
    "MutantResult",
    "Scenario",
    "ScenarioError",
    "ScenarioResult",
    "StepAssurance",
    "TargetError",
    "Verification",
    "averify",
    "junit_of",
    "load_program",
    "mutants_of",
    "play_scenario",
    "read_scenarios",
    "verify",
]

_SCENARIO = "hornbook.verify.scenario"
_VALUES = "hornbook.verify.values"

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "Expectation": _SCENARIO,
        "ExpectedStep": _SCENARIO,
        "ExpectedViolation": _SCENARIO,
        "Finding": _VALUES,
        "Mutant": "hornbook.verify.mutants",
        "MutantResult": _VALUES,
        "Scenario": _SCENARIO,
        "ScenarioError": "hornbook.verify.errors",
        "ScenarioResult": _VALUES,
        "StepAssurance": _VALUES,
        "TargetError": "hornbook.verify.errors",
        "Verification": "hornbook.verify.verification",
        "averify": "hornbook.verify.verifying",
        "junit_of": "hornbook.verify.junit",
        "load_program": "hornbook.verify.targets",
        "mutants_of": "hornbook.verify.mutants",
        "play_scenario": "hornbook.verify.running",
        "read_scenarios": "hornbook.verify.files",
        "verify": "hornbook.verify.verifying",
    },
)
