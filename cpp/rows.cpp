// Row-wise sums of sparse documents: fingerprints, pairs of terms, and sums of unit
// vectors within each class, in whole multiples of 2^-40 (CS2).
#include "random.hpp"
#include "sparse_rows.hpp"

#include <cstring>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <optional>
#include <tuple>

namespace {

// 64 bits for each row that depend on its terms and nothing else.
void fingerprints(In<std::int64_t> indptr, In<std::int32_t> indices, In<double> data, Out<std::uint64_t> out) {
    const SparseRows x = value_rows(indptr, indices, data, std::size_t(1) << 31);
    require_size(out, x.n_rows, "out");
    nb::gil_scoped_release release;
    for (std::int64_t row = 0; row < x.n_rows; ++row) {
        std::uint64_t sum = 0;
        for (std::int64_t p = x.indptr[row]; p < x.indptr[row + 1]; ++p) {
            std::uint64_t bits;
            std::memcpy(&bits, x.data + p, sizeof bits);
            sum += mix_bits(bits + (static_cast<std::uint64_t>(x.indices[p]) + 1) * golden);
        }
        out.data()[row] = mix_bits(sum);
    }
}

void uniforms(std::uint64_t seed, std::uint64_t step, Out<double> out) {
    nb::gil_scoped_release release;
    const std::uint64_t key = counter_key(seed, step);
    for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = uniform_at(key, i);
}

// Adds 1 to counts[i, j] and counts[j, i] for every pair i < j of each row. Only
// the upper triangle is touched in the long loop; the mirror image comes at the end.
void count_pairs(In<std::int64_t> indptr, In<std::int32_t> indices, Out2<float> counts) {
    const auto n_terms = static_cast<std::int64_t>(counts.shape(0));
    require_shape(counts, n_terms, n_terms, "counts");
    const PresenceRows x = presence_rows(indptr, indices, n_terms);
    float* cell = counts.data();
    nb::gil_scoped_release release;
    for (std::int64_t row = 0; row < x.n_rows; ++row) {
        for (std::int64_t a = x.indptr[row]; a < x.indptr[row + 1]; ++a) {
            float* line = cell + x.indices[a] * n_terms;
            for (std::int64_t b = a + 1; b < x.indptr[row + 1]; ++b) line[x.indices[b]] += 1.0F;
        }
    }
    constexpr std::int64_t tile = 64; // a tile and its mirror image fit the cache
    for (std::int64_t top = 0; top < n_terms; top += tile)
        for (std::int64_t left = top; left < n_terms; left += tile)
            for (std::int64_t i = top; i < n_terms && i < top + tile; ++i)
                for (std::int64_t j = left; j < n_terms && j < left + tile; ++j)
                    if (j > i) cell[j * n_terms + i] = cell[i * n_terms + j];
}

// out = rows @ weights, each sum in the order of the row's entries.
EARMARK_WIDEST void multiply_rows(const SparseRows& x, const double* weights, std::size_t n_outputs, double* out) {
    constexpr std::int64_t ahead = 24;
    const std::int64_t n_entries = x.n_entries();
    for (std::int64_t d = 0; d < x.n_rows; ++d, out += n_outputs) {
        const std::int64_t begin = x.indptr[d], end = x.indptr[d + 1];
        for (std::size_t k = 0; k < n_outputs; ++k) out[k] = 0.0;
        for (std::int64_t at = begin; at < end; at += ahead) {
            const std::int64_t n = std::min(ahead, end - at);
            for (std::int64_t p = at + ahead; p < std::min(at + 2 * ahead, n_entries); ++p) {
                const double* row = weights + static_cast<std::size_t>(x.indices[p]) * n_outputs;
                for (std::size_t k = 0; k < n_outputs && k < 64; k += 8) prefetch(row + k);
            }
            add_blocks<true>(weights, n_outputs, x.indices + at, x.data + at, n, out);
        }
    }
}

void times_dense(In<std::int64_t> indptr, In<std::int32_t> indices, In<double> data, In2<double> weights,
                 Out2<double> out) {
    const SparseRows x = value_rows(indptr, indices, data, weights.shape(0));
    require_shape(out, x.n_rows, weights.shape(1), "out");
    nb::gil_scoped_release release;
    multiply_rows(x, weights.data(), weights.shape(1), out.data());
}

// ---- unit vectors ---------------------------------------------------------------

constexpr double kStepsPerUnit = 1099511627776.0; // 2^40

// Round half to even, as numpy's rint does; right for |x| < 2^51. The last bits of the
// shifted number are the whole number: no conversion, which old processors lack for wide registers.
EARMARK_INLINE std::int64_t rounded_half_even(double x) {
    constexpr double kShift = 6755399441055744.0; // 1.5 * 2^52
    const double shifted = x + kShift;
    std::int64_t bits, zero;
    std::memcpy(&bits, &shifted, sizeof bits);
    std::memcpy(&zero, &kShift, sizeof zero);
    return bits - zero;
}

// Euclidean length; the squares are summed in twice the precision (Knuth's two-sum),
// so that neither their order nor the number of running sums shows.
EARMARK_INLINE double length(const double* value, int64_t n) {
    constexpr int lanes = 16;
    double high[lanes] = {}, low[lanes] = {};
    const auto add = [&](int lane, double term) EARMARK_INLINE_LAMBDA {
        const double sum = high[lane] + term;
        const double part = sum - high[lane];
        low[lane] += (high[lane] - (sum - part)) + (term - part);
        high[lane] = sum;
    };
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        EARMARK_KEEP_LOOP
        for (int lane = 0; lane < lanes; ++lane) add(lane, value[i + lane] * value[i + lane]);
    }
    for (int lane = 0; i < n; ++i, ++lane) add(lane, value[i] * value[i]);
    for (int lane = 1; lane < lanes; ++lane) {
        add(0, high[lane]);
        low[0] += low[lane];
    }
    return std::sqrt(high[0] + low[0]);
}

