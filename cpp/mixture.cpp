// EM for many mixtures at once: sparse rows times dense columns, E and M in one pass.
//
// Given rows x_d (CSR), document weights s_d and lengths n_d, and for each of R mixtures
// (restarts) of H nodes one weight per term and node, a pass over the documents computes
//
//     a_drh = offset_rh + sum_w x_dw W[w, rh]            node scores
//     m_drh = exp(a_drh) / sum_h' exp(a_drh')            (HB3; one-hot when hard)
//     sums[w, rh] = sum_d s_d m_drh x_dw                 numerator of HB4
//     docs[rh] = sum_d s_d m_drh,  lengths[rh] = sum_d s_d m_drh n_d     (HB5)
//     bound[r] = sum_d s_d log sum_h exp(a_drh)          (max_h when hard)
//
// Columns lie in tiles of whole mixtures, [tile][term][column], some 32 columns wide: the
// rows of a tile's frequent terms stay in the cache, and no responsibility outlives its
// document. Where a mixture is anchored, its weights are relative to those of its last node,
// which then scores 0 and has no column: its sums are what the other nodes leave of the
// whole, so that two nodes cost one column. Every operation on columns is elementwise, so the
// result of a column does not depend on its neighbours, the tile or the instruction set.
#include "random.hpp"
#include "sparse_rows.hpp"

