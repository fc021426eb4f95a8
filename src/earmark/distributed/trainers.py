"""Which passes each model makes over the parts, and what it asks of them: sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from earmark.distributed.counting import (
    CountTask,
    GatheredRows,
    MatrixTask,
    PartCounts,
    PartedRows,
    PartRows,
    class_counts,
    cut_to_fit,
    weights_of,
)
from earmark.distributed.executor import Executor, Regions, merge_tree, merged
from earmark.distributed.hierarchical import fit_hierarchical
from earmark.distributed.sampling import Sample, SampleTask, room_of
from earmark.documents.parts import Part
from earmark.exceptions import DataError, NotSupportedError
from earmark.features import HashedCounter, WordCounter
from earmark.features.word_counter import no_term_left
from earmark.kernels.rows import canonical_rows, presence
from earmark.models import (
    GaussianNaiveBayes,
    HierarchicalBayes,
    HigherOrderNaiveBayes,
    HybridBayes,
    RocchioClassifier,
    SemiSupervisedNaiveBayes,
    SoftmaxRegression,
)
from earmark.models.base.additive import AdditiveClassifier
from earmark.models.base.classifier import check_parameters
from earmark.models.base.declaration import MODELS
from earmark.models.shared.naive_bayes import CountNaiveBayes
from earmark.models.shared.paths import block_paths, joined_paths
from earmark.models.shared.pool_em import Parameters, PoolSums, expected_sums
from earmark.models.shared.region_weights import left_out
from earmark.models.softmax import Point, Slope
from earmark.pipeline.count_engine import CountEngine, class_factors
from earmark.pipeline.inputs import RegionTexts
from earmark.pipeline.matrix_engine import MatrixEngine
from earmark.pipeline.text_features import RegionFeatures
from earmark.statistics import ClassStatistics
from earmark.statistics.term_counts import TermCounts
from earmark.typing import Estimator, FloatMatrix, FloatVector, IntVector, Labels


class NothingToLearnError(DataError):
    """The counts of all parts are there, and hold no two classes."""


@dataclass
class Job:
    """One fit: which parts, on what, and what was found."""

    executor: Executor
    parts: Sequence[Part]
    regions: Regions  # As in ``TextClassifier``
    skip_bad: bool = False
    memory: int | None = None  # Bytes that the model may take
    notes: list[str] = field(default_factory=list)
    """What the user should know about the data."""
    counts: PartCounts | None = None
    classes: dict[str, int] = field(default_factory=dict)
    """Label -> how many documents have it."""
    documents: tuple[Any, list[str]] | None = None
    """Texts and labels that were brought together, if the model asked for that."""
    pool: Any = None  # Texts without a label that were

    def count(
        self, counter: Estimator, with_pool: bool = False, add: Any = None
    ) -> PartCounts:
        """The first pass; bad parts take no part in the later ones."""
        task = CountTask(counter, self.regions, self.skip_bad, with_pool, add)
        counts: PartCounts = self.executor.reduce("counts", task, self.parts)
        if self.memory is not None and counts.min_df == 1 and counts.labelled:
            counts = cut_to_fit(counts, self.memory)
        classes: dict[str, int] = {}
        if counts.labelled:
            docs = next(iter(counts.labelled.values())).docs.tolist()
            classes = dict(zip(counts.classes.tolist(), map(int, docs), strict=True))
        self._settle(counts, classes)
        if counts.min_df > 1:
            self.notes.append(
                f"terms of fewer than {counts.min_df} documents were left out to keep "
                "within the memory given"
            )
        return counts

    def sample(self, seed: int) -> Sample:
        """Labelled documents, and some of the others, brought here in one pass."""
        task = SampleTask(self.regions, room_of(self.memory), seed, self.skip_bad)
        counts: PartCounts = self.executor.reduce("sample", task, self.parts)
        drawn: Sample = counts.sums or Sample(task.room)
        self._settle(counts, drawn.classes)
        return drawn

    def _settle(self, counts: PartCounts, classes: dict[str, int]) -> None:
        """Take note of what the first pass met: bad parts, and at least two classes."""
        self.counts = counts
        names = {part.number: part.name for part in self.parts}
        bad = [names[number] for number in counts.bad]
        self.parts = [part for part in self.parts if part.number not in counts.bad]
        if not classes:
            why = f" ({len(bad)} could not be read)" if bad else ""
            asked = self.parts[0].request.label if self.parts else None
            column = f" in the column {asked!r}" if isinstance(asked, str) else ""
            raise NothingToLearnError(
                f"no labelled document{column} of the {len(bad) + len(self.parts)} "
                f"parts{why}; name the column that holds the labels with label=."
            )
        if len(classes) < 2:
            raise NothingToLearnError(
                f"the parts hold one class only, {next(iter(classes))!s}; expected at "
                "least 2: label some documents of another class."
            )
        self.classes = {str(name): size for name, size in sorted(classes.items())}
        if bad:
            listed = ", ".join(bad[:5]) + (", ..." if len(bad) > 5 else "")
            what = "1 bad part was" if len(bad) == 1 else f"{len(bad)} bad parts were"
            self.notes.append(f"{what} left out: {listed}")


# -- features -----------------------------------------------------------------------


def fit_features(features: RegionFeatures, counts: PartCounts) -> RegionFeatures:
    """What ``features.fit_transform`` learns from the same documents."""
    if not isinstance(features.counter, WordCounter | HashedCounter):
        raise NotSupportedError(
            "data in parts are counted by WordCounter or HashedCounter, got "
            f"{type(features.counter).__name__}; give features as a dict of "
            "WordCounter parameters, or fit in memory."
        )
    features.regions_ = list(counts.labelled)
    if isinstance(features.counter, HashedCounter):
        return hashed_features(features, features.regions_)
    tables = [
        merged(table, counts.pool[region]) if region in counts.pool else table
        for region, table in counts.labelled.items()
    ]
    n_documents = sum(int(table.docs.sum()) for table in tables[:1])
    several = len(tables) > 1
    shared = None
    if features.shared:
        everything = merge_tree(tables)
        n_texts = n_documents * len(tables)
        shared = _learned(features.counter, everything, n_texts)[0]
    features.counters_, features.weightings_, features.widths_ = [], [], []
    for table in tables:
        if several and not table.n_terms and shared is None:
            counter, frequency = None, table.document_frequency()
        elif shared is not None:
            counter, frequency = shared, _frequency_in(shared, table)
        else:
            counter, frequency = _learned(features.counter, table, n_documents)
        weighting = features.weighting
        if weighting is not None:
            weighting = clone(weighting).fit_frequencies(frequency, n_documents)
        features.counters_.append(counter)
        features.weightings_.append(weighting)
        features.widths_.append(len(frequency))
    return features


def hashed_features(features: RegionFeatures, regions: list[str]) -> RegionFeatures:
    """Features whose columns are known before any document is."""
    features.regions_ = regions
    features.counters_ = [clone(features.counter) for _ in regions]
    features.weightings_ = [None for _ in regions]
    features.widths_ = [features.counter.n_features for _ in regions]
    return features


def _learned(
    counter: WordCounter, table: TermCounts, n_documents: int
) -> tuple[WordCounter, IntVector]:
    """A counter with the vocabulary, and the document frequencies of its columns."""
    frequency = table.document_frequency()
    total = table.tokens.sum(axis=0).ravel()
    fitted = clone(counter)
    if fitted.vocabulary is not None:
        return fitted.fit(()), _frequency_in(fitted, table)
    return fitted, frequency[
        fitted.fit_frequencies(table.terms(), frequency, total, n_documents)
    ]


def _frequency_in(counter: WordCounter, table: TermCounts) -> IntVector:
    """Document frequencies of the counter's columns, whatever the table holds."""
    known = dict(zip(table.terms(), table.document_frequency().tolist(), strict=True))
    return np.asarray(
        [known.get(term, 0) for term in counter.get_feature_names_out().tolist()],
        dtype=np.int64,
    )


