"""Which chat model decides: a live one when an API key is set, else the recorded one."""

import os

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel

from .database import DATA
from .recorded import RecordedModel

__all__ = ["LIVE", "choose_model"]

LIVE = {
    "OPENAI_API_KEY": ("openai:gpt-5-mini", "langchain-openai"),
    "ANTHROPIC_API_KEY": ("anthropic:claude-haiku-4-5", "langchain-anthropic"),
}


def choose_model(*, recorded: bool, name: str | None = None) -> tuple[BaseChatModel, str]:
    """Give the model, and what it is in words.

    Raises:
        SystemExit: one sentence, when the package for the live model is not installed.
    """
    key = next((key for key in LIVE if os.environ.get(key)), None)
    if recorded or key is None:
        return RecordedModel.load(DATA / "decisions.jsonl"), "recorded decisions"
    known, package = LIVE[key]
    try:
        return init_chat_model(name or known), f"live decisions of {name or known}"
    except ImportError:
        raise SystemExit(
            f"{key} is set, and {package} is not installed: run `pip install {package}`, "
            f"or add --recorded."
        ) from None
