"""The judge that compares embeddings."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hornbook
from hornbook import Contract, clauses
from hornbook.contracts import Judgement, Question
from hornbook.errors import DefinitionError
from hornbook.judges import Embedder, EmbeddingJudge


class Table:
    """An embedder that looks its vectors up."""

    def __init__(self, vectors: dict[str, Any], identity: str = "table") -> None:
        self.identity = identity
        self._vectors = vectors
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str], /) -> list[Any]:
        self.asked.append(list(texts))
        return [self._vectors[text] for text in texts]


class Given:
    """An embedder that gives what it was told, whatever the texts."""

    identity = "given"

    def __init__(self, give: Callable[[Sequence[str]], Any]) -> None:
        self._give = give

    def embed(self, texts: Sequence[str], /) -> Any:
        return self._give(texts)


def question(kind: str, text: str, source: str, judge: Any) -> Question:
    return Question(kind=kind, text=text, source=source, path=".", clause="c", judge=judge)


def judged(embedder: Embedder, kind: str, text: str, source: str) -> Judgement:
    judge = EmbeddingJudge(embedder)
    (found,) = judge.judge([question(kind, text, source, judge)])
    return found


@pytest.mark.parametrize(
    ("text", "score"),
    [("same", 1.0), ("longer", 1.0), ("near", 0.6), ("right angle", 0.0), ("opposite", 0.0)],
)
@pytest.mark.requirement("judges:embedding:similar")
def test_similar_is_the_cosine_and_what_points_away_is_0(text: str, score: float):
    vectors = {
        "source": [1, 0],
        "same": [1, 0],
        "longer": [7.5, 0],
        "near": [3, 4],
        "right angle": [0, 2],
        "opposite": [-1, 0],
    }
    assert judged(Table(vectors), "similar", text, "source").score == pytest.approx(score)


vectors = st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3).filter(
    lambda vector: math.hypot(*vector) > 1e-3
)


@given(vectors, vectors)
@pytest.mark.requirement("judges:embedding:similar")
def test_a_score_is_always_in_0_to_1_and_the_same_both_ways(one: list[float], other: list[float]):
    table = Table({"a": one, "b": other})
    there, back = (judged(table, "similar", *pair).score for pair in (("a", "b"), ("b", "a")))
    assert there is not None
    assert 0.0 <= there <= 1.0
    assert there == back
    assert judged(table, "similar", "a", "a").score == pytest.approx(1.0)


@pytest.mark.requirement("judges:embedding:covers")
def test_covers_is_how_near_the_least_covered_sentence_of_the_source_comes():
    table = Table(
        {
            "Refund A17.": [1, 0, 0],
            "When?": [0, 1, 0],
            "A17 is refunded.": [1, 0, 0],
            "On Monday!": [0, 3, 4],
            "Bye": [0, 0, 1],
        }
    )
    found = judged(table, "covers", "A17 is refunded. On Monday!\n--\nBye", "Refund A17. When?")
    assert found.score == pytest.approx(0.6)
    assert found.evidence == {"least covered": "When?", "nearest": "On Monday!"}
    assert judged(table, "covers", "A17 is refunded.", "Refund A17. When?").score == 0.0


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("entails", "some text", "an EmbeddingJudge does not judge 'entails'"),
        ("polite", "some text", "an EmbeddingJudge does not judge 'polite'"),
        ("covers", "...", "there are no sentences to compare"),
    ],
)
@pytest.mark.requirement("judges:embedding:undetermined")
def test_what_it_cannot_judge_is_undetermined(kind: str, text: str, reason: str):
    found = judged(Given(lambda texts: [[1.0]] * len(texts)), kind, text, "source")
    assert found == Judgement(score=None, reason=reason)


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        (None, "the text is too long for the embedder to take whole"),
        ([0.0, 0.0], "the embedder gave a vector of zeros"),
        ([math.nan, 1.0], "the embedder gave a vector that is not finite"),
        ([math.inf, 1.0], "the embedder gave a vector that is not finite"),
        ([1.0], "the embedder gave vectors of 1 and of 2 numbers"),
        ([], "the embedder gave a vector of zeros"),
    ],
)
@pytest.mark.parametrize("kind", ["similar", "covers"])
@pytest.mark.requirement("judges:embedding:undetermined")
def test_a_vector_that_is_none_is_undetermined(kind: str, vector: Any, reason: str):
    table = Table({"text": vector, "source": [1.0, 0.0]})
    assert judged(table, kind, "text", "source") == Judgement(score=None, reason=reason)


@pytest.mark.requirement("judges:embedding:undetermined")
def test_so_is_a_source_whose_vector_is_none():
    table = Table({"text": [1.0, 0.0], "source": [0.0, 0.0]})
    assert judged(table, "similar", "text", "source").reason == (
        "the embedder gave a vector of zeros"
    )


@pytest.mark.parametrize(
    "give",
    [
        lambda texts: [],
        lambda texts: [[1.0]],
        lambda texts: [["x"]] * len(texts),
        lambda texts: None,
        lambda texts: 1 / 0,
    ],
    ids=["none", "too few", "no numbers", "no list", "raises"],
)
@pytest.mark.requirement("judges:embedding:undetermined")
def test_an_embedder_that_fails_never_lets_a_value_pass(give: Any):
    clause = clauses.similar(".", source="q", judge=EmbeddingJudge(Given(give)), name="near")
    report = Contract("c", ensures=[clause]).check("text", {"q": "source"})
    assert (report.ok, report.verdict("near").status) == (False, "Undetermined")


@pytest.mark.requirement("judges:embedding:one-call")
def test_a_batch_embeds_each_text_once_in_one_call_and_is_one_call_of_the_budget():
    table = Table({"a": [1, 0], "b": [0, 1], "source": [1, 1]})
    judge = EmbeddingJudge(table)
    each = clauses.forall("[]", clauses.similar(".", source="q", judge=judge, threshold=0.1))
    with hornbook.run(trace=None) as run:
        report = Contract("c", output=list[str], ensures=[each]).check(
            ["a", "b", "a"], {"q": "source"}
        )
    assert report.ok
    assert [sorted(asked) for asked in table.asked] == [["a", "b", "source"]]
    assert run.meter.spent.calls == judge.max_calls == 1


@pytest.mark.requirement("judges:embedding:identity")
def test_its_identity_is_the_embedders():
    one, other = (EmbeddingJudge(Table({}, identity=name)) for name in ("one", "other"))
    assert one.identity == "embedding-judge/1 one"
    made = [Contract("c", ensures=[clauses.covers(".", source="q", judge=j)]) for j in (one, other)]
    assert made[0].digest != made[1].digest
    assert repr(one) == "EmbeddingJudge('one')"


@pytest.mark.requirement("judges:embedding:identity")
def test_what_is_no_embedder_is_refused():
    with pytest.raises(DefinitionError) as caught:
        EmbeddingJudge("minilm")  # pyright: ignore[reportArgumentType]
    assert str(caught.value) == (
        "EmbeddingJudge: 'minilm' is no embedder; it needs identity and embed(texts)"
    )
