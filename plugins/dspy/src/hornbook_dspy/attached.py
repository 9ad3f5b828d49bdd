"""`context` and `configure`: a model, rules and records for all that DSPy runs."""

import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from hornbook.errors import RunError
from hornbook.hosting import AmbientRun, ModelSteps, Rules
from hornbook.trace.frame import current_run
from hornbook.trace.runs import Run
from hornbook_dspy.carried import KEY, Carried, at_step, carried, refuse_no_model
from hornbook_dspy.compat import dspy, settings
from hornbook_dspy.lm import with_hornbook
from hornbook_dspy.model import DspyModel

__all__ = ["configure", "context"]

Folder = str | os.PathLike[str]


@contextmanager
def context(
    *,
    lm: Any = None,
    rules: object = None,
    trace: Folder | None = None,
    namespace: str | None = None,
    **more: Any,
) -> Generator[Run | None]:
    """Attach Hornbook to all that DSPy runs inside, in worker threads too.

    Where a run is open, the steps inside join it, wherever DSPy takes them: this is what
    carries a run into `dspy.Parallel`, `dspy.Evaluate` and `batch`.

    Args:
        lm: the model; by default the one that is configured. It need not be a `HornbookLM`.
        rules: learned rules for the model: a `RuleLibrary`, the path of one, or an object
            with `retrieve(request)`.
        trace: the folder of a record, where no run is open.
        namespace: whose rules plugins are asked for; by default that of `rules` or the run.
        more: other settings of DSPy, as for `dspy.context`.

    Yields:
        The run that is open, if one is.

    Raises:
        DefinitionError: `lm` is the name of a model and no model, or `rules` are none.
    """
    changed = _settings(lm, rules, namespace, more)
    with ExitStack() as stack:
        if trace is not None and current_run() is None and carried().frame is None:
            stack.enter_context(Run(trace=Path(trace), namespace=namespace))
        held: Carried = changed[KEY]
        if current_run() is not None:
            changed[KEY] = at_step(held)
        stack.enter_context(settings.context(**changed))
        yield current_run()


def configure(
    *,
    lm: Any = None,
    rules: object = None,
    trace: Folder | None = None,
    namespace: str | None = None,
    **more: Any,
) -> None:
    """The same as `context`, for the rest of a script.

    With `trace`, what no run is around is recorded in one run, which ends with Python or with
    the next `configure(trace=...)`. What is left out stays as it is.

    Raises:
        DefinitionError: as for `context`.
        RunError: another thread or task has configured DSPy, which only that one may.
    """
    changed = _settings(lm, rules, namespace, more)
    before = carried().ambient
    ambient = before if trace is None else AmbientRun(Path(trace), namespace)
    # Where the call stands now is no setting.
    changed[KEY] = Carried(models=changed[KEY].models, ambient=ambient)
    try:
        dspy.configure(**changed)
    except RuntimeError as error:
        raise RunError(
            f"configure() changes the settings of the whole process ({error}): here, write "
            f"`with hornbook_dspy.context(...):`"
        ) from error
    if before is not None and before is not ambient:
        before.close()


def _settings(
    lm: Any, rules: object, namespace: str | None, more: dict[str, Any]
) -> dict[str, Any]:
    model = settings.get("lm") if lm is None else lm
    changed = dict(more)
    if model is not None:
        refuse_no_model(model)
        changed["lm"] = with_hornbook(model)
    held = carried()
    if rules is not None or namespace is not None:
        held = replace(held, models=ModelSteps(DspyModel(), rules=Rules(rules, namespace)))
    return {**changed, KEY: held}