EARMARK_WIDEST void lengths(const SparseRows& x, double* out) {
    for (int64_t d = 0; d < x.n_rows; ++d) out[d] = length(x.data + x.indptr[d], x.indptr[d + 1] - x.indptr[d]);
}

// A row of unit length in whole steps; a row of zeros stays zero.
EARMARK_WIDEST void unit_steps(const double* value, int64_t n, int64_t* steps) {
    const double norm = length(value, n);
    const double scale = norm > 0.0 ? 1.0 / norm : 0.0;
    for (int64_t i = 0; i < n; ++i) steps[i] = rounded_half_even(value[i] * scale * kStepsPerUnit);
}

EARMARK_WIDEST bool ascends(const int32_t* column, int64_t n) {
    bool all = true;
    for (int64_t i = 1; i < n; ++i) all &= column[i - 1] < column[i];
    return all;
}

// Says whether a row holds a column twice; most rows ascend, which says it at a glance.
class Repeats {
  public:
    explicit Repeats(const PresenceRows& x) : x_(x) {}

    bool in_row(int64_t d) {
        const int64_t begin = x_.indptr[d], end = x_.indptr[d + 1];
        if (ascends(x_.indices + begin, end - begin)) return false;
        if (last_row_.empty()) last_row_.assign(x_.n_columns, -1);
        for (int64_t p = begin; p < end; ++p) {
            if (last_row_[x_.indices[p]] == d) return true;
            last_row_[x_.indices[p]] = d;
        }
        return false;
    }

  private:
    PresenceRows x_;
    std::vector<int64_t> last_row_; // that had the column
};

