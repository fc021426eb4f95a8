"""What is fitted and what is asked: a case is a model in a setting."""

import json
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from threadpoolctl import threadpool_limits

import earmark.models
from earmark import TextClassifier
from earmark.decision import AbstainingClassifier, AnyOfClassifier
from earmark.distributed import fit as fit_in_parts
from earmark.features import HashedCounter
from tests.golden import corpus

MODELS = (
    *("multinomial", "bernoulli", "complement", "hybrid", "hierarchical"),
    *("higher-order", "higher-order-svm", "rocchio", "knn", "semi-supervised"),
    *("em-multinomial", "softmax", "mlp", "nbsvm", "blended-svm", "svm"),
)
TRAIN, TEST = corpus.documents(110, seed=1), corpus.documents(40, seed=2)
POOL = corpus.documents(520, seed=3, size=(4, 14))[0]
CALIBRATION = corpus.documents(120, seed=4)
FOREIGN = ["zebra quokka lemur", "", "word3 zebra", "completely other words here"]
SEVERAL, SEVERAL_TEST = corpus.several(110, seed=5), corpus.several(40, seed=6)
REGIONS, REGIONS_TEST = corpus.regions(110, seed=7), corpus.regions(40, seed=8)
FACTORS = {"crafts": 0.5, "engines": 1.0, "gardens": 4.0}


def answers(classifier, X, y):
    """Everything that a fitted classifier tells of documents."""
    n = len(y)
    decision = classifier.decide(X)
    told = {
        "model": classifier.model_name_,
        "classes": classifier.classes_,
        "log_proba": classifier.predict_log_proba(X),
        "decision_function": classifier.decision_function(X),
        "rank": [classifier.rank(X, label) for label in classifier.classes_.tolist()],
        "labels": list(decision.labels),
        "predicted": list(classifier.predict(X)),
        "confidence": decision.confidence,
        "certainty": decision.certainty,
        "novelty": decision.novelty,
        "score": classifier.score(X, y),
        "thresholds": [
            [t.value, t.n_documents, t.n_answered, t.n_errors, t.guaranteed]
            for t in classifier.thresholds_
        ],
        "explained": explained(classifier, X),
        **_evidence(classifier),
    }
    report = json.loads(classifier.report(X, y).to_json())
    told |= {f"report/{section}": value for section, value in report.items()}
    assert len(decision) == n
    return told


def explained(classifier, X):
    """The terms behind the labels; None if the model cannot tell."""
    try:
        explanations = classifier.explain(X)[:8]
    except earmark.exceptions.NotSupportedError:
        return None
    return [
        [
            (one.label, one.confidence, one.runner_up, one.score),
            [(t.term, t.contribution, t.region, t.labelled) for t in one.terms],
            sorted(one.constants.items()),
        ]
        for one in explanations
    ]


def _evidence(classifier):
    known = classifier.evidence_
    if known is None:
        return {}
    return {
        "evidence/certainty": known.certainty,
        "evidence/correct": known.correct,
        "evidence/copies": known.n_copies,
    }


def plain(model):
    classifier = TextClassifier(model, random_state=0).fit(*TRAIN)
    told = answers(classifier, *TEST)
    if hasattr(classifier, "leave_one_out"):
        told["leave_one_out"] = classifier.leave_one_out(*TRAIN)
    return told


def two_classes(model):
    texts, labels = TRAIN
    labels = ["other" if label != "crafts" else label for label in labels]
    expected = ["other" if label != "crafts" else label for label in TEST[1]]
    classifier = TextClassifier(model, random_state=0).fit(texts, labels)
    return answers(classifier, TEST[0], expected)


def regions(model):
    classifier = TextClassifier(model, random_state=0).fit(*REGIONS)
    told = answers(classifier, *REGIONS_TEST)
    if hasattr(classifier, "leave_one_out"):
        told["leave_one_out"] = classifier.leave_one_out(*REGIONS)
    return told


def several(model):
    classifier = TextClassifier(model, random_state=0, max_error=0.4).fit(*SEVERAL)
    return answers(classifier, *SEVERAL_TEST)


def several_of_regions(model):
    labels = [[label] if i % 3 else [label, "gardens"] for i, label in _numbered()]
    labels = [sorted(set(some)) for some in labels]
    classifier = TextClassifier(model, random_state=0).fit(REGIONS[0], labels)
    decision = classifier.decide(REGIONS_TEST[0])
    return {"labels": list(decision.labels), "certainty": decision.certainty}


def _numbered():
    return enumerate(REGIONS[1])


def balanced(model):
    classifier = TextClassifier(model, random_state=0, class_weight="balanced")
    return _scores(classifier.fit(*TRAIN))


