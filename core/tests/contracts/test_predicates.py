"""What is known of the functions a contract uses."""

import functools
import operator
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hornbook.contracts.predicates import (
    describe,
    is_async,
    load,
    portable,
    reference,
    required_positional,
    source_digest,
)
from hornbook.errors import DefinitionError

pytestmark = pytest.mark.requirement("contract:json:portable")

HERE = __name__


def positive(value: int) -> bool:
    """Whether it is more than nothing."""
    return value > 0


class Rules:
    def method(self, value: int) -> bool:
        return value > 0

    @classmethod
    def of_class(cls, value: int) -> bool:
        return value > 0

    @staticmethod
    def alone(value: int) -> bool:
        return value > 0

    def __call__(self, value: int) -> bool:
        return value > 0


class Waiting:
    async def __call__(self, value: int) -> bool:
        return value > 0


def closure(limit: int) -> Callable[[int], bool]:
    def below(value: int) -> bool:
        return value < limit

    return below


above_zero, below_zero = (lambda value: value > 0), (lambda value: value < 0)


Written = Callable[[str], ModuleType]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Written]:
    """Write modules down and import them, each under a name of its own."""
    monkeypatch.syspath_prepend(tmp_path)
    made: list[str] = []

    def write(source: str) -> ModuleType:
        from importlib import import_module, invalidate_caches

        made.append(f"written_{len(made)}_{tmp_path.name}".replace("-", "_"))
        (tmp_path / f"{made[-1]}.py").write_text(textwrap.dedent(source), encoding="utf-8")
        invalidate_caches()
        return import_module(made[-1])

    yield write
    for name in made:
        sys.modules.pop(name, None)


# --- references ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fn", "name"),
    [
        (positive, f"{HERE}:positive"),
        (Rules.alone, f"{HERE}:Rules.alone"),
        (Rules.of_class, f"{HERE}:Rules.of_class"),
        (Rules.method, f"{HERE}:Rules.method"),
        (len, "builtins:len"),
        (str.isdigit, "builtins:str.isdigit"),
        (operator.not_, "_operator:not_"),
    ],
)
def test_a_function_that_importing_gives_back_has_a_reference(
    fn: Callable[..., Any], name: str
) -> None:
    assert reference(fn) == name
    assert portable(fn)


@pytest.mark.requirement("contract:json:lambda")
@pytest.mark.parametrize(
    "fn",
    [
        above_zero,
        closure(3),
        Rules().method,
        Rules(),
        functools.partial(positive, 3),
        operator.itemgetter(0),
    ],
)
def test_what_importing_does_not_give_back_has_none(fn: Callable[..., Any]) -> None:
    assert reference(fn) is None
    assert not portable(fn)


def test_a_function_of_the_main_program_has_no_reference(written: Written) -> None:
    module = written("def check(value): return True")
    assert reference(module.check) == f"{module.__name__}:check"
    module.check.__module__ = "__main__"
    assert reference(module.check) is None


def test_a_function_whose_name_means_another_has_no_reference(written: Written) -> None:
    module = written(
        """
        def check(value): return True
        old = check
        def check(value): return False
        """
    )
    assert reference(module.old) is None
    assert reference(module.check) == f"{module.__name__}:check"


