"""Higher-order naive Bayes: term probabilities from paths across documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from operator import index
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from earmark.exceptions import DataError, NotSupportedError
from earmark.kernels.rows import canonical_rows, presence, row_entries, row_numbers
from earmark.models.base.classifier import repeats
from earmark.models.base.declaration import Model
from earmark.models.base.parted import (
    GatheredRows,
    PartedRows,
    PartRows,
    class_counts,
)
from earmark.models.shared.naive_bayes import (
    Added,
    PresenceScores,
    alphas,
    is_mostly_nothing,
)
from earmark.models.shared.paths import (
    ClassPaths,
    PathOrder,
    block_paths,
    count_class_paths,
    joined_paths,
)
from earmark.parameters import Share, estimator
from earmark.statistics import ClassStatistics
from earmark.stored import array, counts, csr, integers, truths
from earmark.typing import (
    ArrayLike,
    BoolVector,
    FloatMatrix,
    FloatVector,
    IntVector,
    Matrix,
    MatrixLike,
    SparseMatrix,
    WeightsLike,
)


class Path(NamedTuple):
    """A chain term - document - term - document - term."""

    terms: tuple[int, int, int]
    """Columns; the first is a term of the explained document."""
    documents: tuple[int, int]
    """Rows of the training data."""
    strength: float
    """Sum of the three terms' log-ratios between the class and its runner-up."""


class _ClassView:
    """The documents of one class, and how much each term speaks for it."""

    def __init__(
        self, documents: SparseMatrix, numbers: IntVector, ratio: FloatVector
    ) -> None:
        self.numbers, self.ratio = numbers, ratio
        # The entries by document, terms in order, and by term.
        self.by_document = documents.tocsr()
        by_term = self.by_document.tocsc()
        by_term.sort_indices()
        self.term_start, self.term_docs = by_term.indptr, by_term.indices
        self.entry_term = row_numbers(by_term.T.tocsr())
        self.best_terms = self._best_terms()

    def _best_terms(self) -> IntVector:
        """The three terms of each document with the largest ratios; -1 for none."""
        rows = self.by_document
        document = row_numbers(rows)
        order = np.lexsort((rows.indices, -self.ratio[rows.indices], document))
        rank = np.arange(len(order)) - rows.indptr[document[order]]
        best = np.full((rows.shape[0], 3), -1, dtype=np.int64)
        few = rank < 3
        best[document[order][few], rank[few]] = rows.indices[order][few]
        return best

    def best_from(self, first: int) -> Path | None:
        """The strongest path that starts at this term, or None."""
        starts = self.term_docs[self.term_start[first] : self.term_start[first + 1]]
        near = self.by_document[starts]
        left, middle = starts[row_numbers(near)], near.indices
        keep = middle != first
        left, middle = left[keep], middle[keep]
        if not len(middle):
            return None
        right, last, value = self._continuations(first, np.unique(middle))
        choice = np.where(right[middle, 0] == left, 1, 0)
        strength = value[middle, choice] + self.ratio[first]
        at = int(np.lexsort((left, middle, -strength))[0])
        if not np.isfinite(strength[at]):
            return None
        k, c = int(middle[at]), int(choice[at])
        ends = (int(left[at]), int(right[k, c]))
        return Path(
            (first, k, int(last[k, c])),
            (int(self.numbers[ends[0]]), int(self.numbers[ends[1]])),
            float(strength[at]),
        )

    def _continuations(
        self, first: int, middle: IntVector
    ) -> tuple[IntVector, IntVector, FloatMatrix]:
        """Find the two best documents behind each middle term, and their end terms."""
        n_terms = len(self.ratio)
        wanted = np.zeros(n_terms, dtype=bool)
        wanted[middle] = True
        entry = np.flatnonzero(wanted[self.entry_term])
        term, document = self.entry_term[entry], self.term_docs[entry]
        ends = self.best_terms[document]
        free = (ends >= 0) & (ends != first) & (ends != term[:, None])
        place = free.argmax(axis=1)
        end = ends[np.arange(len(entry)), place]
        value = np.where(free.any(axis=1), self.ratio[term] + self.ratio[end], -np.inf)
        order = np.lexsort((document, -value, term))
        term, document, end, value = (x[order] for x in (term, document, end, value))
        is_new = np.concatenate(([True], term[1:] != term[:-1]))
        group_start = np.maximum.accumulate(np.where(is_new, np.arange(len(term)), 0))
        rank = np.arange(len(term)) - group_start
        two = rank < 2
        right = np.full((n_terms, 2), -1, dtype=np.int64)
        last, best = right.copy(), np.full((n_terms, 2), -np.inf)
        right[term[two], rank[two]] = document[two]
        last[term[two], rank[two]] = end[two]
        best[term[two], rank[two]] = value[two]
        return right, last, best


