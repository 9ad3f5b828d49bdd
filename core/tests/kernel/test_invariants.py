"""INV-S, INV-T, INV-E, INV-L and INV-R over random registries, tasks, graphs, tools and liars."""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbook.engine import Controls, Engine
from hornbook.kernel.binding import bind
from hornbook.kernel.invariants import Monitor, params_of
from hornbook.kernel.kernel import Kernel
from hornbook.kernel.neural.primitives import Primitives
from hornbook.kernel.ordering import DependencyGraph
from hornbook.kernel.prerequisites import Prerequisite
from hornbook.kernel.registry import ToolRegistry, ToolSpec
from hornbook.kernel.result import Cycle, InvariantViolation, PrimitiveFailed
from hornbook.kernel.scratchpad import BOTTOM, Scratchpad
from hornbook.kernel.tasks import Binding

WORLDS = 12
"""Random worlds that a test looks at; `test_many_worlds` looks at more."""
KEYS = ("k0", "k1", "k2")
PARAMETERS = ("a", "b", "c", "k0")
VALUES = ("X-101", "Y-202", "Z-303")
TOOLS = ("f0", "f1", "f2", "f3")
IDS = ("t1", "t2", "t3", "t4", "t5")
JUNK = (None, 7, "prose", [], {}, {"task": 3}, {"values": 3}, {"tasks": "no"}, {"tool_name": []})
OUTCOMES = ("ok", "raise", "nan", "exception", "none", "key")


@dataclass(frozen=True)
class World:
    """A registry, how its tools behave, a plan, and how its primitives lie."""

    specs: tuple[ToolSpec, ...]
    behaviour: dict
    plan: list
    lies: dict
    state: dict
    controls: Controls

    def run(self):
        log = []
        registry = ToolRegistry(self.specs)
        calls = {one.name: self._tool(one, log) for one in self.specs}
        primitives = Primitives(
            turns=lambda request: {"tasks": self.plan},
            build_dep_graph=self._answering("graph", self._edges),
            order=self._answering("order", lambda request: self.lies["order"]),
            task_to_check=self._answering("check", self._proposing),
            task_to_meet=self._answering("meet", self._proposing),
            match_func=self._answering("match", lambda request: self._matched(request)),
            task_to_get=self._answering("get", self._filling),
        )
        engine = Engine(controls=self.controls)
        made = Kernel(registry, primitives=primitives, calls=calls, engine=engine)
        return made.run("do X-101, Y-202 and Z-303", state=self.state), log

    def _tool(self, spec, log):
        def function(**arguments):
            log.append((spec.name, arguments))
            return {
                "ok": lambda: {"done": "X-101"},
                "key": lambda: dict.fromkeys((*KEYS, "a"), "Y-202"),
                "raise": lambda: 1 / 0,
                "nan": lambda: float("nan"),
                "exception": lambda: ValueError("no"),
                "none": lambda: None,
            }[self.behaviour[spec.name]]()

        return function

    def _answering(self, name, honest):
        lie = self.lies[name] if name != "order" else None

        def answer(request):
            if lie == "raise":
                raise OSError("no line")
            return JUNK[lie] if isinstance(lie, int) else honest(request)

        return answer

    def _edges(self, request):
        return {"depends_on": {one["id"]: one["depends_on"] for one in request.tasks}}

    def _matched(self, request):
        return {"tool_name": self.lies["tools"].get(request.task["id"], request.task["tool_name"])}

    def _proposing(self, request):
        return {"task": self.lies["proposal"]}

    def _filling(self, request):
        values = {name: self.lies["values"].get(name) for name in request.missing}
        known = {name: value for name, value in values.items() if value is not None}
        return {"values": known, "task": self.lies["proposal"]}


def names(of):
    return st.lists(st.sampled_from(of), unique=True, max_size=3)


@st.composite
def specs(draw):
    found = []
    for name in TOOLS:
        takes = draw(names(PARAMETERS))
        needs = [
            Prerequisite(
                key=key,
                sat=draw(st.sampled_from([None, bool, lambda value: value == "Y-202", len])),
                setup=draw(st.sampled_from([None, *TOOLS])),
            )
            for key in draw(names(KEYS))
        ]
        schema = {
            "type": "object",
            "properties": {one: {"type": "string"} for one in takes},
            "required": draw(names(takes)) if takes else [],
        }
        found.append(
            ToolSpec(
                name=name,
                parameters=schema,
                prerequisites=tuple(needs),
                effects=tuple(draw(names(KEYS))),
                read_only=draw(st.booleans()),
            )
        )
    return tuple(found)


