"""The slot of the hooks: loaded once, replaced whole, and never set back."""

import threading

import pytest

from hornbook.step.hookset import HookSet, HookSlot, slot

pytestmark = pytest.mark.requirement("decorate:hooks:none")


def test_with_no_plugins_the_set_is_empty() -> None:
    one = HookSlot()
    assert not one.quiet
    one.loader = lambda: HookSet(generation=0)
    assert one.get() == HookSet(generation=0)
    assert one.quiet
    assert slot.get() is slot.get()


def test_the_set_is_loaded_once_by_many_threads() -> None:
    loads: list[int] = []
    one, ready = HookSlot(), threading.Barrier(8, timeout=30)

    def load() -> HookSet:
        loads.append(1)
        return HookSet(generation=7)

    def use() -> None:
        ready.wait()
        assert one.get().generation == 7

    one.loader = load
    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert loads == [1]


def test_a_set_put_there_while_loading_is_not_overwritten_by_the_older_one() -> None:
    one = HookSlot()

    def load() -> HookSet:
        loaded = HookSet(generation=1)
        thread = threading.Thread(target=one.replace, args=(HookSet(generation=2),))
        thread.start()
        thread.join(30)
        return loaded

    one.loader = load
    assert one.get().generation == 2


def test_a_step_that_runs_while_plugins_are_loaded_finds_no_hooks_and_spoils_nothing() -> None:
    one = HookSlot()
    inside: list[HookSet] = []

    def load() -> HookSet:
        inside.append(one.get())
        assert one.hooks is None
        return HookSet(generation=1)

    one.loader = load
    assert one.get().generation == 1
    assert inside == [HookSet(generation=0)]


def test_a_loader_that_raises_is_asked_again() -> None:
    one = HookSlot()
    answers = [HookSet(generation=1)]

    def load() -> HookSet:
        if len(answers) == 1:
            answers.append(HookSet(generation=2))
            raise OSError("now")
        return answers[1]

    one.loader = load
    with pytest.raises(OSError, match="now"):
        one.get()
    assert one.get().generation == 2
