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
// document. Every operation on columns is elementwise, so the
// result of a column does not depend on its neighbours, the tile or the instruction set.
#include "bindings.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace {

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST
#endif
#define INLINED static inline __attribute__((always_inline))
#define INLINED_LAMBDA __attribute__((always_inline))

constexpr int64_t kAhead = 8; // entries between a prefetch and its use

template <typename F> struct Rows {
    const int64_t *start;
    const int32_t *term;
    const F *count;
    const double *weight, *length; // s_d, n_d
    int64_t n;
};

struct Tiles {
    int64_t terms, mixtures, nodes, width, per_tile;
    int64_t n_tiles() const { return (mixtures + per_tile - 1) / per_tile; }
    int64_t in_tile(int64_t t) const { return std::min(per_tile, mixtures - t * per_tile); }
};

template <typename F> struct Totals {
    F *sums;
    double *docs, *lengths, *bound;
};

template <int W, typename F> INLINED void fetch(const F *row) {
    const char *bytes = reinterpret_cast<const char *>(row);
    for (int64_t j = 0; j < static_cast<int64_t>(W * sizeof(F)); j += 64)
        __builtin_prefetch(bytes + j);
}

// a += x_d . W for the W columns that start at `table`, whose rows are `stride` apart.
template <int W, typename F>
INLINED void score(const Rows<F> &x, int64_t d, const F *table, int64_t stride, F *a) {
    const int64_t last = x.start[x.n];
    F sum[W];
    for (int j = 0; j < W; j++) sum[j] = a[j];
    for (int64_t k = x.start[d]; k < x.start[d + 1]; k++) {
        if (k + kAhead < last) fetch<W>(table + x.term[k + kAhead] * stride);
        const F *row = table + x.term[k] * stride;
        const F count = x.count[k];
        for (int j = 0; j < W; j++) sum[j] += count * row[j];
    }
    for (int j = 0; j < W; j++) a[j] = sum[j];
}

// sums[w] += x_dw m for the W columns that start at `table`.
template <int W, typename F>
INLINED void scatter(const Rows<F> &x, int64_t d, const F *m, int64_t stride, F *table) {
    const int64_t last = x.start[x.n];
    F share[W]; // a copy that cannot overlap the table: the loop below vectorises
    for (int j = 0; j < W; j++) share[j] = m[j];
    for (int64_t k = x.start[d]; k < x.start[d + 1]; k++) {
        if (k + kAhead < last) fetch<W>(table + x.term[k + kAhead] * stride);
        F *row = table + x.term[k] * stride;
        const F count = x.count[k];
        for (int j = 0; j < W; j++) row[j] += count * share[j];
    }
}

// Scores of one mixture to responsibilities, in place; returns log sum_h exp(a_h) (HB3).
template <typename F> INLINED double soften(F *a, int64_t nodes) {
    F top = a[0];
    for (int64_t h = 1; h < nodes; h++) top = std::max(top, a[h]);
    F total = 0;
    for (int64_t h = 0; h < nodes; h++) {
        a[h] = a[h] == top ? F(1) : std::exp(a[h] - top);
        total += a[h];
    }
    for (int64_t h = 0; h < nodes; h++) a[h] /= total;
    return static_cast<double>(top) + std::log(static_cast<double>(total));
}

// The hard E-step: one-hot at the first best node; returns its score.
template <typename F> INLINED double harden(F *a, int64_t nodes) {
    const int64_t best = std::max_element(a, a + nodes) - a;
    const double top = a[best];
    for (int64_t h = 0; h < nodes; h++) a[h] = h == best ? F(1) : F(0);
    return top;
}

// A number in (0, 1] that depends on (seed, key, node) alone: SplitMix64.
INLINED double uniform(uint64_t seed, uint64_t key, uint64_t node) {
    uint64_t z = seed + (key + node * 0xD1B54A32D192ED03ull) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    return (static_cast<double>(z >> 11) + 1.0) * 0x1p-53;
}

// Node scores of one tile from the current parameters, then the E-step.
template <typename F> struct FromWeights {
    const F *table, *offset;
    bool hard;
    template <int W>
    INLINED void respond(const FromWeights &p, const Rows<F> &x, const Tiles &s, int64_t t,
                         int64_t d, F *a, double *bound) {
        const F *tile = p.table + t * s.terms * s.width;
        std::copy(p.offset + t * s.width, p.offset + (t + 1) * s.width, a);
        if (s.width == W) {
            score<W>(x, d, tile, W, a);
        } else {
            for (int64_t j = 0; j < s.width; j += W) score<W>(x, d, tile + j, s.width, a + j);
        }
        for (int64_t r = 0; r < s.in_tile(t); r++) {
            F *mixture = a + r * s.nodes;
            const double best = p.hard ? harden(mixture, s.nodes) : soften(mixture, s.nodes);
            bound[r] += x.weight[d] * best;
        }
    }
};

// Random responsibilities, uniform on the simplex: how every restart begins (HB8).
template <typename F> struct FromSeeds {
    const uint64_t *seed, *key; // of the mixtures, of the documents
    template <int W>
    INLINED void respond(const FromSeeds &p, const Rows<F> &, const Tiles &s, int64_t t,
                         int64_t d, F *a, double *) {
        for (int64_t r = 0; r < s.in_tile(t); r++) {
            F *mixture = a + r * s.nodes;
            double total = 0;
            for (int64_t h = 0; h < s.nodes; h++) {
                const uint64_t seed = p.seed[t * s.per_tile + r];
                const double share = -std::log(uniform(seed, p.key[d], h));
                mixture[h] = static_cast<F>(share);
                total += share;
            }
            for (int64_t h = 0; h < s.nodes; h++)
                mixture[h] = static_cast<F>(total > 0 ? mixture[h] / total : 1.0 / s.nodes);
        }
    }
};

