"""k nearest neighbours: the labels of the most similar documents vote (VS3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from earmark._checks import require_integer, require_one_of
from earmark.kernels.rows import canonical_rows, unit_rows
from earmark.models.neighbors.memory import DocumentMemory, learned_positions
from earmark.models.neighbors.parts import neighbor_parts
from earmark.models.neighbors.votes import (
    Answer,
    Neighbor,
    best_k,
    chosen_classes,
    counted_votes,
    vote_weights,
)
from earmark.models.protocols import ScoreParts
from earmark.typing import (
    ArrayLike,
    FloatMatrix,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
)

__all__ = ["NeighborsClassifier"]


class NeighborsClassifier(DocumentMemory):
    """Let the most similar training documents vote on the label.

    Similarity is the cosine. Neighbours are found exactly, on an inverted index;
    only documents that are similar at all (cosine > 0) are neighbours, so that
    there may be fewer than ``n_neighbors`` of them. Where there is none, as for a
    document with no known term, the class shares answer.

    Parameters
    ----------
    n_neighbors : int >= 1 or "auto", default=10
        How many vote; all documents if there are fewer. "auto" takes the number
        that labels the training documents best by leave-one-out.
    vote : "similarity" or "majority", default="similarity"
        A neighbour's vote weighs its similarity, or one. Equal votes are decided
        by lot, seeded by ``random_state``.
    max_neighbors : int >= 1, default=50
        The largest number that "auto" considers.
    random_state : int, RandomState instance or None, default=None
        Seed of the lots.
    n_jobs : int or None, default=None
        Threads that look for neighbours; -1 for all processors.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    vectors_ : sparse array of shape (n_documents, n_features)
        The documents learned, scaled to unit length.
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

    Examples
    --------
    >>> X, y = [[2, 0], [1, 0], [1, 2], [0, 3]], ["a", "a", "b", "b"]
    >>> model = NeighborsClassifier(n_neighbors=1).fit(X, y)
    >>> model.predict([[5, 1]])
    array(['a'], dtype='<U1')
    >>> model.neighbors([[0, 1]])[0]
    [Neighbor(position=3, label='b', similarity=1.0)]

    """

    def __init__(
        self,
        n_neighbors: int | str = 10,
        *,
        vote: str = "similarity",
        max_neighbors: int = 50,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.vote = vote
        self.max_neighbors = max_neighbors
        self.random_state = random_state
        self.n_jobs = n_jobs

    # -- answering -----------------------------------------------------------

    def predict(self, X: MatrixLike) -> Labels:
        """Label with most votes; equal ones by lot."""
        return self.answer(X).labels

    def answer(self, X: MatrixLike) -> Answer:
        """Labels, probabilities and the neighbours themselves, from one search."""
        similarity, index = self._found(self._validated(X))
        votes = self._votes(similarity, index)
        best = chosen_classes(votes, index[:, 0], self.lots_seed_)
        return Answer(self.classes_[best], _shares_of(votes), similarity, index)

    def predict_proba(self, X: MatrixLike) -> FloatMatrix:
        """Share of the votes for each class, (n_samples, n_classes)."""
        return _shares_of(self.class_scores(X))

    def neighbors(self, X: MatrixLike) -> list[list[Neighbor]]:
        """The documents that vote on each row of X, most similar first."""
        similarity, index = self.kneighbors(X)
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
        found = self._search(rows, self._used_k(), places)
        proba = _shares_of(self._votes(*found, without=own))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(proba))

    @property
    def n_neighbors_(self) -> int:
        """How many neighbours vote; chosen again when more was learned."""
        check_is_fitted(self)
        return self._used_k()

    # -- private -------------------------------------------------------------

    def _check_parameters(self) -> None:
        if self.n_neighbors != "auto":
            require_integer(self, "n_neighbors", low=1, hint="or 'auto'")
        require_one_of(self, "vote", ("similarity", "majority"))
        require_integer(self, "max_neighbors", low=1)

    def _used_k(self) -> int:
        if not isinstance(self.n_neighbors, str):
            return self._at_most(self.n_neighbors)
        if self.chosen_ is None:
            every = np.arange(len(self.targets_))
            most = self._at_most(self.max_neighbors)
            similarity, index = self._search(self.vectors_, most, every)
            self.chosen_ = best_k(
                self.targets_[index],
                vote_weights(similarity, self.vote),
                self.targets_,
                self._sizes(),
            )
        return self.chosen_

    def _found(self, X: Matrix) -> tuple[FloatMatrix, IntVector]:
        return self._search(X, self._used_k())

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        return self._votes(*self._found(X))

    def _votes(
        self,
        similarity: FloatMatrix,
        index: IntVector,
        without: IntVector | None = None,
    ) -> FloatMatrix:
        """Votes for each class; its share of the documents where nobody votes."""
        weight = vote_weights(similarity, self.vote)
        targets = self.targets_[index] if len(self.targets_) else index * 0
        votes = counted_votes(targets, weight, len(self.classes_))
        silent = ~(similarity > 0).any(axis=1)
        if silent.any():
            sizes = np.tile(self._sizes(), (int(silent.sum()), 1))
            if without is not None:
                sizes[np.arange(len(sizes)), without[silent]] -= 1.0
            votes[silent] = _shares_of(sizes)
        return votes

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """The votes for each document, by neighbour and term (AB3)."""
        rows = unit_rows(canonical_rows(self._validated(X)))
        similarity, index = self._found(rows)
        return neighbor_parts(
            rows,
            self.vectors_,
            self.targets_,
            self.classes_,
            similarity,
            index,
            vote_weights(similarity, self.vote),
            _shares_of(self._sizes()[None])[0],
        )


def _shares_of(votes: FloatMatrix) -> FloatMatrix:
    """Rows scaled to sum to 1; a row of zeros becomes uniform."""
    total = votes.sum(axis=1, keepdims=True)
    even = np.full_like(votes, 1.0 / votes.shape[1])
    shares: FloatMatrix = np.divide(votes, total, out=even, where=total > 0)
    return shares
