// The multilayer perceptron: sparse first layer, dense layers after it, softmax on top.
#include "random.hpp"
#include "sparse_rows.hpp"

#include <vector>

namespace {

enum Rule { kAdaptive = 0, kAdam = 1, kSgd = 2 };
enum Activation { kTanh = 0, kRelu = 1 };

constexpr double kFade1 = 0.9, kFade2 = 0.999, kTiny = 1e-8;

// z_1 = f(W_1'x + b_1), z_l = f(W_l'z_(l-1) + b_l), y = softmax of the last layer without f.
// `first` is W_1 (n_features, sizes[0]); `dense` holds b_1, W_2, b_2, W_3, b_3, ... (NN1).
struct Network {
    double* first;
    double* dense;
    std::vector<int> sizes;                       // of the layers after the input; the last is the number of classes
    std::vector<std::size_t> weights_at, bias_at; // places in `dense`; weights_at[0] is not used
    std::size_t n_dense = 0;
    int n_units = 0; // of all layers together
    Activation activation;

    Network(double* first_, double* dense_, const std::int64_t* sizes_, std::size_t n_layers, Activation activation_)
        : first(first_), dense(dense_), sizes(sizes_, sizes_ + n_layers), activation(activation_) {
        for (std::size_t l = 0; l < n_layers; ++l) {
            weights_at.push_back(n_dense);
            if (l > 0) n_dense += static_cast<std::size_t>(sizes[l - 1]) * sizes[l];
            bias_at.push_back(n_dense);
            n_dense += sizes[l];
            n_units += sizes[l];
        }
    }
};

// What the optimisers remember. Adaptive: sums of squared gradients, one a row.
// Adam: moments; the second moment of a term's row of W_1 is one number.
struct Memory {
    double* first_moment; // like W_1 (Adam)
    double* first_square; // (n_features)
    std::int64_t* met;    // (n_features) step at which the row was last brought up to date (Adam)
    double* dense_moment; // like `dense` (Adam)
    double* dense_square; // like `dense`
};

struct Training {
    Rule rule;
    double first_eta, last_eta, dense_rate, dropout;
    std::int64_t batch_size;
    std::uint64_t seed;
    bool learn_bias;
};

// Sum of products with four running sums, so that it need not wait for each addition.
EARMARK_INLINE double dot(const double* a, const double* b, int n) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int k = 0;
    for (; k + 4 <= n; k += 4)
        for (int j = 0; j < 4; ++j) sum[j] += a[k + j] * b[k + j];
    for (; k < n; ++k) sum[0] += a[k] * b[k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// One document's way through the network and back.
struct Pass {
    std::vector<double> z, slope, delta; // of all units: output, its derivative, dE/d(input)
    explicit Pass(const Network& net) : z(net.n_units), slope(net.n_units), delta(net.n_units) {}
};

EARMARK_INLINE void activate(const Network& net, double* z, double* slope, int n, double dropout, std::uint64_t key,
                             std::uint64_t place) {
    for (int h = 0; h < n; ++h) {
        if (net.activation == kTanh) {
            z[h] = std::tanh(z[h]);
            slope[h] = 1.0 - z[h] * z[h];
        } else {
            slope[h] = z[h] > 0.0 ? 1.0 : 0.0;
            z[h] *= slope[h];
        }
        if (dropout > 0.0) {
            const double keep = uniform_at(key, place + h) >= dropout ? 1.0 / (1.0 - dropout) : 0.0;
            z[h] *= keep;
            slope[h] *= keep;
        }
    }
}

// Fills p.z; returns the loss. The last layer's z are probabilities.
EARMARK_INLINE double forward(const Network& net, const SparseRows& x, std::int64_t row, int label, Pass& p,
                              double dropout, std::uint64_t key, std::uint64_t place) {
    double* z = p.z.data();
    double* slope = p.slope.data();
    score_row<0>(x, row, net.first, net.dense, z, net.sizes[0]);
    for (std::size_t l = 1; l < net.sizes.size(); ++l) {
        const int n_in = net.sizes[l - 1], n_out = net.sizes[l];
        activate(net, z, slope, n_in, dropout, key, place);
        place += n_in;
        double* out = z + n_in;
        const double* bias = net.dense + net.bias_at[l];
        for (int k = 0; k < n_out; ++k) out[k] = bias[k];
        const double* weights = net.dense + net.weights_at[l];
        for (int i = 0; i < n_in; ++i) add_scaled<0>(out, weights + static_cast<std::size_t>(i) * n_out, z[i], n_out);
        z = out;
        slope += n_in;
    }
    const double own = z[label];
    return softmax_row(z, net.sizes.back()) - own;
}

// Backpropagation (NN1): adds the document's part to `gradient` of the dense layers
// and leaves dE/da_1 at the start of p.delta.
EARMARK_INLINE void backward(const Network& net, int label, double scale, Pass& p, double* gradient) {
    const std::size_t n_layers = net.sizes.size();
    std::size_t start = net.n_units - net.sizes.back();
    double* delta = p.delta.data() + start;
    for (int k = 0; k < net.sizes.back(); ++k) delta[k] = scale * (p.z[start + k] - (k == label ? 1.0 : 0.0));
    for (std::size_t l = n_layers - 1; l > 0; --l) {
        const int n_in = net.sizes[l - 1], n_out = net.sizes[l];
        start -= n_in;
        const double* weights = net.dense + net.weights_at[l];
        double* before = p.delta.data() + start;
        for (int i = 0; i < n_in; ++i) {
            const std::size_t at = static_cast<std::size_t>(i) * n_out;
            add_scaled<0>(gradient + net.weights_at[l] + at, delta, p.z[start + i], n_out);
            before[i] = dot(weights + at, delta, n_out) * p.slope[start + i];
        }
        add_scaled<0>(gradient + net.bias_at[l], delta, 1.0, n_out);
        delta = before;
    }
    add_scaled<0>(gradient, delta, 1.0, net.sizes[0]);
}

// weights -= rate / root(sum of squared gradients of the row) * gradient
EARMARK_INLINE void adapt_row(double* weights, const double* gradient, double* square, double rate, int n) {
    *square += dot(gradient, gradient, n);
    if (*square > 0.0) add_scaled<0>(weights, gradient, -rate / std::sqrt(*square), n);
}

EARMARK_INLINE void adapt_dense(const Network& net, const double* gradient, double* square, double rate) {
    for (std::size_t l = 0; l < net.sizes.size(); ++l) {
        const int n = net.sizes[l];
        for (std::size_t at = l ? net.weights_at[l] : 0; at <= net.bias_at[l]; at += n)
            adapt_row(net.dense + at, gradient + at, square + at, rate, n);
    }
}

struct AdamStep {
    double rate; // eta with both moments' corrections for their start at zero
    AdamStep(double eta, std::int64_t step)
        : rate(eta * std::sqrt(1.0 - std::pow(kFade2, static_cast<double>(step))) /
               (1.0 - std::pow(kFade1, static_cast<double>(step)))) {}
};

EARMARK_INLINE void adam_dense(const Network& net, const Memory& memory, const double* gradient, double rate) {
    for (std::size_t i = 0; i < net.n_dense; ++i) {
        const double g = gradient[i];
        const double moment = memory.dense_moment[i] = kFade1 * memory.dense_moment[i] + (1.0 - kFade1) * g;
        const double square = memory.dense_square[i] = kFade2 * memory.dense_square[i] + (1.0 - kFade2) * g * g;
        net.dense[i] -= rate * moment / (std::sqrt(square) + kTiny);
    }
}

// A term that was absent for `gap` steps went on moving by its fading momentum:
// the steps form a geometric series of ratio kFade1 / sqrt(kFade2).
EARMARK_INLINE void catch_up(const Network& net, const Memory& memory, std::size_t term, std::int64_t now,
                             double rate) {
    const std::int64_t gap = now - memory.met[term];
    double& square = memory.first_square[term];
    if (gap > 0 && square > 0.0) {
        const int n = net.sizes[0];
        const double ratio = kFade1 / std::sqrt(kFade2), steps = static_cast<double>(gap);
        const double travel =
            rate * ratio * (1.0 - std::pow(ratio, steps)) / (1.0 - ratio) / (std::sqrt(square) + kTiny);
        const double fade = std::pow(kFade1, steps);
        double* moment = memory.first_moment + term * n;
        add_scaled<0>(net.first + term * n, moment, -travel, n);
        for (int h = 0; h < n; ++h) moment[h] *= fade;
        square *= std::pow(kFade2, steps);
    }
    memory.met[term] = now;
}

EARMARK_INLINE void adam_row(const Network& net, const Memory& memory, std::size_t term, const double* gradient,
                             double rate) {
    const int n = net.sizes[0];
    double& square = memory.first_square[term];
    square = kFade2 * square + (1.0 - kFade2) * dot(gradient, gradient, n) / n;
    double* moment = memory.first_moment + term * n;
    for (int h = 0; h < n; ++h) moment[h] = kFade1 * moment[h] + (1.0 - kFade1) * gradient[h];
    add_scaled<0>(net.first + term * n, moment, -rate / (std::sqrt(square) + kTiny), n);
}

// The terms of a batch, numbered as they come.
struct BatchTerms {
    std::vector<std::int32_t> slot, terms;
    explicit BatchTerms(std::size_t n_features) : slot(n_features, -1) {}

    void collect(const SparseRows& x, const std::int64_t* rows, std::int64_t size) {
        for (std::int32_t term : terms) slot[term] = -1;
        terms.clear();
        for (std::int64_t j = 0; j < size; ++j)
            for (std::int64_t p = x.indptr[rows[j]]; p < x.indptr[rows[j] + 1]; ++p)
                if (slot[x.indices[p]] < 0) {
                    slot[x.indices[p]] = static_cast<std::int32_t>(terms.size());
                    terms.push_back(x.indices[p]);
                }
    }
};

EARMARK_INLINE void first_layer_direct(const Network& net, const Memory& memory, const SparseRows& x, std::int64_t row,
                                       const double* delta, double eta, Rule rule) {
    const int n = net.sizes[0];
    const double size = dot(delta, delta, n);
    if (size == 0.0) return;
    for (std::int64_t p = x.indptr[row]; p < x.indptr[row + 1]; ++p) {
        const std::size_t term = x.indices[p];
        double factor = -eta * x.data[p];
        if (rule == kAdaptive) factor /= std::sqrt(memory.first_square[term] += x.data[p] * x.data[p] * size);
        add_scaled<0>(net.first + term * n, delta, factor, n);
    }
}

EARMARK_WIDEST double learn(const Network& net, const Memory& memory, const SparseRows& x, const Visits& visits,
                            const Training& t, std::int64_t& step) {
    const int width = net.sizes[0];
    Pass pass(net);
    std::vector<double> gradient(net.n_dense),
        deltas(static_cast<std::size_t>(std::min(t.batch_size, visits.n)) * width), rows;
    BatchTerms batch(t.rule == kAdam ? x.n_columns : 0);
    double loss = 0.0;
    for (std::int64_t begin = 0; begin < visits.n; begin += t.batch_size) {
        const std::int64_t size = std::min(t.batch_size, visits.n - begin);
        const std::int64_t* docs = visits.order + begin;
        const double eta =
            t.first_eta + (t.last_eta - t.first_eta) * (static_cast<double>(begin) / static_cast<double>(visits.n));
        const AdamStep adam(eta, ++step);
        const std::uint64_t key = counter_key(t.seed, static_cast<std::uint64_t>(step));
        if (t.rule == kAdam) {
            batch.collect(x, docs, size);
            for (std::int32_t term : batch.terms) catch_up(net, memory, term, step - 1, adam.rate);
        }
        std::fill(gradient.begin(), gradient.end(), 0.0);
        for (std::int64_t j = 0; j < size; ++j) {
            const int label = visits.y[docs[j]];
            loss += visits.weight[docs[j]] *
                    forward(net, x, docs[j], label, pass, t.dropout, key, static_cast<std::uint64_t>(j) * net.n_units);
            backward(net, label, visits.weight[docs[j]] / static_cast<double>(size), pass, gradient.data());
            std::copy_n(pass.delta.data(), width, deltas.data() + j * width);
        }
        if (!t.learn_bias)
            for (std::size_t l = 0; l < net.sizes.size(); ++l)
                std::fill_n(gradient.data() + net.bias_at[l], net.sizes[l], 0.0);
        if (t.rule == kAdam) {
            rows.assign(batch.terms.size() * width, 0.0);
            for (std::int64_t j = 0; j < size; ++j)
                for (std::int64_t p = x.indptr[docs[j]]; p < x.indptr[docs[j] + 1]; ++p)
                    add_scaled<0>(rows.data() + static_cast<std::size_t>(batch.slot[x.indices[p]]) * width,
                                  deltas.data() + j * width, x.data[p], width);
            for (std::size_t i = 0; i < batch.terms.size(); ++i) {
                adam_row(net, memory, batch.terms[i], rows.data() + i * width, adam.rate);
                memory.met[batch.terms[i]] = step;
            }
            adam_dense(net, memory, gradient.data(), adam.rate);
            continue;
        }
        for (std::int64_t j = 0; j < size; ++j)
            first_layer_direct(net, memory, x, docs[j], deltas.data() + j * width, eta, t.rule);
        if (t.rule == kAdaptive)
            adapt_dense(net, gradient.data(), memory.dense_square, eta * t.dense_rate);
        else
            for (std::size_t i = 0; i < net.n_dense; ++i) net.dense[i] -= eta * gradient[i];
    }
    return loss;
}

double mlp_learn(In<std::int64_t> indptr, In<std::int32_t> indices, In<double> data, In<std::int64_t> order,
                 In<std::int32_t> y, In<double> weight, Out2<double> first, Out<double> dense, In<std::int64_t> sizes,
                 Out2<double> first_moment, Out<double> first_square, Out<std::int64_t> met, Out<double> dense_moment,
                 Out<double> dense_square, Out<std::int64_t> step, int activation, int rule, double first_eta,
                 double last_eta, double dense_rate, double dropout, std::int64_t batch_size, std::uint64_t seed,
                 bool learn_bias) {
    const std::size_t n_features = first.shape(0);
    require(sizes.size() >= 1, "sizes: expected at least one layer.");
    require_range(sizes, std::int64_t(1) << 24, "sizes", 1);
    require_shape(first, n_features, sizes.data()[0], "first");
    require(activation == kTanh || activation == kRelu, "activation: expected 0 or 1.");
    require(rule == kAdaptive || rule == kAdam || rule == kSgd, "rule: expected 0, 1 or 2.");
    require(batch_size >= 1, "batch_size: expected at least 1.");
    const Network net(first.data(), dense.data(), sizes.data(), sizes.size(), static_cast<Activation>(activation));
    const std::size_t n_remembered = rule == kAdam ? n_features : 0;
    require_size(dense, net.n_dense, "dense");
    require_size(dense_moment, net.n_dense, "dense_moment");
    require_size(dense_square, net.n_dense, "dense_square");
    require_shape(first_moment, n_remembered, net.sizes[0], "first_moment");
    require_size(first_square, n_features, "first_square");
    require_size(met, n_remembered, "met");
    require_size(step, 1, "step");
    const SparseRows x = value_rows(indptr, indices, data, n_features);
    const Visits visits = visits_of(x, order, y, weight, net.sizes.back());
    const Memory memory{first_moment.data(), first_square.data(), met.data(), dense_moment.data(), dense_square.data()};
    const Training t{static_cast<Rule>(rule), first_eta, last_eta, dense_rate, dropout, batch_size, seed, learn_bias};
    nb::gil_scoped_release release;
    return learn(net, memory, x, visits, t, step.data()[0]);
}

} // namespace

void bind_mlp(nb::module_& m) {
    m.def("mlp_learn", &mlp_learn, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(), "order"_a, "y"_a, "weight"_a,
          "first"_a.noconvert(), "dense"_a.noconvert(), "sizes"_a, "first_moment"_a.noconvert(),
          "first_square"_a.noconvert(), "met"_a.noconvert(), "dense_moment"_a.noconvert(), "dense_square"_a.noconvert(),
          "step"_a.noconvert(), "activation"_a, "rule"_a, "first_eta"_a, "last_eta"_a, "dense_rate"_a, "dropout"_a,
          "batch_size"_a, "seed"_a, "learn_bias"_a);
}