def test_loading_gives_the_function_that_was_referred_to(written: Written) -> None:
    module = written("class Rules:\n    @staticmethod\n    def check(value): return True\n")
    name = reference(module.Rules.check)
    assert name is not None
    assert load(name) is module.Rules.check


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "no.such.module:check",
            "function 'no.such.module:check' cannot be loaded: importing 'no.such.module' "
            "failed: ModuleNotFoundError: No module named 'no'",
        ),
        (
            "math:no_such",
            "function 'math:no_such' cannot be loaded: 'math' has no 'no_such'",
        ),
        (
            "collections:OrderedDict.no_such",
            "function 'collections:OrderedDict.no_such' cannot be loaded: "
            "'collections.OrderedDict' has no 'no_such'",
        ),
        ("math:pi", "function 'math:pi' cannot be loaded: it is no function but float"),
        ("math", "function 'math' cannot be loaded: the form is 'module:name'"),
        (".math:pi", "function '.math:pi' cannot be loaded: the form is 'module:name'"),
    ],
)
def test_what_cannot_be_loaded_is_told_by_what_is_missing(name: str, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        load(name)
    assert str(caught.value) == message


def test_a_module_that_raises_on_import_gives_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "raises_on_import.py").write_text("raise RuntimeError('boom')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(DefinitionError) as caught:
        load("raises_on_import:check")
    assert str(caught.value) == (
        "function 'raises_on_import:check' cannot be loaded: importing 'raises_on_import' "
        "failed: RuntimeError: boom"
    )


# --- digests ------------------------------------------------------------------------------

PLAIN = """
def check(value, limit=3):
    return value > limit
"""


@pytest.mark.parametrize(
    "same",
    [
        "def check(value, limit=3): return (value > limit)  # a comment",
        'def other(value, limit=3):\n    """What it is for."""\n\n    return value>limit\n',
        "if True:\n    def check(value, limit = 3):\n        return value > \\\n limit\n",
    ],
)
def test_format_comments_docstrings_and_the_name_do_not_change_a_digest(
    written: Written, same: str
) -> None:
    module = written(same)
    function = getattr(module, "check", None) or module.other
    assert source_digest(function) == source_digest(written(PLAIN).check)


@pytest.mark.parametrize(
    "other",
    [
        "def check(value, limit=4): return value > limit",
        "def check(value, limit=3): return value >= limit",
        "def check(value, limit=3.0): return value > limit",
        "def check(value, *, limit=3): return value > limit",
        "def check(value, limit=3): return bool(value > limit)",
        "import functools\n@functools.cache\ndef check(value, limit=3): return value > limit",
        "check = lambda value, limit=3: value > limit",
    ],
)
def test_what_changes_the_function_changes_its_digest(written: Written, other: str) -> None:
    digest = source_digest(written(other).check)
    assert digest != source_digest(written(PLAIN).check)
    assert digest.startswith("sha256:")
    assert len(digest) == len("sha256:") + 64


def test_every_lambda_of_a_line_has_its_own_digest_and_text(written: Written) -> None:
    module = written(
        """
        one, two = lambda v: v > 0, lambda v: v < 0
        nested = lambda v: (lambda w: w + v)
        listed = [lambda v, known: v in known,
            lambda v: (
                v ==
                3
            )]
        def made(limit): return lambda v: v < limit
        """
    )
    functions = [
        module.one,
        module.two,
        module.nested,
        module.nested(1),
        *module.listed,
        module.made(1),
    ]
    assert [describe(function) for function in functions] == [
        "lambda v: v > 0",
        "lambda v: v < 0",
        "lambda v: (lambda w: w + v)",
        "lambda w: w + v",
        "lambda v, known: v in known",
        "lambda v: ( v == 3 )",
        "lambda v: v < limit",
    ]
    assert len(set(map(source_digest, functions))) == len(functions)
    assert source_digest(module.made(1)) == source_digest(module.made(2))


def test_a_decorated_function_is_told_by_its_own_source_and_its_decorators() -> None:
    def twice(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def wrapper(*args: Any) -> Any:
            return fn(fn(*args))

        return wrapper

    @twice
    def step(value: int) -> int:
        return value + 1

    @twice
    @twice
    def other(value: int) -> int:
        return value + 1

    assert len({source_digest(fn) for fn in (step, other, twice)}) == 3


def test_functions_without_source_have_a_digest_too() -> None:
    made = [eval("lambda v: v > 0"), eval("lambda v: v > 1"), eval("lambda v: v > 1")]
    one, two, same = map(source_digest, made)
    assert one != two == same
    assert describe(made[0]) == "lambda"
    others = [len, abs, str.isdigit, operator.itemgetter(0), operator.itemgetter(1), int]
    assert len(set(map(source_digest, others))) == len(others)
    parts = [functools.partial(positive, 1), functools.partial(positive, 2), positive]
    assert len(set(map(source_digest, parts))) == 3
    assert source_digest(Rules()) == source_digest(Rules())


def test_a_digest_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from hornbook.contracts import predicates

    digest = source_digest(positive)
    monkeypatch.setattr(predicates, "digest_of", None)
    assert source_digest(positive) == digest


# --- descriptions and calls ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("fn", "text"),
    [
        (positive, "positive"),
        (closure(3), "below"),
        (Rules().method, "Rules.method"),
        (Rules(), "Rules"),
        (len, "len"),
        (functools.partial(positive, 3), "positive"),
        (lambda value: value in {"a long set of words", "to choose from", "and yet more", "of them"}
         or value is None, None),
    ],
)  # fmt: skip
def test_a_function_is_described_in_few_words(fn: Callable[..., Any], text: str | None) -> None:
    if text is None:
        assert describe(fn).startswith("lambda value: value in {")
        assert len(describe(fn)) <= 120
    else:
        assert describe(fn) == text


async def coroutine(value: int) -> bool:
    return value > 0


async def generator(value: int) -> Any:
    yield value


@pytest.mark.requirement("clause:that:async")
@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (coroutine, True),
        (generator, True),
        (Waiting(), True),
        (functools.partial(coroutine, 1), True),
        (positive, False),
        (Rules(), False),
        (len, False),
        (int, False),
    ],
)
def test_an_async_function_is_known_as_one(fn: Callable[..., Any], expected: bool) -> None:
    assert is_async(fn) is expected


@pytest.mark.requirement("clause:that:inputs")
@pytest.mark.parametrize(
    ("fn", "count"),
    [
        (positive, 1),
        (lambda value, inputs: True, 2),
        (lambda value, inputs=None: True, 1),
        (lambda *values: True, 0),
        pytest.param(lambda value, /, inputs, *, key=None: True, 2, id="keyword"),
        (Rules().method, 1),
        (Rules(), 1),
        (functools.partial(operator.gt, 1), 1),
        (operator.gt, 2),
        (dict.get, 2),
        (getattr, 1),
        (str.isdigit, 1),
    ],
)
def test_how_many_arguments_a_function_needs_by_position(
    fn: Callable[..., Any], count: int
) -> None:
    assert required_positional(fn) == count


@pytest.mark.requirement("clause:that:inputs")
@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (lambda: True, "function 'lambda: True' takes no value"),
        (
            lambda value, *, key: True,
            "function 'lambda value, *, key: True' must be given 'key' by name",
        ),
    ],
)
def test_a_function_that_cannot_be_given_a_value_is_refused(
    fn: Callable[..., Any], message: str
) -> None:
    with pytest.raises(DefinitionError) as caught:
        required_positional(fn)
    assert str(caught.value) == message
