"""`hornbook evaluate`: how often a primitive is right on labelled examples."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from hornbook.cli.terminal import clean, write

if TYPE_CHECKING:
    from hornbook.program import Primitive

__all__ = ["configure"]


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `hornbook evaluate`."""
    parser.description = (
        "Count how often a primitive gives exactly the labelled output, and how often an output "
        "that satisfies its contract is wrong all the same. Rates have 95 % Wilson intervals."
    )
    parser.add_argument("primitive", metavar="MODULE:PRIMITIVE", help="what is evaluated")
    parser.add_argument(
        "examples",
        metavar="EXAMPLES.jsonl",
        type=Path,
        help='lines of {"input": ..., "output": ...}; "scenario" tells kinds apart',
    )
    parser.add_argument(
        "--recovery", action="store_true", help="look at what comes after retries and fallbacks"
    )
    parser.add_argument("--calls", metavar="N", type=int, help="stop after so many model calls")
    parser.add_argument(
        "--before", metavar="FILE", type=Path, help="compare with an evaluation of --json"
    )
    parser.add_argument(
        "--json", metavar="FILE", type=Path, help="write the evaluation as JSON; - to the output"
    )
    parser.set_defaults(act=evaluate)


def evaluate(arguments: Namespace, out: TextIO) -> int:
    """Evaluate one primitive, and compare it with what it was."""
    from hornbook.budget import Budget
    from hornbook.evaluation import Evaluation, compare, evaluate_primitive, read_examples

    primitive = _primitive(arguments.primitive)
    examples = read_examples(arguments.examples)
    # Read before models are called: an error in it should cost nothing.
    before = None
    if arguments.before is not None:
        text = arguments.before.read_bytes()
        before = Evaluation.from_json(text, str(arguments.before))
    budget = None if arguments.calls is None else Budget(calls=arguments.calls)
    found = evaluate_primitive(primitive, examples, recovery=arguments.recovery, budget=budget)
    if str(arguments.json) == "-":
        write(out, found.to_json())
        return 0
    if arguments.json is not None:
        arguments.json.write_text(f"{found.to_json()}\n", encoding="utf-8")
    for line in str(found).splitlines():
        write(out, clean(line))
    if before is not None:
        write(out, clean(str(compare(before, found))))
    return 0


def _primitive(named: str) -> "Primitive[..., Any]":
    from hornbook.program import Primitive
    from hornbook.verify.errors import TargetError
    from hornbook.verify.targets import load_program

    found: Any = load_program(named)
    if isinstance(found, Primitive):
        return cast("Primitive[..., Any]", found)
    raise TargetError(
        f"{named!r} is a {type(found).__name__} and no primitive: evaluate those in it one by one"
    )
