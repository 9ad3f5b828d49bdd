"""Parts of programs that are allowed and seldom written."""

import pickle
import re
from typing import Any, Literal

import pytest

import hornbook
from hornbook import plugins
from hornbook.engine import Engine
from hornbook.errors import PluginError
from hornbook.hooks import hookimpl
from hornbook.models import ScriptedBatchModel
from hornbook.program import (
    Iterate,
    Parallel,
    Program,
    ProgramError,
    Sequence,
    assignable,
    constant,
    neural,
    primitive,
)

from .parts import count, increment, strip, words


@primitive
def with_default(limit: int = 5) -> int:
    return limit + 1


@primitive
def of_text(words: str) -> str:
    return words


def enough(value):  # type: ignore[no-untyped-def]
    return value >= 3


@pytest.mark.requirement("program:binding:ports")
def test_what_has_defaults_only_needs_nothing_that_comes():
    assert Sequence(strip, with_default).run("a") == 6
    assert Sequence(count, with_default.bind(limit=1)).run("a") == 2


@pytest.mark.requirement("program:binding:ports")
def test_where_neither_the_port_nor_the_whole_fits_the_port_is_told():
    message = (
        "program[1]: at port 'words' comes list[str], and parameter 'words' asks str: list[str] "
        "is no str"
    )
    with pytest.raises(ProgramError, match=f"^{re.escape(message)}$"):
        Sequence(Parallel(words, count=count), of_text)


@pytest.mark.requirement("program:types:forms")
def test_a_constant_of_many_items_is_known_by_the_classes_of_its_items():
    assert constant([1, 2]).output == list[Literal[1] | Literal[2]]
    assert constant(list(range(20))).output == list[int]
    assert assignable(constant({1: "a"}).output, dict[int, str])
    assert not assignable(constant({1: "a"}).output, dict[str, str])
    assert assignable(constant({str(at): at for at in range(20)}).output, dict[str, int])


@pytest.mark.requirement("program:json:round-trip", "program:pickle:round-trip")
def test_a_condition_without_annotations_is_written_and_read():
    program = Iterate(increment, until=enough, at_most=9)
    assert program.run(0) == 3
    for made in (pickle.loads(pickle.dumps(program)), Program.from_json(program.to_json())):
        assert made.digest == program.digest
        assert made.run(0) == 3


class Later:
    """A plugin with a hook that is async."""

    @hookimpl
    async def hornbook_before_step(self, step: Any) -> None:
        return None


@pytest.mark.requirement("engine:step:hooks")
async def test_an_async_hook_serves_async_runs_only():
    program = Parallel(strip, count=count)
    with plugins.registered(Later()):
        assert await program.arun(" a ") == {"strip": "a", "count": 3}
        with pytest.raises(PluginError) as caught:
            program.run(" a ")
    assert "implements hornbook_before_step as async, and the step is sync" in str(caught.value)


@pytest.mark.requirement("engine:batching:one-batch")
@pytest.mark.parametrize("mode", ["sync", "async"])
async def test_an_interrupt_within_a_batch_stops_the_program(mode: str):
    class Interrupted(ScriptedBatchModel):
        def complete_many(self, *args: Any, **named: Any) -> Any:
            raise GeneratorExit("stopped")

        async def acomplete_many(self, *args: Any, **named: Any) -> Any:
            raise GeneratorExit("stopped")

    model = Interrupted({"": "1"})
    asked = {name: neural(name, model, prompt="{input}", output=int) for name in "ab"}
    program = Parallel(**asked)
    with hornbook.run(None) as run, pytest.raises(GeneratorExit, match="stopped"):
        _ = program.run("x", engine=Engine()) if mode == "sync" else await program.arun("x")
    ends = [event for event in run.events if event.kind == "step.end"]
    starts = [event for event in run.events if event.kind == "step.start"]
    assert len(ends) == len(starts)
