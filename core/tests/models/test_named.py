"""`model(name)`: models that plugins register."""

import pytest

from hornbook import plugins
from hornbook.errors import DefinitionError, MissingExtra, PluginError
from hornbook.hooks import hookimpl
from hornbook.models import ScriptedModel, ask, model


class House:
    """Registers some models, good and bad."""

    made = 0

    @hookimpl
    def hornbook_register_models(self, register) -> None:
        register("house", self.make)
        register("bare", object)
        register("broken", lambda: {}["key"])
        register("absent", self.absent)

    def make(self) -> ScriptedModel:
        self.made += 1
        return ScriptedModel({"": "from the house"})

    def absent(self) -> None:
        raise MissingExtra("install it")


@pytest.mark.requirement("models:named:registered")
def test_a_registered_model_is_made_once(said) -> None:
    house = House()
    with plugins.registered(house):
        assert ask(model("house"), said()).text == "from the house"
        assert model("house") is model("house")
    assert house.made == 1
    other = House()
    with plugins.registered(other):
        model("house")
    assert other.made == 1


@pytest.mark.requirement("models:named:unknown")
def test_an_unknown_name_is_told_with_those_there_are() -> None:
    with pytest.raises(DefinitionError) as caught:
        model("zzz")
    assert str(caught.value) == "no model 'zzz' is registered; there are none"
    with plugins.registered(House()):
        with pytest.raises(DefinitionError) as caught:
            model("hose")
        assert str(caught.value) == "no model 'hose' is registered; did you mean 'house'?"
        with pytest.raises(DefinitionError) as caught:
            model("zzz")
    told = "no model 'zzz' is registered; there are absent, bare, broken, house"
    assert str(caught.value) == told


@pytest.mark.requirement("models:named:broken")
def test_a_factory_that_makes_no_model_names_its_plugin() -> None:
    with plugins.registered(House()):
        with pytest.raises(PluginError) as caught:
            model("bare")
        told = "plugin 'House': its model 'bare' is no model: object has no identity"
        assert str(caught.value) == told
        with pytest.raises(PluginError) as caught:
            model("broken")
        told = "plugin 'House': its model 'broken' could not be made: KeyError: 'key'"
        assert str(caught.value) == told
        with pytest.raises(MissingExtra):
            model("absent")
