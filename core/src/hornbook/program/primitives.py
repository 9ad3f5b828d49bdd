"""Primitives: named, versioned, typed, pure operations with a contract (Forethought 3.1)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast, overload

from hornbook.contracts.contract import Contract
from hornbook.errors import DefinitionError
from hornbook.program.definition import Definition, enforced, refuse_settings
from hornbook.program.node import Program
from hornbook.program.signature import read_signature
from hornbook.step.binding import Parameters
from hornbook.step.colour import qualified
from hornbook.step.recover import Recover

if TYPE_CHECKING:
    from hornbook.engine import Life, Work

__all__ = ["Primitive", "lifted", "primitive"]

P = ParamSpec("P")
R = TypeVar("R")


class Primitive(Program, Generic[P, R]):
    """One operation, symbolic (a function) or neural (a model); made by `primitive`, `neural`.

    It stays callable as the function it is, held to its contract.
    """

    definition: Definition
    bindings: Mapping[str, Any]
    """Parameters bound by `bind`."""
    _work: Any = None
    _checked: Any = None
    """The function under its contract, made when it is first called."""

    def __init__(self, definition: Definition, bindings: Mapping[str, Any] | None = None) -> None:
        self._set(name=definition.name, definition=definition, bindings=dict(bindings or {}))
        self._set(__doc__=getattr(definition.function, "__doc__", None))
        self._check()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call it by itself; joins the run around, and needs none."""
        from hornbook.program.running import call

        return call(self, args, kwargs)

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        """The async twin of a call, whatever the function's colour; for neural primitives."""
        from hornbook.program.running import acall

        return await acall(self, args, kwargs)

    def bind(self, **bindings: Any) -> "Primitive[P, R]":
        """The primitive with some parameters bound: to a `ref(...)`, or to a value as it is.

        Raises:
            DefinitionError: a name that is no parameter, or a value of another type.
        """
        for name in bindings:
            self.definition.signature.parameter(name)
        made = Primitive[P, R](self.definition, {**self.bindings, **bindings})
        return made if made.name == self.name else cast("Primitive[P, R]", made.named(self.name))

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function behind it, where `inspect.signature` looks."""
        function = self.definition.function
        return self.definition.asking.caller if function is None else function  # type: ignore[union-attr]  # pyright: ignore[reportOptionalMemberAccess]

    @property
    def neural(self) -> bool:
        """Whether a model does it."""
        return self.definition.asking is not None

    @property
    def pure(self) -> bool:
        """Whether it has no effects and may be cached."""
        return self.definition.pure

    @property
    def version(self) -> str:
        """Changes when its meaning does."""
        return self.definition.version

    @property
    def contract(self) -> Contract[Any]:
        """What its output is held to: the given contract or a derived one."""
        return self.definition.contract

    @property
    def given_contract(self) -> Contract[Any] | None:
        """The contract that was written for it; None where it is derived from its type."""
        return self.definition.given

    @property
    def recover(self) -> Recover:
        """What is done about a violation."""
        return self.definition.recover

    @property
    def model(self) -> Any:
        """The model of a neural primitive, else None."""
        asking = self.definition.asking
        return None if asking is None else asking.model

    @property
    def requires_accuracy(self) -> float | None:
        """The share of right answers that `verify` holds it to."""
        return self.definition.requires_accuracy

    @property
    def work(self) -> "Work":
        """The primitive as the engine sees it."""
        from hornbook.program.work import work_of

        if self._work is None:
            self._set(_work=work_of(self))
        return cast("Work", self._work)

    @property
    def checked(self) -> Callable[..., Any]:
        """A symbolic primitive's function, as a step of whatever runs around."""
        from hornbook.program.running import checked

        if self._checked is None:
            self._set(_checked=checked(self))
        return cast("Callable[..., Any]", self._checked)

    def life(self, inputs: Mapping[str, Any], *, place: str) -> "Life":
        """Its life as the fallback of another primitive."""
        from hornbook.engine import invoke

        return invoke(self.work, inputs, place=place)

    @property
    def parts(self) -> Mapping[str, Program]:
        """Fallbacks of its recovery that are primitives themselves."""
        fallbacks = enumerate(self.definition.recover.fallback)
        return {
            f".fallback[{at}]": cast("Program", one)
            for at, one in fallbacks
            if isinstance(one, Primitive)
        }

    def __reduce__(self) -> tuple[Any, ...]:
        from hornbook.program.pickled import reduced

        return reduced(self)


