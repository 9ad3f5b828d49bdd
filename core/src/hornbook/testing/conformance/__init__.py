"""The conformance kit: one plugin, one conversation, one record, whatever the host.

An adapter proves itself with one line:

    from hornbook.testing import conformance

    report = conformance.check(MyAdapter)
    assert report.ok, report

or, case by case, `pytest --hornbook-adapter=my_package.testing:MyAdapter`. What an adapter
has to provide stands in `hornbook.testing.conformance.protocol`.
"""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.testing.conformance.adapters import AdapterError
    from hornbook.testing.conformance.case import Case, Finding, cases
    from hornbook.testing.conformance.protocol import (
        CAPABILITIES,
        Adapter,
        Capability,
        HostAgent,
        Scene,
    )
    from hornbook.testing.conformance.record import normalised
    from hornbook.testing.conformance.report import Report, check
    from hornbook.testing.conformance.scenario import Did, Scenario
    from hornbook.testing.conformance.scenarios import SCENARIOS

__all__ = [
    "CAPABILITIES",
    "SCENARIOS",
    "Adapter",
    "AdapterError",
    "Capability",
    "Case",
    "Did",
    "Finding",
    "HostAgent",
    "Report",
    "Scenario",
    "Scene",
    "cases",
    "check",
    "normalised",
]

_HERE = "hornbook.testing.conformance"

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "Adapter": f"{_HERE}.protocol",
        "AdapterError": f"{_HERE}.adapters",
        "CAPABILITIES": f"{_HERE}.protocol",
        "Capability": f"{_HERE}.protocol",
        "Case": f"{_HERE}.case",
        "Did": f"{_HERE}.scenario",
        "Finding": f"{_HERE}.case",
        "HostAgent": f"{_HERE}.protocol",
        "Report": f"{_HERE}.report",
        "SCENARIOS": f"{_HERE}.scenarios",
        "Scenario": f"{_HERE}.scenario",
        "Scene": f"{_HERE}.protocol",
        "cases": f"{_HERE}.case",
        "check": f"{_HERE}.report",
        "normalised": f"{_HERE}.record",
    },
)
