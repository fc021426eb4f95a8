"""A model fitted in parts is the model fitted in memory."""

import pytest

from earmark import TextClassifier
from earmark.distributed import fit
from earmark.exceptions import DataError

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


def test_a_bad_part_is_named(corpus, tmp_path):
    folder = corpus.write(tmp_path / "parts", 3, "parquet")
    (folder / "part-001.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(DataError, match=r"part-001\.parquet: expected a Parquet file"):
        fit(TextClassifier("multinomial"), folder)
    model = fit(TextClassifier("multinomial"), folder, skip_bad=True)
    assert "1 bad parts were left out" in model.summary()
