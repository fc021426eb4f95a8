"""TextClassifier: raw strings in, decisions out; the object that users save."""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from operator import index
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError

from earmark.decision.abstaining import ErrorRate, Level, Promising
from earmark.decision.any_of import offered_if
from earmark.decision.calibration import TemperatureCalibrator
from earmark.decision.decision import (
    Decision,
    Scores,
    indicator_answers,
    one_of_decision,
    rank,
    with_abstain_label,
)
from earmark.decision.evidence import Judge
from earmark.decision.guarantee import Coverages
from earmark.decision.left_out import LeftOut, calibration_evidence
from earmark.decision.novelty import USUAL_LEVEL, NoveltyDetector
from earmark.encoders.encoder import Encoder, require_encoder
from earmark.evaluation.report.text import ForeignDocuments, telling_documents
from earmark.exceptions import (
    DataError,
    EarmarkWarning,
    Named,
    NotSupportedError,
    UnavailableError,
    only_in_python,
)
from earmark.features import HashedCounter, WordCounter
from earmark.features.columns import BY_CHARACTERS, Columns, fitting_features
from earmark.features.vectors import ENCODER
from earmark.folds import check_equal_length, take
from earmark.inputs.class_names import ClassNames
from earmark.inputs.regions import (
    ONE_REGION,
    RegionTexts,
    joined_texts,
    n_documents,
)
from earmark.inputs.soft_labels import soft_copies
from earmark.inputs.training import (
    Inputs,
    Target,
    TrainingData,
    no_labels,
    require_same_kind,
    warn_of_new_labels,
)
from earmark.inputs.weights import ClassWeight
from earmark.parameters import (
    Jobs,
    Limits,
    Verbosity,
    check_declared,
    estimator,
    offers,
    seed_of,
)
from earmark.pipeline.choose import (
    STATIC,
    choose,
    class_name_words,
    view_words,
)
from earmark.pipeline.explain import (
    Explanation,
    explain_documents,
    hidden_nodes,
    telling_terms,
)
from earmark.pipeline.summary import summary_of
from earmark.pipeline.text_model import Plan, Planner, TextModel, takes_rows
from earmark.statistics.class_statistics import require_same_classes
from earmark.statistics.term_sums import TermSums
from earmark.stored import (
    DERIVED,
    anything_plain,
    classifier,
    either,
    function,
    in_file,
    instance,
    mapping,
    none,
    stored_state,
    text,
    whole,
    words,
)
from earmark.typing import (
    DocumentsLike,
    Estimator,
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

# Counts beyond this are added up at once: a sum that int64 cannot hold is refused then.
_LARGE_COUNT = 2.0**40
_MOST_WAITING = 256
# From so many labelled documents on, how sure answers are tells what is familiar.
_LEAST_JUDGED = 20


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


@estimator
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
    encoder : None, str or callable, default="static"
        What adds the meaning of a document to its words, in ``linear`` and
        ``semi-supervised``. "static": vectors of English words that come with earmark;
        they weigh nothing where they know less than 60 % of the words, or where labels
        held out do not gain by them. Better ones by name: ``"minilm"``
        (all-MiniLM-L6-v2), ``"model2vec:NAME-OR-PATH"``, ``"fastembed:NAME"``,
        ``"sentence-transformers:NAME-OR-PATH"``, ``"words:"`` before one of these to
        read the vocabulary instead of the documents, or a function from a list of
        texts to an array of vectors. None: no vectors. A name is stored in a model
        file; a function is not: save with ``allow_callables=True`` and give it again to
        ``load``, which compares its vectors of eight fixed sentences.
    class_names : "auto", None or dict, default="auto"
        What the classes are about: weak documents for ``semi-supervised``, which count
        less and less as labels come. "auto" takes the words of the labels that occur
        in the texts and leaves codes alone; a dict has a text, or a list of texts, for
        a label, and the other labels' own words. With names ``fit`` needs no labels.
    multi_label : "auto" or bool, default="auto"
        Whether a document may have several labels. "auto": if labels are lists.
    max_error : float in (0, 1), default=None
        Abstain (answer None) so that at most this share of the answers is wrong.
        A guarantee if calibration documents are passed to ``fit``, otherwise an
        estimate.
    level : float in (0, 1), default=0.95
        Confidence level of the ``max_error`` guarantee.
    min_coverage : float or sequence of float in [0, 1], optional
        Minimum share of documents to answer; the guarantee is tested from these shares
        on, 0.1, 0.25 and 0.5 by default. Choose before looking at the labels of the
        calibration documents.
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
    thresholds_, min_confidence_, coverage_
        Where it answers to keep ``max_error``, as in ``AbstainingClassifier``.
    guaranteed_error_, estimated_error_, n_missing_
        What ``max_error`` comes to there.
    n_columns_ : int or None
        Width of y, if it was a matrix of 0 and 1.
    seed_ : int
        What ``random_state`` came to; None is 0.
    columns_ : Columns
        What turns documents into numbers.
    model_ : classifier
        The fitted model on these columns.
    calibrator_ : TemperatureCalibrator or None
        What turns its scores into probabilities, where it has none.

    Examples
    --------
    >>> texts = ["cheap pills now", "meeting at noon", "cheap watches", "lunch at noon"]
    >>> labels = ["spam", "ham", "spam", "ham"]
    >>> classifier = TextClassifier(model="multinomial").fit(texts, labels)
    >>> classifier.predict(["cheap lunch pills"])
    array(['spam'], dtype='<U4')

    """

    reasons_: Annotated[list[str], words()] = field(init=False)
    plan_: Plan | None = None
    text_model_: Annotated[
        TextModel | None,
        either(
            instance(TextModel, n_classes="n_classes"),
            instance(TermSums, n_classes="n_classes"),
        ),
    ] = None
    novelty_: (
        Annotated[NoveltyDetector, instance(NoveltyDetector, fitted=True)] | None
    ) = None
    n_columns_: Annotated[int, whole(1, 2**20)] | None = None
    # Sums of documents that `partial_fit` learned, merged when somebody asks.
    _waiting: Annotated[list[TermSums], DERIVED] = field(init=False)
    _how_to_set = " set (earmark train --max-error)"
    _how_to_measure = (
        only_in_python("with calibration=(X, y)"),
        only_in_python("or call measure_confidence with the training documents"),
        only_in_python("what was known is gone after partial_fit and forget"),
    )

    model: Annotated[Any, in_file(either(text(), classifier(fitted=False)))] = field(
        default="auto", kw_only=False
    )
    regions: Annotated[
        Any,
        in_file(either(none, text("email"), words(unique=True, at_least=1), function)),
    ] = None
    features: Annotated[
        Any,
        in_file(
            either(
                none,
                mapping(text(), anything_plain),
                instance(WordCounter, HashedCounter),
                function,
            )
        ),
    ] = None
    encoder: Annotated[Encoder | None, in_file(ENCODER)] = STATIC
    class_names: Annotated[
        Mapping[Any, Any] | str | None,
        in_file(either(none, text("auto"), mapping(anything_plain, anything_plain))),
    ] = "auto"
    multi_label: Any = "auto"
    max_error: ErrorRate | None = None
    level: Level = 0.95
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
            ask for any-of classification. A dict from label to share, such as the
            votes of several people, or with ``classes`` a row of probabilities for
            each document, counts for each label by its share. Without any label the
            class names are all there is to learn from: the accuracy is then unknown.
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
        if self.encoder is not STATIC:  # which a model that takes none need not load
            require_encoder(self.encoder)
        inputs = Inputs(self.regions, self.multi_label)
        texts = inputs.texts(X)
        shared = None
        if self.multi_label is not True:
            shared = soft_copies(y, classes, n_documents(texts))
        if shared is not None:
            texts, sample_weight = shared.of(texts, sample_weight)
            y = shared.labels
        data = self._training_data(inputs, texts, y, classes, unlabelled, sample_weight)
        if shared is not None:
            data = shared.placed(data)
        planner = self._planner(texts, data.multi_label)
        if shared is not None and self.model != "auto":
            planner.plan(self.model).require_takes_shares()
        choice = choose(self.model, data, planner, self.budget)
        fitted, reasons = choice.fitted, list(choice.reasons)
        if fitted is None:
            chosen_on = None
            if validation is not None:
                chosen_on = inputs.pair(validation, "validation", data.texts)
            fitted = choice.plan.fit(data, chosen_on)
        reasons += self._used(fitted, data, planner)
        self.adopt(choice.plan, fitted, reasons, data.n_columns)
        if self.max_novelty is not None:
            self._learn_ordinary(data)
        if self.learn_confidence and not data.multi_label and len(data.labels):
            learned = self._left_out(data).learned_confidence(self.classes_)
            self.learned_confidence_, self.class_sizes_ = learned
        if calibration is not None:
            held_out = inputs.pair(calibration, "calibration", data.texts)
            require_same_kind(held_out[1], data.multi_label, "calibration")
            warn_of_new_labels(held_out[1], self.classes_, "calibration", required=True)
            novelty = None if self.novelty_ is None else self._novelty
            self.evidence_ = calibration_evidence(
                self._judge(), fitted, data.texts, *held_out, novelty
            )
        elif self.max_error is not None:
            self.evidence_ = self._left_out(data).evidence(self._judge())
        return self

    def _training_data(
        self,
        inputs: Inputs,
        texts: RegionTexts,
        y: Any,
        classes: Any,
        unlabelled: Any,
        sample_weight: WeightsLike,
    ) -> TrainingData:
        """What ``fit`` was given, checked."""
        if isinstance(classes, str):
            raise DataError(f"classes must be a list of labels, got {classes!r}.")
        names = ClassNames.read(self.class_names, () if classes is None else classes)
        target = inputs.first_target(y, n_documents(texts), names)
        if not len(target.labels) and self.max_error is not None:
            raise no_labels("max_error")
        if self.class_weight is not None and not target.multi_label:
            known = np.unique(target.labels).tolist()
            ClassWeight(self.class_weight).require_labels([*known, *names.labels])
        return inputs.training(texts, target, unlabelled, sample_weight, names)

    def _planner(self, texts: RegionTexts, multi_label: bool = False) -> Planner:
        """Gather the parameters that plans are made of; this draws the seed."""
        return Planner(
            fitting_features(self.features, texts),
            self.encoder,
            self.class_weight,
            multi_label,
            seed_of(self.random_state),
            self.n_jobs,
            self.verbose,
        )

    def _used(
        self, fitted: TextModel, data: TrainingData, planner: Planner
    ) -> list[str]:
        """What was used, in words: characters, the encoder, class names."""
        words = [BY_CHARACTERS] if planner.features is not self.features else []
        if takes_rows(fitted.model) or self.encoder not in (None, STATIC):
            words += view_words(fitted, self.encoder, data)
        if fitted.used_names or data.names.labels:
            words += class_name_words(fitted.used_names, data.names, data.labels)
        return words

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
        data = self._known_data(X, y, sample_weight, unlabelled)
        self.evidence_ = self._left_out(data).evidence(self._judge())
        return self

    def measure_novelty(
        self, X: DocumentsLike, y: LabelsLike, *, unlabelled: DocumentsLike = None
    ) -> Self:
        """Learn what ordinary documents look like, from those it was fitted on.

        ``fit`` does so when ``max_novelty`` is set. ``decide`` then has p-values.
        """
        self._learn_ordinary(self._known_data(X, y, None, unlabelled))
        return self

    def _known_data(
        self, X: Any, y: Any, sample_weight: WeightsLike, unlabelled: Any
    ) -> TrainingData:
        """The documents that a fitted classifier was fitted on, given once more."""
        texts, target = self._fitted_pair(X, y)
        return self._inputs.training(texts, target, unlabelled, sample_weight)

    def _learn_ordinary(self, data: TrainingData) -> None:
        """Learn what is ordinary, from labelled documents and the answers to a pool."""
        known: list[Any] = data.labels.tolist()
        if data.n_pool:
            best = self._answering().decide(data.pool).best
            assert best is not None
            known += best.tolist()
        everything: RegionTexts = {
            name: [*own, *data.pool.get(name, ())] for name, own in data.texts.items()
        }
        features = fitting_features(None, everything) or {}
        detector = NoveltyDetector(**features, n_jobs=self.n_jobs)
        certainty = None
        judged = not data.multi_label and len(data.labels) >= _LEAST_JUDGED
        if judged and takes_rows(self._answering().model):  # by all its views
            certainty = np.full(len(known), np.nan)
            rows, scores = self._left_out(data).scores(self.classes_)
            certainty[rows] = scores.certainty
        every = joined_texts(everything)
        self.novelty_ = detector.fit(every, known, certainty=certainty)

    def _novelty(self, texts: RegionTexts) -> FloatVector:
        """The p-value of each document; the answering model says how sure it is."""
        detector, certainty = self.novelty_, None
        assert detector is not None
        if detector.uses_certainty_:
            certainty = self._answering().decide(texts).certainty
        return detector.p_values(joined_texts(texts), certainty)

    def _left_out(self, data: TrainingData) -> LeftOut:
        """What judges training documents; one that uses a pool is judged with it."""
        fitted, plan = self._answering(), self.plan_
        assert plan is not None

        def without(rows: IntVector) -> TextModel:
            assert plan is not None
            return plan.fit(data.take(rows))

        return LeftOut(
            data.texts,
            data.labels,
            without,
            fitted.left_out(data),
            bool(plan.columns.views),
            weight=None if data.weight is None else np.asarray(data.weight),
        )

    def _judge(self) -> Judge:
        share = self._answering().class_share
        multi, ranked = self.is_multi_label_, self._ranked
        return Judge(self.classes_, multi, ranked=ranked, class_share=share)

    @_offered("partial_fit")
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn more documents, exactly, for the models that can.

        Give all labels in ``classes`` at the first call if y does not hold them
        all. The result is that of one ``fit`` on all documents.
        """
        texts = self._texts(X)
        target = self._inputs.target(y, n_documents(texts))
        if len(target.unlabelled):
            raise DataError(
                f"y, row {target.unlabelled[0]}: partial_fit needs a label for every "
                "document."
            )
        if self.plan_ is None:
            self._begin(texts, target, classes)
            return self
        require_same_classes(classes, self.classes_)
        self._waiting.append(self._sums(texts, target.labels))
        most = self._waiting[-1].largest
        if most > _LARGE_COUNT or len(self._waiting) >= _MOST_WAITING:
            self._answering()
        self._outdate()
        return self

    def _begin(self, texts: RegionTexts, target: Target, classes: Any) -> None:
        """Learn the first documents of a classifier that learns batch by batch."""
        data = self._inputs.training(texts, target)
        planner = self._planner(texts)
        plan = planner.plan("multinomial" if self.model == "auto" else self.model)
        known = data.classes if classes is None else np.unique(np.asarray(classes))
        fitted = plan.from_sums(plan.sums(texts, target.labels, known))
        by_characters = planner.features is not self.features
        reasons = ["updated document by document"] + [BY_CHARACTERS] * by_characters
        self.adopt(plan, fitted, reasons)

    @_offered("forget")
    def forget(self, X: Any, y: Any) -> Self:
        """Unlearn documents exactly, for the models that can."""
        texts, target = self._fitted_pair(X, y)
        fitted, plan = self._answering(), self.plan_
        assert plan is not None
        assert fitted.sums is not None
        rest = fitted.sums.minus(self._sums(texts, target.labels))
        self.text_model_ = plan.from_sums(rest, fitted)
        self._outdate()
        return self

    def _sums(self, texts: RegionTexts, labels: Labels) -> TermSums:
        """What some documents add to the sums; an unknown label is an error."""
        assert self.plan_ is not None
        regions = self._regions
        return self.plan_.sums(texts, labels, self.classes_, regions=regions)

    def _answering(self) -> TextModel:
        """The model, with all that was learned; on an error it is that of before."""
        fitted = self.text_model_
        if fitted is None:
            raise NotFittedError(
                "this TextClassifier is not fitted yet; call fit with documents first."
            )
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            assert fitted.sums is not None
            assert self.plan_ is not None
            sums = fitted.sums.plus(waiting)
            self.text_model_ = fitted = self.plan_.from_sums(sums, fitted)
        return fitted

    def _outdate(self) -> None:
        """Drop what was known about errors and novelty, and warn who relies on it."""
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
        self.novelty_ = self.evidence_ = None
        self.learned_confidence_ = self.class_sizes_ = None

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
        self._answering()
        return self._decide(self._texts(X))

    def predict_proba(self, X: Any) -> FloatMatrix:
        """Probability of each class, (n_documents, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> FloatMatrix:
        """Log probability of each class, (n_documents, n_classes)."""
        self._answering()
        return self._answering().predict_log_proba(self._texts(X))

    def decision_function(self, X: Any) -> FloatMatrix:
        """Score of each class, before any calibration; ``explain`` takes it apart.

        Log-odds against all other classes together, or the margins of a model that
        has only those; of several labels per document each score over its cut. For two
        classes one score per document, that of ``classes_[1]``.
        """
        self._answering()
        scores = self._answering().decision_function(self._texts(X))
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
        return self._answering().leave_one_out(texts, target.labels, sample_weight)

    def rank(self, X: Any, label: Any) -> IntVector:
        """Document numbers, the surest of class ``label`` first (routing).

        The order is that of ``earmark.decision.rank``.
        """
        self._answering()
        known = self.classes_.tolist()
        if label not in known:
            raise DataError(f"label must be one of {known!r}, got {label!r}.")
        return rank(self, X, label).positions

    def settled(self) -> TextClassifier:
        """An unfitted copy that takes the settings that this one chose.

        Fitting it to similar documents is quicker, since nothing is tried. Where
        nothing was chosen, it is like any other copy.
        """
        copied: TextClassifier = clone(self, safe=False)
        if offers(self.model_, "settled"):
            copied.set_params(model=self.model_.settled())
        return copied

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
        self._answering()
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
        self._answering()
        if index(paths) < 0:
            raise ValueError(f"paths must be at least 0, got {paths!r}.")
        texts = self._texts(X)
        return explain_documents(
            self._answering(), texts, self._answers(texts), top, paths
        )

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

        Keyword arguments are passed on to ``Report.from_predictions``; ``columns`` have
        an entry per document of X.
        """
        texts, target = self._fitted_pair(X, y)
        texts = take(texts, target.labelled)
        columns = parts.pop("columns", None)
        if columns is not None:
            for name, values in columns.items():
                check_equal_length(**{"X": X, f"columns[{name!r}]": values})
            parts["columns"] = {
                name: take(values, target.labelled) for name, values in columns.items()
            }
        decision = self._decide(texts)
        scores = None if target.multi_label else decision.scores
        answers = decision.labels, scores, decision.novelty
        report = report_of(
            self, target.labels, *answers, texts=joined_texts(texts), **parts
        )
        rows = sorted({d for some in telling_documents(report) for d in some})
        words = report.words or deciding_words(self, texts, rows)
        if not self._answering().has_labels:  # it stated no confidence
            report = replace(report, reliability=None)
        return replace(report, words=words)

    def telling_terms(self, top: int = 10) -> dict[Any, list[tuple[str, float]]] | None:
        """The terms that speak most for each class over the mean of the others.

        None for models without one weight a term and class.
        """
        self._answering()
        return telling_terms(self._answering(), top)

    def describe(self, top: int = 10) -> HiddenNodes:
        """The hidden nodes of each class: weight and ``top`` most telling terms.

        For ``model="hierarchical"``. ``print`` the result, or call its ``plot()``.
        """
        self._answering()
        return hidden_nodes(self._answering(), self.model_name_, top)

    @property
    def model_name_(self) -> str:
        """The model that was chosen."""
        self._answering()
        assert self.plan_ is not None
        return self.plan_.name

    @property
    def columns_(self) -> Columns:
        """What turns documents into numbers."""
        self._answering()
        return self._answering().columns

    @property
    def model_(self) -> Estimator:
        """The fitted model, on the rows of ``columns_``."""
        self._answering()
        return self._answering().model

    @property
    def calibrator_(self) -> TemperatureCalibrator | None:
        """What turns scores into probabilities, where the model has none."""
        self._answering()
        return self._answering().calibrator

    @property
    def is_multi_label_(self) -> bool:
        """Whether a document may have several labels."""
        self._answering()
        assert self.plan_ is not None
        return self.plan_.multi_label

    @property
    def region_names_(self) -> list[str] | None:
        """The regions the model was trained on; None for a single text."""
        self._answering()
        names = self._regions
        return None if names == [ONE_REGION] else names

    @property
    def seed_(self) -> int:
        """What ``random_state`` came to; None is 0."""
        self._answering()
        assert self.plan_ is not None
        return self.plan_.seed or 0

    def summary(self) -> str:
        """What was chosen, why, and what was used, in plain words."""
        self._answering()
        return summary_of(self)

    # -- private ---------------------------------------------------------------

    @property
    def _inputs(self) -> Inputs:
        return Inputs(self.regions, self.multi_label)

    @property
    def _regions(self) -> list[str]:
        """The regions that the model knows; nothing that waits is merged for that."""
        assert self.text_model_ is not None
        return self.text_model_.columns.regions

    def _texts(self, X: Any) -> RegionTexts:
        """Documents by region; of a fitted classifier under the model's regions."""
        fitted = self.text_model_
        inputs = Inputs(self.regions, self.multi_label)
        return inputs.texts(X, like=None if fitted is None else fitted.columns.regions)

    def _fitted_pair(self, X: Any, y: Any) -> tuple[RegionTexts, Target]:
        """Documents and labels for a fitted classifier."""
        self._answering()
        texts = self._texts(X)
        return texts, self._inputs.target(y, n_documents(texts))

    def _answers(self, texts: RegionTexts) -> Decision:
        """The decision if nothing makes it abstain."""
        fitted = self._answering()
        if self.learned_confidence_ is None:
            decision = fitted.decide(texts)
            return decision if fitted.has_labels else decision.of_unknown_confidence()
        scores = Scores.from_log_proba(fitted.predict_log_proba(texts))
        return one_of_decision(self._ranked(scores, texts), self.classes_)

    def _decide(self, texts: RegionTexts) -> Decision:
        decision = self._answers(texts)
        if self.novelty_ is not None:
            novelty = self._novelty(texts)
            decision = decision.with_novelty(novelty, self.max_novelty)
        elif self.max_novelty is not None:
            named = Named("max_novelty")
            needs = " needs to know the training documents: fit with "
            raise DataError(
                [named, needs, named, " set (earmark train --novelty)"],
                only_in_python("or call measure_novelty with them"),
                only_in_python("what was known is gone after partial_fit and forget"),
                about="max_novelty",
            )
        return decision if self.max_error is None else self._within_promise(decision)

    def _refusals(self) -> dict[str, str]:
        """Methods that this model has not got, and what to do instead."""
        if self.plan_ is not None:
            return self.plan_.refusals()
        if self.model == "auto":  # learns one by one as multinomial does
            return {"leave_one_out": "model='auto' must be fitted first."}
        try:
            seed = seed_of(self.random_state)
            return (
                Planner(class_weight=self.class_weight, seed=seed)
                .plan(self.model)
                .refusals()
            )
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
        before = self.get_params(deep=False)
        super().set_params(**params)
        if self.plan_ is not None:  # else they are checked when it is fitted
            try:
                self._check_promise()
            except (TypeError, ValueError):
                super().set_params(**before)
                raise
        return self

    def adopt(
        self,
        plan: Plan,
        fitted: TextModel,
        reasons: list[str],
        n_columns: int | None = None,
    ) -> None:
        """Make a fitted model the classifier's own, wherever it was fitted."""
        self.plan_, self.text_model_, self._waiting = plan, fitted, []
        self.n_columns_ = n_columns
        self.classes_ = fitted.classes_
        self.reasons_ = reasons
        self.novelty_ = self.evidence_ = None
        self.learned_confidence_ = self.class_sizes_ = None

    def _check_promise(self) -> None:
        check_declared(self)
        if self.max_error is not None or self.min_coverage is not None:
            super()._check_promise()

    def _check_parameters(self) -> None:
        self._check_promise()

    def __getstate__(self) -> dict[str, Any]:
        state = stored_state(self)
        if self.text_model_ is not None:
            fitted = self._answering()
            # Columns and model of a count model follow from its sums.
            state["text_model_"] = fitted if fitted.sums is None else fitted.sums
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        known: object = self.text_model_
        if isinstance(known, TermSums):
            assert self.plan_ is not None
            self.text_model_ = self.plan_.from_sums(known)
        if known is not None:
            self._waiting = []

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report a missing model, or labels that are no columns of a 0/1 matrix."""
        yield from super()._faults(sizes)
        if self.plan_ is None or self.text_model_ is None:
            yield " has no model"
        n_columns, classes = self.n_columns_, self.classes_
        fits = n_columns is None or (
            self.plan_ is not None
            and self.plan_.multi_label
            and classes.dtype.kind in "iu"
            and classes.min() >= 0
            and classes.max() < n_columns
        )
        if not fits:
            yield ".n_columns_ does not fit the labels"


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
    threshold = classifier.min_confidence_ if classifier.thresholds_ else None
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


def deciding_words(
    classifier: TextClassifier, texts: DocumentsLike, rows: Sequence[int]
) -> dict[int, list[tuple[str, float]]] | None:
    """Terms behind the answers to some documents; None if it cannot tell."""
    if not rows:
        return None
    try:
        explained = classifier.explain(take(texts, np.asarray(rows)))
    except NotSupportedError:
        return None
    return {
        row: [(term.term, term.contribution) for term in explanation.terms]
        for row, explanation in zip(rows, explained, strict=True)
    }
