// Linear support vector machine by dual coordinate ascent on sparse documents.
#include "bindings.hpp"
#include "sparse_rows.hpp"

#include <limits>

namespace {

// minimise  |w|^2 / 2 + sum_d c_d max(0, 1 - y_d w'x_d)^2
//
// The dual has one number a_d >= 0 a document and w = sum_d a_d y_d x_d. A visit solves
// for one a_d exactly (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008, algorithm 1).
// x_d has a constant 1 after its terms, whose weight is the bias.
// Returns how far the projected gradients of the pass lie apart: 0 at the optimum.
double svm_ascend(In<std::int64_t> indptr, In<std::int32_t> indices, In<double> data, In<std::int64_t> order, In<double> sign,
                  In<double> strength, In<double> square, Out<double> weights, Out<double> dual) {
    nb::gil_scoped_release release;
    const SparseRows x{indptr.data(), indices.data(), data.data()};
    double* w = weights.data();
    double& bias = w[weights.shape(0) - 1];
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    const std::int64_t n_rows = order.shape(0);
    for (std::int64_t i = 0; i < n_rows; ++i) {
        const std::int64_t row = order.data()[i];
        if (i + 2 < n_rows) {
            EARMARK_PREFETCH(x.indices + x.indptr[order.data()[i + 2]]);
            EARMARK_PREFETCH(x.data + x.indptr[order.data()[i + 2]]);
        }
        const std::int64_t begin = x.indptr[row], end = x.indptr[row + 1];
        double margin = bias;
        for (std::int64_t p = begin; p < end; ++p) margin += x.data[p] * w[x.indices[p]];
        const double y = sign.data()[row], slack = 0.5 / strength.data()[row];
        double& a = dual.data()[row];
        const double gradient = y * margin - 1.0 + slack * a;
        const double projected = a > 0.0 ? gradient : std::min(gradient, 0.0);
        lowest = std::min(lowest, projected);
        highest = std::max(highest, projected);
        if (projected == 0.0) continue;
        const double next = std::max(a - gradient / (square.data()[row] + 1.0 + slack), 0.0);
        const double move = (next - a) * y;
        a = next;
        for (std::int64_t p = begin; p < end; ++p) w[x.indices[p]] += move * x.data[p];
        bias += move;
    }
    return highest - lowest;
}

}  // namespace

void bind_svm(nb::module_& m) { m.def("svm_ascend", &svm_ascend); }
