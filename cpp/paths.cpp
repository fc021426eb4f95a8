// Second-order co-occurrence paths: squared row sums of C = B'B, without C.
//
// Given: the presence matrix B of one class in CSR form, m documents x n terms,
// indices sorted and distinct within a row.
// Wanted: r_k = sum over w != k of C_kw^2, the one part of HO2 and HO3 that costs
// more than O(nnz B). Two exact ways, neither of which stores C or BB':
//   by term      rows of C, sum_d L_d^2 / 2 additions, O(n) memory;
//   by document  rows of S = BB', r_k + f_k^2 = sum_{d,d' with k} S_dd',
//                sum_k f_k^2 additions, O(m) memory.
#include "bindings.hpp"
#include "postings.hpp"

#include <algorithm>

namespace {

using earmark::Postings;

// out += v over the terms of each row, or over the rows of each term.
template <typename T>
void presence_times(In<int64_t> indptr, In<int32_t> indices, In<T> vector, Out<T> out) {
    const int64_t m = static_cast<int64_t>(indptr.shape(0)) - 1;
    const int64_t *ptr = indptr.data();
    const int32_t *idx = indices.data();
    const T *v = vector.data();
    T *o = out.data();
    nb::gil_scoped_release release;
    for (int64_t d = 0; d < m; ++d) {
        T sum = 0;
        for (int64_t e = ptr[d]; e < ptr[d + 1]; ++e) sum += v[idx[e]];
        o[d] = sum;
    }
}

template <typename T>
void transposed_times(In<int64_t> indptr, In<int32_t> indices, In<T> vector, Out<T> out) {
    const int64_t m = static_cast<int64_t>(indptr.shape(0)) - 1;
    const int64_t *ptr = indptr.data();
    const int32_t *idx = indices.data();
    const T *v = vector.data();
    T *o = out.data();
    nb::gil_scoped_release release;
    for (int64_t d = 0; d < m; ++d)
        for (int64_t e = ptr[d]; e < ptr[d + 1]; ++e) o[idx[e]] += v[d];
}

// Upper triangle of C, row by row: terms come in order, so the entries of a
// document behind its cursor are the terms greater than k.
void squares_by_term(const int64_t *ptr, const int32_t *idx, int64_t m, int64_t n,
                     const Postings &terms, int64_t *out) {
    std::vector<int64_t> next(ptr, ptr + m);
    std::vector<int32_t> count(n, 0), seen(n);
    for (int64_t k = 0; k < n; ++k) {
        const int64_t first = terms.start[k], last = terms.start[k + 1];
        if (last - first == 1) {  // C_kw = 1 for every other term of the document
            const int32_t d = terms.row[first];
            for (int64_t e = ++next[d]; e < ptr[d + 1]; ++e) ++out[idx[e]];
            out[k] += ptr[d + 1] - next[d];
            continue;
        }
        int64_t work = 0, own = 0;
        for (int64_t x = first; x < last; ++x) {
            const int32_t d = terms.row[x];
            work += ptr[d + 1] - (++next[d]);
        }
        if (4 * work >= n - k) {  // many entries: scan the whole row afterwards
            for (int64_t x = first; x < last; ++x) {
                const int32_t d = terms.row[x];
                for (int64_t e = next[d]; e < ptr[d + 1]; ++e) ++count[idx[e]];
            }
            for (int64_t w = k + 1; w < n; ++w) {
                const int64_t c = count[w];
                own += c * c;
                out[w] += c * c;
                count[w] = 0;
            }
        } else {
            int64_t n_seen = 0;
            for (int64_t x = first; x < last; ++x) {
                const int32_t d = terms.row[x];
                for (int64_t e = next[d]; e < ptr[d + 1]; ++e)
                    if (count[idx[e]]++ == 0) seen[n_seen++] = idx[e];
            }
            for (int64_t s = 0; s < n_seen; ++s) {
                const int64_t c = count[seen[s]];
                own += c * c;
                out[seen[s]] += c * c;
                count[seen[s]] = 0;
            }
        }
        out[k] += own;
    }
}

// Upper triangle of S, row by row, each row used at once and forgotten.
void squares_by_document(const int64_t *ptr, const int32_t *idx, int64_t m, int64_t n,
                         const Postings &terms, int64_t *out) {
    std::vector<int64_t> next(terms.start.begin(), terms.start.end() - 1);
    std::vector<int32_t> shared(m, 0);
    for (int64_t d = 0; d < m; ++d) {
        const int64_t length = ptr[d + 1] - ptr[d];
        int64_t work = 0;
        for (int64_t e = ptr[d]; e < ptr[d + 1]; ++e) {
            const int32_t k = idx[e];
            const int64_t last = terms.start[k + 1];
            work += last - (++next[k]);
            for (int64_t x = next[k]; x < last; ++x) ++shared[terms.row[x]];
        }
        for (int64_t e = ptr[d]; e < ptr[d + 1]; ++e) {
            const int32_t k = idx[e];
            int64_t sum = 0;
            for (int64_t x = next[k]; x < terms.start[k + 1]; ++x) sum += shared[terms.row[x]];
            out[k] += length + 2 * sum;
        }
        if (4 * work >= m - d) {
            std::fill(shared.begin() + d, shared.end(), 0);
        } else {
            for (int64_t e = ptr[d]; e < ptr[d + 1]; ++e)
                for (int64_t x = next[idx[e]]; x < terms.start[idx[e] + 1]; ++x)
                    shared[terms.row[x]] = 0;
        }
    }
    for (int64_t k = 0; k < n; ++k) {
        const int64_t f = terms.start[k + 1] - terms.start[k];
        out[k] -= f * f;
    }
}

void squared_cooccurrence(In<int64_t> indptr, In<int32_t> indices, bool by_document,
                          Out<int64_t> out) {
    const int64_t m = static_cast<int64_t>(indptr.shape(0)) - 1;
    const int64_t n = static_cast<int64_t>(out.shape(0));
    const int64_t *ptr = indptr.data();
    const int32_t *idx = indices.data();
    int64_t *o = out.data();
    nb::gil_scoped_release release;
    const Postings terms(ptr, idx, m, n);
    if (by_document)
        squares_by_document(ptr, idx, m, n, terms, o);
    else
        squares_by_term(ptr, idx, m, n, terms, o);
}

}  // namespace

void bind_paths(nb::module_ &m) {
    m.def("presence_times", &presence_times<int64_t>);
    m.def("presence_times", &presence_times<double>);
    m.def("transposed_times", &transposed_times<int64_t>);
    m.def("transposed_times", &transposed_times<double>);
    m.def("squared_cooccurrence", &squared_cooccurrence);
}
