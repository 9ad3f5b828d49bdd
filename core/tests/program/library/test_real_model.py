"""A real small model behind a library primitive. Nothing is claimed of how often it is right."""

from contextlib import suppress
from typing import Any

import pytest

import hornbook
from hornbook import ContractViolation, Recover
from hornbook.contracts.grounding import locate
from hornbook.models import Sampling
from hornbook.program.library import Entities, extract_entities

TEXT = "Ada Lovelace met Charles Babbage in London."


@pytest.mark.ci
@pytest.mark.requirement("library:extract-entities:real-model")
def test_what_a_small_model_finds_stands_in_the_text_or_is_refused(smollm: Any):
    names = extract_entities(
        smollm,
        kinds=("person", "place"),
        recover=Recover(retry=1),
        sampling=Sampling(max_tokens=160),
    )
    with hornbook.run(None) as run, suppress(ContractViolation):
        found = names.run(TEXT)
        assert isinstance(found, Entities)
        assert all(locate(one.text, TEXT) for one in found.entities)
        assert {one.kind for one in found.entities} <= {"person", "place"}
    models = [event for event in run.events if event.data.get("step") == "model"]
    assert 1 <= len(models) <= 2
    assert run.meter.spent.calls == len(models)