PROPOSALS = st.none() | st.fixed_dictionaries(
    {
        "tool_name": st.sampled_from([*TOOLS, "unknown"]),
        "parameters": st.dictionaries(st.sampled_from(PARAMETERS), st.sampled_from(VALUES)),
    }
)
LIE = st.none() | st.none() | st.just("raise") | st.integers(0, len(JUNK) - 1)


CONTROLS = st.builds(Controls, contracts=st.booleans())


@st.composite
def worlds(draw, controls=CONTROLS):
    ids = draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=5))
    stated = st.dictionaries(
        st.sampled_from(PARAMETERS), st.sampled_from([*VALUES, "invented-9", 3]), max_size=3
    )
    plan = [
        {
            "id": name,
            "tool_name": draw(st.sampled_from([*TOOLS, None, "unknown"])),
            "depends_on": draw(st.lists(st.sampled_from([*IDS, "t9"]), max_size=2)),
            "parameters": draw(stated),
        }
        for name in ids
    ]
    lies = {name: draw(LIE) for name in ("graph", "check", "meet", "match", "get")}
    lies["order"] = {"ordered_task_ids": draw(st.permutations(ids))}
    lies["tools"] = draw(st.dictionaries(st.sampled_from(IDS), st.sampled_from([*TOOLS, "no", 7])))
    lies["proposal"] = draw(PROPOSALS)
    lies["values"] = draw(st.dictionaries(st.sampled_from(PARAMETERS), st.sampled_from(VALUES)))
    return World(
        specs=draw(specs()),
        behaviour={name: draw(st.sampled_from(OUTCOMES)) for name in TOOLS},
        plan=plan,
        lies=lies,
        state=draw(st.dictionaries(st.sampled_from(KEYS), st.sampled_from([*VALUES, None]))),
        controls=draw(controls),
    )


@pytest.mark.requirement("kernel:inv-e:property")
@settings(max_examples=WORLDS)
@given(world=worlds())
def test_no_partial_call_is_ever_executed(world):
    result, log = world.run()
    by_name = {one.name: one for one in world.specs}
    for name, arguments in log:
        required = set(by_name[name].parameters["required"])
        assert required <= arguments.keys()
        assert not any(value is BOTTOM or value is None for value in arguments.values())
    for call in result.calls:
        bound = {one.parameter.partition("[")[0].partition(".")[0] for one in call.bindings}
        assert bound == call.arguments.keys()
    executed = [(one.tool, dict(one.arguments)) for one in result.calls]
    assert executed == log


@pytest.mark.requirement("kernel:inv-s:property")
@settings(max_examples=WORLDS)
@given(world=worlds())
def test_the_scratchpad_never_loses_a_key(world):
    result, _ = world.run()
    assert result.scratchpad.keys() >= world.state.keys()
    seen = set()
    for one in result.scratchpad.writes:
        seen.add(one.key)
    assert seen == set(result.scratchpad)
    steps = [one.step for one in result.scratchpad.writes]
    assert steps == sorted(steps)


@pytest.mark.requirement("kernel:inv-t:property")
@settings(max_examples=WORLDS)
@given(world=worlds())
def test_every_run_halts_and_a_key_is_absent_once(world):
    result, log = world.run()
    assert len(log) <= len(world.plan) * 2 + len(KEYS)
    looked = Counter()
    for one in result.decisions:
        if one.process == "check-prerequisites" and one.outcome == "Absent":
            looked[one.what] += 1
    assert all(times <= 1 for times in looked.values())
    cycles = [one for one in result.reports if isinstance(one, Cycle)]
    if cycles:
        assert cycles[0].tasks[0] == cycles[0].tasks[-1]
        assert log == []


