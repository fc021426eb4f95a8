"""One fitted classifier may be asked by many threads at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from earmark import TextClassifier

N_THREADS = 8
NAMES = (
    "multinomial",
    "complement",
    "hybrid",
    "knn",
    "rocchio",
    "softmax",
    LinearSVC(random_state=0),
)


def fitted(name, features=None):
    texts = [f"cheap pills {i} now" for i in range(20)]
    texts += [f"lunch meeting {i} at noon" for i in range(20)]
    y = ["spam"] * 20 + ["ham"] * 20
    return TextClassifier(name, features=features, random_state=0).fit(texts, y)


def asked_by_threads(classifier, n_questions):
    questions = [
        [f"cheap lunch {i}", f"pills at noon {i % 7} {i}"] for i in range(n_questions)
    ]
    alone = [classifier.predict_proba(each) for each in questions]
    with ThreadPoolExecutor(N_THREADS) as pool:
        rounds = [
            pool.submit(lambda: [classifier.predict_proba(each) for each in questions])
            for _ in range(N_THREADS)
        ]
        for done in rounds:
            for found, expected in zip(done.result(), alone, strict=True):
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", NAMES)
def test_threads_get_the_answers_of_one(name):
    asked_by_threads(fitted(name), 30)


def test_threads_share_a_stemmer_without_harm():
    asked_by_threads(fitted("multinomial", {"stemmer": "english"}), 100)


@pytest.mark.trust
@pytest.mark.parametrize("features", [None, {"stemmer": "english"}])
def test_ten_thousand_questions_by_each_of_eight_threads(features):
    asked_by_threads(fitted("multinomial", features), 10_000)
