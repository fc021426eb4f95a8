// Documents as rows of a CSR matrix, and what descent does with one row.
#pragma once

#include "bindings.hpp"
#include "compiler.hpp"

#include <cmath>
#include <type_traits>

// Which terms each document has.
struct PresenceRows {
    const std::int64_t* indptr;
    const std::int32_t* indices;
    std::int64_t n_rows, n_columns;

    std::int64_t n_entries() const { return indptr[n_rows]; }
};

inline PresenceRows presence_rows(const In<std::int64_t>& indptr, const In<std::int32_t>& indices,
                                  std::size_t n_columns) {
    require_bounds(indptr, indices.size(), "indptr");
    const std::size_t n_entries = indptr.data()[indptr.size() - 1]; // SciPy allows unused room behind them
    require_range(indices.data(), n_entries, static_cast<std::int64_t>(n_columns), "indices");
    return {indptr.data(), indices.data(), static_cast<std::int64_t>(indptr.size()) - 1,
            static_cast<std::int64_t>(n_columns)};
}

// For kernels that walk along a row: its columns must ascend.
inline void require_sorted(const PresenceRows& x) {
    bool ascends = true;
    for (std::int64_t d = 0; d < x.n_rows; ++d)
        for (std::int64_t p = x.indptr[d] + 1; p < x.indptr[d + 1]; ++p) ascends &= x.indices[p - 1] < x.indices[p];
    require(ascends, "indices: expected ascending columns in each row.");
}

// The same with a value for each.
template <typename F> struct ValueRows : PresenceRows { const F* data; };
using SparseRows = ValueRows<double>;

template <typename F>
ValueRows<F> value_rows(const In<std::int64_t>& indptr, const In<std::int32_t>& indices, const In<F>& data,
                        std::size_t n_columns) {
    require(data.size() >= indices.size(), "data: expected a value for each of the indices.");
    return {presence_rows(indptr, indices, n_columns), data.data()};
}

// The rows of each column: the transpose, in one counting sort.
struct ColumnRows {
    std::vector<std::int64_t> start; // n_columns + 1
    std::vector<std::int32_t> row;   // ascending within a column

    explicit ColumnRows(const PresenceRows& x) : start(x.n_columns + 1, 0), row(x.n_entries()) {
        for (std::int64_t e = 0; e < x.n_entries(); ++e) ++start[x.indices[e] + 1];
        for (std::int64_t k = 0; k < x.n_columns; ++k) start[k + 1] += start[k];
        std::vector<std::int64_t> next(start.begin(), start.end() - 1);
        for (std::int64_t d = 0; d < x.n_rows; ++d)
            for (std::int64_t e = x.indptr[d]; e < x.indptr[d + 1]; ++e)
                row[next[x.indices[e]]++] = static_cast<std::int32_t>(d);
    }
};

// The documents that a pass of descent visits, with their labels and weights.
struct Visits {
    const std::int64_t* order;
    std::int64_t n;
    const std::int32_t* y;
    const double* weight;
};

inline Visits visits_of(const SparseRows& x, const In<std::int64_t>& order, const In<std::int32_t>& y,
                        const In<double>& weight, std::size_t n_classes) {
    require_range(order, x.n_rows, "order");
    require_size(y, x.n_rows, "y");
    require_range(y, static_cast<std::int64_t>(n_classes), "y");
    require_size(weight, x.n_rows, "weight");
    return {order.data(), static_cast<std::int64_t>(order.size()), y.data(), weight.data()};
}

// Ask for the row that will be visited after the next one.
EARMARK_INLINE void prefetch_visit(const SparseRows& x, const Visits& visits, std::int64_t i) {
    if (i + 2 >= visits.n) return;
    prefetch(x.indices + x.indptr[visits.order[i + 2]]);
    prefetch(x.data + x.indptr[visits.order[i + 2]]);
}

// Number of columns that is known to the compiler where Fixed > 0.
template <int Fixed> EARMARK_INLINE int columns(int n_columns) { return Fixed > 0 ? Fixed : n_columns; }

