"""Random programs over numbers, with functions and models that lie, violate and raise at random.

What a function or model does depends on its name and input alone, so that a program means the
same in whatever order, and however often, its steps are carried out.
"""

from collections import Counter
from hashlib import sha256
from random import Random
from threading import Lock
from typing import Any, Literal

from hornbook import Contract, Recover, clauses
from hornbook.models import Completion, Request, TransportError
from hornbook.program import (
    Conditional,
    Fallback,
    Iterate,
    Parallel,
    Primitive,
    Program,
    Sequence,
    constant,
    neural,
    primitive,
    ref,
)

__all__ = ["Chaos", "World"]

Label = Literal["low", "middle", "high"]


class Torn(Exception):
    pass


class Lost(Exception):
    pass


def chance(*what: Any) -> int:
    """A number below 1000 that depends on `what` alone."""
    return int.from_bytes(sha256(repr(what).encode()).digest()[:4]) % 1000


class Chaos:
    """A model whose answer depends on the request alone; counts its attempts."""

    def __init__(self, identity: str, max_attempts: int) -> None:
        self.identity = identity
        self.max_attempts: int | None = max_attempts
        self.calls = 0
        self._lock = Lock()

    def complete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        with self._lock:
            self.calls += 1
        dice = chance(self.identity, request.digest)
        if dice < 60:
            raise TransportError(f"dropped {dice}", retryable=True, retry_after=0)
        if dice < 100:
            raise TransportError(f"refused {dice}", retryable=False)
        if dice < 200:
            return Completion(text="I would rather talk about it.")
        if dice < 260:
            return Completion(text='{"number": 1')
        if dice < 330:
            return Completion(text='"seven"')
        return Completion(text=str(dice % 50))

    async def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        return self.complete(request, timeout=timeout)


def small(value: int) -> bool:
    return value < 40


