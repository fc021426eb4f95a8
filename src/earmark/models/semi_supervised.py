"""SemiSupervisedClassifier: few labels, many documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Annotated, Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from earmark.exceptions import DataError
from earmark.features.columns import Rows
from earmark.features.scoring import ScoreParts, VectorWeights
from earmark.folds import rows_by_lot
from earmark.kernels.backend import one_blas_thread
from earmark.kernels.keys import fingerprints
from earmark.kernels.rows import canonical_rows, log_normalize, require_counts
from earmark.models.base.classifier import (
    LogitClassifier,
    document_weights,
    require_weighted,
)
from earmark.models.base.declaration import Model
from earmark.models.shared.few_labels import (
    ENCODER,
    SEED_WEIGHT,
    FewLabels,
    LeftOutPart,
    LinearStudent,
    Names,
    Weights,
    fit_scale,
    left_out_accuracy,
    name_weights,
    pool_weight,
    prior_offset,
    prior_weights,
    scale_of_confidence,
    seeds,
    total_scores,
    weights_by_evidence,
)
from earmark.models.shared.pool_em import checked_few_labels
from earmark.models.shared.views import FewLabelViews
from earmark.parameters import (
    AtLeastOne,
    Limits,
    NotNegative,
    Positive,
    estimator,
    seed_of,
)
from earmark.stored import classifier, either, floats, in_file, instance, sizes, text
from earmark.typing import (
    Estimator,
    FloatMatrix,
    FloatVector,
    IntVector,
    LabelsLike,
    Matrix,
    MatrixLike,
    RandomStateLike,
    SparseMatrix,
    WeightsLike,
)

MIN_POOL = 500
MIN_POOL_RATIO = 2.0
# The mean confidence is looked at on so many documents of the pool.
_ASKED_POOL = 2000


def pool_is_useful(
    n_labelled: int,
    n_pool: int,
    min_pool: int = MIN_POOL,
    min_pool_ratio: float = MIN_POOL_RATIO,
) -> bool:
    """Whether a pool has enough documents, alone and for each labelled one."""
    return n_pool >= min_pool and n_pool >= min_pool_ratio * n_labelled


@estimator
class SemiSupervisedClassifier(LogitClassifier):
    """Learn from few labels and a pool of documents without any.

    Views of the documents, learned from all of them, label the pool together, with
    rounds of naive Bayes over it. Linear students then learn from the labelled
    documents and the pool, each document weighted by how sure its label is. Where the
    pool is too small to help, a student learns from the labelled documents alone.

    Parameters
    ----------
    student : "softmax" or linear classifier, default="softmax"
        What learns from the labels given to the pool.
    voter : "softmax" or linear classifier, default="softmax"
        What learns from the labelled documents in each view.
    max_iter : int, default=10
        Rounds of naive Bayes over the pool.
    pool_weight : float or None, default=None
        What a pool document counts in these rounds, a labelled one counting 1; None
        is 0.5 for long texts and less where phrases of two words tell much, down to
        0.2.
    name_weight : float, default=3.0
        What the names of a class without a label count together, a labelled document
        counting 1; less and less as it gets labels. 0 leaves them out.
    prior_correction : float, default=0.1
        How much of the logarithm of a class's share is taken off its score, so
        that rare classes are not swallowed.
    calibration_folds : int, default=3
        Parts of the labelled documents that are left out in turn, to learn what each
        view counts and how sure the students may be; 0 leaves both as they come.
    min_pool, min_pool_ratio : int and float, default=500 and 2.0
        The pool is used if it has so many different documents, and so many for
        each labelled one.
    n_components : int, default=100
        Numbers of a word vector that is learned from the documents, three times.
    min_df : int, default=2
        Words in fewer documents are left out, if the pool is used.
    random_state : int, RandomState, Generator or None, default=None
        Seed of projections and folds; None is the seed 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    used_pool_ : bool
        Whether the pool was used.
    students_ : dict of str to LinearStudent
        The linear models whose weighted sum decides, by view.
    student_weights_ : dict of str to float
        What each student counts in the sum.
    class_share_ : ndarray of shape (n_classes,)
        Share of each class among labelled documents and pool.
    n_iter_ : int
        Rounds of naive Bayes over the pool; 1 where the pool was not used.
    n_seeds_ : int
        Documents of the pool that names of the classes chose, and that count as
        tenths of labelled ones while the pool is labelled; never where something is
        judged.
    scale_ : float
        Factor on the scores that makes them probabilities.
    encoder_share_ : float or None
        What the vectors of an encoder count in the vote and among the students,
        learned from the labelled documents; None without an encoder.
    left_out_ : tuple (rows, log probabilities) or None
        Labelled documents that were left out in turn, by their number among the
        labelled ones, and what was said of them. None where none was left out: too
        few labels, or no pool.
    n_features_in_ : int
        Width of X seen in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[2, 1, 0], [0, 1, 2], [3, 0, 0], [0, 0, 1]])
    >>> y = np.array(["a", "b", None, None], dtype=object)
    >>> model = SemiSupervisedClassifier().fit(X, y)
    >>> model.predict([[1, 0, 0]])
    array(['a'], dtype='<U1')
    >>> model.used_pool_  # a pool of two documents is not worth using
    False

    """

    class_share_: Annotated[FloatVector, floats("n_classes", low=0)] = field(init=False)
    views_: Annotated[FewLabelViews, instance(FewLabelViews, fitted=True)] = field(
        init=False
    )
    scale_: NotNegative = field(init=False)
    student_weights_: dict[str, NotNegative] = field(init=False)
    students_: dict[str, Annotated[LinearStudent, sizes(n_classes="n_classes")]] = (
        field(init=False)
    )
    used_pool_: bool = field(init=False)
    n_iter_: int = 1
    n_seeds_: int = 0

    _takes_counts = True
    takes_rows = True
    student: Annotated[Estimator, in_file(either(text(), classifier(fitted=False)))] = (
        field(default="softmax", kw_only=False)
    )
    voter: Annotated[Estimator, in_file(either(text(), classifier(fitted=False)))] = (
        "softmax"
    )
    max_iter: AtLeastOne = 10
    pool_weight: Positive | None = None
    name_weight: NotNegative = 3.0
    prior_correction: NotNegative = 0.1
    calibration_folds: Annotated[int, Limits(0)] = 3
    min_pool: AtLeastOne = MIN_POOL
    min_pool_ratio: NotNegative = MIN_POOL_RATIO
    n_components: AtLeastOne = 100
    min_df: AtLeastOne = 2
    random_state: RandomStateLike = None

    # -- learning --------------------------------------------------------------

    def fit(
        self,
        X: Rows | MatrixLike,
        y: LabelsLike,
        sample_weight: WeightsLike = None,
        *,
        unlabelled: Rows | MatrixLike | None = None,
        copies: IntVector | None = None,
        names: tuple[Rows | MatrixLike, Sequence[object]] | None = None,
    ) -> Self:
        """Learn from counts X and labels y, None where a document has no label.

        Parameters
        ----------
        X : Rows, or {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents, labelled or not. A matrix holds counts of words; ``Rows`` may
            have phrases beside them, and the vectors of an encoder, which are a view
            of their own.
        y : array-like of shape (n_samples,)
            Labels; None marks a document of the pool.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the labelled documents; those of the pool are not looked at.
        unlabelled : like X, default=None
            More documents of the pool.
        copies : array-like of int of shape (n_labelled,), default=None
            Group of each labelled document; the documents of a group, copies of each
            other, are held out together.
        names : pair (rows, labels), default=None
            What the names or descriptions of classes are in the columns of X, and
            the class of each: weak labelled documents. A class may have no other.

        """
        self._check_parameters()
        if unlabelled is not None:
            X, more = as_rows(X), as_rows(unlabelled)
            none = np.full(len(more), None, dtype=object)
            y = np.concatenate([np.asarray(y, dtype=object), none])
            X = X.followed_by(more)
            if sample_weight is not None:
                ones = np.ones(len(more))
                sample_weight = np.concatenate([np.asarray(sample_weight), ones])
        named = [] if names is None or not self.name_weight else list(names[1])
        words = X.blocks[0] if isinstance(X, Rows) else X
        words, labels, is_labelled = checked_few_labels(
            self, words, y, sample_weight, named
        )
        rows = Rows((words,), ("word",))
        if isinstance(X, Rows):
            rows = counted_rows(Rows((words, *X.blocks[1:]), X.kinds))
            self.n_features_in_ = rows.n_columns
        for block, kind in zip(rows.blocks, rows.kinds, strict=True):
            if kind != "vector":
                require_counts(block, "SemiSupervisedClassifier takes")
        labelled, pool = np.flatnonzero(is_labelled), np.flatnonzero(~is_labelled)
        weight = document_weights(sample_weight, labels)[labelled]
        require_weighted(labels[labelled], weight)
        labelled, weight = labelled[weight > 0], weight[weight > 0]
        known = labels[labelled]
        every = np.asarray([*named, *known.tolist()]) if named else known
        self.classes_, y_every = np.unique(every, return_inverse=True)
        y_index = y_every[len(named) :]
        self.left_out_, self.has_labels_ = None, len(known) > 0
        fewest = self.min_pool, self.min_pool_ratio
        self.used_pool_ = len(np.unique(y_index)) < len(self.classes_) or (
            pool_is_useful(len(labelled), n_different(rows.blocks[0][pool]), *fewest)
        )
        if not self.used_pool_:
            return self._fit_labelled(rows[labelled], y_index, weight)
        weak = None
        if names is not None and named:
            n_labels = np.bincount(y_index, minlength=len(self.classes_))
            y_named = y_every[: len(named)]
            weak = Names(
                counted_rows(as_rows(names[0])),
                y_named,
                name_weights(y_named, n_labels, self.name_weight),
            )
        everything = rows[np.concatenate([labelled, pool])]
        return self._fit_pool(everything, y_index, weight, copies, weak)

    def _fit_labelled(self, X: Rows, y: IntVector, weight: FloatVector) -> Self:
        """The student on the words of the labelled documents alone."""
        self.n_iter_, self.n_seeds_ = 1, 0
        self.views_ = FewLabelViews(min_df=1).fit(X, weight)
        words = self.views_.words(X)
        student = LinearStudent(_chosen(self.student)).fit(words, y, weight)
        self.students_ = {"words": student}
        self.student_weights_ = {"words": 1.0}
        self.encoder_share_: float | None = None
        self.class_share_ = np.full(len(self.classes_), 1.0 / len(self.classes_))
        self.scale_ = 1.0
        return self

    @one_blas_thread()
    def _fit_pool(
        self,
        X: Rows,
        y: IntVector,
        weight: FloatVector,
        copies: IntVector | None,
        names: Names | None,
    ) -> Self:
        """Run the whole method; labelled documents are the first rows of X (SS3)."""
        seed = seed_of(self.random_state)
        self.views_ = FewLabelViews(self.min_df, self.n_components, seed)
        seen = self.views_.fit_transform(X)
        n_words = X.blocks[0].sum() / len(X)
        share = self.views_.phrase_share_ if self.views_.n_phrases_ else 0.0
        task = FewLabels(
            seen,
            y,
            weight,
            len(self.classes_),
            self.max_iter,
            pool_weight(share) if self.pool_weight is None else self.pool_weight,
            _chosen(self.voter),
            _chosen(self.student),
        )
        prior = prior_weights(seen.views, n_words)
        if names is not None:
            task = self._with_names(task, names, prior, copies)
        self.n_iter_, self.n_seeds_ = self.max_iter, task.n_chosen
        parts = self._left_out(task, copies)
        votes = task.votes()
        weights = weights_by_evidence(parts, prior, task.class_sizes(votes, prior))
        learned = task.learned(votes, weights)
        self.students_ = learned.students
        self.student_weights_ = learned.weights
        self.encoder_share_ = weights.encoder_share
        self.class_share_ = learned.class_share
        self.scale_ = self._calibrated(task, parts, weights) if parts else 1.0
        return self

    def _left_out(self, task: FewLabels, copies: IntVector | None) -> list[LeftOutPart]:
        """Labelled documents left out in turn; none if that is not asked for."""
        if not self.calibration_folds:
            return []
        return task.parts(self.calibration_folds, seed_of(self.random_state), copies)

    def _with_names(
        self, task: FewLabels, names: Names, prior: Weights, copies: IntVector | None
    ) -> FewLabels:
        """Names stand first, then what they chose, the labelled documents, the pool."""
        named = self.views_.names(names.rows)
        task = replace(
            task,
            seen=named.followed_by(task.seen),
            y=np.concatenate([names.y, task.y]),
            weight=np.concatenate([names.weight, task.weight]),
            n_names=len(names.y),
        )
        if ENCODER not in named.views:
            return task
        # What they choose is used if names tell labelled documents at least as well as
        # other labels do.
        n, y = task.n_names, task.y[task.n_names :]
        least = (
            left_out_accuracy(self._left_out(task, copies), prior) if len(y) else 0.0
        )
        spaces = named.views[ENCODER], task.seen.views[ENCODER][n:]
        rows, y_chosen = seeds(
            spaces[0], names.y, spaces[1], y, len(self.classes_), least
        )
        chosen = n + len(y) + rows
        every = np.arange(task.seen.terms.shape[0])
        rest = np.delete(every[n:], chosen - n)
        seed_weight = np.full(len(rows), SEED_WEIGHT)
        return replace(
            task,
            seen=task.seen.take(np.concatenate([every[:n], chosen, rest])),
            y=np.concatenate([names.y, y_chosen, y]),
            weight=np.concatenate([names.weight, seed_weight, task.weight[n:]]),
            n_names=n + len(rows),
            n_chosen=len(rows),
        )

    def _calibrated(
        self, task: FewLabels, parts: Sequence[LeftOutPart], weights: Weights
    ) -> float:
        """Scale of the scores, from labelled documents left out in turn (SS8)."""
        # Classes weigh as in the pool, which the labels need not resemble.
        scores = np.concatenate(
            [part.scores(weights, self.prior_correction) for part in parts]
        )
        y_true = np.concatenate([part.y for part in parts])
        rows = np.concatenate([part.rows for part in parts])
        drawn = np.bincount(y_true, minlength=len(self.classes_)) / len(rows)
        weight = self.class_share_[y_true] / drawn[y_true]
        n = len(task.y)
        some = n + rows_by_lot(task.seen.terms.shape[0] - n, _ASKED_POOL)
        views = task.seen.take(some).views
        students = self.students_, self.student_weights_
        pool = total_scores(*students, views, self._offset())
        usual = scale_of_confidence(scores, pool, y_true, weight)
        scale = fit_scale(scores, y_true, weight, usual)
        self.left_out_ = (rows, log_normalize(scale * scores))
        return scale

    @property
    def pool_share(self) -> FloatVector | None:
        """Shares of the classes among labelled documents and pool, if it was used."""
        return self.class_share_ if self.used_pool_ else None

    # -- answering ---------------------------------------------------------------

    @property
    def wanted_of_counter(self) -> Mapping[str, object]:
        """Words of a single document carry nothing from text to text."""
        return {"min_df": self.min_df}

    def _validated(self, X: Rows | MatrixLike) -> Rows:
        if not isinstance(X, Rows):
            return as_rows(canonical_rows(super()._validated(X)))
        check_is_fitted(self)
        if X.n_columns != self.n_features_in_:
            raise DataError(
                f"X has {X.n_columns} columns, but SemiSupervisedClassifier was fitted "
                f"with {self.n_features_in_}."
            )
        return counted_rows(X)

    def _class_scores(self, X: Rows) -> FloatMatrix:
        views = self.views_.transform(X).views
        return self.scale_ * total_scores(
            self.students_, self.student_weights_, views, self._offset()
        )

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """Exact contributions of words and phrases; what had labels is told apart."""
        rows = self._validated(X)
        return [self._parts(rows[i : i + 1]) for i in range(len(rows))]

    def _parts(self, row: Rows) -> ScoreParts:
        """Exact parts of one document's scores."""
        views, seen = self.views_, self.views_.transform(row).views
        linear = seen["words"]
        columns = views.term_columns[linear.indices]
        words = views.words(row)
        places = np.searchsorted(linear.indices, words.indices)
        effects, mean = None, None
        if "tables" in self.students_ and views.tables_ is not None:
            effects, mean = views.tables_.effects(words)
            effects = words.data[:, None] * effects

        def contributions(which: str) -> FloatMatrix:
            weights = getattr(self.students_["words"], which)
            factor = self.student_weights_["words"]
            terms = factor * linear.data[:, None] * weights[linear.indices]
            if effects is not None:
                factor = self.student_weights_["tables"]
                own = effects @ getattr(self.students_["tables"], which)
                terms[places] += factor * own
            return np.asarray(self.scale_ * terms)

        return ScoreParts(
            columns.astype(np.int64),
            contributions("weights_"),
            self._constants(seen, mean),
            labelled=contributions("labelled_weights_"),
        )

    def _constants(
        self, seen: Mapping[str, Matrix], mean: FloatVector | None
    ) -> dict[str, FloatVector]:
        """Prior, bias, and what the encoder and mean documents add as a whole."""
        counts, students = self.student_weights_, self.students_
        bias = [counts[name] * student.offsets_ for name, student in students.items()]
        parts = {"bias": np.sum(bias, axis=0)}
        if self.used_pool_:
            parts["rare-class correction"] = self._offset()
        if mean is not None:
            own = mean @ students["tables"].weights_
            parts["word-vector mean"] = counts["tables"] * own
        if ENCODER in students:
            own = seen[ENCODER][0] @ students[ENCODER].weights_
            parts[ENCODER] = counts[ENCODER] * own
        return {name: self.scale_ * part for name, part in parts.items()}

    def vector_weights(self, row: Rows) -> VectorWeights | None:
        """What the vector of a document is multiplied by."""
        view = self.views_.encoder_
        if ENCODER not in self.students_ or view is None:
            return None
        length = float(np.linalg.norm(row.of("vector") @ view.stretch_)) or 1.0
        factor = self.scale_ * self.student_weights_[ENCODER] / length
        student = self.students_[ENCODER]
        return VectorWeights(
            factor * (view.stretch_ @ student.weights_),
            factor * (view.stretch_ @ student.labelled_weights_),
        )

    def term_weights(self) -> FloatMatrix:
        """Weight of each word and phrase in the student on words, (n_features, K)."""
        columns = self.views_.term_columns
        weights = np.zeros((self.n_features_in_, len(self.classes_)))
        student = self.students_["words"].weights_
        weights[columns[: len(student)]] = student
        return weights

    def _offset(self) -> FloatVector:
        if not self.used_pool_:
            return np.zeros(len(self.classes_))
        return prior_offset(self.class_share_, self.prior_correction)

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report students without a weight."""
        if not self.students_.keys() <= self.student_weights_.keys():
            yield ".student_weights_ do not fit the students"


def n_different(rows: SparseMatrix) -> int:
    """Number of different rows that are not empty; a copy tells nothing new."""
    return len(np.unique(fingerprints(rows)[np.diff(rows.indptr) > 0]))


def as_rows(X: Rows | MatrixLike) -> Rows:
    """A matrix of word counts as rows of one block."""
    if isinstance(X, Rows):
        return X
    return Rows((sparse.csr_array(X, dtype=np.float64),), ("word",))


def counted_rows(X: Rows) -> Rows:
    """The same rows with counts as real numbers, each column once and in order."""
    blocks = [
        block
        if kind == "vector"
        else canonical_rows(sparse.csr_array(block, dtype=np.float64))
        for block, kind in zip(X.blocks, X.kinds, strict=True)
    ]
    return Rows(tuple(blocks), X.kinds)


def _chosen(classifier: Estimator) -> Any:
    """None for the built-in softmax regression, else what was given."""
    return None if isinstance(classifier, str) else classifier


MODEL = Model(
    "semi-supervised",
    SemiSupervisedClassifier,
    "for few labels and much unlabelled text: self-training on several views",
    views=("word", "phrase", "vector"),
    takes=("random_state",),
    columns_from_pool=True,
)
