"""How far stated confidence is from accuracy, before and after it is scaled.

    python -m benchmarks.calibration

Ten models on seven corpora, 300 training documents each and 800 test documents.
``before`` is the expected calibration error of the model's own probabilities (of its
scores for the models without any), ``after`` that of ``TextClassifier.predict_proba``,
``folds`` that of one temperature fitted to three folds of the training documents: what
could be had for every model. Needs EARMARK_DATA. Stored in results/calibration.json.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from scipy import special

from earmark import TextClassifier
from earmark.decision.calibration import TemperatureCalibrator
from earmark.evaluation import reliability
from earmark.folds import stratified_folds

CORPORA = {
    "R8": ("r8_train", "r8_test"),
    "R52": ("r52_train", "r52_test"),
    "WebKB": ("webkb_train", "webkb_test"),
    "20 Newsgroups": ("20newsgroups_bydate_train", "20newsgroups_bydate_test"),
    "IMDB": ("imdb_train", "imdb_test"),
    "TREC": ("trec_train", "trec_test"),
    "SMS spam": ("sms_spam", "sms_spam"),
}
MODELS = ["multinomial", "bernoulli", "complement", "hybrid", "rocchio", "softmax"]
MODELS += ["mlp", "linear"]
N_TRAIN, N_TEST = 300, 800
RESULT = Path(__file__).parent / "results" / "calibration.json"


def _table(name: str) -> tuple[list[str], np.ndarray]:
    table = pq.read_table(Path(os.environ["EARMARK_DATA"]) / f"{name}.parquet")
    texts = [text or "" for text in table["text"].to_pylist()]
    return texts, np.array([str(label) for label in table["label"].to_pylist()])


def sample(corpus: str) -> tuple[list[str], np.ndarray, list[str], np.ndarray]:
    """Training and test documents; test documents of classes without one are out."""
    rng = np.random.default_rng(0)
    first, second = CORPORA[corpus]
    texts, y = _table(first)
    order = rng.permutation(len(texts))
    train = order[:N_TRAIN]
    if first == second:
        others, z, test = texts, y, order[N_TRAIN:][:N_TEST]
    else:
        others, z = _table(second)
        test = rng.permutation(len(others))[:N_TEST]
    test = test[np.isin(z[test], y[train])]
    return [texts[i] for i in train], y[train], [others[i] for i in test], z[test]


def _own(classifier: TextClassifier, texts: list[str]) -> np.ndarray:
    """Probabilities without what ``TextClassifier`` adds."""
    scores = classifier.text_model_.scores({"text": texts})
    if classifier.calibrator_ is None:
        return np.asarray(classifier.predict_proba(texts))
    return np.asarray(special.softmax(scores, axis=1))


def _by_folds(name: str, texts: list[str], y: np.ndarray) -> TemperatureCalibrator:
    classes = np.unique(y)
    scores = np.zeros((len(y), len(classes)))
    for train, held in stratified_folds(y, 3, 0):
        model = TextClassifier(name, random_state=0)
        model.fit([texts[i] for i in train], y[train])
        log_p = model.predict_log_proba([texts[i] for i in held])
        scores[held] = log_p.min(axis=1, keepdims=True)
        scores[np.ix_(held, np.searchsorted(classes, model.classes_))] = log_p
    return TemperatureCalibrator().fit(scores, np.searchsorted(classes, y))


def measure(corpus: str, name: str) -> dict[str, object]:
    """One cell of the table."""
    texts, y, test, truth = sample(corpus)
    started = time.process_time()
    classifier = TextClassifier(name, random_state=0).fit(texts, y)
    seconds = time.process_time() - started
    proba = classifier.predict_proba(test)
    own = _own(classifier, test)
    assert np.array_equal(own.argmax(axis=1), proba.argmax(axis=1))
    best = _by_folds(name, texts, y).transform(classifier.predict_log_proba(test))

    def ece(p: np.ndarray) -> float:
        return round(float(reliability(truth, p, classifier.classes_).ece), 3)

    accuracy = float(np.mean(classifier.classes_[proba.argmax(axis=1)] == truth))
    return {
        "corpus": corpus,
        "model": name,
        "accuracy": round(accuracy, 3),
        "before": ece(own),
        "after": ece(proba),
        "folds": ece(np.exp(best)),
        "fit_cpu_seconds": round(seconds, 2),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for corpus in CORPORA:
        for name in MODELS:
            rows.append(measure(corpus, name))
            print(rows[-1], flush=True)
    means = {
        name: {
            key: round(float(np.mean([r[key] for r in rows if r["model"] == name])), 3)
            for key in ("before", "after", "folds")
        }
        for name in MODELS
    }
    payload = {
        "command": "python -m benchmarks.calibration",
        "n_train": N_TRAIN,
        "n_test": N_TEST,
        "means": means,
        "rows": rows,
    }
    RESULT.write_text(json.dumps(payload, indent=1) + "\n")
    for name, row in means.items():
        print(f"{name:<12} {row}")


if __name__ == "__main__":
    main()
