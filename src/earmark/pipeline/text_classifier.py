"""TextClassifier: raw strings in, decisions out; the object that users save."""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field, replace
from operator import index
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from earmark.decision.abstaining import Confidence, ErrorRate, Promising
from earmark.decision.any_of import offered_if
from earmark.decision.decision import (
    Decision,
    Scores,
    indicator_answers,
    one_of_decision,
    rank,
    with_abstain_label,
)
from earmark.decision.evidence import Evidence, Judge, Training
from earmark.decision.guarantee import Coverages, several_words, words_per_label
from earmark.decision.novelty import USUAL_LEVEL, NoveltyDetector
from earmark.encoders.by_name import Encoder, require_encoder
from earmark.evaluation.report.text import ForeignDocuments, telling_documents
from earmark.exceptions import (
    DataError,
    EarmarkWarning,
    NotSupportedError,
    UnavailableError,
)
from earmark.folds import take
from earmark.missing import is_missing
from earmark.models.registry import BuildOptions
from earmark.parameters import (
    Jobs,
    Limits,
    Verbosity,
    check_declared,
    seed_of,
    with_parameters,
)
from earmark.pipeline.choice import (
    Data,
    build_engine,
    choose,
    class_name_words,
    encoder_words,
    model_name,
    with_pool,
)
from earmark.pipeline.count_engine import CountEngine
from earmark.pipeline.explanation import (
    Explanation,
    explain_documents,
    hidden_nodes,
    telling_terms,
)
from earmark.pipeline.inputs import (
    BY_CHARACTERS,
    SINGLE,
    RegionTexts,
    Target,
    as_region_texts,
    as_target,
    fitting_features,
    joined,
    n_documents,
    require_same_kind,
    warn_of_new_labels,
    with_regions,
)
from earmark.pipeline.matrix_engine import Engine, More, SemiEngine
from earmark.statistics.class_statistics import checked_weights, require_known_labels
from earmark.text.class_names import ClassNames
from earmark.text.containers import as_list
from earmark.typing import (
    DocumentsLike,
    FloatMatrix,
    FloatVector,
    IntVector,
    JsonObject,
    Labels,
    LabelsLike,
    RandomStateLike,
    WeightsLike,
)

if TYPE_CHECKING:
    from earmark.evaluation import Report
    from earmark.models.hierarchical import HiddenNodes

_LABELS_TOLD = 20  # labels whose promise summary() tells one by one


NoveltyRate: TypeAlias = Annotated[
    float, Limits(0, 0.999, True, "a share of ordinary documents, such as 0.05")
]
Seconds: TypeAlias = Annotated[
    float, Limits(0, open_low=True, hint="a number of seconds")
]


def _offered(name: str) -> offered_if:
    """Offer a method only where the model can do it."""

    def check(classifier: TextClassifier) -> None:
        refusal = classifier._refusals().get(name)
        if refusal is not None:
            raise UnavailableError(refusal)

    return offered_if(check)


