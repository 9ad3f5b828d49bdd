"""`run`, `run_sync` and `run_streamed`: the SDK's runners with Hornbook attached."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from typing import Any, TypeVar

from agents import Agent, RunConfig, Runner, RunResult, RunResultStreaming, RunState

from hornbook.errors import DefinitionError
from hornbook.hosting import Contracts
from hornbook.trace.frame import current_run
from hornbook.trace.runs import Run
from hornbook_openai_agents.attachment import Halt, Tools
from hornbook_openai_agents.compat import current_agent, items_so_far
from hornbook_openai_agents.configuring import HornbookRunConfig, run_config as attached
from hornbook_openai_agents.conversation import Conversation, within
from hornbook_openai_agents.guarding import guard, is_guarded, tools_of
from hornbook_openai_agents.items import items_of
from hornbook_openai_agents.tools import ours_behind

__all__ = ["run", "run_streamed", "run_sync"]
