"""What the hybrid's authors leave for later: unlabelled text, evidence, hidden nodes.

Six pairs of newsgroups as in figure 1 of the paper; 500 test documents per split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from earmark.models import (
    HierarchicalBayes,
    HybridBayes,
    MultinomialNaiveBayes,
    SemiSupervisedNaiveBayes,
)
from earmark.typing import FloatMatrix, FloatVector, IntVector, Matrix
from reproductions.hybrid.pairs import PAIRS, Corpus, Part, load_news
from reproductions.study import Run, mean_and_error, paired_p_value

__all__ = ["chosen_by_evidence", "latent_hybrid", "unlabelled_hybrid"]

_N_TEST = 500
_ALPHA = 0.1
_ROUNDS = 5  # of EM over the pool
_POOL_WEIGHTS = (0.03, 0.1, 0.3, 1.0)


def _splits(
    run: Run, sizes: Sequence[int], methods: Callable[..., Mapping[str, float]]
) -> list[dict[str, Any]]:
    """Errors of some methods on every pair and size, with paired tests."""
    pairs, n_splits = (PAIRS[:2], 2) if run.quick else (PAIRS, 3)
    corpus = load_news(pairs)
    rows = []
    for pair in pairs:
        for size in sizes:
            draws = [
                _one(corpus, pair, size, seed, methods) for seed in range(n_splits)
            ]
            rows.append({"pair": list(pair), "size": size, "errors": _lists(draws)})
        run.progress(f"{pair[0]} against {pair[1]}")
    return rows


def _one(
    corpus: Corpus,
    pair: tuple[str, str],
    size: int,
    seed: int,
    methods: Callable[..., Mapping[str, float]],
) -> Mapping[str, float]:
    order = np.random.default_rng(seed).permutation(corpus.rows(pair))
    test, rest = order[-_N_TEST:], order[:-_N_TEST]
    labelled, pool = rest[:size], rest[size:]
    # The dictionary holds the words of labelled documents and pool alike.
    train, tested = corpus.split(labelled, test, rest)
    unlabelled, _ = corpus.split(pool, test, rest)
    return methods(train, tested, unlabelled)


def _lists(draws: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    return {name: [draw[name] for draw in draws] for name in draws[0]}


def summary(rows: Sequence[Mapping[str, Any]], base: str) -> dict[str, Any]:
    """By size: mean error over pairs and splits, and the gain over ``base``.

    Splits of a pair share documents; the pairs do not. The test is over the pairs'
    mean differences.
    """
    found: dict[str, Any] = {}
    for size in sorted({row["size"] for row in rows}):
        mine = [row["errors"] for row in rows if row["size"] == size]
        found[str(size)] = {
            name: {
                **mean_and_error(float(np.mean(errors[name])) for errors in mine),
                "gain": mean_and_error(
                    float(np.mean(errors[base]) - np.mean(errors[name]))
                    for errors in mine
                ),
                "p": paired_p_value(
                    [float(np.mean(errors[name])) for errors in mine],
                    [float(np.mean(errors[base])) for errors in mine],
                ),
            }
            for name in mine[0]
        }
    return found


def _hybrid(part: Part, **options: Any) -> HybridBayes:
    """The hybrid of subject and body, fitted on the labelled documents."""
    model = HybridBayes(alpha=_ALPHA, vocabulary="shared", **options)
    return model.fit(part.regions, part.y, columns=part.blocks)


def _error(model: Any, X: Matrix, y: Any) -> float:
    return float(np.mean(model.predict(X) != y))


# -- unlabelled text


def unlabelled_hybrid(run: Run) -> list[dict[str, Any]]:
    """EM over a pool in the hybrid's generative part; weights by leave-one-out."""
    return _splits(run, (20,) if run.quick else (20, 50), _with_pool)


def _with_pool(train: Part, test: Part, pool: Part) -> dict[str, float]:
    plain = _hybrid(train)
    model = _em_hybrid(train, pool)
    marked = np.concatenate([train.y.astype(object), np.full(len(pool.y), None)])
    both = sparse.vstack([train.whole, pool.whole], format="csr")
    bayes = SemiSupervisedNaiveBayes(alpha=_ALPHA).fit(both, marked)
    return {
        "hybrid": _error(plain, test.regions, test.y),
        "hybrid with the pool": _error(model, test.regions, test.y),
        "naive Bayes": _error(
            MultinomialNaiveBayes(alpha=_ALPHA).fit(train.whole, train.y),
            test.whole,
            test.y,
        ),
        "naive Bayes with the pool": _error(bayes, test.whole, test.y),
    }