def factors(model):
    classifier = TextClassifier(model, random_state=0, class_weight=FACTORS)
    return _scores(classifier.fit(*TRAIN))


def document_weights(model):
    weight = np.resize([0.5, 1.0, 2.0, 0.0], len(TRAIN[0]))
    classifier = TextClassifier(model, random_state=0)
    return _scores(classifier.fit(*TRAIN, sample_weight=weight))


def _scores(classifier):
    X = TEST[0]
    return {
        "log_proba": classifier.predict_log_proba(X),
        "labels": list(classifier.predict(X)),
        "explained": explained(classifier, X),
    }


def pool(model):
    labels = [label if i % 3 == 0 else None for i, label in enumerate(TRAIN[1])]
    classifier = TextClassifier(model, random_state=0, max_error=0.3)
    classifier.fit(TRAIN[0], labels, unlabelled=POOL)
    return answers(classifier, *TEST)


def novelty(model):
    classifier = TextClassifier(model, random_state=0, max_novelty=0.1).fit(*TRAIN)
    return answers(classifier, TEST[0] + FOREIGN, [*TEST[1], *["crafts"] * 4])


def learned(model):
    texts, labels = corpus.documents(150, seed=9, size=(3, 60))
    classifier = TextClassifier(model, random_state=0, learn_confidence=True)
    classifier.fit(texts, labels)
    return {
        "adopted": classifier.learned_confidence_ is not None,
        **answers(classifier, *TEST),
    }


def promise(model):
    return answers(
        TextClassifier(model, random_state=0, max_error=0.3).fit(*TRAIN), *TEST
    )


def calibrated(model):
    classifier = TextClassifier(model, random_state=0, max_error=0.3)
    return answers(classifier.fit(*TRAIN, calibration=CALIBRATION), *TEST)


def parts(model, **options):
    with tempfile.TemporaryDirectory() as folder:
        _write_parts(Path(folder), *TRAIN)
        classifier = TextClassifier(model, random_state=0)
        return answers(fit_in_parts(classifier, folder, **options), *TEST)


def parts_of_pool(model):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "labelled").mkdir()
        (Path(folder) / "pool").mkdir()
        _write_parts(Path(folder) / "labelled", *TRAIN)
        _write_parts(Path(folder) / "pool", POOL, [None] * len(POOL))
        classifier = TextClassifier(model, random_state=0)
        pooled = Path(folder) / "pool"
        fitted = fit_in_parts(classifier, Path(folder) / "labelled", unlabelled=pooled)
        return answers(fitted, *TEST)


def _write_parts(folder, texts, labels):
    rows = list(zip(texts, labels, strict=True))
    for number in range(3):
        some = [{"text": text, "label": label} for text, label in rows[number::3]]
        some = [{k: v for k, v in row.items() if v is not None} for row in some]
        lines = "".join(json.dumps(row) + "\n" for row in some)
        (folder / f"part-{number}.jsonl").write_text(lines)


def updated(model):
    texts, labels = TRAIN
    classifier = TextClassifier(model, random_state=0).fit(texts[:70], labels[:70])
    classifier.partial_fit(texts[70:], labels[70:]).forget(texts[:20], labels[:20])
    return answers(classifier, *TEST)


def wrapped(model):
    classifier = AbstainingClassifier(
        TextClassifier(model, random_state=0), max_error=0.3, method="cross_validated"
    ).fit(*TRAIN)
    decision = classifier.decide(TEST[0])
    return {
        "labels": list(decision.labels),
        "confidence": decision.confidence,
        "thresholds": [
            [t.value, t.n_answered, t.n_errors] for t in classifier.thresholds_
        ],
    }


SETTINGS = {
    setting.__name__: setting
    for setting in (
        *(plain, two_classes, regions, several, several_of_regions, balanced, factors),
        *(document_weights, pool, novelty, learned, promise, calibrated, parts),
        *(parts_of_pool, updated, wrapped),
    )
}


# -- what only some models know ---------------------------------------------------


def _fitted(model, X=TRAIN, test=TEST, **options):
    return answers(TextClassifier(model, random_state=0, **options).fit(*X), *test)


def _pooled(model, **options):
    labels = [label if i % 4 == 0 else None for i, label in enumerate(TRAIN[1])]
    classifier = TextClassifier(model, random_state=0, **options)
    return answers(classifier.fit(TRAIN[0], labels, unlabelled=POOL), *TEST)


def vectors(texts):
    """An encoder: eight numbers of the words of a text."""
    rows = np.zeros((len(texts), 8))
    for row, text in zip(rows, texts, strict=True):
        for word in text.split():
            number = int("0" + "".join(filter(str.isdigit, word)))
            row += np.cos(np.arange(1, 9) * number)
    return rows


NAMES = {"crafts": "word0 word3 word6", "engines": "word1 word4", "gardens": "word2"}


