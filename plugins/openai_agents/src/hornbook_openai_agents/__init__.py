"""Hornbook for the OpenAI Agents SDK.

Names load on first use, so that the entry point does not import the host.
"""

from typing import TYPE_CHECKING, Any

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook_openai_agents.configuring import HornbookRunConfig, run_config
    from hornbook_openai_agents.guarding import guard
    from hornbook_openai_agents.model import HornbookModel, HornbookProvider
    from hornbook_openai_agents.running import run, run_streamed, run_sync

__all__ = [
    "HornbookModel",
    "HornbookProvider",
    "HornbookRunConfig",
    "guard",
    "run",
    "run_config",
    "run_streamed",
    "run_sync",
]

_load, __dir__ = lazy.attach(
    __name__,
    {
        "HornbookModel": "hornbook_openai_agents.model",
        "HornbookProvider": "hornbook_openai_agents.model",
        "HornbookRunConfig": "hornbook_openai_agents.configuring",
        "guard": "hornbook_openai_agents.guarding",
        "run": "hornbook_openai_agents.running",
        "run_config": "hornbook_openai_agents.configuring",
        "run_streamed": "hornbook_openai_agents.running",
        "run_sync": "hornbook_openai_agents.running",
    },
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        from hornbook_openai_agents.supported import refuse_others

        # Before the host is imported: an odd version would raise whatever it raises.
        refuse_others()
    return _load(name)
