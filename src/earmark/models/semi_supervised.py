"""SemiSupervisedClassifier: few labels, many documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Annotated, Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from earmark.exceptions import DataError
from earmark.features.columns import SHORT_TEXT, ColumnTable, Rows
from earmark.features.scoring import ScoreParts
from earmark.folds import class_keeping_folds, rows_by_lot
from earmark.kernels.rows import canonical_rows, log_normalize, require_counts
from earmark.models.base.classifier import (
    LogitClassifier,
    document_weights,
    require_weighted,
)
from earmark.models.base.declaration import Model
from earmark.models.shared.pool_em import checked_few_labels
from earmark.models.shared.recipe import (
    MIN_POOL,
    MIN_POOL_RATIO,
    ENCODER,
    LONG,
    SHORT,
    HeldOut,
    Lesson,
    LinearStudent,
    Names,
    Recipe,
    Weights,
    fit_scale,
    n_different,
    name_weights,
    pool_is_useful,
    prior_offset,
    total_scores,
    weights_by_evidence,
)
from earmark.models.shared.views import (
    RecipeFeatures,
    document_parts,
    encoder_by_words,
    make_view,
)
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
    Labels,
    LabelsLike,
    MatrixLike,
    RandomStateLike,
    SparseMatrix,
    WeightsLike,
)


def choose_recipe(model: Estimator, mean_tokens: float, has_terms: bool) -> Recipe:
    """Long or short by mean tokens a document; views and steps as asked for."""
    is_short = mean_tokens < SHORT_TEXT if model.recipe == "auto" else None
    recipe = SHORT if is_short or model.recipe == "short" else LONG
    wanted = recipe.views if isinstance(model.views, str) else tuple(model.views)
    if isinstance(model.views, str) and not has_terms:
        wanted = tuple(name for name in wanted if name != "subword")
    return replace(
        recipe,
        views=wanted,
        n_steps=recipe.n_steps if model.max_iter is None else model.max_iter,
        pool_weight=(
            recipe.pool_weight if model.pool_weight is None else model.pool_weight
        ),
        supervised_weight=recipe.supervised_weight if "tfidf" in wanted else 0.0,
    )


# The recipe is repeated for calibration on at most so many pool documents.
_CALIBRATION_POOL = 2000
# Up to so many labelled documents, more folds leave more of them to learn from.
_FEW = 300


@estimator
class SemiSupervisedClassifier(LogitClassifier):
    """Learn from few labels and a pool of documents without any.

    Several views of the documents, learned from all of them, label the pool
    together with one or more steps of naive Bayes. Linear students then learn from
    the labelled documents and the pool, each document weighted by how sure its
    label is. Where the pool is too small to help, the student learns from the
    labelled documents alone.

    Parameters
    ----------
    views : "auto" or tuple of str or transformers, default="auto"
        How the voters see the documents. Names are "tfidf", "lsa", "ppmi",
        "ppmi-full", "ppmi-unit" and "subword"; "auto" takes ("tfidf", "lsa",
        "ppmi") for long texts and the four others with "tfidf" for short ones.
    student : "softmax" or linear classifier, default="softmax"
        What learns from the labels given to the pool.
    voter : "softmax" or linear classifier, default="softmax"
        What learns from the labelled documents in each view.
    recipe : {"auto", "long", "short"}, default="auto"
        The settings for long or short texts; "auto" takes those for short texts
        below a mean of 50 counted words per document. Short texts get more steps, a
        second student on word vectors, and phrases where there are some.
    max_iter : int or None, default=None
        Steps of naive Bayes over the pool; None is 1 for long, 10 for short texts.
    pool_weight : float or None, default=None
        What a pool document counts in these steps, a labelled one counting 1; None
        is 0.5 for long and 0.2 for short texts.
    name_weight : float, default=3.0
        What the names of a class without a label count together, a labelled document
        counting 1; less and less as it gets labels. 0 leaves them out.
    prior_correction : float, default=0.2
        How much of the logarithm of a class's share is taken off its score, so
        that rare classes are not swallowed.
    calibration_folds : int, default=3
        Parts of the labelled documents that are held out in turn to learn how sure
        the student may be; 0 leaves its own probabilities, which are too sure.
    min_pool, min_pool_ratio : int and float, default=500 and 2.0
        The pool is used if it has so many different documents, and so many for
        each labelled one.
    n_components : int, default=100
        Length of the dense views' vectors.
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
    recipe_ : str
        "long texts", "short texts" or "labelled documents only".
    students_ : dict of str to LinearStudent
        The linear models whose weighted sum decides.
    class_share_ : ndarray of shape (n_classes,)
        Share of each class among labelled documents and pool.
    n_iter_ : int
        Steps of naive Bayes over the pool; 1 where the pool was not used.
    scale_ : float
        Factor on the scores that makes them probabilities.
    student_weights_ : dict of str to float
        What each student counts in the sum.
    encoder_share_ : float or None
        What the vectors of an encoder count in the vote and among the students,
        learned from the labelled documents; None without an encoder.
    left_out_ : tuple (rows, log probabilities) or None
        Labelled documents that were held out in turn, by their number among the
        labelled ones, and what was said of them. None where none was held out: too
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
    >>> model.recipe_  # a pool of two documents is not worth using
    'labelled documents only'

    """

    class_share_: Annotated[FloatVector, floats("n_classes", low=0)] = field(init=False)
    features_: Annotated[RecipeFeatures, instance(RecipeFeatures, fitted=True)] = field(
        init=False
    )
    recipe_: str = field(init=False)
    scale_: NotNegative = field(init=False)
    student_weights_: dict[str, NotNegative] = field(init=False)
    students_: dict[str, Annotated[LinearStudent, sizes(n_classes="n_classes")]] = (
        field(init=False)
    )
    used_pool_: bool = field(init=False)
    n_iter_: int = 1

    _takes_counts = True
    takes_rows = True
    views: Any = field(default="auto", kw_only=False)
    student: Annotated[Estimator, in_file(either(text(), classifier(fitted=False)))] = (
        field(default="softmax", kw_only=False)
    )
    voter: Annotated[Estimator, in_file(either(text(), classifier(fitted=False)))] = (
        "softmax"
    )
    recipe: Literal["auto", "long", "short"] = "auto"
    max_iter: AtLeastOne | None = None
    pool_weight: Positive | None = None
    name_weight: NotNegative = 3.0
    prior_correction: NotNegative = 0.2
    calibration_folds: Annotated[int, Limits(0)] = 3
    min_pool: AtLeastOne = 500
    min_pool_ratio: NotNegative = 2.0
    n_components: AtLeastOne = 100
    min_df: AtLeastOne = 2
    random_state: RandomStateLike = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.views, str) and self.views != "auto":
            raise ValueError(
                "SemiSupervisedClassifier.views must be 'auto' or a tuple of views, "
                f"got {self.views!r}."
            )

    # -- learning --------------------------------------------------------------

    def fit(
        self,
        X: Rows | MatrixLike,
        y: LabelsLike,
        sample_weight: WeightsLike = None,
        *,
        columns: ColumnTable | None = None,
        unlabelled: Rows | MatrixLike | None = None,
        copies: IntVector | None = None,
        names: tuple[Rows | MatrixLike, Sequence[object]] | None = None,
    ) -> Self:
        """Learn from counts X and labels y, None where a document has no label.

        Parameters
        ----------
        X : Rows, or {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents, labelled or not. A matrix holds counts of words; ``Rows`` may
            have phrases beside them, which only the student sees, and the vectors of
            an encoder, which are a view and a student of their own.
        y : array-like of shape (n_samples,)
            Labels; None marks a document of the pool.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the labelled documents; those of the pool are not looked at.
        columns : ColumnTable, default=None
            The term of each column; needed by the view "subword", which is left out
            without it.
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
        self.left_out_ = None
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
        terms = None if columns is None else columns.term
        return self._fit_pool(everything, y_index, weight, terms, copies, weak)

    def _fit_labelled(self, X: Rows, y: IntVector, weight: FloatVector) -> Self:
        """The student on the labelled documents alone."""
        self.recipe_, self.n_iter_ = "labelled documents only", 1
        self.features_ = RecipeFeatures(min_df=1).fit(X, weight)
        words = self.features_.words(X)
        student = LinearStudent(_chosen(self.student)).fit(words, y, weight)
        self.students_ = {"words": student}
        self.student_weights_ = {"words": 1.0}
        self.encoder_share_: float | None = None
        self.class_share_ = np.full(len(self.classes_), 1.0 / len(self.classes_))
        self.scale_ = 1.0
        return self

    def _fit_pool(
        self,
        X: Rows,
        y: IntVector,
        weight: FloatVector,
        terms: Labels | None,
        copies: IntVector | None,
        names: Names | None,
    ) -> Self:
        """The recipe; the labelled documents are the first rows of X (SS3)."""
        mean_tokens = X.blocks[0].sum() / len(X)
        recipe = choose_recipe(self, mean_tokens, terms is not None)
        self.recipe_, self.n_iter_ = recipe.name, recipe.n_steps
        seed = seed_of(self.random_state)
        self.features_ = RecipeFeatures(self.min_df, recipe.phrases).fit(X)
        views = self._made_views(recipe, terms, seed)
        material = self.features_.material(X, views, recipe, names)
        n_names = 0 if names is None else len(names.y)
        if names is not None:
            y = np.concatenate([names.y, y])
            weight = np.concatenate([names.weight, weight])
        learners = _chosen(self.voter), _chosen(self.student)
        n_classes = len(self.classes_)
        lesson = Lesson(material, y, weight, n_classes, recipe, *learners, n_names)
        parts = []
        if self.calibration_folds or recipe.phrases or ENCODER in material.views:
            parts = self._held_out(lesson, seed, copies)
        weights = weights_by_evidence(parts, recipe, material.views)
        learned = lesson.learned(*lesson.votes(), weights)
        self.students_ = learned.students
        self.student_weights_ = learned.student_weights
        self.encoder_share_ = weights.encoder_share
        self.class_share_ = learned.class_share
        self.scale_ = (
            self._calibrated(parts, weights) if self.calibration_folds else 1.0
        )
        return self

    def _held_out(
        self, lesson: Lesson, seed: int, copies: IntVector | None
    ) -> list[HeldOut]:
        """Votes learned without some labels at a time, never without names."""
        y, n_names = lesson.y, lesson.n_names
        n_folds = self.calibration_folds or 3
        if ENCODER in lesson.material.views and len(y) - n_names <= _FEW:
            n_folds = max(n_folds, 5)
        n_pool = lesson.material.terms.shape[0] - len(y)
        pool = len(y) + rows_by_lot(n_pool, _CALIBRATION_POOL, seed)
        parts = []
        for learned, rows in class_keeping_folds(y[n_names:], n_folds, seed, copies):
            learned = np.concatenate([np.arange(n_names), n_names + learned])
            order = np.concatenate([learned, n_names + rows, pool])
            part = replace(
                lesson,
                material=lesson.material.take(order),
                y=y[learned],
                weight=lesson.weight[learned],
                pool_factor=n_pool / len(pool),
            )
            parts.append(HeldOut(rows, y[n_names + rows], part, *part.votes()))
        return parts

    def _made_views(
        self, recipe: Recipe, terms: Labels | None, seed: int
    ) -> dict[str, Any]:
        words = self.features_.words_
        names = None if terms is None else np.asarray(terms, dtype=object)[words]
        views = {}
        for i, view in enumerate(recipe.views):
            name = view if isinstance(view, str) else f"view {i}"
            view = view if isinstance(view, str) else clone(view)
            views[name] = make_view(view, self.n_components, names, seed)
        return views

    def _calibrated(self, parts: Sequence[HeldOut], weights: Weights) -> float:
        """Scale of the scores, from labelled documents held out in turn."""
        # Classes weigh as in the pool, which the labels need not resemble.
        if not parts:
            return 1.0
        scores = np.concatenate([self._scores_of(part, weights) for part in parts])
        y_true = np.concatenate([part.y for part in parts])
        rows = np.concatenate([part.rows for part in parts])
        drawn = np.bincount(y_true, minlength=len(self.classes_)) / len(rows)
        scale = fit_scale(scores, y_true, self.class_share_[y_true] / drawn[y_true])
        self.left_out_ = (rows, log_normalize(scale * scores))
        return scale

    def _scores_of(self, part: HeldOut, weights: Weights) -> FloatMatrix:
        """Scores of the documents held out, which the students have not seen."""
        lesson, n = part.lesson, len(part.y)
        held_out = len(lesson.y) + np.arange(n)
        others = np.delete(np.arange(lesson.material.terms.shape[0]), held_out)
        known = replace(lesson, material=lesson.material.take(others))
        votes = {name: vote[n:] for name, vote in part.votes.items()}
        learned = known.learned(part.voters, votes, weights, remember=False)
        return total_scores(
            learned.students,
            learned.student_weights,
            lesson.material.take(held_out).students,
            prior_offset(learned.class_share, self.prior_correction),
        )

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
        rows = X
        if self.used_pool_:
            features = self.features_.students(rows)
        else:
            features = {"words": self.features_.words(rows)}
        return self.scale_ * total_scores(
            self.students_, self.student_weights_, features, self._offset()
        )

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """Exact contributions of words and phrases; what had labels is told apart."""
        rows = self._validated(X)
        one_by_one = (rows[i : i + 1] for i in range(len(rows)))
        return [document_parts(self, row) for row in one_by_one]

    def vectors_by_word(
        self, parts: ScoreParts, words: SparseMatrix, table: FloatMatrix
    ) -> ScoreParts:
        """What vectors add, word by word, if a document's is ``words @ table``."""
        if "encoder" not in self.students_:
            return parts
        return encoder_by_words(self, parts, words, table)

    def term_weights(self) -> FloatMatrix:
        """Weight of each word and phrase in the student on words, (n_features, K)."""
        columns = self.features_.term_columns
        weights = np.zeros((self.n_features_in_, len(self.classes_)))
        student = self.students_["words"].weights_
        weights[columns[: len(student)]] = student
        return weights

    def _offset(self) -> FloatVector:
        if not self.used_pool_:
            return np.zeros(len(self.classes_))
        return prior_offset(self.class_share_, self.prior_correction)

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Every student has a weight."""
        if not self.students_.keys() <= self.student_weights_.keys():
            yield ".student_weights_ do not fit the students"


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
    "few labels and many documents without: views label the pool, students learn",
    views=("word", "phrase", "vector"),
    takes=("random_state",),
    columns_from_pool=True,
)
