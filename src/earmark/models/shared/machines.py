"""The machines of ``linear``: from rows, classes and settings to weights (LM2, LM3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from earmark.features.columns import Rows
from earmark.kernels.keys import Words, counter_key, fingerprints, mixed_bits
from earmark.kernels.one_vs_rest import OneVsRest
from earmark.kernels.rows import canonical_rows, log_normalize
from earmark.kernels.softmax import fitted_temperature
from earmark.typing import (
    BoolVector,
    FloatMatrix,
    FloatTable,
    FloatVector,
    IntVector,
    Matrix,
    SparseMatrix,
)

# Strengths to try; each fit goes on from where the one before ended.
STRENGTHS = (0.03, 0.1, 0.3, 0.9, 2.7)
# What words and vectors may count beside the pieces of words, whose rows have length 1.
WORDS, VECTORS = (1.6, 1.0), (0.5, 0.0, 1.0, 2.0)
# The bias is a column whose square is this share of a row's.
_BIAS = 0.1
# Passes of a fit that is only to be judged.
_FEW_PASSES = 5
# Below so many documents nothing is chosen; below so many, settings change only for a
# lead of so many standard errors; below so many, the search starts from two places.
_FEWEST, _FEW, _SURE, _SEVERAL = 20, 300, 2.0, 2_000
# Of more documents so many are drawn by lot to choose on: fewer if their entries times
# classes exceed the limit, but never fewer than the least. Whether vectors help, and
# how sure the scores are, is then asked of a larger sample.
_MOST, _MOST_ENTRIES, _LEAST = 12_000, 1.5e8, 1_500
_MANY, _MANY_ENTRIES = 50_000, 1.5e9
# A quarter of the documents is held out; of fewer documents, several times.
_REPEATS = ((300, 8), (2_000, 3))
# Scores become log-odds by this factor where nothing is known: of a choice between yes
# and no, and between more. Pseudo-documents hold the factor there.
_SCALE_OF_TWO, _SCALE, _SCALE_STRENGTH = 1.5, 3.0, 2.0
# What is added to the documents with a term, in a class and in the rest.
_SMOOTHING = 2.0


@dataclass(frozen=True)
class Settings:
    """What a fit needs to know beside the documents."""

    C: float = 0.9
    prior: bool = False
    words: float = WORDS[0]
    vectors: float = VECTORS[0]


# Where documents are few: the meaning of words that never met a label counts most.
_OF_FEW = {"words": 1.0, "vectors": 2.0}


@dataclass(frozen=True, eq=False)
class Views:
    """Documents: sparse columns of several views, and dense ones."""

    rows: SparseMatrix
    """Canonical CSR in single precision."""
    ends: tuple[int, ...]
    """Where the columns of each view end; words come first."""
    dense: FloatTable
    """Vectors, (n_documents, n_dimensions)."""

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def take(self, rows: IntVector) -> Views:
        """Some of the documents."""
        if np.array_equal(rows, np.arange(len(self))):
            return self
        some = sparse.csr_array(self.rows[rows])
        some.has_canonical_format = True
        return replace(self, rows=some, dense=self.dense[rows])

    def used(self) -> Views:
        """The same documents without columns that are all zero."""
        is_used = np.zeros(self.rows.shape[1], dtype=bool)
        is_used[self.rows.indices] = True
        used = np.flatnonzero(is_used)
        place = np.cumsum(is_used, dtype=np.int32)[self.rows.indices] - 1
        shape = len(self), len(used)
        rows = sparse.csr_array((self.rows.data, place, self.rows.indptr), shape=shape)
        rows.has_canonical_format = True
        ends = tuple(np.searchsorted(used, self.ends).tolist())
        return replace(self, rows=rows, ends=ends)

    @cached_property
    def prints(self) -> Words:
        """64 bits for each document; equal documents have equal ones."""
        prints = fingerprints(self.rows)
        if self.dense.shape[1]:
            prints = mixed_bits(prints) + fingerprints(sparse.csr_array(self.dense))
        return mixed_bits(prints)

    @cached_property
    def squares(self) -> FloatVector:
        """Mean square of each sparse column."""
        rows = self.rows
        return np.bincount(rows.indices, rows.data**2, rows.shape[1]) / len(self)

    @cached_property
    def dense_size(self) -> float:
        """Mean squared length of the vectors."""
        return float(np.einsum("ij,ij->", self.dense, self.dense) / len(self))


def as_views(X: Rows | Matrix) -> Views:
    """Rows with a block for each view; a matrix is one view of words."""
    blocks: Sequence[Matrix] = X.blocks if isinstance(X, Rows) else [X]
    kinds: Sequence[str] = X.kinds if isinstance(X, Rows) else ["word"]
    counted = [
        canonical_rows(sparse.csr_array(block, dtype=np.float32))
        for block, kind in zip(blocks, kinds, strict=True)
        if kind != "vector"
    ]
    rows = counted[0]
    if len(counted) > 1:
        rows = sparse.csr_array(sparse.hstack(counted, format="csr"))
        rows.has_canonical_format = True
    vectors = X.of("vector") if isinstance(X, Rows) else None
    if vectors is None:
        vectors = np.zeros((rows.shape[0], 0))
    ends = np.cumsum([block.shape[1] for block in counted]).tolist()
    return Views(rows, tuple(ends), np.ascontiguousarray(vectors, dtype=np.float32))


@dataclass(frozen=True, eq=False)
class Task:
    """Distinct documents, the classes of each, and what they count."""

    views: Views
    truth: SparseMatrix
    """CSR (n_documents, n_machines) of ones: the classes that each document has."""
    weight: FloatVector
    prints: Words
    """Of documents and their classes."""
    factor: FloatMatrix
    """(2, n_machines): what documents of the rest count for a class, and its own."""

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, rows: IntVector) -> Task:
        """Some of the documents."""
        return Task(
            factor=self.factor,
            views=self.views.take(rows),
            truth=self.truth[rows],
            weight=self.weight[rows],
            prints=self.prints[rows],
        )

    def machines(self, settings: Settings) -> Machines:
        """Machines for these documents, of zero weights."""
        views, sizes = self.views, [1.0] * len(self.views.ends)
        sizes[0] = settings.words**2 if len(sizes) > 1 else 1.0
        rows, start = views.rows, 0
        variance = np.ones((rows.shape[1], 1), dtype=np.float32)
        if settings.prior:
            variance = self.log_ratios.copy()
        for end, size in zip(views.ends, sizes, strict=True):
            mean = views.squares[start:end] @ variance[start:end]
            own = size / np.where(mean > 0, mean, 1.0)
            variance[start:end] *= own.astype(np.float32)
            start = end
        if not settings.prior:
            # One variance for a view: its root is as good as a factor on its rows.
            data = rows.data * np.sqrt(variance[:, 0])[rows.indices]
            rows = sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
        of_dense = settings.vectors / np.sqrt(views.dense_size or 1.0)
        dense = views.dense if settings.vectors else views.dense[:, :0]
        dense = np.ascontiguousarray(dense * np.float32(of_dense))
        total = sum(sizes) + settings.vectors**2 * (views.dense.shape[1] > 0)
        solver = OneVsRest(
            rows,
            dense,
            self.truth,
            variance if settings.prior else None,
            _BIAS * total,
        )
        by_view = None if settings.prior else np.sqrt(variance[:, 0])
        return Machines(self, solver, by_view, of_dense)

    @cached_property
    def log_ratios(self) -> FloatTable:
        """Size of the log-ratio of each term, in a class against the rest (LM3)."""
        rows = self.views.rows
        ones = np.repeat(self.weight.astype(np.float32), np.diff(rows.indptr))
        present = sparse.csr_array((ones, rows.indices, rows.indptr), shape=rows.shape)
        own = (present.T @ self.truth).toarray().astype(np.float32)
        every = np.bincount(rows.indices, ones, rows.shape[1]).astype(np.float32)
        share = own.sum(axis=0, dtype=np.float64) / max(float(every.sum()), 1e-30)
        share = np.clip(share, 1e-12, 1.0 - 1e-12).astype(np.float32)
        rest = every[:, None] - own
        own /= share
        own += _SMOOTHING
        np.log(own, out=own)
        rest /= 1.0 - share
        rest += _SMOOTHING
        own -= np.log(rest, out=rest)
        ratios: FloatTable = np.abs(own, out=own)
        return ratios


def distinct_task(
    views: Views, truth: SparseMatrix, weight: FloatVector, factor: FloatMatrix
) -> tuple[Task, IntVector, IntVector]:
    """Equal documents of the same classes are one, so that their order does not matter.

    Also the first row of each, and which of them each row is; -1: it has no weight.
    """
    positive = np.flatnonzero(weight > 0)
    both = mixed_bits(views.prints ^ mixed_bits(fingerprints(truth) + np.uint64(1)))
    prints, first, same = np.unique(
        both[positive], return_index=True, return_inverse=True
    )
    # Documents stay in their order; only their copies go.
    order = np.argsort(first, kind="stable")
    rows = positive[first[order]]
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    place = np.full(len(weight), -1)
    place[positive] = rank[same]
    total = np.bincount(rank[same], weights=weight[positive], minlength=len(order))
    several = total.astype(np.float64)
    task = Task(views.take(rows), truth[rows], several, prints[order], factor)
    return task, rows, place


@dataclass(eq=False)
class Machines:
    """A fit on its way: how to go on with it, and what it has come to."""

    task: Task
    solver: OneVsRest
    by_view: FloatTable | None
    of_dense: float
    n_passes: int = 0

    def run(self, C: float, n_passes: int, tol: float, seed: int) -> Machines:
        """At most so many passes; fewer if the dual variables move by ``tol`` only."""
        task = self.task
        for _ in range(n_passes):
            key = counter_key(seed, self.n_passes)
            order = np.argsort(mixed_bits(task.prints ^ key), kind="stable")
            moved, total = self.solver.visit(order, C * task.weight, task.factor)
            self.n_passes += 1
            if moved <= tol * total:
                break
        return self

    @property
    def weights(self) -> FloatTable:
        """Weights of sparse columns and then of dense ones, (n_columns, n_machines)."""
        n_sparse = self.solver.rows.shape[1]
        n_columns = n_sparse + self.task.views.dense.shape[1]
        weights = np.zeros((n_columns, len(self.solver.bias)), dtype=np.float32)
        weights[:n_sparse] = self.solver.weights[:n_sparse]
        if self.by_view is not None:
            weights[:n_sparse] *= self.by_view[:, None]
        if self.of_dense:
            weights[n_sparse:] = self.solver.weights[n_sparse:] * self.of_dense
        return weights

    def scores(self, views: Views) -> FloatMatrix:
        """Scores of other documents, (n_documents, n_machines)."""
        return machine_scores(views, self.weights, self.solver.bias)


def machine_scores(
    views: Views, weights: FloatTable, bias: FloatTable | FloatVector
) -> FloatMatrix:
    """Scores of documents, (n_documents, n_machines)."""
    n_sparse = views.rows.shape[1]
    scores = views.rows @ weights[:n_sparse] + views.dense @ weights[n_sparse:] + bias
    return np.asarray(scores, dtype=np.float64)


_LARGEST_HALF = float(np.finfo(np.float16).max)


def in_half_precision(weights: FloatTable) -> FloatTable:
    """The nearest numbers of half precision: half of the file, and as good."""
    bounded = np.clip(weights, -_LARGEST_HALF, _LARGEST_HALF, out=weights)
    return bounded.astype(np.float16).astype(np.float32)


def share_of_vectors(views: Views, weights: FloatTable) -> float | None:
    """How much of the spread of the scores comes from vectors; None without them."""
    if not views.dense.shape[1]:
        return None
    n_sparse = views.rows.shape[1]
    some = views.take(np.arange(min(len(views), 1_000)))
    spread = [
        float(np.std(part, axis=0).mean())
        for part in (
            some.dense @ weights[n_sparse:],
            some.rows @ weights[:n_sparse],
        )
    ]
    return spread[0] / sum(spread) if sum(spread) else 0.0


# -- what is chosen --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Judged:
    """Settings, and what machines of these settings said of documents held out."""

    settings: Settings
    scores: FloatMatrix
    losses: FloatVector
    """The log loss of each."""
    scale: float
    """The factor that makes the scores log-odds."""


@dataclass(frozen=True, eq=False)
class Choice:
    """The settings that were best, and what they were judged by."""

    settings: Settings
    scale: float
    held_out: IntVector | None = None
    """Documents of the task that were held out; None: nothing was."""
    scores: FloatMatrix | None = None
    """What was said of them."""


def choose(
    task: Task,
    strata: IntVector,
    group: IntVector,
    fixed: Mapping[str, Any],
    tol: float,
    seed: int,
) -> Choice:
    """The settings with the best log loss on documents that are held out.

    ``strata`` is the class to spread each document by; a ``group`` of copies is held
    out together. Settings that are ``fixed`` are not chosen.
    """
    of_few = Settings(**{**_OF_FEW, **fixed})
    unknown = Choice(of_few, usual_scale(task.truth.shape[1]))
    if len(task) < _FEWEST:
        return unknown
    few = _by_lot(task, _MOST, _MOST_ENTRIES, seed)
    trials = _Trials(task, few, strata, group, tol, seed)
    if not len(trials.held_out):
        return unknown
    starts = [of_few] if len(few) < _SEVERAL else []
    starts += [Settings(**fixed)] if len(few) >= _FEW else []
    best = min((trials.best(start, fixed) for start in starts), key=_loss)
    if len(few) < len(task):
        many = _by_lot(task, _MANY, _MANY_ENTRIES, seed)
        trials = _Trials(task, many, strata, group, tol, seed)
        best = trials.best_vectors(best.settings, fixed)
    return Choice(best.settings, best.scale, trials.held_out, best.scores)


def _by_lot(task: Task, most: int, most_entries: float, seed: int) -> IntVector:
    """Numbers of all documents, or of at most so many drawn by lot."""
    n_entries = task.views.rows.nnz * task.truth.shape[1] / len(task)
    most = int(min(most, max(_LEAST, most_entries / max(n_entries, 1.0))))
    if len(task) <= most:
        return np.arange(len(task))
    lot = mixed_bits(task.prints ^ counter_key(seed, -1))
    return np.sort(np.argsort(lot, kind="stable")[:most])


def _quarter(
    prints: Words, strata: IntVector, group: IntVector, seed: int, repeat: int
) -> BoolVector:
    """A random quarter of each stratum, groups whole; some of each stratum stay."""
    key = mixed_bits(prints ^ counter_key(seed, -2 - repeat))
    order = np.argsort(key, kind="stable")
    _, first, member = np.unique(group[order], return_index=True, return_inverse=True)
    # Each group is of the stratum of its first document in this order.
    lead = order[first]
    stratum = strata[lead]
    ranked = np.lexsort((key[lead], stratum))
    _, begin, size = np.unique(stratum[ranked], return_index=True, return_counts=True)
    luck = (key[lead[ranked[begin]]] >> np.uint64(11)).astype(np.float64) * 2.0**-53
    wanted = np.minimum(np.floor(size / 4 + luck), size - 1)
    rank = np.arange(len(ranked)) - np.repeat(begin, size)
    chosen = np.zeros(len(first), dtype=bool)
    chosen[ranked] = rank < np.repeat(wanted, size)
    out = np.zeros(len(prints), dtype=bool)
    out[order] = chosen[member]
    return out


class _Trials:
    """Fits to three quarters of the documents, judged by the others."""

    def __init__(
        self,
        task: Task,
        rows: IntVector,
        strata: IntVector,
        group: IntVector,
        tol: float,
        seed: int,
    ) -> None:
        sample = task.take(rows)
        sample = replace(sample, views=sample.views.used())
        n_repeats = next((times for most, times in _REPEATS if len(rows) < most), 1)
        splits = [
            _quarter(sample.prints, strata[rows], group[rows], seed, repeat)
            for repeat in range(n_repeats)
        ]
        held_out = np.concatenate([np.flatnonzero(out) for out in splits])
        self.held_out = rows[held_out]
        self.trains = [sample.take(np.flatnonzero(~out)) for out in splits]
        self.tests = [sample.views.take(np.flatnonzero(out)) for out in splits]
        self.truth, self.weight = sample.truth[held_out], sample.weight[held_out]
        self.has_vectors = sample.views.dense.shape[1] > 0
        self.tol, self.seed = tol, seed
        self.few = len(rows) < _FEW

    def best(self, usual: Settings, fixed: Mapping[str, Any]) -> Judged:
        """Try strengths, then other ratios, words and vectors at the best strength."""
        first = usual
        if "prior" not in fixed and not self.few:
            first = replace(usual, prior=True)
        strengths: Sequence[float] = (usual.C,) if "C" in fixed else STRENGTHS
        best = self._path(first, strengths)
        strengths = (
            (best.settings.C,)
            if "C" in fixed
            else (best.settings.C, 3.0 * best.settings.C)
        )
        for prior in (first.prior,) if "prior" in fixed else (True, False):
            for words in (first.words,) if "words" in fixed else WORDS:
                if (prior, words) != (first.prior, first.words):
                    other = replace(best.settings, prior=prior, words=words)
                    best = self._better(best, self._path(other, strengths))
        if "vectors" not in fixed and self.has_vectors:
            for vectors in VECTORS:
                if vectors != best.settings.vectors:
                    other = replace(best.settings, vectors=vectors)
                    best = self._better(best, self._path(other, (other.C,)))
        return best

    def _better(self, best: Judged, other: Judged) -> Judged:
        """The one with the smaller loss; of few documents by a lead that is sure."""
        if not self.few:
            return min(best, other, key=_loss)
        # What is held out several times is one document still.
        _, place = np.unique(self.held_out, return_inverse=True)
        lead = np.bincount(place, best.losses - other.losses) / np.bincount(place)
        error = lead.std() / np.sqrt(len(lead))
        return other if lead.mean() > _SURE * error else best

    def best_vectors(self, chosen: Settings, fixed: Mapping[str, Any]) -> Judged:
        """The chosen settings, or the same without vectors."""
        best = self._path(chosen, (chosen.C,))
        if chosen.vectors and "vectors" not in fixed and self.has_vectors:
            without = self._path(replace(chosen, vectors=0.0), (chosen.C,))
            best = min(best, without, key=_loss)
        return best

    def _path(self, settings: Settings, strengths: Sequence[float]) -> Judged:
        """Try rising strengths until the loss rises twice in a row; take the best."""
        machines = [train.machines(settings) for train in self.trains]
        every: list[Judged] = []
        for strength in strengths:
            for one in machines:
                one.run(strength, _FEW_PASSES, self.tol, self.seed)
            parts = zip(machines, self.tests, strict=True)
            scores = np.concatenate([one.scores(test) for one, test in parts])
            every.append(self._judged(replace(settings, C=strength), scores))
            losses = [_loss(judged) for judged in every[-3:]]
            if len(losses) == 3 and losses[0] < losses[1] < losses[2]:
                break
        return min(every, key=_loss)

    def _judged(self, settings: Settings, scores: FloatMatrix) -> Judged:
        choices, own, weight = as_choices(scores, self.truth, self.weight)
        scale = fitted_scale(choices, own, weight)
        log_proba = log_normalize(scale * choices)[np.arange(len(own)), own]
        losses = -(weight * log_proba).reshape(len(scores), -1).sum(axis=1)
        losses /= float(weight.sum()) / len(scores)
        return Judged(settings, scores, losses, scale)


def _loss(judged: Judged) -> float:
    return float(judged.losses.mean())


def as_choices(
    scores: FloatMatrix, truth: SparseMatrix, weight: FloatVector
) -> tuple[FloatMatrix, IntVector, FloatVector]:
    """Scores to choose one column of, the right column, and what each choice counts."""
    n_of = np.diff(truth.indptr)
    if scores.shape[1] > 1 and (n_of == 1).all():
        return scores, truth.indices.astype(np.int64), weight
    # One machine for two classes, or any number of labels: yes or no to each.
    flat = scores.ravel()
    own = truth.toarray().ravel().astype(np.int64)
    return np.stack([-flat, flat], axis=1), own, np.repeat(weight, scores.shape[1])


def usual_scale(n_choices: int) -> float:
    """The factor that makes scores log-odds where no document says more."""
    return _SCALE_OF_TWO if n_choices <= 2 else _SCALE


def fitted_scale(scores: FloatMatrix, own: IntVector, weight: FloatVector) -> float:
    """The factor on the scores with the best log loss, drawn to its usual value."""
    usual = usual_scale(scores.shape[1])
    temperature = fitted_temperature(
        usual * scores,
        own,
        weight * (len(own) / weight.sum()),
        softened=False,
        pull=_SCALE_STRENGTH,
        bounds=(-4.0, 4.0),
    )
    return usual / (temperature or 1.0)
