// Array types and the list of topics that make up the extension.
#pragma once

#include <cstdint>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;

// Read-only and writable one-dimensional views of NumPy arrays. Kernels check
// nothing but the type: their Python callers pass validated arrays.
template <typename T> using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T> using Out2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// One function a topic, defined in cpp/<topic>.cpp and called in module.cpp.
void bind_offset_svm(nb::module_ &m);
void bind_paths(nb::module_ &m);
void bind_pure_paths(nb::module_ &m);
void bind_third_order(nb::module_ &m);
void bind_mixture(nb::module_ &m);

void bind_cooccurrence(nb::module_& m);
void bind_text(nb::module_& m);
void bind_dual(nb::module_& m);
void bind_mlp(nb::module_& m);
void bind_sgd(nb::module_& m);
void bind_shuffle(nb::module_& m);
void bind_postings(nb::module_& m);
void bind_text(nb::module_& m);
void bind_term_merge(nb::module_& m);
void bind_unit_sums(nb::module_& m);
