"""SemiSupervisedClassifier: few labels, many documents."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone

from earmark.exceptions import DataError
from earmark.kernels.logspace import log_normalize
from earmark.kernels.rows import canonical_rows
from earmark.models.base import LogitClassifier
from earmark.models.protocols import ScoreParts
from earmark.models.semi_supervised._calibration import cross_fitted, fit_scale
from earmark.models.semi_supervised._explain import document_parts
from earmark.models.semi_supervised._features import (
    VECTOR,
    WORD,
    RecipeFeatures,
    make_view,
)
from earmark.models.semi_supervised._guard import n_different, pool_is_useful
from earmark.models.semi_supervised._parameters import (
    check_parameters,
    choose_recipe,
    column_kinds,
)
from earmark.models.semi_supervised._recipe import (
    Learned,
    Material,
    Recipe,
    learn,
    prior_offset,
    total_scores,
)
from earmark.models.semi_supervised._targets import checked_few_labels
from earmark.models.semi_supervised.students import LinearStudent
from earmark.typing import (
    FloatMatrix,
    FloatVector,
    IntVector,
    Labels,
    Matrix,
    MatrixLike,
)

__all__ = ["SemiSupervisedClassifier"]

# The recipe is repeated for calibration on at most so many pool documents.
_CALIBRATION_POOL = 2000


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
        below a mean of 50 counted words a document. Short texts get more steps, a
        second student on word vectors, and phrases where there are some.
    n_steps : int or None, default=None
        Steps of naive Bayes over the pool; None is 1 for long, 10 for short texts.
    pool_weight : float or None, default=None
        What a pool document counts in these steps, a labelled one counting 1; None
        is 0.5 for long and 0.2 for short texts.
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
    terms : sequence of str or None, default=None
        The term of each column; needed by the view "subword", which is left out
        without it.
    kinds : array-like of int or None, default=None
        What each column is: 0 the count of a word, 1 the count of a phrase, which
        only the student sees, 2 a number of a sentence encoder, which is a view
        and a student of its own. None: all are words.
    random_state : int or None, default=None
        Seed of projections and folds; None is 0.

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

    left_out_: tuple[IntVector, FloatMatrix] | None = None

    def __init__(
        self,
        views: Any = "auto",
        student: Any = "softmax",
        *,
        voter: Any = "softmax",
        recipe: str = "auto",
        n_steps: int | None = None,
        pool_weight: float | None = None,
        prior_correction: float = 0.2,
        calibration_folds: int = 3,
        min_pool: int = 500,
        min_pool_ratio: float = 2.0,
        n_components: int = 100,
        min_df: int = 2,
        terms: Any = None,
        kinds: Any = None,
        random_state: int | None = None,
    ) -> None:
        self.views = views
        self.student = student
        self.voter = voter
        self.recipe = recipe
        self.n_steps = n_steps
        self.pool_weight = pool_weight
        self.prior_correction = prior_correction
        self.calibration_folds = calibration_folds
        self.min_pool = min_pool
        self.min_pool_ratio = min_pool_ratio
        self.n_components = n_components
        self.min_df = min_df
        self.terms = terms
        self.kinds = kinds
        self.random_state = random_state

    # -- learning --------------------------------------------------------------

    def fit(self, X: MatrixLike, y: Any) -> Self:
        """Learn from counts X and labels y, None where a document has no label."""
        return self._fit(X, y, None)

    def _fit(self, X: MatrixLike, y: Any, label_weight: Any) -> Self:
        """As ``fit``, with a weight for each labelled document."""
        check_parameters(self)
        X, y, labelled = self._checked(X, y)
        self.classes_, y_index = np.unique(y[labelled], return_inverse=True)
        pool = np.setdiff1d(np.arange(X.shape[0]), labelled)
        self.used_pool_ = pool_is_useful(
            len(labelled), n_different(X[pool]), self.min_pool, self.min_pool_ratio
        )
        if not self.used_pool_:
            return self._fit_labelled(X[labelled], y_index, label_weight)
        return self._fit_pool(
            X[np.concatenate([labelled, pool])], y_index, label_weight
        )

    def _fit_labelled(self, X: Matrix, y: IntVector, label_weight: Any) -> Self:
        """The student on the labelled documents alone."""
        self.recipe_ = "labelled documents only"
        self.features_ = RecipeFeatures(self._kinds(X), min_df=1).fit(X)
        words = self.features_.words(X)
        student = LinearStudent(_chosen(self.student)).fit(words, y, label_weight)
        self.students_ = {"words": student}
        self.student_weights_ = {"words": 1.0}
        self.encoder_share_: float | None = None
        self.class_share_ = np.full(len(self.classes_), 1.0 / len(self.classes_))
        self.scale_ = 1.0
        self.left_out_ = None
        return self

    def _fit_pool(self, X: Matrix, y: IntVector, label_weight: Any) -> Self:
        """The recipe; the labelled documents are the first rows of X (SS3)."""
        words = np.flatnonzero(self._kinds(X) == WORD)
        recipe = choose_recipe(self, X[:, words].sum() / X.shape[0])
        self.recipe_ = recipe.name
        made = RecipeFeatures(self._kinds(X), self.min_df, recipe.phrases)
        self.features_ = made.fit(X)
        views = self._made_views(recipe)
        material = self.features_.material(X, views, recipe)
        learned = self._learned(material, y, recipe, label_weight)
        self.students_ = learned.students
        self.student_weights_ = learned.student_weights
        self.encoder_share_ = learned.encoder_share
        self.class_share_ = learned.class_share
        self.scale_ = self._calibrated(material, y, recipe, learned, label_weight)
        return self

    def _learned(
        self,
        material: Material,
        y: IntVector,
        recipe: Recipe,
        label_weight: Any,
        pool_factor: float = 1.0,
    ) -> Learned:
        return learn(
            material,
            y,
            len(self.classes_),
            recipe,
            student=_chosen(self.student),
            voter=_chosen(self.voter),
            label_weight=label_weight,
            pool_factor=pool_factor,
        )

    def _made_views(self, recipe: Recipe) -> dict[str, Any]:
        terms = None
        if self.terms is not None:
            terms = np.asarray(self.terms, dtype=object)[self.features_.words_]
        made = {}
        for i, view in enumerate(recipe.views):
            name = view if isinstance(view, str) else f"view {i}"
            view = view if isinstance(view, str) else clone(view)
            made[name] = make_view(view, self.n_components, terms, self._seed())
        return made

    def _calibrated(
        self,
        material: Material,
        y: IntVector,
        recipe: Recipe,
        learned: Learned,
        label_weight: Any,
    ) -> float:
        """Scale of the scores, from labelled documents held out in turn.

        Classes weigh as in the pool, which the labels need not resemble.
        """
        self.left_out_ = None
        if not self.calibration_folds:
            return 1.0
        n_labelled = len(y)
        n_pool = material.terms.shape[0] - n_labelled
        rng = np.random.default_rng(self._seed())
        size = min(n_pool, _CALIBRATION_POOL)
        pool = n_labelled + np.sort(rng.choice(n_pool, size, replace=False))

        def score_without(kept: IntVector, held_out: IntVector) -> FloatMatrix:
            weight = None if label_weight is None else np.asarray(label_weight)[kept]
            part = material.take(np.concatenate([kept, pool]))
            again = self._learned(part, y[kept], recipe, weight, n_pool / size)
            return total_scores(
                again.students,
                again.student_weights,
                material.take(held_out).students,
                prior_offset(again.class_share, self.prior_correction),
            )

        rows, scores = cross_fitted(
            y, score_without, self.calibration_folds, self._seed()
        )
        drawn = np.bincount(y[rows], minlength=len(self.classes_)) / max(len(rows), 1)
        weight = learned.class_share[y[rows]] / drawn[y[rows]]
        scale = fit_scale(scores, y[rows], weight)
        if len(rows):
            self.left_out_ = (rows, log_normalize(scale * scores))
        return scale

    # -- answering ---------------------------------------------------------------

    def _class_scores(self, X: Matrix) -> FloatMatrix:
        features = self._student_features(canonical_rows(X))
        return self.scale_ * total_scores(
            self.students_, self.student_weights_, features, self._offset()
        )

    def score_parts(self, X: MatrixLike) -> list[ScoreParts]:
        """Exact contributions of words and phrases; what had labels is told apart."""
        rows = canonical_rows(self._validated(X))
        return [document_parts(self, rows[[i]]) for i in range(rows.shape[0])]

    def term_weights(self) -> FloatMatrix:
        """Weight of each word and phrase in the student on words, (n_features, K)."""
        columns = np.concatenate([self.features_.words_, self.features_.phrases_])
        weights = np.zeros((self.n_features_in_, len(self.classes_)))
        student = self.students_["words"].weights_
        weights[columns[: len(student)]] = student
        return weights

    def _offset(self) -> FloatVector:
        if not self.used_pool_:
            return np.zeros(len(self.classes_))
        return prior_offset(self.class_share_, self.prior_correction)

    def _student_features(self, rows: Matrix) -> dict[str, Matrix]:
        if not self.used_pool_:
            return {"words": self.features_.words(rows)}
        return self.features_.students(rows)

    # -- checks --------------------------------------------------------------------

    def _checked(self, X: MatrixLike, y: Any) -> tuple[Matrix, Labels, IntVector]:
        rows, labels, labelled = checked_few_labels(self, X, y)
        counts = rows[:, np.flatnonzero(self._kinds(rows) != VECTOR)]
        if counts.nnz and counts.data.min() < 0:
            raise DataError("Negative values in data: X must hold counts.")
        return rows, labels, labelled

    def _kinds(self, X: Matrix) -> IntVector:
        return column_kinds(self.kinds, X.shape[1])

    def _seed(self) -> int:
        return 0 if self.random_state is None else int(self.random_state)

    def _takes_counts(self) -> bool:
        return True


def _chosen(classifier: Any) -> Any:
    """None for the built-in softmax regression, else what was given."""
    return None if isinstance(classifier, str) else classifier
