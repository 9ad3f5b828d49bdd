"""Which occurrence of a step this is, in the host's own ids: they outlive the process.

A node is run again after an interrupt, a retry or on a replay. Its task keeps its id then,
so a record tells by it what belongs together; our own step ids tell the runs apart.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from langgraph.runtime import ExecutionInfo

from hornbook_langgraph.compat import NO_CONFIG, REPLAY, Config, config_in_use

__all__ = ["ModelIdentity", "StepIdentity", "ToolIdentity"]

_METADATA = ("langgraph_node", "langgraph_step", "lc_agent_name")


class StepIdentity(Mapping[str, Any]):
    """The host's ids for a step that is running; what the host does not tell is left out.

    It is a mapping that is made when someone looks: every step has one, and few are read.
    """

    __slots__ = ("_call", "_execution", "_made", "_metadata", "_replaying")

    def __init__(
        self, config: Config, execution: ExecutionInfo | None, tool_call_id: str | None = None
    ) -> None:
        self._execution = execution
        self._metadata = config.get("metadata")
        configurable = config.get("configurable")
        self._replaying = configurable is not None and configurable.get(REPLAY) is not None
        self._call = tool_call_id
        self._made: dict[str, Any] | None = None

    def __getitem__(self, name: str) -> Any:
        return self._ids()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids())

    def __len__(self) -> int:
        return len(self._ids())

    def __repr__(self) -> str:
        return f"StepIdentity({self._ids()!r})"

    @property
    def agent(self) -> str | None:
        """The agent's name, when `create_agent` was given one."""
        return None if self._metadata is None else self._metadata.get("lc_agent_name")

    def _ids(self) -> dict[str, Any]:
        if self._made is None:
            self._made = dict(self._told())
        return self._made

    def _told(self) -> Iterator[tuple[str, Any]]:
        if self._call is not None:
            yield "tool_call_id", self._call
        execution = self._execution
        if execution is not None:
            yield "task_id", execution.task_id
            yield "checkpoint_id", execution.checkpoint_id
            yield "checkpoint_ns", execution.checkpoint_ns
            if execution.thread_id is not None:
                yield "thread_id", str(execution.thread_id)
            if execution.node_attempt != 1:
                yield "node_attempt", execution.node_attempt
            if "|" in execution.checkpoint_ns:
                around = execution.checkpoint_ns.split("|")[-2]
                yield "parent_task_id", around.rpartition(":")[2]
        for name in _METADATA:
            if self._metadata is not None and name in self._metadata:
                yield name, self._metadata[name]
        if self._replaying:
            yield "replay", True
            if self._metadata is not None and "checkpoint_id" in self._metadata:
                yield "replay_of", self._metadata["checkpoint_id"]


class ModelIdentity(StepIdentity):
    """The host's ids for a model call."""

    __slots__ = ()

    def __init__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        runtime = args[0].runtime
        execution = None if runtime is None else runtime.execution_info
        super().__init__(config_in_use() or NO_CONFIG, execution)


class ToolIdentity(StepIdentity):
    """The host's ids for a tool call."""

    __slots__ = ()

    def __init__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        request = args[0]
        runtime = request.runtime
        super().__init__(runtime.config, runtime.execution_info, request.tool_call["id"])
