"""What the adapters of all hosts have in common; a host adds how its calls look.

An adapter stands around two things of its host: the call of a tool (`ToolSteps`) and the
call of the model (`ModelSteps`). It tells them by a `ToolHost` and a `ModelHost` how to
read and write what its host passes; what a step means is said here and in `hornbook.step`.
"""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.hosting.ambient import AmbientRun
    from hornbook.hosting.heard import Heard
    from hornbook.hosting.held import Contracts, Held, by_name, with_recovery
    from hornbook.hosting.models import MODEL, ModelHost, ModelSteps, Usage
    from hornbook.hosting.rules import Rules
    from hornbook.hosting.tools import ToolHost, ToolSteps

__all__ = [
    "MODEL",
    "AmbientRun",
    "Contracts",
    "Heard",
    "Held",
    "ModelHost",
    "ModelSteps",
    "Rules",
    "ToolHost",
    "ToolSteps",
    "Usage",
    "by_name",
    "with_recovery",
]

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "AmbientRun": "hornbook.hosting.ambient",
        "Contracts": "hornbook.hosting.held",
        "Heard": "hornbook.hosting.heard",
        "Held": "hornbook.hosting.held",
        "MODEL": "hornbook.hosting.models",
        "ModelHost": "hornbook.hosting.models",
        "ModelSteps": "hornbook.hosting.models",
        "Rules": "hornbook.hosting.rules",
        "ToolHost": "hornbook.hosting.tools",
        "ToolSteps": "hornbook.hosting.tools",
        "Usage": "hornbook.hosting.models",
        "by_name": "hornbook.hosting.held",
        "with_recovery": "hornbook.hosting.held",
    },
)
