// Sums of unit vectors within each class, in whole multiples of 2^-40 (CS2).
#include "arrays.hpp"

#include <algorithm>
#include <cmath>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <optional>
#include <tuple>

namespace {

constexpr double kStepsPerUnit = 1099511627776.0; // 2^40

// Round half to even, as numpy's rint does; right for |x| < 2^51.
inline double rounded_half_even(double x) {
    constexpr double kShift = 6755399441055744.0; // 1.5 * 2^52
    return (x + kShift) - kShift;
}

// Euclidean length; the squares are summed in twice the precision (Knuth's
// two-sum), so that their order does not show.
inline double length(const double* value, int64_t n) {
    double high = 0.0, low = 0.0;
    for (int64_t i = 0; i < n; ++i) {
        const double square = value[i] * value[i];
        const double sum = high + square;
        const double part = sum - high;
        low += (high - (sum - part)) + (square - part);
        high = sum;
    }
    return std::sqrt(high + low);
}

// Lengths of all rows; nothing where a row holds a column twice.
std::optional<Given<double>> row_norms(In<int64_t> indptr, In<int32_t> indices, In<double> data,
                                       int64_t n_columns) {
    std::vector<double> norms(indptr.size() - 1);
    {
        nb::gil_scoped_release release;
        const int64_t* from = indptr.data();
        const int32_t* column = indices.data();
        std::vector<int32_t> last_row;
        for (size_t d = 0; d < norms.size(); ++d) {
            bool ascending = true;
            for (int64_t p = from[d] + 1; p < from[d + 1]; ++p)
                ascending &= column[p - 1] < column[p];
            if (!ascending) {
                if (last_row.empty()) last_row.assign(n_columns, -1);
                for (int64_t p = from[d]; p < from[d + 1]; ++p) {
                    if (last_row[column[p]] == static_cast<int32_t>(d)) return std::nullopt;
                    last_row[column[p]] = static_cast<int32_t>(d);
                }
            }
            norms[d] = length(data.data() + from[d], from[d + 1] - from[d]);
        }
    }
    return give_array(std::move(norms));
}

// Rows in the order of their classes: a counting sort.
std::vector<int64_t> rows_by_class(const int64_t* y, int64_t n_rows, int64_t n_classes,
                                   std::vector<int64_t>& starts) {
    starts.assign(n_classes + 1, 0);
    for (int64_t d = 0; d < n_rows; ++d) ++starts[y[d] + 1];
    for (int64_t c = 0; c < n_classes; ++c) starts[c + 1] += starts[c];
    std::vector<int64_t> next(starts.begin(), starts.end() - 1), order(n_rows);
    for (int64_t d = 0; d < n_rows; ++d) order[next[y[d]]++] = d;
    return order;
}

// One class's running sum, and the last row that touched each column.
class Accumulator {
  public:
    explicit Accumulator(int64_t n_columns) : sum_(n_columns, 0), row_(n_columns, -1) {}

    void begin(int64_t n_entries) {
        is_sparse_ = n_entries < static_cast<int64_t>(sum_.size()) / 16;
        touched_.clear();
    }
    // False where this row has touched the column before.
    bool add(int32_t column, int64_t steps, int32_t row) {
        if (row_[column] == row) return false;
        row_[column] = row;
        if (is_sparse_ && sum_[column] == 0) touched_.push_back(column);
        sum_[column] += steps;
        return true;
    }
    void emit(std::vector<int32_t>& indices, std::vector<int64_t>& data) {
        if (is_sparse_) {
            std::sort(touched_.begin(), touched_.end());
            for (int32_t column : touched_) emit_one(column, indices, data);
        } else {
            const auto n = static_cast<int32_t>(sum_.size());
            for (int32_t column = 0; column < n; ++column) emit_one(column, indices, data);
        }
    }

  private:
    void emit_one(int32_t column, std::vector<int32_t>& indices, std::vector<int64_t>& data) {
        if (sum_[column] == 0) return; // also the second mention of a touched column
        indices.push_back(column);
        data.push_back(sum_[column]);
        sum_[column] = 0;
    }

    std::vector<int64_t> sum_;
    std::vector<int32_t> row_;
    std::vector<int32_t> touched_;
    bool is_sparse_ = false;
};

struct Batch {
    const int64_t* indptr;
    const int32_t* indices;
    const double* data;
    const int64_t* whole_weight; // null where the weights are not whole
    const double* real_weight;   // null where the weights are whole or absent

    // Add row d to the sum; false where it holds a column twice.
    bool add_row(int64_t d, Accumulator& sum) const {
        const int64_t n = indptr[d + 1] - indptr[d];
        const double* value = data + indptr[d];
        const int32_t* column = indices + indptr[d];
        const double norm = length(value, n);
        const double scale = norm > 0.0 ? 1.0 / norm : 0.0;
        for (int64_t i = 0; i < n; ++i) {
            const double rounded = rounded_half_even(value[i] * scale * kStepsPerUnit);
            auto steps = static_cast<int64_t>(rounded);
            if (whole_weight) steps *= whole_weight[d];
            if (real_weight) steps = std::llrint(rounded * real_weight[d]);
            if (!sum.add(column[i], steps, static_cast<int32_t>(d))) return false;
        }
        return true;
    }
};

using Csr = std::tuple<Given<int64_t>, Given<int32_t>, Given<int64_t>>;

std::optional<Csr> class_unit_sums(In<int64_t> indptr, In<int32_t> indices, In<double> data,
                                   In<int64_t> y, In<int64_t> whole_weight,
                                   In<double> real_weight, int64_t n_classes,
                                   int64_t n_columns) {
    std::vector<int64_t> out_indptr(n_classes + 1, 0), out_data;
    std::vector<int32_t> out_indices;
    {
        nb::gil_scoped_release release;
        const Batch batch{indptr.data(), indices.data(), data.data(),
                          whole_weight.size() ? whole_weight.data() : nullptr,
                          real_weight.size() ? real_weight.data() : nullptr};
        std::vector<int64_t> starts;
        const auto order =
            rows_by_class(y.data(), static_cast<int64_t>(y.size()), n_classes, starts);
        Accumulator sum(n_columns);
        for (int64_t c = 0; c < n_classes; ++c) {
            int64_t n_entries = 0;
            for (int64_t i = starts[c]; i < starts[c + 1]; ++i)
                n_entries += batch.indptr[order[i] + 1] - batch.indptr[order[i]];
            sum.begin(n_entries);
            for (int64_t i = starts[c]; i < starts[c + 1]; ++i)
                if (!batch.add_row(order[i], sum)) return std::nullopt;
            sum.emit(out_indices, out_data);
            out_indptr[c + 1] = static_cast<int64_t>(out_data.size());
        }
    }
    return Csr{give_array(std::move(out_indptr)), give_array(std::move(out_indices)),
               give_array(std::move(out_data))};
}

} // namespace

void bind_unit_sums(nb::module_& m) {
    m.def("row_norms", &row_norms, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
          nb::arg("n_columns"),
          "Euclidean length of each row of a CSR matrix; None where a row holds a column "
          "twice.");
    m.def("class_unit_sums", &class_unit_sums, nb::arg("indptr"), nb::arg("indices"),
          nb::arg("data"), nb::arg("y"), nb::arg("whole_weight"), nb::arg("real_weight"),
          nb::arg("n_classes"), nb::arg("n_columns"),
          "Class sums of fixed-point unit rows, as the three arrays of a CSR matrix; "
          "None where a row holds a column twice.");
}
