// Fingerprints of documents, and random numbers by counter.
#include "bindings.hpp"
#include "random.hpp"

#include <cstring>

namespace {

// 64 bits for each row that depend on its terms and nothing else.
void fingerprints(In<std::int64_t> indptr, In<std::int32_t> indices, In<double> data, Out<std::uint64_t> out) {
    nb::gil_scoped_release release;
    for (std::size_t row = 0; row < out.shape(0); ++row) {
        std::uint64_t sum = 0;
        for (std::int64_t p = indptr.data()[row]; p < indptr.data()[row + 1]; ++p) {
            std::uint64_t bits;
            std::memcpy(&bits, data.data() + p, sizeof bits);
            sum += mix_bits(bits + (static_cast<std::uint64_t>(indices.data()[p]) + 1) * kGolden);
        }
        out.data()[row] = mix_bits(sum);
    }
}

void uniforms(std::uint64_t seed, std::uint64_t step, Out<double> out) {
    nb::gil_scoped_release release;
    const std::uint64_t key = counter_key(seed, step);
    for (std::size_t i = 0; i < out.shape(0); ++i) out.data()[i] = uniform_at(key, i);
}

}  // namespace

void bind_shuffle(nb::module_& m) {
    m.def("fingerprints", &fingerprints);
    m.def("uniforms", &uniforms);
}
