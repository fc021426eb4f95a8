// Array types, their checks, and the list of topics that make up the extension.
//
// A kernel trusts nothing that comes from Python: lengths, shapes and index ranges
// are checked once per call, before the first access, and a wrong one is a ValueError
// that names the argument.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

// Read-only and writable views of NumPy arrays. Writable ones are bound with
// .noconvert(): a converted copy would take the result away with it.
template <typename T> using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T> using Out2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T> using In3 = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <typename T> using Out3 = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <typename T> using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;

// Hand a std::vector over to NumPy without copying it.
template <typename T> Array<T> give_array(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array<T>(kept->data(), {kept->size()}, owner);
}

// ---- checks -------------------------------------------------------------------

inline void require(bool is_right, const std::string& message) {
    if (!is_right) throw std::invalid_argument(message);
}

template <typename A> void require_size(const A& array, std::size_t size, const char* name) {
    if (array.size() != size)
        throw std::invalid_argument(std::string(name) + ": expected " + std::to_string(size) + " values, got " +
                                    std::to_string(array.size()) + ".");
}

template <typename A> void require_shape(const A& array, std::size_t rows, std::size_t columns, const char* name) {
    if (array.shape(0) != rows || array.shape(1) != columns)
        throw std::invalid_argument(std::string(name) + ": expected shape (" + std::to_string(rows) + ", " +
                                    std::to_string(columns) + "), got (" + std::to_string(array.shape(0)) + ", " +
                                    std::to_string(array.shape(1)) + ").");
}

// Every value v must be lowest <= v < limit. No early exit: the loop runs in wide registers.
template <typename T>
void require_range(const T* values, std::size_t n, std::int64_t limit, const char* name, std::int64_t lowest = 0) {
    T least = n ? values[0] : T(lowest), most = n ? values[0] : T(lowest);
    for (std::size_t k = 0; k < n; ++k) {
        least = std::min(least, values[k]);
        most = std::max(most, values[k]);
    }
    if (n && (std::int64_t(least) < lowest || std::int64_t(most) >= limit))
        throw std::invalid_argument(std::string(name) + ": expected numbers from " + std::to_string(lowest) + " to " +
                                    std::to_string(limit - 1) + ", got " + std::to_string(least) + " to " +
                                    std::to_string(most) + ".");
}
template <typename A>
void require_range(const A& array, std::int64_t limit, const char* name, std::int64_t lowest = 0) {
    require_range(array.data(), array.size(), limit, name, lowest);
}

// `starts` must ascend from 0 to at most `end`: the bounds of consecutive stretches.
inline void require_bounds(const In<std::int64_t>& starts, std::size_t end, const char* name) {
    const std::size_t n = starts.size();
    bool ascends = n > 0 && starts.data()[0] == 0 && starts.data()[n - 1] <= static_cast<std::int64_t>(end);
    for (std::size_t k = 1; k < n; ++k) ascends &= starts.data()[k - 1] <= starts.data()[k];
    require(ascends,
            std::string(name) + ": expected numbers that ascend from 0 to at most " + std::to_string(end) + ".");
}

// One function per topic, defined in cpp/<topic>.cpp and called in module.cpp.
void bind_dual(nb::module_& m);
void bind_mixture(nb::module_& m);
void bind_mlp(nb::module_& m);
void bind_offset_svm(nb::module_& m);
void bind_one_vs_rest(nb::module_& m);
void bind_paths(nb::module_& m);
void bind_postings(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_sgd(nb::module_& m);
void bind_shingles(nb::module_& m);
void bind_static_vectors(nb::module_& m);
void bind_term_merge(nb::module_& m);
void bind_text(nb::module_& m);
void bind_third_order(nb::module_& m);
