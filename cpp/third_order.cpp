// Third-order co-occurrence paths: the sums over C = B'B that their closed form needs.
//
// Notation: B is m documents x n terms, L_d and f_k its row and column sums, C0 is
// C without its diagonal, a_k = sum_w C0_kw. Z = B C0, that is
// Z_dk = sum of C_kw over the terms w != k of document d.
// T is int64_t where the caller has bounded every sum by 2^63, else double.
#include "sparse_rows.hpp"

namespace {

// squares = sum_w C0_kw^2, cubes = sum_w C0_kw^3, and the squares weighted by
// a_w and by f_w, for every term k.
template <typename T>
void cooccurrence_moments(In<int64_t> indptr, In<int32_t> indices, In<T> reach, In<T> held, Out<T> squares,
                          Out<T> cubes, Out<T> by_reach, Out<T> by_held) {
    const PresenceRows rows = presence_rows(indptr, indices, squares.size());
    const int64_t *ptr = rows.indptr, m = rows.n_rows, n = rows.n_columns;
    const int32_t* idx = rows.indices;
    for (const auto& out : {squares, cubes, by_reach, by_held}) require_size(out, n, "cubes, by_reach, by_held");
    require_size(reach, n, "reach");
    require_size(held, n, "held");
    const T *a = reach.data(), *f = held.data();
    T *c2 = squares.data(), *c3 = cubes.data(), *c2a = by_reach.data(), *c2f = by_held.data();
    nb::gil_scoped_release release;
    const ColumnRows terms(rows);
    std::vector<int64_t> next(ptr, ptr + m);
    std::vector<int32_t> count(n, 0), seen(n);
    for (int64_t k = 0; k < n; ++k) {
        int64_t n_seen = 0;
        for (int64_t x = terms.start[k]; x < terms.start[k + 1]; ++x) {
            const int32_t d = terms.row[x];
            for (int64_t e = ++next[d]; e < ptr[d + 1]; ++e)
                if (count[idx[e]]++ == 0) seen[n_seen++] = idx[e];
        }
        for (int64_t s = 0; s < n_seen; ++s) { // C is symmetric: k and w at once
            const int32_t w = seen[s];
            const T c = static_cast<T>(count[w]), square = c * c;
            count[w] = 0;
            c2[k] += square;
            c2[w] += square;
            c3[k] += square * c;
            c3[w] += square * c;
            c2a[k] += square * a[w];
            c2a[w] += square * a[k];
            c2f[k] += square * f[w];
            c2f[w] += square * f[k];
        }
    }
}

// Sums over Z, one block of its rows (or columns) at a time.
template <typename T> struct ZSums {
    const T* length; // L_d
    T* norms;        // sum_d Z_dk^2
    T* by_length;    // sum over d with k of L_d Z_dk
    T* by_square;    // sum over d with k of L_d^2 Z_dk
    T* inner;        // sum over k in d of Z_dk

    void entry(int64_t d, int64_t k, T z) {
        by_length[k] += length[d] * z;
        by_square[k] += length[d] * length[d] * z;
        inner[d] += z;
    }
};

// A block of rows r of the matrix with rows (ptr, idx) and columns `columns`: first
// G = block A', then block A' A as sums of rows of G, contiguous in r. With A = B the
// rows are documents and G is part of S = BB'; with A = B' they are terms and G is
// part of C. Either way the result is SB = BC, and Z after f_k is taken from the
// entries of B.
template <typename Acc, typename T, bool kRowsAreDocuments>
void block_walks(const int64_t* ptr, const int32_t* idx, int64_t n_rows, int64_t n_columns, const int64_t* column_start,
                 const int32_t* column_row, const int64_t* held, ZSums<T> sums) {
    const int64_t width = std::max<int64_t>(8, std::min<int64_t>(128, (1 << 22) / (n_rows + 1)));
    std::vector<Acc> shared(static_cast<size_t>(n_rows * width)), z(width);
    std::vector<int64_t> next(column_start, column_start + n_columns);
    for (int64_t first = 0; first < n_rows; first += width) {
        const int64_t size = std::min(width, n_rows - first);
        std::fill(shared.begin(), shared.end(), Acc(0));
        for (int64_t c = 0; c < size; ++c)
            for (int64_t e = ptr[first + c]; e < ptr[first + c + 1]; ++e)
                for (int64_t x = column_start[idx[e]]; x < column_start[idx[e] + 1]; ++x)
                    ++shared[column_row[x] * width + c];
        for (int64_t q = 0; q < n_columns; ++q) {
            std::fill(z.begin(), z.end(), Acc(0));
            for (int64_t x = column_start[q]; x < column_start[q + 1]; ++x) {
                const Acc* row = shared.data() + column_row[x] * width;
                for (int64_t c = 0; c < width; ++c) z[c] += row[c];
            }
            for (; next[q] < column_start[q + 1] && column_row[next[q]] < first + size; ++next[q]) {
                const int64_t r = column_row[next[q]];
                const int64_t d = kRowsAreDocuments ? r : q, k = kRowsAreDocuments ? q : r;
                z[r - first] -= static_cast<Acc>(held[k]);
                sums.entry(d, k, static_cast<T>(z[r - first]));
            }
            for (int64_t c = 0; c < size; ++c) {
                const T value = static_cast<T>(z[c]);
                sums.norms[kRowsAreDocuments ? q : first + c] += value * value;
            }
        }
    }
}

template <typename Acc, typename T> void walks(const PresenceRows& x, const int64_t* held, ZSums<T> sums) {
    const ColumnRows terms(x);
    const int64_t m = x.n_rows, n = x.n_columns, *start = terms.start.data();
    const int32_t* row = terms.row.data();
    if (m <= n) // m nnz(B) additions by document, n nnz(B) by term
        block_walks<Acc, T, true>(x.indptr, x.indices, m, n, start, row, held, sums);
    else
        block_walks<Acc, T, false>(start, row, n, m, x.indptr, x.indices, held, sums);
}

template <typename T>
void walk_sums(In<int64_t> indptr, In<int32_t> indices, In<int64_t> held, In<T> length, bool is_narrow, Out<T> norms,
               Out<T> by_length, Out<T> by_square, Out<T> inner) {
    const PresenceRows x = presence_rows(indptr, indices, held.size());
    for (const auto& out : {norms, by_length, by_square}) require_size(out, x.n_columns, "norms, by_length, by_square");
    require_size(length, x.n_rows, "length");
    require_size(inner, x.n_rows, "inner");
    require_sorted(x);
    const ZSums<T> sums{length.data(), norms.data(), by_length.data(), by_square.data(), inner.data()};
    nb::gil_scoped_release release;
    if (is_narrow) // max L_d max f_k < 2^31
        walks<int32_t, T>(x, held.data(), sums);
    else
        walks<int64_t, T>(x, held.data(), sums);
}

template <typename T> void bind_typed(nb::module_& m) {
    m.def("cooccurrence_moments", &cooccurrence_moments<T>, "indptr"_a, "indices"_a, nb::kw_only(),
          "reach"_a.noconvert(), "held"_a.noconvert(), "squares"_a.noconvert(), "cubes"_a.noconvert(),
          "by_reach"_a.noconvert(), "by_held"_a.noconvert());
    m.def("walk_sums", &walk_sums<T>, "indptr"_a, "indices"_a, nb::kw_only(), "held"_a, "length"_a.noconvert(),
          "is_narrow"_a, "norms"_a.noconvert(), "by_length"_a.noconvert(), "by_square"_a.noconvert(),
          "inner"_a.noconvert());
}

} // namespace

void bind_third_order(nb::module_& m) {
    bind_typed<int64_t>(m);
    bind_typed<double>(m);
}
