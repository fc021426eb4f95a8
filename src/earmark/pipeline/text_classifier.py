"""TextClassifier: raw strings in, decisions out; the object that users save."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from earmark.decision.decision import Decision
from earmark.exceptions import DataError
from earmark.models.registry import BuildOptions
from earmark.pipeline.any_of_engine import AnyOfEngine
from earmark.pipeline.build import Engine, build_engine
from earmark.pipeline.confidence import ConfidenceEvidence
from earmark.pipeline.encoding import require_encoder
from earmark.pipeline.files import save_classifier
from earmark.pipeline.inputs import (
    RegionTexts,
    as_region_texts,
    fitting_features,
    n_documents,
    take,
    with_regions,
)
from earmark.pipeline.labels import Target, as_target, warn_of_new_labels
from earmark.pipeline.plan import make_plan, model_name
from earmark.pipeline.promise import PromiseMixin
from earmark.pipeline.semi_engine import told_of_encoder
from earmark.pipeline.telling import TellingMixin
from earmark.statistics._inputs import checked_weights
from earmark.typing import FloatMatrix, IntVector, JsonObject, Labels

__all__ = ["TextClassifier"]

_BY_CHARACTERS = "text without spaces: characters and pairs of them are counted"


class TextClassifier(PromiseMixin, TellingMixin, ClassifierMixin, BaseEstimator):
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
    encoder : callable, default=None
        A function from a list of texts to an array of vectors, one more view of the
        documents for ``semi-supervised``. It is not stored in a model file: save
        with ``allow_callables=True`` and give it again to ``load``.
    multi_label : "auto" or bool, default="auto"
        Whether a document may have several labels. "auto": if labels are lists.
    max_error : float in (0, 1), default=None
        Abstain (answer None) so that at most this share of the answers is wrong.
        Promised if ``fit`` gets calibration documents, else an estimate.
    confidence : float in (0, 1), default=0.95
        How surely ``max_error`` is to hold.
    class_weight : None, "balanced" or dict, default=None
        Factor on the documents of each class.
    random_state : int or None, default=None
        Seed of whatever is random in the model.
    n_jobs : int or None, default=None
        Threads for counting; never changes the result.
    verbose : int, default=0
        1 shows progress of long work.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; the column order of every score matrix.
    model_name_ : str
        The model that was chosen.

    Examples
    --------
    >>> texts = ["cheap pills now", "meeting at noon", "cheap watches", "lunch at noon"]
    >>> labels = ["spam", "ham", "spam", "ham"]
    >>> classifier = TextClassifier(model="multinomial").fit(texts, labels)
    >>> classifier.predict(["cheap lunch pills"])
    array(['spam'], dtype='<U4')

    """

    engine_: Engine
    classes_: Labels
    evidence_: ConfidenceEvidence | None

    def __init__(
        self,
        model: Any = "auto",
        *,
        regions: Any = None,
        features: Any = None,
        encoder: Any = None,
        multi_label: Any = "auto",
        max_error: float | None = None,
        confidence: float = 0.95,
        class_weight: Any = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.regions = regions
        self.features = features
        self.encoder = encoder
        self.multi_label = multi_label
        self.max_error = max_error
        self.confidence = confidence
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- learning --------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        unlabelled: Any = None,
        validation: Any = None,
        calibration: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn from texts X and labels y.

        Parameters
        ----------
        X : sequence of str, or frame or dict of region columns
            The documents.
        y : sequence of labels
            One for each document; None marks an unlabelled one. Lists of labels
            ask for any-of classification.
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
        require_encoder(self.encoder)
        texts = self._texts(X, new=True)
        target = as_target(y, n_documents(texts), self.multi_label)
        _require_two_classes(target)
        weight = _labelled_weights(sample_weight, target, n_documents(texts))
        labelled = take(texts, target.labelled)
        pool = self._pool(texts, target, unlabelled)
        options = self._options()
        features = fitting_features(self.features, texts)
        plan = make_plan(self.model, features, options, labelled, target, pool, weight)
        held_out = self._pair(validation, "validation", texts)
        if not plan.is_fitted:
            plan.engine.fit(labelled, target.labels, weight, pool, held_out)
        if len(target.unlabelled) and hasattr(plan.engine, "keep_rows"):
            plan.engine.keep_rows(target.labelled)
        told = [] if features is self.features else [_BY_CHARACTERS]
        if self.encoder is not None:
            told.append(told_of_encoder(plan.engine))
        self._adopt(plan.engine, plan.name, [*plan.reasons, *told])
        if calibration is not None:
            pair = self._pair(calibration, "calibration", texts)
            assert pair is not None
            warn_of_new_labels(pair[1], self.classes_, "calibration")
            self.evidence_ = ConfidenceEvidence.from_calibration(
                self.engine_, labelled, pair
            )
        elif self.max_error is not None:
            self.measure_confidence(X, y, sample_weight)
        return self

    def measure_confidence(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Estimate how right the answers are, from the documents it was fitted on.

        Each document is judged by the model without it: leave-one-out where that
        is exact, else in folds. ``max_error`` then works on an estimate; only
        ``fit(..., calibration=...)`` gives a guarantee.
        """
        check_is_fitted(self)
        texts = self._texts(X)
        target = as_target(y, n_documents(texts), self.multi_label)
        weight = _labelled_weights(sample_weight, target, n_documents(texts))
        name = self.model_name_ if isinstance(self.model, str) else self.model
        features = fitting_features(self.features, texts)
        self.evidence_ = ConfidenceEvidence.from_training(
            self.engine_,
            lambda: build_engine(name, features, self._options(), self.is_multi_label_),
            take(texts, target.labelled),
            target.labels,
            weight,
        )
        return self

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
        if not hasattr(self, "engine_"):
            name = "multinomial" if self.model == "auto" else self.model
            features = fitting_features(self.features, texts)
            engine = build_engine(name, features, self._options())
            engine.partial_fit(texts, target.labels, classes)
            self._adopt(engine, model_name(name), ["updated document by document"])
        else:
            self.engine_.partial_fit(texts, target.labels, classes)
            self.evidence_ = None
        return self

    def forget(self, X: Any, y: Any) -> Self:
        """Unlearn documents exactly, for the models that can."""
        check_is_fitted(self)
        texts = self._texts(X)
        target = as_target(y, n_documents(texts), self.multi_label)
        self.engine_.forget(texts, target.labels)
        self.evidence_ = None
        return self

    # -- answering -------------------------------------------------------------

    def predict(self, X: Any) -> Labels:
        """The label of each document; None where ``max_error`` makes it abstain.

        With several labels a document, an object array of tuples.
        """
        labels: Labels = self.decide(X).labels
        return labels

    def decide(self, X: Any) -> Decision:
        """Labels, confidences, probabilities and abstentions in one value."""
        check_is_fitted(self)
        return self._decided(self._texts(X))

    def predict_proba(self, X: Any) -> FloatMatrix:
        """Probability of each class, (n_documents, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> FloatMatrix:
        """Log probability of each class, (n_documents, n_classes)."""
        check_is_fitted(self)
        return self.engine_.log_probabilities(self._texts(X))

    def decision_function(self, X: Any) -> FloatMatrix:
        """The model's own scores; for two classes, the margin of ``classes_[1]``."""
        check_is_fitted(self)
        scores = self.engine_.scores(self._texts(X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> FloatMatrix:
        """Log posteriors of training documents, each as if not trained on.

        Vocabulary, document frequencies and selection are held fixed. Returns an
        array of shape (n_documents, n_classes).
        """
        check_is_fitted(self)
        texts = self._texts(X)
        target = as_target(y, n_documents(texts), self.multi_label)
        if len(target.unlabelled):
            raise DataError(f"y, row {target.unlabelled[0]}: the label is missing.")
        return self.engine_.leave_one_out(texts, target.labels, sample_weight)

    def rank(self, X: Any, label: Any) -> IntVector:
        """Document numbers, the likeliest of class ``label`` first (routing)."""
        check_is_fitted(self)
        known = self.classes_.tolist()
        if label not in known:
            raise DataError(f"label must be one of {known!r}, got {label!r}.")
        column = self.predict_log_proba(X)[:, known.index(label)]
        return np.argsort(-column, kind="stable")

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        allow_callables: bool = False,
        metadata: JsonObject | None = None,
    ) -> None:
        """Write the fitted classifier to one file, whole or not at all.

        A file holds no code. A classifier with functions of yours in it, such as an
        encoder, is refused unless you allow to leave them out; ``load`` then asks
        for them. ``metadata``, plain JSON data, is kept in the file's manifest.
        """
        check_is_fitted(self)
        save_classifier(self, path, metadata, allow_callables=allow_callables)

    # -- private ---------------------------------------------------------------

    def _texts(self, X: Any, where: str = "X", *, new: bool = False) -> RegionTexts:
        """Documents by region; the regions of the model, unless it is ``new``."""
        texts = as_region_texts(X, self.regions, where)
        if not n_documents(texts):
            raise DataError(f"{where} holds no document.")
        if new or not hasattr(self, "engine_"):
            return texts
        return with_regions(texts, self.engine_.region_names, self.regions, where)

    def _pool(self, texts: RegionTexts, target: Target, unlabelled: Any) -> RegionTexts:
        """Unlabelled documents: rows without a label, and the ones given apart."""
        pool = take(texts, target.unlabelled)
        if unlabelled is None:
            return pool
        more = as_region_texts(unlabelled, self.regions, "unlabelled")
        more = with_regions(more, list(texts), self.regions, "unlabelled")
        return {name: [*pool[name], *more[name]] for name in texts}

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
        target = as_target(pair[1], n_documents(texts), self.multi_label)
        return take(texts, target.labelled), target.labels

    def _decided(self, texts: RegionTexts) -> Decision:
        thresholds = self.thresholds_
        if isinstance(self.engine_, AnyOfEngine):
            return self.engine_.decide(texts, thresholds)
        proba = np.exp(self.engine_.log_probabilities(texts))
        labels: Labels = self.classes_[proba.argmax(axis=1)]
        confidence = proba.max(axis=1)
        abstained = np.zeros(len(proba), dtype=bool)
        for threshold in thresholds:
            abstained = confidence < threshold.value
            labels = labels.astype(object)
            labels[abstained] = None
        return Decision(
            labels=labels,
            confidence=confidence,
            abstained=abstained,
            scores=proba,
            classes=self.classes_,
        )

    def _options(self) -> BuildOptions:
        return BuildOptions(
            class_weight=self.class_weight,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            encoder=self.encoder,
            verbose=self.verbose,
        )

    def _adopt(self, engine: Any, name: str, reasons: list[str]) -> None:
        self.engine_ = engine
        self.classes_ = engine.classes_
        self.model_name_ = name
        self.evidence_ = None
        self.reasons_ = reasons

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _labelled_weights(sample_weight: Any, target: Target, n_texts: int) -> Any:
    if sample_weight is None:
        return None
    weight = checked_weights(sample_weight, n_texts)
    return None if weight is None else weight[target.labelled]


def _require_two_classes(target: Target) -> None:
    if target.multi_label or bool(np.any(target.labels[1:] != target.labels[0])):
        return
    raise DataError(
        f"y holds one class only, {target.labels[0]!s}; expected at least 2: label "
        "some documents of another class."
    )