// Lengths of all rows; nothing where a row holds a column twice.
std::optional<Array<double>> row_norms(In<std::int64_t> indptr, In<std::int32_t> indices, In<double> data,
                                       std::int64_t n_columns) {
    const SparseRows x = value_rows(indptr, indices, data, n_columns);
    std::vector<double> norms(x.n_rows);
    {
        nb::gil_scoped_release release;
        Repeats repeats(x);
        for (std::int64_t d = 0; d < x.n_rows; ++d)
            if (repeats.in_row(d)) return std::nullopt;
        lengths(x, norms.data());
    }
    return give_array(std::move(norms));
}

// Rows in the order of their classes: a counting sort.
std::vector<int64_t> rows_by_class(const int64_t* y, int64_t n_rows, int64_t n_classes, std::vector<int64_t>& starts) {
    starts.assign(n_classes + 1, 0);
    for (int64_t d = 0; d < n_rows; ++d) ++starts[y[d] + 1];
    for (int64_t c = 0; c < n_classes; ++c) starts[c + 1] += starts[c];
    std::vector<int64_t> next(starts.begin(), starts.end() - 1), order(n_rows);
    for (int64_t d = 0; d < n_rows; ++d) order[next[y[d]]++] = d;
    return order;
}

// One class's running sum.
class Accumulator {
  public:
    explicit Accumulator(int64_t n_columns) : sum_(n_columns, 0) {}

    void begin(int64_t n_entries) {
        is_sparse_ = n_entries < static_cast<int64_t>(sum_.size()) / 16;
        touched_.clear();
    }
    void add(const int32_t* column, const int64_t* steps, int64_t n) {
        if (is_sparse_)
            for (int64_t i = 0; i < n; ++i)
                if (sum_[column[i]] == 0) touched_.push_back(column[i]);
        for (int64_t i = 0; i < n; ++i) sum_[column[i]] += steps[i];
    }
    void emit(std::vector<int32_t>& indices, std::vector<int64_t>& data) {
        if (is_sparse_) {
            std::sort(touched_.begin(), touched_.end());
            for (int32_t column : touched_) emit_one(column, indices, data);
            return;
        }
        // Whether a column has a sum is a coin toss: no branch on it.
        int32_t column_of[block];
        int64_t sum_of[block];
        const auto n_columns = static_cast<int64_t>(sum_.size());
        for (int64_t start = 0; start < n_columns; start += block) {
            const int64_t stop = std::min(n_columns, start + block);
            int64_t n = 0;
            for (int64_t column = start; column < stop; ++column) {
                column_of[n] = static_cast<int32_t>(column);
                sum_of[n] = sum_[column];
                n += sum_[column] != 0;
            }
            std::fill(sum_.begin() + start, sum_.begin() + stop, 0);
            indices.insert(indices.end(), column_of, column_of + n);
            data.insert(data.end(), sum_of, sum_of + n);
        }
    }

  private:
    static constexpr int64_t block = 1024; // stays in the first-level cache

    void emit_one(int32_t column, std::vector<int32_t>& indices, std::vector<int64_t>& data) {
        if (sum_[column] == 0) return; // also the second mention of a touched column
        indices.push_back(column);
        data.push_back(sum_[column]);
        sum_[column] = 0;
    }

    std::vector<int64_t> sum_;
    std::vector<int32_t> touched_;
    bool is_sparse_ = false;
};

struct Batch {
    SparseRows x;
    const std::int64_t* whole_weight; // null where the weights are not whole
    const double* real_weight;        // null where the weights are whole or absent

    // `steps` has room for the longest row.
    void add_row(std::int64_t d, std::int64_t* steps, Accumulator& sum) const {
        const std::int64_t n = x.indptr[d + 1] - x.indptr[d];
        unit_steps(x.data + x.indptr[d], n, steps);
        if (whole_weight)
            for (std::int64_t i = 0; i < n; ++i) steps[i] *= whole_weight[d];
        if (real_weight)
            for (std::int64_t i = 0; i < n; ++i) steps[i] = std::llrint(static_cast<double>(steps[i]) * real_weight[d]);
        sum.add(x.indices + x.indptr[d], steps, n);
    }
    // Rows of a class are not neighbours in memory.
    void ask_for_row(std::int64_t d) const {
        for (std::int64_t p = x.indptr[d]; p < x.indptr[d + 1]; p += 8) {
            prefetch(x.data + p);
            prefetch(x.indices + p);
        }
    }
    std::int64_t longest() const {
        std::int64_t most = 0;
        for (std::int64_t d = 0; d < x.n_rows; ++d) most = std::max(most, x.indptr[d + 1] - x.indptr[d]);
        return most;
    }
};

