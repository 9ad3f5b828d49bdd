"""The scenarios of the kit; every adapter is held to all that its capabilities allow."""

from hornbook.testing.conformance.scenario import Scenario
from hornbook.testing.conformance.scenarios import (
    answering,
    deciding,
    guarding,
    halting,
    recovering,
)

__all__ = ["SCENARIOS"]

SCENARIOS: tuple[Scenario, ...] = (
    *guarding.SCENARIOS,
    *recovering.SCENARIOS,
    *halting.SCENARIOS,
    *answering.SCENARIOS,
    *deciding.SCENARIOS,
)
