"""The branches of one `Together` under way: what may start, and what comes of them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hornbook.engine.together import Branch
from hornbook.errors import DefinitionError, told
from hornbook.step.control_flow import is_registered
from hornbook.trace.frame import RUN, current

if TYPE_CHECKING:
    from hornbook.engine.strands import Strand

__all__ = ["Group"]


class Group:
    """Branches, and the life that waits for all of them."""

    __slots__ = ("_branches", "_concurrent", "_errors", "parent", "results", "running", "waiting")

    def __init__(self, parent: "Strand", branches: tuple[Branch, ...], *, concurrent: bool) -> None:
        self.parent = parent
        self.running = 0
        self._branches = branches
        free = concurrent and not any(branch.needs for branch in branches)
        self.waiting = {} if free else {branch.name: branch for branch in branches}
        """Branches that have yet to start."""
        self._concurrent = concurrent
        self.results: dict[str, Any] = {}
        self._errors: dict[str, BaseException] = {}

    def startable(self) -> list[Branch]:
        """The branches to start now; they count as running."""
        found: list[Branch] = []
        for branch in list(self.waiting.values()):
            if not self._concurrent and self.running:
                break
            if all(name in self.results for name in branch.needs):
                del self.waiting[branch.name]
                self.running += 1
                found.append(branch)
        return found

    def given(self, branch: Branch) -> Mapping[str, Any]:
        """What a branch starts from."""
        return {name: self.results[name] for name in branch.needs}

    def failed(self, name: str, error: BaseException) -> None:
        """Note a branch's failure."""
        self.running -= 1
        self._errors[name] = error

    @staticmethod
    def stops(error: BaseException) -> bool:
        """Whether the other branches are stopped at once, and not left to finish."""
        return not isinstance(error, Exception) and not is_registered(error)

    def outcome(self) -> tuple[bool, Any]:
        """Whether the group failed, and its results or its error; called where it stands."""
        if not self._errors:
            if self.waiting:
                return True, DefinitionError(self._why_stuck())
            return False, {branch.name: self.results[branch.name] for branch in self._branches}
        blocked = list(self._blocked())
        self._record(blocked)
        return True, self._first_error(blocked)

    def _first_error(self, blocked: list[tuple[str, str]]) -> BaseException:
        declared = [branch.name for branch in self._branches if branch.name in self._errors]
        # What a host raises to steer is no failure, so no failure goes before it.
        steering = [name for name in declared if is_registered(self._errors[name])]
        first = (steering or declared)[0]
        error = self._errors[first]
        if steering:
            return error
        for name in declared[1:]:
            error.add_note(f"branch {name!r} failed as well: {told(self._errors[name])}")
        for name, need in blocked:
            error.add_note(f"branch {name!r} was not started: it needs {need!r}")
        return error

    def _blocked(self) -> Iterator[tuple[str, str]]:
        """Each branch that was not started, with the first of its needs that is not there."""
        for branch in self.waiting.values():
            yield branch.name, next(need for need in branch.needs if need not in self.results)

    def _record(self, blocked: list[tuple[str, str]]) -> None:
        frame = current.get()
        if frame is not None and frame[RUN] is not None:
            for name, need in blocked:
                frame[RUN].log.mark("note", frame, "blocked", data={"branch": name, "needs": need})

    def _why_stuck(self) -> str:
        """The cycle, or the name that no branch has, for which branches wait forever."""
        name = next(iter(self.waiting))
        path: list[str] = []
        while name not in path:
            path.append(name)
            branch = self.waiting.get(name)
            if branch is None:
                names = ", ".join(repr(branch.name) for branch in self._branches)
                return f"branch {path[-2]!r} needs {name!r}, and there are only {names}"
            name = next(need for need in branch.needs if need not in self.results)
        cycle = " -> ".join([*path[path.index(name) :], name])
        return f"branches that need each other never start: {cycle}"