namespace {

constexpr int64_t kAhead = 8; // entries between a prefetch and its use

template <typename F> struct Documents : ValueRows<F> {
    const double *weight, *length; // s_d, n_d
};

struct Tiles {
    int64_t terms, mixtures, nodes, width, per_tile; // nodes that have columns
    bool anchored;                                   // one more node scores 0
    int64_t n_tiles() const { return (mixtures + per_tile - 1) / per_tile; }
    int64_t in_tile(int64_t t) const { return std::min(per_tile, mixtures - t * per_tile); }
};

template <typename F> struct Totals {
    F* sums;
    double *docs, *lengths, *bound;
};

template <int W, typename F> EARMARK_INLINE void fetch(const F* row) {
    const char* bytes = reinterpret_cast<const char*>(row);
    for (int64_t j = 0; j < static_cast<int64_t>(W * sizeof(F)); j += 64) prefetch(bytes + j);
}

// a += x_d . W for the W columns that start at `table`, whose rows are `stride` apart.
template <int W, typename F>
EARMARK_INLINE void score(const Documents<F>& x, int64_t d, const F* table, int64_t stride, F* a) {
    const int64_t last = x.n_entries();
    F sum[W];
    for (int j = 0; j < W; j++) sum[j] = a[j];
    for (int64_t k = x.indptr[d]; k < x.indptr[d + 1]; k++) {
        if (k + kAhead < last) fetch<W>(table + x.indices[k + kAhead] * stride);
        const F* row = table + x.indices[k] * stride;
        const F count = x.data[k];
        for (int j = 0; j < W; j++) sum[j] += count * row[j];
    }
    for (int j = 0; j < W; j++) a[j] = sum[j];
}

// sums[w] += x_dw m for the W columns that start at `table`.
template <int W, typename F>
EARMARK_INLINE void scatter(const Documents<F>& x, int64_t d, const F* m, int64_t stride, F* table) {
    const int64_t last = x.n_entries();
    F share[W]; // a copy that cannot overlap the table: the loop below vectorises
    for (int j = 0; j < W; j++) share[j] = m[j];
    for (int64_t k = x.indptr[d]; k < x.indptr[d + 1]; k++) {
        if (k + kAhead < last) fetch<W>(table + x.indices[k + kAhead] * stride);
        F* row = table + x.indices[k] * stride;
        const F count = x.data[k];
        for (int j = 0; j < W; j++) row[j] += count * share[j];
    }
}

// Scores of one mixture to responsibilities, in place; returns log sum_h exp(a_h) (HB3).
template <typename F> EARMARK_INLINE double soften(F* a, int64_t nodes, bool anchored) {
    F top = anchored ? F(0) : a[0];
    for (int64_t h = 0; h < nodes; h++) top = std::max(top, a[h]);
    F total = !anchored ? F(0) : top == 0 ? F(1) : std::exp(-top);
    for (int64_t h = 0; h < nodes; h++) {
        a[h] = a[h] == top ? F(1) : std::exp(a[h] - top);
        total += a[h];
    }
    for (int64_t h = 0; h < nodes; h++) a[h] /= total;
    return static_cast<double>(top) + std::log(static_cast<double>(total));
}

// The hard E-step: one-hot at the first best node; returns its score.
template <typename F> EARMARK_INLINE double harden(F* a, int64_t nodes, bool anchored) {
    int64_t best = std::max_element(a, a + nodes) - a;
    const double top = anchored ? std::max(a[best], F(0)) : a[best];
    if (top > a[best]) best = nodes; // the anchor
    for (int64_t h = 0; h < nodes; h++) a[h] = h == best ? F(1) : F(0);
    return top;
}

// Node scores of one tile from the current parameters, then the E-step.
template <typename F> struct FromWeights {
    const F *table, *offset;
    bool hard;
    template <int W>
    static EARMARK_INLINE void respond(const FromWeights& p, const Documents<F>& x, const Tiles& s, int64_t t,
                                       int64_t d, F* a, double* bound) {
        const F* tile = p.table + t * s.terms * s.width;
        std::copy(p.offset + t * s.width, p.offset + (t + 1) * s.width, a);
        if (s.width == W) {
            score<W>(x, d, tile, W, a);
        } else {
            for (int64_t j = 0; j < s.width; j += W) score<W>(x, d, tile + j, s.width, a + j);
        }
        for (int64_t r = 0; r < s.in_tile(t); r++) {
            F* mixture = a + r * s.nodes;
            const double best = p.hard ? harden(mixture, s.nodes, s.anchored) : soften(mixture, s.nodes, s.anchored);
            bound[r] += x.weight[d] * best;
        }
    }
};

// Random responsibilities, uniform on the simplex: how every restart begins (HB8).
template <typename F> struct FromSeeds {
    const uint64_t *seed, *key; // of the mixtures, of the documents
    template <int W>
    static EARMARK_INLINE void respond(const FromSeeds& p, const Documents<F>&, const Tiles& s, int64_t t, int64_t d,
                                       F* a, double*) {
        for (int64_t r = 0; r < s.in_tile(t); r++) {
            F* mixture = a + r * s.nodes;
            const int64_t nodes = s.nodes + s.anchored;
            double total = 0;
            for (int64_t h = 0; h < nodes; h++) {
                const uint64_t seed = p.seed[t * s.per_tile + r];
                const double share = -std::log(uniform_of_node(seed, p.key[d], h));
                if (h < s.nodes) mixture[h] = static_cast<F>(share);
                total += share;
            }
            for (int64_t h = 0; h < s.nodes; h++)
                mixture[h] = static_cast<F>(total > 0 ? mixture[h] / total : 1.0 / nodes);
        }
    }
};

template <int W, typename F, typename Source>
EARMARK_INLINE void pass(const Documents<F>& x, const Tiles& s, const Source& source, const Totals<F>& out) {
    std::vector<F> m(s.width, F(0));
    for (int64_t t = 0; t < s.n_tiles(); t++) {
        const int64_t column = t * s.per_tile * s.nodes, used = s.in_tile(t) * s.nodes;
        F* sums = out.sums + t * s.terms * s.width;
        for (int64_t d = 0; d < x.n_rows; d++) {
            Source::template respond<W>(source, x, s, t, d, m.data(), out.bound + t * s.per_tile);
            for (int64_t j = 0; j < used; j++) {
                const double mass = x.weight[d] * m[j];
                out.docs[column + j] += mass;
                out.lengths[column + j] += mass * x.length[d];
                m[j] = static_cast<F>(mass);
            }
            std::fill(m.begin() + used, m.end(), F(0));
            if (s.width == W) {
                scatter<W>(x, d, m.data(), W, sums);
            } else {
                for (int64_t j = 0; j < s.width; j += W) scatter<W>(x, d, m.data() + j, s.width, sums + j);
            }
        }
    }
}

// log sum_h exp(a_drh) of new rows, whose weights must be 1 -> (n, R).
template <int W, typename F>
EARMARK_INLINE void evidence(const Documents<F>& x, const Tiles& s, const FromWeights<F>& p, double* out) {
    std::vector<F> a(s.width);
    std::vector<double> bound(s.per_tile);
    for (int64_t t = 0; t < s.n_tiles(); t++)
        for (int64_t d = 0; d < x.n_rows; d++) {
            std::fill(bound.begin(), bound.end(), 0.0);
            FromWeights<F>::template respond<W>(p, x, s, t, d, a.data(), bound.data());
            std::copy(bound.begin(), bound.begin() + s.in_tile(t), out + d * s.mixtures + t * s.per_tile);
        }
}

// Calls `run` with the tile width as a constant; very wide tiles go 32 at a time.
template <typename Run> EARMARK_INLINE void by_width(int64_t width, Run run) {
    switch (width) {
    case 8: return run(std::integral_constant<int, 8>{});
    case 16: return run(std::integral_constant<int, 16>{});
    case 36: return run(std::integral_constant<int, 36>{});
    case 40: return run(std::integral_constant<int, 40>{});
    case 56: return run(std::integral_constant<int, 56>{});
    default: return run(std::integral_constant<int, 32>{});
    }
}

// The hot pass is compiled for several instruction sets; the machine's best one serves.
EARMARK_WIDEST void step(const Documents<double>& x, const Tiles& s, const FromWeights<double>& p,
                         const Totals<double>& out) {
    by_width(s.width, [&](auto w) EARMARK_INLINE_LAMBDA { pass<decltype(w)::value>(x, s, p, out); });
}
EARMARK_WIDEST void step(const Documents<float>& x, const Tiles& s, const FromWeights<float>& p,
                         const Totals<float>& out) {
    by_width(s.width, [&](auto w) EARMARK_INLINE_LAMBDA { pass<decltype(w)::value>(x, s, p, out); });
}

template <typename F>
Documents<F> documents_of(In<int64_t> indptr, In<int32_t> indices, In<F> data, In<double> weight, In<double> length,
                          std::size_t n_terms) {
    const auto rows = value_rows<F>(indptr, indices, data, n_terms);
    require_size(weight, rows.n_rows, "weight");
    require_size(length, rows.n_rows, "length");
    return {rows, weight.data(), length.data()};
}

// `tiles` is (n_tiles, n_terms, width).
template <typename Tiled> Tiles tiles_of(const Tiled& tiles, int64_t mixtures, int64_t nodes, bool anchored) {
    const auto width = static_cast<int64_t>(tiles.shape(2));
    require(nodes >= 1 && nodes <= width && mixtures >= 0, "nodes: expected from 1 to the width of a tile.");
    const bool is_known = width == 8 || width == 16 || width == 36 || width == 40 || width == 56 || width % 32 == 0;
    require(is_known, "sums: expected tiles of 8, 16, 36, 40, 56 or a multiple of 32 columns.");
    const Tiles s{static_cast<int64_t>(tiles.shape(1)), mixtures, nodes, width, width / nodes, anchored};
    require(static_cast<int64_t>(tiles.shape(0)) == s.n_tiles(), "sums: expected a tile for each of the mixtures.");
    return s;
}

template <typename F>
Totals<F> totals_of(const Tiles& s, Out3<F>& sums, Out<double>& docs, Out<double>& lengths, double* bound) {
    require(sums.size() == static_cast<std::size_t>(s.n_tiles() * s.terms * s.width),
            "sums: expected the shape of the table.");
    require_size(docs, s.mixtures * s.nodes, "docs");
    require_size(lengths, s.mixtures * s.nodes, "lengths");
    return {sums.data(), docs.data(), lengths.data(), bound};
}

template <typename F>
void mixture_step(In<int64_t> indptr, In<int32_t> indices, In<F> data, In<double> weight, In<double> length,
                  In3<F> table, In<F> offset, int64_t mixtures, int64_t nodes, bool anchored, bool hard,
                  Out3<F> sums, Out<double> docs, Out<double> lengths, Out<double> bound) {
    const auto x = documents_of<F>(indptr, indices, data, weight, length, table.shape(1));
    const Tiles s = tiles_of(table, mixtures, nodes, anchored);
    require_size(offset, s.n_tiles() * s.width, "offset");
    require_size(bound, s.mixtures, "bound");
    const auto out = totals_of<F>(s, sums, docs, lengths, bound.data());
    nb::gil_scoped_release unlocked;
    step(x, s, FromWeights<F>{table.data(), offset.data(), hard}, out);
}

template <typename F>
void mixture_start(In<int64_t> indptr, In<int32_t> indices, In<F> data, In<double> weight, In<double> length,
                   In<uint64_t> keys, In<uint64_t> seeds, int64_t nodes, bool anchored, Out3<F> sums,
                   Out<double> docs, Out<double> lengths) {
    const auto x = documents_of<F>(indptr, indices, data, weight, length, sums.shape(1));
    const Tiles s = tiles_of(sums, static_cast<int64_t>(seeds.size()), nodes, anchored);
    require_size(keys, x.n_rows, "keys");
    const auto out = totals_of<F>(s, sums, docs, lengths, nullptr);
    nb::gil_scoped_release unlocked;
    const FromSeeds<F> source{seeds.data(), keys.data()};
    by_width(s.width, [&](auto w) { pass<decltype(w)::value>(x, s, source, out); });
}

template <typename F>
void mixture_evidence(In<int64_t> indptr, In<int32_t> indices, In<F> data, In<double> weight, In3<F> table,
                      In<F> offset, int64_t nodes, bool anchored, Out2<double> out) {
    const auto x = documents_of<F>(indptr, indices, data, weight, weight, table.shape(1));
    const Tiles s = tiles_of(table, static_cast<int64_t>(out.shape(1)), nodes, anchored);
    require_size(offset, s.n_tiles() * s.width, "offset");
    require_shape(out, x.n_rows, s.mixtures, "out");
    nb::gil_scoped_release unlocked;
    const FromWeights<F> p{table.data(), offset.data(), false};
    by_width(s.width, [&](auto w) { evidence<decltype(w)::value>(x, s, p, out.data()); });
}

template <typename F> void bind_typed(nb::module_& m) {
    m.def("mixture_step", &mixture_step<F>, "indptr"_a, "indices"_a, "data"_a.noconvert(), nb::kw_only(), "weight"_a,
          "length"_a, "table"_a.noconvert(), "offset"_a.noconvert(), "mixtures"_a, "nodes"_a, "anchored"_a,
          "hard"_a, "sums"_a.noconvert(), "docs"_a.noconvert(), "lengths"_a.noconvert(), "bound"_a.noconvert());
    m.def("mixture_start", &mixture_start<F>, "indptr"_a, "indices"_a, "data"_a.noconvert(), nb::kw_only(), "weight"_a,
          "length"_a, "keys"_a, "seeds"_a, "nodes"_a, "anchored"_a, "sums"_a.noconvert(), "docs"_a.noconvert(),
          "lengths"_a.noconvert());
    m.def("mixture_evidence", &mixture_evidence<F>, "indptr"_a, "indices"_a, "data"_a.noconvert(), nb::kw_only(),
          "weight"_a, "table"_a.noconvert(), "offset"_a.noconvert(), "nodes"_a, "anchored"_a, "out"_a.noconvert());
}

} // namespace

void bind_mixture(nb::module_& m) {
    bind_typed<double>(m);
    bind_typed<float>(m);
}
