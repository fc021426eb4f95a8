"""Documents as points in the plane: like ones lie together and form islands with names.

The layout follows PaCMAP (Wang, Huang, Rudin and Shaposhnik, 2021): springs pull each
document towards its nearest neighbors, and at first towards some that are not too far,
which settles where the islands lie; all others push it away. It starts from the two
leading axes, and every draw has a fixed seed, so the same vectors give the same map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import ndimage, sparse

from earmark.folds import rows_by_lot
from earmark.kernels.backend import one_blas_thread
from earmark.typing import FloatMatrix, IntVector, Matrix, SparseMatrix

__all__ = ["DocumentMap", "Islands", "islands", "lay_out", "make_map", "typical_words"]

# Of more documents so many are laid out by lot; each other one lies among the nearest
# of these.
_MOST_LAID_OUT = 20_000
_N_HOSTS = 3
# Axes that documents are compared on.
_N_AXES = 50
# Pairs of each document: near ones, the second nearest of some, and any.
_NEAR, _MIDDLE, _FAR = 10, 5, 20
_SECOND_OF = 6
# Steps until the weight of the middle pairs has fallen, is constant, and is zero.
_STEPS = (100, 100, 250)
_MIDDLE_FIRST, _MIDDLE_LATER = 1000.0, 3.0
# How far pairs of a kind pull: the squared distance at half of their strength.
_NEAR_REACH, _MIDDLE_REACH = 10.0, 10_000.0
_AT_ONCE = 1000
# The grid on which points are counted, and how far each count is spread, in cells, from
# the map as a whole to a small part of it.
_GRID = 128
_SPREADS = (4.5, 2.5, 1.4)
_FEWEST_ON_ISLAND = 5
_N_WORDS = 3
# Words of more than this share of the documents are frequent.
_FREQUENT = 0.05
# Half of a G^2 that one in about 200 words reaches by chance.
_CHANCE = 4.0


@dataclass(frozen=True)
class Islands:
    """Groups of documents that lie together."""

    of: IntVector
    """The number of each document's island, or -1, (n_documents,)."""
    names: list[list[str]]
    """Typical words of each island, the most typical first."""


@dataclass(frozen=True)
class DocumentMap:
    """Where documents lie, and what islands they form."""

    places: FloatMatrix
    """From 0 to 1, (n_documents, 2)."""
    levels: list[Islands]
    """From few large islands to many small ones."""


def make_map(
    vectors: Matrix, presence: SparseMatrix, words: Sequence[str]
) -> DocumentMap:
    """The map of documents with these vectors, and these words.

    ``presence`` says which of the ``words`` are in which document: anything but zero.
    """
    places = lay_out(vectors)
    levels = []
    for spread in _SPREADS:
        of = islands(places, spread)
        levels.append(Islands(of, typical_words(of, presence, words)))
    return DocumentMap(places, levels)


# -- where documents lie --------------------------------------------------------------


def lay_out(vectors: Matrix, *, seed: int = 0) -> FloatMatrix:
    """Places of documents in the unit square, like ones together."""
    with one_blas_thread():
        return _laid_out(vectors, seed)


def _laid_out(vectors: Matrix, seed: int) -> FloatMatrix:
    n = len(vectors)
    rows = rows_by_lot(n, _MOST_LAID_OUT, seed)
    axes = _leading_axes(vectors, rows)
    known = axes[rows]
    start = np.zeros((len(rows), 2))
    start[:, : axes.shape[1]] = known[:, :2]
    start /= start.std(axis=0).max() or 1.0
    if len(rows) > 2 * _NEAR:
        near = _nearest(known, known, _NEAR + 1)[:, 1:]
        start = _settled(0.01 * start, near, known, np.random.default_rng(seed))
    places = np.empty((n, 2))
    places[rows] = start
    others = np.setdiff1d(np.arange(n), rows)
    if len(others):
        hosts = _nearest(axes[others], known, _N_HOSTS)
        places[others] = start[hosts].mean(axis=1)
    return _squared(places)


