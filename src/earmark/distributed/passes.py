"""One fit over parts: counts, then columns, then what the model asks of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from earmark.decision.any_of import require_weighable
from earmark.distributed.counting import (
    CountTask,
    MatrixTask,
    PartCounts,
    RowsOfParts,
    cut_to_fit,
)
from earmark.distributed.executor import Executor, Regions, merge_tree, merged
from earmark.distributed.sampling import Sample, SampleTask, room_of
from earmark.documents.parts import Part
from earmark.exceptions import DataError, Named, NotSupportedError
from earmark.features import HashedCounter, WordCounter
from earmark.features.columns import Block, Columns, ColumnsTemplate
from earmark.features.word_counter import no_term_left
from earmark.inputs.regions import RegionTexts
from earmark.models.base.additive import AdditiveClassifier
from earmark.models.base.classifier import check_parameters
from earmark.models.base.declaration import MODELS
from earmark.parameters import offers
from earmark.pipeline.text_model import Plan, TextModel
from earmark.statistics.term_counts import TermCounts
from earmark.statistics.term_sums import TermSums
from earmark.typing import Estimator, IntVector, Labels


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
        """Note the bad parts that the first pass met; raise if it met one class."""
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


# -- columns ------------------------------------------------------------------------


def fitted_columns(template: ColumnsTemplate, counts: PartCounts) -> Columns:
    """What ``template.fit`` learns from the same documents."""
    if not isinstance(template.counter, WordCounter | HashedCounter):
        raise NotSupportedError(
            "data in parts are counted by WordCounter or HashedCounter, got "
            f"{type(template.counter).__name__}; give features as a dict of "
            "WordCounter parameters, or fit in memory."
        )
    regions = list(counts.labelled)
    if isinstance(template.counter, HashedCounter):
        return template.hashed(regions)
    tables = [
        merged(table, counts.pool[region]) if region in counts.pool else table
        for region, table in counts.labelled.items()
    ]
    n_documents = sum(int(table.docs.sum()) for table in tables[:1])
    several = len(tables) > 1
    shared = None
    if template.shared:
        everything = merge_tree(tables)
        n_texts = n_documents * len(tables)
        shared = _learned(template.counter, everything, n_texts)[0]
    blocks = []
    for region, table in zip(regions, tables, strict=True):
        if several and not table.n_terms and shared is None:
            counter, frequency = None, table.document_frequency()
        elif shared is not None:
            counter, frequency = shared, _frequency_in(shared, table)
        else:
            counter, frequency = _learned(template.counter, table, n_documents)
        weighting = template.weighting
        if weighting is not None:
            weighting = clone(weighting).fit_frequencies(frequency, n_documents)
        blocks.append(Block("word", region, counter, weighting, len(frequency)))
    return Columns(blocks, regions)


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


# -- training -----------------------------------------------------------------------


def fit_plan(plan: Plan, job: Job) -> TextModel:
    """Fit a plan to the parts; one pass for the count models."""
    require_in_parts(plan)
    if plan.by_term:
        check_parameters(plan.estimator)
        counts = job.count(plan.columns.counter)
        regions = list(counts.labelled)
        parts = [counts.labelled.pop(region).statistics() for region in regions]
        return plan.from_sums(TermSums(regions, parts))
    additive = isinstance(plan.estimator, AdditiveClassifier)
    hashed = isinstance(plan.columns.counter, HashedCounter)
    if additive and hashed and not plan.estimator.tunes:
        return _fit_hashed(plan, job)
    template, with_pool = plan.columns, plan.columns_from_pool
    if with_pool:
        template = replace(template, weighting=None)  # counts, whatever models are fed
    counts = job.count(template.counter, with_pool)
    docs = next(iter(counts.labelled.values())).docs
    columns = fitted_columns(template, counts)
    if not columns.width:
        raise no_term_left(template.counter)
    task = MatrixTask(columns, job.regions, counts.classes, with_pool)
    rows = RowsOfParts(
        job.executor,
        job.executor.keep("rows", task, job.parts),
        counts.classes,
        docs,
        {part.number: counts.parts[part.number][0] for part in job.parts},
        columns.width,
        plan.class_weight.checked_factors(counts.classes, docs.astype(np.float64)),
        columns.region_numbers,
    )
    fitted = TextModel(columns, clone(plan.estimator).fit_in_parts(rows))
    if offers(fitted.model, "leave_one_out"):
        fitted.class_factor = rows.class_weight
    if counts.n_unlabelled and getattr(fitted.model, "documents_", None) is not None:
        fitted.training_rows = rows.places(counts.parts)
    return fitted


def names_in_parts() -> str:
    """The names of the models that are fitted in parts."""
    return ", ".join(model.name for model in MODELS if model.in_parts)


def require_in_parts(plan: Plan) -> None:
    """Raise unless the plan's model can be fitted in parts."""
    if plan.multi_label or not offers(plan.estimator, "fit_in_parts"):
        raise NotSupportedError(
            f"{type(plan.estimator).__name__} cannot be fitted in parts; take one of "
            f"{names_in_parts()}, or fit in memory."
        )
    if plan.class_weight.factors is not None:
        require_weighable(plan.estimator)


def _hashed_sums(
    template: ColumnsTemplate, model: Estimator, texts: RegionTexts, labels: Labels
) -> Any:
    """The model's statistics of one batch, over hashed columns."""
    columns = template.hashed(list(texts))
    return model.accumulate(columns.rows(texts).matrix, labels)


def _fit_hashed(plan: Plan, job: Job) -> TextModel:
    """Fit in one pass: the columns are hashes, so no vocabulary is needed."""
    model = clone(plan.estimator)
    check_parameters(model)
    if plan.class_weight.factors is not None:
        raise NotSupportedError(
            [
                Named("class_weight"),
                " is not known in a single pass; leave it out, or count without "
                "hashing.",
            ],
            about="class_weight",
        )
    add = partial(_hashed_sums, plan.columns, model)
    counts = job.count(plan.columns.counter, add=add)
    columns = plan.columns.hashed(list(counts.labelled))
    return TextModel(columns, model.finalise(counts.sums))
