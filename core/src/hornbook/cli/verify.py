"""`hornbook verify`: check programs before they are deployed, and run their worked scenarios."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from hornbook.cli.terminal import clean, write
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.evaluation import Evaluation
    from hornbook.program import Program
    from hornbook.verify import Scenario, Verification

__all__ = ["configure"]

_FORMS = {
    "json": "the verification as JSON",
    "junit": "the verification as JUnit XML",
    "html": "the verification as one HTML page",
    "text": "the program as an indented tree",
    "mermaid": "the program as a Mermaid flowchart",
}
_OUT = Path("-")


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `hornbook verify`."""
    parser.description = (
        "Check a program as it is written, run its worked scenarios, and replace each step's "
        "output by wrong ones to see who notices. Exit code 0: all is well; 1: something failed."
    )
    parser.add_argument(
        "program",
        metavar="MODULE:PROGRAM",
        nargs="?",
        help="the program; by default those that the scenario files name",
    )
    parser.add_argument(
        "--scenarios",
        metavar="PLACE",
        type=Path,
        action="append",
        default=[],
        help="a scenario file, or a folder of *.scenarios.toml, .json or .yaml; may be repeated",
    )
    parser.add_argument(
        "--evaluations",
        metavar="FILE",
        type=Path,
        nargs="+",
        default=[],
        help="evaluations of primitives, as hornbook.evaluation writes them in JSON",
    )
    for form, what in _FORMS.items():
        help_ = f"write {what}; - in place of the report"
        parser.add_argument(f"--{form}", metavar="FILE", type=Path, help=help_)
    parser.add_argument(
        "--trace", metavar="DIR", type=Path, help="record the first run of each scenario there"
    )
    parser.add_argument("--strict", action="store_true", help="warnings fail, too")
    parser.add_argument(
        "--mutants",
        metavar="N",
        type=int,
        default=60,
        help="wrong outputs of one step to try in one scenario; 0 for none",
    )
    parser.set_defaults(act=act)


def act(arguments: Namespace, out: TextIO) -> int:
    """Verify each program that is meant; 1 when one of them failed."""
    from hornbook.verify import load_program

    if arguments.program is None and not arguments.scenarios:
        raise HornbookError(
            "name a program, as `hornbook verify module:program`, or the scenarios of programs "
            "with --scenarios"
        )
    meant = _by_program(arguments)
    programs = [load_program(target) for target in meant]
    evaluations = _evaluations(arguments.evaluations)
    found = [
        _verified(program, scenarios, evaluations, arguments)
        for program, scenarios in zip(programs, meant.values(), strict=True)
    ]
    forms = {form: getattr(arguments, form) for form in _FORMS}
    if _OUT not in forms.values():
        _report(found, out)
    for form, file in forms.items():
        if file is not None:
            _write(form, file, list(zip(programs, found, strict=True)), out)
    return max(one.exit_code for one in found)


def _by_program(arguments: Namespace) -> "Mapping[str, Sequence[Scenario]]":
    """The scenarios of each program that is meant."""
    from hornbook.verify import ScenarioError, read_scenarios

    scenarios = read_scenarios(*arguments.scenarios) if arguments.scenarios else ()
    target: str | None = arguments.program
    if target is not None:
        own = [one for one in scenarios if one.program in (None, target)]
        # Files that name other programs only are meant for this one, or why give them.
        return {target: own or list(scenarios)}
    found: dict[str, list[Scenario]] = {}
    unnamed = [one for one in scenarios if one.program is None]
    if unnamed:
        raise ScenarioError([f"{_where(one)}: it names no program" for one in unnamed])
    for one in scenarios:
        found.setdefault(cast("str", one.program), []).append(one)
    return found


def _where(scenario: "Scenario") -> str:
    line = "" if scenario.line is None else f":{scenario.line}"
    return f"{scenario.file}{line}: scenario {scenario.name!r}"


def _evaluations(files: Sequence[Path]) -> "dict[str, Evaluation]":
    """By name of the primitive."""
    from hornbook.evaluation import Evaluation

    read = [Evaluation.from_json(file.read_bytes(), str(file)) for file in files]
    return {one.primitive: one for one in read}


def _verified(
    program: "Program",
    scenarios: "Sequence[Scenario]",
    evaluations: "Mapping[str, Evaluation]",
    arguments: Namespace,
) -> "Verification":
    from hornbook.judges import Calibrations
    from hornbook.verify import verify

    return verify(
        program,
        scenarios,
        evaluations=evaluations,
        calibrations=Calibrations.read(),
        mutants_per_step=arguments.mutants,
        strict=arguments.strict,
        trace=arguments.trace,
    )


def _report(found: "Sequence[Verification]", out: TextIO) -> None:
    for at, one in enumerate(found):
        if at:
            write(out)
        for line in str(one).split("\n"):
            write(out, clean(line))


def _write(
    form: str, file: Path, found: "Sequence[tuple[Program, Verification]]", out: TextIO
) -> None:
    for place, text in _texts(form, file, found):
        if file == _OUT:
            out.write(text)
        else:
            place.write_text(text, encoding="utf-8")


def _texts(
    form: str, file: Path, found: "Sequence[tuple[Program, Verification]]"
) -> Iterator[tuple[Path, str]]:
    """The texts of a form: one for all programs, or one for each beside the file named."""
    from hornbook.verify import junit_of

    match form:
        case "json":
            yield file, _json([one for _, one in found])
        case "junit":
            yield file, junit_of(*(one for _, one in found))
        case "html":
            yield from _each(file, found, lambda program, one: one.to_html())
        case "text":
            yield from _each(file, found, lambda program, one: program.to_text())
        case _:
            yield from _each(file, found, lambda program, one: program.to_mermaid())


def _json(found: "Sequence[Verification]") -> str:
    import json

    whole = {
        "format": "hornbook-verifications",
        "version": 1,
        "ok": all(one.ok for one in found),
        "programs": [one.as_dict() for one in found],
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _each(
    file: Path,
    found: "Sequence[tuple[Program, Verification]]",
    text: "Callable[[Program, Verification], str]",
) -> Iterable[tuple[Path, str]]:
    for program, one in found:
        several = len(found) > 1 and file != _OUT
        place = file.with_stem(f"{file.stem}-{program.name}") if several else file
        yield place, text(program, one).rstrip("\n") + "\n"