# -- what each model asks of the parts ----------------------------------------------

# As many as Rocchio tunes its temperature on.
_ENOUGH_DOCUMENTS = 500


def _sums(
    model: AdditiveClassifier,
    classes: Labels,
    factor: FloatVector | None,
    columns: dict[str, IntVector],
    rows: PartRows,
) -> Any:
    """The statistics that the model declares, of one part, over all classes."""
    labels, weight = classes[rows.y], weights_of(factor, rows.y)
    return model.accumulate(
        rows.X, labels, sample_weight=weight, classes=classes, **columns
    )


def fit_additive(
    model: AdditiveClassifier, data: PartedRows, **columns: IntVector
) -> None:
    """Accumulate on every part, merge, finalise (CS1, CS2)."""
    check_parameters(model)
    known = (data.classes, data.class_weight, columns)
    model.finalise(data.sum("sums", _sums, model, *known))


def fit_rocchio(model: RocchioClassifier, data: PartedRows) -> None:
    """The sums, then the temperature on the same few documents as in memory."""
    if model.rule != "nearest" and model.threshold == "auto":
        raise NotSupportedError(
            f"RocchioClassifier(rule={model.rule!r}) tunes its threshold on all "
            "documents, which are not in one place; give a threshold."
        )
    fit_additive(model, data)
    if model.temperature == "auto":
        n_rows = sum(data.sizes.values())
        step = max(1, -(-n_rows // _ENOUGH_DOCUMENTS))
        some = data.picked(np.arange(0, n_rows, step))
        weight = weights_of(data.class_weight, some.y)
        model.tune(some.X, data.classes[some.y], weight)


def _evidence(
    model: HybridBayes, factor: FloatVector | None, rows: PartRows
) -> list[FloatMatrix]:
    """The hybrid's features (HY3): (n_rows, n_classes) for each region."""
    if not len(rows.y):
        return [np.zeros((0, len(model.classes_))) for _ in model.regions_]
    weight = left_out(weights_of(factor, rows.y), len(rows.y))
    return model.weight_features(rows.X, rows.y, weight)


def fit_hybrid(model: HybridBayes, data: PartedRows) -> None:
    """Two passes and a small convex problem (HY3)."""
    # The second, one for each alpha, brings n_regions x n_classes numbers per document
    # here, where the few region weights are fitted to them.
    model.blocks_ = data.blocks
    fit_additive(model, data, blocks=data.blocks)
    own = data.labels()
    own_weight = weights_of(data.class_weight, own)
    weight = np.ones(len(own)) if own_weight is None else own_weight

    def features() -> list[FloatMatrix]:
        parts = data.gather("evidence", _evidence, model, data.class_weight)
        return [np.concatenate(blocks) for blocks in zip(*parts, strict=True)]

    model.choose_weights(own, weight, left_out(own_weight, len(own)), features)


def _block(number: int | None, rows: PartRows) -> GatheredRows:
    """The rows of one class (None: of all) as presences, a byte for each term."""
    mine = rows.y == number if number is not None else rows.y >= 0
    rows_of_terms = presence(canonical_rows(rows.X[mine])).astype(np.int8)
    return GatheredRows(rows_of_terms, rows.y[mine])


def _paths(order: int, block: GatheredRows) -> tuple[Any, Any]:
    """Paths per term and in total (HO1) of the documents of a class; exact."""
    return block_paths(canonical_rows(block.X.astype(np.int64)), order)


def fit_higher_order(model: HigherOrderNaiveBayes, data: PartedRows) -> None:
    """Path counts, exact for any division of the documents."""
    # A path joins two documents of a class, so path counts of parts do not add: all
    # documents of a class are brought together, one byte for each of their terms, and
    # counted where they meet, one class after the other.
    check_parameters(model)
    if model.pure:
        raise NotSupportedError(
            "HigherOrderNaiveBayes(pure=True) needs all documents of all classes in "
            "one place; fit in memory."
        )
    n_classes = len(data.classes)
    statistics: ClassStatistics = data.sum("presence", class_counts, n_classes)
    pairs = []
    if model.order > 1:
        for number in range(n_classes):
            one = partial(_block, number)
            block = data.executor.keep_merged("block", one, data.items)
            pairs += replace(data, items=[block]).gather("paths", _paths, model.order)
    model.classes_, model.n_features_in_ = data.classes, data.n_features
    documents = data.docs.astype(np.int64)
    paths = joined_paths(model.order, statistics.presence, documents, pairs)
    if not model.keep_documents:
        model.finalise(paths)
        return
    rows: GatheredRows = data.sum("documents", _block, None)
    model.finalise(paths, canonical_rows(rows.X), rows.y)


def _expected(
    now: Parameters, before: Parameters | None, evidence: float | None, rows: PartRows
) -> PoolSums:
    """The E-step of a part: sums of its unlabelled documents (SS1)."""
    return expected_sums(rows.pool, now, before, evidence)


def fit_semi_supervised(model: SemiSupervisedNaiveBayes, data: PartedRows) -> None:
    """The same loop as in memory; sums of the pool come from the parts."""
    n_classes = len(data.classes)
    labelled: ClassStatistics = data.sum("labelled", class_counts, n_classes)
    docs = labelled.docs.astype(np.float64)
    own = PoolSums(labelled.dense_tokens().T, docs, 0.0, int(docs.sum()))

    def expect(now: Parameters, before: Parameters | None) -> PoolSums:
        sums: PoolSums = data.sum("expected", _expected, now, before, model.evidence)
        return sums

    model.fit_sums(data.classes, own, expect)


def _slope(
    at: Point, along: Point | None, factor: FloatVector | None, rows: PartRows
) -> Slope:
    """Cross-entropy of a part and its gradient, or how that changes."""
    weight = np.ones(len(rows.y)) if factor is None else factor[rows.y]
    if along is None:
        return at.slope(rows.X, rows.y, weight)
    return at.curve(rows.X, weight, along)


def fit_softmax(model: SoftmaxRegression, data: PartedRows) -> None:
    """The exact optimum that ``solver="dual"`` approaches in memory."""
    docs = data.docs.astype(np.float64)
    factor = data.class_weight
    total = float(docs.sum() if factor is None else docs @ factor)

    def sums(at: Point, along: Point | None) -> Slope:
        slope: Slope = data.sum("slope", _slope, at, along, factor)
        return slope

    model.fit_sums(data.classes, data.n_features, total, sums)


# -- training -----------------------------------------------------------------------

_TRAINERS: tuple[tuple[type, Callable[[Any, PartedRows], None]], ...] = (
    (RocchioClassifier, fit_rocchio),
    (HybridBayes, fit_hybrid),
    (CountNaiveBayes, fit_additive),
    (GaussianNaiveBayes, fit_additive),
    (HigherOrderNaiveBayes, fit_higher_order),
    (SoftmaxRegression, fit_softmax),
    (SemiSupervisedNaiveBayes, fit_semi_supervised),
    (HierarchicalBayes, fit_hierarchical),
)


def train(engine: Any, job: Job) -> None:
    """Fit the engine to the parts; one pass for the count models."""
    if isinstance(engine, CountEngine):
        _train_counts(engine, job)
        return
    trainer = trainer_of(engine)
    if isinstance(engine.features.counter, HashedCounter) and trainer is fit_additive:
        _train_hashed(engine, job)
        return
    with_pool = isinstance(engine.estimator, SemiSupervisedNaiveBayes)
    if with_pool:
        engine.features.weighting = None  # counts, whatever unknown models are fed
    counts = job.count(engine.features.counter, with_pool)
    classes = counts.classes
    docs = next(iter(counts.labelled.values())).docs
    features = fit_features(engine.features, counts)
    width = sum(features.widths_)
    if not width:
        raise DataError(no_term_left(engine.features.counter))
    task = MatrixTask(features, job.regions, classes, with_pool)
    sizes = {part.number: counts.parts[part.number][0] for part in job.parts}
    data = PartedRows(
        job.executor,
        job.executor.keep("rows", task, job.parts),
        classes,
        docs,
        sizes,
        width,
        class_factors(engine.class_weight, classes, docs.astype(np.float64)),
        features.blocks_,
    )
    model = clone(engine.estimator)
    trainer(model, data)
    engine.model_, engine.classes_ = model, np.asarray(model.classes_)
    engine.calibrator_ = None
    if counts.n_unlabelled and getattr(model, "documents_", None) is not None:
        engine.keep_rows(data.places(counts.parts))


def names_in_parts() -> str:
    """The names of the models that are fitted in parts."""
    return ", ".join(model.name for model in MODELS if model.in_parts)


def trainer_of(engine: Any) -> Callable[[Any, PartedRows], None]:
    """What fits the engine's model to rows; an error if it cannot be done in parts."""
    if type(engine) is MatrixEngine:
        for kind, trainer in _TRAINERS:
            if isinstance(engine.estimator, kind):
                return trainer
    raise NotSupportedError(
        f"{type(engine.estimator).__name__} cannot be fitted in parts; take one of "
        f"{names_in_parts()}, or fit in memory."
    )


def _train_counts(engine: CountEngine, job: Job) -> None:
    """Accumulate, merge, finalise: the statistics are the model."""
    check_parameters(engine.estimator)
    counts = job.count(engine.counter)
    engine.regions_ = list(counts.labelled)
    engine.statistics_ = [
        counts.labelled.pop(region).statistics() for region in engine.regions_
    ]
    engine.finalise()


def _hashed_sums(
    features: RegionFeatures, model: Estimator, texts: RegionTexts, labels: Labels
) -> Any:
    """The model's statistics of one batch, over hashed columns."""
    columns = hashed_features(clone(features), list(texts))
    return model.accumulate(columns.transform(texts), labels)


def _train_hashed(engine: Any, job: Job) -> None:
    """One pass: columns are hashes, so nothing need be known before."""
    model = clone(engine.estimator)
    check_parameters(model)
    if engine.class_weight is not None:
        raise NotSupportedError(
            "class_weight is not known in a single pass; leave it out, or count "
            "without hashing."
        )
    add = partial(_hashed_sums, engine.features, model)
    counts = job.count(engine.features.counter, add=add)
    hashed_features(engine.features, list(counts.labelled))
    engine.model_ = model.finalise(counts.sums)
    engine.classes_ = np.asarray(model.classes_)
    engine.calibrator_ = None
