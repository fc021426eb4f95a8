// Softmax regression by mini-batch gradient descent on sparse documents.
#include "sparse_rows.hpp"

#include <vector>

namespace {

// minimise  sum_d s_d (-log y_d,t(d)) / sum_d s_d + penalty/2 |W|^2,   y_d = softmax(W'x_d + b)
//
// A step costs what the batch's terms cost: the gradient is (y - t) x' (SR1) and
// the decay of a term that is not in the batch waits in `decayed` until the
// term is met again.
struct Descent {
    double* weights; // (n_features, n_classes)
    double* bias;    // (n_classes)
    double* squares; // (n_features + 1) sums of squared gradients, the last of the bias
    double* decayed; // (n_features) length of the path up to which decay was applied
    double path;     // sum of the step sizes so far
    int n_classes;
};

struct Schedule {
    double first, last; // step size, falling in a straight line over the pass
    double bias_rate;   // factor on the step of the bias; 0 for no bias
    double penalty;
    std::int64_t batch_size;
    bool adaptive; // step of a term = step / root of the sum of its squared gradients
};

EARMARK_INLINE double term_rate(const Descent& m, std::int32_t term, bool adaptive) {
    if (!adaptive) return 1.0;
    const double square = m.squares[term];
    return square > 0.0 ? 1.0 / std::sqrt(square) : 0.0;
}

template <int Fixed>
EARMARK_INLINE void decay_row(const Descent& m, const SparseRows& x, std::int64_t row, const Schedule& s) {
    const int n = columns<Fixed>(m.n_classes);
    for (std::int64_t p = x.indptr[row]; p < x.indptr[row + 1]; ++p) {
        const std::int32_t term = x.indices[p];
        const double keep = 1.0 / (1.0 + s.penalty * (m.path - m.decayed[term]) * term_rate(m, term, s.adaptive));
        m.decayed[term] = m.path;
        double* w = m.weights + static_cast<std::size_t>(term) * n;
        for (int k = 0; k < n; ++k) w[k] *= keep;
    }
}

// The document's share of the step: W -= step * x (y - t)'.
template <int Fixed>
EARMARK_INLINE void step_row(const Descent& m, const SparseRows& x, std::int64_t row, const double* residual,
                             double step, const Schedule& s) {
    const int n = columns<Fixed>(m.n_classes);
    double square = 0.0;
    for (int k = 0; k < n; ++k) square += residual[k] * residual[k];
    if (square == 0.0) return;
    for (std::int64_t p = x.indptr[row]; p < x.indptr[row + 1]; ++p) {
        const std::int32_t term = x.indices[p];
        const double value = x.data[p];
        double factor = -step * value;
        if (s.adaptive) factor /= std::sqrt(m.squares[term] += value * value * square);
        add_scaled<Fixed>(m.weights + static_cast<std::size_t>(term) * n, residual, factor, n);
    }
    double factor = -step * s.bias_rate;
    if (s.adaptive) factor /= std::sqrt(m.squares[x.n_columns] += square);
    add_scaled<Fixed>(m.bias, residual, factor, n);
}

template <int Fixed>
EARMARK_INLINE double descend(Descent& m, const SparseRows& x, const Visits& visits, const Schedule& s) {
    const int n = columns<Fixed>(m.n_classes);
    std::vector<double> residuals(static_cast<std::size_t>(std::min(s.batch_size, visits.n)) * n);
    double loss = 0.0;
    for (std::int64_t first = 0; first < visits.n; first += s.batch_size) {
        const std::int64_t size = std::min(s.batch_size, visits.n - first);
        const double eta = s.first + (s.last - s.first) * (static_cast<double>(first) / static_cast<double>(visits.n));
        for (std::int64_t j = 0; j < size; ++j) {
            const std::int64_t row = visits.order[first + j];
            prefetch_visit(x, visits, first + j);
            if (s.penalty > 0.0) decay_row<Fixed>(m, x, row, s);
            double* residual = residuals.data() + j * n;
            score_row<Fixed>(x, row, m.weights, m.bias, residual, n);
            const double own = residual[visits.y[row]];
            loss += visits.weight[row] * (softmax_row(residual, n) - own); // eq. 37 of the exercise sheet
            residual[visits.y[row]] -= 1.0;
            for (int k = 0; k < n; ++k) residual[k] *= visits.weight[row];
        }
        // The batch's mean gradient; the adaptive step takes each document's own.
        const double step = s.adaptive ? eta : eta / static_cast<double>(size);
        for (std::int64_t j = 0; j < size; ++j)
            step_row<Fixed>(m, x, visits.order[first + j], residuals.data() + j * n, step, s);
        m.path += s.adaptive ? eta * static_cast<double>(size) : eta;
    }
    return loss;
}

EARMARK_WIDEST double descend_widest(Descent& m, const SparseRows& x, const Visits& visits, const Schedule& s) {
    return by_classes(m.n_classes,
                      [&](auto n) EARMARK_INLINE_LAMBDA { return descend<decltype(n)::value>(m, x, visits, s); });
}

double softmax_descend(In<std::int64_t> indptr, In<std::int32_t> indices, In<double> data, In<std::int64_t> order,
                       In<std::int32_t> y, In<double> weight, Out2<double> weights, Out<double> bias,
                       Out<double> squares, Out<double> decayed, Out<double> path, double first, double last,
                       double bias_rate, double penalty, std::int64_t batch_size, bool adaptive) {
    const std::size_t n_features = weights.shape(0), n_classes = weights.shape(1);
    const SparseRows x = value_rows(indptr, indices, data, n_features);
    const Visits visits = visits_of(x, order, y, weight, n_classes);
    require_size(bias, n_classes, "bias");
    require_size(squares, n_features + 1, "squares");
    require_size(decayed, n_features, "decayed");
    require_size(path, 1, "path");
    require(batch_size >= 1, "batch_size: expected at least 1.");
    nb::gil_scoped_release release;
    Descent m{weights.data(), bias.data(), squares.data(), decayed.data(), path.data()[0], static_cast<int>(n_classes)};
    const double loss = descend_widest(m, x, visits, {first, last, bias_rate, penalty, batch_size, adaptive});
    path.data()[0] = m.path;
    return loss;
}

} // namespace

void bind_sgd(nb::module_& m) {
    m.def("softmax_descend", &softmax_descend, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(), "order"_a, "y"_a,
          "weight"_a, "weights"_a.noconvert(), "bias"_a.noconvert(), "squares"_a.noconvert(), "decayed"_a.noconvert(),
          "path"_a.noconvert(), "first"_a, "last"_a, "bias_rate"_a, "penalty"_a, "batch_size"_a, "adaptive"_a);
}
