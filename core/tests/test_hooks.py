"""The hook specifications as others rely on them."""

import inspect
from dataclasses import fields

import pytest

from hornbook import hooks
from hornbook.plugins.checks import hook_names, new_manager
from hornbook.step.hookset import HookSet

ARGUMENTS = {
    "hornbook_before_step": ("step",),
    "hornbook_check_output": ("step", "output"),
    "hornbook_on_error": ("step", "error"),
    "hornbook_on_violation": ("step", "output", "violations"),
    "hornbook_record": ("event",),
    "hornbook_register_clauses": ("register",),
    "hornbook_register_models": ("register",),
    "hornbook_register_trace_sinks": ("register",),
    "hornbook_render_rules": ("request", "rules"),
    "hornbook_retrieve_rules": ("request",),
}


@pytest.mark.requirement("hooks:specs:documented")
def test_the_hooks_and_their_arguments_are_as_published() -> None:
    found = {
        name: tuple(inspect.signature(getattr(hooks, name)).parameters) for name in hook_names()
    }
    assert found == ARGUMENTS


@pytest.mark.requirement("hooks:specs:documented")
@pytest.mark.parametrize("name", hook_names())
def test_every_hook_says_when_it_is_called_and_returns_a_list(name: str) -> None:
    documentation = getattr(hooks, name).__doc__
    assert any(word in documentation for word in ("Called", "Observe", "Write"))
    spec = getattr(new_manager().hook, name).spec
    assert (spec.opts["firstresult"], spec.opts["historic"]) == (False, False)


@pytest.mark.requirement("hooks:specs:documented")
def test_every_hook_of_a_step_has_its_place_in_the_hook_set() -> None:
    step_hooks = {f"hornbook_{one.name}" for one in fields(HookSet)} - {"hornbook_generation"}
    registrations = {name for name in ARGUMENTS if name.startswith("hornbook_register_")}
    assert step_hooks | registrations == set(ARGUMENTS)