def _em_hybrid(train: Part, pool: Part) -> HybridBayes:
    """The pool's weight with the best leave-one-out likelihood of labelled documents.

    A pool document counts for each class by its probability. Region weights are
    fitted on the labelled documents alone, each left out exactly (HY3).
    """
    models = [
        _hybrid(train),
        *(_em(train, pool, weight) for weight in _POOL_WEIGHTS),
    ]
    own = np.searchsorted(models[0].classes_, train.y)
    every = np.arange(len(own))
    scores = [
        m.leave_one_out(train.regions, train.y)[every, own].mean() for m in models
    ]
    return models[int(np.argmax(scores))]


def _em(train: Part, pool: Part, weight: float) -> HybridBayes:
    model = _hybrid(train)
    classes = model.classes_
    X = sparse.vstack([train.regions, *[pool.regions] * len(classes)], format="csr")
    y = np.concatenate([train.y, np.repeat(classes, len(pool.y))])
    for _ in range(_ROUNDS):
        shares = weight * model.predict_proba(pool.regions)
        mass = np.concatenate([np.ones(len(train.y)), shares.T.ravel()])
        model = HybridBayes(alpha=_ALPHA, vocabulary="shared").fit(
            X, y, sample_weight=np.maximum(mass, 1e-9), columns=train.blocks
        )
        model.fit_weights(train.regions, train.y)
    return model


# -- which parameters are generative


def chosen_by_evidence(run: Run) -> list[dict[str, Any]]:
    """From no fitted weight to one per word: the leave-one-out log loss decides."""
    return _splits(run, (50, 200) if run.quick else (50, 150, 500), _candidates)


def _candidates(train: Part, test: Part, pool: Part) -> dict[str, float]:
    models: dict[str, tuple[Any, Matrix, Matrix]] = {
        "naive Bayes (no weight)": (
            MultinomialNaiveBayes(alpha=_ALPHA).fit(train.whole, train.y),
            train.whole,
            test.whole,
        ),
        "hybrid R=1": (
            HybridBayes(alpha=_ALPHA).fit(train.whole, train.y),
            train.whole,
            test.whole,
        ),
        "hybrid R=2": (_hybrid(train), train.regions, test.regions),
        "hybrid R=2, unnormalised": (
            _hybrid(train, normalize=False),
            train.regions,
            test.regions,
        ),
    }
    errors, losses = {}, {}
    for name, (model, X, X_test) in models.items():
        own = np.searchsorted(model.classes_, train.y)
        left_out = model.leave_one_out(X, train.y)
        left_out = left_out - np.logaddexp.reduce(left_out, axis=1)[:, None]
        losses[name] = -float(left_out[np.arange(len(own)), own].mean())
        errors[name] = _error(model, X_test, test.y)
    name = "logistic regression (a weight per word)"
    losses[name], errors[name] = _discriminative(train, test)
    best = min(losses, key=lambda each: losses[each])
    return {**errors, "chosen by evidence": errors[best]}


def _discriminative(train: Part, test: Part) -> tuple[float, float]:
    """Five-fold log loss (leaving one out has no closed form here) and test error."""
    model = LogisticRegression(solver="liblinear", C=0.1)
    total = 0.0
    for fit, judge in StratifiedKFold(5, shuffle=True, random_state=0).split(
        train.y, train.y
    ):
        model.fit(train.whole[fit], train.y[fit])
        log_proba = np.log(np.maximum(model.predict_proba(train.whole[judge]), 1e-300))
        own = np.searchsorted(model.classes_, train.y[judge])
        total -= float(log_proba[np.arange(len(own)), own].sum())
    model.fit(train.whole, train.y)
    return total / len(train.y), _error(model, test.whole, test.y)


# -- hidden nodes in the regions


def latent_hybrid(run: Run) -> list[dict[str, Any]]:
    """Regions that are mixtures of hidden nodes, weighed by the labels."""
    return _splits(run, (150,) if run.quick else (150, 500), _latent)


def _latent(train: Part, test: Part, pool: Part) -> dict[str, float]:
    errors = {"hybrid": _error(_hybrid(train), test.regions, test.y)}
    for nodes in (1, 2, 3):
        name = f"latent hybrid, {nodes} node{'s' if nodes > 1 else ''} per class"
        errors[name] = _weighed(train, test, *_left_out(train, test, nodes))
    name = "latent hybrid, 2 nodes per class, five folds"
    errors[name] = _weighed(train, test, *_crossed(train, test, 2))
    return errors


