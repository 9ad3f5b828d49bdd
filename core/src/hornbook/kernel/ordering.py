"""The dependency graph of tasks, its cycles, and orders of it (Forethought 4, sub-process 3)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["DependencyGraph"]


@dataclass(frozen=True, slots=True)
class DependencyGraph:
    """Tasks by id, in order of declaration, each with the ids of those that it needs."""

    needs: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, ids: Iterable[str], needs: Mapping[str, Iterable[str]]) -> "DependencyGraph":
        """The graph; what a task needs and is no task is left out, see `unknown`."""
        nodes = dict.fromkeys(ids)
        return cls(
            {
                node: tuple(dict.fromkeys(need for need in needs.get(node, ()) if need in nodes))
                for node in nodes
            }
        )

    def cycle(self) -> tuple[str, ...]:
        """The tasks of one cycle, the first of them again at the end; empty where there is none."""
        done: set[str] = set()
        for start in self.needs:
            found = self._cycle_from(start, done)
            if found:
                return found
        return ()

    def _cycle_from(self, start: str, done: set[str]) -> tuple[str, ...]:
        # Iterative, because a model may write a chain of any length.
        path: list[str] = []
        waiting: list[tuple[str, bool]] = [(start, False)]
        while waiting:
            node, left = waiting.pop()
            if left:
                done.add(path.pop())
            elif node in path:
                return (*path[path.index(node) :], node)
            elif node not in done:
                path.append(node)
                waiting.append((node, True))
                waiting.extend((need, False) for need in reversed(self.needs[node]))
        return ()

    def ready(self, done: Collection[str]) -> tuple[str, ...]:
        """The tasks that are not done and need nothing that is not done."""
        return tuple(
            node
            for node, needs in self.needs.items()
            if node not in done and all(need in done for need in needs)
        )

    def levels(self) -> tuple[tuple[str, ...], ...]:
        """Topological levels, the tasks that need nothing first.

        Raises:
            ValueError: the graph has a cycle.
        """
        if self.cycle():
            raise ValueError(f"tasks wait for each other: {' -> '.join(self.cycle())}")
        done: dict[str, None] = {}
        found: list[tuple[str, ...]] = []
        while len(done) < len(self.needs):
            level = self.ready(done)
            found.append(level)
            done |= dict.fromkeys(level)
        return tuple(found)

    def leads_to(self, node: str, other: str) -> bool:
        """Whether a task needs another one, by whatever way."""
        waiting, seen = [node], set[str]()
        while waiting:
            current = waiting.pop()
            if current == other:
                return True
            if current not in seen:
                seen.add(current)
                waiting.extend(self.needs.get(current, ()))
        return False

    def with_edge(self, node: str, need: str) -> "DependencyGraph":
        """The same graph, in which a task needs one more."""
        return DependencyGraph({**self.needs, node: (*self.needs[node], need)})

    def is_order(self, order: Sequence[str]) -> bool:
        """Whether all tasks stand in an order once, each after what it needs."""
        position = {node: at for at, node in enumerate(order)}
        return (
            len(position) == len(order) == len(self.needs)
            and position.keys() == self.needs.keys()
            and all(position[need] < position[node] for node in order for need in self.needs[node])
        )