using Csr = std::tuple<Array<std::int64_t>, Array<std::int32_t>, Array<std::int64_t>>;

std::optional<Csr> class_unit_sums(In<std::int64_t> indptr, In<std::int32_t> indices, In<double> data,
                                   In<std::int64_t> y, std::optional<In<std::int64_t>> whole_weight,
                                   std::optional<In<double>> real_weight, std::int64_t n_classes,
                                   std::int64_t n_columns) {
    const Batch batch{value_rows(indptr, indices, data, n_columns), whole_weight ? whole_weight->data() : nullptr,
                      real_weight ? real_weight->data() : nullptr};
    require_size(y, batch.x.n_rows, "y");
    require_range(y, n_classes, "y");
    if (whole_weight) require_size(*whole_weight, batch.x.n_rows, "whole_weight");
    if (real_weight) require_size(*real_weight, batch.x.n_rows, "real_weight");
    std::vector<std::int64_t> out_indptr(n_classes + 1, 0), out_data;
    std::vector<std::int32_t> out_indices;
    {
        nb::gil_scoped_release release;
        std::vector<std::int64_t> starts;
        const auto order = rows_by_class(y.data(), batch.x.n_rows, n_classes, starts);
        Accumulator sum(n_columns);
        Repeats repeats(batch.x);
        std::vector<std::int64_t> steps(batch.longest());
        const std::int64_t most = std::min(batch.x.n_entries(), n_classes * n_columns);
        out_indices.reserve(most);
        out_data.reserve(most);
        for (std::int64_t c = 0; c < n_classes; ++c) {
            std::int64_t n_entries = 0;
            for (std::int64_t i = starts[c]; i < starts[c + 1]; ++i)
                n_entries += batch.x.indptr[order[i] + 1] - batch.x.indptr[order[i]];
            sum.begin(n_entries);
            for (std::int64_t i = starts[c]; i < starts[c + 1]; ++i) {
                if (i + 1 < batch.x.n_rows) batch.ask_for_row(order[i + 1]);
                if (repeats.in_row(order[i])) return std::nullopt;
                batch.add_row(order[i], steps.data(), sum);
            }
            sum.emit(out_indices, out_data);
            out_indptr[c + 1] = static_cast<std::int64_t>(out_data.size());
        }
    }
    return Csr{give_array(std::move(out_indptr)), give_array(std::move(out_indices)), give_array(std::move(out_data))};
}

} // namespace

void bind_rows(nb::module_& m) {
    m.def("fingerprints", &fingerprints, "indptr"_a, "indices"_a, "data"_a, "out"_a.noconvert());
    m.def("uniforms", &uniforms, "seed"_a, "step"_a, "out"_a.noconvert());
    m.def("count_pairs", &count_pairs, "indptr"_a, "indices"_a, "counts"_a.noconvert());
    m.def("times_dense", &times_dense, "indptr"_a, "indices"_a, "data"_a, "weights"_a.noconvert(), "out"_a.noconvert());
    m.def("row_norms", &row_norms, "indptr"_a, "indices"_a, "data"_a, "n_columns"_a,
          "Euclidean length of each row of a CSR matrix; None where a row holds a column twice.");
    m.def("class_unit_sums", &class_unit_sums, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(), "y"_a,
          "whole_weight"_a.none(), "real_weight"_a.none(), "n_classes"_a, "n_columns"_a,
          "Class sums of fixed-point unit rows, as the three arrays of a CSR matrix; None where a row holds a column "
          "twice.");
}
