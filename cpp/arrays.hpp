// Hand a std::vector over to NumPy without copying it.
#pragma once

#include "bindings.hpp"
#include <utility>
#include <vector>

template <typename T> using Given = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;

template <typename T> Given<T> give_array(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Given<T>(kept->data(), {kept->size()}, owner);
}