@estimator
class HigherOrderNaiveBayes(PresenceScores):
    """Naive Bayes whose term probabilities come from paths across documents.

    Two terms that never share a document may still be linked: term - document -
    term - document - term. The more such paths of a class contain a term, the
    likelier the class makes it. With few labelled documents this says far more
    than the few documents that hold the term themselves.

    A term counts as present where X > 0, and features need not be words: any
    binary description of instances will do. Path counts are not sums over
    documents, so this model cannot learn or forget documents one by one.

    Parameters
    ----------
    order : {1, 2, 3}, default=2
        Documents on a path. 1 is Bernoulli naive Bayes.
    pure : bool, default=False
        Count only paths whose end terms share no training document (order 2).
    prior : {"paths", "documents", "uniform"}, default="paths"
        Class prior by the number of paths (as in [1]_), of documents, or uniform.
    alpha : float >= 0, default=1.0
        Smoothing: alpha paths with and alpha without every term are added to
        each class.
    alpha_by_size : bool, default=False
        Give each class alpha in proportion to its number of paths, alpha in the mean.
    unlabelled_weight : float in [0, 1], default=0.0
        What a path counts that leads through documents of the class and through
        documents given as ``unlabelled``; 0 leaves those out.
    keep_documents : bool, default=False
        Keep the training documents in the model, for ``strongest_paths``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    class_count_ : ndarray of shape (n_classes,)
        Documents per class.
    path_count_ : sparse array of shape (n_classes, n_features)
        Paths of the class that contain the term.
    path_total_ : ndarray of shape (n_classes,)
        Paths of the class.
    is_first_order_ : ndarray of shape (n_classes,)
        Classes without any path: the two counts above are of documents there, as
        they are for order 1.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        log P(term present | class).
    class_log_prior_ : ndarray of shape (n_classes,)
        log P(class).
    n_features_in_ : int
        Width of X seen in ``fit``.

    References
    ----------
    .. [1] M. C. Ganiz, N. I. Lytkin and W. M. Pottenger (2009). Leveraging higher
       order dependencies between features for text classification. ECML PKDD.

    Examples
    --------
    >>> X = [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1], [1, 1, 0, 1]]
    >>> model = HigherOrderNaiveBayes().fit(X, ["a", "a", "a", "b", "b"])
    >>> model.path_total_  # terms 0-1-2 and 1-2-3 in class a; 3-0-1 and 0-3-1 in b
    array([2, 2])
    >>> model.predict([[0, 1, 1, 0]])
    array(['a'], dtype='<U1')

    """

    class_count_: Annotated[IntVector, counts("n_classes")] = field(init=False)
    document_class_: Annotated[IntVector, integers("n_documents")] | None = field(
        init=False
    )
    documents_: (
        Annotated[SparseMatrix, csr("iu", "n_documents", "n_features", low=0, high=1)]
        | None
    ) = field(init=False)
    is_first_order_: Annotated[BoolVector, truths("n_classes")] = field(init=False)
    path_count_: Annotated[
        SparseMatrix, csr("if", "n_classes", "n_features", low=0)
    ] = field(init=False)
    path_total_: Annotated[Any, array("if", "n_classes", low=0)] = field(init=False)
    seen_: Annotated[BoolVector, truths("n_features")] = field(init=False)

    _numbers = "numeric"

    order: PathOrder = 2
    pure: bool = False
    prior: Literal["paths", "documents", "uniform"] = "paths"
    alpha: Added = 1.0
    alpha_by_size: bool = False
    unlabelled_weight: Share = 0.0
    keep_documents: bool = False

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: WeightsLike = None,
        *,
        unlabelled: MatrixLike | None = None,
    ) -> Self:
        """Count the paths of each class of X (n_samples, n_features) and y.

        Paths lead through whole documents, so weights must be whole numbers: a
        document of weight 2 counts as two equal ones, and is kept as two.

        Documents in ``unlabelled`` matter only with ``unlabelled_weight`` > 0.
        """
        self._check_parameters()
        X, labels = self._training_data(X, y)
        often = repeats(self, sample_weight, len(labels))
        self.classes_, y_index = np.unique(labels[often], return_inverse=True)
        rows = presence(canonical_rows(X))[often]
        pool = (self._pool(unlabelled), self.unlabelled_weight)
        paths = count_class_paths(
            rows, y_index, len(self.classes_), self.order, self.pure, *pool
        )
        return self.finalise(paths, rows, y_index)

    def fit_in_parts(self, rows: PartedRows) -> Self:
        """Path counts, exact for any division of the documents."""
        # A path joins two documents of a class, so path counts of parts do not add: all
        # documents of a class are brought together, one byte for each of their terms,
        # and counted where they meet, one class after the other.
        self._check_parameters()
        if self.pure:
            raise NotSupportedError(
                "HigherOrderNaiveBayes(pure=True) needs all documents of all classes "
                "in one place; fit in memory."
            )
        n_classes = len(rows.classes)
        counts: ClassStatistics = rows.sum("presence", class_counts, n_classes)
        pairs = []
        if self.order > 1:
            for number in range(n_classes):
                block = rows.together("block", _block, number)
                pairs += block.gather("paths", _block_paths, self.order)
        self.classes_, self.n_features_in_ = rows.classes, rows.n_features
        documents = rows.docs.astype(np.int64)
        paths = joined_paths(self.order, counts.presence, documents, pairs)
        if not self.keep_documents:
            return self.finalise(paths)
        every: GatheredRows = rows.sum("documents", _block, None)
        return self.finalise(paths, canonical_rows(every.X), every.y)

    def finalise(
        self,
        paths: ClassPaths,
        rows: SparseMatrix = None,
        y_index: IntVector | None = None,
    ) -> Self:
        """Take over counted paths; the documents only if they are to be kept."""
        self.path_count_, self.path_total_ = paths.counts, paths.totals
        self.class_count_ = paths.documents
        self.is_first_order_, self.seen_ = paths.is_first_order, paths.seen
        documents: SparseMatrix = rows.astype(np.int8) if self.keep_documents else None
        self.documents_ = documents
        self.document_class_ = y_index if self.keep_documents else None
        self._derive()
        return self

    @property
    def uses_pool(self) -> bool:
        """Whether the ``unlabelled`` documents that ``fit`` may take are learned."""
        return self.unlabelled_weight > 0.0

    def strongest_paths(
        self, X: MatrixLike, top: int = 5, label: ArrayLike | None = None
    ) -> list[list[Path]]:
        """The strongest second-order paths from each document's terms into a class.

        A path starts at a term of the document and leads through two training
        documents of the class. Its strength is the sum, over its three terms, of
        log P(term | class) - log P(term | runner-up). For each starting term
        the strongest path is given, at most ``top`` for a document, strongest
        first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Documents to explain.
        top : int, default=5
            Paths for a document.
        label : array-like of shape (n_samples,), optional
            The class to explain, one for each document; the predicted one if None.

        Returns
        -------
        list of list of Path
            ``Path(terms, documents, strength)``: three columns, two rows of the
            training data, a number.

        """
        check_is_fitted(self)
        if index(top) < 1:
            raise ValueError(f"top must be at least 1, got {top!r}.")
        if self.documents_ is None:
            raise NotSupportedError(
                f"{type(self).__name__}.strongest_paths needs the training documents; "
                "fit with keep_documents=True."
            )
        rows = self._validated(X)
        scores = self._class_scores(rows)
        wanted = scores.argmax(axis=1) if label is None else self._wanted(label, rows)
        answers = []
        views: dict[tuple[int, int], _ClassView] = {}
        for d, (terms, _) in enumerate(row_entries(rows)):
            others = scores[d].copy()
            others[wanted[d]] = -np.inf
            pair = (int(wanted[d]), int(others.argmax()))
            if pair not in views:
                views[pair] = self._view(*pair)
            starts = (views[pair].best_from(term) for term in terms.tolist())
            known = [path for path in starts if path is not None]
            known.sort(key=lambda path: (-path.strength, path.terms, path.documents))
            answers.append(known[:top])
        return answers

    # -- steps -----------------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.pure and self.order != 2:
            raise ValueError(
                f"{type(self).__name__}.pure needs order=2, got order={self.order!r}."
            )

    def _pool(self, unlabelled: MatrixLike | None) -> SparseMatrix | None:
        if unlabelled is None:
            return None
        pool = validate_data(
            self,
            unlabelled,
            accept_sparse="csr",
            dtype="numeric",
            reset=False,
            ensure_min_samples=0,
        )
        return presence(canonical_rows(pool))

    def _derive(self) -> None:
        """Set the parameters from the counts (HO1)."""
        paths = ClassPaths(
            self.order,
            self.path_count_,
            self.path_total_,
            self.class_count_,
            self.is_first_order_,
            self.seen_,
        )
        self.class_log_prior_ = paths.log_prior(self.prior)
        alpha = alphas(
            self.alpha,
            self.path_total_.astype(np.float64),
            by_size=self.alpha_by_size,
        )
        self._set_presence(*paths.log_probabilities(alpha))

    def _validated(self, X: MatrixLike) -> Matrix:
        return presence(canonical_rows(super()._validated(X)))

    def _view(self, label: int, rival: int) -> _ClassView:
        """The documents of a class, with its terms' log-ratios to another class."""
        ratio = self._log_present[:, label].copy()
        if len(self.classes_) > 1:
            ratio -= self._log_present[:, rival]
        mine = np.flatnonzero(self.document_class_ == label)
        assert self.documents_ is not None
        return _ClassView(self.documents_[mine], mine, ratio)

    def _wanted(self, label: ArrayLike, rows: SparseMatrix) -> IntVector:
        """Class number to explain for each document."""
        labels, n_samples = np.asarray(label), rows.shape[0]
        unknown = np.setdiff1d(labels, self.classes_)
        if labels.shape != (n_samples,) or len(unknown):
            raise DataError(
                f"label must hold one of {self.classes_.tolist()!r} for each of the "
                f"{n_samples} documents, got {labels.tolist()!r}."
            )
        return np.searchsorted(self.classes_, labels)

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report documents of unknown classes, and terms on too many paths."""
        own = self.document_class_
        if own is not None and own.max(initial=-1) >= sizes["n_classes"]:
            yield ".document_class_ names no class"
        counts = self.path_count_
        total = np.repeat(self.path_total_, np.diff(counts.indptr))
        if not np.all(counts.data <= total * (1 + 1e-9)):
            yield ".path_count_ exceeds path_total_"
        if is_mostly_nothing(counts):
            yield ".path_count_ has too many columns for its counts"


def _block(number: int | None, rows: PartRows) -> GatheredRows:
    """The rows of one class (None: of all) as presences, a byte for each term."""
    mine = rows.y == number if number is not None else rows.y >= 0
    rows_of_terms = presence(canonical_rows(rows.X[mine])).astype(np.int8)
    return GatheredRows(rows_of_terms, rows.y[mine])


def _block_paths(order: int, block: GatheredRows) -> tuple[Any, Any]:
    """Paths per term and in total (HO1) of the documents of a class; exact."""
    return block_paths(canonical_rows(block.X.astype(np.int64)), order)


MODEL = Model(
    "higher-order",
    HigherOrderNaiveBayes,
    "higher-order naive Bayes: words linked across documents; for few labels",
    defaults={"keep_documents": True},
)