class World:
    """Makes random programs out of the same few models."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.models = [Chaos("a", 1), Chaos("b", 2), Chaos("c", 3)]
        self._names = Counter[str]()

    def program(self, depth: int = 3) -> Program:
        """A program from a number to a number."""
        return self._part(depth, ())

    def calls(self) -> dict[str, int]:
        """Attempts so far, by model."""
        return {model.identity: model.calls for model in self.models}

    def reset(self) -> None:
        for model in self.models:
            model.calls = 0

    def _name(self, kind: str) -> str:
        self._names[kind] += 1
        return f"{kind}{self._names[kind]}"

    def _part(self, depth: int, outer: tuple[str, ...]) -> Program:
        kinds = ["leaf"] * (3 if depth else 1)
        if depth:
            kinds += ["sequence", "parallel", "conditional", "labels", "iterate", "fallback"]
        match self.random.choice(kinds):
            case "sequence":
                many = self.random.randint(1, 3)
                return Sequence(*(self._part(depth - 1, outer) for _ in range(many)))
            case "parallel":
                return self._parallel(depth - 1, outer)
            case "conditional":
                return self._conditional(depth - 1, outer)
            case "labels":
                return self._labels(depth - 1, outer)
            case "iterate":
                return self._iterate(depth - 1, outer)
            case "fallback":
                many = self.random.randint(1, 3)
                on = self.random.choice([Exception, Exception, (Torn, Lost)])
                return Fallback(*(self._part(depth - 1, outer) for _ in range(many)), on=on)
            case _:
                return self._leaf()

    def _parallel(self, depth: int, outer: tuple[str, ...]) -> Program:
        names = ["one", "two", "three"][: self.random.randint(1, 3)]
        self.random.shuffle(names)
        branches: dict[str, Program] = {}
        for at, name in enumerate(names):
            branch = self._part(depth, tuple(names[:at]))
            if self.random.random() < 0.4:
                branch = Sequence(branch, self._referring(names[:at], outer))
            branches[name] = branch
        declared = list(branches)
        self.random.shuffle(declared)
        together = Parallel(**{name: branches[name] for name in declared})
        taken = self.random.sample(names, self.random.randint(1, len(names)))
        return Sequence(together, self._merging(taken))

    def _referring(self, before: list[str], outer: tuple[str, ...]) -> Program:
        own = ref(self.random.choice([*before, "input"]))
        if outer and self.random.random() < 0.5:
            own = ref(self.random.choice(outer), outer=True)
        leaf = self._binary()
        return leaf.bind(y=own) if self.random.random() < 0.7 else leaf.bind(y=7, x=own)

    def _merging(self, names: list[str]) -> Program:
        name = self._name("merge")

        def merge(one: int = 1, two: int = 2, three: int = 3) -> int:
            return (one + 3 * two + 5 * three + chance(name)) % 50

        parameters = ", ".join(f"{each}: int" for each in names)
        space: dict[str, Any] = {"merge": merge}
        passed = ", ".join(f"{each}={each}" for each in names)
        exec(f"def made({parameters}) -> int: return merge({passed})", space)
        return primitive(space["made"], name=name)

    def _conditional(self, depth: int, outer: tuple[str, ...]) -> Program:
        then = self._part(depth, outer)
        other = self._part(depth, outer) if self.random.random() < 0.5 else None
        match self.random.randint(0, 3):
            case 0:
                return Conditional(constant(self.random.random() < 0.5), then, other)
            case 1:
                contract = Contract(
                    self._name("c"), output=int, ensures=[clauses.that("small", small)]
                )
                return Conditional(contract, then, other)
            case _:
                return Conditional(self._test(), then, other)

    def _labels(self, depth: int, outer: tuple[str, ...]) -> Program:
        name = self._name("label")
        names: list[Label] = ["low", "middle", "high"]

        def label(x: int) -> Label:
            if chance(name, x) < 50:
                raise Torn(f"{name} of {x}")
            return names[chance(name, x, "which") % 3]

        some = self.random.sample([*names, "never"], self.random.randint(1, 4))
        if some == ["never"]:
            some = ["low"]
        other = self._part(depth, outer) if self.random.random() < 0.5 else None
        branches = {each: self._part(depth, outer) for each in some}
        return Conditional(primitive(label, name=name), branches, other)

    def _iterate(self, depth: int, outer: tuple[str, ...]) -> Program:
        until: Any = self.random.choice([None, self._test(), self._change()])
        return Iterate(
            self._part(depth, outer),
            until=until,
            at_most=self.random.randint(1, 3),
            exhausted=self.random.choice(["accept", "accept", "fail"]),
        )

    def _test(self) -> Primitive[..., Any]:
        name = self._name("test")

        def test(x: int) -> bool:
            if chance(name, x) < 50:
                raise Torn(f"{name} of {x}")
            return chance(name, x, "says") < 500

        return primitive(test, name=name)

    def _change(self) -> Primitive[..., Any]:
        def stable(before: int, after: int) -> bool:
            return before == after or (before + after) % 3 == 0

        return primitive(stable, name=self._name("stable"))

    def _leaf(self) -> Program:
        match self.random.randint(0, 5):
            case 0:
                return constant(self.random.randint(0, 49))
            case 1 | 2:
                return self._symbolic()
            case _:
                return self._neural()

    def _symbolic(self) -> Program:
        name = self._name("f")
        recover = self._recover()
        if self.random.random() < 0.3:

            async def later(x: int) -> int:
                return _symbolic_value(name, x)

            return primitive(later, name=name, recover=recover)

        def now(x: int) -> int:
            return _symbolic_value(name, x)

        return primitive(now, name=name, recover=recover)

    def _binary(self) -> Primitive[..., Any]:
        name = self._name("g")

        def both(x: int, y: int = 3) -> int:
            return _symbolic_value(name, x + 7 * y)

        return primitive(both, name=name)

    def _neural(self, fallbacks: bool = True) -> Primitive[..., Any]:
        name = self._name("n")
        contract = None
        if self.random.random() < 0.5:
            contract = Contract(name, ensures=[clauses.that("small", small)])
        return neural(
            name,
            self.random.choice(self.models),
            prompt=f"{name} of {{x}}?",
            input={"x": int},
            output=int,
            contract=contract,
            recover=self._recover(fallbacks),
        )

    def _recover(self, fallbacks: bool = True) -> Recover:
        name = self._name("fallback")

        def plain(x: int) -> int:
            return _symbolic_value(name, x)

        fallback: list[Any] = []
        if fallbacks and self.random.random() < 0.3:
            fallback.append(plain if self.random.random() < 0.5 else self._neural(False))
        return Recover(
            retry=self.random.choice([0, 0, 1, 2]),
            fallback=fallback,
            on=self.random.choice([(), (Torn,), (Torn, TransportError)]),
        )


def _symbolic_value(name: str, x: int) -> Any:
    dice = chance(name, x)
    if dice < 50:
        raise Torn(f"{name} of {x}")
    if dice < 80:
        raise Lost(f"{name} of {x}")
    if dice < 130:
        return "not a number"
    return dice % 50