@pytest.mark.requirement("kernel:inv-l:property")
@settings(max_examples=WORLDS)
@given(world=worlds())
def test_what_the_turn_states_is_never_taken_from_elsewhere(world):
    result, _ = world.run()
    aside = {(one.task, one.what) for one in result.decisions if one.outcome == "set aside"}
    plan = {one["id"]: one["parameters"] for one in world.plan}
    for call in result.calls:
        for one in call.bindings:
            assert one.consulted[0] == "turn"
            if one.source != "turn" and call.purpose == "task":
                assert (
                    one.parameter not in plan.get(call.task.rstrip("'"), {})
                    or (call.task, one.parameter) in aside
                    or call.task.endswith("'")
                )


@pytest.mark.requirement("kernel:inv-r:property")
@settings(max_examples=WORLDS)
@given(world=worlds())
def test_every_task_comes_to_a_call_or_a_report(world):
    result, _ = world.run()
    if any(isinstance(one, Cycle | PrimitiveFailed) for one in result.reports):
        return
    done = {one.task for one in result.calls if one.ok and one.purpose == "task"}
    reported = {one.task for one in result.reports}
    assert done | reported == set(result.order) == set(result.tasks)
    assert not done & reported
    assert len(result.order) == len(world.plan)


@pytest.mark.requirement("kernel:inv-r:property")
@settings(max_examples=WORLDS)
@given(world=worlds(controls=st.just(Controls())))
def test_one_bad_task_never_stops_its_siblings(world):
    good = {"id": "good", "tool_name": "fine", "depends_on": [], "parameters": {"a": "X-101"}}
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    grown = World(
        specs=(*world.specs, ToolSpec(name="fine", parameters=schema)),
        behaviour={**world.behaviour, "fine": "ok"},
        plan=[*({**one, "depends_on": []} for one in world.plan), good],
        lies={**world.lies, "match": None},
        state=world.state,
        controls=world.controls,
    )
    result, log = grown.run()
    if not any(isinstance(one, Cycle) for one in result.reports):
        assert ("fine", {"a": "X-101"}) in log


@pytest.mark.ci
@pytest.mark.requirement(
    "kernel:inv-s:property",
    "kernel:inv-t:property",
    "kernel:inv-e:property",
    "kernel:inv-l:property",
    "kernel:inv-r:property",
)
@settings(max_examples=300)
@given(world=worlds())
def test_many_worlds(world):
    world.run()  # the monitor raises at the first step that violates an invariant


SPEC = ToolSpec(
    name="pay",
    parameters={
        "type": "object",
        "properties": {"to": {"type": "string"}, "sum": {"type": "integer"}},
        "required": ["to", "sum"],
    },
)
TO = Binding(parameter="to", value="X", source="turn")
SUM = Binding(parameter="sum", value=5, source="scratchpad", consulted=("turn", "scratchpad"))


def broken(monitor_does):
    monitor = Monitor()
    for _ in range(3):
        monitor.tick()
    with pytest.raises(InvariantViolation) as error:
        monitor_does(monitor)
    return error.value.invariant, error.value.step, error.value.why


@pytest.mark.requirement("kernel:invariants:monitor")
def test_the_monitor_names_the_invariant_and_the_step():
    def loses(monitor):
        monitor.scratchpad({"a": 1, "b": 2})
        monitor.scratchpad({"a": 1})

    assert broken(loses) == ("INV-S", 3, "the scratchpad lost 'b'")
    partial = lambda monitor: monitor.executes(SPEC, {"to": "X"}, [TO], {"to": "X"})  # noqa: E731
    assert broken(partial) == (
        "INV-E",
        3,
        "'pay' is called partially: lacking ['sum'], beyond []",
    )
    bottom = lambda monitor: monitor.executes(  # noqa: E731
        SPEC, {"to": "X", "sum": BOTTOM}, [TO, SUM], {"to": "X"}
    )
    assert broken(bottom) == ("INV-E", 3, "'pay' is called with a value that was not found")
    passed_over = lambda monitor: monitor.executes(  # noqa: E731
        SPEC, {"to": "X", "sum": 5}, [TO, SUM], {"to": "X", "sum": 7}
    )
    assert broken(passed_over) == ("INV-L", 3, "pay.sum is from scratchpad, but the turn states it")
    unasked = Binding(parameter="sum", value=5, source="scratchpad", consulted=("scratchpad",))
    first = lambda monitor: monitor.executes(  # noqa: E731
        SPEC, {"to": "X", "sum": 5}, [TO, unasked], {"to": "X"}
    )
    assert broken(first) == ("INV-L", 3, "pay.sum was not looked up in the turn first")


