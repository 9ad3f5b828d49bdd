"""Judges on models of the sentence-transformers library, which is imported on first use."""

import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from hornbook.contracts.judge import Judgement, Question
from hornbook.errors import DefinitionError, MissingExtra

__all__ = ["CrossEncoderJudge", "SentenceTransformerEmbedder"]

_VERSION = 1


class SentenceTransformerEmbedder:
    """Embeds with a model of sentence-transformers; a text that it would cut gives None.

    Args:
        model: a model's name, the folder it lies in, or a `SentenceTransformer` that is there.
            A name may be downloaded by the library when it is first used.
        identity: what calibrations know the model by; by default its name or folder's name.

    Raises:
        MissingExtra: when it is first used and sentence-transformers is not installed.
    """

    def __init__(self, model: Any, *, identity: str | None = None) -> None:
        self.identity = identity or f"sentence-transformers/{_name(model)}"
        """Which model embeds."""
        self._model = _Loaded(model, "SentenceTransformer")

    def __repr__(self) -> str:
        return f"SentenceTransformerEmbedder({self.identity!r})"

    def embed(self, texts: Sequence[str], /) -> list[list[float] | None]:
        """One vector for each text; None for one longer than the model's longest."""
        model = self._model.get()
        fits = [_fits(model, (text,), model.max_seq_length) for text in texts]
        whole = [text for text, fit in zip(texts, fits, strict=True) if fit]
        with self._model.lock:
            vectors: Any = model.encode(whole, show_progress_bar=False) if whole else ()
        given = iter(vectors)
        return [next(given).tolist() if fit else None for fit in fits]


class CrossEncoderJudge:
    """Judges `entails` and `similar` with a cross-encoder, which reads both texts together.

    A model with a label `entailment` (natural language inference) judges `entails`: the score
    is the probability that the source entails the text, and the evidence has those of the
    other labels. It judges `similar` as entailment in both directions, by the lower one. Which
    output is which is read from the model's own `id2label`, since no two families agree. A
    model with a single output (semantic similarity) judges `similar` by it.

    What the model was not made for, and a pair that it would cut, is Undetermined. `covers`
    always is. A batch is one call of a run's budget, as asking any judge is.

    Args:
        model: a model's name, the folder it lies in, or a `CrossEncoder` that is there.
        identity: what calibrations know the model by; by default its name or folder's name.
        name: in reasons.

    Raises:
        MissingExtra: when it is first used and sentence-transformers is not installed.
    """

    max_calls = 1
    """A contract reserves one call for each batch, whoever judges."""

    def __init__(
        self, model: Any, *, identity: str | None = None, name: str = "CrossEncoderJudge"
    ) -> None:
        self.name = name
        self.identity = identity or f"cross-encoder-judge/{_VERSION} {_name(model)}"
        """Which model judges."""
        self._model = _Loaded(model, "CrossEncoder")

    def __repr__(self) -> str:
        return f"CrossEncoderJudge({self.identity!r})"

    @property
    def version(self) -> str:
        """The identity, so that contracts with other judges have other digests."""
        return self.identity

    def judge(self, questions: Sequence[Question], /) -> list[Judgement]:
        """One judgement for each question, in their order."""
        model = self._model.get()
        labels = _labels(model)
        asked = [_pairs(question, labels) for question in questions]
        pairs = list(dict.fromkeys(pair for given in asked for pair in given))
        fitting = [pair for pair in pairs if _fits(model, pair, model.max_seq_length)]
        with self._model.lock:
            outputs = _outputs(model, fitting, labels)
        return [
            _judgement(question.kind, given, outputs)
            for question, given in zip(questions, asked, strict=True)
        ]


_Pair = tuple[str, str]
_Outputs = Mapping[_Pair, Mapping[str, float]]


def _labels(model: Any) -> Mapping[int, str]:
    """What each output of the model is, in lower case; a single one is `similarity`."""
    names = cast("Mapping[Any, Any]", model.config.id2label)
    if len(names) == 1:
        return {0: "similarity"}
    return {int(at): str(name).strip().lower() for at, name in names.items()}


def _pairs(question: Question, labels: Mapping[int, str]) -> list[_Pair]:
    """What has to be read to judge a question; nothing where the model cannot."""
    forth, back = (question.source, question.text), (question.text, question.source)
    kinds = labels.values()
    match question.kind:
        case "entails" if "entailment" in kinds:
            return [forth]
        case "similar" if "entailment" in kinds:
            return [forth, back]
        case "similar" if "similarity" in kinds:
            return [forth]
        case _:
            return []


def _outputs(model: Any, pairs: Sequence[_Pair], labels: Mapping[int, str]) -> _Outputs:
    if not pairs:
        return {}
    single = len(labels) == 1
    rows = model.predict(list(pairs), apply_softmax=not single, show_progress_bar=False)
    return {
        pair: {label: float(row if single else row[at]) for at, label in sorted(labels.items())}
        for pair, row in zip(pairs, rows, strict=True)
    }


def _judgement(kind: str, pairs: Sequence[_Pair], outputs: _Outputs) -> Judgement:
    if not pairs:
        reason = f"this cross-encoder was not made to judge {kind!r}"
        return Judgement(score=None, reason=reason)
    found = [outputs[pair] for pair in pairs if pair in outputs]
    if len(found) < len(pairs):
        reason = "text and source together are too long for the model to take whole"
        return Judgement(score=None, reason=reason)
    label = "entailment" if "entailment" in found[0] else "similarity"
    lowest = min(found, key=lambda one: one[label])
    if any(not 0 <= number <= 1 for one in found for number in one.values()):
        return Judgement(score=None, reason=f"the model gave {lowest}, which are no probabilities")
    others = {name: round(number, 6) for name, number in lowest.items() if name != label}
    return Judgement(score=lowest[label], evidence=others or None)


def _fits(model: Any, texts: Sequence[str], longest: int | None) -> bool:
    """Whether the model takes these texts, as one input, without cutting them."""
    return longest is None or len(model.tokenizer(*texts)["input_ids"]) <= longest


def _name(model: Any) -> str:
    if isinstance(model, str | Path):
        return Path(model).name if Path(model).exists() else str(model)
    return type(model).__name__


class _Loaded:
    """A model that is loaded once, when it is first used, and used by one thread at a time."""

    def __init__(self, model: Any, kind: str) -> None:
        if isinstance(model, type) or model is None or model == "":
            raise DefinitionError(f"{model!r} is no model's name, folder or {kind}")
        self.lock = threading.Lock()
        self._kind = kind
        self._model = model
        self._named = isinstance(model, str | Path)

    def get(self) -> Any:
        with self.lock:
            if self._named:
                self._model = _class(self._kind)(str(self._model))
                self._named = False
            return self._model


def _class(name: str) -> Callable[[str], Any]:
    try:
        return getattr(import_module("sentence_transformers"), name)
    except ImportError as error:
        raise MissingExtra(
            f"{name} needs sentence-transformers: pip install 'hornbook[judges]'"
        ) from error
