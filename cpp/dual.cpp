// Softmax regression to its optimum: dual coordinate ascent, a document at a time.
#include "sparse_rows.hpp"

#include <vector>

namespace {

// minimise over W, b   strength * sum_d s_d (-log y_d,t(d)) + |W|^2 / 2,   y_d = softmax(W'x_d + b)
//
// Its dual has a distribution a_d over the classes for each document, with
// W = strength * sum_d s_d x_d (t_d - a_d)'; at the optimum a_d = y_d. A visit solves
// for one a_d exactly, all others held:
//
//     log a + q (a - a_old) = scores - nu,    sum a = 1,    q = strength s_d |x_d|^2
//
// The bias is the weight of a constant feature of square bias_square, drawn not
// towards zero but towards its value at the start of the pass.
struct Dual {
    double* weights; // (n_features, n_classes)
    double* bias;    // (n_classes)
    double* logs;    // (n_rows, n_classes) log a_d
    double* pull;    // (n_classes) sum_d s_d (t_d - a_d) after the pass
    double entropy;  // sum_d s_d H(a_d) after the pass
    int n_classes;
};

constexpr double kLowest = -700.0; // exp of less is zero to every sum here
constexpr double kClose = 1e-6;
constexpr int kMostSteps = 50;

// Newton's method on log a and nu together; a and u = log a hold the start and
// then the solution.
EARMARK_INLINE void solve_visit(const double* target, double* u, double* a, double q, int n) {
    for (int i = 0; i < kMostSteps; ++i) {
        double slope = 0.0, pull = 0.0, total = 0.0;
        for (int k = 0; k < n; ++k) {
            const double h = a[k] / (1.0 + q * a[k]);
            slope += h;
            pull += h * (target[k] - u[k] - q * a[k]);
            total += a[k];
        }
        const double nu = (pull - (1.0 - total)) / slope;
        double change = 0.0;
        for (int k = 0; k < n; ++k) {
            const double moved = u[k] + (target[k] - u[k] - q * a[k] - nu) / (1.0 + q * a[k]);
            u[k] = std::min(0.0, std::max(kLowest, moved));
            const double next = std::exp(u[k]);
            change = std::max(change, std::fabs(next - a[k]));
            a[k] = next;
        }
        if (change < kClose) return;
    }
}

struct Scratch {
    std::vector<double> score, target, old, now;
    explicit Scratch(int n) : score(n), target(n), old(n), now(n) {}
};

// Returns the document's part of the duality gap as it stood before the visit.
template <int Fixed>
EARMARK_INLINE double visit(Dual& m, const SparseRows& x, std::int64_t row, std::int32_t label, double strength,
                            double square, double bias_square, bool fresh, Scratch& scratch) {
    const int n = columns<Fixed>(m.n_classes);
    double *score = scratch.score.data(), *target = scratch.target.data(), *old = scratch.old.data(),
           *now = scratch.now.data();
    double* u = m.logs + static_cast<std::size_t>(row) * n;
    score_row<Fixed>(x, row, m.weights, m.bias, score, n);
    const double q = strength * (square + bias_square);
    double top = score[0], total = 0.0, gap = 0.0;
    for (int k = 1; k < n; ++k) top = std::max(top, score[k]);
    for (int k = 0; k < n; ++k) {
        now[k] = std::exp(u[k]);
        old[k] = fresh ? (k == label ? 1.0 : 0.0) : now[k]; // a fresh document has a = t, so W = 0
        target[k] = score[k] + q * old[k];
        total += std::exp(score[k] - top);
        gap += old[k] * ((fresh ? 0.0 : u[k]) - score[k]);
    }
    gap += top + std::log(total); // Kullback-Leibler divergence of a from y
    solve_visit(target, u, now, q, n);
    for (int k = 0; k < n; ++k) {
        m.pull[k] += strength * ((k == label ? 1.0 : 0.0) - now[k]);
        m.entropy -= strength * now[k] * u[k];
        now[k] = strength * (old[k] - now[k]);
    }
    for (std::int64_t p = x.indptr[row]; p < x.indptr[row + 1]; ++p)
        add_scaled<Fixed>(m.weights + static_cast<std::size_t>(x.indices[p]) * n, now, x.data[p], n);
    add_scaled<Fixed>(m.bias, now, bias_square, n);
    return gap;
}

template <int Fixed>
EARMARK_INLINE double ascend(Dual& m, const SparseRows& x, const Visits& visits, const double* square,
                             double bias_square, bool fresh) {
    Scratch scratch(m.n_classes);
    double gap = 0.0;
    for (std::int64_t i = 0; i < visits.n; ++i) {
        const std::int64_t row = visits.order[i];
        const double strength = visits.weight[row];
        prefetch_visit(x, visits, i);
        gap += strength * visit<Fixed>(m, x, row, visits.y[row], strength, square[row], bias_square, fresh, scratch);
    }
    return gap;
}

EARMARK_WIDEST double ascend_widest(Dual& m, const SparseRows& x, const Visits& visits, const double* square,
                                    double bias_square, bool fresh) {
    return by_classes(m.n_classes, [&](auto n) EARMARK_INLINE_LAMBDA {
        return ascend<decltype(n)::value>(m, x, visits, square, bias_square, fresh);
    });
}

// -> the duality gap as met during the pass, and the entropy after it
nb::tuple softmax_ascend(In<std::int64_t> indptr, In<std::int32_t> indices, In<double> data, In<std::int64_t> order,
                         In<std::int32_t> y, In<double> strength, In<double> square, Out2<double> weights,
                         Out<double> bias, Out2<double> logs, Out<double> pull, double bias_square, bool fresh) {
    const std::size_t n_classes = weights.shape(1);
    const SparseRows x = value_rows(indptr, indices, data, weights.shape(0));
    const Visits visits = visits_of(x, order, y, strength, n_classes);
    require_size(square, x.n_rows, "square");
    require_size(bias, n_classes, "bias");
    require_shape(logs, x.n_rows, n_classes, "logs");
    require_size(pull, n_classes, "pull");
    require(n_classes >= 1, "weights: expected at least one class.");
    Dual m{weights.data(), bias.data(), logs.data(), pull.data(), 0.0, static_cast<int>(n_classes)};
    double gap = 0.0;
    {
        nb::gil_scoped_release release;
        gap = ascend_widest(m, x, visits, square.data(), bias_square, fresh);
    }
    return nb::make_tuple(gap, m.entropy);
}

} // namespace

void bind_dual(nb::module_& m) {
    m.def("softmax_ascend", &softmax_ascend, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(), "order"_a, "y"_a,
          "strength"_a, "square"_a, "weights"_a.noconvert(), "bias"_a.noconvert(), "logs"_a.noconvert(),
          "pull"_a.noconvert(), "bias_square"_a, "fresh"_a);
}