def _leading_axes(vectors: Matrix, rows: IntVector) -> Matrix:
    """Coordinates on the axes along which some of the rows differ most."""
    mean = vectors[rows].mean(axis=0)
    centered = np.asarray(vectors[rows] - mean, dtype=np.float64)
    _, axes = np.linalg.eigh(centered.T @ centered)
    axes = axes[:, ::-1][:, :_N_AXES]
    # An eigenvector has either sign; here its largest number is positive.
    largest = np.abs(axes).argmax(axis=0)
    axes = axes * np.sign(axes[largest, np.arange(axes.shape[1])])
    return np.asarray((vectors - mean) @ axes, dtype=np.float32)


def _nearest(rows: Matrix, known: Matrix, k: int) -> IntVector:
    """The k nearest known rows of each row, the nearest first, (n_rows, k)."""
    k = min(k, len(known))
    lengths = (known**2).sum(axis=1)
    nearest = np.empty((len(rows), k), dtype=np.int64)
    for start in range(0, len(rows), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        squares = lengths - 2 * (rows[part] @ known.T)
        some = np.argpartition(squares, k - 1, axis=1)[:, :k]
        order = np.argsort(np.take_along_axis(squares, some, axis=1), axis=1)
        nearest[part] = np.take_along_axis(some, order, axis=1)
    return nearest


def _settled(
    places: FloatMatrix,
    near: IntVector,
    vectors: Matrix,
    random: np.random.Generator,
) -> FloatMatrix:
    """Places after the pairs have pulled and pushed for some time."""
    n = len(places)
    kinds = [near, _middling(vectors, random), random.integers(0, n, (n, _FAR))]
    pairs = [_differences(partners) for partners in kinds]
    turned = [sparse.csr_array(one.T) for one in pairs]
    reach = (_NEAR_REACH, _MIDDLE_REACH)
    mean, square = np.zeros_like(places), np.zeros_like(places)
    for step in range(1, sum(_STEPS) + 1):
        slope = np.zeros_like(places)
        for kind, weight in enumerate(_weights(step)):
            if not weight:
                continue
            apart = pairs[kind] @ places
            squares = 1 + (apart**2).sum(axis=1, keepdims=True)
            if kind < len(reach):
                strength = weight * reach[kind] / (reach[kind] + squares) ** 2
            else:
                strength = -weight / (1 + squares) ** 2
            slope += turned[kind] @ (2 * strength * apart)
        # Steps of Adam (Kingma and Ba, 2015) of size 1.
        mean += 0.1 * (slope - mean)
        square += 0.001 * (slope**2 - square)
        size = np.sqrt(square / (1 - 0.999**step)) + 1e-7
        places = places - mean / (1 - 0.9**step) / size
    return places


def _weights(step: int) -> tuple[float, float, float]:
    """What near, middle and far pairs count at a step."""
    falling, constant, _ = _STEPS
    if step <= falling:
        share = (step - 1) / falling
        return 2.0, (1 - share) * _MIDDLE_FIRST + share * _MIDDLE_LATER, 1.0
    return (3.0, _MIDDLE_LATER, 1.0) if step <= falling + constant else (1.0, 0.0, 1.0)


def _middling(vectors: Matrix, random: np.random.Generator) -> IntVector:
    """For each document the second nearest of a few, several times."""
    n = len(vectors)
    partners = np.empty((n, _MIDDLE), dtype=np.int64)
    for one in range(_MIDDLE):
        some = random.integers(0, n, (n, _SECOND_OF))
        squares = [((vectors - vectors[of]) ** 2).sum(axis=1) for of in some.T]
        second = np.argsort(squares, axis=0, kind="stable")[1]
        partners[:, one] = some[np.arange(n), second]
    return partners


def _differences(partners: IntVector) -> SparseMatrix:
    """The matrix that turns places into what lies between partners, a row per pair."""
    n, k = partners.shape
    pairs = np.column_stack([np.repeat(np.arange(n), k), partners.ravel()])
    signs = np.tile([1.0, -1.0], len(pairs))
    ends = np.arange(0, 2 * len(pairs) + 1, 2)
    shape = (len(pairs), n)
    return sparse.csr_array((signs, pairs.ravel(), ends), shape=shape)


def _squared(places: FloatMatrix) -> FloatMatrix:
    """The same picture in the unit square, in its middle."""
    low, high = places.min(axis=0), places.max(axis=0)
    side = float((high - low).max()) or 1.0
    return np.asarray((places - (low + high) / 2) / side + 0.5)


# -- what islands they form -----------------------------------------------------------


def islands(places: FloatMatrix, spread: float) -> IntVector:
    """The island of each document: uphill on the density of points, or -1.

    Islands are numbered from the largest on.
    """
    cells = np.minimum((places * _GRID).astype(np.int64), _GRID - 1) + 1
    side = _GRID + 2
    cell = cells[:, 0] * side + cells[:, 1]
    counts = np.bincount(cell, minlength=side**2).reshape(side, side)
    density = ndimage.gaussian_filter(counts.astype(np.float64), spread)
    steps = [a * side + b for a in (-1, 0, 1) for b in (-1, 0, 1)]
    around = np.stack([np.roll(density.ravel(), -step) for step in steps])
    goal = (np.arange(side**2) + np.asarray(steps)[around.argmax(axis=0)]) % side**2
    top = goal[cell]
    while not np.array_equal(goal[top], top):
        top = goal[top]
    _, of, sizes = np.unique(top, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    number = np.empty_like(order)
    number[order] = np.where(
        sizes[order] >= _FEWEST_ON_ISLAND, np.arange(len(order)), -1
    )
    return np.asarray(number[of], dtype=np.int64)


def typical_words(
    of: IntVector, presence: SparseMatrix, words: Sequence[str]
) -> list[list[str]]:
    """The words that most set each island apart, by the likelihood ratio G^2.

    A frequent word, as "it" and "the" are, names an island only if most of its
    documents lie there; one that may be there by chance, only if there is no other.
    """
    n, n_islands = len(of), int(of.max(initial=-1)) + 1
    on = np.flatnonzero(of >= 0)
    member = sparse.csr_array((np.ones(len(on)), (of[on], on)), shape=(n_islands, n))
    where = sparse.csr_array(presence)
    where = sparse.csr_array(
        (np.ones(where.nnz), where.indices, where.indptr), where.shape
    )
    total = np.asarray(where.sum(axis=0)).ravel()
    inside = (member @ where).tocsr()
    sizes = np.asarray(member.sum(axis=1)).ravel()
    names = []
    for island, size in enumerate(sizes):
        row = inside[[island]]
        columns, count = row.indices, row.data
        expected = total[columns] * size / n
        rest, rest_expected = total[columns] - count, total[columns] - expected
        ratio = count * np.log(count / expected)
        ratio += rest * np.log(np.maximum(rest, 1e-9) / np.maximum(rest_expected, 1e-9))
        is_filler = (total[columns] > _FREQUENT * n) & (rest > count)
        ratio[(count < 2) | (count <= expected) | is_filler] = 0.0
        if ratio.max(initial=0.0) > _CHANCE:
            ratio[ratio < _CHANCE] = 0.0
        order = np.lexsort((columns, -ratio))
        names.append(_distinct([words[columns[i]] for i in order if ratio[i] > 0]))
    return names


def _distinct(words: Sequence[str]) -> list[str]:
    """The first words that are no number, and no longer or shorter form of another."""
    chosen: list[str] = []
    for word in words:
        forms = (word.startswith(one) or one.startswith(word) for one in chosen)
        if len(word) > 1 and not word.isdigit() and not any(forms):
            chosen.append(word)
        if len(chosen) == _N_WORDS:
            break
    return chosen
