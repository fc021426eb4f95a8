// Second-order co-occurrence paths: squared row sums of C = B'B, without C.
//
// Given: the presence matrix B of one class in CSR form, m documents x n terms,
// indices sorted and distinct within a row.
// Wanted: r_k = sum over w != k of C_kw^2, the one part of HO2 and HO3 that costs
// more than O(nnz B). Two exact ways, neither of which stores C or BB':
//   by term      rows of C, sum_d L_d^2 / 2 additions, O(n) memory;
//   by document  rows of S = BB', r_k + f_k^2 = sum_{d,d' with k} S_dd',
//                sum_k f_k^2 additions, O(m) memory.
#include "sparse_rows.hpp"

namespace {

// out = v summed over the terms of each row.
template <typename T> void presence_times(In<int64_t> indptr, In<int32_t> indices, In<T> vector, Out<T> out) {
    const PresenceRows x = presence_rows(indptr, indices, vector.size());
    require_size(out, x.n_rows, "out");
    const T* v = vector.data();
    T* o = out.data();
    nb::gil_scoped_release release;
    for (int64_t d = 0; d < x.n_rows; ++d) {
        T sum = 0;
        for (int64_t e = x.indptr[d]; e < x.indptr[d + 1]; ++e) sum += v[x.indices[e]];
        o[d] = sum;
    }
}

// out += v over the rows of each term.
template <typename T> void transposed_times(In<int64_t> indptr, In<int32_t> indices, In<T> vector, Out<T> out) {
    const PresenceRows x = presence_rows(indptr, indices, out.size());
    require_size(vector, x.n_rows, "vector");
    const T* v = vector.data();
    T* o = out.data();
    nb::gil_scoped_release release;
    for (int64_t d = 0; d < x.n_rows; ++d)
        for (int64_t e = x.indptr[d]; e < x.indptr[d + 1]; ++e) o[x.indices[e]] += v[d];
}

// Upper triangle of C, row by row: terms come in order, so the entries of a
// document behind its cursor are the terms greater than k.
void squares_by_term(const PresenceRows& x, const ColumnRows& terms, int64_t* out) {
    const int64_t *ptr = x.indptr, m = x.n_rows, n = x.n_columns;
    const int32_t* idx = x.indices;
    std::vector<int64_t> next(ptr, ptr + m);
    std::vector<int32_t> count(n, 0), seen(n);
    for (int64_t k = 0; k < n; ++k) {
        const int64_t first = terms.start[k], last = terms.start[k + 1];
        if (last - first == 1) { // C_kw = 1 for every other term of the document
            const int32_t d = terms.row[first];
            for (int64_t e = ++next[d]; e < ptr[d + 1]; ++e) ++out[idx[e]];
            out[k] += ptr[d + 1] - next[d];
            continue;
        }
        int64_t work = 0, own = 0;
        for (int64_t i = first; i < last; ++i) {
            const int32_t d = terms.row[i];
            work += ptr[d + 1] - (++next[d]);
        }
        if (4 * work >= n - k) { // many entries: scan the whole row afterwards
            for (int64_t i = first; i < last; ++i) {
                const int32_t d = terms.row[i];
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
            for (int64_t i = first; i < last; ++i) {
                const int32_t d = terms.row[i];
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
void squares_by_document(const PresenceRows& x, const ColumnRows& terms, int64_t* out) {
    const int64_t *ptr = x.indptr, m = x.n_rows, n = x.n_columns;
    const int32_t* idx = x.indices;
    std::vector<int64_t> next(terms.start.begin(), terms.start.end() - 1);
    std::vector<int32_t> shared(m, 0);
    for (int64_t d = 0; d < m; ++d) {
        const int64_t length = ptr[d + 1] - ptr[d];
        int64_t work = 0;
        for (int64_t e = ptr[d]; e < ptr[d + 1]; ++e) {
            const int32_t k = idx[e];
            const int64_t last = terms.start[k + 1];
            work += last - (++next[k]);
            for (int64_t i = next[k]; i < last; ++i) ++shared[terms.row[i]];
        }
        for (int64_t e = ptr[d]; e < ptr[d + 1]; ++e) {
            const int32_t k = idx[e];
            int64_t sum = 0;
            for (int64_t i = next[k]; i < terms.start[k + 1]; ++i) sum += shared[terms.row[i]];
            out[k] += length + 2 * sum;
        }
        if (4 * work >= m - d) {
            std::fill(shared.begin() + d, shared.end(), 0);
        } else {
            for (int64_t e = ptr[d]; e < ptr[d + 1]; ++e)
                for (int64_t i = next[idx[e]]; i < terms.start[idx[e] + 1]; ++i) shared[terms.row[i]] = 0;
        }
    }
    for (int64_t k = 0; k < n; ++k) {
        const int64_t f = terms.start[k + 1] - terms.start[k];
        out[k] -= f * f;
    }
}

void squared_cooccurrence(In<int64_t> indptr, In<int32_t> indices, bool by_document, Out<int64_t> out) {
    const PresenceRows x = presence_rows(indptr, indices, out.size());
    nb::gil_scoped_release release;
    const ColumnRows terms(x);
    by_document ? squares_by_document(x, terms, out.data()) : squares_by_term(x, terms, out.data());
}

// ---- paths whose end terms meet in some document: what pure paths leave out (HO4) ----
//
// Given: B of one class, C0 = B'B without its diagonal, and A_ij = 1 where the
// different terms i and j share a document of the class or of the given ones.
// Wanted: W_ik = C0_ik (C0 A)_ki summed over k (ends) and over i (middles): the
// ordered chains i - k - j of the class with A_ij = 1. Columns of A, and with them
// C0 A = B'(BA) - diag(f) A, are made for a few terms i at a time: O(n nnz(B)).

constexpr int64_t kWidth = 16;

// Visit every term that shares a document with one of the terms first..first+size.
template <typename Acc, typename Mark>
void for_neighbors(const PresenceRows& x, const ColumnRows& terms, int64_t first, int64_t size, std::vector<Acc>& into,
                   Mark mark) {
    for (int64_t c = 0; c < size; ++c)
        for (int64_t i = terms.start[first + c]; i < terms.start[first + c + 1]; ++i)
            for (int64_t e = x.indptr[terms.row[i]]; e < x.indptr[terms.row[i] + 1]; ++e)
                mark(into[x.indices[e] * kWidth + c]);
}

template <typename Acc, typename T>
void sum_shared_ends(const PresenceRows& x, const PresenceRows& all, T* ends, T* middles) {
    const int64_t *ptr = x.indptr, m = x.n_rows, n = x.n_columns;
    const int32_t* idx = x.indices;
    const ColumnRows terms(x), all_terms(all);
    std::vector<Acc> meets(n * kWidth), counts(n * kWidth), reached(m * kWidth);
    for (int64_t first = 0; first < n; first += kWidth) {
        const int64_t size = std::min(kWidth, n - first);
        std::fill(meets.begin(), meets.end(), Acc(0));
        std::fill(counts.begin(), counts.end(), Acc(0));
        for_neighbors(all, all_terms, first, size, meets, [](Acc& v) { v = 1; });
        for_neighbors(x, terms, first, size, counts, [](Acc& v) { ++v; });
        for (int64_t v = 0; v < n * kWidth; ++v) // the class's own documents too
            if (counts[v]) meets[v] = 1;
        for (int64_t c = 0; c < size; ++c) {
            meets[(first + c) * kWidth + c] = 0;
            counts[(first + c) * kWidth + c] = 0;
        }
        for (int64_t d = 0; d < m; ++d) { // BA
            Acc row[kWidth] = {};
            for (int64_t e = ptr[d]; e < ptr[d + 1]; ++e)
                for (int64_t c = 0; c < kWidth; ++c) row[c] += meets[idx[e] * kWidth + c];
            std::copy(row, row + kWidth, reached.begin() + d * kWidth);
        }
        for (int64_t k = 0; k < n; ++k) { // B'(BA) - diag(f) A, weighted by C0
            Acc row[kWidth] = {};
            const int64_t last = terms.start[k + 1];
            for (int64_t i = terms.start[k]; i < last; ++i)
                for (int64_t c = 0; c < kWidth; ++c) row[c] += reached[terms.row[i] * kWidth + c];
            const Acc frequency = static_cast<Acc>(last - terms.start[k]);
            T sum = 0;
            for (int64_t c = 0; c < size; ++c) {
                const T chains = static_cast<T>(row[c] - frequency * meets[k * kWidth + c]);
                const T w = static_cast<T>(counts[k * kWidth + c]) * chains;
                ends[first + c] += w;
                sum += w;
            }
            middles[k] += sum;
        }
    }
}

template <typename T>
void shared_ends(In<int64_t> indptr, In<int32_t> indices, In<int64_t> all_indptr, In<int32_t> all_indices,
                 bool is_narrow, Out<T> ends, Out<T> middles) {
    const PresenceRows x = presence_rows(indptr, indices, ends.size()),
                       all = presence_rows(all_indptr, all_indices, ends.size());
    require_size(middles, ends.size(), "middles");
    nb::gil_scoped_release release;
    if (is_narrow) // nnz(B) < 2^31
        sum_shared_ends<int32_t, T>(x, all, ends.data(), middles.data());
    else
        sum_shared_ends<int64_t, T>(x, all, ends.data(), middles.data());
}

template <typename T> void bind_typed(nb::module_& m) {
    m.def("presence_times", &presence_times<T>, "indptr"_a, "indices"_a, "vector"_a.noconvert(), "out"_a.noconvert());
    m.def("transposed_times", &transposed_times<T>, "indptr"_a, "indices"_a, "vector"_a.noconvert(),
          "out"_a.noconvert());
    m.def("shared_ends", &shared_ends<T>, "indptr"_a, "indices"_a, "all_indptr"_a, "all_indices"_a, "is_narrow"_a,
          "ends"_a.noconvert(), "middles"_a.noconvert());
}

} // namespace

void bind_paths(nb::module_& m) {
    bind_typed<int64_t>(m);
    bind_typed<double>(m);
    m.def("squared_cooccurrence", &squared_cooccurrence, "indptr"_a, "indices"_a, "by_document"_a, "out"_a.noconvert());
}
