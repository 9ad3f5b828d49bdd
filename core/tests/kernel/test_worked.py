"""Worked scenarios of the kernel: the paper's own, by name, and what a file of them may say."""

from pathlib import Path

import pytest

from hornbook.kernel.registry import ToolSpec
from hornbook.kernel.worked import worked
from hornbook.verify import ScenarioError, read_scenarios, verify
from hornbook.verify.targets import load_program

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "examples" / "worked"
SCENARIOS = read_scenarios(FOLDER)


@pytest.mark.requirement("kernel:worked:paper")
def test_the_papers_examples_are_there_by_name():
    names = [one.name for one in SCENARIOS]
    for wanted in ("Figure 1", "C.2", "C.3", "C.4", "E.1", "E.2", "E.3", "E.4", "E.5"):
        assert any(name.startswith(f"{wanted}:") for name in names)


@pytest.mark.requirement("kernel:worked:paper")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=[one.name for one in SCENARIOS])
def test_a_worked_scenario_comes_to_what_it_says(scenario):
    program = load_program(scenario.program, folder=ROOT)
    verification = verify(program, scenario, mutants_per_step=0)
    assert verification.ok, str(verification)


def ping(host: str) -> str:
    """Ping a host."""
    return f"{host} is up"


def pings():
    return [ToolSpec.of(ping, effects=["host"])], {"ping": ping}


def turn(say, **parameters):
    return {"say": say, "tasks": [{"id": "t1", "tool_name": "ping", "parameters": parameters}]}


@pytest.mark.requirement("kernel:worked:file")
def test_state_goes_from_turn_to_turn_and_all_is_told_where_nothing_is_asked_for():
    program = worked(pings)
    told = program.run({"turns": [turn("ping h77", host="h77"), turn("and again")]})
    assert told["calls"] == ['ping(host="h77")', 'ping(host="h77")']
    assert told["scratchpad"] == {"host": "h77"}
    assert told["order"] == [["t1"], ["t1"]]
    assert sorted(told) == ["calls", "decisions", "order", "reports", "scratchpad"]


@pytest.mark.requirement("kernel:worked:file")
def test_what_is_wrong_with_a_file_is_told_with_its_line(tmp_path):
    file = tmp_path / "odd.scenarios.toml"
    file.write_text(
        'kind = "kernel"\n[[scenario]]\nname = "a"\nturns = []\n[scenario.expect]\ncall = []\n',
        encoding="utf-8",
    )
    with pytest.raises(ScenarioError) as error:
        read_scenarios(file)
    assert [one.removeprefix(str(file)) for one in error.value.problems] == [
        ":4: scenario 'a': 'turns' is a list of turns, each with `say` and `tasks`",
        ":6: scenario 'a', expect: unknown key 'call'; the nearest is 'calls'",
        ":5: scenario 'a': 'expect' says nothing; it may say calls, reports, order, decisions, "
        "scratchpad",
    ]
    file.write_text(
        'kind = "kernel"\n[[scenario]]\nname = "a"\n[[scenario.turns]]\nsay = "ping h1"\n'
        'tasks = [{ id = "t1", tool_name = "ping", parameters = { host = "h1" } }]\n'
        "[scenario.expect]\ncalls = []\n",
        encoding="utf-8",
    )
    verification = verify(worked(pings), file, mutants_per_step=0)
    assert not verification.ok
    assert 'ping(host=\\"h1\\")' in str(verification) or "ping(host=" in str(verification)
