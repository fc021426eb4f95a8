"""TfidfWeighting: scikit-learn, the book's table and each SMART variant by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from earmark.features import TfidfWeighting

X = np.array([[3, 0, 1, 2], [0, 2, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]])


@parametrize_with_checks([TfidfWeighting()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("norm", ["l1", "l2", None])
@pytest.mark.parametrize("sublinear", [True, False])
@pytest.mark.parametrize("use_idf", [True, False])
def test_equals_scikit_learn(norm, sublinear, use_idf, rng):
    counts = rng.poisson(0.7, (40, 25))
    theirs = TfidfTransformer(norm=norm, sublinear_tf=sublinear, use_idf=use_idf)
    ours = TfidfWeighting(
        tf="sublinear" if sublinear else "natural",
        idf="smooth" if use_idf else "none",
        norm={"l1": "share", "l2": "cosine", None: None}[norm],
    )
    expected = theirs.fit_transform(sparse.csr_matrix(counts)).toarray()
    got = ours.fit_transform(sparse.csr_matrix(counts)).toarray()
    assert_allclose(got, expected, rtol=1e-12)


def test_book_table_14_1():
    # Chinese Beijing Chinese / Chinese Chinese Shanghai / Chinese Macao /
    # Tokyo Japan Chinese / Chinese Chinese Chinese Tokyo Japan
    names = ["Chinese", "Japan", "Tokyo", "Macao", "Beijing", "Shanghai"]
    counts = np.array(
        [
            [2, 0, 0, 0, 1, 0],
            [2, 0, 0, 0, 0, 1],
            [1, 0, 0, 1, 0, 0],
            [1, 1, 1, 0, 0, 0],
            [3, 1, 1, 0, 0, 0],
        ]
    )
    weighting = TfidfWeighting.from_smart("ltc").fit(counts[:4])
    table = weighting.transform(counts).toarray().round(2)
    expected = np.zeros((5, 6))
    expected[0, names.index("Beijing")] = 1.0
    expected[1, names.index("Shanghai")] = 1.0
    expected[2, names.index("Macao")] = 1.0
    expected[3, [1, 2]] = expected[4, [1, 2]] = 0.71
    assert_allclose(table, expected)


@pytest.mark.parametrize(
    ("tf", "row"),
    [
        ("natural", [3, 0, 1, 2]),
        ("logarithm", [1 + np.log10(3), 0, 1, 1 + np.log10(2)]),
        ("sublinear", [1 + np.log(3), 0, 1, 1 + np.log(2)]),
        ("augmented", [1.0, 0, 0.5 + 0.5 / 3, 0.5 + 1 / 3]),
        ("boolean", [1, 0, 1, 1]),
        (
            "log_average",
            np.array([1 + np.log10(3), 0, 1, 1 + np.log10(2)]) / (1 + np.log10(2)),
        ),
    ],
)
def test_term_frequency_variants_by_hand(tf, row):
    got = TfidfWeighting(tf=tf, idf="none", norm=None).fit_transform(X)
    assert_allclose(got.toarray()[0], row, rtol=1e-12)


@pytest.mark.parametrize(
    ("idf", "factor"),
    [
        ("none", [1, 1, 1, 1]),
        ("inverse", np.log10([2, 2, 4, 4])),
        ("smooth", np.log(5 / np.array([3, 3, 2, 2])) + 1),
        ("unsmoothed", np.log([2, 2, 4, 4]) + 1),
        ("probabilistic", [0, 0, np.log10(3), np.log10(3)]),
    ],
)
def test_inverse_document_frequency_variants_by_hand(idf, factor):
    assert_allclose(TfidfWeighting(idf=idf).fit(X).idf_, factor, rtol=1e-12)


def test_pivoted_length_by_hand():
    got = TfidfWeighting(tf="natural", idf="none", norm="pivoted").fit_transform(X)
    pivot = (3 + 1 + 2) / 3
    assert_allclose(got.toarray()[0], X[0] / (0.75 * pivot + 0.25 * 3), rtol=1e-12)


def test_duplicate_entries_give_unit_rows_and_stay_as_they_were():
    messy = sparse.csr_matrix(
        (np.array([1.0, 1.0, 2.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2)
    )
    rows = TfidfWeighting().fit_transform(messy)
    assert_allclose(np.sqrt((rows.toarray() ** 2).sum()), 1.0, rtol=1e-12)
    assert messy.nnz == 3


def test_counting_in_parts_equals_counting_at_once():
    parts = TfidfWeighting().partial_fit(X[:2]).partial_fit(X[2:])
    assert_allclose(parts.idf_, TfidfWeighting().fit(X).idf_, rtol=1e-15)


def test_bad_parameters_and_data_are_named():
    with pytest.raises(ValueError, match=r"tf must be one of 'natural'"):
        TfidfWeighting(tf="cubic").fit(X)
    with pytest.raises(ValueError, match="three SMART letters"):
        TfidfWeighting.from_smart("xyz")
    with pytest.raises(ValueError, match="Negative values"):
        TfidfWeighting().fit(-X)
