"""A judge that asks a model: schema-bound, one call a batch, and deaf to what the texts say."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

from hornbook import canon
from hornbook.contracts.judge import Judgement, Question
from hornbook.errors import DefinitionError
from hornbook.judges.answers import judgements, undecided
from hornbook.judges.framing import Framed, answer_tokens, framed, instructions
from hornbook.models.asking import aask, ask
from hornbook.models.protocol import Model
from hornbook.models.values import Completion, Sampling

__all__ = ["ModelJudge"]

_KINDS = ("covers", "entails", "similar")
_VERSION = 1

_Answer: TypeAlias = list[Judgement] | Awaitable[list[Judgement]]


class ModelJudge:
    """Judges `covers`, `entails` and `similar` by asking a model (Forethought 3.1).

    ```python
    judge = ModelJudge(OpenAIModel("qwen2.5", base_url="http://localhost:8000/v1"))
    clauses.covers(".", source="query", judge=judge)
    ```

    All questions of a batch go out in one request: instructions that never change in the
    system message, and the texts as JSON data in the user's. The model answers yes, no or
    undetermined to each, bound by a schema, with a quote as evidence. A yes scores 1 and a no
    0. Anything else (prose, a cut answer, a missing or ill-typed one, a transport error) is
    Undetermined with its reason, and never lets a value pass. A quote that stands in neither
    text is dropped, which the evidence says.

    Neither the instructions nor the schema make a small model right: calibrate the clause.

    Args:
        model: whom to ask, with `identity` and `max_attempts`.
        limit: characters that a text or source may have; a longer one is Undetermined, since
            a judge that saw a part of it would judge another text.
        batch_limit: characters that all texts of a batch may have; the questions beyond it
            are Undetermined.
        confidence: also ask how sure the model is, from 0 to 1: then a yes scores
            0.5 + confidence / 2 and a no 0.5 - confidence / 2, for thresholds in between.
        sampling: of the answer; `max_tokens` grows with the batch unless it is given.
        name: in reasons, records and budgets.

    Raises:
        DefinitionError: a limit that is not above 0, or no model.
    """

    def __init__(
        self,
        model: Model,
        *,
        limit: int = 20_000,
        batch_limit: int = 100_000,
        confidence: bool = False,
        sampling: Sampling | None = None,
        name: str = "ModelJudge",
    ) -> None:
        if not isinstance(cast("object", model), Model):
            raise DefinitionError(f"ModelJudge: {model!r} is no model; see hornbook.models")
        limits: dict[str, object] = {"limit": limit, "batch_limit": batch_limit}
        for what, given in limits.items():
            if isinstance(given, bool) or not isinstance(given, int) or given < 1:
                raise DefinitionError(f"ModelJudge: {what} is a number above 0: {given!r}")
        self.name = name
        self._model = model
        self._limit = limit
        self._batch_limit = batch_limit
        self._confidence = confidence
        self._sampling = sampling or Sampling()

    def __repr__(self) -> str:
        return f"ModelJudge({self._model.identity!r})"

    @property
    def identity(self) -> str:
        """The model's identity, and a digest of all else that decides the answers."""
        settings = canon.digest(
            {
                "instructions": instructions(confidence=self._confidence),
                "sampling": repr(self._sampling),
                "limits": [self._limit, self._batch_limit],
            }
        )
        return f"model-judge/{_VERSION} {self._model.identity} {settings[7:19]}"

    @property
    def version(self) -> str:
        """The identity, so that contracts with other judges have other digests."""
        return self.identity

    @property
    def max_calls(self) -> int | None:
        """One request a batch, with the attempts that the model may make for it.

        The contract reserves the first when it asks a judge, and `ask` the others.
        """
        return self._model.max_attempts

    if TYPE_CHECKING:

        def judge(self, questions: Sequence[Question], /) -> _Answer:
            """Judge a batch: to be awaited where a loop is running, and else at once."""
            ...

    else:
        # A property, so that one object has both colours: a contract looks here from where
        # it will call, and gets a coroutine function exactly where a loop is running.
        @property
        def judge(self) -> Callable[[Sequence[Question]], _Answer]:
            """Judge a batch: to be awaited where a loop is running, and else at once."""
            return self.ajudge if _in_a_loop() else self.judge_now

    def judge_now(self, questions: Sequence[Question], /) -> list[Judgement]:
        """One judgement for each question, in their order.

        Raises:
            TransportError: the model could not be asked; in a contract it is Undetermined.
            BudgetExceeded: there is nothing left for it.
        """
        batch = _Batch(questions, self._limit, self._batch_limit)
        if not batch.asked:
            return batch.judgements([])
        request = self._framed(batch)
        answered = ask(self._model, request.request, step=self.name, reserved=1)
        return batch.judgements(self._read(batch, request, answered))

    async def ajudge(self, questions: Sequence[Question], /) -> list[Judgement]:
        """The async twin of `judge_now`."""
        batch = _Batch(questions, self._limit, self._batch_limit)
        if not batch.asked:
            return batch.judgements([])
        request = self._framed(batch)
        answered = await aask(self._model, request.request, step=self.name, reserved=1)
        return batch.judgements(self._read(batch, request, answered))

    def _framed(self, batch: "_Batch") -> Framed:
        sampling = self._sampling
        if sampling.max_tokens is None:
            sampling = replace(sampling, max_tokens=answer_tokens(len(batch.asked)))
        return framed(batch.asked, sampling=sampling, confidence=self._confidence)

    def _read(self, batch: "_Batch", request: Framed, answered: Completion) -> list[Judgement]:
        return judgements(batch.asked, request.ids, answered, confidence=self._confidence)


class _Batch:
    """The questions that can be asked, and why the others cannot."""

    def __init__(self, questions: Sequence[Question], limit: int, batch_limit: int) -> None:
        self.asked: list[Question] = []
        self._refused: dict[int, str] = {}
        self._count = len(questions)
        room = batch_limit
        sources: set[str] = set()
        for at, question in enumerate(questions):
            new = len(question.text) + (0 if question.source in sources else len(question.source))
            reason = _unaskable(question, limit) or _too_much(new, room, batch_limit)
            if reason:
                self._refused[at] = reason
                continue
            room -= new
            sources.add(question.source)
            self.asked.append(question)

    def judgements(self, answered: Sequence[Judgement]) -> list[Judgement]:
        """Those of all questions, in their order."""
        given = iter(answered)
        return [
            undecided(self._refused[at]) if at in self._refused else next(given)
            for at in range(self._count)
        ]


def _unaskable(question: Question, limit: int) -> str:
    if question.kind not in _KINDS:
        return f"a ModelJudge does not judge {question.kind!r}, only covers, entails and similar"
    for what, text in (("text", question.text), ("source", question.source)):
        if len(text) > limit:
            return f"the {what} has {len(text)} characters, and the judge takes {limit}"
    return ""


def _too_much(new: int, room: int, batch_limit: int) -> str:
    if new <= room:
        return ""
    return f"the texts of this batch have more than the {batch_limit} characters the judge takes"


def _in_a_loop() -> bool:
    from asyncio import get_running_loop

    try:
        get_running_loop()
    except RuntimeError:
        return False
    return True