@pytest.mark.requirement("kernel:invariants:monitor")
def test_the_monitor_sees_loops_and_tasks_that_never_came_up():
    def twice(monitor):
        monitor.fires("Absent", "k")
        monitor.fires("Absent", "k")

    def again(monitor):
        monitor.ordered(("t1", "t2"), {"t1": (), "t2": ("t1",)})
        monitor.begins("t1")
        monitor.begins("t1")

    def early(monitor):
        monitor.ordered(("t2", "t1"), {"t1": (), "t2": ("t1",)})

    def fatal(monitor):
        monitor.ordered(("t1", "t2"), {"t1": (), "t2": ()})
        monitor.begins("t1")
        monitor.ends("t1")
        monitor.finishes()

    assert broken(twice) == ("INV-T", 3, "Absent fires for 'k' a second time")
    assert broken(again) == ("INV-T", 3, "task 't1' begins out of its order, or again")
    assert broken(early) == ("INV-T", 3, "'t2' stands before 't1', which it needs")
    assert broken(fatal) == ("INV-R", 3, "the run ends and 't2' never came up")


@pytest.mark.requirement("kernel:invariants:monitor")
def test_an_invariant_violation_ends_the_run_and_is_no_failure_of_a_task(monkeypatch):
    def partial(spec, stated, scratchpad, **named):
        made = bind(spec, stated, scratchpad, **named)
        return type(made)(arguments=made.arguments, bindings=made.bindings, missing=())

    monkeypatch.setattr("hornbook.kernel.matching.bind", partial)
    tasks = [{"id": "t1", "tool_name": "pay", "depends_on": [], "parameters": {"to": "X-101"}}]
    log = []
    made = Kernel(
        ToolRegistry([SPEC]),
        primitives=Primitives(turns=lambda request: {"tasks": tasks}),
        calls={"pay": lambda **arguments: log.append(arguments)},
        engine=Engine(controls=Controls(contracts=False)),
    )
    with pytest.raises(InvariantViolation, match=r"^INV-E does not hold at step \d+: 'pay' is"):
        made.run("pay X-101")
    assert log == []


@pytest.mark.requirement("kernel:order:graph")
@given(
    needs=st.dictionaries(st.sampled_from(IDS), st.lists(st.sampled_from(IDS), max_size=3)),
)
def test_a_graph_has_an_order_or_a_cycle(needs):
    graph = DependencyGraph.of(IDS, needs)
    cycle = graph.cycle()
    if cycle:
        assert cycle[0] == cycle[-1]
        assert all(later in graph.needs[one] for one, later in pairwise(cycle))
        with pytest.raises(ValueError, match="tasks wait for each other"):
            graph.levels()
    else:
        order = [one for level in graph.levels() for one in level]
        assert graph.is_order(order)
        assert all(not graph.leads_to(need, one) for one in IDS for need in graph.needs[one])


@pytest.mark.requirement("kernel:order:graph")
def test_a_chain_of_any_length_is_ordered():
    ids = [f"t{at}" for at in range(5000)]
    needs = {one: [before] for before, one in pairwise(ids)}
    graph = DependencyGraph.of(ids, needs)
    assert graph.cycle() == ()
    assert DependencyGraph.of(ids, {**needs, "t0": ["t4999"]}).cycle()[0] == "t0"


@pytest.mark.requirement("kernel:scratchpad:grows")
@given(
    writes=st.lists(st.tuples(st.sampled_from(KEYS), st.none() | st.integers() | st.just(BOTTOM)))
)
def test_a_scratchpad_grows_and_keeps_its_history(writes):
    pad = Scratchpad.of({"seed": 1})
    for step, (key, value) in enumerate(writes, 1):
        later = pad.write(key, value, step=step, source="result")
        assert later.keys() >= pad.keys()
        assert later[key] is value
        pad = later
    assert len(pad.writes) == len(writes) + 1
    assert BOTTOM not in pad.known().values()
    assert Scratchpad.of(pad).as_dict() == pad.as_dict()
    assert not hasattr(pad, "__delitem__")


@pytest.mark.requirement("kernel:invariants:params")
def test_params_are_the_required_and_the_stated():
    assert params_of(SPEC, ()) == {"to", "sum"}
    assert params_of(SPEC, ("note",)) == {"to", "sum", "note"}
