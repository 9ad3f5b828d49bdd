"""How often primitives are right, and training examples to make them better.

    from hornbook.evaluation import evaluate_primitive, export_sft, read_examples

    export_sft("runs", "extract_entities", "sft")            # Forethought, table 4
    before = evaluate_primitive(primitive, read_examples("examples.jsonl"))
    print(compare(before, after))                            # Forethought, table 5

A contract says what is guaranteed; this measures the rest: exact match, and how often an
output that satisfies its contract is wrong all the same.
"""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.evaluation.comparison import Comparison, Weighted, compare, weighted
    from hornbook.evaluation.errors import EvaluationError
    from hornbook.evaluation.evaluating import aevaluate_primitive, evaluate_primitive
    from hornbook.evaluation.examples import Example, read_examples
    from hornbook.evaluation.exporting import Manifest, export_sft
    from hornbook.evaluation.results import Evaluation, Judged, Verdicts

__all__ = [
    "Comparison",
    "Evaluation",
    "EvaluationError",
    "Example",
    "Judged",
    "Manifest",
    "Verdicts",
    "Weighted",
    "aevaluate_primitive",
    "compare",
    "evaluate_primitive",
    "export_sft",
    "read_examples",
    "weighted",
]

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "Comparison": "hornbook.evaluation.comparison",
        "Evaluation": "hornbook.evaluation.results",
        "EvaluationError": "hornbook.evaluation.errors",
        "Example": "hornbook.evaluation.examples",
        "Judged": "hornbook.evaluation.results",
        "Manifest": "hornbook.evaluation.exporting",
        "Verdicts": "hornbook.evaluation.results",
        "Weighted": "hornbook.evaluation.comparison",
        "aevaluate_primitive": "hornbook.evaluation.evaluating",
        "compare": "hornbook.evaluation.comparison",
        "evaluate_primitive": "hornbook.evaluation.evaluating",
        "export_sft": "hornbook.evaluation.exporting",
        "read_examples": "hornbook.evaluation.examples",
        "weighted": "hornbook.evaluation.comparison",
    },
)
