"""k nearest neighbours: the labels of the most similar documents vote (VS3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from earmark.exceptions import DataError
from earmark.features.scoring import ScoreParts
from earmark.folds import rows_by_lot
from earmark.kernels.keys import GOLDEN, mixed_bits
from earmark.kernels.rows import canonical_rows, row_entries, unit_rows
from earmark.models.base.classifier import ScoringClassifier
from earmark.models.base.declaration import Model
from earmark.models.shared.neighbor_search import Search, SketchSearch, build_search
from earmark.parameters import AtLeastOne, Jobs, estimator, random_state_of
from earmark.statistics.class_statistics import label_positions, require_same_classes
from earmark.stored import DERIVED, csr, integers, whole
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
    RandomStateLike,
    SparseMatrix,
)

# Documents on which an approximate search measures its recall.
_RECALL_SAMPLE = 200
# The number of neighbors is chosen on so many documents at most.
_MOST_CHOOSING = 4_000
# Neighbours that an explanation names.
_NAMED = 5


class Neighbor(NamedTuple):
    """A training document that spoke for a decision."""

    position: int
    """Its place among the documents learned."""
    label: object
    similarity: float
    """Cosine or product with the document in question, or 1 / (1 + distance)."""


class Answer(NamedTuple):
    """Everything about some documents, from one search."""

    labels: Labels
    """The label of each document."""
    probabilities: FloatMatrix
    """Share of the votes for each class, (n_samples, n_classes)."""
    similarities: FloatMatrix
    """Similarity of each neighbour, best first; 0 where there is none."""
    positions: IntVector
    """Its place among the documents learned; -1 where there is none."""


@estimator
class NeighborsClassifier(ScoringClassifier):
    """Let the most similar training documents vote on the label.

    Similarity is the cosine unless ``metric`` says otherwise. Neighbours are found
    exactly: on an inverted index for the cosine, on a tree for points of few
    dimensions. By default only documents that are similar at all (cosine > 0) are
    neighbours, so that there may be fewer than ``n_neighbors`` of them. Where there
    is none, as for a document with no known term, the class shares answer.

    ``fit`` takes no ``sample_weight``, as in scikit-learn: k counts documents, and a
    document of weight 2 is not two neighbours. Give it twice if it is to count twice.

    Parameters
    ----------
    n_neighbors : int >= 1 or "auto", default=10
        How many vote; all documents if there are fewer. "auto" takes the number
        that labels the training documents best by leave-one-out.
    vote : "similarity" or "majority", default="similarity"
        A neighbour's vote weighs its similarity, or one. Equal votes are decided
        by lot, seeded by ``random_state``.
    metric : "cosine", "euclidean" or "dot", default="cosine"
        Nearest by angle, by distance, or by inner product. The cosine looks at
        directions; the other two take vectors of any length as they are. The
        similarity of two vectors at distance d is 1 / (1 + d).
    only_similar : bool, default=True
        With the cosine: documents without any similarity have no vote, and
        probabilities are shares of the votes cast. False takes the k nearest in any
        case and gives P(c) = (neighbours of c) / k as in the book, with
        ``vote="majority"``. The other metrics always do.
    algorithm : "exact" or "approximate", default="exact"
        "approximate" compares sketches of 512 random signs and looks closer at the
        most alike only, for the cosine with ``only_similar``. ``recall_`` says what
        share of the neighbours it finds.
    max_neighbors : int >= 1, default=50
        The largest number that "auto" considers.
    random_state : int, RandomState instance or None, default=None
        Seed of the lots and of the sketches.
    n_jobs : int or None, default=None
        Threads that look for neighbours; -1 for all processors.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    vectors_ : sparse array of shape (n_documents, n_features)
        The documents learned; for the cosine scaled to unit length.
    targets_ : ndarray of shape (n_documents,)
        Position of their labels in ``classes_``.
    n_neighbors_ : int
        How many neighbours vote.
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan and H. Schütze (2008). Introduction to
       Information Retrieval, chapter 14. Cambridge University Press.
    .. [2] M. S. Charikar (2002). Similarity estimation techniques from rounding
       algorithms. STOC.

    Examples
    --------
    >>> X, y = [[2, 0], [1, 0], [1, 2], [0, 3]], ["a", "a", "b", "b"]
    >>> model = NeighborsClassifier(n_neighbors=1).fit(X, y)
    >>> model.predict([[5, 1]])
    array(['a'], dtype='<U1')
    >>> model.neighbors([[0, 1]])[0]
    [Neighbor(position=3, label='b', similarity=1.0)]
    >>> line = NeighborsClassifier(1, metric="euclidean").fit([[1], [10]], ["a", "b"])
    >>> line.predict([[4], [9]])
    array(['a', 'b'], dtype='<U1')

    """

    vectors_: Annotated[SparseMatrix, csr("f", "n_documents", "n_features")] = field(
        init=False
    )
    targets_: Annotated[IntVector, integers("n_documents")] = field(init=False)
    lots_seed_: Annotated[int, whole(0, 2**32)] = field(init=False)
    chosen_: AtLeastOne | None = field(init=False)
    _index: Annotated[Search | None, DERIVED] = None

    n_neighbors: AtLeastOne | Literal["auto"] = field(default=10, kw_only=False)
    vote: Literal["similarity", "majority"] = "similarity"
    metric: Literal["cosine", "euclidean", "dot"] = "cosine"
    only_similar: bool = True
    algorithm: Literal["exact", "approximate"] = "exact"
    max_neighbors: AtLeastOne = 50
    random_state: RandomStateLike = None
    n_jobs: Jobs = None

    # -- learning ------------------------------------------------------------

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Remember X (n_samples, n_features) and y, and choose k if "auto"."""
        return self._begin(X, y, None)

    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> Self:
        """Remember more documents; the result is that of one ``fit`` on all.

        Give all labels in ``classes`` at the first call if ``y`` does not hold
        them all; a label that is not among them is an error and changes nothing.
        """
        if not hasattr(self, "vectors_"):
            return self._begin(X, y, classes)
        self._check_parameters()
        require_same_classes(classes, self.classes_)
        rows, own = self._labelled_rows(X, y)
        self._remember(
            sparse.vstack([self.vectors_, rows], format="csr"),
            np.concatenate([self.targets_, own]),
        )
        return self

    def forget(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Drop documents that were learned, as if they had never been seen."""
        check_is_fitted(self)
        rows, own = self._labelled_rows(X, y)
        gone = learned_positions(rows, own, self.vectors_, self.targets_)
        remaining = np.setdiff1d(np.arange(len(self.targets_)), gone)
        self._remember(self.vectors_[remaining], self.targets_[remaining])
        return self

    # -- answering -----------------------------------------------------------

    def predict(self, X: MatrixLike) -> Labels:
        """Label with most votes; equal ones by lot."""
        return self.answer(X).labels

    def answer(self, X: MatrixLike) -> Answer:
        """Labels, probabilities and the neighbours themselves, from one search."""
        similarity, index = self._search(self._validated(X), self._used_k())
        votes = self._votes(similarity, index)
        best = chosen_classes(votes, index[:, 0], self.lots_seed_)
        return Answer(self.classes_[best], _shares_of(votes), similarity, index)

    def predict_proba(self, X: MatrixLike) -> FloatMatrix:
        """Share of the votes for each class, (n_samples, n_classes)."""
        return _shares_of(self.class_scores(X))

    def neighbors(self, X: MatrixLike) -> list[list[Neighbor]]:
        """The documents that vote on each row of X, most similar first."""
        similarity, index = self.most_similar(X)
        return [
            [
                Neighbor(int(i), self.classes_[self.targets_[i]].tolist(), float(s))
                for s, i in zip(scores, places, strict=True)
                if i >= 0
            ]
            for scores, places in zip(similarity, index, strict=True)
        ]

    def leave_one_out(self, X: MatrixLike, y: ArrayLike) -> FloatMatrix:
        """Log posteriors of learned documents, each found among the others only.

        k is held fixed. Returns an array of shape (n_samples, n_classes).
        """
        check_is_fitted(self)
        rows, own = self._labelled_rows(X, y)
        places = learned_positions(rows, own, self.vectors_, self.targets_)
        nearest = self._search(rows, self._used_k(), places)
        proba = _shares_of(self._votes(*nearest, without=own))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(proba))

    @property
    def n_neighbors_(self) -> int:
        """How many neighbours vote; chosen again when more was learned."""
        check_is_fitted(self)
        return self._used_k()

    def kneighbors(
        self, X: MatrixLike | None = None, n_neighbors: int | None = None
    ) -> tuple[FloatMatrix, IntVector]:
        """Distances and positions of the nearest training documents, nearest first.

        As in scikit-learn. With ``metric="cosine"`` the distance is 1 minus the
        cosine, with "dot" minus the product. Infinity and -1 fill up where fewer than
        ``n_neighbors`` documents are similar. Without X, the neighbours of each
        training document other than itself.
        """
        similarity, index = self.most_similar(X, n_neighbors)
        if self.metric == "euclidean":
            with np.errstate(divide="ignore"):
                distance = 1.0 / similarity - 1.0
        else:
            distance = (1.0 if self.metric == "cosine" else 0.0) - similarity
        return np.where(index < 0, np.inf, distance), index

    def most_similar(
        self, X: MatrixLike | None = None, n_neighbors: int | None = None
    ) -> tuple[FloatMatrix, IntVector]:
        """Similarities and positions of the nearest training documents, best first.

        A similarity is what a neighbour's vote can weigh: the cosine, the product, or
        1 / (1 + distance) with ``metric="euclidean"``. 0 and -1 fill up where fewer
        than ``n_neighbors`` documents are similar. Without X, the neighbours of each
        training document other than itself.
        """
        check_is_fitted(self)
        k = self._used_k() if n_neighbors is None else n_neighbors
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
            raise ValueError(f"n_neighbors must be a whole number >= 1, got {k!r}.")
        if X is None:
            every = np.arange(len(self.targets_))
            return self._search(self.vectors_, self._at_most(k), every)
        return self._search(self._validated(X), self._at_most(k))

    @property
    def recall_(self) -> float:
        """Share of the exact neighbours that the search finds, on 200 documents."""
        check_is_fitted(self)
        index = self._built_index()
        if not isinstance(index, SketchSearch):
            return 1.0
        rng = np.random.default_rng(self.lots_seed_)
        sample = rng.permutation(len(self.targets_))[:_RECALL_SAMPLE]
        return index.recall(self._used_k(), sample)

    # -- private -------------------------------------------------------------

    def _begin(self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None) -> Self:
        self._check_parameters()
        X, labels = self._training_data(X, y)
        known = np.unique(labels if classes is None else np.asarray(classes))
        own = label_positions(labels, known, X.shape[0])
        self.classes_ = known
        self.lots_seed_ = int(random_state_of(self.random_state).randint(2**31 - 1))
        self._remember(self._stored(X), own)
        self._built_index()
        self._used_k()
        return self

    def _labelled_rows(
        self, X: MatrixLike, y: ArrayLike
    ) -> tuple[SparseMatrix, IntVector]:
        X, labels = self._training_data(X, y, reset=False)
        own = label_positions(labels, self.classes_, X.shape[0])
        return self._stored(X), own

    def _remember(self, vectors: SparseMatrix, targets: IntVector) -> None:
        self.vectors_, self.targets_, self.chosen_ = vectors, targets, None
        self._index = None

    def _at_most(self, k: int) -> int:
        return max(1, min(k, len(self.targets_)))

    def _search(
        self, rows: Matrix, k: int, exclude: IntVector | None = None
    ) -> tuple[FloatMatrix, IntVector]:
        """The k nearest documents of each row, on ``n_jobs`` threads."""
        index = self._built_index()
        rows = sparse.csr_array(rows)
        if exclude is None:
            exclude = np.full(rows.shape[0], -1, dtype=np.int64)
        n_jobs = min(effective_n_jobs(self.n_jobs), max(1, rows.shape[0] // 64))
        bounds = np.linspace(0, rows.shape[0], n_jobs + 1).astype(int)
        parts = [slice(i, j) for i, j in pairwise(bounds)]
        answers = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(index.nearest)(rows[part], k, exclude[part]) for part in parts
        )
        similarity, positions = zip(*answers, strict=True)
        return np.concatenate(similarity), np.concatenate(positions)

    def _built_index(self) -> Search:
        if self._index is None:
            options = (self.metric, self.only_similar, self.algorithm)
            self._index = build_search(self.vectors_, *options, self.lots_seed_)
        return self._index

    def _check_parameters(self) -> None:
        super()._check_parameters()
        plain = self.metric == "cosine" and self.only_similar
        if self.algorithm == "approximate" and not plain:
            raise ValueError(
                "algorithm='approximate' finds similar documents by their cosine, got "
                f"metric={self.metric!r} and only_similar={self.only_similar!r}; use "
                "algorithm='exact'."
            )

    def _used_k(self) -> int:
        if not isinstance(self.n_neighbors, str):
            return self._at_most(self.n_neighbors)
        if self.chosen_ is None:
            some = rows_by_lot(len(self.targets_), _MOST_CHOOSING)
            most = self._at_most(self.max_neighbors)
            similarity, index = self._search(self.vectors_[some], most, some)
            self.chosen_ = best_k(
                self.targets_[index],
                vote_weights(similarity, index, self.vote),
                self.targets_[some],
                self._sizes(),
            )
        return self.chosen_

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        return self._votes(*self._search(X, self._used_k()))

    def _votes(
        self,
        similarity: FloatMatrix,
        index: IntVector,
        without: IntVector | None = None,
    ) -> FloatMatrix:
        """Votes for each class; its share of the documents where nobody votes."""
        weight = vote_weights(similarity, index, self.vote)
        targets = self.targets_[index] if len(self.targets_) else index * 0
        votes = counted_votes(targets, weight, len(self.classes_))
        silent = ~(weight > 0).any(axis=1)
        if silent.any():
            sizes = np.tile(self._sizes(), (int(silent.sum()), 1))
            if without is not None:
                sizes[np.arange(len(sizes)), without[silent]] -= 1.0
            votes[silent] = _shares_of(sizes)
        return votes

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """The votes for each document, by neighbour and term (AB3)."""
        rows = self._stored(self._validated(X))
        similarity, index = self._search(rows, self._used_k())
        weight = vote_weights(similarity, index, self.vote)
        shares = _shares_of(self._sizes()[None])[0]
        parts = []
        for d, (entries, values) in enumerate(row_entries(rows)):
            voters, columns = index[d][index[d] >= 0], entries.astype(np.int64)
            if len(voters):
                votes = (voters, similarity[d], weight[d])
                parts.append(self._spread(columns, values, *votes))
                continue
            none = np.zeros((len(columns), len(self.classes_)))
            silence = "No training document shares a term: the class shares answer."
            parts.append(ScoreParts(columns, none, {"class share": shares}, silence))
        return parts

    def _spread(
        self,
        columns: IntVector,
        values: FloatVector,
        voters: IntVector,
        similarity: FloatVector,
        weight: FloatVector,
    ) -> ScoreParts:
        """Each neighbour's vote, spread over the terms that make it similar."""
        # Spread as its product with the document is, so that the parts add up exactly;
        # a neighbour that shares no term votes as a whole.
        vectors, targets = self.vectors_, self.targets_
        terms = np.zeros((len(columns), len(self.classes_)))
        unshared = np.zeros(len(self.classes_))
        for place, vote in zip(voters, weight, strict=False):
            part = slice(vectors.indptr[place], vectors.indptr[place + 1])
            _, mine, theirs = np.intersect1d(
                columns, vectors.indices[part], assume_unique=True, return_indices=True
            )
            products = values[mine] * vectors.data[part][theirs]
            total = products.sum()
            if total > 0:
                terms[mine, targets[place]] += products * (vote / total)
            else:
                unshared[targets[place]] += vote
        named = ", ".join(
            f"no. {place + 1} ({self.classes_[targets[place]]}, {alike:.2f})"
            for place, alike in zip(voters[:_NAMED], similarity, strict=False)
        )
        more = "" if len(voters) <= _NAMED else f" and {len(voters) - _NAMED} more"
        note = f"Because of the training documents {named}{more}."
        rest = {"neighbours without a shared term": unshared} if unshared.any() else {}
        return ScoreParts(columns, terms, rest, note)

    def _stored(self, X: Matrix) -> SparseMatrix:
        """Rows as they are remembered; one type of index, so that they compare."""
        rows = canonical_rows(X)
        rows = unit_rows(rows) if self.metric == "cosine" else rows.copy()
        if max(rows.shape[1], rows.nnz) <= np.iinfo(np.int32).max:
            rows.indices = rows.indices.astype(np.int32, copy=False)
            rows.indptr = rows.indptr.astype(np.int32, copy=False)
        return rows

    def _sizes(self) -> FloatVector:
        sizes = np.bincount(self.targets_, minlength=len(self.classes_))
        return np.asarray(sizes, dtype=np.float64)

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report documents of unknown classes."""
        if self.targets_.max(initial=-1) >= sizes["n_classes"]:
            yield ".targets_ names no class"


def vote_weights(similarity: FloatMatrix, index: IntVector, vote: str) -> FloatMatrix:
    """What each neighbour's vote weighs; 0 where there is none, or it is unlike."""
    if vote == "similarity":
        return np.maximum(similarity, 0.0)
    return (index >= 0).astype(np.float64)


def counted_votes(
    targets: IntVector, weight: FloatMatrix, n_classes: int
) -> FloatMatrix:
    """Sum of the neighbours' votes for their ``targets``, (n_samples, n_classes)."""
    n_samples = len(targets)
    cell = np.arange(n_samples)[:, None] * n_classes + targets
    total = np.bincount(
        cell.ravel(), weight.ravel(), minlength=n_samples * n_classes
    ).reshape(n_samples, n_classes)
    return np.asarray(total, dtype=np.float64)


def chosen_classes(votes: FloatMatrix, nearest: IntVector, seed: int) -> IntVector:
    """The class with most votes; equal ones by lot."""
    # Drawn from the seed and the nearest neighbour: what stands beside in X has no say.
    best = votes.argmax(axis=1)
    tied = votes == votes.max(axis=1, keepdims=True)
    rows = np.flatnonzero(tied.sum(axis=1) > 1)
    if len(rows):
        key = nearest[rows].astype(np.uint64)[:, None] * GOLDEN + np.uint64(seed)
        step = np.arange(votes.shape[1], dtype=np.uint64) * np.uint64(
            0xD1B54A32D192ED03
        )
        lots = np.where(tied[rows], mixed_bits(key + step) | np.uint64(1), np.uint64(0))
        best[rows] = lots.argmax(axis=1)
    return np.asarray(best, dtype=np.int64)


def best_k(
    targets: IntVector, weight: FloatMatrix, own: IntVector, shares: FloatVector
) -> int:
    """The smallest number of neighbours that labels most documents right."""
    n_samples, most = targets.shape
    every = np.arange(n_samples)
    votes = np.zeros((n_samples, len(shares)))
    right = np.empty(most)
    for k in range(most):
        votes[every, targets[:, k]] += weight[:, k]
        top = votes.max(axis=1, keepdims=True)
        tied = votes == top
        # A tie counts as the chance that the lot falls on the right class.
        chance = tied[every, own] / tied.sum(axis=1)
        alone = top[:, 0] == 0
        right[k] = np.where(alone, shares.argmax() == own, chance).sum()
    return int(right.argmax()) + 1


def _shares_of(votes: FloatMatrix) -> FloatMatrix:
    """Rows scaled to sum to 1; a row of zeros becomes uniform."""
    total = votes.sum(axis=1, keepdims=True)
    even = np.full_like(votes, 1.0 / votes.shape[1])
    shares: FloatMatrix = np.divide(votes, total, out=even, where=total > 0)
    return shares


def learned_positions(
    rows: SparseMatrix, own: IntVector, learned: SparseMatrix, targets: IntVector
) -> IntVector:
    """Where each row stands among the learned documents; equal ones by their turn."""
    places = defaultdict(list)
    for position, key in reversed(list(enumerate(_keys(learned, targets)))):
        places[key].append(position)
    positions = np.empty(rows.shape[0], dtype=np.int64)
    for row, key in enumerate(_keys(rows, own)):
        if not places[key]:
            raise DataError(
                f"the document in row {row} was not learned with this label, or not as "
                "often as it is given; give only documents that were learned."
            )
        positions[row] = places[key].pop()
    return positions


def _keys(rows: SparseMatrix, targets: IntVector) -> list[tuple[int, bytes, bytes]]:
    """What makes a document: its class, terms and weights."""
    return [
        (int(c), terms.tobytes(), weights.tobytes())
        for c, (terms, weights) in zip(targets, row_entries(rows), strict=True)
    ]


MODEL = Model(
    "knn",
    NeighborsClassifier,
    "k nearest neighbors by cosine: shows the documents that decided",
    fed="tfidf",
    defaults={"n_neighbors": "auto"},
    takes=("random_state", "n_jobs"),
)
