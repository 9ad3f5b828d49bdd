"""Models: one small protocol, the clients that implement it, and the one way to call them.

    from hornbook.models import Message, OpenAIModel, Request, ask

    model = OpenAIModel("qwen2.5", base_url="http://localhost:8000/v1")
    completion = ask(model, Request(messages=[Message(role="user", content="...")]))

A host's own model takes part when it has what `Model` names: `identity`, `max_attempts`,
`complete` and `acomplete`. Forethought 3.1 ("SLM-based primitives"); DESIGN sections 5, 13.
"""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.models.asking import aask, ask
    from hornbook.models.batching import aask_many, ask_many
    from hornbook.models.failures import ReplayError, TransportError
    from hornbook.models.local import LocalModel
    from hornbook.models.named import model
    from hornbook.models.openai_http import OpenAIModel
    from hornbook.models.protocol import BatchModel, Model
    from hornbook.models.replaying import RecordedModel, recorded
    from hornbook.models.scripted import ScriptedBatchModel, ScriptedModel
    from hornbook.models.values import Completion, Message, Price, Request, Sampling, Usage

__all__ = [
    "BatchModel",
    "Completion",
    "LocalModel",
    "Message",
    "Model",
    "OpenAIModel",
    "Price",
    "RecordedModel",
    "ReplayError",
    "Request",
    "Sampling",
    "ScriptedBatchModel",
    "ScriptedModel",
    "TransportError",
    "Usage",
    "aask",
    "aask_many",
    "ask",
    "ask_many",
    "model",
    "recorded",
]

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "BatchModel": "hornbook.models.protocol",
        "Completion": "hornbook.models.values",
        "LocalModel": "hornbook.models.local",
        "Message": "hornbook.models.values",
        "Model": "hornbook.models.protocol",
        "OpenAIModel": "hornbook.models.openai_http",
        "Price": "hornbook.models.values",
        "RecordedModel": "hornbook.models.replaying",
        "ReplayError": "hornbook.models.failures",
        "Request": "hornbook.models.values",
        "Sampling": "hornbook.models.values",
        "ScriptedBatchModel": "hornbook.models.scripted",
        "ScriptedModel": "hornbook.models.scripted",
        "TransportError": "hornbook.models.failures",
        "Usage": "hornbook.models.values",
        "aask": "hornbook.models.asking",
        "aask_many": "hornbook.models.batching",
        "ask": "hornbook.models.asking",
        "ask_many": "hornbook.models.batching",
        "model": "hornbook.models.named",
        "recorded": "hornbook.models.replaying",
    },
)
