// Documents as rows of a CSR matrix, and what descent does with one row.
#pragma once

#include "lanes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

struct SparseRows {
    const std::int64_t* indptr;
    const std::int32_t* indices;
    const double* data;
};

// Number of columns that is known to the compiler where Fixed > 0.
template <int Fixed> EARMARK_INLINE int columns(int n_columns) { return Fixed > 0 ? Fixed : n_columns; }

// sum += factor * row
template <int Fixed> EARMARK_INLINE void add_scaled(double* __restrict sum, const double* __restrict row, double factor, int n_columns) {
    const int n = columns<Fixed>(n_columns);
    for (int k = 0; k < n; ++k) sum[k] += factor * row[k];
}

// score = offset + sum_w x_w weights[w]
template <int Fixed>
EARMARK_INLINE void score_row(const SparseRows& x, std::int64_t row, const double* weights, const double* offset, double* __restrict score, int n_columns) {
    const int n = columns<Fixed>(n_columns);
    const std::int64_t begin = x.indptr[row], end = x.indptr[row + 1];
    double sum[Fixed > 0 ? Fixed : 1];
    double* __restrict target = Fixed > 0 ? sum : score;
    for (int k = 0; k < n; ++k) target[k] = offset[k];
    for (std::int64_t p = begin; p < end; ++p) {
        if (p + 8 < end) {
            const double* ahead = weights + static_cast<std::size_t>(x.indices[p + 8]) * n;
            for (int k = 0; k < n && k < 128; k += 8) EARMARK_PREFETCH(ahead + k);  // each cache line
        }
        add_scaled<Fixed>(target, weights + static_cast<std::size_t>(x.indices[p]) * n, x.data[p], n);
    }
    if (Fixed > 0)
        for (int k = 0; k < n; ++k) score[k] = sum[k];
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
