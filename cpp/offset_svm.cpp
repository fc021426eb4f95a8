// Linear support vector machine on rows that share a dense constant part.
//
// Given: sparse rows D_i, one dense row c, labels y_i = +-1, costs C_i, scale s.
//   min over w, beta of  1/2 (|w|^2 + beta^2) + sum_i C_i loss(1 - y_i (w.(c + D_i) + s beta)),
// loss(z) = max(0, z) or max(0, z)^2: what LIBLINEAR solves on the rows c + D_i,
// by the dual coordinate descent of Hsieh, Chang, Lin, Keerthi and Sundararajan
// (2008). With w = v + t c, v = sum_i a_i y_i D_i and t = sum_i a_i y_i, a step needs
// D_i only: w.(c + D_i) = v.D_i + v.c + t (c.D_i + |c|^2), and v.c is kept up to date.
#include "bindings.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace {

// splitmix64: the plain twin draws the same numbers.
struct Draw {
    uint64_t state;
    uint64_t operator()() {
        uint64_t z = (state += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }
};

struct Fit {
    const int64_t *ptr;
    const int32_t *idx;
    const double *data, *offset, *sign, *cost;
    int64_t m;
    double constant;  // |c|^2 + s^2
    double *v;
    double along = 0.0, t = 0.0;  // v.c and t
    std::vector<double> alpha, own, diagonal, shift;

    Fit(int64_t rows) : m(rows), alpha(rows, 0.0), own(rows), diagonal(rows), shift(rows) {}

    void prepare(bool squared) {
        for (int64_t i = 0; i < m; ++i) {
            double norm = 0.0, p = 0.0;
            for (int64_t e = ptr[i]; e < ptr[i + 1]; ++e) {
                norm += data[e] * data[e];
                p += data[e] * offset[idx[e]];
            }
            shift[i] = p;
            diagonal[i] = squared ? 0.5 / cost[i] : 0.0;
            own[i] = std::max(norm + 2 * p + constant + diagonal[i], 1e-300);
        }
    }

    // One coordinate: the projected gradient before the step.
    double step(int64_t i, bool squared) {
        double margin = along + t * (shift[i] + constant);
        for (int64_t e = ptr[i]; e < ptr[i + 1]; ++e) margin += v[idx[e]] * data[e];
        const double gradient = sign[i] * margin - 1.0 + diagonal[i] * alpha[i];
        const bool at_zero = alpha[i] <= 0.0, at_cost = !squared && alpha[i] >= cost[i];
        if ((at_zero && gradient >= 0.0) || (at_cost && gradient <= 0.0)) return 0.0;
        double next = std::max(alpha[i] - gradient / own[i], 0.0);
        if (!squared) next = std::min(next, cost[i]);
        const double change = (next - alpha[i]) * sign[i];
        alpha[i] = next;
        for (int64_t e = ptr[i]; e < ptr[i + 1]; ++e) v[idx[e]] += change * data[e];
        along += change * shift[i];
        t += change;
        return gradient;
    }
};

// Fills v and returns (t, v.c, epochs, gap between the projected gradients).
nb::tuple fit_offset_svm(In<int64_t> indptr, In<int32_t> indices, In<double> values,
                         In<double> offset, In<double> sign, In<double> cost, double constant,
                         bool squared, double tol, int64_t max_iter, uint64_t seed,
                         Out<double> weights) {
    Fit fit(static_cast<int64_t>(indptr.shape(0)) - 1);
    fit.ptr = indptr.data();
    fit.idx = indices.data();
    fit.data = values.data();
    fit.offset = offset.data();
    fit.sign = sign.data();
    fit.cost = cost.data();
    fit.constant = constant;
    fit.v = weights.data();
    int64_t epoch = 0;
    double gap = 0.0;
    {
        nb::gil_scoped_release release;
        fit.prepare(squared);
        Draw draw{seed};
        std::vector<int64_t> order(fit.m);
        std::iota(order.begin(), order.end(), 0);
        while (epoch < max_iter) {
            double high = 0.0, low = 0.0;
            for (int64_t i = fit.m - 1; i > 0; --i)
                std::swap(order[i], order[draw() % static_cast<uint64_t>(i + 1)]);
            for (const int64_t i : order) {
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

}  // namespace

void bind_offset_svm(nb::module_ &m) { m.def("fit_offset_svm", &fit_offset_svm); }