@overload
def primitive(
    fn: Callable[P, R],
    /,
    *,
    name: str | None = ...,
    version: str = ...,
    contract: Contract[Any] | None = ...,
    recover: Recover | None = ...,
    pure: bool = ...,
    blocking: bool = ...,
    timeout: float | None = ...,
    deterministic: bool = ...,
    requires_accuracy: float | None = ...,
) -> Primitive[P, R]: ...
@overload
def primitive(
    *,
    name: str | None = ...,
    version: str = ...,
    contract: Contract[Any] | None = ...,
    recover: Recover | None = ...,
    pure: bool = ...,
    blocking: bool = ...,
    timeout: float | None = ...,
    deterministic: bool = ...,
    requires_accuracy: float | None = ...,
) -> Callable[[Callable[P, R]], Primitive[P, R]]: ...
def primitive(fn: Callable[..., Any] | None = None, /, **settings: Any) -> Any:
    """Make a function a primitive: `@primitive`, or `@primitive(contract=...)`.

    Its annotations are its type. Without `contract` it is held to its return type, and to
    giving finite numbers.

    Args:
        fn: a plain or a coroutine function; all parameters can be given by name.
        **settings: see below.
            name: what records call it; the function's qualified name.
            version: changes when its meaning does; part of every cache key.
            contract: clauses on inputs and output.
            recover: what to do about a violation; to halt, when left out.
            pure: it has no effects and equal inputs give equal outputs, so that it may be
                cached and run beside others.
            blocking: it waits (for a disk, a server) and gets a thread beside others.
            timeout: seconds that one attempt may take.
            deterministic: equal inputs give equal results, so that a retry needs
                `Recover(modify=...)`.
            requires_accuracy: the share of right answers that `verify` holds it to.

    Raises:
        DefinitionError: an annotation is missing, the function is a method or a generator,
            or a setting cannot work.
    """
    if fn is None:
        return partial(_symbolic, settings=settings, untyped=False)
    return _symbolic(fn, settings, untyped=False)


def lifted(given: Any, where: str, *, untyped: bool = False) -> Program:
    """A part of a composition as a program: a function becomes a primitive.

    Raises:
        DefinitionError: it is neither.
    """
    if isinstance(given, Program):
        return given
    if not callable(given) or isinstance(given, type):
        raise DefinitionError(f"{where}: {given!r:.80} is neither a program nor a function")
    return _symbolic(given, {}, untyped=untyped)


_SETTINGS = (
    "name",
    "version",
    "contract",
    "recover",
    "pure",
    "blocking",
    "timeout",
    "deterministic",
    "requires_accuracy",
)


def _symbolic(
    fn: Callable[..., Any], settings: Mapping[str, Any], *, untyped: bool
) -> Primitive[..., Any]:
    for name in settings:
        if name not in _SETTINGS:
            known = ", ".join(_SETTINGS)
            raise TypeError(f"primitive() has no setting {name!r}; its settings: {known}")
    if isinstance(fn, Program):
        raise DefinitionError(f"primitive({fn!r}): it is a program already")
    step = settings.get("name") or qualified(fn)
    signature = read_signature(fn, step, untyped=untyped)
    version = settings.get("version", "1")
    given = settings.get("contract")
    output = bool if untyped and signature.output is Any else signature.output
    signature = type(signature)(step=step, parameters=signature.parameters, output=output)
    definition = Definition(
        name=step,
        version=version,
        signature=signature,
        parameters=Parameters(fn),
        contract=enforced(
            given,
            step=step,
            version=version,
            output=output,
            names=tuple(one.name for one in signature.parameters),
        ),
        given=given,
        recover=settings.get("recover") or Recover(),
        function=fn,
        pure=settings.get("pure", True),
        blocking=settings.get("blocking", False),
        timeout=settings.get("timeout"),
        deterministic=settings.get("deterministic", False),
        requires_accuracy=settings.get("requires_accuracy"),
        settings={**settings, **({"untyped": True} if untyped else {})},
    )
    refuse_settings(definition)
    return Primitive[..., Any](definition)
