"""Which occurrence of a step this is, in the host's own ids: they outlive the process.

A node is run again after an interrupt, a retry or on a replay. Its task keeps its id then,
so a record tells by it what belongs together; our own step ids tell the runs apart.
"""

from typing import Any

from langgraph.runtime import ExecutionInfo

from hornbook_langgraph.compat import Config, replayed_checkpoint

__all__ = ["step_identity"]


def step_identity(config: Config, execution: ExecutionInfo | None, **more: Any) -> dict[str, Any]:
    """The host's ids for the step that is running; what the host does not tell is left out."""
    meta: dict[str, Any] = {name: value for name, value in more.items() if value is not None}
    if execution is not None:
        meta["task_id"] = execution.task_id
        meta["checkpoint_id"] = execution.checkpoint_id
        meta["checkpoint_ns"] = namespace = execution.checkpoint_ns
        if execution.thread_id is not None:
            meta["thread_id"] = str(execution.thread_id)
        if execution.node_attempt != 1:
            meta["node_attempt"] = execution.node_attempt
        if "|" in namespace:
            meta["parent_task_id"] = namespace.split("|")[-2].rpartition(":")[2]
    metadata = config.get("metadata")
    if metadata:
        for name in ("langgraph_node", "langgraph_step"):
            if name in metadata:
                meta[name] = metadata[name]
    replayed = replayed_checkpoint(config)
    if replayed is not None:
        meta["replay"] = True
        meta["replay_of"] = replayed
    return meta
