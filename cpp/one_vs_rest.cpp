// Linear machines of all classes against the rest, fitted together: a visit of a
// document moves the dual variables of every class.
#include "sparse_rows.hpp"

#include <vector>

namespace {

// For each class k, with y_ik = 1 where document i is of class k and -1 elsewhere:
//
//     minimise over w, b   sum_j w_jk^2 / (2 v_jk) + b_k^2 / (2 v_b)
//                          + sum_i c_ik max(0, 1 - y_ik s_ik)^2,   s_ik = x_i.w_k + b_k
//
// where c_ik is the cost of the document times a factor of the class for its own
// documents, and another for the rest.
//
// Dual coordinate descent (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008): one
// a_ik >= 0 for each document and class, with w_jk = v_jk sum_i a_ik y_ik x_ij.
struct Machines {
    const std::int64_t* indptr;
    const std::int32_t* indices;
    const float* data;
    const float* dense; // (n_rows, n_dense): columns behind the sparse ones, of variance 1
    std::size_t n_dense;
    const std::int64_t* class_indptr; // the classes of each document
    const std::int32_t* class_indices;
    const double* cost;
    const double* factor; // (2, n_classes): of the rest, and of a class's own documents
    const float* variance; // (n_columns, n_classes), or nullptr: all 1
    const float* square;   // (n_rows, n_classes) x_i.(v_k x_i) + v_b, or (n_rows, 1)
    std::size_t square_width;
    float bias_variance;
    float* weights; // (n_columns + n_dense, n_classes)
    float* bias;
    float* alpha; // (n_rows, n_classes)
    int n_classes;
};

struct Progress {
    double moved, total;
};

template <int Fixed>
EARMARK_INLINE void add_row(float* EARMARK_RESTRICT sum, const float* EARMARK_RESTRICT row, float x, int n_classes) {
    const int n = columns<Fixed>(n_classes);
    for (int k = 0; k < n; ++k) sum[k] += x * row[k];
}

// Calls use(value, place in weights) for each entry of a document.
template <typename Use> EARMARK_INLINE void each_entry(const Machines& m, std::int64_t row, int n, Use use) {
    for (std::int64_t p = m.indptr[row]; p < m.indptr[row + 1]; ++p)
        use(m.data[p], static_cast<std::size_t>(m.indices[p]) * n);
}

template <int Fixed> EARMARK_INLINE void score(const Machines& m, std::int64_t row, std::size_t first_dense, float* s) {
    const int n = columns<Fixed>(m.n_classes);
    float own[Fixed > 0 ? Fixed : 1];
    float* EARMARK_RESTRICT sum = Fixed > 0 ? own : s;
    for (int k = 0; k < n; ++k) sum[k] = m.bias[k];
    const std::int64_t end = m.indptr[row + 1];
    for (std::int64_t p = m.indptr[row]; p < end; ++p) {
        if (p + 8 < end) {
            const float* ahead = m.weights + static_cast<std::size_t>(m.indices[p + 8]) * n;
            for (int k = 0; k < n && k < 128; k += 16) prefetch(ahead + k);
        }
        add_row<Fixed>(sum, m.weights + static_cast<std::size_t>(m.indices[p]) * n, m.data[p], n);
    }
    const float* z = m.dense + static_cast<std::size_t>(row) * m.n_dense;
    for (std::size_t j = 0; j < m.n_dense; ++j) add_row<Fixed>(sum, m.weights + (first_dense + j) * n, z[j], n);
    if (Fixed > 0)
        for (int k = 0; k < n; ++k) s[k] = own[k];
}

// The new dual variables; d_k = y_k times the change of a_k. -> how many changed
EARMARK_INLINE int solve(const Machines& m, std::int64_t row, const float* s, float* y, float* d, Progress& progress) {
    const int n = m.n_classes;
    float* a = m.alpha + static_cast<std::size_t>(row) * n;
    for (std::int64_t p = m.class_indptr[row]; p < m.class_indptr[row + 1]; ++p) y[m.class_indices[p]] = 1.0f;
    const double half = 0.5 / m.cost[row];
    const float* q = m.square + static_cast<std::size_t>(row) * m.square_width;
    float moved = 0.0f, total = 0.0f;
    int n_changed = 0;
    for (int k = 0; k < n; ++k) {
        const double of_class = half / m.factor[y[k] > 0 ? n + k : k];
        const float own = static_cast<float>(std::min(of_class, 1e30));
        const float gradient = y[k] * s[k] - 1.0f + own * a[k];
        const float next = std::max(a[k] - gradient / (q[m.square_width > 1 ? k : 0] + own), 0.0f);
        const float change = next - a[k];
        d[k] = y[k] * change;
        a[k] = next;
        moved += std::fabs(change);
        total += next;
        n_changed += change != 0.0f;
    }
    for (std::int64_t p = m.class_indptr[row]; p < m.class_indptr[row + 1]; ++p) y[m.class_indices[p]] = -1.0f;
    progress.moved += moved;
    progress.total += total;
    return n_changed;
}

template <int Fixed>
EARMARK_INLINE void move_all(const Machines& m, std::int64_t row, std::size_t first_dense, const float* d) {
    const int n = columns<Fixed>(m.n_classes);
    if (m.variance) {
        each_entry(m, row, n, [&](float x, std::size_t at) EARMARK_INLINE_LAMBDA {
            float* EARMARK_RESTRICT w = m.weights + at;
            const float* EARMARK_RESTRICT v = m.variance + at;
            for (int k = 0; k < n; ++k) w[k] += x * v[k] * d[k];
        });
    } else {
        each_entry(m, row, n,
                   [&](float x, std::size_t at) EARMARK_INLINE_LAMBDA { add_row<Fixed>(m.weights + at, d, x, n); });
    }
    const float* z = m.dense + static_cast<std::size_t>(row) * m.n_dense;
    for (std::size_t j = 0; j < m.n_dense; ++j) add_row<Fixed>(m.weights + (first_dense + j) * n, d, z[j], n);
}

// The same where few of many classes change.
EARMARK_INLINE void move_some(const Machines& m, std::int64_t row, std::size_t first_dense, const float* d,
                              const std::vector<int>& changed) {
    const int n = m.n_classes;
    each_entry(m, row, n, [&](float x, std::size_t at) {
        for (const int k : changed) m.weights[at + k] += m.variance ? x * m.variance[at + k] * d[k] : x * d[k];
    });
    const float* z = m.dense + static_cast<std::size_t>(row) * m.n_dense;
    for (std::size_t j = 0; j < m.n_dense; ++j)
        for (const int k : changed) m.weights[(first_dense + j) * n + k] += z[j] * d[k];
}

template <int Fixed>
EARMARK_INLINE double visit_all(const Machines& m, const std::int64_t* order, std::int64_t n_visits,
                                std::size_t first_dense, Progress& progress) {
    const int n = m.n_classes;
    std::vector<float> s(n), y(n, -1.0f), d(n);
    std::vector<int> changed;
    for (std::int64_t i = 0; i < n_visits; ++i) {
        const std::int64_t row = order[i];
        if (i + 2 < n_visits) {
            prefetch(m.indices + m.indptr[order[i + 2]]);
            prefetch(m.data + m.indptr[order[i + 2]]);
        }
        score<Fixed>(m, row, first_dense, s.data());
        const int n_changed = solve(m, row, s.data(), y.data(), d.data(), progress);
        if (n_changed == 0) continue;
        for (int k = 0; k < n; ++k) m.bias[k] += m.bias_variance * d[k];
        if (n_changed * 8 > n) {
            move_all<Fixed>(m, row, first_dense, d.data());
            continue;
        }
        changed.clear();
        for (int k = 0; k < n; ++k)
            if (d[k] != 0.0f) changed.push_back(k);
        move_some(m, row, first_dense, d.data(), changed);
    }
    return 0.0;
}

EARMARK_WIDEST void visit_widest(const Machines& m, const std::int64_t* order, std::int64_t n_visits,
                                 std::size_t first_dense, Progress& progress) {
    if (m.n_classes == 1)
        visit_all<1>(m, order, n_visits, first_dense, progress);
    else
        by_classes(m.n_classes, [&](auto n) EARMARK_INLINE_LAMBDA {
            return visit_all<decltype(n)::value>(m, order, n_visits, first_dense, progress);
        });
}

// One pass over the documents in `order` -> how far the duals moved, and their sum.
nb::tuple one_vs_rest_pass(In<std::int64_t> indptr, In<std::int32_t> indices, In<float> data, In2<float> dense,
                           In<std::int64_t> class_indptr, In<std::int32_t> class_indices, In<double> cost,
                           In2<double> factor, nb::object variance, In2<float> square, double bias_variance, In<std::int64_t> order,
                           Out2<float> weights, Out<float> bias, Out2<float> alpha) {
    const std::size_t n_classes = bias.size(), n_dense = dense.shape(1);
    require(n_classes >= 1, "bias: expected at least one class.");
    require(weights.shape(0) >= n_dense, "weights: expected a row for each column.");
    const std::size_t n_columns = weights.shape(0) - n_dense;
    const ValueRows<float> x = value_rows<float>(indptr, indices, data, n_columns);
    const PresenceRows labels = presence_rows(class_indptr, class_indices, n_classes);
    require(labels.n_rows == x.n_rows, "class_indptr: expected the classes of each row.");
    require_shape(dense, x.n_rows, n_dense, "dense");
    require_size(cost, x.n_rows, "cost");
    require_shape(factor, 2, n_classes, "factor");
    require_shape(weights, n_columns + n_dense, n_classes, "weights");
    require_shape(alpha, x.n_rows, n_classes, "alpha");
    require(square.shape(1) == n_classes || square.shape(1) == 1, "square: expected one column, or one for each class.");
    require_shape(square, x.n_rows, square.shape(1), "square");
    require_range(order, x.n_rows, "order");
    const float* v = nullptr;
    In2<float> given;
    if (!variance.is_none()) {
        given = nb::cast<In2<float>>(variance);
        require_shape(given, n_columns, n_classes, "variance");
        v = given.data();
    }
    const Machines m{x.indptr, x.indices, x.data, dense.data(), n_dense, class_indptr.data(), class_indices.data(),
                     cost.data(), factor.data(), v, square.data(), square.shape(1), static_cast<float>(bias_variance),
                     weights.data(), bias.data(), alpha.data(), static_cast<int>(n_classes)};
    Progress progress{0.0, 0.0};
    {
        nb::gil_scoped_release release;
        visit_widest(m, order.data(), static_cast<std::int64_t>(order.size()), n_columns, progress);
    }
    return nb::make_tuple(progress.moved, progress.total);
}

} // namespace

void bind_one_vs_rest(nb::module_& m) {
    m.def("one_vs_rest_pass", &one_vs_rest_pass, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(), "dense"_a,
          "class_indptr"_a, "class_indices"_a, "cost"_a, "factor"_a, "variance"_a.none(), "square"_a, "bias_variance"_a, "order"_a,
          "weights"_a.noconvert(), "bias"_a.noconvert(), "alpha"_a.noconvert());
}
