"""EM passes: compiled and plain agree, and both agree with loops written out."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from earmark.kernels.keys import fingerprints, rekeyed, uniform_of
from earmark.kernels.mixture import (
    DocumentRows,
    MixtureTotals,
    Tiling,
    mixture_evidence,
    mixture_start,
    mixture_step,
)

SHAPES = [(1, 1), (3, 2), (4, 2), (50, 2), (7, 5), (2, 40)]


def random_rows(rng, n_documents=60, n_terms=25, dtype=np.float64):
    counts = rng.poisson(0.4, (n_documents, n_terms)).astype(dtype)
    counts[3] = 0
    X = sparse.csr_array(counts)
    return DocumentRows.of(X, rng.uniform(0.5, 2.0, n_documents), counts.sum(axis=1))


def random_params(rng, tiling, n_terms, dtype=np.float64):
    nodes = rng.normal(size=(n_terms, tiling.n_mixtures, tiling.n_nodes))
    offset = rng.normal(size=(tiling.n_mixtures, tiling.n_nodes))
    return tiling.pack(nodes.astype(dtype)), tiling.pack_nodes(offset.astype(dtype))


def written_out(rows, table, offset, tiling, hard):
    """The same sums, one document and one mixture at a time."""
    X = rows.matrix.toarray().astype(float)
    weights = tiling.unpack(table).astype(float)
    offsets = tiling.unpack(offset)[0].astype(float)
    sums, docs = np.zeros_like(weights), np.zeros_like(offsets)
    lengths, bound = np.zeros_like(offsets), np.zeros(len(offsets))
    for x, s, n in zip(X, rows.weight, rows.length, strict=True):
        for r in range(len(offsets)):
            a = offsets[r] + x @ weights[:, r]
            e = np.exp(a - a.max())
            m = (a == a.max()).astype(float) if hard else e / e.sum()
            sums[:, r] += s * np.outer(x, m)
            docs[r] += s * m
            lengths[r] += s * m * n
            bound[r] += s * (a.max() if hard else a.max() + np.log(e.sum()))
    return sums, docs, lengths, bound


@pytest.fixture(params=["compiled", "plain"])
def engine(request, monkeypatch):
    """The compiled passes where there are any, and the plain ones."""
    if request.param == "plain":
        monkeypatch.setenv("EARMARK_NO_NATIVE", "1")
    return request.param


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_step_is_the_sum_over_documents(engine, rng, shape, hard):
    rows, tiling = random_rows(rng), Tiling(*shape)
    table, offset = random_params(rng, tiling, 25)
    totals = mixture_step(rows, table, offset, tiling, hard=hard)
    sums, docs, lengths, bound = written_out(rows, table, offset, tiling, hard)
    assert_allclose(tiling.unpack(totals.sums), sums, rtol=1e-11, atol=1e-13)
    assert_allclose(totals.docs, docs, rtol=1e-11)
    assert_allclose(totals.lengths, lengths, rtol=1e-11)
    assert_allclose(totals.bound, bound, rtol=1e-11)


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("shape", [(3, 2), (50, 2), (60, 2), (7, 5), (2, 41)])
def test_the_last_node_may_go_without_a_column(engine, rng, shape, hard):
    rows, whole = random_rows(rng), Tiling(*shape)
    anchored = Tiling(*shape, anchored=True)
    weights = rng.normal(size=(25, *shape))
    offsets = rng.normal(size=shape)
    weights[..., -1], offsets[:, -1] = 0, 0
    full = whole.pack(weights), whole.pack_nodes(offsets)
    short = anchored.pack(weights[..., :-1]), anchored.pack_nodes(offsets[:, :-1])
    theirs = mixture_step(rows, *full, whole, hard=hard)
    ours = mixture_step(rows, *short, anchored, hard=hard)
    nodes = whole.unpack(theirs.sums)
    assert_allclose(anchored.unpack(ours.sums), nodes[..., :-1], atol=1e-12)
    assert_allclose(ours.docs, theirs.docs[:, :-1], atol=1e-12)
    assert_allclose(ours.lengths, theirs.lengths[:, :-1], atol=1e-12)
    assert_allclose(ours.bound, theirs.bound, rtol=1e-12)
    assert_allclose(
        mixture_evidence(rows, *short, anchored),
        mixture_evidence(rows, *full, whole),
        rtol=1e-12,
    )
    keys = fingerprints(rows.matrix)
    seeds = rng.integers(0, 2**63, shape[0], dtype=np.uint64)
    ours = mixture_start(rows, keys, seeds, anchored)
    theirs = mixture_start(rows, keys, seeds, whole)
    nodes = whole.unpack(theirs.sums)
    assert_allclose(anchored.unpack(ours.sums), nodes[..., :-1], atol=1e-12)
    assert_allclose(ours.docs, theirs.docs[:, :-1], atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_compiled_and_plain_passes_agree(monkeypatch, rng, shape):
    rows, tiling = random_rows(rng, 700), Tiling(*shape)
    keys = fingerprints(rows.matrix)
    seeds = rng.integers(0, 2**63, shape[0], dtype=np.uint64)
    table, offset = random_params(rng, tiling, 25)

    def passes():
        start = mixture_start(rows, keys, seeds, tiling)
        step = mixture_step(rows, table, offset, tiling)
        evidence = mixture_evidence(rows, table, offset, tiling)
        parts = [(t.sums, t.docs, t.lengths, t.bound) for t in (start, step)]
        return [*parts[0], *parts[1], evidence]

    ours = passes()
    monkeypatch.setenv("EARMARK_NO_NATIVE", "1")
    for compiled, plain in zip(ours, passes(), strict=True):
        assert_allclose(compiled, plain, rtol=1e-12, atol=1e-12 * np.abs(plain).max())


def test_float32_passes_stay_near_float64(engine, rng):
    tiling = Tiling(9, 3)
    rows = random_rows(rng, 400)
    table, offset = random_params(rng, tiling, 25)
    exact = mixture_step(rows, table, offset, tiling)
    short = DocumentRows(rows.matrix.astype(np.float32), rows.weight, rows.length)
    table, offset = table.astype(np.float32), offset.astype(np.float32)
    rounded = mixture_step(short, table, offset, tiling)
    assert rounded.sums.dtype == np.float32
    assert_allclose(rounded.docs, exact.docs, rtol=1e-5)
    assert_allclose(rounded.bound, exact.bound, rtol=1e-5)


def test_a_mixture_does_not_feel_its_neighbours(engine, rng):
    # Same bytes alone (tile of 8 columns) as in a block of many (tiles of 32).
    rows, many, one = random_rows(rng), Tiling(40, 3), Tiling(1, 3)
    table, offset = random_params(rng, many, 25)
    together = mixture_step(rows, table, offset, many)
    alone = mixture_step(
        rows,
        one.pack(many.unpack(table)[:, 17:18]),
        one.pack(many.unpack(offset)[:, 17:18]),
        one,
    )
    assert many.width != one.width
    assert_array_equal(one.unpack(alone.sums)[:, 0], many.unpack(together.sums)[:, 17])
    assert_array_equal(alone.docs[0], together.docs[17])
    assert_array_equal(alone.bound[0], together.bound[17])


def test_random_starts_do_not_depend_on_order_or_shards(engine, rng):
    rows, tiling = random_rows(rng), Tiling(5, 3)
    keys = fingerprints(rows.matrix)
    seeds = rng.integers(0, 2**63, 5, dtype=np.uint64)
    whole = mixture_start(rows, keys, seeds, tiling)
    merged = MixtureTotals.zeros(tiling, 25, np.float64)
    for shard in (np.arange(40, 60)[::-1], np.arange(40)):
        part = DocumentRows.of(
            rows.matrix[shard], rows.weight[shard], rows.length[shard]
        )
        merged.merge(mixture_start(part, keys[shard], seeds, tiling))
    assert_allclose(merged.sums, whole.sums, rtol=1e-12)
    assert_allclose(merged.docs, whole.docs, rtol=1e-12)


def test_random_responsibilities_are_uniform_on_the_simplex():
    keys = np.arange(20_000, dtype=np.uint64)[:, None]
    nodes = np.arange(3, dtype=np.uint64)
    shares = -np.log(uniform_of(np.uint64(7), keys, nodes))
    shares /= shares.sum(axis=1, keepdims=True)
    # Dirichlet(1, 1, 1): mean 1/3, variance 1/18, covariance -1/36.
    assert_allclose(shares.mean(axis=0), 1 / 3, atol=0.01)
    expected = np.full((3, 3), -1 / 36) + np.eye(3) * (1 / 18 + 1 / 36)
    assert_allclose(np.cov(shares.T), expected, atol=0.002)


def test_equal_documents_have_equal_keys_and_others_do_not():
    X = sparse.csr_array(np.array([[1, 0, 2], [1, 2, 0], [1, 0, 2], [0, 0, 0]], float))
    keys = fingerprints(X)
    assert keys[0] == keys[2]
    assert len(set(keys.tolist())) == 3
    assert not np.any(rekeyed(keys, np.uint64(1)) == rekeyed(keys, np.uint64(2)))


@pytest.mark.parametrize("shape", SHAPES)
def test_packing_into_tiles_and_back_loses_nothing(rng, shape):
    tiling = Tiling(*shape)
    nodes = rng.normal(size=(11, *shape))
    assert_array_equal(tiling.unpack(tiling.pack(nodes)), nodes)


def test_a_pass_makes_no_array_of_documents_by_columns(engine, rng):
    # 20,000 documents x 64 columns would be 10 MB; the totals are 0.1 MB.
    tiling = Tiling(32, 2)
    X = sparse.random_array((20_000, 100), density=0.02, rng=rng, format="csr")
    rows = DocumentRows.of(X, np.ones(20_000), np.ones(20_000))
    table, offset = random_params(rng, tiling, 100)
    tracemalloc.start()
    mixture_step(rows, table, offset, tiling)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000
