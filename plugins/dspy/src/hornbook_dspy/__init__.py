"""Hornbook for DSPy modules, tools and language models.

Names load on first use, so that the entry point does not import the host.
"""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook_dspy.attached import configure, context
    from hornbook_dspy.contracted import Contracted, contract
    from hornbook_dspy.guarding import guard
    from hornbook_dspy.lm import HornbookLM

__all__ = ["Contracted", "HornbookLM", "configure", "context", "contract", "guard"]

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "Contracted": "hornbook_dspy.contracted",
        "HornbookLM": "hornbook_dspy.lm",
        "configure": "hornbook_dspy.attached",
        "context": "hornbook_dspy.attached",
        "contract": "hornbook_dspy.contracted",
        "guard": "hornbook_dspy.guarding",
    },
)
