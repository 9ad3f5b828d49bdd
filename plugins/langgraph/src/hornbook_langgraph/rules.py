"""Learned rules for a model call: found for the request, written as text, recorded."""

import os
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, cast

from hornbook import canon
from hornbook.errors import DefinitionError
from hornbook.rules import LearnedRule, RuleLibrary, RuleRequest, render
from hornbook.step.effects import AskHooks, Call, Effect
from hornbook.step.hookset import slot
from hornbook.trace.frame import RUN, current, current_run

__all__ = ["Rules", "record_rules"]

Found = tuple[tuple[LearnedRule, ...], str]
"""Rules, and the text to inject; an empty text for none."""


class Rules:
    """Where a middleware's rules come from: a library of its own, and the plugins.

    Plugins are asked only where a namespace is named: by the middleware, by the rules that
    it was given, or by the run.
    """

    def __init__(self, source: object, namespace: str | None) -> None:
        self._source = _loaded(source)
        own: object = getattr(self._source, "namespace", None)
        self._namespace = namespace or (own if isinstance(own, str) else None)

    @property
    def given(self) -> bool:
        """Whether the middleware names any; else there are only those of a run's namespace."""
        return self._source is not None or self._namespace is not None

    @property
    def namespace(self) -> str | None:
        """Whose rules are asked for here and now."""
        if self._namespace is not None:
            return self._namespace
        run = current_run()
        return None if run is None else run.namespace

    def find(
        self, query: str, tools: Sequence[str], agent: str | None
    ) -> Generator[Effect, Any, Found]:
        """Find the rules for one model call, and write them."""
        request = RuleRequest(
            namespace=self.namespace, query=query, tools=tuple(tools), agent=agent, step="model"
        )
        found: list[LearnedRule] = []
        if self._source is not None:
            found += (yield Call(_retriever(self._source), (request,), {})) or ()
        impls = slot.get().retrieve_rules
        if impls and request.namespace is not None:
            answers = yield AskHooks("hornbook_retrieve_rules", impls, {"request": request})
            found += [rule for answer in answers for rule in answer]
        rules = tuple({rule.id: rule for rule in found}.values())
        return (rules, _written(request, rules)) if rules else ((), "")


def record_rules(rules: Sequence[LearnedRule], text: str) -> None:
    """Record each rule that is injected, with a digest of the text that the model is shown."""
    frame = current.get()
    run = None if frame is None else frame[RUN]
    if frame is None or run is None:
        return
    digest = canon.digest(text)
    for rule in rules:
        data = {"rule": rule.digest, "version": rule.version, "text": digest}
        run.log.mark("rule", frame, rule.id, data=data)


def _written(request: RuleRequest, rules: Sequence[LearnedRule]) -> str:
    """The text of the first plugin that writes one; the core's own comes last."""
    for impl in slot.get().render_rules:
        given = {"request": request, "rules": rules}
        answers = AskHooks("hornbook_render_rules", (impl,), given).run()
        if answers:
            return str(answers[0])
    return render(rules)


def _loaded(source: object) -> object:
    if source is None:
        return None
    if isinstance(source, str | os.PathLike):
        return RuleLibrary.load(Path(cast("str | os.PathLike[str]", source)))
    if _retriever(source) is None:
        raise DefinitionError(
            f"rules={source!r:.80}: give a RuleLibrary, the path of one, or an object that has "
            f"retrieve(request)"
        )
    return source


def _retriever(source: object) -> Any:
    for name in ("hornbook_retrieve_rules", "retrieve"):
        method = getattr(source, name, None)
        if callable(method):
            return method
    return None
