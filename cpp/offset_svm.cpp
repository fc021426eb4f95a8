// Linear support vector machine on rows that share a dense constant part.
//
// Given: sparse rows D_i, one dense row c, labels y_i = +-1, costs C_i, scale s.
//   min over w, beta of  1/2 (|w|^2 + beta^2) + sum_i C_i loss(1 - y_i (w.(c + D_i) + s beta)),
// loss(z) = max(0, z) or max(0, z)^2: what LIBLINEAR solves on the rows c + D_i,
// by the dual coordinate descent of Hsieh, Chang, Lin, Keerthi and Sundararajan
// (2008). With w = v + t c, v = sum_i a_i y_i D_i and t = sum_i a_i y_i, a step needs
// D_i only: w.(c + D_i) = v.D_i + v.c + t (c.D_i + |c|^2), and v.c is kept up to date.
#include "random.hpp"
#include "sparse_rows.hpp"

#include <numeric>

namespace {

struct Fit {
    SparseRows x;
    const double *offset, *sign, *cost;
    double constant; // |c|^2 + s^2
    double* v;
    double along = 0.0, t = 0.0; // v.c and t
    std::vector<double> alpha, own, diagonal, shift;

    Fit(const SparseRows& rows, const double* offset_, const double* sign_, const double* cost_, double constant_,
        double* v_)
        : x(rows), offset(offset_), sign(sign_), cost(cost_), constant(constant_), v(v_), alpha(rows.n_rows, 0.0),
          own(rows.n_rows), diagonal(rows.n_rows), shift(rows.n_rows) {}

    void prepare(bool squared) {
        for (std::int64_t i = 0; i < x.n_rows; ++i) {
            double norm = 0.0, p = 0.0;
            for (std::int64_t e = x.indptr[i]; e < x.indptr[i + 1]; ++e) {
                norm += x.data[e] * x.data[e];
                p += x.data[e] * offset[x.indices[e]];
            }
            shift[i] = p;
            diagonal[i] = squared ? 0.5 / cost[i] : 0.0;
            own[i] = std::max(norm + 2 * p + constant + diagonal[i], 1e-300);
        }
    }

    // One coordinate: the projected gradient before the step.
    double step(std::int64_t i, bool squared) {
        double margin = along + t * (shift[i] + constant);
        for (std::int64_t e = x.indptr[i]; e < x.indptr[i + 1]; ++e) margin += v[x.indices[e]] * x.data[e];
        const double gradient = sign[i] * margin - 1.0 + diagonal[i] * alpha[i];
        const bool at_zero = alpha[i] <= 0.0, at_cost = !squared && alpha[i] >= cost[i];
        if ((at_zero && gradient >= 0.0) || (at_cost && gradient <= 0.0)) return 0.0;
        double next = std::max(alpha[i] - gradient / own[i], 0.0);
        if (!squared) next = std::min(next, cost[i]);
        const double change = (next - alpha[i]) * sign[i];
        alpha[i] = next;
        for (std::int64_t e = x.indptr[i]; e < x.indptr[i + 1]; ++e) v[x.indices[e]] += change * x.data[e];
        along += change * shift[i];
        t += change;
        return gradient;
    }
};

// Fills v and returns (t, v.c, epochs, gap between the projected gradients).
nb::tuple fit_offset_svm(In<std::int64_t> indptr, In<std::int32_t> indices, In<double> data, In<double> offset,
                         In<double> sign, In<double> cost, double constant, bool squared, double tol,
                         std::int64_t max_iter, std::uint64_t seed, Out<double> weights) {
    const SparseRows x = value_rows(indptr, indices, data, weights.size());
    require_size(offset, x.n_columns, "offset");
    require_size(sign, x.n_rows, "sign");
    require_size(cost, x.n_rows, "cost");
    Fit fit(x, offset.data(), sign.data(), cost.data(), constant, weights.data());
    std::int64_t epoch = 0;
    double gap = 0.0;
    {
        nb::gil_scoped_release release;
        fit.prepare(squared);
        SplitMix64 draw{seed};
        std::vector<std::int64_t> order(x.n_rows);
        std::iota(order.begin(), order.end(), 0);
        while (epoch < max_iter) {
            double high = 0.0, low = 0.0;
            for (std::int64_t i = x.n_rows - 1; i > 0; --i)
                std::swap(order[i], order[draw() % static_cast<std::uint64_t>(i + 1)]);
            for (const std::int64_t i : order) {
                const double gradient = fit.step(i, squared);
                high = std::max(high, gradient);
                low = std::min(low, gradient);
            }
            ++epoch;
            gap = high - low;
            if (gap <= tol) break;
        }
    }
    return nb::make_tuple(fit.t, fit.along, epoch, gap);
}

} // namespace

void bind_offset_svm(nb::module_& m) {
    m.def("fit_offset_svm", &fit_offset_svm, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(), "offset"_a, "sign"_a,
          "cost"_a, "constant"_a, "squared"_a, "tol"_a, "max_iter"_a, "seed"_a, "weights"_a.noconvert());
}