// Calls run(number as a constant) for the usual numbers of classes, with 0 for the others.
template <typename Run> EARMARK_INLINE double by_classes(int n_classes, Run run) {
    switch (n_classes) {
    case 2: return run(std::integral_constant<int, 2>{});
    case 4: return run(std::integral_constant<int, 4>{});
    case 8: return run(std::integral_constant<int, 8>{});
    case 20: return run(std::integral_constant<int, 20>{});
    default: return run(std::integral_constant<int, 0>{});
    }
}

// sum += factor * row
template <int Fixed>
EARMARK_INLINE void add_scaled(double* EARMARK_RESTRICT sum, const double* EARMARK_RESTRICT row, double factor,
                               int n_columns) {
    const int n = columns<Fixed>(n_columns);
    for (int k = 0; k < n; ++k) sum[k] += factor * row[k];
}

// score = offset + sum_w x_w weights[w]
template <int Fixed>
EARMARK_INLINE void score_row(const SparseRows& x, std::int64_t row, const double* weights, const double* offset,
                              double* EARMARK_RESTRICT score, int n_columns) {
    const int n = columns<Fixed>(n_columns);
    const std::int64_t begin = x.indptr[row], end = x.indptr[row + 1];
    double sum[Fixed > 0 ? Fixed : 1];
    double* EARMARK_RESTRICT target = Fixed > 0 ? sum : score;
    for (int k = 0; k < n; ++k) target[k] = offset[k];
    for (std::int64_t p = begin; p < end; ++p) {
        if (p + 8 < end) {
            const double* ahead = weights + static_cast<std::size_t>(x.indices[p + 8]) * n;
            for (int k = 0; k < n && k < 128; k += 8) prefetch(ahead + k); // each cache line
        }
        add_scaled<Fixed>(target, weights + static_cast<std::size_t>(x.indices[p]) * n, x.data[p], n);
    }
    if (Fixed > 0)
        for (int k = 0; k < n; ++k) score[k] = sum[k];
}

// Add to out[0 .. width) the rows of weights of some columns, each times x where `scaled`:
// the sums stay in registers, and each is taken in the order of the columns.
template <std::size_t width, bool scaled, typename Weight, typename Column>
EARMARK_INLINE void add_block(const Weight* weights, std::size_t n_outputs, const Column* columns,
                              const double* x, std::size_t n, double* out) {
    double sum[width];
    for (std::size_t i = 0; i < width; ++i) sum[i] = out[i];
    for (std::size_t k = 0; k < n; ++k) {
        const Weight* row = weights + std::size_t(columns[k]) * n_outputs;
        for (std::size_t i = 0; i < width; ++i) sum[i] += scaled ? x[k] * row[i] : row[i];
    }
    for (std::size_t i = 0; i < width; ++i) out[i] = sum[i];
}

template <bool scaled, typename Weight, typename Column>
EARMARK_INLINE void add_blocks(const Weight* weights, std::size_t n_outputs, const Column* columns,
                               const double* x, std::size_t n, double* out) {
    std::size_t k = 0;
    for (; k + 16 <= n_outputs; k += 16) add_block<16, scaled>(weights + k, n_outputs, columns, x, n, out + k);
    for (; k + 4 <= n_outputs; k += 4) add_block<4, scaled>(weights + k, n_outputs, columns, x, n, out + k);
    if (k + 2 <= n_outputs) {
        add_block<2, scaled>(weights + k, n_outputs, columns, x, n, out + k);
        k += 2;
    }
    if (k < n_outputs) add_block<1, scaled>(weights + k, n_outputs, columns, x, n, out + k);
}

// Scores become probabilities; the log of their normaliser is returned.
EARMARK_INLINE double softmax_row(double* score, int n) {
    double top = score[0];
    for (int k = 1; k < n; ++k) top = std::max(top, score[k]);
    double total = 0.0;
    for (int k = 0; k < n; ++k) total += score[k] = std::exp(score[k] - top);
    for (int k = 0; k < n; ++k) score[k] /= total;
    return top + std::log(total);
}
