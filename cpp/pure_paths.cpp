// Paths whose end terms meet in some document: what pure paths leave out (HO4).
//
// Given: B of one class, C0 = B'B without its diagonal, and A_ij = 1 where the
// different terms i and j share a document of the class or of the given ones.
// Wanted: W_ik = C0_ik (C0 A)_ki summed over k (ends) and over i (middles): the
// ordered chains i - k - j of the class with A_ij = 1. Columns of A, and with them
// C0 A = B'(BA) - diag(f) A, are made for a few terms i at a time: O(n nnz(B)).
#include "bindings.hpp"
#include "postings.hpp"

#include <algorithm>

namespace {

using earmark::Postings;

constexpr int64_t kWidth = 16;

// Visit every term that shares a document with one of the terms first..first+size.
template <typename Acc, typename Mark>
void for_neighbors(const int64_t *ptr, const int32_t *idx, const Postings &terms, int64_t first,
                   int64_t size, std::vector<Acc> &into, Mark mark) {
    for (int64_t c = 0; c < size; ++c)
        for (int64_t x = terms.start[first + c]; x < terms.start[first + c + 1]; ++x)
            for (int64_t e = ptr[terms.row[x]]; e < ptr[terms.row[x] + 1]; ++e)
                mark(into[idx[e] * kWidth + c]);
}

template <typename Acc, typename T>
void sum_shared_ends(const int64_t *ptr, const int32_t *idx, int64_t m, const int64_t *all_ptr,
                     const int32_t *all_idx, int64_t n_all, int64_t n, T *ends, T *middles) {
    const Postings terms(ptr, idx, m, n), all_terms(all_ptr, all_idx, n_all, n);
    std::vector<Acc> meets(n * kWidth), counts(n * kWidth), reached(m * kWidth);
    for (int64_t first = 0; first < n; first += kWidth) {
        const int64_t size = std::min(kWidth, n - first);
        std::fill(meets.begin(), meets.end(), Acc(0));
        std::fill(counts.begin(), counts.end(), Acc(0));
        for_neighbors(all_ptr, all_idx, all_terms, first, size, meets, [](Acc &v) { v = 1; });
        for_neighbors(ptr, idx, terms, first, size, counts, [](Acc &v) { ++v; });
        for (int64_t v = 0; v < n * kWidth; ++v)  // the class's own documents too
            if (counts[v]) meets[v] = 1;
        for (int64_t c = 0; c < size; ++c) {
            meets[(first + c) * kWidth + c] = 0;
            counts[(first + c) * kWidth + c] = 0;
        }
        for (int64_t d = 0; d < m; ++d) {  // BA
            Acc row[kWidth] = {};
            for (int64_t e = ptr[d]; e < ptr[d + 1]; ++e)
                for (int64_t c = 0; c < kWidth; ++c) row[c] += meets[idx[e] * kWidth + c];
            std::copy(row, row + kWidth, reached.begin() + d * kWidth);
        }
        for (int64_t k = 0; k < n; ++k) {  // B'(BA) - diag(f) A, weighted by C0
            Acc row[kWidth] = {};
            const int64_t last = terms.start[k + 1];
            for (int64_t x = terms.start[k]; x < last; ++x)
                for (int64_t c = 0; c < kWidth; ++c)
                    row[c] += reached[terms.row[x] * kWidth + c];
            const Acc held = static_cast<Acc>(last - terms.start[k]);
            T sum = 0;
            for (int64_t c = 0; c < size; ++c) {
                const T chains = static_cast<T>(row[c] - held * meets[k * kWidth + c]);
                const T w = static_cast<T>(counts[k * kWidth + c]) * chains;
                ends[first + c] += w;
                sum += w;
            }
            middles[k] += sum;
        }
    }
}

template <typename T>
void shared_ends(In<int64_t> indptr, In<int32_t> indices, In<int64_t> all_indptr,
                 In<int32_t> all_indices, bool is_narrow, Out<T> ends, Out<T> middles) {
    const int64_t m = static_cast<int64_t>(indptr.shape(0)) - 1;
    const int64_t n_all = static_cast<int64_t>(all_indptr.shape(0)) - 1;
    const int64_t n = static_cast<int64_t>(ends.shape(0));
    T *e = ends.data(), *k = middles.data();
    nb::gil_scoped_release release;
    if (is_narrow)  // nnz(B) < 2^31
        sum_shared_ends<int32_t, T>(indptr.data(), indices.data(), m, all_indptr.data(),
                                    all_indices.data(), n_all, n, e, k);
    else
        sum_shared_ends<int64_t, T>(indptr.data(), indices.data(), m, all_indptr.data(),
                                    all_indices.data(), n_all, n, e, k);
}

}  // namespace

void bind_pure_paths(nb::module_ &m) {
    m.def("shared_ends", &shared_ends<int64_t>);
    m.def("shared_ends", &shared_ends<double>);
}