def _named_only():
    classifier = TextClassifier("semi-supervised", random_state=0, class_names=NAMES)
    return answers(classifier.fit(TRAIN[0] + POOL), *TEST)


def _validated(model):
    classifier = TextClassifier(model, random_state=0)
    return _scores(classifier.fit(*TRAIN, validation=CALIBRATION))


def _hashed(model):
    counter = HashedCounter(n_features=2**10, alternate_sign=False, norm=None)
    return _fitted(model, features=counter)


def _matrix(name):
    """A class of earmark.models on a matrix of counts."""
    rng = np.random.default_rng(10)
    y = rng.integers(0, 3, 90)
    lean = 0.3 + 2.0 * (np.arange(30) % 3 == y[:, None])
    X = rng.poisson(lean).astype(float)
    known = y if "SemiSupervised" not in name else np.where(np.arange(90) % 3, y, -1)
    kind = getattr(earmark.models, name)
    seeded = "random_state" in kind().get_params()
    model = kind(**({"random_state": 0} if seeded else {}))
    dense = name == "GaussianNaiveBayes"
    given = X if dense else sparse.csr_array(X)
    model.fit(given, known)
    told = {"labels": model.predict(given)}
    for method in ("decision_function", "predict_log_proba"):
        if hasattr(model, method):
            told[method] = getattr(model, method)(given)
    if hasattr(model, "leave_one_out"):
        told["leave_one_out"] = model.leave_one_out(given, y)
    return told


def _any_of(model):
    """AnyOfClassifier itself, on tf-idf of scikit-learn."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    rows = TfidfVectorizer()
    X, test = rows.fit_transform(SEVERAL[0]), rows.transform(SEVERAL_TEST[0])
    decision = AnyOfClassifier(model).fit(X, SEVERAL[1]).decide(test)
    return {"labels": list(decision.labels), "certainty": decision.certainty}


ALONE = {
    **{
        f"auto/{name}": lambda s=setting: s("auto")
        for name, setting in (
            ("plain", plain),
            ("regions", regions),
            ("several", several),
            ("pool", pool),
            ("parts", parts),
            ("balanced", balanced),
            ("two_classes", two_classes),
        )
    },
    "multinomial/ngrams": lambda: _fitted(
        "multinomial", features={"ngram_range": (1, 2), "min_df": 2}
    ),
    "multinomial/hashed": lambda: _hashed("multinomial"),
    "softmax/hashed": lambda: _hashed("softmax"),
    "multinomial/parts_in_little_memory": lambda: parts("multinomial", memory="50MB"),
    "semi-supervised/encoder": lambda: _pooled("semi-supervised", encoder=vectors),
    "semi-supervised/names": lambda: _pooled("semi-supervised", class_names=NAMES),
    "semi-supervised/names_only": _named_only,
    "hierarchical/validated": lambda: _validated("hierarchical"),
    "softmax/validated": lambda: _validated("softmax"),
    "logistic/plain": lambda: _fitted(LogisticRegression()),
    "logistic/several": lambda: several(LogisticRegression()),
    "sklearn_nb/plain": lambda: _fitted(MultinomialNB()),
    "any_of/rocchio": lambda: _any_of(earmark.models.RocchioClassifier()),
    "any_of/logistic": lambda: _any_of(LogisticRegression()),
    **{
        f"matrix/{name}": lambda name=name: _matrix(name)
        for name in (
            *("BernoulliNaiveBayes", "BlendedSVM", "ComplementNaiveBayes"),
            *("GaussianNaiveBayes", "HierarchicalBayes", "HigherOrderClassifier"),
            *("HigherOrderNaiveBayes", "HybridBayes", "MultilayerPerceptron"),
            *("MultinomialNaiveBayes", "NBSVM", "NeighborsClassifier"),
            *("RocchioClassifier", "SemiSupervisedNaiveBayes", "SoftmaxRegression"),
        )
    },
}
CASES = {
    **{
        f"{model}/{name}": lambda model=model, setting=setting: setting(model)
        for model in MODELS
        for name, setting in SETTINGS.items()
    },
    **ALONE,
}


def results(case):
    """The results of a case by key; an error is a result too: its type."""
    # One thread: sums of BLAS then have one order, whatever else the machine does.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        try:
            told = CASES[case]()
        except (
            earmark.exceptions.EarmarkError,
            TypeError,
            ValueError,
            AttributeError,
        ) as e:
            return {"refused": type(e).__name__}
    return {key: value for key, value in told.items() if value is not None}


def plain_value(value):
    """Numbers, strings and lists: what a value is, to the last bit."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return [[str(key), plain_value(value[key])] for key in sorted(value, key=str)]
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=str)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain_value(one) for one in value]
    return value