@with_parameters()
class TextClassifier(Promising, ClassifierMixin, BaseEstimator):
    """Classify raw text: read, count, fit, decide, explain, save.

    Parameters
    ----------
    model : str or classifier, default="auto"
        A model name (``earmark info --models`` lists them), or any scikit-learn
        classifier, which is then fitted on tf-idf.
    regions : None, list of str, "email" or callable, default=None
        How a document falls into regions: columns of a frame or dict, the subject
        and body of a mail, or a function from a text to a dict of regions.
    features : None, dict or vectorizer, default=None
        Parameters of ``WordCounter``, such as ``{"ngram_range": (1, 2)}``, or a
        vectorizer of your own. None counts words, or in scripts without spaces
        (Chinese, Japanese, Thai) characters and pairs of them. A dict may also hold
        ``"substitutions": ("number", "address")``, which puts one token for every
        number and mail address, and ``"stemmer": "english"``.
    encoder : str or callable, default=None
        One more view of the documents for ``semi-supervised``:
        ``"model2vec:NAME-OR-PATH"``, ``"fastembed:NAME"``,
        ``"sentence-transformers:NAME-OR-PATH"``, ``"minilm"`` (all-MiniLM-L6-v2 by
        whichever of the last two is installed), ``"words:"`` before one of these to
        read the vocabulary instead of the documents, or a function from a list of
        texts to an array of vectors. A name is stored in a model file; a function is
        not: save with ``allow_callables=True`` and give it again to ``load``, which
        compares its vectors of eight fixed sentences.
    class_names : "auto", None or dict, default="auto"
        What the classes are about: weak documents for ``semi-supervised``, which count
        less and less as labels come. "auto" takes the words of the labels that occur
        in the texts and leaves codes alone; a dict has a text, or a list of texts, for
        a label, and the other labels' own words. With names ``fit`` needs no labels.
    multi_label : "auto" or bool, default="auto"
        Whether a document may have several labels. "auto": if labels are lists.
    max_error : float in (0, 1), default=None
        Abstain (answer None) so that at most this share of the answers is wrong.
        Promised if ``fit`` gets calibration documents, else an estimate.
    confidence : float in (0, 1), default=0.95
        How surely ``max_error`` is to hold.
    min_coverage : float or sequence of float in [0, 1], optional
        Smallest shares of documents worth answering, 0.1, 0.25 and 0.5 by default.
        Choose before looking at the labels of the calibration documents.
    learn_confidence : bool, default=False
        Learn from the training documents, each left out, how likely the best label is
        right, and rank the answers by that where it was measured to help; see
        ``AbstainingClassifier``. For one label per document. A model without
        ``leave_one_out`` is fitted five times more.
    abstain_label : label, default=None
        What ``predict`` gives where it abstains. Metrics of scikit-learn take labels
        of one type only: "" for texts, -1 for numbers.
    max_novelty : float in (0, 1), default=None
        Abstain on documents unlike the training documents, so that at most this
        share of ordinary documents is called foreign. ``decide`` then has p-values.
    budget : float, default=None
        Seconds of processor time that ``model="auto"`` may take, for comparing models
        and for fitting the best; models that would take longer, measured on a
        sample, are left out. None: 60, and more for unlabelled documents.
    class_weight : None, "balanced" or dict, default=None
        Factor on the documents of each class.
    random_state : int, RandomState, Generator or None, default=None
        Random seed of the model, or where to draw it from.
    n_jobs : int or None, default=None
        Threads for counting, and for several labels per document; never changes the
        result.
    verbose : int, default=0
        1 shows on a terminal how far a fit is, for hierarchical models and for
        several labels per document.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    model_name_ : str
        The model that was chosen.
    novelty_ : NoveltyDetector or None
        What tells documents from elsewhere, if ``max_novelty`` was set.
    reasons_ : list of str
        Why it was chosen, and what was used.
    is_multi_label_ : bool
        Whether a document may have several labels.
    region_names_ : list of str or None
        The regions the model was trained on; None for a single text.
    learned_confidence_ : LearnedConfidence or None
        What ranks the answers instead of log-odds, where it helps.
    evidence_ : Evidence or None
        Answers to documents that the model had not seen; None if not measured.
    thresholds_, threshold_, coverage_, guaranteed_error_, estimated_error_, n_missing_
        What ``max_error`` comes to, as in ``AbstainingClassifier``.
    n_columns_ : int or None
        Width of y, if it was a matrix of 0 and 1.
    seed_ : int
        What ``random_state`` came to; None is 0.
    engine_ : object
        The fitted model with its features.

    Examples
    --------
    >>> texts = ["cheap pills now", "meeting at noon", "cheap watches", "lunch at noon"]
    >>> labels = ["spam", "ham", "spam", "ham"]
    >>> classifier = TextClassifier(model="multinomial").fit(texts, labels)
    >>> classifier.predict(["cheap lunch pills"])
    array(['spam'], dtype='<U4')

    """

    engine_: Engine = field(init=False)
    classes_: Labels = field(init=False)
    _how_to_measure = (
        "fit with max_error set (earmark train --max-error), with calibration=(X, y), "
        "or call measure_confidence with the training documents; what was known is "
        "gone after partial_fit and forget"
    )
    novelty_: NoveltyDetector | None = None
    model_name_: str = field(init=False)
    reasons_: list[str] = field(init=False)
    seed_: int | None = None
    n_columns_: int | None = None

    model: Any = field(default="auto", kw_only=False)
    regions: Any = None
    features: Any = None
    encoder: Encoder | None = None
    class_names: Mapping[Any, Any] | str | None = "auto"
    multi_label: Any = "auto"
    max_error: ErrorRate | None = None
    confidence: Confidence = 0.95
    min_coverage: Coverages = None
    learn_confidence: bool = False
    abstain_label: Any = None
    max_novelty: NoveltyRate | None = None
    budget: Seconds | None = None
    class_weight: Any = None
    random_state: RandomStateLike = None
    n_jobs: Jobs = None
    verbose: Verbosity = 0

    # -- learning --------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        classes: Sequence[Hashable] | None = None,
        unlabelled: Any = None,
        validation: Any = None,
        calibration: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn from texts X and labels y, or from the names of the classes.

        Parameters
        ----------
        X : sequence of str, or frame or dict of region columns
            The documents.
        y : sequence of labels, optional
            One for each document; None marks an unlabelled one. Lists of labels
            ask for any-of classification. Without any label the class names are all
            there is to learn from: the accuracy is then unknown.
        classes : sequence of labels, optional
            Classes there are to be, also those that no document has as its label.
        unlabelled : like X, optional
            More documents without labels.
        validation : pair (X, y), optional
            Documents to choose settings on, for the models that choose some.
        calibration : pair (X, y), optional
            Documents that take no part in fitting; with ``max_error`` they turn
            the estimate into a guarantee.
        sample_weight : array-like of shape (n_documents,), optional
            Weight of each document.

        """
        self._check_promise()
        if self.encoder is not None:
            require_encoder(self.encoder)
        texts = self._texts(X, new=True)
        if isinstance(classes, str):
            raise DataError(f"classes must be a list of labels, got {classes!r}.")
        options = self._new_options(() if classes is None else classes)
        target = self._target(y, n_documents(texts), options.names)
        weight = _labelled_weights(sample_weight, target, n_documents(texts))
        labelled, pool = self._split(texts, target, unlabelled)
        features = fitting_features(self.features, texts)
        data = Data(features, options, labelled, target, pool, weight, self.budget)
        choice = choose(self.model, data)
        engine = choice.engine
        reasons = list(choice.reasons)
        if not choice.is_fitted:
            held_out = self._pair(validation, "validation", texts)
            more = More(weight, pool, held_out, choice.counted)
            engine.fit(labelled, target.labels, more)
            right = engine.left_out_right(target.labels)
            reasons += [] if right is None else [with_pool(right)]
        if len(target.unlabelled):
            engine.keep_rows(target.labelled)
        if features is not self.features:
            reasons.append(BY_CHARACTERS)
        if self.encoder is not None:
            reasons.append(encoder_words(engine))
        if options.names.labels or isinstance(engine, SemiEngine):
            reasons += class_name_words(engine, options.names, target.labels)
        self._adopt(engine, choice.name, reasons, target.n_columns)
        if self.max_novelty is not None:
            self._learn_ordinary(labelled, target.labels, pool)
        training = labelled, target.labels, weight, pool
        if self.learn_confidence and not self.is_multi_label_ and len(target.labels):
            learned = self._training(*training).learned_confidence(self.classes_)
            self.learned_confidence_, self.class_sizes_ = learned
        if calibration is not None:
            pair = self._pair(calibration, "calibration", texts)
            assert pair is not None
            require_same_kind(pair[1], target, "calibration")
            warn_of_new_labels(pair[1], self.classes_, "calibration", required=True)
            novelty = None if self.novelty_ is None else self._novelty
            judge = self._judge()
            self.evidence_ = judge.calibration(engine, labelled, *pair, novelty)
        elif self.max_error is not None:
            self.evidence_ = self._training(*training).evidence(self._judge())
        return self

    def _target(self, y: LabelsLike, n: int, names: ClassNames) -> Target:
        """The labels; none at all where classes are named."""
        if y is not None and not (names.labels and all(map(is_missing, as_list(y)))):
            target = as_target(y, n, self.multi_label)
            _require_two_classes(target, names)
            if not target.multi_label:
                labels = np.unique(target.labels).tolist()
                require_known_labels(self.class_weight, [*labels, *names.labels])
            return target
        if len(names.labels) < 2:
            raise DataError(
                f"y is missing, and so are the names of at least 2 classes, got "
                f"{len(names.labels)}: give labels for some documents, or "
                "classes=[...] or class_names={label: text}."
            )
        if self.multi_label is True or self.max_error is not None:
            asked = "multi_label" if self.multi_label is True else "max_error"
            raise DataError(
                f"{asked} needs labelled documents, got none: class names tell nothing "
                "about the accuracy; label some documents first (earmark label)."
            )
        nothing = np.empty(0, dtype=np.int64)
        return Target(nothing, np.array([], dtype=object), n, multi_label=False)

    def measure_confidence(
        self,
        X: DocumentsLike,
        y: LabelsLike,
        sample_weight: WeightsLike = None,
        *,
        unlabelled: DocumentsLike = None,
    ) -> Self:
        """Estimate the accuracy of the answers, from the documents it was fitted on.

        Each document is judged by the model without it: leave-one-out where that
        is exact, else in folds; near-duplicates count once, and none is judged by a
        model that has seen another. A model that uses unlabelled documents is judged
        with them. ``max_error`` then works on an estimate; only
        ``fit(..., calibration=...)`` gives a guarantee.
        """
        texts, target = self._fitted_pair(X, y)
        weight = _labelled_weights(sample_weight, target, n_documents(texts))
        labelled, pool = self._split(texts, target, unlabelled)
        known = labelled, target.labels, weight, pool
        self.evidence_ = self._training(*known).evidence(self._judge())
        return self

    def measure_novelty(
        self, X: DocumentsLike, y: LabelsLike, *, unlabelled: DocumentsLike = None
    ) -> Self:
        """Learn what ordinary documents look like, from those it was fitted on.

        ``fit`` does so when ``max_novelty`` is set. ``decide`` then has p-values.
        """
        texts, target = self._fitted_pair(X, y)
        labelled, pool = self._split(texts, target, unlabelled)
        self._learn_ordinary(labelled, target.labels, pool)
        return self

    def _learn_ordinary(
        self, texts: RegionTexts, labels: Labels, pool: RegionTexts
    ) -> None:
        """Labelled documents, and the pool under the labels that the model gives."""
        known: list[Any] = labels.tolist()
        if n_documents(pool):
            best = self.engine_.decide(pool).best
            assert best is not None
            known += best.tolist()
        everything: RegionTexts = {n: [*texts[n], *pool[n]] for n in texts}
        features = fitting_features(None, everything) or {}
        detector = NoveltyDetector(**features, n_jobs=self.n_jobs)
        self.novelty_ = detector.fit(joined(everything), known)

    def _novelty(self, texts: RegionTexts) -> FloatVector:
        assert self.novelty_ is not None
        return self.novelty_.p_values(joined(texts))

    def _training(
        self, texts: RegionTexts, y: Labels, weight: Any, pool: RegionTexts
    ) -> Training:
        """The labelled documents; a model that learns from a pool is judged with it."""
        name = self.model_name_ if isinstance(self.model, str) else self.model
        features = self.features
        if features is None:  # what was counted may be a choice of ours
            counted = self.engine_.columns.counter.get_params()
            features = {key: counted[key] for key in ("analyzer", "ngram_range")}
        options = self._options(self.classes_.tolist())

        def fitted(rows: IntVector) -> Engine:
            known = None if weight is None else weight[rows]
            of_fold = options
            if isinstance(self.class_weight, Mapping) and not self.is_multi_label_:
                labels = set(y[rows].tolist())  # a fold may lack a class
                some = {k: w for k, w in self.class_weight.items() if k in labels}
                of_fold = replace(options, class_weight=some)
            engine = build_engine(name, features, of_fold, self.is_multi_label_)
            return engine.fit(take(texts, rows), y[rows], More(known, pool))

        left_out = self.engine_.left_out(texts, y, weight)
        together = isinstance(self.engine_, SemiEngine)
        return Training(texts, y, fitted, left_out, together, weight=weight)

    def _judge(self) -> Judge:
        return Judge(self.classes_, self.is_multi_label_, ranked=self._ranked)

    @_offered("partial_fit")
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn more documents, exactly, for the models that can.

        Give all labels in ``classes`` at the first call if y does not hold them
        all. The result is that of one ``fit`` on all documents.
        """
        texts = self._texts(X)
        target = as_target(y, n_documents(texts), self.multi_label)
        if len(target.unlabelled):
            raise DataError(
                f"y, row {target.unlabelled[0]}: partial_fit needs a label for every "
                "document."
            )
        if "engine_" not in vars(self):
            name = "multinomial" if self.model == "auto" else self.model
            features = fitting_features(self.features, texts)
            engine = build_engine(name, features, self._new_options())
            assert isinstance(engine, CountEngine)
            engine.partial_fit(texts, target.labels, classes)
            reasons = ["updated document by document"]
            reasons += [] if features is self.features else [BY_CHARACTERS]
            self._adopt(engine, model_name(name), reasons)
        else:
            assert isinstance(self.engine_, CountEngine)
            self.engine_.partial_fit(texts, target.labels, classes)
            self._outdate()
        return self

    @_offered("forget")
    def forget(self, X: Any, y: Any) -> Self:
        """Unlearn documents exactly, for the models that can."""
        texts, target = self._fitted_pair(X, y)
        assert isinstance(self.engine_, CountEngine)
        self.engine_.forget(texts, target.labels)
        self._outdate()
        return self

    def _outdate(self) -> None:
        """What was known about errors and novelty does not hold after a change."""
        for parameter, value, known, method in (
            ("max_error", self.max_error, self.evidence_, "measure_confidence"),
            ("max_novelty", self.max_novelty, self.novelty_, "measure_novelty"),
        ):
            if value is not None and known is not None:
                warnings.warn(
                    f"what {parameter} rests on does not hold after this change: "
                    f"before the next predict, call {method} with documents, or "
                    f"set_params({parameter}=None).",
                    EarmarkWarning,
                    stacklevel=3,
                )
        self.novelty_ = None
        self._drop_evidence()

    # -- answering -------------------------------------------------------------

    def predict(self, X: Any) -> Labels:
        """The label of each document; None, or ``abstain_label``, where it abstains.

        ``max_error`` and ``max_novelty`` make it abstain. With several labels a
        document, an object array of tuples; if ``fit`` got a matrix of 0 and 1, such
        a matrix, with NaN where it abstains.
        """
        decision = self.decide(X)
        if self.n_columns_ is None:
            return with_abstain_label(decision.labels, self.abstain_label)
        return indicator_answers(decision, self.n_columns_)

    def decide(self, X: Any) -> Decision:
        """Labels, confidences, probabilities and abstentions in one value."""
        check_is_fitted(self)
        return self._decide(self._texts(X))

    def predict_proba(self, X: Any) -> FloatMatrix:
        """Probability of each class, (n_documents, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> FloatMatrix:
        """Log probability of each class, (n_documents, n_classes)."""
        check_is_fitted(self)
        return self.engine_.predict_log_proba(self._texts(X))

    def decision_function(self, X: Any) -> FloatMatrix:
        """Score of each class, before any calibration; ``explain`` takes it apart.

        Log-odds against all other classes together, or the margins of a model that
        has only those; of several labels per document each score over its cut. For two
        classes one score per document, that of ``classes_[1]``.
        """
        check_is_fitted(self)
        scores = self.engine_.decision_function(self._texts(X))
        two = scores.shape[1] == 2 and not self.is_multi_label_
        return scores[:, 1] - scores[:, 0] if two else scores

    @_offered("leave_one_out")
    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> FloatMatrix:
        """Log posteriors of training documents, each as if not trained on.

        Vocabulary, document frequencies and selection are held fixed. Returns an
        array of shape (n_documents, n_classes).
        """
        texts, target = self._fitted_pair(X, y)
        if len(target.unlabelled):
            raise DataError(f"y, row {target.unlabelled[0]}: the label is missing.")
        return self.engine_.leave_one_out(texts, target.labels, sample_weight)

    def rank(self, X: Any, label: Any) -> IntVector:
        """Document numbers, the surest of class ``label`` first (routing).

        The order is that of ``earmark.decision.rank``.
        """
        check_is_fitted(self)
        known = self.classes_.tolist()
        if label not in known:
            raise DataError(f"label must be one of {known!r}, got {label!r}.")
        return rank(self, X, label).positions

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        allow_callables: bool = False,
        metadata: JsonObject | None = None,
    ) -> None:
        """Write the fitted classifier to one file, atomically.

        A file holds no code. A classifier with functions of yours in it, such as an
        encoder, is refused unless you allow to leave them out; ``load`` then asks
        for them. ``metadata``, plain JSON data, is kept in the file's manifest.
        """
        check_is_fitted(self)
        self._check_promise()
        from earmark.pipeline.files import save_classifier  # brings every model

        save_classifier(self, path, metadata, allow_callables=allow_callables)

    # -- what it can tell ----------------------------------------------------------

    def explain(
        self, X: DocumentsLike, top: int = 10, paths: int = 0
    ) -> list[Explanation]:
        """The evidence behind each label; ``top`` limits what ``str()`` shows.

        Label and confidence are those of ``decide``, also where it abstains.
        Contributions add up to the label's score as ``decision_function`` gives it:
        log-odds against the other classes, or its margin over the runner-up's. With
        several labels per document they are about the likeliest label, its probability
        and its score over its cut. A higher-order model also shows up to ``paths``
        chains of terms and training documents that lead from the document into the
        label's.
        """
        check_is_fitted(self)
        if index(paths) < 0:
            raise ValueError(f"paths must be at least 0, got {paths!r}.")
        texts = self._texts(X)
        return explain_documents(self.engine_, texts, self._answers(texts), top, paths)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy over all documents, as ``accuracy_score(y, predict(X))``.

        An abstention is not right. With several labels per document all of them must
        be right. Documents without a label in y are left out. ``report`` tells the
        answers given from the abstentions.
        """
        texts, target = self._fitted_pair(X, y)
        labels = self._decide(take(texts, target.labelled)).labels
        answers = with_abstain_label(labels, self.abstain_label).tolist()
        expected = target.labels.tolist()
        right = [a == t for a, t in zip(answers, expected, strict=True)]
        weight = None if sample_weight is None else np.asarray(sample_weight)
        weights = None if weight is None else weight[target.labelled]
        return float(np.average(right, weights=weights))

    def report(self, X: Any, y: Any, **parts: Any) -> Report:
        """What is right and wrong on texts X with true labels y.

        Keyword arguments are passed on to ``Report.from_predictions``.
        """
        texts, target = self._fitted_pair(X, y)
        texts = take(texts, target.labelled)
        decision = self._decide(texts)
        scores = None if target.multi_label else decision.scores
        answers = decision.labels, scores, decision.novelty
        report = report_of(self, target.labels, *answers, texts=joined(texts), **parts)
        return replace(
            report, words=report.words or self._deciding_words(report, texts)
        )

    def _deciding_words(
        self, report: Report, texts: RegionTexts
    ) -> dict[int, list[tuple[str, float]]] | None:
        """Terms behind the answers that a report shows; None if it cannot tell."""
        rows = sorted({d for some in telling_documents(report) for d in some})
        if not rows:
            return None
        try:
            explained = self.explain(take(texts, np.asarray(rows)))
        except NotSupportedError:
            return None
        return {
            row: [(term.term, term.contribution) for term in explanation.terms]
            for row, explanation in zip(rows, explained, strict=True)
        }

    def telling_terms(self, top: int = 10) -> dict[Any, list[tuple[str, float]]] | None:
        """The terms that speak most for each class over the mean of the others.

        None for models without one weight a term and class.
        """
        check_is_fitted(self)
        return telling_terms(self.engine_, top)

    def describe(self, top: int = 10) -> HiddenNodes:
        """The hidden nodes of each class: weight and ``top`` most telling terms.

        For ``model="hierarchical"``. ``print`` the result, or call its ``plot()``.
        """
        check_is_fitted(self)
        return hidden_nodes(self.engine_, self.model_name_, top)

    @property
    def is_multi_label_(self) -> bool:
        """Whether a document may have several labels."""
        return bool(self.engine_.multi_label)

    @property
    def region_names_(self) -> list[str] | None:
        """The regions the model was trained on; None for a single text."""
        names = self.engine_.region_names
        return None if names == [SINGLE] else names

    def summary(self) -> str:
        """What was chosen, why, and what was used, in plain words."""
        check_is_fitted(self)
        lines = [f"model: {self.model_name_}", *self.reasons_]
        if self.evidence_ is not None:
            kind = "held-out" if self.evidence_.held_out else "left-out training"
            each = ", label by label" if self.evidence_.about_labels else ""
            n = len(self.evidence_) // (self.evidence_.n_groups if each else 1)
            lines.append(
                f"accuracy {self.evidence_.accuracy:.3f} on {n:,} {kind} "
                f"document{'' if n == 1 else 's'}{each}{_copies(self.evidence_)}"
            )
        if self.max_error is not None and self.evidence_ is None:
            lines.append(
                f"max_error {self.max_error:g}: not known from where on it holds; call "
                "measure_confidence"
            )
        elif self.thresholds_:
            lines.append(several_words(self.thresholds_))
            if self.is_multi_label_:
                some = slice(_LABELS_TOLD)
                known = self.classes_[some].tolist()
                lines.append(words_per_label(self.thresholds_[some], known))
        if self.learned_confidence_ is not None:
            lines.append(self.learned_confidence_.words)
        elif self.learn_confidence and not self.is_multi_label_:
            lines.append("confidence: log-odds; nothing was learned that ranks better")
        if self.novelty_ is not None:
            lines.append(self.novelty_.words(self.max_novelty))
        table = getattr(getattr(self.engine_, "model_", None), "region_table", None)
        if table is not None and len(self.engine_.region_names) > 1:
            lines.append(table(self.engine_.region_names))
        return "\n".join(lines)

    # -- private ---------------------------------------------------------------

    def _texts(self, X: Any, where: str = "X", *, new: bool = False) -> RegionTexts:
        """Documents by region; the regions of the model, unless it is ``new``."""
        texts = as_region_texts(X, self.regions, where)
        if not n_documents(texts):
            raise DataError(f"{where} holds no document.")
        if new or "engine_" not in vars(self):
            return texts
        return with_regions(texts, self.engine_.region_names, self.regions, where)

    def _fitted_pair(self, X: Any, y: Any) -> tuple[RegionTexts, Target]:
        """Documents and labels for a fitted classifier."""
        check_is_fitted(self)
        texts = self._texts(X)
        return texts, as_target(y, n_documents(texts), self.multi_label)

    def _split(
        self, texts: RegionTexts, target: Target, unlabelled: DocumentsLike
    ) -> tuple[RegionTexts, RegionTexts]:
        """Labelled documents; rows without a label, and the ones given apart."""
        labelled, pool = target.split(texts)
        if unlabelled is None:
            return labelled, pool
        more = as_region_texts(unlabelled, self.regions, "unlabelled")
        more = with_regions(more, list(texts), self.regions, "unlabelled")
        return labelled, {name: [*pool[name], *more[name]] for name in texts}

    def _pair(
        self, pair: Any, where: str, training: RegionTexts
    ) -> tuple[RegionTexts, Labels] | None:
        if pair is None:
            return None
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(
                f"{where} must be a pair (X, y), got {type(pair).__name__}."
            )
        texts = self._texts(pair[0], f"{where}[0]", new=True)
        texts = with_regions(texts, list(training), self.regions, f"{where}[0]")
        n = n_documents(texts)
        target = as_target(pair[1], n, self.multi_label, f"{where}[1]")
        return take(texts, target.labelled), target.labels

    def _answers(self, texts: RegionTexts) -> Decision:
        """The decision if nothing makes it abstain."""
        if self.learned_confidence_ is None:
            return self.engine_.decide(texts)
        scores = Scores.from_log_proba(self.engine_.predict_log_proba(texts))
        return one_of_decision(self._ranked(scores, texts), self.classes_)

    def _decide(self, texts: RegionTexts) -> Decision:
        self._check_promise()
        decision = self._answers(texts)
        if self.novelty_ is not None:
            novelty = self._novelty(texts)
            decision = decision.with_novelty(novelty, self.max_novelty)
        elif self.max_novelty is not None:
            raise DataError(
                "max_novelty needs to know the training documents: fit with "
                "max_novelty set (earmark train --novelty), or call measure_novelty "
                "with them; what was known is gone after partial_fit and forget."
            )
        return decision if self.max_error is None else self._within_promise(decision)

    def _refusals(self) -> dict[str, str]:
        if "engine_" in vars(self):
            return self.engine_.refusals()
        if self.model == "auto":  # learns one by one as multinomial does
            return {"leave_one_out": "model='auto' must be fitted first."}
        try:
            return build_engine(self.model, None, self._options()).refusals()
        except (TypeError, ValueError) as error:
            names = ("partial_fit", "forget", "leave_one_out")
            return dict.fromkeys(names, str(error))

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``features__ngram_range=(1, 2)`` sets one of ``features``."""
        nested = {k: v for k, v in params.items() if k.startswith("features__")}
        features = params.get("features", self.features)
        if nested and (features is None or isinstance(features, Mapping)):
            rest = {k: v for k, v in params.items() if k not in nested}
            named = {k.removeprefix("features__"): v for k, v in nested.items()}
            params = {**rest, "features": {**(features or {}), **named}}
        super().set_params(**params)
        return self

    def _new_options(self, classes: Sequence[Hashable] = ()) -> BuildOptions:
        """Options of a fit that begins: it draws its seed."""
        self.seed_ = seed_of(self.random_state)
        return self._options(classes)

    def _options(self, classes: Sequence[Hashable] = ()) -> BuildOptions:
        return BuildOptions(
            class_weight=self.class_weight,
            random_state=self.seed_,
            n_jobs=self.n_jobs,
            encoder=self.encoder,
            names=ClassNames(self.class_names, list(classes)),
            verbose=self.verbose,
        )

    def _adopt(
        self, engine: Any, name: str, reasons: list[str], n_columns: int | None = None
    ) -> None:
        self.engine_ = engine
        self.n_columns_ = n_columns
        self.classes_ = engine.classes_
        self.model_name_ = name
        self.reasons_ = reasons
        self.novelty_ = None
        self._drop_evidence()

    def _check_promise(self) -> None:
        check_declared(self)
        if self.max_error is not None or self.min_coverage is not None:
            super()._check_promise()

    def _drop_evidence(self) -> None:
        self.evidence_ = self.learned_confidence_ = self.class_sizes_ = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags


def _labelled_weights(sample_weight: Any, target: Target, n_texts: int) -> Any:
    if sample_weight is None:
        return None
    weight = checked_weights(sample_weight, n_texts)
    return None if weight is None else weight[target.labelled]


def _copies(evidence: Evidence) -> str:
    """What to say of near-duplicates that are no evidence of their own."""
    if not evidence.n_copies:
        return ""
    of = "training documents or of each other" if evidence.held_out else "others"
    copies = "near-duplicate" if evidence.n_copies == 1 else "near-duplicates"
    return f"; without {evidence.n_copies:,} {copies} of {of}"


def _require_two_classes(target: Target, names: ClassNames) -> None:
    if target.multi_label or bool(np.any(target.labels[1:] != target.labels[0])):
        return
    if len({*target.labels.tolist(), *names.labels}) > 1:
        return
    raise DataError(
        f"the labels hold one class only, {target.labels[0]!s}; expected at least 2: "
        "label some documents of another class."
    )


def report_of(
    classifier: TextClassifier,
    truth: Labels,
    answers: Labels,
    scores: FloatMatrix | None,
    novelty: FloatVector | None,
    **parts: Any,
) -> Report:
    """What is right and wrong about answers, wherever they were given."""
    from earmark.evaluation import Report  # brings the page and its figures

    warn_of_new_labels(truth, classifier.classes_, "y")
    threshold = classifier.threshold_ if classifier.thresholds_ else None
    level = classifier.max_novelty or USUAL_LEVEL
    return Report.from_predictions(
        truth,
        answers,
        proba=scores,
        classes=None if scores is None else classifier.classes_,
        threshold=threshold if isinstance(threshold, float) else None,
        top_terms=classifier.telling_terms(),
        foreign=None
        if novelty is None
        else ForeignDocuments.from_p_values(novelty, level),
        **parts,
    )


def new_engine(classifier: TextClassifier, features: Any = None) -> Any:
    """The engine of a classifier whose model is named, to be fitted elsewhere."""
    features = classifier.features if features is None else features
    return build_engine(classifier.model, features, classifier._new_options())


def adopt_engine(
    classifier: TextClassifier, engine: Any, name: str, reasons: list[str]
) -> None:
    """Make an engine that was fitted elsewhere the classifier's own."""
    classifier._adopt(engine, name, reasons)
