// In how many documents two terms meet, straight into one dense matrix.
#include "bindings.hpp"

namespace {

// Adds 1 to counts[i, j] and counts[j, i] for every pair i < j of each row. Only
// the upper triangle is touched in the long loop; the mirror image comes at the end.
void count_pairs(In<std::int64_t> indptr, In<std::int32_t> indices, Out2<float> counts) {
    const std::int64_t n_rows = static_cast<std::int64_t>(indptr.shape(0)) - 1;
    const std::int64_t n_terms = static_cast<std::int64_t>(counts.shape(0));
    const std::int64_t* start = indptr.data();
    const std::int32_t* term = indices.data();
    float* cell = counts.data();
    nb::gil_scoped_release release;
    for (std::int64_t row = 0; row < n_rows; ++row) {
        for (std::int64_t a = start[row]; a < start[row + 1]; ++a) {
            float* line = cell + term[a] * n_terms;
            for (std::int64_t b = a + 1; b < start[row + 1]; ++b) line[term[b]] += 1.0F;
        }
    }
    constexpr std::int64_t tile = 64;  // a tile and its mirror image fit the cache
    for (std::int64_t top = 0; top < n_terms; top += tile)
        for (std::int64_t left = top; left < n_terms; left += tile)
            for (std::int64_t i = top; i < n_terms && i < top + tile; ++i)
                for (std::int64_t j = left; j < n_terms && j < left + tile; ++j)
                    if (j > i) cell[j * n_terms + i] = cell[i * n_terms + j];
}

}  // namespace

void bind_cooccurrence(nb::module_& m) {
    m.def("count_pairs", &count_pairs, nb::arg("indptr"), nb::arg("indices"), nb::arg("counts"));
}
