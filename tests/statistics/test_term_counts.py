"""Packed counts merge, select and divide like the statistics they stand for."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from earmark.distributed.executor import merged
from earmark.exceptions import DataError
from earmark.features import WordCounter
from earmark.features.analysis import count_by_class
from earmark.kernels.term_merge import pack_terms
from earmark.statistics.term_counts import TermCounts


def counts_of(texts, labels):
    classes, y_index = np.unique(labels, return_inverse=True)
    terms, tokens, held = count_by_class(WordCounter(), texts, y_index, len(classes))
    return TermCounts.of_packed(
        classes, np.bincount(y_index), pack_terms(terms), tokens, held
    )


TEXTS = ["to be or not", "be it so", "née à côté", "so so so", "to née"]
LABELS = ["a", "b", "c", "a", "c"]


def test_merging_in_any_grouping_gives_the_counts_of_all():
    whole = counts_of(TEXTS, LABELS).statistics()
    parts = [counts_of([t], [c]) for t, c in zip(TEXTS, LABELS, strict=True)]
    left = parts[0]
    for part in parts[1:]:
        left = merged(left, part)
    right = parts[-1]
    for part in parts[-2::-1]:
        right = merged(part, right)
    assert left.statistics() == whole
    assert right.statistics() == whole
    assert counts_of(TEXTS[:1], LABELS[:1]).statistics() == parts[0].statistics()


def test_shares_are_disjoint_and_complete():
    whole = counts_of(TEXTS, LABELS)
    shares = [whole.share_of(k, 3).terms() for k in range(3)]
    assert sorted(term for share in shares for term in share) == whole.terms()


def test_selected_terms_keep_their_counts():
    whole = counts_of(TEXTS, LABELS)
    keep = whole.document_frequency() >= 2
    some = whole.select(keep)
    assert some.terms() == ["be", "née", "so", "to"]
    assert some.tokens.sum(axis=0).ravel().tolist() == [2, 2, 4, 2]


def test_labels_of_two_types_do_not_merge():
    left, right = counts_of(["a b"], ["x"]), counts_of(["a b"], [1])
    with pytest.raises(DataError, match="of one type"):
        left.merge(right)


def test_stored_counts_come_back_whole_and_narrow():
    whole = counts_of(TEXTS, LABELS)
    none = whole.select(np.zeros(whole.n_terms, dtype=bool))
    only_a = whole.select(whole.tokens.toarray()[0] > 0)  # other classes have fewer
    for counts in (whole, none, only_a):
        again = pickle.loads(pickle.dumps(counts))
        assert again.terms() == counts.terms()
        for name in ("tokens", "presence"):
            found, given = getattr(again, name), getattr(counts, name)
            assert found.dtype == np.int64
            assert (found != given).nnz == 0
    assert whole.__getstate__()["tokens"].dtype == np.uint8


@pytest.mark.parametrize("no_native", ["", "1"])
def test_merged_counts_that_int64_cannot_hold_are_refused(no_native, monkeypatch):
    monkeypatch.setenv("EARMARK_NO_NATIVE", no_native)
    one = sparse.csr_array([[1, 2**62]])
    left, right = (
        TermCounts.of_packed(["a"], [1], pack_terms(["be", "to"]), one) for _ in "ab"
    )
    with pytest.raises(DataError, match="column 1"):
        left.merge(right)