def _weighed(
    train: Part, test: Part, fitted: FloatMatrix, judged: FloatMatrix
) -> float:
    """Test error of region weights that the labels fit to the evidence."""
    spread = np.maximum(fitted.std(axis=0), 1e-12)
    model = LogisticRegression(C=10.0).fit(fitted / spread, train.y)
    return _error(model, judged / spread, test.y)


def _regions(train: Part, test: Part) -> Iterator[tuple[Matrix, Matrix]]:
    """Training and test counts of subject and body."""
    width = train.whole.shape[1]
    for region in (slice(0, width), slice(width, 2 * width)):
        yield train.regions[:, region], test.regions[:, region]


def _left_out(train: Part, test: Part, nodes: int) -> tuple[FloatMatrix, FloatMatrix]:
    """Evidence of both regions, training documents left out of the nodes' counts.

    Given the shares that EM found, the counts of a node are sums over documents: a
    document leaves them exactly, as in naive Bayes. Its part in the shares of others
    stays.
    """
    found = [
        left_out_evidence(X, train.y, new, nodes) for X, new in _regions(train, test)
    ]
    return tuple(np.column_stack(each) for each in zip(*found, strict=True))  # type: ignore[return-value]


def left_out_evidence(
    X: Matrix, y: Any, new: Matrix, nodes: int
) -> tuple[FloatVector, FloatVector]:
    """Log-likelihood ratio per word: of documents left out, and of new ones (HY2)."""
    model = HierarchicalBayes(
        n_hidden=nodes, n_restarts=5, max_iter=5, alpha=_ALPHA, random_state=0
    ).fit(X, y, validation=(X, y))
    own, share = np.searchsorted(model.classes_, y), model.responsibilities_
    fitted, judged = np.zeros((X.shape[0], 2)), np.zeros((new.shape[0], 2))
    rows = sparse.csr_array(X)
    for c in (0, 1):
        counts = np.asarray(share[own == c].T @ rows[own == c])
        fitted[:, c] = _likelihood(rows, counts)
        judged[:, c] = _likelihood(new, counts)
        for d in np.flatnonzero(own == c):
            words = rows.indices[rows.indptr[d] : rows.indptr[d + 1]]
            times = rows.data[rows.indptr[d] : rows.indptr[d + 1]]
            without = counts[:, words] - share[d][:, None] * times
            left = counts.sum(axis=1) - share[d] * times.sum()
            fitted[d, c] = _likelihood(times[None], without, left, counts.shape[1])[0]
    lengths = (np.maximum(np.asarray(each.sum(axis=1)).ravel(), 1) for each in (X, new))
    return tuple(
        (each[:, 1] - each[:, 0]) / length
        for each, length in zip((fitted, judged), lengths, strict=True)
    )


def _likelihood(
    X: Any,
    counts: FloatMatrix,
    tokens: FloatVector | None = None,
    width: int | None = None,
) -> FloatVector:
    """Log P(x | class) of the nodes' counts (HB1, HB4, HB5), some columns or all."""
    held = counts.sum(axis=1) if tokens is None else tokens
    smooth = _ALPHA * (counts.shape[1] if width is None else width)
    total = np.log(smooth + held)
    joint = X @ np.log(_ALPHA + np.maximum(counts, 0.0)).T
    joint = joint - np.asarray(X.sum(axis=1)).reshape(-1, 1) * total
    weight = total - np.log(len(held) * smooth + held.sum())
    return np.asarray(logsumexp(joint + weight, axis=1))


def _crossed(train: Part, test: Part, nodes: int) -> tuple[FloatMatrix, FloatMatrix]:
    """Evidence of both regions: out of fold for training, from all for testing.

    A document's share in the nodes depends on EM as a whole: here EM runs without the
    documents of a fold.
    """
    fitted, judged = [], []
    for X, X_test in _regions(train, test):
        out = np.zeros(len(train.y))
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        for fit, judge in folds.split(train.y, train.y):
            out[judge] = _evidence(X[fit], train.y[fit], X[judge], nodes)
        fitted.append(out)
        judged.append(_evidence(X, train.y, X_test, nodes))
    return np.column_stack(fitted), np.column_stack(judged)


def _evidence(X: Matrix, y: Any, new: Matrix, nodes: int) -> FloatMatrix:
    """Log-likelihood ratio of a region, divided by its words (HY2)."""
    model = HierarchicalBayes(
        n_hidden=nodes, n_restarts=5, max_iter=5, alpha=_ALPHA, random_state=0
    ).fit(X, y)
    scores = model.class_scores(new) - model.class_log_prior_
    words: IntVector = np.asarray(new.sum(axis=1)).ravel()
    return np.asarray((scores[:, 1] - scores[:, 0]) / np.maximum(words, 1))
