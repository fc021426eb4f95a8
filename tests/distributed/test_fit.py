"""A model fitted in parts is the model fitted in memory."""

import numpy as np
import pytest

from earmark import TextClassifier
from earmark.distributed import fit
from earmark.distributed.counting import PartCounts, merge_bounded
from earmark.exceptions import DataError
from earmark.features import HashedCounter, WordCounter
from tests.distributed.conftest import Corpus

EXACT = ("multinomial", "bernoulli", "complement")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("model", EXACT)
def test_parts_give_the_bytes_of_one_fit(model, kind, corpus, tmp_path, saved):
    classifier = TextClassifier(model)
    whole = saved(classifier.fit(corpus.texts, corpus.labels))
    for n_parts in (1, 3, 17):
        folder = corpus.write(tmp_path / str(n_parts), n_parts, kind)
        assert saved(fit(classifier, folder)) == whole


def test_a_memory_budget_does_not_change_the_model(corpus, tmp_path, saved):
    classifier = TextClassifier("multinomial", features={"ngram_range": (1, 2)})
    whole = saved(classifier.fit(corpus.texts, corpus.labels))
    folder = corpus.write(tmp_path / "parts", 4)
    assert saved(fit(classifier, folder, memory="50MB")) == whole


@pytest.mark.parametrize("model", EXACT)
def test_hashed_columns_need_one_pass_and_give_the_same(model, corpus, tmp_path):
    hashed = HashedCounter(n_features=2**12, alternate_sign=False, norm=None)
    classifier = TextClassifier(model, features=hashed)
    whole = classifier.fit(corpus.texts, corpus.labels).model_
    folder = corpus.write(tmp_path / "parts", 5)
    found = fit(classifier, folder, checkpoint=tmp_path / "c").model_
    assert found.statistics_ == whole.statistics_


def test_the_least_cut_that_fits_memory_is_taken(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("earmark.distributed.counting.most_terms", lambda *_: 100)
    folder = corpus.write(tmp_path / "parts", 4)
    model = fit(TextClassifier("multinomial"), folder, memory="50MB")
    frequency = WordCounter(binary=True).fit_transform(corpus.texts).sum(axis=0)
    frequency = np.sort(np.asarray(frequency).ravel())
    cut = next(m for m in range(1, 400) if (frequency >= m).sum() <= 100)
    assert model.columns_.width == (frequency >= cut).sum()
    assert f"fewer than {cut} documents were left out" in model.summary()


def test_shares_of_the_terms_merge_to_the_same_model(
    corpus, tmp_path, saved, monkeypatch
):
    folder = corpus.write(tmp_path / "parts", 4)
    whole = saved(fit(TextClassifier("multinomial"), folder))
    n_shares = []
    original = PartCounts.share_of

    def noted(self, number, n):
        n_shares.append(n)
        return original(self, number, n)

    def little_memory(pieces, memory):
        return merge_bounded(pieces, 9 * pieces[0]().nbytes)

    monkeypatch.setattr(PartCounts, "share_of", noted)
    monkeypatch.setattr("earmark.distributed.local.merge_bounded", little_memory)
    model = fit(TextClassifier("multinomial"), folder, memory="50MB")
    assert n_shares[0] == 1
    assert n_shares.count(4) >= 4 * 4
    assert "left out" not in model.summary()
    assert saved(model) == whole


def test_a_bad_part_is_named(corpus, tmp_path):
    folder = corpus.write(tmp_path / "parts", 3, "parquet")
    (folder / "part-001.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(DataError, match=r"part-001\.parquet: expected a Parquet file"):
        fit(TextClassifier("multinomial"), folder)
    model = fit(TextClassifier("multinomial"), folder, skip_bad=True)
    assert "1 bad part was left out" in model.summary()


@pytest.fixture
def chinese():
    """24 texts without spaces; whole sentences would be words."""
    rng = np.random.default_rng(0)
    corpus = Corpus(0)
    corpus.labels = ["good", "bad"] * 12
    for label in corpus.labels:
        first = 0x4E00 if label == "good" else 0x4E18
        signs = rng.integers(first, first + 40, 12)
        corpus.texts.append("".join(map(chr, signs)))
    return corpus


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_scripts_without_spaces_are_counted_as_in_memory(
    kind, chinese, tmp_path, saved
):
    folder = chinese.write(tmp_path / "parts", 6, kind)
    classifier = TextClassifier("multinomial").fit(chinese.texts, chinese.labels)
    whole, model = saved(classifier), fit(TextClassifier("multinomial"), folder)
    assert "characters and pairs" in model.summary()
    assert saved(model) == whole
    (folder / f"part-000.{kind}").write_bytes(b"PAR1 {no")
    some = fit(TextClassifier("multinomial"), folder, skip_bad=True, memory="50MB")
    rest = TextClassifier("multinomial").fit(chinese.texts[4:], chinese.labels[4:])
    some.reasons_ = rest.reasons_
    assert saved(some) == saved(rest)


def test_weights_of_scripts_without_spaces_answer_as_in_memory(chinese, tmp_path):
    folder = chinese.write(tmp_path / "parts", 3)
    classifier = TextClassifier("softmax", random_state=0)
    model = fit(classifier, folder)
    classifier.fit(chinese.texts, chinese.labels)
    proba = classifier.predict_proba(chinese.texts)
    np.testing.assert_allclose(model.predict_proba(chinese.texts), proba, atol=0.01)


def test_a_pool_does_not_say_what_is_counted(chinese, tmp_path):
    folder = Corpus(20).write(tmp_path / "parts", 2)
    pool = chinese.write(tmp_path / "pool", 1)
    model = fit(TextClassifier("multinomial"), folder, unlabelled=pool)
    assert "characters" not in model.summary()
