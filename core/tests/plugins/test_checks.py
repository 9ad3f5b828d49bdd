"""What is refused as a plugin, and in which words."""

import functools
from typing import Any

import pytest

from hornbook.errors import PluginError
from hornbook.hooks import hookimpl
from hornbook.plugins.checks import check, hook_names, passed

pytestmark = pytest.mark.requirement("plugins:register:checked")


def refusal(plugin: object) -> str:
    with pytest.raises(PluginError) as caught:
        check(plugin, "mine")
    return str(caught.value)


def test_a_class_in_place_of_an_instance_is_refused() -> None:
    class Mine:
        @hookimpl
        def hornbook_record(self, event: object) -> None: ...

    assert refusal(Mine).endswith("Mine: register an instance of it")
    assert [one.hook for one in check(Mine(), "mine")] == ["hornbook_record"]


def test_a_misspelt_hook_is_refused_with_the_nearest_name() -> None:
    class Mine:
        @hookimpl
        def hornbook_before_stp(self, step: object) -> None: ...

    assert refusal(Mine()) == (
        "plugin 'mine': hornbook_before_stp is no hook of Hornbook; "
        "did you mean hornbook_before_step?"
    )


def test_a_hook_like_no_other_is_refused_with_all_names() -> None:
    class Mine:
        @hookimpl
        def frobnicate(self) -> None: ...

    assert refusal(Mine()) == (
        "plugin 'mine': frobnicate is no hook of Hornbook; there are " + ", ".join(hook_names())
    )


def test_a_hook_of_a_later_version_may_be_declared_optional() -> None:
    class Mine:
        @hookimpl(optionalhook=True)
        def hornbook_register_embedders(self, register: object) -> None: ...

    assert [one.hook for one in check(Mine(), "mine")] == ["hornbook_register_embedders"]


def test_an_unknown_argument_is_refused_with_those_there_are() -> None:
    class Mine:
        @hookimpl
        def hornbook_check_output(self, step: object, result: object) -> None: ...

    assert refusal(Mine()) == (
        "plugin 'mine': hornbook_check_output takes an unknown argument 'result'; "
        "there is step, output"
    )


def test_an_argument_by_position_is_refused() -> None:
    class Mine:
        @hookimpl
        def hornbook_record(self, event: object, /) -> None: ...

    assert refusal(Mine()) == (
        "plugin 'mine': hornbook_record takes 'event' by position; it is passed by name"
    )


def test_arguments_may_be_left_out_have_defaults_and_stand_in_any_order() -> None:
    class Mine:
        @hookimpl
        def hornbook_on_violation(self, violations: object, *, step: object = None) -> None: ...

        @hookimpl
        def hornbook_on_error(self, *rest: object, own: int = 3, **more: object) -> None: ...

    on_error, on_violation = check(Mine(), "mine")
    assert on_violation.argnames == ("violations", "step")
    assert on_error.argnames == ()


@pytest.mark.parametrize("option", ["wrapper", "hookwrapper"])
def test_a_wrapper_is_refused(option: str) -> None:
    class Mine:
        @hookimpl(**{option: True})
        def hornbook_before_step(self, step: object) -> Any:
            yield

    assert refusal(Mine()) == (
        "plugin 'mine': hornbook_before_step is a wrapper; "
        "hooks only decide, so write a plain function"
    )


def test_a_generator_is_refused() -> None:
    class Mine:
        @hookimpl
        def hornbook_check_output(self, step: object) -> Any:
            yield

    class Other:
        @hookimpl
        async def hornbook_check_output(self, step: object) -> Any:
            yield

    sentence = "plugin 'mine': hornbook_check_output is a generator; it must return its result"
    assert refusal(Mine()) == sentence
    assert refusal(Other()) == sentence


@pytest.mark.parametrize("hook", ["hornbook_record", "hornbook_render_rules"])
def test_an_async_implementation_is_refused_where_nothing_can_be_awaited(hook: str) -> None:
    async def implementation(self: object) -> None: ...

    plugin = type("Mine", (), {hook: hookimpl(implementation)})()
    assert refusal(plugin) == (
        f"plugin 'mine': {hook} must not be async: it is called where nothing can be awaited"
    )


@pytest.mark.requirement("hooks:calls:async")
def test_an_async_implementation_of_a_step_hook_is_accepted() -> None:
    class Mine:
        @hookimpl
        async def hornbook_before_step(self, step: object) -> None: ...

    assert [one.hook for one in check(Mine(), "mine")] == ["hornbook_before_step"]


def test_a_hook_without_its_mark_is_refused() -> None:
    class Mine:
        def hornbook_record(self, event: object) -> None: ...

    assert refusal(Mine()) == "plugin 'mine': hornbook_record is not marked with @hookimpl"


def test_an_attribute_that_raises_when_looked_at_is_one_sentence() -> None:
    class Mine:
        def __dir__(self) -> list[str]:
            raise OSError("disk\nis gone")

    assert refusal(Mine()) == "plugin 'mine' cannot be used: OSError: disk is gone"


def test_a_static_method_and_a_renamed_function_implement_hooks() -> None:
    class Mine:
        @staticmethod
        @hookimpl
        def hornbook_record(event: object) -> None: ...

        @hookimpl(specname="hornbook_on_error")
        def fix(self, error: object) -> None: ...

    assert {one.hook: one.argnames for one in check(Mine(), "mine")} == {
        "hornbook_record": ("event",),
        "hornbook_on_error": ("error",),
    }


def test_a_decorated_implementation_keeps_its_arguments() -> None:
    def logged(function: Any) -> Any:
        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return inner

    @logged
    def hornbook_record(event: object) -> None: ...

    assert passed(hornbook_record, "hornbook_record") == ("event",)