template <int W, typename F, typename Source>
INLINED void pass(const Rows<F> &x, const Tiles &s, const Source &source, const Totals<F> &out) {
    std::vector<F> m(s.width, F(0));
    for (int64_t t = 0; t < s.n_tiles(); t++) {
        const int64_t column = t * s.per_tile * s.nodes, used = s.in_tile(t) * s.nodes;
        F *sums = out.sums + t * s.terms * s.width;
        for (int64_t d = 0; d < x.n; d++) {
            Source::template respond<W>(source, x, s, t, d, m.data(),
                                        out.bound + t * s.per_tile);
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
                for (int64_t j = 0; j < s.width; j += W)
                    scatter<W>(x, d, m.data() + j, s.width, sums + j);
            }
        }
    }
}

// log sum_h exp(a_drh) of new rows, whose weights must be 1 -> (n, R).
template <int W, typename F>
INLINED void evidence(const Rows<F> &x, const Tiles &s, const FromWeights<F> &p, double *out) {
    std::vector<F> a(s.width);
    std::vector<double> bound(s.per_tile);
    for (int64_t t = 0; t < s.n_tiles(); t++)
        for (int64_t d = 0; d < x.n; d++) {
            std::fill(bound.begin(), bound.end(), 0.0);
            FromWeights<F>::template respond<W>(p, x, s, t, d, a.data(), bound.data());
            std::copy(bound.begin(), bound.begin() + s.in_tile(t),
                      out + d * s.mixtures + t * s.per_tile);
        }
}

// Calls `run` with the tile width as a constant; very wide tiles go 32 at a time.
template <typename Run> INLINED void by_width(int64_t width, Run run) {
    switch (width) {
    case 8: return run(std::integral_constant<int, 8>{});
    case 16: return run(std::integral_constant<int, 16>{});
    case 36: return run(std::integral_constant<int, 36>{});
    case 40: return run(std::integral_constant<int, 40>{});
    default: return run(std::integral_constant<int, 32>{});
    }
}

// The hot pass is compiled for several instruction sets; the machine's best one serves.
WIDEST void step(const Rows<double> &x, const Tiles &s, const FromWeights<double> &p,
                 const Totals<double> &out) {
    by_width(s.width, [&](auto w) INLINED_LAMBDA { pass<decltype(w)::value>(x, s, p, out); });
}
WIDEST void step(const Rows<float> &x, const Tiles &s, const FromWeights<float> &p,
                 const Totals<float> &out) {
    by_width(s.width, [&](auto w) INLINED_LAMBDA { pass<decltype(w)::value>(x, s, p, out); });
}

template <typename F>
Rows<F> rows_of(In<int64_t> start, In<int32_t> term, In<F> count, In<double> weight,
                In<double> length) {
    return {start.data(),  term.data(), count.data(), weight.data(), length.data(),
            static_cast<int64_t>(length.size())};
}

template <typename F, typename Array> Tiles tiles_of(Array table, int64_t mixtures, int64_t nodes) {
    const int64_t width = table.shape(2);
    return {static_cast<int64_t>(table.shape(1)), mixtures, nodes, width,
            std::max<int64_t>(1, width / nodes)};
}

template <typename F> using Table = nb::ndarray<const F, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <typename F> using Sums = nb::ndarray<F, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <typename F>
void mixture_step(In<int64_t> start, In<int32_t> term, In<F> count, In<double> weight,
                  In<double> length, Table<F> table, In<F> offset, int64_t mixtures,
                  int64_t nodes, bool hard, Sums<F> sums, Out<double> docs,
                  Out<double> lengths, Out<double> bound) {
    const auto x = rows_of<F>(start, term, count, weight, length);
    const auto s = tiles_of<F>(table, mixtures, nodes);
    nb::gil_scoped_release unlocked;
    step(x, s, FromWeights<F>{table.data(), offset.data(), hard},
         Totals<F>{sums.data(), docs.data(), lengths.data(), bound.data()});
}

template <typename F>
void mixture_start(In<int64_t> start, In<int32_t> term, In<F> count, In<double> weight,
                   In<double> length, In<uint64_t> keys, In<uint64_t> seeds, int64_t nodes,
                   Sums<F> sums, Out<double> docs, Out<double> lengths) {
    const auto x = rows_of<F>(start, term, count, weight, length);
    const auto s = tiles_of<F>(sums, static_cast<int64_t>(seeds.size()), nodes);
    nb::gil_scoped_release unlocked;
    const FromSeeds<F> source{seeds.data(), keys.data()};
    const Totals<F> out{sums.data(), docs.data(), lengths.data(), nullptr};
    by_width(s.width, [&](auto w) { pass<decltype(w)::value>(x, s, source, out); });
}

template <typename F>
void mixture_evidence(In<int64_t> start, In<int32_t> term, In<F> count, In<double> weight,
                      Table<F> table, In<F> offset, int64_t nodes, Out2<double> out) {
    const auto x = rows_of<F>(start, term, count, weight, weight);
    const auto s = tiles_of<F>(table, out.shape(1), nodes);
    nb::gil_scoped_release unlocked;
    const FromWeights<F> p{table.data(), offset.data(), false};
    by_width(s.width, [&](auto w) { evidence<decltype(w)::value>(x, s, p, out.data()); });
}

} // namespace

void bind_mixture(nb::module_ &m) {
    m.def("mixture_step", &mixture_step<double>);
    m.def("mixture_step", &mixture_step<float>);
    m.def("mixture_start", &mixture_start<double>);
    m.def("mixture_start", &mixture_start<float>);
    m.def("mixture_evidence", &mixture_evidence<double>);
    m.def("mixture_evidence", &mixture_evidence<float>);
}
